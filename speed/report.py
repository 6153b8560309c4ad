"""`humor-tasks report` on many runs: seconds and the most memory of its process, by the number of runs.

`python speed/report.py 10 50 100` writes so many logs of 5,000 samples into a temporary folder and reports them,
each number in a process of its own. The goal: 50 runs in 60 s and 1 GB, and both grow linearly with the number of runs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.scorer import Score

from humor_tasks.rows.records import Outcome

REPLY = "The caption answers the lamp. " * 20
OPTIONS = {"on_unparsed": "wrong", "extraction": "strict", "seed": 1234, "fold": "0"}
SIGNATURE = "bench:matching|v:2-A|method:generate|data:drawn|rev:-|n:{n}|rows:0|split:test|shots:0|fold:0|prompts:0"
HELD: dict[str, Any] = {"groups": {"fold": "0"}, "facts": {}}
LETTER_METRICS: dict[str, Any] = {
    "benchmark": "matching",
    "version": "2-A",
    "options": OPTIONS,
    "groups": {"fold": "0"},
    "facts": {},
}


def sample(i: int) -> EvalSample:
    answer = "ABCDE"[i * i % 5]
    values = {"accuracy": float(answer == "A"), "unparsed": 0.0, "refused": 0.0}
    outcome = Outcome(f"instance-{i}", f"contest-{i // 10}", {"fold": "0"}, "answered", answer, "A", values)
    return EvalSample(
        id=f"instance-{i}",
        epoch=1,
        input=[ChatMessageUser(content=f"Which caption fits the cartoon? {REPLY}")],
        choices=list("abcde"),
        target="A",
        output=ModelOutput.from_content("m", REPLY),
        metadata={"cluster": f"contest-{i // 10}", "humor_tasks": LETTER_METRICS},
        scores={"multiple_choice": Score(value="C", answer=answer, metadata=outcome.as_dict())},
    )


def header(folder: Path, run: int, n: int) -> Path:
    """A log without samples."""
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="matching",
        dataset=EvalDataset(samples=n, sample_ids=[f"instance-{i}" for i in range(n)]),
        model=f"provider/model-{run}",
        config=EvalConfig(epochs=1),
        metadata={"signature": SIGNATURE.format(n=n), "source": {"rows": n, "dataset": "drawn"}},
    )
    path = folder / "header.eval"
    write_eval_log(EvalLog(status="success", eval=spec, samples=[]), str(path))
    return path


def write_runs(folder: Path, runs: int, n: int) -> None:
    """So many logs of `n` samples; their samples are compressed once."""
    base = folder.with_suffix(".zip")
    with zipfile.ZipFile(base, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(n):
            archive.writestr(f"samples/instance-{i}_epoch_1.json", sample(i).model_dump_json())
    for run in range(runs):
        path = folder / f"{run}.eval"
        head = header(folder, run, n)
        shutil.copy(base, path)
        with zipfile.ZipFile(head) as top, zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            for name in top.namelist():
                archive.writestr(name, top.read(name))
        head.unlink()


def measured(paths: list[Path], output: Path) -> tuple[float, float, float]:
    """Seconds, seconds of CPU, and the most MiB that the process held."""
    command = [sys.executable, "-m", "humor_tasks.cli", "report", *map(str, paths), "-o", str(output)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command[:4])} ended with {status}.")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=int, default=[10, 50, 100])
    parser.add_argument("--samples", type=int, default=5000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        logs.mkdir()
        write_runs(logs, max(given.runs), given.samples)
        for runs in given.runs:
            output = Path(folder) / f"report{runs}"
            spent, cpu, peak = measured([logs / f"{run}.eval" for run in range(runs)], output)
            assert len(json.loads((output / "results.json").read_text())) == 3 * runs
            print(
                f"{runs:>4} runs of {given.samples} samples: {spent:6.1f} s ({cpu:.1f} s of CPU), peak {peak:6.0f} MiB",
                flush=True,
            )


if __name__ == "__main__":
    main()
