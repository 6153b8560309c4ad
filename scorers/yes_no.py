"""Reading of yes or no from a reply."""

from __future__ import annotations

import re

from .answer import Status, read_own
from .own_turn import own_turn

WORDS = ("yes", "no")
_LETTERS = {"yes": "Y", "no": "N"}
_WORD = re.compile(r"(?<![\w-])(?<!\w')(?:yes|no)(?![\w-])(?!'\w)", re.IGNORECASE)
# "Yes, because ...", "**No.** The caption ...": the first word of a reply, followed by punctuation; no quotation, as in
# '"No, thanks," she says.'
_OPENING = re.compile(
    r"[\s*_(#>]{0,10}([\"'])?[*_]{0,3}(yes|no)[*_]{0,3}(?(1)[\"'])[*_)]{0,4}[ \t]{0,2}(?:[,.;:!\n–—]|-\s|\Z)",
    re.IGNORECASE,
)
# The word that ends a reply, outside quotation marks: "Yes. ... On reflection, no."
_ENDING = re.compile(r"(?<![\w'\"“‘-])(yes|no)[\W_]{0,20}\Z", re.IGNORECASE)
# The first word does not count where the same line retracts it.
_RETRACTED = re.compile(
    r"\b(?:but|however|although|though|wait|actually|and (?:yes|no)|or (?:yes|no)"
    r"|(?:can't|can’t|cannot|not able to|unable to) (?:tell|say|decide|determine|answer|help|assist))\b",
    re.IGNORECASE,
)


def read_yes_no(reply: str) -> tuple[str | None, Status]:
    """`yes`, `no` or None, and the status as in `answer.Reading`.

    A statement ("Answer: yes", "the answer is **no**", {"answer": "yes"}) is read like the letters of a choice
    (`answer`, mode strict), including Y and N. Without a statement, the first word of the reply counts if punctuation
    follows, its line does not retract it and the reply does not end with the other word. Nothing is guessed: "Answer:
    not sarcastic" and "It is sarcastic" are unparsed.
    """
    visible = own_turn(reply).text
    if visible is None:
        return None, "unparsed"
    reading = read_own(_WORD.sub(lambda match: _LETTERS[match[0].lower()], visible), "YN")
    if reading.letter is not None:
        return ("yes" if reading.letter == "Y" else "no"), "answered"
    opening = _OPENING.match(visible)
    if opening is None or _RETRACTED.search(visible.lstrip().split("\n", 1)[0]) or "answer" in visible.lower():
        return None, reading.status
    word, ending = opening[2].lower(), _ENDING.search(visible, max(0, len(visible) - 40))
    return (None, reading.status) if ending and ending[1].lower() != word else (word, "answered")
