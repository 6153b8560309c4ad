"""A chart as data, drawn twice: as a static picture (`drawing`) and on the page.

All texts are as the runs have them. Whoever draws them escapes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from humor_tasks.scorers.estimate import Estimate


@dataclass(frozen=True)
class Point:
    """One point with its 95 % intervals; None where a limit is unknown.

    x: a number, or one of the axis's categories. n: the number of items. label: what the point is, where it is not the
    series' name.
    """

    x: float | str
    y: float
    low: float | None = None
    high: float | None = None
    x_low: float | None = None
    x_high: float | None = None
    n: int | None = None
    label: str = ""


@dataclass(frozen=True)
class Series:
    """The points of one system; with the style `line` they are connected in their order."""

    name: str
    points: tuple[Point, ...]
    style: Literal["points", "line"] = "points"


@dataclass(frozen=True)
class Reference:
    """A straight line across the chart: people, the best published system, chance."""

    label: str
    value: float
    axis: Literal["x", "y"] = "y"
    source: str = ""


@dataclass(frozen=True)
class Axis:
    """One axis.

    percent: the values are from 0 to 1 and shown in percent. categories: the values of a categorical axis in order.
    low, high: the limits; None where they follow from the points.
    """

    label: str
    log: bool = False
    percent: bool = False
    categories: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Chart:
    """One chart.

    name: the stem of the files. diagonal: whether y = x is drawn. note: what a reader has to know. source: the
    published figure that it follows.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    references: tuple[Reference, ...] = ()
    diagonal: bool = False
    note: str = ""
    source: str = ""


def point(x: float | str, e: Estimate, label: str = "") -> Point:
    """The point of an estimate at x."""
    low, high = known(e.low), known(e.high)
    return Point(x, e.value, low, high, n=e.n, label=label)


def known(value: float) -> float | None:
    """The number; None for nan."""
    return None if value != value else value
