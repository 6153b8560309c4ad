"""Types of the fields `uses` and `shown`: what a benchmark is used for beyond a run, and how its scores are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from humor_tasks.benchmarks.charts import Chart


@dataclass(frozen=True)
class Column:
    """How Inspect's viewer shows the column of a scorer.

    heading: the column's heading, if it is not the scorer's name. scale: the lowest and the highest score, if higher is
    better.
    """

    scorer: str
    heading: str = ""
    scale: tuple[float, float] | None = None


OVERLAP = Column("reference_overlap", scale=(0, 1))
"""The overlap of a text with its reference."""


@dataclass(frozen=True)
class Subsets:
    """Named subsets of a benchmark's points, which a report takes for parts of its data.

    of: the benchmark's name in headings. names: the subsets that charts compare. keys: returns the ids of the points in
    a subset, given its name or file and the dataset; None for all points. Raises BadInput for an unknown subset.
    chosen_by: returns file and model of the logs from which the rows in a file were chosen.
    """

    of: str
    names: tuple[str, ...]
    keys: Callable[[str, str], frozenset[str] | None]
    chosen_by: Callable[[str], frozenset[tuple[str, str]]]


System = Literal["clip", "ofa", "text", "image_text", "preferences"]
"""A system that its rows can train: by `humor-tasks train`, or, for preferences of texts, by an export."""


@dataclass(frozen=True)
class Clips:
    """The part of a benchmark's data that has clips, for a harness without video input.

    parameter: the option that selects parts of the data. of: its value for the part with clips. others: its values
    without clips, as a phrase. words: an option and its value that describe clips in words.
    """

    of: str
    parameter: str
    others: str
    words: tuple[str, str]


@dataclass(frozen=True)
class Votes:
    """The question for people who vote on a benchmark's items.

    kind: the kind of item, as in a file of items. question: the text that people read. between: whether the options are
    texts of two systems, the choices of a row, or a scale: the same options for every item, in a fixed order. first:
    the number of the first option.
    """

    kind: str
    question: str
    between: Literal["systems", "choices", "scale"] = "choices"
    first: int = 1


PREFERENCE = Votes("preference", "Which explanation of the joke is better?", "systems")
CONVEYING = Votes("conveying", "Which text conveys humor or sarcasm better?", "systems")
MATCHING = Votes("matching", "Which caption belongs to this cartoon?")
LINE = Votes("line", "Which caption or last line belongs here?")
RANKING = Votes("ranking", "Which caption is the funnier?")
DETECTING = Votes("detecting", "Is the caption or the last line humorous or sarcastic?", "scale")
RATING = Votes("rating", "How funny is this headline?", "scale", first=0)
VOTES = {each.kind: each for each in (PREFERENCE, CONVEYING, MATCHING, LINE, RANKING, DETECTING, RATING)}
"""Kind of item -> its question."""


@dataclass(frozen=True)
class Chain:
    """The worked samples of MOCK that fit a benchmark's questions, for the solver `chain_of_task`.

    subtask: the sub-task of MOCK that the questions resemble. scene: the scene of the questions, if the benchmark is
    not part of MOCK.
    """

    subtask: str
    scene: str = ""


@dataclass(frozen=True)
class Uses:
    """What a benchmark's rows and replies can be used for, in addition to a score.

    trains: the systems that its rows can train.
    votes: the question that people answer about its items; None if they cannot vote on them.
    chain: the worked samples of MOCK that fit its questions.
    clips: the part of its data that has clips; None without clips.
    repeated: whether published figures are means over several replies per item. If so, its Inspect task takes
    `replicates`.
    submits: the organisers' sub-task that its answers are submitted to, if the submission file is a table of numbers.
    writes: whether a reply holds one caption or a list of captions, which can be compared with human captions.
    """

    trains: frozenset[System] = frozenset()
    votes: Votes | None = None
    chain: Chain | None = None
    clips: Clips | None = None
    repeated: bool = False
    submits: Literal["", "rating", "pairwise"] = ""
    writes: Literal["", "caption", "captions"] = ""

    def __post_init__(self) -> None:
        if isinstance(self.trains, str) or set(self.trains) - set(get_args(System)):
            known = ", ".join(get_args(System))
            raise ValueError(f"uses: trains is {self.trains!r}; give a set of systems from {known}.")


@dataclass(frozen=True)
class Shown:
    """How a benchmark's scores are shown.

    columns: how Inspect's viewer shows the scorers' columns.
    charts: the charts of its results in reports; see `benchmarks.charts`.
    subsets: named subsets of its points. In a report they are parts of the data, and one of them has a column.
    """

    columns: tuple[Column, ...] = ()
    charts: tuple[Chart, ...] = ()
    subsets: Subsets | None = None
