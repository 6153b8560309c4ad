"""A guess where no answer could be read, for whoever asks for one: seeded, never the default."""

from __future__ import annotations

import hashlib

from humor_tasks.errors import BadInput


def seeded_guess(seed: int, item_id: str, letters: str) -> str:
    """One of `letters`, uniform over items, the same for the same seed and item on every machine.

    It depends on neither the order of the items nor on which other items are guessed. Raises
    BadInput when `letters` is empty.
    """
    if not letters:
        raise BadInput("letters is empty: there is nothing to guess from.")
    digest = hashlib.sha256(f"{seed}\n{item_id}".encode("utf-8", "surrogatepass")).digest()
    return letters[int.from_bytes(digest, "big") % len(letters)]
