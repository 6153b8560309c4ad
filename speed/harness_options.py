"""What the harnesses' own options cost or save: display, log, pictures in the log, connections.

python speed/harness_options.py [--only options|connections] [--samples 1000]

Each run is the harness's own command with a free model, or with a server on 127.0.0.1 that takes three seconds a reply.
CPU time is the process's own, start-up included; wall time counts where connections are what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shards import write_rows

from humor_tasks.datasets_cards import folder
from humor_tasks.testing import ChatServer

SECONDS = 3.0  # a server's time for a reply
CONNECTIONS = ("10", "50", "200")
PICTURES = 200

OF_INSPECT = {
    "as it is": [],
    "--display none": ["--display", "none"],
    "--display none --no-log-realtime": ["--display", "none", "--no-log-realtime"],
    "the same --no-log-samples": ["--display", "none", "--no-log-realtime", "--no-log-samples"],
}
OF_LM_EVAL = {"as it is": [], "--log_samples": ["--log_samples"]}


def run(command: list[str], logs: Path, **environment: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and megabytes of logs of a command. Ends the script where the command fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    size = sum(path.stat().st_size for path in logs.rglob("*") if path.is_file()) / 1e6
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, size


def inspect(task: str, model: str, dataset: str, logs: Path, *more: str) -> list[str]:
    given = ["--model", model, "-T", f"dataset={dataset}", "--log-dir", str(logs)]
    return ["inspect", "eval", f"humor_tasks/{task}", *given, *more]


def lm_eval(task: str, model: list[str], dataset: str, logs: Path, *more: str) -> list[str]:
    return ["lm_eval", "--tasks", task, *model, "--metadata", f"dataset={dataset}", "--output_path", str(logs), *more]


def write_pictures(home: Path) -> None:
    """Matching items with the sample's pictures, each with another number."""
    card = Path(folder("newyorker_caption_contest"))
    source = (card / "matching_from_pixels" / "block0.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in source.splitlines()]
    path = home / "matching_from_pixels" / "test.jsonl"
    path.parent.mkdir(parents=True)
    shutil.copytree(card / "images", home / "images")
    with path.open("w", encoding="utf-8") as file:
        for i in range(PICTURES):
            file.write(json.dumps(rows[i % len(rows)] | {"instance_id": f"item-{i:04d}"}) + "\n")


def told(what: str, samples: int, found: tuple[float, float, float]) -> None:
    wall, cpu, size = found
    print(f"{what:60} {samples:7} {wall:8.1f} {cpu:8.1f} {1e3 * cpu / samples:9.1f} {size:8.1f}", flush=True)


def of_options(home: Path, n: int) -> None:
    """Display and log, with a model that costs nothing."""
    rows, pictures, limit = home / "rows", home / "pictures", ["--limit", str(n)]
    write_pictures(pictures)
    for what, more in OF_INSPECT.items():
        logs = home / what
        told(f"Inspect, {what}", n, run(inspect("matching", "baseline/first", str(rows), logs, *limit, *more), logs))
    for more in ([], ["--no-log-images"]):
        logs = home / f"pixels{more}"
        command = inspect("matching", "baseline/first", str(pictures), logs, "-T", "setting=pixels", *more)
        told(f"Inspect, setting=pixels {' '.join(more)}", PICTURES, run([*command, "--display", "none"], logs))
    free = ["--model", "humor-baseline", "--model_args", "strategy=first"]
    for what, more in OF_LM_EVAL.items():
        logs = home / f"lm {what}"
        told(f"lm-eval, {what}", n, run(lm_eval("nyc_matching", free, str(rows), logs, *limit, *more), logs))


def of_connections(home: Path, n: int) -> None:
    """Requests at a time, to a server that takes SECONDS for a reply."""
    rows, limit = home / "rows", ["--limit", str(n)]

    def answer(messages: object) -> str:
        time.sleep(SECONDS)
        return "Answer: A"

    with ChatServer(answer) as server:
        address = {"MINE_API_KEY": "none", "MINE_BASE_URL": server.url, "OPENAI_API_KEY": "none"}
        for connections in ("", *CONNECTIONS):
            logs = home / f"connections {connections}"
            more = ["--max-connections", connections] if connections else []
            command = inspect("matching", "openai-api/mine/m", str(rows), logs, *limit, "--display", "none", *more)
            told(f"Inspect, served, {' '.join(more) or 'as it is'}", n, run(command, logs, **address))
        for at_once in CONNECTIONS:
            logs = home / f"at once {at_once}"
            url = f"base_url={server.url}/chat/completions,model=m,num_concurrent={at_once}"
            model = ["--model", "local-chat-completions", "--apply_chat_template", "--model_args", url]
            command = lm_eval("nyc_matching_gen", model, str(rows), logs, *limit)
            told(f"lm-eval, served, num_concurrent={at_once}", n, run(command, logs, **address))


PARTS = {"options": of_options, "connections": of_connections}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="one of the two parts")
    parser.add_argument("--samples", type=int, default=1000)
    given = parser.parse_args()
    print(f"{'':60} {'samples':>7} {'wall s':>8} {'CPU s':>8} {'CPU ms/n':>9} {'log MB':>8}")
    with tempfile.TemporaryDirectory() as there:
        write_rows(Path(there, "rows"))
        for name, part in PARTS.items():
            if given.only in (None, name):
                part(Path(there), given.samples)


if __name__ == "__main__":
    main()
