"""`read_run`: a finished run from a log, samples or prediction file, with checks for the intended use."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path

from humor_tasks.errors import BadInput
from humor_tasks.logs.record import FinishedRun, LoggedSample
from humor_tasks.rows.records import VARIATION

RETRY = "finish it with inspect eval-retry."


def read_run(
    path: Path,
    benchmark: str | None = None,
    *,
    finished: str | None = RETRY,
    whole: bool = False,
    one_epoch: str | None = None,
    replies: bool = False,
    texts: bool = False,
    foreign: bool = False,
) -> FinishedRun:
    """The run of an Inspect log (.eval, .json), of lm-eval's samples (.jsonl), or with `texts` of a file of texts.

    benchmark: the benchmark that every sample must belong to. finished: the remedy in the error for an unfinished run;
    None accepts unfinished runs. whole: reject a run without all instances of the benchmark. one_epoch: reject several
    epochs, with this remedy in the error. replies: reject a sample without a reply in text. foreign: also read
    lm-eval's samples of other packages' tasks.

    Raises BadInput for a file that is missing or not a log, and for what the arguments reject. Errors in a single
    sample are raised when the iteration reaches it.
    """
    if path.is_dir():
        raise BadInput(f"{path}: is a folder; name the log itself.")
    if not path.is_file():
        raise BadInput(f"{path}: there is no such log.")
    if path.suffix != ".jsonl" and not path.stat().st_size:
        raise BadInput(f"{path}: is empty; it holds no log.")
    run = _open(path, texts, foreign)
    if whole:
        _check_whole(run)
    elif finished and run.status != "success":
        raise BadInput(f"{path}: ended with status {run.status}; {finished}")
    return dataclasses.replace(run, samples=_Checked(run, benchmark, one_epoch, replies))


def _open(path: Path, texts: bool, foreign: bool) -> FinishedRun:
    if path.suffix == ".jsonl":
        from humor_tasks.logs.lm_eval_samples import is_samples, read_samples

        if not texts or is_samples(path):
            return read_samples(path, foreign)
    elif path.suffix == ".eval" or not texts or _is_json_log(path):
        from humor_tasks.logs.inspect_logs import read_log

        return read_log(path)
    from humor_tasks.logs.predictions import read_texts

    return read_texts(path)


def _is_json_log(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    with path.open("rb") as file:
        start = file.read(400)
    return b'"eval"' in start and b'"version"' in start


def _check_whole(run: FinishedRun) -> None:
    short = run.rows is not None and run.instances not in (0, run.rows)
    if run.harness == "lm_eval" and short:
        raise BadInput(
            f"{run.path}: holds {run.instances} of {run.rows} instances; run it whole (no --limit, no --samples)."
        )
    if run.status != "success" or short:
        raise BadInput(
            f"{run.path}: holds {run.instances} of {run.rows} instances, status {run.status}; run it whole (no "
            "--limit, or inspect eval-retry)."
        )


class _Checked:
    """The samples of a run, each checked when the iteration reaches it; an id must be unique in each epoch."""

    def __init__(self, run: FinishedRun, benchmark: str | None, one_epoch: str | None, replies: bool) -> None:
        self.run, self.benchmark, self.one_epoch, self.replies = run, benchmark, one_epoch, replies

    def __iter__(self) -> Iterator[LoggedSample]:
        return self._checked(self.run.samples)

    def scored(self) -> Iterator[LoggedSample]:
        return self._checked(self.run.samples if self.replies else self.run.scored())

    def _checked(self, samples: Iterable[LoggedSample]) -> Iterator[LoggedSample]:
        harness = self.run.harness
        seen: set[tuple[int, str]] = set()
        for sample in samples:
            if self.benchmark and harness != "predictions" and sample.benchmark != self.benchmark:
                raise BadInput(f"{sample.where} is not of humor_tasks/{self.benchmark}.")
            if self.one_epoch and sample.epoch > 1:
                raise BadInput(f"{self.run.path}: holds several epochs; {self.one_epoch}")
            if self.replies and (sample.error is not None or sample.reply is None):
                if harness == "lm_eval":
                    raise BadInput(
                        f"{sample.where}: holds no reply but {sample.raw!r}; take the samples of a _gen task."
                    )
                raise BadInput(f"{sample.where} has no reply; finish the run with inspect eval-retry.")
            if (sample.epoch, sample.id) in seen:
                raise BadInput(f"{sample.where}: holds a second reply for {sample.id}; keep one run a file.")
            seen.add((sample.epoch, sample.id))
            yield sample


def check_asked_once(sample: LoggedSample) -> None:
    """Raise BadInput for a reply that is one of several to its item, where one is needed."""
    if VARIATION in sample.facts:
        raise BadInput(
            f"{sample.where}: its item was asked several times (prompts=all or order=rotated), and one reply an item "
            "is needed. Run the task with one prompt set and order=as_given."
        )
