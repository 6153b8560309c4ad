"""Distractors from other items in a block design: the items of a block share their lines, each the answer of one item.

A rule that looks at the options alone (the longest, the rarest, the one most like the others, one of another source or
language) is right in one of four by construction, because a block of four items has four times the same options and
four different answers. What remains is how well an option fits what is shown. Blocks are therefore formed of lines of
similar length that fit the other items of the block well: starting from lines in order of length, two lines of
different blocks are exchanged as long as that raises the sum over the block's pairs of

    overlap(i, j) + overlap(j, i) + cosine(i, j) + cosine(j, i) + cosine of the lines - LENGTH * |log length ratio|

overlap(i, j): the share of line j's content words in the text that item i shows, as in the baseline `overlap`.
cosine(i, j): the TF-IDF cosine of line j and that text. Blocks are of one source and one script, which is one language
in the public sources.
"""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.files.reading import as_seen
from humor_tasks.models.choosers.shortcuts import TOKENS, content_words

SIZE = 4
LENGTH = 0.2
_WINDOW = 512  # lines of neighbouring length that are compared with each other
_EXCHANGES = 100  # tries per line
_SPARE = 32  # lines that may replace one of the block
_SCALE = 10**6  # integers, so that sums do not depend on the order of additions
_NEVER = -(10**9)


@dataclass(frozen=True)
class Line:
    """An item's line; the scene in words that is shown with it, "" if none; its medium; and its source."""

    text: str
    scene: str
    medium: str
    source: str


def distractors(lines: Sequence[Line], seed: str) -> list[list[str]]:
    """For each line, other lines by preference: three of its block, then others of its source, script and length.

    All are of another medium and distinct as a reader sees them. Fewer than three where there are no more.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for i, line in enumerate(lines):
        groups.setdefault((line.source, script(line.text)), []).append(i)
    preferred: list[list[str]] = [[] for _ in lines]
    for name, members in groups.items():
        members.sort(key=lambda i: len(lines[i].text))
        # Equal windows, because a short last one would have few lines to choose from.
        count = -(-len(members) // _WINDOW)
        for k in range(count):
            window = members[k * len(members) // count : (k + 1) * len(members) // count]
            rng = random.Random(f"{seed}:{':'.join(name)}:{k}")
            for i, others in _of_window([lines[i] for i in window], rng).items():
                preferred[window[i]] = others
    return preferred


def script(text: str) -> str:
    """The most frequent script of a text's letters, such as LATIN; "" without letters."""
    names = Counter(unicodedata.name(c, "").split(" ")[0] for c in text if c.isalpha())
    return names.most_common(1)[0][0] if names else ""


def _of_window(lines: Sequence[Line], rng: random.Random) -> dict[int, list[str]]:
    preferred: dict[int, list[str]] = {}
    seen = [as_seen(line.text) for line in lines]
    for block in _blocks(_fits(lines), rng):
        for k, i in enumerate(block):
            spare = rng.sample(range(len(lines)), min(len(lines), _SPARE + SIZE))
            distinct = {seen[i]: ""}
            for j in [*block[k + 1 :], *block[:k], *spare]:
                if lines[j].medium != lines[i].medium:
                    distinct.setdefault(seen[j], lines[j].text)
            preferred[i] = list(distinct.values())[1:]
    return preferred


def _fits(lines: Sequence[Line]) -> Any:
    """How well two items go into one block [lines, lines], as integers."""
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    texts, scenes = [line.text for line in lines], [line.scene for line in lines]
    tfidf = TfidfVectorizer(sublinear_tf=True, token_pattern=TOKENS).fit(texts + scenes)
    of_texts, of_shown = tfidf.transform(texts), tfidf.transform(scenes)
    fits = (of_shown @ of_texts.T).toarray() + (of_texts @ of_texts.T).toarray() / 2
    words = [content_words(text) for text in texts]
    if any(words):
        counts = CountVectorizer(analyzer=list, binary=True).fit(words)
        shares = counts.transform([content_words(text) for text in scenes]) @ counts.transform(words).T
        fits += shares.toarray() / np.maximum([len(of_line) for of_line in words], 1)
    lengths = np.log([len(text) for text in texts])
    fits -= LENGTH / 2 * np.abs(lengths[:, None] - lengths)
    whole = np.rint((fits + fits.T) * _SCALE).astype(int)
    for names in ([line.medium for line in lines], [as_seen(text) for text in texts]):
        _, codes = np.unique(names, return_inverse=True)
        whole[codes[:, None] == codes] = _NEVER
    return whole


def _blocks(fits: Any, rng: random.Random) -> list[list[int]]:
    """Blocks of four lines, or five to seven where their number is no multiple of four."""
    n = len(fits)
    if n < SIZE:
        return [list(range(n))]
    count, rows = n // SIZE, fits.tolist()
    blocks = [list(range(SIZE * k, SIZE * (k + 1))) for k in range(count)]
    for extra in range(SIZE * count, n):
        blocks[-1 - extra % SIZE % count].append(extra)
    block_of = [b for i in range(n) for b, block in enumerate(blocks) if i in block] if count > 1 else [0] * n

    def fit(i: int, block: list[int], without: int) -> int:
        row = rows[i]
        return sum(row[j] for j in block if j not in (i, without))

    for _ in range(_EXCHANGES * n if count > 1 else 0):
        i, j = rng.randrange(n), rng.randrange(n)
        one, other = block_of[i], block_of[j]
        if one == other:
            continue
        here, there = blocks[one], blocks[other]
        if fit(j, here, i) + fit(i, there, j) > fit(i, here, i) + fit(j, there, j):
            here[here.index(i)], there[there.index(j)] = j, i
            block_of[i], block_of[j] = other, one
    for block in blocks:
        rng.shuffle(block)
    return blocks
