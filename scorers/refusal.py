"""Detection of replies that decline the task."""

from __future__ import annotations

import re

# Refusals are at the start of a reply, so only these characters are searched, which also bounds the time.
_OPENING = 400

_I_CANNOT = (
    r"\b(?:i|we) ?(?:can't|cannot|can not|won't|will not|(?:am|are|'m|'re) (?:unable to|not able to|not going to))"
)
_ADVERB = r"(?>(?: (?:really|actually|simply|just|currently|directly|ethically|in good conscience|be able to))*)"
_SORRY = (
    r"(?:(?:(?:i'm|i am|we're|we are) )?(?:(?:so|very|really|truly|deeply) )?sorry|i apologi[sz]e|(?:my )?apologies)"
)
_PICTURE = (
    r"(?>(?:(?:the|this|that|any|your|an|attached|provided) )*)(?:images?|pictures?|cartoons?|photos?|attachments?)"
)

# Verbs of doing the task. Verbs of judging ("tell", "decide", "say", "choose") also occur in thinking
# aloud ("I can't tell which is funniest yet"). They count only after "I won't" and "As an AI".
_DO = (
    r" (?:assist|comply|fulfil|fulfill|participate|continue|proceed|engage|discuss|answer|respond|provide|generate|"
    r"create|produce|write|support|complete|(?:do|evaluate|rate|rank|judge) (?:that|this|these|it|such)|"
    r"help(?= (?:you|with|to|on|in|out)\b|[.,;!]|$)|"
    rf"(?:view|see|open|access|process|analy[sz]e|interpret|display) {_PICTURE})\b"
)
_CHOOSE = r" (?:choose|pick|select|judge|rank|rate|evaluate|make|offer|give|express|explain|form)\b"

_REFUSAL = re.compile(
    r"(?:(?:unfortunately|regrettably|thank you[^.!?]{0,80}[.!]|no)[,.!:;]? (?:but )?)?(?:"
    + "|".join(
        (
            # "I'm sorry, but I can't ..." refuses with any verb, except of judging and "can't help laughing".
            rf"{_SORRY}[,.;:!]? (?:[—–-] ?)?(?:but |however,? |because )?(?:as [^,]{{0,60}}, )?{_I_CANNOT}"
            r"(?! (?:tell|decide|say|help (?:but|\w+ing))\b)",
            rf"{_I_CANNOT}(?:{_ADVERB}{_DO}|[.!]|$)",
            rf"(?:i|we) ?(?:won't|will not|(?:am|are|'m|'re) not going to){_ADVERB}{_CHOOSE}",
            rf"(?:as|being) (?:an? )?(?:ai|artificial intelligence|(?:large )?language model)\b[^.!?]{{0,120}}?"
            rf"\b(?:can't|cannot|can not|won't|will not|am unable to|'m unable to|am not able to|'m not able to)"
            rf"{_ADVERB}(?:{_DO}|{_CHOOSE})",
            r"(?:i|we) (?:(?:must|have to|need to) )?(?:respectfully )?(?:decline|refuse)"
            rf"(?:[.,!]|$| to{_ADVERB}(?:{_DO}|{_CHOOSE}))",
            r"(?:i|we)(?: am not| are not|'m not|'re not| do not feel| don't feel) (?:comfortable|willing)\b",
        )
    )
    + ")"
)
_DECORATION = " >*_#`~\"'([-"
_APOSTROPHES = str.maketrans("’‘ʼ＇“”", "''''\"\"")


def is_refusal(reply: str) -> bool:
    """Whether `reply` begins by declining: "I can't help with that", "As an AI, I cannot choose".

    It recognises English wordings only, and only at the start, after markup, quotes, "Sorry" and the like. The readers
    call it only for a reply without a readable answer, to separate refusals from other unparsed replies; it never
    overrides an answer. A statement that the model cannot see the picture counts as a refusal.
    """
    opening = " ".join(reply[:_OPENING].translate(_APOSTROPHES).lower().split())
    return _REFUSAL.match(opening.lstrip(_DECORATION)) is not None
