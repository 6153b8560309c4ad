"""Input validation shared by the metrics over paired lists."""

from __future__ import annotations

from collections.abc import Sized

from humor_tasks.errors import BadInput


def check_same_length(**columns: Sized) -> int:
    """The common length of `columns`. Raises BadInput with all lengths where they differ.

    Pairing lists of different length would silently drop the end of the longer one and shrink the denominator.
    """
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise BadInput(f"each list must have one value per item, but {listed}.")
    return next(iter(lengths.values()))
