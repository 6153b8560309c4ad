"""Metrics: which items count, how the estimate is computed, and which direction is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.bounded_mean import bounded_mean, bounded_mean_of_folds
from humor_tasks.scorers.estimate import Estimate, clustered_mean, mean_of_folds
from humor_tasks.scorers.proportion import clustered_proportion, proportion_of_folds

Direction = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """One metric of a benchmark.

    direction: whether higher or lower values are better; harnesses and reports need one of the two.
    estimate: computes value and confidence interval from the outcomes that count; by default the mean of the items'
    values with clustered standard errors.
    lm_eval_name: the name in lm-eval where it differs (`acc` for `accuracy`).
    counts: whether an outcome counts; by default where `Outcome.values` has a value of this metric. A metric that is
    not defined for a single item, such as a correlation, needs its own function.
    proportion: whether the values lie in [0, 1], so that the interval is that of a proportion instead of Student's t.
    A metric with its own `estimate` declares it too, and computes such an interval.
    about: what the values say, in one sentence, for the documentation.
    neutral: the values only describe, such as a length: the documentation names no better direction.
    whole: it is reported over all outcomes alone, and not by the parts of the data.
    span: the lowest and the highest value that can be; by default [0, 1] of a proportion. A mean over a span with two
    finite ends has the interval of `bounded_mean`, which stays between them and is never a point.
    no_level: why neither a guess nor people have a level of it, in one sentence, where it does not measure how well
    items are answered.
    of: the metric whose values of items these are, where it is another one: over some of the outcomes.
    """

    name: str
    direction: Direction = "higher"
    estimate: Callable[[Sequence[Outcome]], Estimate] | None = None
    lm_eval_name: str = ""
    counts: Callable[[Outcome], bool] | None = None
    proportion: bool = False
    about: str = ""
    neutral: bool = False
    whole: bool = False
    span: tuple[float, float] | None = None
    no_level: str = ""
    of: str = ""

    @property
    def ends(self) -> tuple[float, float] | None:
        """The worst and the best value that can be; None where nobody has declared them."""
        low, high = self.span or (0, 1)
        known = self.proportion or self.span is not None
        return ((low, high) if self.direction == "higher" else (high, low)) if known else None

    @property
    def scale(self) -> tuple[float, float] | None:
        """The ends of the scale on which the items' values lie; None for a proportion, and without two finite ends."""
        ends = None if self.proportion else self.span
        return ends if ends is not None and all(map(math.isfinite, ends)) else None

    @property
    def values(self) -> str:
        """The name of the items' values in `Outcome.values`."""
        return self.of or self.name

    @property
    def name_in_lm_eval(self) -> str:
        """The name in lm-eval's results."""
        return self.lm_eval_name or self.name

    def counted(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """The outcomes that count towards this metric, in the given order."""
        return [o for o in outcomes if (self.counts(o) if self.counts else self.name in o.values)]

    def over(self, outcomes: Sequence[Outcome]) -> Estimate:
        """The estimate over outcomes that count."""
        if self.estimate is not None:
            return self.estimate(outcomes)
        return self.mean([o.values[self.name] for o in outcomes], [o.cluster for o in outcomes])

    def mean(self, values: Sequence[float], clusters: Sequence[Hashable]) -> Estimate:
        """The mean of items' values, with the interval that suits the metric."""
        if self.scale is not None:
            return bounded_mean(values, clusters, *self.scale)
        return (clustered_proportion if self.proportion else clustered_mean)(values, clusters)

    def mean_of_folds(self, values: Sequence[Sequence[float]], clusters: Sequence[Sequence[Hashable]]) -> Estimate:
        """The unweighted mean of the means of folds; a list of items' values and one of clusters per fold."""
        if self.scale is not None:
            return bounded_mean_of_folds(values, clusters, *self.scale)
        if self.proportion:
            return proportion_of_folds(values, clusters)
        return mean_of_folds([clustered_mean(x, c) for x, c in zip(values, clusters, strict=True)])


def has(name: str) -> Callable[[Outcome], bool]:
    """A `counts` function: the item has a value of the metric `name`."""
    return lambda outcome: name in outcome.values


def share(name: str, about: str, lm_eval_name: str = "") -> Metric:
    """The share of items with a property that is wanted."""
    return Metric(name, lm_eval_name=lm_eval_name, proportion=True, about=about)


OF_REPLIES = "It counts replies, not answers: a guess is always readable, and people answer on a form."
OF_JUDGES = "It says how the judges worked, and nothing of who answered."


def rate(name: str, about: str, no_level: str = OF_REPLIES) -> Metric:
    """The share of items with a property that is not wanted."""
    return Metric(name, "lower", proportion=True, about=about, no_level=no_level)


ACCURACY = share("accuracy", "Share of right answers.", "acc")
UNPARSED = rate("unparsed", "Share of replies without a readable answer, empty ones included.")
REFUSED = rate("refused", "Share of replies that decline.")
REPLY_RATES = (UNPARSED, REFUSED)
"""Shares of all replies that are unreadable or empty, and of those that are refusals."""
FALLBACK = rate(
    "fallback", "Share of replies in which `extraction=released_leaderboard` found no letter and took the last."
)
"""Share of all replies in which the extraction rule `released_leaderboard` found no letter and took the last choice."""
