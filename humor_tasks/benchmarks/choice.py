"""Multiple choice: an answer, or a guess where that is asked for, is right or wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from humor_tasks.benchmarks.answers import Answer
from humor_tasks.benchmarks.contract import Run
from humor_tasks.benchmarks.metric import ACCURACY
from humor_tasks.data.records import Outcome, Record


def only_accuracy(record: Record) -> Sequence[str]:
    """Every labelled item counts towards `accuracy`."""
    return (ACCURACY.name,)


def outcome(
    run: Run, record: Record, answer: Answer, accuracies: Callable[[Record], Sequence[str]] = only_accuracy
) -> Outcome:
    """An item's value, 1 or 0, of the `accuracies` that it counts towards.

    Without an answer the item is wrong, left out or guessed, as `on_unparsed` says.
    """
    given, options = answer.value, run.options
    if given is None and options.on_unparsed == "random":
        given = run.form.guess(options.seed, record.id)
    values = answer.rates
    if record.target is not None and not (given is None and options.on_unparsed == "exclude"):
        values |= dict.fromkeys(accuracies(record), float(given == record.target))
    return Outcome(record.id, record.cluster, record.groups, answer.status, answer.value, record.target, values)
