"""The data types between a dataset row and a score: Record, Prompt, Outcome."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from humor_tasks.errors import BadInput
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.picture import Picture

VARIATION = "asked"
"""The key of a record's and an outcome's facts that says which of several askings of an item they are."""
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Point:
    """One point that an answer is expected to make, for a grader to check."""

    id: str
    text: str


@dataclass(frozen=True)
class Grouped:
    """The captions of choices that are groups, for models that score single captions.

    captions: those of each choice. combine: how the score of a group follows from theirs.
    """

    captions: tuple[tuple[str, ...], ...]
    combine: Literal["mean", "max"]

    @classmethod
    def of(cls, told: Mapping[str, Any] | None) -> Grouped | None:
        """From the fields as a message or document of a harness holds them."""
        return cls(tuple(map(tuple, told["captions"])), told["combine"]) if told else None


@dataclass(frozen=True)
class Record:
    """One item to answer.

    `cluster` is the unit that several items share (a contest); standard errors are clustered by it. `fields` are the
    values available to prompt templates. `context` is the scene as text, which shortcut baselines and embedding models
    compare with the choices. `choices` is empty for an open answer. `target` is a letter, a reference text or a
    verdict; None for unlabelled data. `points` are what a grader checks in an open answer. `groups` are labels by which
    outcomes are grouped, such as a fold or a scene. `facts` are what metrics need beside labels, such as individual
    grades: values of JSON, which a log gives back as they are. `grouped`: see Grouped.
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
    facts: Mapping[str, Any] = field(default_factory=dict)
    grouped: Grouped | None = None

    @property
    def media(self) -> tuple[Picture | Clip, ...]:
        """The picture or clip, where there is one."""
        return tuple(medium for medium in (self.picture, self.clip) if medium is not None)


@dataclass(frozen=True)
class Turn:
    """One chat turn; a picture or clip precedes its text."""

    role: Role
    text: str
    picture: Picture | None = None
    clip: Clip | None = None

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """The turn's picture, or the frames of its clip; none for a clip that is shown whole."""
        if self.clip is not None and self.clip.frames:
            return self.clip.pictures()
        return () if self.picture is None else (self.picture,)


@dataclass(frozen=True)
class Prompt:
    """The chat turns sent to a model; the last one is by the user.

    first: the number of turns of a first request, whose reply is a turn between them and the others; 0: there is none.
    """

    turns: tuple[Turn, ...]
    first: int = 0

    def showing(self, picture: Picture | None, clip: Clip | None = None) -> Prompt:
        """The prompt with a picture and a clip in its last turn, or in the last one of the first request."""
        last = (self.first or len(self.turns)) - 1
        turn = replace(self.turns[last], picture=picture, clip=clip)
        return replace(self, turns=(*self.turns[:last], turn, *self.turns[last + 1 :]))

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """Every picture and every frame of a clip, in the order of the turns."""
        return tuple(picture for turn in self.turns for picture in turn.pictures)

    @property
    def media(self) -> tuple[Picture | Clip, ...]:
        """Every picture and clip, in the order of the turns."""
        return tuple(medium for turn in self.turns for medium in (turn.picture, turn.clip) if medium is not None)


def plain_text(turns: Iterable[str], prefix: str = "", gap: str = "\n\n") -> str:
    """The texts of turns separated by blank lines, for models without a chat template; `prefix` begins the answer.

    gap: what is between the last turn and the prefix.
    """
    return "\n\n".join(turns) + gap + prefix


@dataclass(frozen=True, slots=True)  # a report holds those of a hundred runs
class Outcome:
    """The scored result of one reply.

    `status` is answered, unparsed, refused or empty. `values` holds this item's value of each metric, by metric name; a
    metric that excludes the item is missing (no label, another subset, or `on_unparsed=exclude`). `groups` and `facts`
    are those of the record, `facts` with what the answer adds.
    """

    id: str
    cluster: str
    groups: Mapping[str, str]
    status: str
    answer: str | None
    target: str | None
    values: Mapping[str, float]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The outcome for a log of either harness, but for its id, which the log has."""
        return {
            "status": self.status,
            "answer": self.answer,
            "target": self.target,
            "values": dict(self.values),
            "cluster": self.cluster,
            "groups": dict(self.groups),
            "facts": dict(self.facts),
        }

    @classmethod
    def of(cls, identity: str, logged: Mapping[str, Any]) -> Outcome:
        """The outcome that `as_dict` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        values, facts = dict(logged["values"]), dict(logged["facts"])
        groups = {str(name): str(value) for name, value in dict(logged["groups"]).items()}
        status, answer, target = (logged[name] for name in ("status", "answer", "target"))
        return cls(identity, str(logged["cluster"]), groups, status, answer, target, values, facts)


class ReplyLength(NamedTuple):
    """A benchmark's length of a reply in tokens; `prescribed`: whether its protocol sets it, also for short replies."""

    tokens: int
    prescribed: bool = False

    @classmethod
    def of(cls, told: Sequence[Any] | None) -> ReplyLength | None:
        """From the two values as a message of a harness holds them."""
        return cls(*told) if told else None

    def limit(self, asked: int | None, own: int, chosen: bool) -> int:
        """The most tokens of a reply to a request with the limit `asked`, where one that the protocol prescribes may
        arrive as the request's.
        """
        if asked is None or (self.prescribed and asked == self.tokens):
            return self.within(own, chosen)
        return asked

    def within(self, own: int, chosen: bool) -> int:
        """The most tokens of a reply to a request that names no limit.

        own: the model's length of a reply, and whether the user has `chosen` it, as by `max_len`. What the user says
        takes precedence over the protocol, and the protocol over the model's default.
        """
        if chosen:
            return own
        return self.tokens if self.prescribed else min(self.tokens, own)


# ---- parts of a run --------------------------------------------------------------------------------


class Shard(NamedTuple):
    """Part `number` (from 1) of `total`."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def clusters(self, ids: Iterable[str]) -> frozenset[str]:
        """The clusters of this part; none where there are fewer clusters than parts."""
        dealt = sorted(set(ids), key=lambda each: hashlib.sha256(each.encode("utf-8", "surrogatepass")).digest())
        return frozenset(dealt[self.number - 1 :: self.total])


def read_shard(text: str) -> Shard:
    """The part that `k/n` names. Raises BadInput unless k and n are whole numbers with 1 <= k <= n."""
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    shard = Shard(*map(int, match.groups())) if match else Shard(0, 0)
    if not 1 <= shard.number <= shard.total:
        raise BadInput(f"shard={text}: it must be k/n with whole numbers and k from 1 to n, such as 1/4.")
    return shard
