"""Texts that a model repeats: equal or nearly equal entries of a contest, and its own texts for other requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .caption_text import key_of

NEAR = 0.9
"""The least similarity of two captions' keys that are a near match."""
_ROWS = 200  # captions compared at once with all entries, which bounds the memory


@dataclass(frozen=True)
class Match:
    """The entry that a caption repeats: "exact", "near" or, with `entry` None and a similarity of 0, "" for none.

    `entry` is the index of the first entry with the greatest similarity, from 0 to 1.
    """

    kind: Literal["exact", "near", ""]
    entry: int | None
    similarity: float


def matches(captions: Sequence[str], entries: Sequence[str], near: float = NEAR) -> list[Match]:
    """For each caption the entry of `entries` that it repeats.

    Captions are compared by `key_of`, their letters and digits; those without any, such as "...", by their text. Equal
    ones match exactly. Others match nearly from a similarity of `near`, which is 1 - (insertions and deletions) / (sum
    of both lengths): rapidfuzz's `fuzz.ratio` / 100. Captions that use the same idea in other words do not match.
    """
    from rapidfuzz import fuzz, process

    wanted, keys = [_key(caption) for caption in captions], [_key(entry) for entry in entries]
    first: dict[str, int] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
    by_key = {key: Match("exact", first[key], 1.0) if key in first else Match("", None, 0.0) for key in wanted}
    distinct = list(first)
    unknown = [key for key, match in by_key.items() if not match.kind and distinct]
    for start in range(0, len(unknown), _ROWS):
        part = unknown[start : start + _ROWS]
        table = process.cdist(part, distinct, scorer=fuzz.ratio, score_cutoff=100 * near)
        for key, row in zip(part, table, strict=True):
            best = int(row.argmax())
            if row[best] > 0:
                by_key[key] = Match("near", first[distinct[best]], float(row[best]) / 100)
    return [by_key[key] for key in wanted]


def repeated_shares(texts: Sequence[Sequence[str]], origins: Sequence[str]) -> list[float]:
    """For each group of texts, none empty, the share of those that also stand in a group of another origin.

    Texts are compared exactly, as by `matches`. Groups of one origin, such as several replies to one request, may
    repeat each other.
    """
    found: dict[str, set[str]] = {}
    for group, origin in zip(texts, origins, strict=True):
        for text in group:
            found.setdefault(_key(text), set()).add(origin)
    return [sum(len(found[_key(text)]) > 1 for text in group) / len(group) for group in texts]


def completes(written: str, shown: str, missing: str) -> Literal["exact", "near", ""]:
    """How `written` completes a caption of which `shown` is seen and `missing` is not, by `matches`.

    `written` may repeat what was shown; only the missing words count for a match.
    """
    alone = key_of(written).removeprefix(key_of(shown))
    kinds = {match.kind for match in matches([text for text in (written, alone) if text], [missing])}
    return "exact" if "exact" in kinds else "near" if "near" in kinds else ""


def _key(text: str) -> str:
    return key_of(text) or text.strip()
