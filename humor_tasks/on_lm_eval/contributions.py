"""An item's contributions to metrics, which lm-eval logs and aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from humor_tasks.contract.metric import Metric
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.scorers.estimate import Estimate, mean_of_folds
from humor_tasks.scorers.perplexity import UNITS, perplexity_estimate


class Reference(NamedTuple):
    """A reference text with its log-likelihood (natural logarithm) and cluster.

    tokens: the number of the model's tokens that the log-likelihood is of, without the end token; None where the model
    does not tell it. fold: None where the data has no folds.
    """

    loglikelihood: float
    text: str
    cluster: str
    tokens: int | None
    fold: str | None


class Loglikelihood(float):
    """A model's log-likelihood of a continuation, with the number of tokens that it is of.

    lm-eval has no field for that number; its own models return a plain float.
    """

    tokens: int

    def __new__(cls, value: float, tokens: int) -> Loglikelihood:
        """A float with the attribute `tokens`."""
        made = super().__new__(cls, value)
        made.tokens = tokens
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Loglikelihood, (float(self), self.tokens)


class Value(float):
    """An item's value of a metric, which lm-eval logs, with the outcome."""

    outcome: Outcome

    def __new__(cls, value: float, outcome: Outcome) -> Value:
        """A float with the attribute `outcome`."""
        made = super().__new__(cls, value)
        made.outcome = outcome
        return made

    def __reduce__(self) -> tuple[Any, ...]:  # lm-eval gathers the items of several processes
        return Value, (float(self), self.outcome)


class AnswerAndTarget(tuple[str | None, str | None]):
    """An item's contribution to a metric that is not defined for a single item, as in lm-eval's corpus metrics."""

    outcome: Outcome

    def __new__(cls, outcome: Outcome) -> AnswerAndTarget:
        """The pair with the attribute `outcome`."""
        made = super().__new__(cls, (outcome.answer, outcome.target))
        made.outcome = outcome
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return AnswerAndTarget, (self.outcome,)


Contribution = Value | AnswerAndTarget


def contribution(metric: Metric, outcome: Outcome) -> Contribution:
    """An item's contribution to a metric that it counts towards."""
    value = outcome.values.get(metric.name)
    return AnswerAndTarget(outcome) if value is None else Value(value, outcome)


def perplexities(loglikelihood: float, record: Record) -> dict[str, Reference]:
    """A reference's contribution to each perplexity; none per token where the model does not tell its tokens."""
    text, tokens = record.target or "", getattr(loglikelihood, "tokens", None)
    reference = Reference(float(loglikelihood), text, record.cluster, tokens, record.groups.get("fold"))
    return {name: reference for name, count in UNITS.items() if count(text, tokens) is not None}


def perplexity(name: str, value: str, number: int, items: Sequence[Reference]) -> float:
    """A perplexity of reference texts, or another field of its estimate.

    number: the number of folds; of several it is the mean of their perplexities, as published, and nan without one.
    """
    folds: dict[str | None, list[Reference]] = {}
    for item in items:
        folds.setdefault(item.fold, []).append(item)
    of_folds = [_perplexity(name, members) for members in folds.values()]
    missing = [_perplexity(name, ())] if len(of_folds) < number else []
    estimate = of_folds[0] if number == 1 else mean_of_folds([*of_folds, *missing])
    return float(getattr(estimate, value))


def _perplexity(name: str, items: Sequence[Reference]) -> Estimate:
    units = [UNITS[name](item.text, item.tokens) or 0 for item in items]
    return perplexity_estimate([i.loglikelihood for i in items], units, [i.cluster for i in items])
