"""The charts that a report draws for a benchmark, as data in its definition.

`humor_tasks.results.report.charts` draws each kind. Some charts need no declaration and are in every report: position
bias of judges, score by fold, and score against cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Declared:
    """The fields of every kind. name: the name of its files. source: the publication that has such a chart."""

    name: str
    title: str
    source: str = ""


@dataclass(frozen=True)
class ByShots(Declared):
    """The main metric of each system, with one series per setting and number of shots."""

    y: str = ""


@dataclass(frozen=True)
class TwoMetrics(Declared):
    """One metric against another, with the published values of people. x, y: name and label of a metric."""

    x: tuple[str, str] = ("", "")
    y: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Binned(Declared):
    """Metrics that each cover one bin of the items. bins: metric -> centre of its bin. low, high: limits of x."""

    x: str = ""
    y: str = ""
    bins: Mapping[str, float] = field(default_factory=dict)
    low: float = 0
    high: float = 1


@dataclass(frozen=True)
class Calibration(Declared):
    """The mean target against the answered number, in `bins` equal bins from 0 to `high`."""

    x: str = ""
    y: str = ""
    high: float = 1
    bins: int = 10


@dataclass(frozen=True)
class BySubset(Declared):
    """The share of passed points in each of the benchmark's `subsets`."""

    x: str = ""
    y: str = ""
    note: str = ""


Chart = ByShots | TwoMetrics | Binned | Calibration | BySubset
"""Any kind of chart, in the order of a report."""
