"""A seeded random guess for replies without a readable answer; opt-in, never the default."""

from __future__ import annotations

import hashlib

from humor_tasks.errors import BadInput


def seeded_guess(seed: int, item_id: str, letters: str) -> str:
    """One of `letters`, uniform over items; the same seed and item give the same letter on every machine.

    The guess depends neither on the order of the items nor on which other items are guessed. Raises BadInput when
    `letters` is empty.
    """
    if not letters:
        raise BadInput("letters is empty: there is nothing to guess from.")
    digest = hashlib.sha256(f"{seed}\n{item_id}".encode("utf-8", "surrogatepass")).digest()
    return letters[int.from_bytes(digest, "big") % len(letters)]
