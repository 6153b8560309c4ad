"""One check that every metric over paired lists makes first."""

from __future__ import annotations

from collections.abc import Sized

from humor_tasks.errors import BadInput


def check_same_length(**columns: Sized) -> int:
    """The common length of `columns`; BadInput naming each length where they differ.

    Pairing lists of different length would silently drop the longer one's tail, that is, shrink
    the denominator.
    """
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise BadInput(f"one value per item is needed in each list, but {listed}.")
    return next(iter(lengths.values()))
