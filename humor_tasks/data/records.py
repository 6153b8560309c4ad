"""The values that flow from a row to a score: Record, Prompt, Outcome. Plain, typed and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from humor_tasks.data.media.clip import Clip
from humor_tasks.data.media.picture import Picture

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Point:
    """One thing an answer is expected to contain, for a grader to look for."""

    id: str
    text: str


@dataclass(frozen=True)
class Record:
    """One item to answer.

    `cluster` is what repeats across items (a contest) and what standard errors are clustered by.
    `fields` are what prompt templates may show; `context` is the scene as text, which shortcut
    baselines and embedding models compare with the choices. `choices` is empty for an open answer.
    `target` is a letter, a reference text or a verdict, None when the data carries no label;
    `points` are what a grader looks for in an open answer.
    """

    id: str
    cluster: str
    fields: Mapping[str, str]
    context: str
    choices: tuple[str, ...]
    target: str | None
    groups: Mapping[str, str]
    picture: Picture | None = None
    clip: Clip | None = None
    points: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Turn:
    """One chat turn; a picture or clip belongs before its text."""

    role: Role
    text: str
    picture: Picture | None = None
    clip: Clip | None = None


@dataclass(frozen=True)
class Prompt:
    """The chat turns a model is shown, the last one by the user."""

    turns: tuple[Turn, ...]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """Every picture, in the order of the turns."""
        return tuple(turn.picture for turn in self.turns if turn.picture is not None)

    @property
    def media(self) -> tuple[Picture | Clip, ...]:
        """Every picture and clip, in the order of the turns."""
        return tuple(shown for turn in self.turns for shown in (turn.picture, turn.clip) if shown is not None)


@dataclass(frozen=True)
class Outcome:
    """What one reply was worth.

    `status` is answered, unparsed, refused or empty. `values` holds this item's share of every
    metric it counts towards, by metric name; an item left out of a metric lacks its name (no
    label, another subset, or `on_unparsed=exclude`).
    """

    id: str
    cluster: str
    groups: Mapping[str, str]
    status: str
    answer: str | None
    target: str | None
    values: Mapping[str, float]
