"""What is said of a benchmark: its claim, paper, source and licence, what a score means, and what it does not.

Logs, reports, registers and the site read it here. A text that is not known is "", a number None.
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

    name: id of the hub or of the repository; "" for a corpus that is not public. pin: how the rows are pinned. files:
    file -> its pinned SHA-256. rows: which files or configs, and what is left out of them.
    """

    name: str = ""
    pin: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    rows: str = ""


@dataclass(frozen=True)
class Level:
    """A value of one estimate, such as accuracy or accuracy_cartoon, and who or what reaches it.

    source: paper, table and row, or how the value follows from the protocol.
    """

    value: float
    estimate: str
    of: str
    source: str

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"level of {self.estimate}: the value is {self.value}; give a finite number.")
        for name in ("estimate", "of", "source"):
            if not getattr(self, name).strip():
                raise ValueError(f"level {self.value} of {self.estimate!r}: {name} is empty.")


@dataclass(frozen=True)
class Card:
    """What is said of a benchmark.

    place: where the paper has it, such as "section 2". asks: the question, in one sentence that begins with the
    benchmark's name in words. claim: what a score is to show, in one sentence. prompt, metrics: what is shown and
    measured. sampling: how the published replies were sampled, with lm-eval's flag for it, beside which the
    documentation says what the harnesses send.

    splits: split -> the number of items that the default parameters select, None where nobody has counted.
    counted: what these numbers are of, where they are not items. dates: when the material was published. over_time:
    whether the clusters are numbers of the New Yorker's contests, over whose dates `analyse` looks at scores.
    languages: codes by ISO 639-1.

    chance: what a system reaches that ignores the material. human: what people reach, the main figure first. means,
    limits: what a score means, and what it does not. related: other benchmarks to read beside it.

    needs: what a run needs beside a model and judges. usage: how its task in Inspect is used, beside its parameters.
    """

    title: str
    paper: Paper = NO_PAPER
    place: str = ""
    source: Source = Source()
    asks: str = ""
    claim: str = ""
    prompt: str = ""
    metrics: str = ""
    sampling: str = ""
    splits: Mapping[str, int | None] = field(default_factory=dict)
    counted: str = ""
    dates: str = ""
    over_time: bool = False
    languages: tuple[str, ...] = ("en",)
    chance: Level | None = None
    human: tuple[Level, ...] = ()
    means: str = ""
    limits: str = ""
    related: tuple[str, ...] = ()
    needs: str = ""
    usage: str = ""

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise ValueError("a benchmark's card has an empty title.")
        for name in ("languages", "human", "related"):
            if isinstance(getattr(self, name), (str, Level)):
                raise ValueError(f"card {self.title!r}: {name} is one value; give a tuple.")
        for split, count in self.splits.items():
            if count is not None and count < 1:
                raise ValueError(f"card {self.title!r}: split {split} has {count} items; None is an unknown number.")
