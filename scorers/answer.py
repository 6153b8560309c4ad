"""Which letter a reply answers with, by a named extraction mode.

"strict" is this project's own; "released_chat" and "released_leaderboard" repeat the rules of the
code released with Hessel et al. 2023 (github.com/jmhessel/caption_contest_corpus), defects included,
for numbers comparable with theirs. No mode guesses: see `guess.seeded_guess`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from humor_tasks.errors import BadInput, check_choice

from .refusal import is_refusal
from .statement import ends_reply, lone_letter, plain, statements
from .thinking import without_thinking

Status = Literal["answered", "unparsed", "refused", "empty"]
Mode = Literal["strict", "released_chat", "released_leaderboard"]


@dataclass(frozen=True)
class Reading:
    """The letter read from a reply, or None and why.

    `status` is "answered" exactly when there is a letter; otherwise "empty" (nothing said),
    "refused" (see `is_refusal`) or "unparsed". `fallback` marks the letter that released_leaderboard
    gives when it found none.
    """

    letter: str | None
    status: Status
    fallback: bool = False


def read_answer(reply: str, letters: str, mode: str = "strict") -> Reading:
    """The letter that `reply` answers with, one of `letters` (capitals, such as "ABCDE" or "AB").

    `mode` is "strict", "released_chat" or "released_leaderboard"; each function below says what it
    reads. Time is linear in the reply, which may be any text. Raises BadInput on an unknown mode
    and on `letters` that are not distinct capitals.
    """
    check_choice("extraction mode", mode, MODES)
    _check_letters(letters)
    return MODES[mode](reply, letters)


def _strict(reply: str, letters: str) -> Reading:
    """The letter the reply commits itself to.

    1. Thinking (<think>...</think>) is not the answer; a reply cut off while thinking is unparsed.
    2. Statements are found anywhere: "Answer: C", "**Answer:** (c)", "Final Answer - C", "The answer
       is C.", "Answer: C) the caption", a heading "Answer" above the letter, {"answer": "C"},
       <answer>C</answer>, \\boxed{C}. `statement.py` says what is one and what is prose.
    3. All statements agree: that letter, wherever they stand (an explanation may follow).
       They differ, or one states no letter ("A or B", "F"): models restate and weigh choices before
       they commit, so the last one counts, but only where it ends the reply: nothing but markup
       after its line. Otherwise unparsed.
    4. No statement: a reply that is only the letter ("C", "(C)", "**C**.", "Option C"), or one line
       that begins with the labelled choice ("C) the caption", "C. ...", "C: ...") and labels no other.
    """
    said = without_thinking(reply)
    if said is None:
        return Reading(None, "unparsed")
    text = plain(said)
    found = list(statements(text, letters))
    if not found:
        return _reading(lone_letter(text, letters), said)
    last = found[-1]
    agreed = all(statement.letter == last.letter for statement in found)
    return _reading(last.letter if agreed or ends_reply(text, last) else None, said)


def _released_chat(reply: str, letters: str) -> Reading:
    """The released chat rule: exactly one of the literals "Answer: A" ... "Answer: E" occurs.

    The five literals are looked for in ranking as well; a letter that is not a choice there is
    unparsed here (the released code scores it as wrong). "Answer: Actually" reads as A, as released.
    The release then asks a second model, whose "Final Answer: X" this same mode reads, and lastly
    draws a random letter; neither happens here.
    """
    present = [letter for letter in "ABCDE" if f"Answer: {letter}" in reply]
    return _reading(present[0] if len(present) == 1 and present[0] in letters else None, reply)


def _released_leaderboard(reply: str, letters: str) -> Reading:
    """The released leaderboard rule: the first "Final Answer: X" with X a choice.

    Otherwise the last choice, E of five and B of two, with `fallback` set; the status is always
    "answered".
    """
    found = re.search(f"Final Answer: ([{letters}])", reply)
    return Reading(found[1], "answered") if found else Reading(letters[-1], "answered", fallback=True)


MODES: Mapping[str, Callable[[str, str], Reading]] = MappingProxyType(
    {"strict": _strict, "released_chat": _released_chat, "released_leaderboard": _released_leaderboard}
)


def _reading(letter: str | None, said: str) -> Reading:
    if letter is not None:
        return Reading(letter, "answered")
    if not said.strip():
        return Reading(None, "empty")
    return Reading(None, "refused" if is_refusal(said) else "unparsed")


@lru_cache
def _check_letters(letters: str) -> None:
    if not re.fullmatch("[A-Z]+", letters) or len(set(letters)) < len(letters):
        raise BadInput(f"letters is '{letters}'; the choices are distinct capitals, such as ABCDE or AB.")
