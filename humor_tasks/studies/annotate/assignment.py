"""The assignment of items to annotators, and the order of items and options.

All of it is derived from seed, annotator and item by SHA-256, so it is the same after a restart, on every machine, and
independently of the other annotators.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from humor_tasks.studies.annotate.pairs import Item, same_text


def shown_order(seed: int, rater: str, item: Item, shuffle: bool = True) -> tuple[int, ...]:
    """The options' indices in the file, in the order in which the annotator sees them."""
    places = range(len(item.options))
    return tuple(sorted(places, key=lambda i: _random_key(seed, rater, item.id, str(i))) if shuffle else places)


def assigned(
    items: Sequence[Item], rater: str, seed: int, limit: int | None = None, done: Collection[str] = ()
) -> list[Item]:
    """The annotator's items: those already voted on, in the order of the votes, then the others in random order.

    `limit` is the maximum number of items, including those voted on. As in Hessel et al. (2023), no matching or ranking
    item is assigned that repeats an option of another one, because a caption seen before would give the answer away.
    Items are selected greedily in the annotator's order; the selection is the same when it continues after `done`
    items.
    """
    known = {item.id: item for item in items}
    first = [known[identity] for identity in done if identity in known]
    rest = sorted(
        (item for item in items if item.id not in set(done)), key=lambda item: _random_key(seed, rater, item.id)
    )
    selected = list(first)
    seen = {text for item in first for text in _option_texts(item)}
    for item in rest:
        texts = _option_texts(item)
        if limit is not None and len(selected) >= limit:
            break
        if seen.isdisjoint(texts):
            selected.append(item)
            seen |= texts
    return selected


def _option_texts(item: Item) -> set[str]:
    return set() if item.kind == "preference" else {same_text(option) for option in item.options}


def _random_key(seed: int, *names: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")).digest()
