"""Multiple choice: a reply becomes a letter, a letter becomes this item's share of the accuracies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from humor_tasks.benchmark import Outcome, Record, Run
from humor_tasks.benchmarks._nycc import reply_rates
from humor_tasks.scorers.answer import read_answer
from humor_tasks.scorers.guess import seeded_guess


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
    """Read a letter from the reply; `accuracies` names the metrics the item counts towards."""
    options, letters = run.options, run.benchmark.letters
    reading = read_answer(reply, letters, options.extraction)
    letter, status = reading.letter, reading.status
    if refused and letter is None:
        status = "refused"
    if letter is None and options.on_unparsed == "random":
        letter = seeded_guess(options.seed, record.id, letters)
    values = reply_rates(status)
    left_out = record.target is None or (letter is None and options.on_unparsed == "exclude")
    if not left_out:
        values |= dict.fromkeys(accuracies(record), float(letter == record.target))
    return Outcome(record.id, record.cluster, record.groups, status, reading.letter, record.target, values)
