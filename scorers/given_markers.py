"""Markers of thinking that a user gives, beside the known ones of `markers`."""

from __future__ import annotations

import re
from functools import lru_cache

from humor_tasks.errors import BadInput

from .markers import is_named

_FIRST, _SECOND = "<|begin_of_thought|>", "<|end_of_thought|>"  # as which the given ones are read


@lru_cache
def read_markers(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs of `text`: "<ponder>...</ponder>", several separated by commas.

    Raises BadInput for a pair without "..." between its markers, for an empty marker, and for one that occurs twice.
    """
    pairs = []
    for pair in text.split(","):
        first, dots, second = (part.strip() for part in pair.partition("..."))
        if not (dots and first and second):
            raise BadInput(
                f"thinking={text}: {pair.strip()!r} is no pair of markers. Write both with three dots between them, "
                "such as <ponder>...</ponder>, and commas between several pairs."
            )
        pairs.append((first, second))
    markers = [marker for pair in pairs for marker in pair]
    twice = next((marker for marker in markers if markers.count(marker) > 1), None)
    if twice is not None:
        raise BadInput(f"thinking={text}: {twice} occurs twice; each marker must be another one.")
    return tuple(pairs)


def with_known_markers(reply: str, given: str | None) -> str:
    """`reply` with known markers in the place of the `given` ones, as `read_markers` reads them.

    A reply is so prepared once, and every reader then finds its thinking. Where one marker contains another, the longer
    one counts. A marker alone in quotation marks stays as it is (`markers.is_named`).
    """
    if not given:
        return reply
    pattern, seconds = _pattern(given)

    def known(marker: re.Match[str]) -> str:
        if is_named(reply, marker):
            return marker[0]
        return _SECOND if marker[0] in seconds else _FIRST

    return pattern.sub(known, reply)


@lru_cache
def _pattern(given: str) -> tuple[re.Pattern[str], frozenset[str]]:
    pairs = read_markers(given)
    markers = sorted((marker for pair in pairs for marker in pair), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, markers))), frozenset(second for _, second in pairs)
