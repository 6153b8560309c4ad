"""People in an arena: its battles as items of the annotation page, and their votes as verdicts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.contract.card import RANKING
from humor_tasks.errors import BadInput
from humor_tasks.studies.arena.ladder import PERSON
from humor_tasks.studies.arena.players import Battle, Key, Roster, as_text
from humor_tasks.studies.arena.store import StoredVerdict
from humor_tasks.studies.people.sources import copy_picture, sampled
from humor_tasks.studies.people.vote_files import read_votes
from humor_tasks.studies.people.votes import PREFERENCE, TIE


def identity(battle: Battle, stage: Roster) -> str:
    """The id of a battle's item, which changes with the captions."""
    texts = (text for name in battle[1:] for text in (name, *stage.players[name].captions[battle.contest]))
    return f"{battle.contest}-{hashlib.sha256(chr(0).join(texts).encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def items(battles: Sequence[Battle], stage: Roster, size: int | None, seed: int, output: Path) -> list[dict[str, Any]]:
    """The rows of a file of items, one a battle; battles of the same captions are left out.

    Option A is the player that comes first by name; the page shows the options in a random order. Pictures are copied
    to a folder beside `output`.
    """
    known = {identity(battle, stage): battle for battle in battles if not stage.same(battle)}
    rows = []
    for name in sampled(list(known), size, seed):
        battle = known[name]
        scene, *sides = stage.shown(Key(*battle, ""))
        picture = {"image": copy_picture(scene.picture, output)} if scene.picture else {}
        words = {"description": scene.words} if scene.words and not picture else {}
        about = {"id": name, "cluster": battle.contest, "kind": RANKING.kind, "systems": list(battle[1:])}
        rows.append(about | picture | words | {"options": list(map(as_text, sides))})
    return rows


def read_people(
    paths: Iterable[Path], battles: Sequence[Battle], stage: Roster, twice: str = "error"
) -> dict[Key, StoredVerdict]:
    """The votes of files on battles of an arena, by key; the judge is `person/NAME`.

    Raises BadInput for votes on other items, and for an annotator's votes on an item in two files.
    """
    known = {identity(battle, stage): battle for battle in battles}
    kept: dict[Key, StoredVerdict] = {}
    files: dict[tuple[str, str], Path] = {}
    for path in paths:
        for vote in read_votes(path, known, twice, PREFERENCE).votes:
            if (other_file := files.setdefault((vote.item, vote.rater), path)) is not path:
                raise BadInput(f"{path}: {vote.rater} voted on {vote.item} also in {other_file}; keep one vote.")
            contest, one, other = known[vote.item]
            swapped = vote.order.startswith("B")
            word = vote.choice if vote.choice == TIE or not swapped else {"A": "B", "B": "A"}[vote.choice]
            key = Key(contest, *((other, one) if swapped else (one, other)), PERSON + vote.rater)
            kept[key] = StoredVerdict(word, "answered", vote.reason)
    return kept
