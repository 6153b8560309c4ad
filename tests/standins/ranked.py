"""Invented contests with as many captions as groups by rank need, and a judge that reads groups out of a prompt."""

from __future__ import annotations

import csv
import html
import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from standins.contests import COLUMNS, annotation, invented

from humor_tasks.files.writing import write_table

ENTRIES = 1020
CONTESTS = (536, 537, 545, 550)
WRITTEN = [f"Word {i} of a model with{'out' * i} end." for i in range(1, 11)]
_GROUP = re.compile(r"<group_([ab])>\n(.*?)\n</group_\1>", re.DOTALL)


def ranked(
    folder: Path,
    numbers: Sequence[int],
    entries: int = ENTRIES,
    placed: Mapping[int, Mapping[int, str]] | None = None,
    tied: bool = False,
) -> str:
    """Write `crowd/NUMBER.csv` and annotations of contests with falling means into a folder, and return it.

    placed: contest -> rank -> caption in the place of an invented one. tied: all captions have the same
    mean. The annotations are those of all contests in the folder.
    """
    for number in numbers:
        texts = invented(random.Random(number), entries)
        for rank, text in (placed or {}).get(number, {}).items():
            texts[rank] = text
        votes, rows = 2 * entries, []
        for rank, text in enumerate(texts):
            counts = [rank, rank, votes - 2 * rank]
            mean = sum(k * n for k, n in enumerate(counts, 1)) / votes
            if tied:
                counts, mean = [0, votes, 0], 2.0
            rows.append((text, mean, 0.05, votes, *counts))
        write_table(folder / "crowd" / f"{number}.csv", COLUMNS, rows, exact=True)
    told = {path.stem: annotation(int(path.stem), "UNKNOWN") for path in sorted((folder / "crowd").iterdir())}
    (folder / "annotations.json").write_text(json.dumps(told), encoding="utf-8")
    return str(folder)


def captions_of(folder: str, number: int) -> list[str]:
    """The captions of a contest in the order of its file."""
    with (Path(folder) / "crowd" / f"{number}.csv").open(encoding="utf-8", newline="") as file:
        return [row["caption"] for row in csv.DictReader(file)]


def shown_groups(prompt: str) -> dict[str, list[str]]:
    """Letter -> captions of the groups in a prompt, by its structure alone.

    An assertion fails where the structure is not unique: two groups, each of numbered lines from 1 on.
    """
    found = _GROUP.findall(prompt)
    assert [letter for letter, _ in found] == ["a", "b"], prompt
    named = prompt.count("the tags <group_a> and <group_b>")  # in the system turn
    assert len(re.findall(r"(?i)</?\s*group_[ab]", prompt)) == 4 + 2 * named
    groups = {}
    for letter, body in found:
        lines = [re.fullmatch(r"(\d+)\. ?(.*)", line) for line in body.split("\n")]
        assert [int(line[1]) for line in lines if line] == list(range(1, len(lines) + 1)), body
        groups[letter.upper()] = [html.unescape(line[2]) for line in lines if line]
    return groups


def listed(captions: list[str]) -> str:
    return "\n".join(f"{i}. {text}" for i, text in enumerate(captions, 1))
