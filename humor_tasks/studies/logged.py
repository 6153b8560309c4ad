"""Answers in finished logs (superseded by data.logs)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput

SUBTASKS = {"pairs": "ratings", "grades": "rating", "difference": "pairwise"}


@dataclass(frozen=True)
class Logged:
    """What a log answers.

    answers: {instance_id: a letter, or a number in decimals; None where none was read}.
    letters: those of an instance ("ABCDE", "AB"); empty where it is rated or answered in text.
    about: {instance_id: what its record carries}.
    """

    answers: dict[str, str | None]
    letters: str
    about: dict[str, Mapping[str, Any]]

    @property
    def subtask(self) -> str:
        """Humicroedit's part: `rating`, `pairwise`, or `ratings` that compare pairs; empty for other benchmarks."""
        about = next(iter(self.about.values()))
        return next((task for mark, task in SUBTASKS.items() if mark in about), "")


def answers_in_log(path: Path) -> tuple[dict[str, str | None], str]:
    """{instance_id: letter, or None where none was read} and the letters of an instance ("ABCDE", "AB").

    See `read_logged`.
    """
    found = read_logged(path)
    return found.answers, found.letters


def read_logged(path: Path) -> Logged:
    """Every instance's answer.

    From an Inspect log or lm-eval samples, read by the rule the run was scored by.
    An Inspect log ends in .eval or .json; lm-eval writes samples_TASK_DATE.jsonl with --log_samples.

    Raises BadInput for a log without samples, without scores, or with several epochs.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no such log.")
    return _lm_eval_answers(path) if path.suffix == ".jsonl" else _inspect_answers(path)


def _inspect_answers(path: Path) -> Logged:
    from humor_tasks.models.choosers.chooser import LETTERS
    from humor_tasks.on_inspect.logs import read_log

    log = read_log(path)
    if any(sample.epoch > 1 for sample in log.samples or []):
        raise BadInput(f"{path}: holds several epochs; a submission has one answer an instance (--epochs 1).")
    rows = (log.eval.metadata or {}).get("source", {}).get("rows")
    held = len(log.samples or [])
    if log.status != "success" or (rows is not None and held not in (0, rows)):
        raise BadInput(
            f"{path}: holds {held} of {rows} instances, status {log.status}; run it whole (no --limit, or "
            "inspect eval-retry)."
        )
    answers: dict[str, str | None] = {}
    about: dict[str, Mapping[str, Any]] = {}
    letters = ""
    for sample in log.samples or []:
        letters = LETTERS[: len(sample.choices or [])]
        if not sample.scores:
            raise BadInput(f"{path}: sample {sample.id} has no score; finish the run with inspect eval-retry.")
        answers[str(sample.id)] = next(iter(sample.scores.values())).answer
        about[str(sample.id)] = sample.metadata
    if not answers:
        raise BadInput(f"{path}: the log holds no samples.")
    return Logged(answers, letters, about)


def _lm_eval_answers(path: Path) -> Logged:
    from humor_tasks.models.choosers.chooser import LETTERS

    answers: dict[str, str | None] = {}
    about: dict[str, Mapping[str, Any]] = {}
    letters = ""
    for i, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            sample = json.loads(line)
            doc = sample["doc"]
            letters = LETTERS[: len(doc["choices"])]
            answers[doc["id"]] = _lm_eval_answer(doc, letters, sample["filtered_resps"])
            about[doc["id"]] = doc
        except (KeyError, TypeError, IndexError, ValueError) as problem:
            raise BadInput(
                f"{path}, line {i}: is no sample of a humor-tasks task with letters or ratings ({problem})."
            ) from None
    if not answers:
        raise BadInput(f"{path}: the file holds no samples.")
    rows = next(iter(about.values())).get("rows", len(answers))
    if len(answers) != rows:
        raise BadInput(f"{path}: holds {len(answers)} of {rows} instances; run it whole (no --limit, no --samples).")
    return Logged(answers, letters, about)


def _lm_eval_answer(doc: Mapping[str, Any], letters: str, replies: list[Any]) -> str | None:
    from humor_tasks.benchmarks.answers import Rating
    from humor_tasks.benchmarks.humicroedit.rating import LABELS
    from humor_tasks.models.choosers.chooser import likeliest
    from humor_tasks.scorers.answer import read_answer

    generated = isinstance(replies[0], str)
    if "grades" in doc:  # a headline of Humicroedit
        form = Rating(LABELS)
        return (form.read(replies[0]) if generated else form.from_likelihoods([float(r[0]) for r in replies])).value
    if generated:
        letter: str | None = read_answer(replies[0], letters, doc.get("extraction", "strict")).letter
        return letter
    return likeliest([float(reply[0]) for reply in replies], letters)
