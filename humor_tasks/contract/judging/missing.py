"""Missing verdicts: how many there are, and the bounds of a score between all of them lost and all of them won."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from humor_tasks.contract.metric import OF_JUDGES, Metric
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_share

TOLERATED = 0.02
"""The largest share of missing verdicts without a warning."""

MISSING = "missing_verdicts"
BOUNDS = {"missing_failed": False, "missing_passed": True}
"""Suffix of a metric -> what each missing verdict counts as."""
_ABOUT = {False: "failed, lost, or the lowest rating", True: "passed, won, or the highest rating"}


@dataclass(frozen=True)
class Verdicts:
    """The verdicts that a benchmark's scores rest on.

    requested: the number of verdicts that an outcome needs; 0 where no grader is asked.
    missing: the number of those that are missing.
    filled: the outcome with each missing verdict counted as failed (False) or as passed (True).
    bounded: the names of the metrics that are reported with bounds.
    """

    requested: Callable[[Outcome], float]
    missing: Callable[[Outcome], float]
    filled: Callable[[Outcome, bool], Outcome]
    bounded: tuple[str, ...]

    def metrics(self, metrics: Sequence[Metric]) -> tuple[Metric, ...]:
        """The share of missing verdicts, and the bounds of those of `metrics` that are bounded."""
        of = [metric for metric in metrics if metric.name in self.bounded]
        bounds = (self._bound(metric, suffix) for metric in of for suffix in BOUNDS)
        share = Metric(
            MISSING,
            "lower",
            self._share,
            counts=lambda o: self.requested(o) > 0,
            proportion=True,
            about="Share of the verdicts asked for that are missing: unread, refused, failed or without a majority.",
            no_level=OF_JUDGES,
        )
        return (share, *bounds)

    def _share(self, outcomes: Sequence[Outcome]) -> Estimate:
        missing, asked = [self.missing(o) for o in outcomes], [self.requested(o) for o in outcomes]
        return clustered_share(missing, asked, [o.cluster for o in outcomes])

    def _bound(self, metric: Metric, suffix: str) -> Metric:
        passes = BOUNDS[suffix]
        return replace(
            metric,
            name=f"{metric.name}_{suffix}",
            lm_eval_name=f"{metric.name_in_lm_eval}_{suffix}",
            estimate=lambda outcomes: metric.over([self.filled(o, passes) for o in outcomes]),
            counts=lambda o: bool(metric.counted([self.filled(o, passes)])),
            about=f"`{metric.name}` with every missing verdict counted as {_ABOUT[passes]}.",
            no_level="It is a bound of the metric that its name begins with, and has its levels where none is missing.",
        )


def missing_warning(values: Mapping[str, float]) -> str | None:
    """The warning of a run with these values by metric, where more than TOLERATED of its verdicts are missing."""
    share = values.get(MISSING, 0.0)
    if not share > TOLERATED:
        return None
    low, high = BOUNDS
    bounds_of_metrics = [
        f"{name} is {values[f'{name}_{low}']:.3f} with each of them counted as failed and "
        f"{values[f'{name}_{high}']:.3f} as passed"
        for name in (key.removesuffix(f"_{low}") for key in values if key.endswith(f"_{low}"))
        if math.isfinite(values[f"{name}_{low}"] + values.get(f"{name}_{high}", math.nan))
    ]
    bounds = (
        f" Scores leave them out: {'; '.join(bounds_of_metrics)}." if bounds_of_metrics else " Scores leave them out."
    )
    return f"{share:.1%} of the graders' verdicts are missing (unread, refused, failed or without a majority).{bounds}"
