"""An item's contributions to metrics, which lm-eval logs and aggregates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from humor_tasks.benchmarks.metric import Metric
from humor_tasks.data.records import Outcome
from humor_tasks.scorers.perplexity import perplexity_estimate

# Perplexity metric -> the number of units in a text.
PERPLEXITIES = {"word_perplexity": lambda text: len(text.split()), "byte_perplexity": lambda text: len(text.encode())}


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


def perplexity(count: Callable[[str], int], part: str, items: list[tuple[float, str, str]]) -> float:
    """The perplexity of reference texts, or another field of its estimate; items: (log-likelihood, text, cluster)."""
    likelihoods, texts, clusters = zip(*items, strict=True)
    estimate = perplexity_estimate(likelihoods, [count(text) for text in texts], clusters)
    return float(getattr(estimate, part))
