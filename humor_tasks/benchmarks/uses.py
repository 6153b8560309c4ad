"""What is done with a benchmark beside running it, and how its scores are shown: `uses` and `shown` of a definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from humor_tasks.benchmarks.charts import Chart


@dataclass(frozen=True)
class Column:
    """How Inspect's viewer shows the column of a scorer.

    heading: instead of the scorer's name. scale: the lowest and the highest score, where a higher score is better.
    """

    scorer: str
    heading: str = ""
    scale: tuple[float, float] | None = None


OVERLAP = Column("reference_overlap", scale=(0, 1))
"""The overlap of a text with its reference."""


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


@dataclass(frozen=True)
class Uses:
    """What a benchmark's rows and replies are good for, beside a score.

    trains: what its rows can train.
    votes: what people are asked of its items; None where they cannot vote on them.
    chain: which worked samples of MOCK fit its questions.
    clips: which of its rows have clips; None for a benchmark without clips.
    repeated: whether published figures are means over several replies per item, so that a task takes `replicates`.
    submits: the organisers' sub-task whose submission file its answers make, where that is a table of numbers.
    writes: whether a reply holds a caption, or a list of captions, to be compared with those of people.
    """

    trains: frozenset[System] = frozenset()
    votes: Votes | None = None
    chain: Chain | None = None
    clips: Clips | None = None
    repeated: bool = False
    submits: Literal["", "rating", "pairwise"] = ""
    writes: Literal["", "caption", "captions"] = ""


@dataclass(frozen=True)
class Shown:
    """How a benchmark's scores are shown.

    columns: how Inspect's viewer shows the scorers' columns, where it cannot know it.
    charts: what reports draw of its results; see `benchmarks.charts`.
    subsets: of its points. Reports have a table of its graded runs, with the score of one subset beside that of all.
    """

    columns: tuple[Column, ...] = ()
    charts: tuple[Chart, ...] = ()
    subsets: Subsets | None = None
