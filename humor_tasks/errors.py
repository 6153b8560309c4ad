"""What every part of the package says when its input is wrong.

A message names what was read (file, row, field), what was found there and what to do about it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadInput(ValueError):
    """The user's data or parameters cannot be used; the message names the place and the remedy."""


def nearest(name: str, known: Iterable[str]) -> str:
    """ " Did you mean 'x'?" when a known name is close to `name`, otherwise an empty string."""
    close = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""


def check_choice(what: str, value: str, known: Iterable[str]) -> str:
    """`value` if it is one of `known`; otherwise BadInput listing what exists and the nearest name."""
    names = [str(k) for k in known]
    if str(value) not in names:
        raise BadInput(f"{what}: there is no '{value}'; choose from {', '.join(names)}.{nearest(str(value), names)}")
    return str(value)


def listed(what: str, ids: Iterable[str], most: int = 10) -> str:
    """ "3 missing ids: a, b, c", cut after `most`."""
    names = [str(identity) for identity in ids]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{len(names)} {what}{'s' * (len(names) != 1)}: {', '.join(names[:most])}{more}"
