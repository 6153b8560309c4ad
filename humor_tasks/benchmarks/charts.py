"""The charts that a report draws of a benchmark: what they show, as data of its definition.

`humor_tasks.studies.report.charts` draws them, one way for each kind. Every report also has the charts that need no
declaration: position bias of judges, score by fold, and score against cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Declared:
    """What every kind of chart has. name: of its files; source: the publication with a chart like it."""

    name: str
    title: str
    source: str = ""


@dataclass(frozen=True)
class ByShots(Declared):
    """The main metric by system, with one series per setting and number of shots."""

    y: str = ""


@dataclass(frozen=True)
class TwoMetrics(Declared):
    """One metric against another, with people's published values of both. x, y: metric name and label."""

    x: tuple[str, str] = ("", "")
    y: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Binned(Declared):
    """Metrics that each cover a bin of the items. bins: metric -> middle of its bin. low, high: the limits of x."""

    x: str = ""
    y: str = ""
    bins: Mapping[str, float] = field(default_factory=dict)
    low: float = 0
    high: float = 1


@dataclass(frozen=True)
class Calibration(Declared):
    """The mean target by the number that was answered, in `bins` equal bins from 0 to `high`."""

    x: str = ""
    y: str = ""
    high: float = 1
    bins: int = 10


@dataclass(frozen=True)
class BySubset(Declared):
    """The share of passed points over each of the benchmark's `subsets`."""

    x: str = ""
    y: str = ""
    note: str = ""


Chart = ByShots | TwoMetrics | Binned | Calibration | BySubset
"""Any kind, in the order of a report."""
