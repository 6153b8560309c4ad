"""What is done with a benchmark beside running it: the types of these fields of its definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """How Inspect's viewer shows the column of a scorer.

    heading: instead of the scorer's name. scale: the lowest and the highest score, where a higher score is better.
    """

    scorer: str
    heading: str = ""
    scale: tuple[float, float] | None = None


@dataclass(frozen=True)
class Subsets:
    """Named subsets of a benchmark's points, for the table of its graded runs.

    of: the benchmark in headings. names: the subsets that the charts compare. keys: the ids of a subset's points, of a
    name or a file, in a dataset; None for all. Raises BadInput where there is no such subset. chosen_by: the logs that
    the rows of a file were chosen by, as "FILE: MODEL".
    """

    of: str
    names: tuple[str, ...]
    keys: Callable[[str, str], frozenset[str] | None]
    chosen_by: Callable[[str], frozenset[str]]
