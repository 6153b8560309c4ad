"""Between which values each metric of a benchmark lies: the worst, that of a guess, that of people, and the best.

Reuel et al., NeurIPS 2024, arXiv 2411.12990, criteria on floors and ceilings, human and random performance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from humor_tasks.contract.card import Level
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.metric import Metric

NEUTRAL = "It describes, and no value is better than another."


@dataclass(frozen=True)
class Levels:
    """The levels of one metric.

    worst, best: the ends of its range; None for a neutral metric. chance, people: its levels, or those of its parts.
    no_chance, no_people: why there is none, as whole sentences; "" where there is one.
    """

    metric: Metric
    worst: float | None
    best: float | None
    chance: tuple[Level, ...]
    people: tuple[Level, ...]
    no_chance: str
    no_people: str


def levels(benchmark: Benchmark[Any]) -> tuple[Levels, ...]:
    """The levels of every reported metric, the primary one first."""
    return tuple(_levels(benchmark, metric) for metric in benchmark.reported)


def _levels(benchmark: Benchmark[Any], metric: Metric) -> Levels:
    card = benchmark.card
    chance, people = _of(metric, card.chance), _of(metric, card.human)
    general = metric.no_level or (NEUTRAL if metric.neutral else "")
    no_chance, no_people = (general or told for told in (card.considerations.no_chance, card.considerations.no_human))
    worst, best = (None, None) if metric.neutral or metric.ends is None else metric.ends
    return Levels(metric, worst, best, chance, people, "" if chance else no_chance, "" if people else no_people)


def _of(metric: Metric, known: Iterable[Level]) -> tuple[Level, ...]:
    """The levels of a metric or of its parts, METRIC_PART."""
    return tuple(each for each in known if metric.name in (each.estimate, each.estimate.rpartition("_")[0]))
