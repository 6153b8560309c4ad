"""Annotations from filled forms and ratings, in the form of the corpora that they extend.

description, links: the caption contest's file of annotations by contest, which `humor-tasks build newyorker` reads.
literal: {media_id: text}, which `humor-tasks build mock` and `describe` read. editing: Humicroedit's columns id,
original and edit. rating: these with grades and meanGrade.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.uses import RATING
from humor_tasks.data.reading import parse_json, read_body
from humor_tasks.data.writing import write_json, write_table
from humor_tasks.errors import BadInput
from humor_tasks.studies.annotate.forms import DESCRIPTION, EDITING, FORMS, LINKS, LITERAL, MARK
from humor_tasks.studies.annotate.pairs import Item
from humor_tasks.studies.annotate.vote import Vote

HITS = {DESCRIPTION.kind: "description_hit", LINKS.kind: "link_hit"}
Found = Sequence[tuple[Item, Vote]]


def contests(found: Found, before: Path | None) -> dict[str, Any]:
    """Contest -> its entry with the annotations, added to those of the file `before`. Names are hashed."""
    entries: dict[str, Any] = parse_json(before, read_body(before)) if before else {}
    if not isinstance(entries, dict):
        raise BadInput(f"{before}: must be an object with an entry for each contest number.")
    for item, vote in found:
        if not item.cluster.isdecimal():
            raise BadInput(f"item {item.id}: cluster is {item.cluster!r}; it must be the number of a contest.")
        start = {"contest_number": int(item.cluster), "official_newyorker_finalists": ["UNKNOWN"]}
        entry = entries.setdefault(str(int(item.cluster)), start)
        hits = entry.setdefault("mturk_annotations", {}).setdefault(HITS[item.kind], [])
        texts = {name: text or None for name, text in FORMS[item.kind].read(vote.choice).items()}
        hits.append({**texts, "hash_worker_id": hashlib.sha256(vote.rater.encode()).hexdigest()[:32]})
    return dict(sorted(entries.items(), key=lambda pair: int(pair[0])))


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
