"""The text that a judge prefers, read as strictly as a grader's verdict (see `verdict`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .answer import Status
from .verdict import Form, read_word

Choice = Literal["A", "B", "tie"]

WORDS: dict[str, Choice] = {"A": "A", "B": "B", "TIE": "tie"}


@dataclass(frozen=True)
class Preferred:
    """The preferred text (A is the one shown first, B the second, or "tie"), or None with the reason in `status`."""

    choice: Choice | None
    reasons: str
    status: Status


def read_preferred(reply: str, form: Form | None = None) -> Preferred:
    """The preference in a judge's `reply`: <judgement>A</judgement>, B or TIE, or the same in a JSON object.

    The rules are those of `read_verdict`: only the end of the reply, or an object that is the whole reply, counts. A
    letter without its tag, "Explanation A" within the tag, and two verdicts that differ are unparsed.
    """
    return Preferred(*read_word(reply, WORDS, form))


def panel_choice(choices: Sequence[Choice | None]) -> Choice | None:
    """The choice of more than half of all judges; a tie if every judge gave one but there is no such majority; else
    None.

    None counts as a judge who abstains and does not lower the threshold, as in `majority`.
    """
    for choice in ("A", "B", "tie"):
        if 2 * choices.count(choice) > len(choices):
            return choice
    return None if not choices or None in choices else "tie"
