"""A run in parts: 1, 2 and 4 processes on 5,000 samples with a free model, in both harnesses.

Each process is the harness's own command with `shard=k/n`; all start at once. Wall time is until the last one ends; CPU
is of all of them. Start-up (imports, and lm-eval's search for tasks) is part of both and is paid by each process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from humor_tasks.datasets_cards import folder
from humor_tasks.results import read_results

ROWS, A_CONTEST = 5000, 20
PROCESSES = (1, 2, 4)
Command = Callable[[str, str, Path], list[str]]


def write_rows(home: Path) -> None:
    """5,000 matching items of 250 contests, from those of the packaged sample."""
    source = Path(folder("newyorker_caption_contest"), "matching", "block0.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in source.splitlines()]
    path = home / "matching" / "test.jsonl"
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8") as file:
        for i in range(ROWS):
            own = {"instance_id": f"item-{i:04d}", "contest_number": 10_000 + i // A_CONTEST}
            file.write(json.dumps(rows[i % len(rows)] | own) + "\n")


def inspect(rows: str, shard: str, logs: Path) -> list[str]:
    given = ["-T", f"dataset={rows}", "-T", f"shard={shard}"]
    quiet = ["--display", "none", "--log-level", "error"]
    return [
        "inspect",
        "eval",
        "humor_tasks/matching",
        "--model",
        "baseline/first",
        *given,
        "--log-dir",
        f"{logs}",
        *quiet,
    ]


def lm_eval(rows: str, shard: str, logs: Path) -> list[str]:
    run = ["lm_eval", "--model", "humor-baseline", "--model_args", "strategy=first", "--tasks", "nyc_matching"]
    return [*run, "--metadata", f"dataset={rows},shard={shard}", "--output_path", f"{logs}", "--log_samples"]


def measured(command: Command, rows: str, count: int, logs: Path) -> tuple[float, float]:
    """Seconds of wall time and of CPU time of `count` processes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen(command(rows, f"{k}/{count}", logs), **quiet) for k in range(1, count + 1)]
    codes = [process.wait() for process in started]
    if any(codes):
        sys.exit(f"{' '.join(command(rows, f'1/{count}', logs))}: failed; run it alone to see why.")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter() - start
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        rows = Path(home, "rows")
        write_rows(rows)
        print(f"{'':8} {'processes':>9} {'wall s':>8} {'CPU s':>8} {'CPU ms a sample':>16}  one run")
        for command in (inspect, lm_eval):
            first = None
            for count in PROCESSES:
                logs = Path(home, command.__name__, str(count))
                wall, cpu = measured(command, f"{rows}", count, logs)
                (result,) = read_results([logs]).results
                first = first or result.estimates
                same = "equal" if result.complete and result.estimates == first else "DIFFERENT"
                print(f"{command.__name__:8} {count:9} {wall:8.1f} {cpu:8.1f} {1000 * cpu / ROWS:16.1f}  {same}")


if __name__ == "__main__":
    main()
