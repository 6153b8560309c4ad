"""Annotations from filled forms and ratings, in the form of the corpora that they extend.

description, links: the caption contest's file of annotations by contest, which `humor-tasks build newyorker` reads.
literal: {media_id: text}, which `humor-tasks build mock` and `describe` read. editing: Humicroedit's columns id,
original and edit. rating: these with grades and meanGrade.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.card import RATING
from humor_tasks.data.reading import json_object
from humor_tasks.data.writing import write_json, write_table
from humor_tasks.errors import BadInput
from humor_tasks.people.forms import DESCRIPTION, EDITING, FORMS, LINKS, LITERAL, MARK
from humor_tasks.people.pairs import Item
from humor_tasks.people.vote import Vote

GRADES = 4  # of Humicroedit: 0 to 3
HITS = {DESCRIPTION.kind: "description_hit", LINKS.kind: "link_hit"}
CONTEST = re.compile("[0-9]{1,9}")
Found = Sequence[tuple[Item, Vote]]


def contests(found: Found, before: Path | None) -> dict[str, Any]:
    """Contest -> its entry with the annotations, added to those of the file `before`. Names are hashed."""
    entries = _entries(before) if before else {}
    for item, vote in found:
        if not CONTEST.fullmatch(item.cluster):
            raise BadInput(f"item {item.id}: cluster is {item.cluster!r:.60}; it must be the number of a contest.")
        start = {"contest_number": int(item.cluster), "official_newyorker_finalists": ["UNKNOWN"]}
        entry = entries.setdefault(str(int(item.cluster)), start)
        hits = entry.setdefault("mturk_annotations", {}).setdefault(HITS[item.kind], [])
        texts = {name: text or None for name, text in FORMS[item.kind].read(vote.choice).items()}
        hit = {**texts, "hash_worker_id": hashlib.sha256(vote.rater.encode()).hexdigest()[:32]}
        if hit not in hits:  # of an earlier `collect` of the same votes
            hits.append(hit)
    return dict(sorted(entries.items(), key=lambda pair: int(pair[0])))


def _entries(path: Path) -> dict[str, dict[str, Any]]:
    """The file's entries by contest. Raises BadInput for another form than `build newyorker` reads."""
    found = json_object(path, "entries by contest number")
    for number, entry in found.items():
        hits = entry.get("mturk_annotations", {}) if isinstance(entry, dict) else None
        if not CONTEST.fullmatch(number) or number != str(int(number)):
            raise BadInput(f"{path}: {number!r:.60} is no contest number; name entries by it, such as 510.")
        if not isinstance(hits, dict) or not all(isinstance(hits.get(name, []), list) for name in HITS.values()):
            told = "an object whose mturk_annotations hold lists"
            raise BadInput(f"{path}, contest {number}: must be {told}, as in the published file.")
    return found


def descriptions(found: Found) -> dict[str, str]:
    """{media_id: text}; the last annotation of a picture counts."""
    latest = sorted(found, key=lambda pair: pair[1].time)
    return {item.id: LITERAL.read(vote.choice)["description"] for item, vote in latest}


def edits(found: Found) -> list[tuple[str, str, str]]:
    """(id, original, edit) of every edited headline, in which only the replaced word is marked."""
    rows, counts = [], dict[str, int]()
    for item, vote in found:
        texts = EDITING.read(vote.choice)
        counts[item.id] = counts.get(item.id, 0) + 1
        rows.append((f"{item.id}-{counts[item.id]}", _marked(item.headline, int(texts["place"])), texts["edit"]))
    return rows


def _marked(headline: str, place: int) -> str:
    parts = MARK.split(headline)
    parts[1::2] = [f"<{word}/>" if i == place else word for i, word in enumerate(parts[1::2])]
    return "".join(parts)


def grades(found: Found, rows: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, str, str, float]]:
    """(id, original, edit, grades, meanGrade) of every rated headline; grades from high to low, as in Humicroedit.

    rows: item id -> its row, with `original` and `edit`.
    """
    given: dict[str, list[int]] = {}
    for item, vote in found:
        row = rows[item.id]
        if len(item.options) != GRADES or not all(isinstance(row.get(name), str) for name in ("original", "edit")):
            wanted = f"{GRADES} options, and original and edit as text"
            raise BadInput(f"item {item.id}: must have {wanted}; `humor-tasks items rating` writes them.")
        given.setdefault(item.id, []).append(item.labels.index(vote.choice))
    return [
        (
            identity,
            str(rows[identity]["original"]),
            str(rows[identity]["edit"]),
            "".join(map(str, sorted(own, reverse=True))),
            round(sum(own) / len(own), 6),
        )
        for identity, own in given.items()
    ]


def write_annotations(
    out: Path, items: Sequence[Item], votes: Sequence[Vote], rows: Mapping[str, Mapping[str, Any]], before: Path | None
) -> int:
    """Write the annotations of the items' kind, and return how many there are. Raises BadInput for other kinds."""
    known = {item.id: item for item in items}
    found = [(known[vote.item], vote) for vote in votes]
    kinds = {item.kind for item in items}
    if before and not kinds <= HITS.keys():
        raise BadInput("--into takes the contest's annotations: items of the kinds description and links.")
    makers: Mapping[frozenset[str], Callable[[], object]] = {
        frozenset(HITS): lambda: write_json(out, contests(found, before)),
        frozenset({LITERAL.kind}): lambda: write_json(out, descriptions(found)),
        frozenset({EDITING.kind}): lambda: write_table(out, ("id", "original", "edit"), edits(found), exact=True),
        frozenset({RATING.kind}): lambda: write_table(
            out, ("id", "original", "edit", "grades", "meanGrade"), grades(found, rows), exact=True
        ),
    }
    make = next((make for accepted, make in makers.items() if kinds <= accepted), None)
    if make is None:
        told = ", ".join(sorted(kinds))
        raise BadInput(f"items of the kinds {told}: `humor-tasks agreement` reads votes; see `items` for annotations.")
    if not found:
        raise BadInput("there are no annotations yet.")
    make()
    return len(found)
