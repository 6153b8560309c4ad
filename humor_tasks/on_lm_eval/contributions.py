"""What an item contributes to a metric, as lm-eval logs and aggregates it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from humor_tasks.benchmarks.metric import Metric
from humor_tasks.data.records import Outcome
from humor_tasks.scorers.perplexity import perplexity_estimate

# Units a reference text is counted in.
PERPLEXITIES = {"word_perplexity": lambda text: len(text.split()), "byte_perplexity": lambda text: len(text.encode())}


class Value(float):
    """An item's value of a metric, as lm-eval logs it, with the outcome it came from."""

    outcome: Outcome

    def __new__(cls, value: float, outcome: Outcome) -> Value:
        """A float that remembers `outcome`."""
        made = super().__new__(cls, value)
        made.outcome = outcome
        return made

    def __reduce__(self) -> tuple[Any, ...]:  # several processes gather their items
        return Value, (float(self), self.outcome)


class AnswerAndTarget(tuple[str | None, str | None]):
    """What an item contributes to a metric that is not defined on one item, as lm-eval's own corpus metrics log it."""

    outcome: Outcome

    def __new__(cls, outcome: Outcome) -> AnswerAndTarget:
        """The pair, which remembers `outcome`."""
        made = super().__new__(cls, (outcome.answer, outcome.target))
        made.outcome = outcome
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return AnswerAndTarget, (self.outcome,)


Contribution = Value | AnswerAndTarget


def contribution(metric: Metric, outcome: Outcome) -> Contribution:
    """What an item contributes to a metric it counts towards."""
    value = outcome.values.get(metric.name)
    return AnswerAndTarget(outcome) if value is None else Value(value, outcome)


def perplexity(count: Callable[[str], int], part: str, items: list[tuple[float, str, str]]) -> float:
    """The perplexity of references, or another field of its estimate; `items` are log-likelihood, text and cluster."""
    likelihoods, texts, clusters = zip(*items, strict=True)
    estimate = perplexity_estimate(likelihoods, [count(text) for text in texts], clusters)
    return float(getattr(estimate, part))
