"""The description of a benchmark: claim, paper, source, licence, what a score means, and what it does not mean.

Logs, reports, registers and the site read it from here. An unknown text is "", an unknown number is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from humor_tasks.papers.considerations import Considerations
from humor_tasks.papers.levels import Level as Level
from humor_tasks.papers.levels import guessed as guessed
from humor_tasks.papers.papers import Paper
from humor_tasks.rows.contests.dates import LAST_CONTEST

UNNAMED = "the paper names none; OpenAI's default is `--gen_kwargs do_sample=True,temperature=1`."
"""`Card.sampling` where a paper says nothing about sampling."""
NO_PAPER = Paper()
NOTHING = Considerations()


@dataclass(frozen=True)
class Source:
    """Where the rows of the default parameters come from.

    name: id of the dataset on the hub, or of the repository; "" for a corpus that is not public. pin: how the rows are
    pinned. files: file -> its pinned SHA-256. rows: the files or configs in use, and what is left out of them.
    pictures: the size of the download that `setting=pixels` adds, such as "7.9 GB"; "" where nobody has measured it.
    """

    name: str = ""
    pin: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    rows: str = ""
    pictures: str = ""


@dataclass(frozen=True)
class Card:
    """The description of a benchmark. Each text is one or more whole sentences.

    section: where the paper describes it, such as "section 2". question: the question, in one sentence that begins with
    the benchmark's name in words. claim: what a score should show, in one sentence. prompt: what the model is shown.
    metrics: what is measured. sampling: how the published replies were sampled, with lm-eval's flag for it. The
    documentation adds what the harnesses send.

    splits: split -> the number of items that the default parameters select; None if nobody has counted them. counted:
    what these numbers count, if not items. dates: when the material was published. dated: whether the clusters are
    contest numbers of the New Yorker, so that `analyse` can compare scores by date. languages: ISO 639-1 codes.

    considerations: use cases, what a score means and does not mean, misuse, whose humour it is, people and content.

    chance: scores of systems that ignore the material, the main one first. human: scores of people, the main one first.
    wordings: what is known of how scores depend on the prompt set and on the order of the choices. differences: what
    this implementation does otherwise than the paper, one sentence each, with the parameter that restores the paper's
    way where there is one. related: benchmarks to read together with this one.

    needs: what a run needs in addition to a model and judges. usage: how to use its Inspect task, without the
    parameters.
    """

    title: str
    paper: Paper = NO_PAPER
    section: str = ""
    source: Source = Source()
    question: str = ""
    claim: str = ""
    prompt: str = ""
    metrics: str = ""
    sampling: str = ""
    splits: Mapping[str, int | None] = field(default_factory=dict)
    counted: str = ""
    dates: str = ""
    dated: bool = False
    languages: tuple[str, ...] = ("en",)
    considerations: Considerations = NOTHING
    chance: tuple[Level, ...] = ()
    human: tuple[Level, ...] = ()
    wordings: str = ""
    differences: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    needs: str = ""
    usage: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.title, str):
            raise ValueError(f"a benchmark's card has {self.title!r} as title; give a text.")
        if not self.title.strip():
            raise ValueError("a benchmark's card has an empty title.")
        for name in ("languages", "chance", "human", "differences", "related"):
            if isinstance(getattr(self, name), str | Level):
                raise ValueError(f"card {self.title!r}: {name} is one value; give a tuple.")
        for name, kind in (
            ("paper", Paper),
            ("source", Source),
            ("splits", Mapping),
            ("considerations", Considerations),
        ):
            if not isinstance(value := getattr(self, name), kind):
                raise ValueError(f"card {self.title!r}: {name} is {value!r}; give a {kind.__name__}.")
        if not all(isinstance(level, Level) for level in (*self.chance, *self.human)):
            raise ValueError(f"card {self.title!r}: chance and human are tuples of Level.")
        for split, count in self.splits.items():
            if count is not None and (not isinstance(count, int) or count < 1):
                raise ValueError(f"card {self.title!r}: split {split} has {count} items; None is an unknown number.")


# ---- charts ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BaseChart:
    """The fields of every kind. name: the name of its files. source: the publication that has such a chart."""

    name: str
    title: str
    source: str = ""


@dataclass(frozen=True)
class ByShots(BaseChart):
    """The main metric of each system, with one series per setting and number of shots."""

    y: str = ""


@dataclass(frozen=True)
class TwoMetrics(BaseChart):
    """One metric against another, with the published values of people. x, y: name and label of a metric."""

    x: tuple[str, str] = ("", "")
    y: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Binned(BaseChart):
    """Metrics that each cover one bin of the items. bins: metric -> centre of its bin. low, high: limits of x."""

    x: str = ""
    y: str = ""
    bins: Mapping[str, float] = field(default_factory=dict)
    low: float = 0
    high: float = 1


@dataclass(frozen=True)
class Calibration(BaseChart):
    """The mean target against the answered number, in `bins` equal bins from 0 to `high`."""

    x: str = ""
    y: str = ""
    high: float = 1
    bins: int = 10


@dataclass(frozen=True)
class BySubset(BaseChart):
    """The share of passed points in each of the benchmark's `subsets`."""

    x: str = ""
    y: str = ""
    note: str = ""


Chart = ByShots | TwoMetrics | Binned | Calibration | BySubset
"""Any kind of chart, in the order of a report."""


# ---- uses and display ------------------------------------------------------------------------------


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

    keys: returns the ids of the points in a subset, given its name or file and the dataset; None for all points. Raises
    BadInput for an unknown subset. source_logs: returns file and model of the logs from which the rows in a file were
    chosen.
    """

    names: tuple[str, ...]
    keys: Callable[[str, str], frozenset[str] | None]
    source_logs: Callable[[str], frozenset[tuple[str, str]]]


System = Literal["clip", "ofa", "text", "image_text", "preferences"]
"""A system that its rows can train: by `humor-tasks train`, or, for preferences of texts, by an export."""


@dataclass(frozen=True)
class Clips:
    """The part of a benchmark's data that has clips, for a harness without video input.

    parameter: the option that selects parts of the data. with_clips: its value for the part with clips. without_clips:
    its values without clips, as a phrase. in_words: an option and its value that describe clips in words.
    """

    with_clips: str
    parameter: str
    without_clips: str
    in_words: tuple[str, str]


@dataclass(frozen=True)
class Votes:
    """The question for people who vote on a benchmark's items.

    kind: the kind of item, as in a file of items. question: the text that people read. option_kind: whether the options
    are texts of two systems, the choices of a row, or a scale: the same options for every item, in a fixed order.
    first: the number of the first option. nouns: what the options are, in the plural.
    """

    kind: str
    question: str
    option_kind: Literal["systems", "choices", "scale"] = "choices"
    first: int = 1
    nouns: str = "captions"


PREFERENCE = Votes("preference", "Which explanation of the joke is better?", "systems", nouns="explanations")
CONVEYING = Votes("conveying", "Which text conveys humor or sarcasm better?", "systems", nouns="stories")
MATCHING = Votes("matching", "Which caption belongs to this cartoon?")
LINE = Votes("line", "Which caption or last line belongs here?")
RANKING = Votes("ranking", "Which caption is the funnier?")
DETECTING = Votes("detecting", "Is the caption or the last line humorous or sarcastic?", "scale")
RATING = Votes("rating", "How funny is this headline?", "scale", first=0)
LABELLING = Votes("labelling", "Does the explanation contain the element?", "scale", nouns="labels")
VOTES = {each.kind: each for each in (PREFERENCE, CONVEYING, MATCHING, LINE, RANKING, DETECTING, RATING, LABELLING)}
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
    examines_judges: whether the model under test judges, and is right where it agrees with people.
    """

    trains: frozenset[System] = frozenset()
    votes: Votes | None = None
    chain: Chain | None = None
    clips: Clips | None = None
    repeated: bool = False
    submits: Literal["", "rating", "pairwise"] = ""
    writes: Literal["", "caption", "captions"] = ""
    examines_judges: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.trains, str) or set(self.trains) - set(get_args(System)):
            known = ", ".join(get_args(System))
            raise ValueError(f"uses: trains is {self.trains!r}; give a set of systems from {known}.")


@dataclass(frozen=True)
class Display:
    """How a benchmark's scores are shown.

    columns: how Inspect's viewer shows the scorers' columns.
    charts: the charts of its results in reports; see `contract.card`.
    subsets: named subsets of its points. In a report they are parts of the data, and one of them has a column.
    """

    columns: tuple[Column, ...] = ()
    charts: tuple[Chart, ...] = ()
    subsets: Subsets | None = None


def has_dates(card: Card, clusters: Iterable[str]) -> bool:
    """Whether the clusters of a benchmark are contests with dates; those of the packaged sample are invented."""
    return card.dated and all(c.isdecimal() and 1 <= int(c) <= LAST_CONTEST for c in clusters)
