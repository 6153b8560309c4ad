"""The description of a benchmark: claim, paper, source, licence, what a score means, and what it does not mean.

Logs, reports, registers and the site read it from here. An unknown text is "", an unknown number is None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from humor_tasks.data.papers import Paper

UNNAMED = "the paper names none; OpenAI's default is `--gen_kwargs do_sample=True,temperature=1`."
"""`Card.sampling` where a paper says nothing about sampling."""
NO_PAPER = Paper()


@dataclass(frozen=True)
class Source:
    """Where the rows of the default parameters come from.

    name: id of the dataset on the hub, or of the repository; "" for a corpus that is not public. pin: how the rows are
    pinned. files: file -> its pinned SHA-256. rows: the files or configs in use, and what is left out of them.
    """

    name: str = ""
    pin: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    rows: str = ""


@dataclass(frozen=True)
class Level:
    """A reference value of one estimate, such as accuracy or accuracy_cartoon.

    reached_by: who or what reaches the value. source: paper, table and row, or how the value follows from the protocol.
    """

    value: float
    estimate: str
    reached_by: str
    source: str

    def __post_init__(self) -> None:
        if not isinstance(self.value, int | float) or not math.isfinite(self.value):
            raise ValueError(f"level of {self.estimate}: the value is {self.value!r}; give a finite number.")
        for name in ("estimate", "reached_by", "source"):
            if not getattr(self, name).strip():
                raise ValueError(f"level {self.value} of {self.estimate!r}: {name} is empty.")


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

    chance: the score of a system that ignores the material. human: scores of people, the main one first.
    meaning: what a score means. limits: what it does not mean. differences: what this implementation does
    otherwise than the paper, one sentence each, with the parameter that restores the paper's way where there is one.
    related: benchmarks to read together with this one.

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
    chance: Level | None = None
    human: tuple[Level, ...] = ()
    meaning: str = ""
    limits: str = ""
    differences: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    needs: str = ""
    usage: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.title, str):
            raise ValueError(f"a benchmark's card has {self.title!r} as title; give a text.")
        if not self.title.strip():
            raise ValueError("a benchmark's card has an empty title.")
        for name in ("languages", "human", "differences", "related"):
            if isinstance(getattr(self, name), str | Level):
                raise ValueError(f"card {self.title!r}: {name} is one value; give a tuple.")
        for name, kind in (("paper", Paper), ("source", Source), ("splits", Mapping), ("chance", Level | None)):
            if not isinstance(value := getattr(self, name), kind):
                wanted = getattr(kind, "__name__", "Level or None")
                raise ValueError(f"card {self.title!r}: {name} is {value!r}; give a {wanted}.")
        for split, count in self.splits.items():
            if count is not None and (not isinstance(count, int) or count < 1):
                raise ValueError(f"card {self.title!r}: split {split} has {count} items; None is an unknown number.")
