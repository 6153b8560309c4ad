"""Multiple choice: a reply becomes a letter (or yes or no), which becomes this item's share of the accuracies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from humor_tasks.benchmarks.caption_contest.corpus import reply_rates
from humor_tasks.benchmarks.contract import Run
from humor_tasks.data.records import Outcome, Record
from humor_tasks.scorers.answer import Status, read_answer
from humor_tasks.scorers.guess import seeded_guess
from humor_tasks.scorers.yes_no import read_yes_no


def answer_turn(record: Record) -> str:
    """How a worked example is answered."""
    return f"Answer: {record.target}"


def only_accuracy(record: Record) -> Sequence[str]:
    """Every labelled item counts towards `accuracy`."""
    return ("accuracy",)


def outcome(
    run: Run,
    record: Record,
    reply: str,
    refused: bool,
    accuracies: Callable[[Record], Sequence[str]] = only_accuracy,
) -> Outcome:
    """Read a letter, or a word, from the reply; `accuracies` names the metrics the item counts towards."""
    options, letters = run.options, run.benchmark.letters
    read, status = _read(run, reply)
    answer = read
    if refused and answer is None:
        status = "refused"
    if answer is None and options.on_unparsed == "random":
        guess = seeded_guess(options.seed, record.id, letters)
        answer = run.benchmark.words[letters.index(guess)] if run.benchmark.words else guess
    values = reply_rates(status)
    left_out = record.target is None or (answer is None and options.on_unparsed == "exclude")
    if not left_out:
        values |= dict.fromkeys(accuracies(record), float(answer == record.target))
    return Outcome(record.id, record.cluster, record.groups, status, read, record.target, values)


def _read(run: Run, reply: str) -> tuple[str | None, Status]:
    if run.benchmark.words:
        word, status = read_yes_no(reply)
        return word, status
    reading = read_answer(reply, run.benchmark.letters, run.options.extraction)
    return reading.letter, reading.status
