"""The exception for invalid input, and helpers for its messages.

A message names the place (file, row, field), what was found there, and the remedy.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])?")
"""Codes for colours, links and the like in a terminal (ECMA-48), which messages of libraries have."""


class BadInput(ValueError):
    """Data or parameters of the user cannot be used; the message names the place and the remedy.

    Its text has no codes for terminals, also where it quotes a library.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(_ESCAPES.sub("", str(message)))


def one_line(problem: object, most: int = 300) -> str:
    """A library's message for a message of ours: one line without codes for terminals, of at most `most` characters."""
    return " ".join(_ESCAPES.sub("", str(problem)).split())[:most]


def nearest(name: str, known: Iterable[str]) -> str:
    """ " Did you mean 'x'?" for the closest known name; an empty string where none is close."""
    names = {str(label).casefold(): label for label in known}
    close = difflib.get_close_matches(str(name).casefold(), names, n=1, cutoff=0.6)
    return f" Did you mean '{names[close[0]]}'?" if close else ""


def check_choice(what: str, value: str, known: Iterable[str]) -> str:
    """`value` if it is one of `known`; otherwise BadInput with the known names and the closest one."""
    names = [str(k) for k in known]
    if str(value) not in names:
        raise BadInput(f"{what}: there is no '{value}'; choose from {', '.join(names)}.{nearest(str(value), names)}")
    return str(value)


def listed(what: str, ids: Iterable[str], most: int = 10) -> str:
    """ "3 missing ids: a, b, c", with at most `most` ids."""
    names = [str(identity) for identity in ids]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{len(names)} {what}{'s' * (len(names) != 1)}: {', '.join(names[:most])}{more}"


def unsupported(package: str, versions: str, what: object) -> BadInput:
    """The error where an installed harness does not fit this package; versions: the supported ones."""
    from importlib.metadata import version

    problem = f"{package} {version(package)} does not fit this version of humor-tasks ({what})"
    return BadInput(f"{problem}; install a supported one: pip install '{package}{versions}'.")
