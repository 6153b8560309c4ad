"""Whether a reply answers yes or no."""

from __future__ import annotations

import re

from .answer import Status, read_answer
from .thinking import without_thinking

WORDS = ("yes", "no")
_LETTERS = {"yes": "Y", "no": "N"}
_WORD = re.compile(r"(?<![\w-])(?<!\w')(?:yes|no)(?![\w-])(?!'\w)", re.IGNORECASE)
# "Yes, because ...", "**No.** The caption ...": the word that opens a reply, closed by punctuation.
_OPENING = re.compile(r"[\s*_\"'(#>]{0,10}(yes|no)[*_\"')]{0,4}[ \t]{0,2}(?:[,.;:!\n–—]|-\s|\Z)", re.IGNORECASE)
# ... which says nothing where the same line takes it back.
_TAKEN_BACK = re.compile(
    r"\b(?:but|however|although|though|wait|actually|and (?:yes|no)|or (?:yes|no)"
    r"|(?:can't|can’t|cannot|not able to|unable to) (?:tell|say|decide|determine|answer|help|assist))\b",
    re.IGNORECASE,
)


def read_yes_no(reply: str) -> tuple[str | None, Status]:
    """`yes`, `no` or None, and why: the status as in `answer.Reading`.

    A statement ("Answer: yes", "the answer is **no**", {"answer": "yes"}) is read as the letters of a
    choice are (`answer`, mode strict), Y and N included. Without a statement the word that the reply
    opens with, closed by punctuation, unless its line goes on to take it back. Nothing is guessed:
    "Answer: not sarcastic" and "It is sarcastic" are unparsed.
    """
    reading = read_answer(_WORD.sub(lambda found: _LETTERS[found[0].lower()], reply), "YN")
    if reading.letter is not None:
        return ("yes" if reading.letter == "Y" else "no"), "answered"
    said = without_thinking(reply) or ""
    opening = _OPENING.match(said)
    if opening is None or _TAKEN_BACK.search(said.lstrip().split("\n", 1)[0]) or "answer" in said.lower():
        return None, reading.status
    return opening[1].lower(), "answered"
