"""Statements of the answer in a reply, and the letter that each states.

A statement is a marker ("Answer:", "the answer is", a heading "Answer", <answer>, \\boxed{) followed by a letter. Prose
after a marker ("Answer: Actually, ...") is not a statement. Several letters ("Answer: A or B", "A, no wait, B"), other
letters and "Answer: none" are statements without a letter.

Words may follow the letter where they cannot follow an article: "Answer: D because ...", "Answer: D is the best fit". A
comment on the letter ("is", "seems", "fits") states it unless its sentence doubts it ("Answer: C is tempting").
Every letter is treated alike: a rule that accepted "Answer: B cartoon" but not "Answer: A cartoon" (an article) would
favour some positions.

All patterns are bounded, possessive or atomic, so the time is linear in the length of the reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

# Typographic characters are mapped to ASCII. Zero-width characters and end-of-turn tokens are removed.
_PLAIN = (
    {0xFF01 + i: 0x21 + i for i in range(94)}  # fullwidth letters, digits and punctuation
    | dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
    | dict.fromkeys(map(ord, "\xa0\u2007\u202f\u3000"), " ")
    | dict.fromkeys(map(ord, "\r\x0b\x0c\x85\u2028\u2029"), "\n")
    | dict.fromkeys(map(ord, "‘’ʼ"), "'")
    | dict.fromkeys(map(ord, "“”„«»"), '"')
    | {ord("İ"): "I"}  # the only character whose lower case is longer; replacing it keeps offsets valid
    | {ord("【"): "[", ord("】"): "]", ord("。"): ".", ord("、"): ","}
)
_CONTROL_TOKEN = re.compile(r"<\|[^<>|\n]{1,30}\|>|</s>")
_TEX_WORD = re.compile(r"\\text\{[ ]?(or|and)[ ]?\}")  # \boxed{A \text{ or } B}

_TAG = r"</?(?-i:answer|b|code|div|em|final|i|p|span|strong|u)>"
_OPEN = rf"(?>(?:{_TAG}|\\(?:boxed|text\w{{0,6}}|math\w{{0,6}})\{{|[\s*_`~\"'(\[{{<$\\#•>-]){{0,40}})"
_CLOSE = rf"(?>(?:{_TAG}|[*_`~\")\]}}>$\\]|'(?!\w)){{0,20}})"
_THING = r"(?:caption|choice|edit|group|headline|option)"
_NOUN = rf"(?:(?:{_THING}|letter)\b[ \t*_\"'(:#]{{0,6}}+)?"

# Between a marker and a capital: "Answer: It's C", "Answer: I choose C", "The answer is most likely C"; but "It's a".
_ADVERB = r"(?:therefore|thus|indeed|definitely|certainly|clearly|obviously|simply|still|probably|(?:most[ \t])?likely)"
_PRAISE = r"(?:best|better|correct|right|funniest|funnier|matching|winning)"
_LEAD = (
    rf"(?:{_ADVERB}(?:[ \t]to[ \t]be)?|it(?:'s|[ \t]is|[ \t]has[ \t]to[ \t]be)"
    r"|i(?:'d|'ll|[ \t]would|[ \t]will)?[ \t](?:choose|pick|select|say|go[ \t]with)"
    r"|i[ \t](?:think|believe|guess)[ \t]it(?:'s|[ \t]is)"
    rf"|the[ \t]{_PRAISE}(?:[ \t](?:{_THING}|one|fit|match))?[ \t]is"
    r"|the[ \t](?:winner|answer)(?:[ \t](?:of|to)[ \t]the[ \t]\w{1,20})?[ \t]is"
    rf"|the[ \t]{_THING}[ \t]that[ \t](?>(?:(?!is\b)[\w'-]{{1,30}}[ \t]){{1,12}})is)"
    r"\b[ \t,:*_\"'(]{1,6}+"
)
_LETTER = re.compile(rf"{_OPEN}(?:{_LEAD}{_OPEN}(?={_NOUN}(?-i:[A-Z])))?{_NOUN}([A-Za-z])({_CLOSE})", re.IGNORECASE)

MARKUP = r"(?>(?:</\w{1,8}>|[*_`\"'\])]){0,6})"
_CANDIDATE = re.compile(r"answer|\\boxed\{")  # on lower-cased text: several times as fast as IGNORECASE
_MARKER = re.compile(
    r"\\boxed\{|(?<![^\W_])(?<!\w-)(?P<word>answer)(?:"
    r"(?P<tag>(?:(?<=<answer)|(?<=<final_answer))>)"
    rf"|(?P<label>{MARKUP}[ \t]{{0,4}}[:=–—-])"
    rf"|(?P<sentence>(?:'s|{MARKUP}[ \t]{{1,4}}[*_]{{0,3}}(?:is|(?:should|must|would|has[ \t]to)[ \t]be))\b)"
    r"[ \t]{0,3}:?"
    r"|(?P<heading>[*_#]{0,6}[ \t]{0,8}\n))",
    re.IGNORECASE,
)

# Words allowed before "answer" in its clause. A capitalised "Answer:" is the requested literal and may
# follow anything but a hedge or a denial; other wordings must assert that the answer is the speaker's.
CLAUSE_END = re.compile(r"[\n.!?;:,…–—(\[{]|\s-+\s")
WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_ASSERTING_WORDS = frozenset(
    {"the", "my", "our", "final", "correct", "right", "best", "likely", "probable", "official", "overall", "actual"}
    | {"definitive", "ultimate", "conclusion", "so", "thus", "therefore", "hence", "and", "here", "is"}
)
_DENIED = re.compile(
    r"(?:n't|\b(?:if|whether|unless|not|never|cannot|i doubt|without|wrong|incorrect|worst|bad|possible|potential|"
    r"tempting|candidate|second|third|next|another|an|other|alternative|previous|initial|first|original|example|"
    r"sample|suppos\w*|assum\w*|thought|why))\b",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\b(?:or|either)\W*$", re.IGNORECASE)
_NO_LETTER = re.compile(rf"{_OPEN}(?:none|neither|both|either|all|not|n/a|unknown|unclear|undecided)\b", re.IGNORECASE)

# Text allowed after the letter. A letter closed by markup or a bracket may be followed by any text; a bare letter needs
# punctuation or a word that cannot follow an article, because "A caption about a bear" begins with one.
_COMMENT = re.compile(
    r"\s{0,4}\?|[ \t]{1,4}(?:is|was|isn't|wasn't|seems|looks|appears|feels|sounds|reads|remains|stands|fits|suits|works"
    r"|matches|makes|takes|captures|plays|connects|ties|turns|gives|gets|offers|provides|wins|lands|has|if|unless"
    r"|would|could|might|may|can)\b"
)
_AFTER_BARE = re.compile(
    r"[ \t]*+(?:\n|\Z)|\.(?!\w)|[,;:!…–—<]|-(?!\w)|[ \t]++[^\w?]|[ \t]++(?:because|since|as|for|due|given|rather"
    r"|instead|over|though|although|while|whereas|unlike|which|it|it's|the|this|with[ \t](?:its|the|an)"
    r"|and[ \t](?:here|it|this|that))\b",
    re.IGNORECASE,
)
# The words of a comment, up to where its sentence ends or turns to a reason or to another choice.
_HEAD = re.compile(
    r"(?>(?:(?!\b(?:because|since|as|than|while|whereas|though|although|unlike|given|rather)\b|,[ \t]not\b)[^.!?;:\n])"
    r"{0,300})\??"
)
_DOUBT = re.compile(
    r"n't\b|\?|\b(?:not|no|nor|never|hardly|barely|less|least|almost|nearly|weak|weaker|weakest|wrong|incorrect|bad|poorly"
    r"|worse|worst|flat|dull|(?<!most )(?:tempting|possible|plausible)|candidate|contender|close|second|runner|too|also"
    r"|okay|decent|could|might|may|can|maybe|perhaps|if|unless|but|however|yet|or|supposed)\b",
    re.IGNORECASE,
)
_LINES_BELOW = re.compile(r"[^\n]{0,1000}\n\s{0,10}[*_(\[\"'>-]{0,4}([A-Za-z])[).:]")
_TURN = re.compile(r"[.!?;:\n]|\b(?:but|wait|actually|no|rather|instead|reflection)\b", re.IGNORECASE)
_CLOSING_TAG = re.compile(r"</?\w{1,10}>")
_ONLY_LETTER = re.compile(r"[^\w?]*+\Z")
_FENCE = re.compile(r"\A```(?:json)?\s*+", re.IGNORECASE)
_LABELLED = re.compile(r"\.(?!\w| [A-Z]\.\s)|:")  # not initials: "D. H. Lawrence"


class Statement(NamedTuple):
    """A stated letter (None for a statement without one) and the offset directly after it."""

    letter: str | None
    end: int


def plain(text: str) -> str:
    """`text` with fullwidth and typographic characters as ASCII, line breaks as \\n, and control tokens removed."""
    return _TEX_WORD.sub(r" \1 ", _CONTROL_TOKEN.sub("", text.replace("\r\n", "\n").translate(_PLAIN)))


def statements(text: str, letters: str) -> Iterator[Statement]:
    """The statements of a `plain` text, in order. `letters` are the choices as capitals, for example "ABCDE"."""
    for candidate in _CANDIDATE.finditer(text.lower()):
        marker = _MARKER.match(text, candidate.start())
        if marker is None:
            continue
        stated = _stated(text, marker.end(), letters)
        if not stated and marker["label"] and (nothing := _NO_LETTER.match(text, marker.end())):
            stated = Statement(None, nothing.end())
        if stated is None:
            continue
        if marker["word"] is None or marker["tag"] or _is_asserted(text, marker):
            yield stated
        elif _EITHER.search(text, max(0, marker.start() - 12), marker.start()):
            yield Statement(None, stated.end)  # "Answer: A, or answer: B" retracts the first one


def object_fields(text: str) -> dict[str, Any] | None:
    """The fields of a text that is a JSON object, alone or fenced, without any where a key occurs twice; else None."""
    text = text.strip()
    fence = _FENCE.match(text)
    text = text[fence.end() :].removesuffix("```") if fence else text
    if not text.startswith("{"):
        return None
    try:
        fields: dict[str, Any] = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return fields


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else {}


def lone_letter(text: str, letters: str) -> str | None:
    """The letter of a `plain` text that is only that letter or one line "C) the caption"; else None."""
    text = text.strip()
    match = _LETTER.match(text)
    if match is None or match[1].upper() not in letters:
        return None
    letter, end = match[1].upper(), match.end()
    if _alternative(letters.replace(letter, "")).match(text, match.end(1)):
        return None
    if _ONLY_LETTER.match(text, end):
        return letter
    if "\n" in text or _comment(text, match):
        return None
    if not (_bracketed(match[2]) or _LABELLED.match(text, end)):
        return None
    return None if _other_label(letters).search(text, end) else letter


def ends_reply(text: str, statement: Statement) -> bool:
    """Whether only markup follows the line on which `statement` ends."""
    line_end = text.find("\n", statement.end)
    return line_end < 0 or re.search(r"\w", _CLOSING_TAG.sub("", text[line_end:])) is None


def parts_sentences(text: str, first: Statement, second: Statement) -> bool:
    """Whether a sentence ends or turns ("but") between two statements, unlike in "... is C and the answer is D"."""
    return _TURN.search(text, first.end - 1, max(first.end - 1, second.end - 2)) is not None


def _is_asserted(text: str, marker: re.Match[str]) -> bool:
    """Whether the words before "answer", within its clause, present it as the speaker's own answer."""
    start = marker.start("word")
    clause = CLAUSE_END.split(text[max(0, start - 60) : start])[-1]
    words = [word.lower() for word in WORD.findall(clause)]
    if not words:
        return True
    if _DENIED.search(clause) or words[-1] in ("or", "either"):
        return False
    if marker["heading"]:
        return all(word in _ASSERTING_WORDS for word in words)
    if marker["label"] and marker["word"][0] == "A" and marker["label"].rstrip().endswith(":"):
        return True
    return words[-1] in _ASSERTING_WORDS


def _stated(text: str, start: int, letters: str) -> Statement | None:
    """The statement whose letter is at `start`, directly after its marker; None for prose."""
    match = _LETTER.match(text, start)
    if match is None:
        return None
    letter, end = match[1].upper(), match.end()
    if _alternative(letters.replace(letter, "")).match(text, match.end(1)):
        return Statement(None, end)
    struck = "~~" in text[start : match.start(1)] and "~~" in match[2]
    if struck or _retracted(letters.replace(letter, "")).match(text, end):
        return Statement(None, end)
    commented = _comment(text, match)
    if commented and not _commits(text, end, letters.replace(letter, "")):
        return None
    if match[2]:
        if text[end : end + 1].isalnum() and not _bracketed(match[2]):
            return None
    elif not commented and not _AFTER_BARE.match(text, end):
        return None
    if letter not in letters:
        return Statement(None, end)
    if "\n" in text[start : match.start(1)] and _opens_list(text, end, letter, letters):
        return None
    return Statement(letter, end)


def _comment(text: str, match: re.Match[str]) -> re.Match[str] | None:
    """The beginning of a comment on a letter. After a label it is the caption: "C) is this seat taken?"."""
    labels = ")" in match[2] and text[match.start(1) - 1 : match.start(1)] != "("
    return None if labels else _COMMENT.match(text, match.end())


def _commits(text: str, end: int, others: str) -> bool:
    """Whether a comment on a letter ("is the best fit") neither doubts it nor prefers another choice."""
    if text[end - 1] == "I":  # "I would say", "I was torn": the pronoun
        return False
    head = _HEAD.match(text, end)
    return not (head and _DOUBT.search(head[0])) and not _preferred(others).match(text, end)


def _opens_list(text: str, end: int, letter: str, letters: str) -> bool:
    """Whether the line is the first of a list of the choices ("for the answer:\\nA) ...\\nB) ...")."""
    below = _LINES_BELOW.match(text, end)
    return below is not None and letter + below[1].upper() in letters


def _bracketed(closing: str) -> bool:
    return any(bracket in closing for bracket in ")]}")


@lru_cache
def _alternative(others: str) -> re.Pattern[str]:
    """Matches one of the `others` after a letter ("/B", " or C", ", B and C", ")(B)").

    It does not match the start of a caption: "A) A man", "C) Or we could", 'C) "D" as in dog'.
    """
    other = f"[{others}]" if others else "(?!)"
    opened = rf"[*_`~\"'(\[{{<$]{{0,6}}+{_NOUN}"
    alone = rf"{other}(?![*_`~\"')\]}}>$]{{0,4}}(?:\w|-\w|[ \t]{{1,4}}(?!(?:and|or)\b)\w))"
    return re.compile(
        rf"{_CLOSE}[ \t]{{0,4}}+(?:[/&+](?!>)|[,;.:(–—-]{{0,2}}+[ \t]{{0,4}}+(?:"
        rf"(?:or|vs|versus)\b(?:[ \t]\w{{1,12}}){{0,3}}?\W{{1,6}}{_NOUN}{other}(?![\w'])"
        rf"|(?:and|also|maybe|perhaps|possibly|then)[ \t]{{1,4}}+{opened}(?:{alone}|(?-i:{other})(?![\w'-]))"
        rf"|{opened}{alone}))",
        re.IGNORECASE,
    )


def _capital(others: str) -> str:
    """A pattern of one of the `others`, never in lower case; it matches nothing where there are none."""
    return f"(?-i:[{others}])" if others else "(?!)"


@lru_cache
def _retracted(others: str) -> re.Pattern[str]:
    """Matches what follows where it replaces the letter by one of the `others` ("no wait, B", "C) ... or E) ...").

    A line below may do so, too: "Correction: B".
    """
    other = _capital(others)
    turn = r"\b(?:wait|actually|correction|scratch that|i mean|i meant|on second thoughts?|rather|no(?=[,:]))\b"
    again = r"(?:(?:it's|it is|make that|the answer is)[ \t])?"
    return re.compile(
        rf"(?s:.{{0,400}}?){turn}[ \t]*[,.:;…–—-]{{0,3}}[ \t]*{again}[*_(\"']{{0,4}}{_NOUN}{other}"
        rf"(?=\W*(?:\n|\Z)|[).,;!])|[^\n]{{0,200}}?\bor[ \t][*_(\"']{{0,4}}{other}\)",
        re.IGNORECASE,
    )


@lru_cache
def _preferred(others: str) -> re.Pattern[str]:
    """Matches the rest of a line that prefers one of the `others` ("..., but C is better")."""
    other = _capital(others)
    return re.compile(
        rf"[^\n]{{0,200}}?(?<![\w'])[*_(]{{0,3}}{other}[*_)]{{0,3}}[ \t](?:is|seems|looks|feels|fits|works)[ \t]"
        r"(?:\w+[ \t]){0,2}(?:better|best|funnier|funniest|stronger|strongest|right|correct)\b",
        re.IGNORECASE,
    )


@lru_cache
def _other_label(letters: str) -> re.Pattern[str]:
    """Matches another choice's label in running text: ", B) ...", ". B. ..."."""
    return re.compile(rf"(?<![\w'])[{letters}][):](?!\w)|[.!?;,]\s[{letters}]\.\s")
