"""The players of an arena: systems with their captions by contest, and the groups of people's captions.

A player battles where it has what is shown: ten captions with `show=ten`, at least one with `show=best`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from humor_tasks.benchmarks.crowd.corpus import GROUP_SIZE, HUMAN_GROUPS, Cartoon
from humor_tasks.benchmarks.crowd.groups import human_groups
from humor_tasks.data.media.picture import Picture
from humor_tasks.errors import BadInput, listed
from humor_tasks.results.captions.files import CaptionGroup

Show = Literal["best", "ten"]
PEOPLE = {name: f"people/{name}" for name in HUMAN_GROUPS}
"""Human group -> its name as a player, from the one that the crowd rates highest."""
ANCHOR = PEOPLE["median"]
"""The player at 0, and at 1,000 Elo points, where it takes part."""


@dataclass(frozen=True)
class Scene:
    """What the captions are for: a contest's cartoon, or a writing request. words: "" where none are shown."""

    contest: str
    words: str
    picture: Picture | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Player:
    """A player: contest -> the captions that it shows there, in their order."""

    name: str
    captions: Mapping[str, tuple[str, ...]] = field(repr=False)

    @property
    def prints(self) -> dict[str, str]:
        """Contest -> the first 8 hex digits of the SHA-256 of what the player shows there."""
        return {contest: _print(texts) for contest, texts in self.captions.items()}

    @property
    def length(self) -> float:
        """The mean length of what it shows, in characters."""
        lengths = [characters(texts) for texts in self.captions.values()]
        return sum(lengths) / len(lengths)


def characters(texts: Sequence[str]) -> float:
    """The mean number of characters of captions."""
    return sum(map(len, texts)) / len(texts)


def _print(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def scenes_of(cartoons: Sequence[Cartoon]) -> dict[str, Scene]:
    """The contests' scenes, as their setting shows them."""
    return {str(c.number): Scene(str(c.number), c.context, c.picture) for c in cartoons}


def people(cartoons: Sequence[Cartoon], show: Show) -> list[Player]:
    """The human groups as players. With `show=best` a group shows the caption that the crowd rates highest."""
    shown: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in HUMAN_GROUPS}
    for cartoon in cartoons:
        for name, group in human_groups(cartoon.contest).items():
            texts = tuple(" ".join(text.split()) for text in group.captions)
            shown[name][str(cartoon.number)] = texts if show == "ten" else texts[:1]
    return [Player(PEOPLE[name], captions) for name, captions in shown.items() if captions]


def systems(groups: Iterable[CaptionGroup], scenes: Mapping[str, Scene], show: Show) -> tuple[list[Player], list[str]]:
    """The systems of files as players, and a note about each one that lacks captions for some contests.

    groups: with `show=best` the first caption of each is shown, as a picker sorts them. Raises BadInput for a system
    without any captions to show, and for one with the name of a human group.
    """
    by_system: dict[str, dict[str, tuple[str, ...]]] = {}
    for group in groups:
        if group.system in PEOPLE.values():
            raise BadInput(f"a system is named {group.system}, as a group of people's captions; give it another name.")
        texts = tuple(" ".join(text.split()) for text in group.captions)
        shown = texts[:1] if show == "best" else texts if len(texts) == GROUP_SIZE else ()
        held = by_system.setdefault(group.system, {})
        if shown and str(group.contest) in scenes:
            held[str(group.contest)] = shown
    players, notes = [], []
    for name, captions in by_system.items():
        lacking = [contest for contest in scenes if contest not in captions]
        what = "ten captions" if show == "ten" else "a caption"
        if not captions:
            raise BadInput(f"{name:.60} has {what} for none of the {len(scenes)} contests; leave its file out.")
        if lacking:
            notes.append(f"{name} has not {what} for {listed('contest', lacking, most=5)}: it does not battle there.")
        players.append(Player(name, captions))
    return players, notes


def check_players(players: Sequence[Player]) -> None:
    """Raise BadInput unless there are two players, each with another name, that meet in some contest."""
    names = [player.name for player in players]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"{listed('player', twice)} given twice; leave one file out, or rename its system.")
    if len(players) < 2:
        raise BadInput("an arena needs two players; give captions of another system, or the human groups.")
    for player in players:
        if not any(set(player.captions) & set(other.captions) for other in players if other is not player):
            raise BadInput(f"{player.name} has no contest in common with another player; leave it out.")


def without_contests(player: Player, contests: Iterable[str]) -> Player:
    """The player without some contests."""
    left_out = set(contests)
    return replace(player, captions={c: texts for c, texts in player.captions.items() if c not in left_out})
