"""Submission files: letters as JSON for the caption contest, numbers as CSV for Humicroedit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.answers import AnswerForm
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.writing import write_table
from humor_tasks.logs import check_asked_once, read_run
from humor_tasks.models.choosers.chooser import LETTERS
from humor_tasks.scorers.guess import seeded_guess

NUMBERS = {"A": "1", "B": "2"}  # of the two headlines of a pair
ONE_ANSWER = "a submission has one answer an instance (--epochs 1)."
UNSCORED = {
    "inspect": "finish the run with inspect eval-retry",
    "lm_eval": "run lm_eval without --predict_only",
}


@dataclass(frozen=True)
class Answers:
    """The answers of a run.

    answers: {instance_id: a letter or a decimal number; None where no answer was read}.
    letters: the answer letters of an instance ("ABCDE", "AB"); empty for ratings and free text.
    subtask: `Uses.submits` of the benchmark, or `ratings` (ratings that are compared in pairs).
    pairs: for `ratings`, {headline: the pairs that contain it}.
    form: the benchmark's answer form, where there is a sub-task.
    """

    answers: dict[str, str | None]
    letters: str
    subtask: str = ""
    pairs: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    form: AnswerForm | None = None


def read_answers(path: Path) -> Answers:
    """The scored answer of every instance of an Inspect log or lm-eval's samples.

    Raises BadInput for an incomplete run, a run of several epochs, an unscored sample and a run without samples. Free
    text need not be scored: no submission takes it.
    """
    run = read_run(path, whole=True, one_epoch=ONE_ANSWER)
    benchmark = BENCHMARKS.get(run.benchmark or "")
    subtask: str = benchmark.uses.submits if benchmark else ""
    if subtask == "pairwise" and run.options.get("via") == "ratings":
        subtask = "ratings"
    answers: dict[str, str | None] = {}
    pairs = {}
    letters = ""
    for sample in run.samples:
        check_asked_once(sample)
        letters = LETTERS[: len(sample.choices)]
        if (letters or subtask) and not sample.scores:
            raise BadInput(f"{sample.where} has no score; {UNSCORED[run.harness]}.")
        answers[sample.id] = sample.scores[0].answer if sample.scores else None
        if subtask == "ratings":
            pairs[sample.id] = sample.facts["pairs"]
    if not answers:
        raise BadInput(f"{path}: holds no samples.")
    form = benchmark.form(benchmark.options()) if benchmark and subtask else None
    return Answers(answers, letters, subtask, pairs, form)


def complete(
    answers: Mapping[str, str | None], letters: str, fill: str | None, seed: int, where: str
) -> dict[str, str]:
    """`answers` with missing answers replaced by `fill`: one of `letters` or `random`. None raises BadInput for them.

    The leaderboard's script would count a missing answer as E (matching) or B (ranking).
    """
    if letters not in ("ABCDE", "AB"):
        raise BadInput(f"{where}: a submission needs a log of matching (five choices) or ranking (two).")
    if fill is not None and fill not in (*letters, "random"):
        raise BadInput(f"--fill {fill}: choose random or one of {', '.join(letters)}.")
    remedy = "without an answer; choose --fill random or --fill LETTER."
    return _filled(answers, fill, lambda identity: seeded_guess(seed, identity, letters), where, "instance", remedy)


def _filled(
    answers: Mapping[str, str | None], fill: str | None, guess: Callable[[str], str], where: str, row: str, remedy: str
) -> dict[str, str]:
    """The answers with gaps filled. Raises BadInput for gaps where `fill` is None."""
    gaps = [identity for identity, answer in answers.items() if not answer]
    if gaps and fill is None:
        raise BadInput(f"{where}: {listed(row, gaps)} {remedy}")
    filled = {identity: guess(identity) if fill == "random" else str(fill) for identity in gaps}
    return {identity: answer or filled[identity] for identity, answer in answers.items()}


def predictions(logged: Answers, fill: str | None, seed: int, where: str) -> dict[str, str]:
    """{id: pred} of a log of Humicroedit: ratings, or for pairs the funnier headline, 1 or 2.

    `fill` replaces missing answers: a rating, or 1, 2 or `random` for a pair; None raises BadInput for them. A pair
    with two equal ratings counts as missing.
    """
    if logged.subtask == "rating":
        answers: Mapping[str, str | None] = logged.answers
        if fill is not None and logged.form:
            try:
                logged.form.from_submission(fill)
            except BadInput as problem:
                raise BadInput(f"--fill {fill}: {problem}") from None
    else:
        answers = picks(logged)
        if fill not in (None, "1", "2", "random"):
            raise BadInput(f"--fill {fill}: choose random, 1 or 2, the funnier headline of a pair.")
    equal = " (or with equal ratings)" * (logged.subtask == "ratings")
    remedy = f"without an answer{equal}; choose --fill {'NUMBER' if logged.subtask == 'rating' else '1, 2 or random'}."
    return _filled(answers, fill, lambda identity: NUMBERS[seeded_guess(seed, identity, "AB")], where, "row", remedy)


def picks(logged: Answers) -> dict[str, str | None]:
    """{id of a pair: "1" or "2"}, from letters or two ratings; None where ratings are equal or an answer is missing."""
    if logged.subtask == "pairwise":
        return {identity: NUMBERS[letter] if letter else None for identity, letter in logged.answers.items()}
    rated: dict[str, dict[int, float]] = {}
    for identity, answer in logged.answers.items():
        for pair in logged.pairs[identity]:
            rated.setdefault(pair["id"], {})
            if answer is not None:
                rated[pair["id"]][pair["place"]] = float(answer)
    return {pair: funnier(both.get(1), both.get(2)) for pair, both in rated.items()}


def funnier(first: float | None, second: float | None) -> str | None:
    """The position of the higher of two ratings, "1" or "2"; None where they are equal or one is missing."""
    if first is None or second is None or first == second:
        return None
    return "1" if first > second else "2"


def write_predictions(path: Path, predictions: Mapping[str, str]) -> None:
    """Write the organisers' format: a CSV file with the columns id and pred."""
    if path.suffix != ".csv":
        raise BadInput(f"{path}: a submission to Humicroedit ends in .csv.")
    write_table(path, ("id", "pred"), predictions.items(), exact=True)
