"""The record of a finished run, whichever harness made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from humor_tasks.data.records import Outcome, Point

Harness = Literal["inspect", "lm_eval", "predictions"]


@dataclass(frozen=True)
class Usage:
    """Tokens of one model or role; `input` is without cached tokens, `cost` in dollars where it was recorded."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = None

    @property
    def all_input(self) -> int:
        """Input tokens, cached ones included."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True)
class Scored:
    """What one scorer said of a reply.

    `outcome` is None for scorers of other packages. `details` is what the scorer kept beside the outcome: the
    verdicts of judges, the signature of how they were asked.
    """

    scorer: str
    answer: str | None
    outcome: Outcome | None
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class LoggedSample:
    """One reply of a run: what was asked, what was said, and how it was scored.

    where: file and sample, or file and line, for messages. benchmark: None for a task that is not of humor_tasks.
    fields: those that the log holds, which may be none. reply: None where the run has none; `raw` is then what
    stands in its place, such as log-likelihoods.
    """

    where: str
    id: str
    epoch: int
    cluster: str
    groups: Mapping[str, str]
    benchmark: str | None
    version: str | None
    options: Mapping[str, Any]
    choices: tuple[str, ...]
    fields: Mapping[str, str] = field(repr=False)
    points: tuple[Point, ...] = field(repr=False)
    prompt: str = field(repr=False)
    reply: str | None
    stop: str | None = None
    error: str | None = None
    scores: tuple[Scored, ...] = ()
    raw: Any = None

    @property
    def outcome(self) -> Outcome | None:
        """As the first of this package's scorers has it."""
        return next((score.outcome for score in self.scores if score.outcome), None)

    @property
    def refused(self) -> bool:
        """Whether the provider flagged a refusal."""
        return self.stop == "content_filter"

    def scored_by(self, scorer: str, detail: str = "") -> Scored | None:
        """The last score of that scorer, which counts where a run was scored again; `detail` is one that it holds."""
        found = (s for s in reversed(self.scores) if s.scorer.rsplit("/", 1)[-1].startswith(scorer))
        return next((s for s in found if not detail or detail in s.details), None)


@dataclass(frozen=True)
class FinishedRun:
    """One run.

    signature: "-" where the run does not say. status: Inspect's, "success" for a finished run. rows: how many
    instances a whole run has, where known; held: how many it has. options: what replies were read by. source: the
    rows' provenance. models, roles: usage by model and by model role. bound: the models of each role. replayed: who
    wrote the replies, where the run only graded those of another.
    samples: every reply, read anew from the file each time they are iterated over.
    """

    path: Path
    harness: Harness
    benchmark: str | None
    version: str
    signature: str
    model: str
    held: int
    samples: Iterable[LoggedSample] = field(repr=False)
    rows: int | None = None
    status: str = "success"
    error: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, Usage] = field(default_factory=dict)
    roles: Mapping[str, Usage] = field(default_factory=dict)
    bound: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    replayed: str | None = None

    @property
    def graders(self) -> tuple[str, ...]:
        """The models of the role `grader`."""
        return self.bound.get("grader", ())

    def __iter__(self) -> Iterator[LoggedSample]:
        return iter(self.samples)


@dataclass(frozen=True)
class About:
    """What a sample says of its task, in the metadata of Inspect or the document of lm-eval."""

    benchmark: str | None = None
    version: str | None = None
    signature: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
