"""What is done with a benchmark beside running it: the types of these fields of its definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


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
    name or a file, in a dataset; None for all. Raises BadInput where there is no such subset. chosen_by: file and
    model of the logs that the rows of a file were chosen by.
    """

    of: str
    names: tuple[str, ...]
    keys: Callable[[str, str], frozenset[str] | None]
    chosen_by: Callable[[str], frozenset[tuple[str, str]]]


System = Literal["clip", "ofa", "text", "preferences"]
"""What its rows can train: CLIP, OFA and text models by `humor-tasks train`; and, exported, preferences of texts."""


@dataclass(frozen=True)
class Clips:
    """What of a benchmark's data has clips, for a harness without video input.

    of: the part, as the value of `parameter`. others: the values without clips, in words. words: the option and its
    value that show clips in words.
    """

    of: str
    parameter: str
    others: str
    words: tuple[str, str]


@dataclass(frozen=True)
class Votes:
    """What people are asked who vote on a benchmark's items.

    kind: of the item in a file of items. question: as people read it.
    """

    kind: str
    question: str


PREFERENCE = Votes("preference", "Which explanation of the joke is better?")
MATCHING = Votes("matching", "Which caption belongs to this cartoon?")
RANKING = Votes("ranking", "Which caption is the funnier?")
VOTES = {each.kind: each for each in (PREFERENCE, MATCHING, RANKING)}
"""Kind of item -> what is asked. Preferences are between the texts of two systems, the others between a row's own."""


@dataclass(frozen=True)
class Chain:
    """Which worked samples of MOCK fit a benchmark's questions, for the solver `chain_of_task`.

    subtask: of MOCK that the questions are like. scene: theirs, of a benchmark outside MOCK.
    """

    subtask: str
    scene: str = ""
