"""Builds of the corpus from N and 2 N contests: CPU time by stage, its ratio, and the most memory held during it.

Each build is a process of its own with one worker. Memory is read from Linux's /proc. The contests are drawn, and so
are the captions' vectors: the embedding, which is done caption by caption, would be most of the time
(`corpus_embedding.py` measures it).

`--project` says what 2.3 million captions of 384 contests take, from the costs of the larger build. Give real contests
for that: `--crowd DIR --annotations FILE`. Vectors are then drawn, too, unless `--embedded WORK` names the work folder
of a build of all contests in DIR whose embedding is done; it is only read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from corpus_projection import SAMPLE, Measured, project
from corpus_workload import captions_of, minilm, write_contests

from humor_tasks.lab.corpora.newyorker import stages
from humor_tasks.lab.corpora.newyorker.building import prepare, run_stage, write_dataset
from humor_tasks.lab.corpora.newyorker.settings import Settings
from humor_tasks.lab.corpora.newyorker.work import Work, processes
from humor_tasks.models.choosers.embedding import Embedding

DIMENSIONS, RUNS = 384, 2
Run = Callable[[Work, Path, int | None], dict[str, Any]]


def vectors(embedded: Path | None) -> Run:
    """The stage `embed`: drawn unit vectors, or those of another build with the same settings."""

    def run(work: Work, folder: Path, contest: int | None) -> dict[str, Any]:
        captions = len(stages.selected(work, contest))
        if embedded:
            found = np.load(embedded / "embed" / work.unit("embed", contest).name / "vectors.npy")
        else:
            found = np.random.default_rng(contest).standard_normal((captions, DIMENSIONS))
            found /= np.linalg.norm(found, axis=1, keepdims=True)
        np.save(folder / "vectors.npy", found.astype(np.float16))
        return {"captions": captions}

    return run


def build(crowd: Path, annotations: Path, output: Path, embedded: Path | None) -> Measured:
    """One build, stage by stage, in this process."""
    Embedding(minilm()).embed(["Loads everything."])  # its cost does not grow
    from scipy.optimize import linear_sum_assignment  # noqa: F401

    seconds, mib, counts = {}, {}, {}

    def measured(name: str, step: Callable[[], Any]) -> Any:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the most memory so far is what is held now
        start = time.process_time()
        result = step()
        seconds[name] = time.process_time() - start
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        mib[name] = int(status.split("VmHWM:")[1].split()[0]) / 1024
        return result

    settings = Settings(annotations=annotations, crowd=crowd, embedding=minilm())
    work: Work = measured("reading", lambda: prepare(settings, output.with_suffix(".work")))
    work = replace(work, stages={**work.stages, "embed": replace(work.stages["embed"], run=vectors(embedded))})
    with processes() as over:
        for name in work.stages:
            counts[name] = measured(name, lambda name=name: run_stage(work, name, over, lambda line: None))
    measured("dataset", lambda: list(write_dataset(work, settings, counts, output)))
    return Measured(len(work.contests), counts["ingest"]["entries"], counts["select"]["captions"], seconds, mib)


def subset(crowd: Path, annotations: Path, home: Path, contests: int) -> tuple[Path, Path]:
    """Every so many of the contests of a folder, and their annotations."""
    files = sorted(crowd.glob("*.csv"), key=lambda path: int(path.stem))
    chosen = [files[i * len(files) // contests] for i in range(contests)]
    (home / "crowd").mkdir(parents=True)
    for path in chosen:
        (home / "crowd" / path.name).symlink_to(path.resolve())
    held = json.loads(annotations.read_text(encoding="utf-8"))
    kept = {path.stem: held[path.stem] for path in chosen if path.stem in held}
    (home / "annotations.json").write_text(json.dumps(kept), encoding="utf-8")
    return home / "crowd", home / "annotations.json"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--contests", type=int, default=24, help="N; five blocks need some each")
    parser.add_argument("--captions", type=int, default=2_000, help="of a drawn contest")
    parser.add_argument("--crowd", type=Path)
    parser.add_argument("--annotations", type=Path)
    parser.add_argument("--embedded", type=Path)
    parser.add_argument("--project", action="store_true")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)  # of the process of one build
    given = parser.parse_args()
    if given.build:
        measured = build(given.crowd, given.annotations, given.build, given.embedded)
        print(json.dumps(vars(measured)))
        return
    with tempfile.TemporaryDirectory() as folder:
        small, large = (_built(given, Path(folder, str(n)), n) for n in (given.contests, 2 * given.contests))
    compare(small, large)
    if given.project:
        files = sorted(given.crowd.glob("*.csv")) if given.crowd else [None]
        for line in project(large, captions_of(files[len(files) // 2], SAMPLE)):
            print(line)


def _built(given: argparse.Namespace, home: Path, contests: int) -> Measured:
    """Some builds of the same contests, with the least time of each stage: other work on the machine only adds."""
    if given.crowd:
        crowd, annotations = subset(given.crowd, given.annotations, home, contests)
    else:
        write_contests(home, contests, given.captions)
        crowd, annotations = home / "crowd", home / "annotations.json"
    command = [sys.executable, __file__, "--crowd", crowd, "--annotations", annotations]
    if given.embedded:
        command += ["--embedded", given.embedded]
    runs = []
    for k in range(RUNS):
        each = list(map(str, [*command, "--build", home / f"corpus{k}"]))
        done = subprocess.run(each, stdout=subprocess.PIPE, text=True, check=True)
        runs.append(Measured(**json.loads(done.stdout.splitlines()[-1])))
    return replace(runs[0], seconds={name: min(run.seconds[name] for run in runs) for name in runs[0].seconds})


def compare(small: Measured, large: Measured) -> None:
    """Print both builds by stage."""
    growth = large.captions / small.captions
    print(
        f"{small.contests} contests, {small.captions:,} captions; {large.contests}, {large.captions:,} ({growth:.2f})"
    )
    print(f"{'stage':10} {'CPU, s':>8} {'CPU, s':>8} {'ratio':>6} {'MiB':>6} {'MiB':>6}")
    for name, seconds in small.seconds.items():
        ratio = large.seconds[name] / max(seconds, 1e-9)
        columns = f"{seconds:8.2f} {large.seconds[name]:8.2f} {ratio:6.2f}"
        print(f"{name:10} {columns} {small.mib[name]:6.0f} {large.mib[name]:6.0f}")
    a, b = sum(small.seconds.values()), sum(large.seconds.values())
    print(f"{'all':10} {a:8.2f} {b:8.2f} {b / a:6.2f}   (goal: {growth:.2f} +-15 %, memory flat)")


if __name__ == "__main__":
    main()
