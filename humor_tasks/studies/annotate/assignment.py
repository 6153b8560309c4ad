"""Which items a rater sees, in which order, and in which order their options are shown.

All of it follows from seed, rater and item by SHA-256, so it is the same after a restart, on every
machine, and whoever else is voting.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from humor_tasks.studies.annotate.pairs import Item, same_text


def shown_order(seed: int, rater: str, item: Item, shuffle: bool = True) -> tuple[int, ...]:
    """The options' positions in the file, in the order in which the rater sees them."""
    places = range(len(item.options))
    return tuple(sorted(places, key=lambda i: _drawn(seed, rater, item.id, str(i))) if shuffle else places)


def assigned(
    items: Sequence[Item], rater: str, seed: int, limit: int | None = None, done: Collection[str] = ()
) -> list[Item]:
    """The rater's items: those already voted on in the order of the votes, then the others at random.

    `limit` counts all of them. Of matching and ranking items, none is taken that repeats an option of
    another, as in Hessel et al. (2023): a caption seen before would give the answer away. Items are
    taken greedily in the rater's order; going on after `done` of them takes the same as before.
    """
    known = {item.id: item for item in items}
    first = [known[identity] for identity in done if identity in known]
    rest = sorted((item for item in items if item.id not in set(done)), key=lambda item: _drawn(seed, rater, item.id))
    taken = list(first)
    seen = {text for item in first for text in _repeatable(item)}
    for item in rest:
        texts = _repeatable(item)
        if limit is not None and len(taken) >= limit:
            break
        if seen.isdisjoint(texts):
            taken.append(item)
            seen |= texts
    return taken


def _repeatable(item: Item) -> set[str]:
    return set() if item.kind == "preference" else {same_text(option) for option in item.options}


def _drawn(seed: int, *names: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")).digest()
