"""Invented raw contests in the public layouts, for builds of the caption contest's corpus."""

from __future__ import annotations

import json
import random
from pathlib import Path

from humor_tasks.files.writing import write_table

WHO = ("the dog", "a duck", "my lawyer", "the ghost", "our butler", "the king", "a snail", "the robot", "your mother")
DOES = ("eats", "reviews", "forgets", "sells", "buries", "marries", "sues", "paints", "returns")
WHAT = (
    "the invoice",
    "a bone",
    "the moon",
    "my lunch",
    "the treaty",
    "a sandwich",
    "the carpet",
    "an alibi",
    "the map",
)
GOOD = ("for tax reasons", "in this economy", "because it is Tuesday", "under protest")
COLUMNS = ("caption", "mean", "precision", "votes", "not_funny", "somewhat_funny", "funny")


def invent(
    folder: Path, contests: int = 12, captions: int = 60, first: int = 101, unrated: tuple[int, ...] = ()
) -> Path:
    """Write `crowd/NUMBER.csv` and `annotations.json` of invented contests into a folder, and return it.

    The best captions of a contest end in one of GOOD more often, so that a quality model has something to learn. The
    last contest's finalists are unknown. Contests in `unrated` have captions alone.
    """
    annotations = {}
    for number in range(first, first + contests):
        draw = random.Random(number)
        texts = invented(draw, captions)
        rows = []
        for place, text in enumerate(texts):
            counts = [20 + place, 20, max(1, 20 - place // 4)]
            votes = sum(counts)
            mean = sum(k * n for k, n in enumerate(counts, 1)) / votes
            rows.append((text, mean, 0.05, votes, *counts))
        path = folder / "crowd" / f"{number}.csv"
        if number in unrated:
            write_table(path, COLUMNS[:1], [row[:1] for row in rows], exact=True)
        else:
            write_table(path, COLUMNS, rows, exact=True)
        finalists = "UNKNOWN" if number == first + contests - 1 else [f"“{text}”" for text in texts[2:20:7]]
        annotations[str(number)] = annotation(number, finalists)
    (folder / "annotations.json").write_text(json.dumps(annotations), encoding="utf-8")
    return folder


def invented(draw: random.Random, count: int) -> list[str]:
    """Distinct captions, the first third with a good ending more often than not."""
    found: dict[str, None] = {}
    while len(found) < count:
        ending = draw.choice(GOOD) if draw.random() < (0.8 if len(found) < count // 3 else 0.1) else ""
        text = f"{draw.choice(WHO)} {draw.choice(DOES)} {draw.choice(WHAT)} {ending}".strip()
        found[f"{text[0].upper()}{text[1:]}{draw.choice('.!?')}"] = None
    return list(found)


def annotation(number: int, finalists: object) -> dict[str, object]:
    """The annotations of a contest: three descriptions and two sets of links."""
    hits = [
        {
            "image_description": f"{WHO[(number + k) % len(WHO)]} stands in a room.",
            "image_uncanny_description": "Such rooms have no doors.",
            "question_1": "Why is there no door?",
            "question_2": None,
            "hash_worker_id": f"{number}-{k}",
        }
        for k in range(3)
    ]
    links = [
        {
            "image_location": ("an office", "a castle")[k],
            "link_1": "https://en.wikipedia.org/wiki/Room",
            "link_2": "https://en.wikipedia.org/wiki/Door",
            "link_3": None,
        }
        for k in range(2)
    ]
    held = {"description_hit": hits, "link_hit": links}
    return {"contest_number": number, "official_newyorker_finalists": finalists, "mturk_annotations": held}


def tiny_encoder(folder: Path) -> Path:
    """A sentence-transformers model of these words in which equal words have equal vectors: all that a build needs."""
    from standins.tiny_text import tiny_folder

    tiny_folder(folder, [*WHO, *DOES, *WHAT, *GOOD], "encoder", layers=1)
    return folder
