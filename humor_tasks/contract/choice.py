"""Multiple choice: outcomes, where the answer, or a random guess in its place, is right or wrong; orders of choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from string import ascii_uppercase

from humor_tasks.contract.answers import Answer
from humor_tasks.contract.definition import Run
from humor_tasks.contract.metric import ACCURACY
from humor_tasks.rows.records import Outcome, Record


def outcome(
    run: Run, record: Record, answer: Answer, accuracies: Callable[[Record], Sequence[str]] | None = None
) -> Outcome:
    """The outcome of an item: 1 or 0 for each metric that `accuracies` names, by default for `accuracy` alone.

    An item without an answer counts as wrong, is left out or is guessed at random, depending on `on_unparsed`.
    """
    value, options = answer.value, run.options
    if value is None and options.on_unparsed == "random":
        value = run.form.guess(options.seed, record.id)
    values: dict[str, float] = {}
    if record.target is not None and not (value is None and options.on_unparsed == "exclude"):
        values = dict.fromkeys(accuracies(record) if accuracies else (ACCURACY.name,), float(value == record.target))
    return answer.outcome(record, values)


def lettered(choices: Sequence[str]) -> str:
    """The choices on lettered lines, for a prompt."""
    return "\n".join(f"{letter}) {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False))


def rotate(record: Record, k: int) -> Record:
    """The record with its choices moved k places up, in the tuple and in the field `choices`, and its target with them.

    With k = 1, choice B is the new A, and A the new last one.
    """
    choices = (*record.choices[k:], *record.choices[:k])
    target = record.target
    if target is not None:
        target = ascii_uppercase[(ascii_uppercase.index(target) - k) % len(choices)]
    shown = {"choices": lettered(choices)} if "choices" in record.fields else {}
    return replace(record, choices=choices, target=target, fields={**record.fields, **shown})
