"""Strict reading of a grader's verdict, escaping of graded text, and aggregation of a panel's verdicts.

The grader has read a text that may imitate verdicts, and it may quote that text. A verdict therefore counts only at the
very end of the reply, where no other verdict contradicts it, or as the field of a JSON object that is the whole reply.
Any other reply is unparsed; a verdict is never guessed.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from .answer import Status, unread
from .own_turn import OwnTurn, own_turn, unwrapped
from .statement import object_fields

Form = Literal["tags", "json"]


def schema_of(words: Iterable[str]) -> dict[str, Any]:
    """The JSON schema for graders with structured output. "reasoning" comes first, so that it precedes the verdict."""
    return {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "judgement": {"type": "string", "enum": list(words)},
        },
        "required": ["reasoning", "judgement"],
        "additionalProperties": False,
    }


WORDS = {"PASS": True, "FAIL": False}
RATING_WORDS = {str(value): value for value in range(1, 6)}
"""A grader's ratings of a text, 1 worst and 5 best, for `read_word`."""

T = TypeVar("T")

_OBJECT = re.compile(r'(?:```(?:json)?\s*+)?\{\s*+"', re.IGNORECASE)

_ELEMENT = re.compile(r"<judge?ment\s{0,8}>([^<]{0,80})</judge?ment\s{0,8}>", re.IGNORECASE)
_REASONING = re.compile(r"<(/?)reasoning\s{0,8}>", re.IGNORECASE)
_MARKUP = re.compile(r"[\s*_`~#-]*+")
_MARKUP_ON_LINE = " \t*_`~#-"  # not ">": a verdict in a block quote is a quotation
_CLOSING_TAG = re.compile(r"</[a-z][\w.:-]{0,40}\s{0,8}>", re.IGNORECASE)

# What could open or close a tag or begin an object: an angle bracket or a similar character (models read fullwidth tags
# as tags), a brace before a string, and "&" where it would be read as a character reference.
_MARKUP_IN_DATA = re.compile(r'[<＜﹤‹〈⟨\u2329˂❬❮❰⧼]|\{(?=\s*+")|&#?\w{1,40}+;?')
_CLEANED = (
    dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)])  # control characters
    | dict.fromkeys(map(ord, "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u3164\ufeff\uffa0"))  # invisible
    | dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)])  # zero-width, bidi
    | dict.fromkeys([*range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE1000)])  # annotations; tags, variation selectors
    | dict.fromkeys(map(ord, "\r\x0b\x0c\x85\u2028\u2029"), "\n")
    | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # lone surrogates, which no request can encode
    | {ord(kept): kept for kept in "\n\t"}
)


@dataclass(frozen=True)
class Verdict:
    """The grader's verdict (None without one) and its reasons (empty without a verdict).

    `status` is "answered" exactly when there is a verdict; otherwise "empty" (no text), "refused" (see `is_refusal`) or
    "unparsed".
    """

    passed: bool | None
    reasons: str
    status: Status


def read_verdict(reply: str, form: Form | None = None) -> Verdict:
    """The verdict, PASS or FAIL, in a grader's `reply`, by the rules of `read_word`."""
    return Verdict(*read_word(reply, WORDS, form))


def read_word(reply: str, words: Mapping[str, T], form: Form | None = None) -> tuple[T | None, str, Status]:
    """The value of the verdict word in a grader's `reply`, the reasons, and the status as in `Verdict`.

    `words` maps each allowed word to its value; case is ignored. Two forms are accepted, here with PASS as the word:

    1. Tags: <judgement>PASS</judgement> (or <judgment>) ends the reply: nothing but markup follows, and
       nothing but markup precedes it on its line or between it and a closing tag. A verdict within
       <reasoning>...</reasoning> is a quotation and is ignored. Any other verdict that differs makes the reply
       unparsed: a grader that ends with a quotation has given its own verdict further up.
    2. A JSON object that is the whole reply, alone or in a ```json fence, with the fields of `schema_of`
       and no others, each once. "judgment" may replace "judgement", and "reasoning" may be missing.
       A reply that begins as an object is never searched for tags.

    `form` is the form that was requested, "tags" or "json"; a verdict in the other form is unparsed, because the graded
    text may have asked for it. With None both forms are accepted.

    Only the grader's own turn counts, without thinking (`own_turn`); a reply cut off while thinking is unparsed.
    Thinking that began in the prompt may be a whole reply that a quoted </think> hides: a verdict after a <reasoning>
    element in it counts, too, if it differs. So does one behind the grader's own turn, which a quoted marker may have
    ended, unless the turn is no more than <reasoning> and verdict. The reasons are the last <reasoning> before the
    verdict, or else all text before it. Time is linear in the reply, which may be any text.
    """
    words = {word.lower(): value for word, value in words.items()}  # not upper(): "paß".upper() is "PASS"
    # An object's strings may quote a marker, so an object is recognised before thinking is dropped.
    whole = _OBJECT.match(reply.strip()) is not None
    own = OwnTurn(reply, len(reply)) if whole else own_turn(reply, verdict=True)
    if own.text is None:
        return None, "", "unparsed"
    visible = unwrapped(own.text).strip()
    is_object = _OBJECT.match(visible) is not None
    if form is None or is_object == (form == "json"):
        reading = _in_object(visible, words) if is_object else _in_tags(visible, words, own, reply)
        if reading is not None:
            return *reading, "answered"
    return None, "", unread(visible)


def as_data(text: str) -> str:
    """Untrusted `text` as written, but for what could open or close a tag of the prompt and for hidden characters.

    "<" and characters that look like it are XML-escaped. Also escaped are a brace before a quotation mark, because a
    JSON object that the grader repeats verbatim would be a verdict, and the "&" of a character reference: "&lt;" in the
    text becomes "&amp;lt;", so that it stays apart from an escaped "<". Any other "&" stays. Control, zero-width, bidi
    and tag characters are removed, line breaks of all kinds become newlines, lone surrogates become U+FFFD.
    """
    return _MARKUP_IN_DATA.sub(_escaped, text.replace("\r\n", "\n").translate(_CLEANED))


def _escaped(match: re.Match[str]) -> str:
    mark = match[0]
    if mark[0] == "&":
        return mark if html.unescape(mark) == mark else f"&amp;{mark[1:]}"
    return "&#123;" if mark == "{" else "&lt;"


def majority(votes: Sequence[bool | None]) -> bool | None:
    """The vote of more than half of all `votes`, otherwise None.

    As in Inspect's `majority` reducer, None is an abstention and does not lower the threshold.
    """
    return next((vote for vote in (True, False) if 2 * votes.count(vote) > len(votes)), None)


def covered(verdicts: Sequence[bool | None]) -> tuple[float | None, float | None]:
    """The share of graded points that passed, and whether all points passed (1.0 or 0.0).

    Points without a verdict (None) are left out of the share. They make the second value None unless a point failed.
    Both values are None where they are undefined, such as for no points.
    """
    passed, failed = verdicts.count(True), verdicts.count(False)
    share = passed / (passed + failed) if passed or failed else None
    if failed:
        return share, 0.0
    return share, 1.0 if 0 < passed == len(verdicts) else None


def _in_object(visible: str, words: Mapping[str, T]) -> tuple[T, str] | None:
    fields = object_fields(visible)
    reasons = fields.pop("reasoning", "") if fields else ""
    if not fields or len(fields) != 1 or not isinstance(reasons, str):
        return None
    [(name, verdict)] = fields.items()
    if isinstance(verdict, int) and not isinstance(verdict, bool):
        verdict = str(verdict) if abs(verdict) < 10**6 else ""  # a rating; Python refuses to convert very long ints
    if name not in ("judgement", "judgment") or not isinstance(verdict, str):
        return None
    value = words.get(verdict.strip().lower())
    return None if value is None else (value, reasons.strip())


def _in_tags(visible: str, words: Mapping[str, T], own: OwnTurn, reply: str) -> tuple[T, str] | None:
    elements = list(_ELEMENT.finditer(visible))
    if not elements or not _MARKUP.fullmatch(visible, elements[-1].end()):
        return None
    last = elements[-1]
    value = _value_of(last, words)
    before = visible[: last.start()].rstrip(_MARKUP_ON_LINE)
    starts_line = not before or before[-1] in "\r\n"
    if value is None or not (starts_line or _CLOSING_TAG.fullmatch(before, max(0, before.rfind("<")))):
        return None
    outside = _outside(before)
    behind = reply[own.end :] if any(map(str.strip, outside)) else ""
    if any(_differ(part, words, value) for part in (*outside, *_outside(own.begun)[1:], behind)):
        return None
    return value, _reasons(before)


def _differ(text: str, words: Mapping[str, T], value: T) -> bool:
    return any(_value_of(element, words) not in (value, None) for element in _ELEMENT.finditer(text))


def _value_of(element: re.Match[str], words: Mapping[str, T]) -> T | None:
    return words.get(" ".join(element[1].split()).strip(" *_`~").lower())


def _reasons(before: str) -> str:
    """The last non-empty <reasoning>...</reasoning>; otherwise the whole text."""
    inside = [text for start, end in _reasoning(before) if (text := _REASONING.sub("", before[start:end]).strip())]
    return inside[-1] if inside else before.strip()


def _outside(text: str) -> list[str]:
    """The parts of `text` between its <reasoning> elements, one more than there are elements."""
    ends = [0, *(end for _, end in _reasoning(text))]
    starts = [*(start for start, _ in _reasoning(text)), len(text)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


def _reasoning(text: str) -> list[tuple[int, int]]:
    """Start and end of each <reasoning> element, from an opening tag to the next closing one; none is nested.

    A quotation can open an element that it does not close, but the grader's own closing tag then ends it.
    """
    spans, start = [], None
    for tag in _REASONING.finditer(text):
        if not tag[1]:
            start = tag.start()
        elif start is not None:
            spans.append((start, tag.end()))
            start = None
    return spans


def panel_rating(ratings: Sequence[float | None]) -> float | None:
    """The mean of a panel's ratings if more than half of all graders gave one; else None."""
    given = [rating for rating in ratings if rating is not None]
    return math.fsum(given) / len(given) if 2 * len(given) > len(ratings) else None
