"""The letter that a reply answers with, by a named extraction mode.

"strict" is defined by this project. "released_chat" and "released_leaderboard" reproduce the rules of the code released
with Hessel et al. 2023 (github.com/jmhessel/caption_contest_corpus), including their defects, for numbers comparable
with the published ones. No mode guesses; see `guess.seeded_guess`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from humor_tasks.errors import BadInput, check_choice

from .own_turn import own_turn
from .refusal import is_refusal
from .statement import ends_reply, lone_letter, parts_sentences, plain, statements

Status = Literal["answered", "unparsed", "refused", "empty"]
Mode = Literal["strict", "released_chat", "released_leaderboard"]


@dataclass(frozen=True)
class Reading:
    """The letter read from a reply, or None and the reason.

    `status` is "answered" exactly when there is a letter; otherwise "empty" (no text), "refused" (see `is_refusal`) or
    "unparsed". `fallback` says whether the letter is the default of a mode that returns one where it found none
    (released_leaderboard); None for a mode without one.
    """

    letter: str | None
    status: Status
    fallback: bool | None = None


def read_answer(reply: str, letters: str, mode: str = "strict") -> Reading:
    """The letter that `reply` answers with, one of `letters` (capitals, such as "ABCDE" or "AB").

    `mode` is "strict", "released_chat" or "released_leaderboard"; the function of each mode in this module documents
    its rule. Time is linear in the reply, which may be any text. Raises BadInput on an unknown mode and on `letters`
    that are not distinct capitals.
    """
    check_choice("extraction mode", mode, MODES)
    _check_letters(letters)
    return MODES[mode](reply, letters)


def _strict(reply: str, letters: str) -> Reading:
    """The letter that the reply commits to.

    1. Only the model's own turn counts, without thinking (`own_turn`); a reply cut off while thinking is unparsed.
    2. Statements are found anywhere: "Answer: C", "**Answer:** (c)", "Final Answer - C", "The answer is likely C",
       "Answer: C) the caption", a heading "Answer" above the letter, {"answer": "C"}, <answer>C</answer>, \\boxed{C}.
    3. Words may follow: "Answer: C because ...", "**Answer: C** seems the best". A doubt ("Answer: C is tempting", "is
       not ...", "could be right", "C?") is no statement, and neither is an article: "Answer: A cartoon with a dog".
       Several letters ("C or D", "C, no wait, D") and other letters ("F") are a statement without a letter.
    4. All statements agree: their letter, wherever they are (an explanation may follow).
       They differ, or one has no letter: the last one counts, because models restate and weigh choices before they
       commit, but only if it ends the reply, where nothing but markup may follow its line, and if another sentence
       states the others. Otherwise unparsed.
    5. No statement: a reply that is only the letter ("C", "(C)", "**C**.", "Option C", "I choose C.", "The funnier
       group is group C."), or one line that begins with the labelled choice ("C) the caption", "C. ...", "C: ...") and
       has no other label.
    """
    visible = own_turn(reply).text
    return Reading(None, "unparsed") if visible is None else read_own(visible, letters)


def read_own(visible: str, letters: str) -> Reading:
    """The letter in the model's own turn without thinking, by the rules of "strict" from the second one on."""
    text = plain(visible)
    stated = list(statements(text, letters))
    if not stated:
        return _reading(lone_letter(text, letters), visible)
    last = stated[-1]
    others = [statement for statement in stated if statement.letter != last.letter]
    chosen = not others or (ends_reply(text, last) and parts_sentences(text, others[-1], last))
    return _reading(last.letter if chosen else None, visible)


def _released_chat(reply: str, letters: str) -> Reading:
    """The released chat rule: exactly one of the literals "Answer: A" ... "Answer: E" occurs.

    All five literals are searched for in ranking as well; a letter that is not a choice is unparsed here (the released
    code scores it as wrong). "Answer: Actually" reads as A, as in the released code. The released code then asks a
    second model, whose "Final Answer: X" this mode also reads, and finally draws a random letter; neither is done here.
    """
    present = [letter for letter in "ABCDE" if f"Answer: {letter}" in reply]
    return _reading(present[0] if len(present) == 1 and present[0] in letters else None, reply)


def _released_leaderboard(reply: str, letters: str) -> Reading:
    """The released leaderboard rule: the first "Final Answer: X" where X is a choice.

    Otherwise the last choice (E of five, B of two) with `fallback` set. The status is always "answered".
    """
    match = re.search(f"Final Answer: ([{letters}])", reply)
    return Reading(match[1], "answered", False) if match else Reading(letters[-1], "answered", fallback=True)


MODES: Mapping[str, Callable[[str, str], Reading]] = MappingProxyType(
    {"strict": _strict, "released_chat": _released_chat, "released_leaderboard": _released_leaderboard}
)


def unread(visible: str) -> Status:
    """Why there is no answer in the model's own turn: "empty", "refused" or "unparsed"."""
    if not visible.strip():
        return "empty"
    return "refused" if is_refusal(visible) else "unparsed"


def _reading(letter: str | None, visible: str) -> Reading:
    return Reading(letter, unread(visible) if letter is None else "answered")


@lru_cache
def _check_letters(letters: str) -> None:
    if not re.fullmatch("[A-Z]+", letters) or len(set(letters)) < len(letters):
        raise BadInput(f"letters is '{letters}'; the choices are distinct capitals, such as ABCDE or AB.")
