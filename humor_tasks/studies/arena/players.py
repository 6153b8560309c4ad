"""The players of an arena: systems with their captions by contest, and the groups of people's captions.

A player battles where it has what is shown: ten captions with `show=ten`, at least one with `show=best`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from humor_tasks.benchmarks.crowd.corpus import GROUP_SIZE, HUMAN_GROUPS, Cartoon
from humor_tasks.benchmarks.crowd.groups import human_groups
from humor_tasks.errors import BadInput, listed
from humor_tasks.rows.media.picture import Picture
from humor_tasks.studies.captions.files import CaptionGroup

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
    def length(self) -> float:
        """The mean length of what it shows, in characters."""
        lengths = [characters(texts) for texts in self.captions.values()]
        return sum(lengths) / len(lengths)


class Battle(NamedTuple):
    """Two players in one contest, in the order of their names."""

    contest: str
    one: str
    other: str

    @classmethod
    def between(cls, contest: str, one: str, other: str) -> Battle:
        """The battle of two players, given in any order."""
        return cls(contest, *sorted((one, other)))


def as_text(texts: Sequence[str]) -> str:
    """What is shown of a player: its caption, or a numbered list of several."""
    return texts[0] if len(texts) == 1 else "\n".join(f"{i}. {text}" for i, text in enumerate(texts, 1))


def characters(texts: Sequence[str]) -> float:
    """The mean number of characters of captions."""
    return sum(map(len, texts)) / len(texts)


class Key(NamedTuple):
    """What a verdict is on: a battle with one of its players shown first, as text A, by one judge."""

    contest: str
    first: str
    second: str
    judge: str

    @property
    def battle(self) -> Battle:
        """The battle."""
        return Battle.between(self.contest, self.first, self.second)


@dataclass(frozen=True)
class Roster:
    """What battles show: the scene of each contest, and the captions of each player."""

    scenes: Mapping[str, Scene]
    players: Mapping[str, Player]

    def shown(self, key: Key) -> tuple[Scene, tuple[str, ...], tuple[str, ...]]:
        """The scene, and the captions of the players shown first and second."""
        first, second = (self.players[name].captions[key.contest] for name in (key.first, key.second))
        return self.scenes[key.contest], first, second

    def same(self, battle: Battle) -> bool:
        """Whether both players show the same but for case, which is a tie without a question."""
        one, other = (self.players[name].captions[battle.contest] for name in battle[1:])
        return [text.casefold() for text in one] == [text.casefold() for text in other]


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


def taking_part(
    groups: Sequence[CaptionGroup], scenes: Mapping[str, Scene], what: str
) -> tuple[list[CaptionGroup], list[str]]:
    """The groups of these scenes, and a note about the others. what: the scenes' name in the plural, such as contests.

    The note has the number of scenes that both the files and the arena have.
    """
    taken = [group for group in groups if str(group.contest) in scenes]
    others = list(dict.fromkeys(str(group.contest) for group in groups if str(group.contest) not in scenes))
    if not others:
        return taken, []
    common = len({str(group.contest) for group in taken})
    one = what.removesuffix("s")
    left_out = f"{len(groups) - len(taken)} lists of {listed(f'other {one}', others, most=5)} take no part"
    return taken, [f"{left_out}: {common} of the {common + len(others)} {what} in the files are of the arena."]


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
            notes.append(f"{name} lacks {what} for {listed('contest', lacking, most=5)}; it does not battle there.")
        players.append(Player(name, captions))
    return players, notes


def check_players(players: Sequence[Player]) -> None:
    """Raise BadInput unless there are players with different names whose battles join all of them to one ladder.

    Their battles must be in two contests at least, and one of them of different captions.
    """
    names = [player.name for player in players]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"{listed('player', twice)} given twice; leave one file out, or rename its system.")
    if len(players) < 2:
        raise BadInput("an arena needs two players; give captions of another system, or the human groups.")
    for player in players:
        if not any(set(player.captions) & set(other.captions) for other in players if other is not player):
            raise BadInput(f"{player.name} has no contest in common with another player; leave it out.")
    stage = Roster({}, {player.name: player for player in players})
    battles = [
        Battle.between(contest, one.name, other.name)
        for one, other in itertools.combinations(players, 2)
        for contest in one.captions
        if contest in other.captions
    ]
    check_joined(names, battles, "no contest in common", "Give captions for the same contests, or leave files out")
    if len(contests := {battle.contest for battle in battles}) < 2:
        raise BadInput(
            f"the players meet in the contest {min(contests)} alone; an arena needs two contests, which show how "
            "contests vary. Give captions for others."
        )
    if all(map(stage.same, battles)):
        raise BadInput("all players show the same captions; leave out the files that repeat those of another.")


def check_joined(players: Iterable[str], battles: Iterable[Battle], why: str, remedy: str) -> None:
    """Raise BadInput, naming them, on groups of players that no battle joins, so that no ladder can hold all."""
    groups = [{name} for name in players]
    for pair in dict.fromkeys(battle[1:] for battle in battles):
        met = [group for group in groups if not group.isdisjoint(pair)]
        groups = [group for group in groups if group.isdisjoint(pair)] + [set(pair).union(*met)]
    if len(groups) > 1:
        apart = "; ".join(", ".join(sorted(group)) for group in groups)
        raise BadInput(f"groups of players have {why}, so that no ladder holds all: {apart}. {remedy}.")
