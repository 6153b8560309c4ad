"""Rated headlines as a folder of both subtasks, split as SemEval-2020 Task 7 was (Hossain et al. 2020, section 2).

Of the headlines, 64 % are train, 16 % dev and 20 % test, drawn by seed. All edits of a headline are in one split; a
headline is told by its words, whatever their case and punctuation. A pair is two edits of one headline, so that three
edits give three pairs, as in the organisers' files. Its order is drawn. Equal means are a tie, which is kept.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from humor_tasks.benchmarks.humicroedit.corpus import Headline, funnier, headline
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import words_in
from humor_tasks.files.writing import new_folder, replacing, write_table

SHARES = {"train": 0.64, "dev": 0.8, "test": 1.0}
"""Split -> the share of the headlines up to its end."""
FEWEST = 5  # headlines that fill all splits
RATED = ("id", "original", "edit", "grades", "meanGrade")
PAIRED = ("id", *(f"{name}{n}" for n in "12" for name in RATED[1:]), "label")
Rated = tuple[str, str, str, str, float]
"""The cells of RATED."""
Edits = list[tuple[Headline, Rated]]


def write_splits(out: Path, rated: Sequence[Rated], seed: int) -> str:
    """Write `out`/task-1 and task-2 with SPLIT.csv, all or nothing; returns the number of rows of each file, in words.

    A `-` in an id becomes `_`, because it joins the ids of a pair. A split without a pair has no file in task-2. Raises
    BadInput where `out` is not empty, a row is no edited headline, or headlines do not fill the splits.
    """
    whole = new_folder(out)
    drawn, sizes = random.Random(seed), {}
    splits = _splits(rated, drawn)
    with replacing(whole) as folder:
        for name, members in splits.items():
            rows = [row for edits in members for _, row in edits]
            pairs = [pair for edits in members for pair in _pairs(edits, drawn)]
            for task, columns, table in (("task-1", RATED, rows), ("task-2", PAIRED, pairs)):
                sizes[f"{task}/{name}"] = len(table)
                if table:
                    write_table(folder / task / f"{name}.csv", columns, table, exact=True)
    return ", ".join(f"{count:,} rows in {name}" for name, count in sizes.items())


def _splits(rated: Sequence[Rated], drawn: random.Random) -> dict[str, list[Edits]]:
    """Split -> the edits of each of its headlines, in drawn order."""
    by_words: dict[str, Edits] = {}
    ids: dict[str, str] = {}
    for identity, original, edit, grades, mean in rated:
        joined = identity.replace("-", "_")
        if ids.setdefault(joined, identity) != identity:
            raise BadInput(f"the ids {ids[joined]} and {identity} differ by '-' and '_' only; rename one.")
        row = (joined, original, edit, grades, mean)
        read = headline(dict(zip(RATED, map(str, row), strict=True)), "", joined, f"item {identity}")
        by_words.setdefault(words_in(read.original), []).append((read, row))
    if len(by_words) < FEWEST:
        raise BadInput(f"{len(by_words)} rated headlines do not fill {', '.join(SHARES)}; rate {FEWEST} or more.")
    names = drawn.sample(sorted(by_words), len(by_words))
    ends = [round(share * len(names)) for share in SHARES.values()]
    starts = [0, *ends[:-1]]
    places = zip(SHARES, starts, ends, strict=True)
    return {split: [by_words[name] for name in names[start:end]] for split, start, end in places}


def _pairs(edits: Edits, drawn: random.Random) -> list[tuple[object, ...]]:
    """The cells of PAIRED of every pair; none of the same edit twice, of which neither is funnier."""
    return [
        (f"{one[0]}-{other[0]}", *one[1:], *other[1:], funnier(one[4], other[4]))
        for (a, one), (b, other) in combinations(drawn.sample(edits, len(edits)), 2)
        if a.original == b.original and words_in(a.edited) != words_in(b.edited)
    ]
