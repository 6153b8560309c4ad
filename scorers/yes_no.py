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
# "No, the caption is not sarcastic.": the first word, and a sentence that says the same of the same thing.
_RESTATED = re.compile(
    r"[\s*_(#>]{0,10}(yes|no)[*_]{0,3},[ \t](?:it|that|th(?:e|is)[ \t][\w ]{1,60})(?:'s|[ \t](?:is|was))"
    r"(n't|[ \t]not)?[ \t][\w' ]{0,60}?(\w+)[.!](?=\s|\Z)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"answer\W{0,4}[:=]", re.IGNORECASE)
# What retracts it in a later sentence of its line; "but" and the like may introduce what it rests on.
_WITHDRAWN = re.compile(
    r"\b(?:wait|actually|on (?:reflection|second thought)|however|(?:can't|cannot|unable to))\b", re.I
)


def read_yes_no(reply: str) -> tuple[str | None, Status]:
    """`yes`, `no` or None, and the status as in `answer.Reading`.

    A statement ("Answer: yes", "the answer is **no**", {"answer": "yes"}) is read like the letters of a choice
    (`answer`, mode strict), including Y and N. Without a statement, the first word of the reply counts if punctuation
    follows, its line does not retract it and the reply does not end with the other word. Where the first sentence says
    it in full ("No, the caption is not sarcastic."), "but" retracts it only where the line says the opposite, too, and
    a later "the answer is yes" contradicts it: unparsed. Nothing is guessed: "Answer: not sarcastic" and "It is
    sarcastic" are unparsed.
    """
    visible = own_turn(reply).text
    if visible is None:
        return None, "unparsed"
    reading = read_own(_WORD.sub(lambda match: _LETTERS[match[0].lower()], visible), "YN")
    restated = _restated(visible)
    if reading.letter is not None:
        word = "yes" if reading.letter == "Y" else "no"
        contradicted = restated not in (None, word) and not _LABEL.search(visible)
        return (None, "unparsed") if contradicted else (word, "answered")
    opening = _OPENING.match(visible)
    retracted = restated is None and _RETRACTED.search(visible.lstrip().split("\n", 1)[0])
    if opening is None or retracted or "answer" in visible.lower():
        return None, reading.status
    word, ending = opening[2].lower(), _ENDING.search(visible, max(0, len(visible) - 40))
    return (None, reading.status) if ending and ending[1].lower() != word else (word, "answered")


def _restated(visible: str) -> str | None:
    """The first word of a reply whose first sentence says the same and whose first line does not contradict it."""
    sentence = _RESTATED.match(visible)
    if sentence is None or (sentence[1].lower() == "no") != (sentence[2] is not None):
        return None
    rest = visible[sentence.end() :].split("\n", 1)[0]
    opposite = "" if sentence[2] else "(?:n't|[ ]not)"
    says = rf"(?:'s|\b(?:is|was)){opposite}[ ](?:(?!not\b)\w+[ ]){{0,3}}{re.escape(sentence[3])}\b"
    withdrawn = _WITHDRAWN.search(rest) or re.search(says, rest, re.IGNORECASE)
    return None if withdrawn else sentence[1].lower()
