"""The numeric rating in a reply, and the expected rating under a model's token probabilities.

As in `statement`, a statement is a marker ("Rating:", "the score is", "I'd rate it", a heading "Rating", <rating>,
\\boxed{, "0-3 scale:") directly followed by a number. A number elsewhere is not a rating: headlines are full of them
("2 % rise", "3 men"). A statement has no value where its number is a range or a choice ("1-2", "between 1 and 2", "1 or
2", "1.4 ± 0.2"), a bound ("at least 2"), off the scale (7, -1: nothing is clipped), on another scale ("3/10", "40 %",
"2 stars"), spelt out ("two"), part of something else ("2/3/2020", "1.6.2", "1st") or of ambiguous magnitude ("1,600";
but "1,6" is 1.6).

All patterns are bounded, possessive or atomic, so the time is linear in the length of the reply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from humor_tasks.errors import BadInput

from .answer import Status, unread
from .own_turn import own_turn
from .statement import CLAUSE_END, MARKUP, WORD, Statement, ends_reply, object_fields, plain

_NUMBER = r"[+-]?(?:[0-9]++(?>(?:[.,][0-9]++)?)|\.[0-9]++)(?>(?:e[+-]?[0-9]++)?)"
_TAG = r"</?(?:answer|b|code|div|em|final|grade|i|p|rating|score|span|strong|u)>"
_TEX = r"\\(?:boxed|text\w{0,6}|math\w{0,6})\{"
# A hyphen before a digit is its sign; "<" before one makes it a bound, unless "<" and ">" enclose it.
_MARKS = rf"{_TAG}|<(?={_NUMBER}>)|{_TEX}|-(?=\s)|[*_`\"'(\[{{$\\#•]"
_OPEN, _OPEN_ON_LINE = rf"(?>(?:{_MARKS}|\s){{0,40}})", rf"(?>(?:{_MARKS}|[ \t]){{0,40}})"
_CLOSE = rf"(?>(?:{_TAG}|[*_`\")\]}}>$\\]|'(?!\w)){{0,20}})"
_HEDGE = (
    r"(?>(?:(?:(?:exactly|only|just|about|around|approximately|roughly|maybe|perhaps|probably|likely|an?)\b|[~≈])"
    r"\s{0,4}){0,3})"
)
_RATED_WITH = rf"{_OPEN}{_HEDGE}{_OPEN}({_NUMBER})"
# After a marker, these give no value: a range, a bound, a number spelt out, "none".
_WITHOUT = (
    rf"{_OPEN}{_HEDGE}(?:(?:somewhere |anywhere )?(?:between|from|in the)\b|at (?:least|most)\b"
    rf"|(?:less|more|lower|higher) than\b|(?:under|over|above|below|up to)\b|[<>≤≥]=?\s{{0,2}}{_NUMBER}"
    r"|(?:zero|half|one|two|three|four|five|six|seven|eight|nine|ten)\b"
    r"(?=\s{0,4}(?:\Z|[\n.,;:!)*_\"'<(-]|(?:out|and|to|or|points?)\b))"
    r"|(?:none|n/a|nan|null|unknown|unclear|undecided|not)\b)"
)
_VALUE, _NO_VALUE = re.compile(_RATED_WITH, re.IGNORECASE), re.compile(_WITHOUT, re.IGNORECASE)
_CLOSING = re.compile(_CLOSE, re.IGNORECASE)

# After the number: another number, or text that makes it something other than a rating on the scale.
_JOINED = re.compile(
    rf"[ \t]{{0,4}}(?:±|\+/?-|(?:[–—/&:-]|-*+>|→|\.\.+|…)[ \t]{{0,4}}{_OPEN_ON_LINE}[~≈]?{_NUMBER})"
    r"|[ \t]{0,4}[,;(]{0,2}+[ \t]{0,4}"
    r"(?:(?:or|to|and|vs\.?|versus|through|but|maybe|perhaps|possibly|rather|if not)\b"
    r"(?:[ \t]\w{1,12}){0,3}?[ \t]{1,4})?"
    rf"{_OPEN_ON_LINE}(?:[~≈]?{_NUMBER}|(?:a|one) half\b)",
    re.IGNORECASE,
)
_ATTACHED = re.compile(r"[^\W_]|[‰+°′']|[/-]\w|[.,:][0-9]")
_UNIT = re.compile(
    r"[ \t]{0,4}(?:%|percent\b|per\b|stars?\b|thumbs?\b|⭐|★|out of\b)"
    r"|[ \t,(]{0,4}(?:on|from|using|in)\b(?=[^.\n]{0,40}?(?:[0-9]|\b(?:five|seven|ten|hundred)\b))",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"\s{0,4}\?|[ \t]{1,4}(?:is|was|isn't|wasn't|seems|looks|would|could|might|may|means|indicates|has|can)\b"
)
_AFTER = re.compile(
    r"[ \t]*+(?:\n|\Z)|[.,:](?![0-9])|[;!…–—<]|-(?!\w)|[ \t]++[^\w?=]"
    r"|[ \t]++(?:because|since|as|for|due|given|rather|instead|over|on|overall|here|or so|at best|at most)\b",
    re.IGNORECASE,
)
_LINE_ENDS = re.compile(r"[^\w\n?]*+(?:\n|\Z)")
_ANCHORED = re.compile(
    r"[\s:=–—(,\[-]{0,6}+(?>(?:(?:not|hardly|slightly|a (?:bit|little)|somewhat|mildly|moderately|quite|fairly|very"
    r"|extremely|at|all) ){0,3})(?:un)?(?:funny|amusing|humorous)(?: at all)?[^\w\n?]*+(?:\n|\Z)",
    re.IGNORECASE,
)
_LIST_ITEM = re.compile(r"[.)]\s*\Z")

# Markers, and the words allowed between "rating" and its colon: "for this headline", "of the joke".
_NOUN = r"(?:rating|score|grade|funniness|answer|estimate|prediction)"
_QUOTED = r'"[^"\n]{1,300}"'
_OBJECT = rf"(?:[ \t](?:for|of)(?:[ \t](?:{_QUOTED}|[a-z][a-z'-]{{0,20}})){{1,8}}?)?"
_BE = r"(?:is|would be|should be|comes out at|comes to|stands at)"
_WILL = r"(?:would|will|must|have to|therefore|personally|probably|think|guess|simply|just|ultimately|so|that)"
_RATE = (
    r"(?:rate|give|score|grade|assign|estimate|say|predict|put|go with|settle on"
    r"|rating|giving|assigning|going with|settling on)"
)
_RATED = (
    rf"(?:{_QUOTED}|it|it's|its|this|that|that's|the|headline|headline's|edit|edited|new|modified|satirical|version|joke"
    r"|humou?r|funniness|mean|average|one|is|of|as|at|being|with|be|a|an|rating|score|grade|level|overall|here|solid|deserves"
    r"|slightly|somewhat|mildly|moderately|quite|fairly|very|funny|amusing)"
)
_ASSERTING_WORDS = frozenset(
    (
        "the my our this its a an is so thus therefore hence and here conclusion final overall funniness humor humour "
        "comedy funny headline headline's edited edit joke predicted prediction estimated expected mean average "
        "numeric numerical rating score answer best fair reasonable appropriate likely"
    ).split()
)
_DENIED = re.compile(
    r"(?:n't|\b(?:if|whether|unless|not|never|cannot|doubt|without|wrong|max|maximum|min|minimum|highest|lowest|top|full|"
    r"perfect|possible|potential|tempting|second|third|next|another|other|alternative|previous|initial|original|unedited|"
    r"example|sample|suppos\w*|assum\w*|thought|why)\b)",
    re.IGNORECASE,
)
_GIVEN = re.compile(r"\b(?:i|i'd|i'll|we|we'd|we'll|deserves|gets|earns|merits|warrants|receives)\b", re.IGNORECASE)
_ASIDE = re.compile(rf"{_QUOTED}|\([^()\n]{{0,80}}\)|</?\w{{1,10}}>")
_KEYS = frozenset({"rating", "score", "grade", "funniness", "answer", "estimate", "prediction"})
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


@dataclass(frozen=True)
class Rating:
    """The number read from a reply, or None and the reason.

    `status` is "answered" exactly when there is a value; otherwise "empty" (no text), "refused" (see `is_refusal`) or
    "unparsed".
    """

    value: float | None
    status: Status


@dataclass(frozen=True)
class Expected:
    """An expected rating, and the total probability `mass` of the tokens that it is computed from."""

    value: float | None
    mass: float


def read_rating(reply: str, low: float = 0.0, high: float = 3.0) -> Rating:
    """The number from `low` to `high` that `reply` commits to.

    1. Only the model's own turn counts, without thinking (`own_turn`); a reply cut off while thinking is unparsed.
    2. A reply that is a JSON object, alone or fenced: its only field named "rating", "score", "grade" or the like.
    3. Statements are found anywhere (definition at the top of this module). "1.6/3" and "2 out of 3" are on the scale.
       All agree: their value. They differ, or one has no value: the last counts if it ends the reply,
       that is, nothing but markup follows its line; otherwise unparsed.
    4. No statement: a reply, or its first or last line, that is only a number, optionally followed by the scale or
       "moderately funny". Two such lines that differ are unparsed, and so is the list number "1." above a text.

    Time is linear in the reply, which may be any text. Raises BadInput unless low < high.
    """
    scale = _scale(low, high)
    visible = own_turn(reply).text
    if visible is None:
        return Rating(None, "unparsed")
    text = plain(visible).replace("−", "-")
    value = _value_of(text, scale)
    return Rating(value, unread(visible) if value is None else "answered")


def expected_rating(logprobs: Mapping[str, float], scale: Sequence[str] = ("0", "1", "2", "3")) -> Expected:
    """The mean of the `scale`'s numbers weighted by the probabilities of their tokens, and these probabilities' sum.

    `logprobs` maps tokens to natural log-probabilities at the first position of the answer. Whitespace around a token
    is ignored, including tokenizers' markers (▁, Ġ); probabilities of tokens for the same number are added. Other
    tokens are left out and the rest renormalised, so with a small mass the value is uninformative. The value is None
    and the mass 0 where no token is left. Raises BadInput on a log-probability that is nan or above 0, and on a scale
    with an entry that is not a number or occurs twice.
    """
    numbers = {label: _float(label) for label in scale}
    if len(numbers) < len(scale) or any(number is None or not math.isfinite(number) for number in numbers.values()):
        raise BadInput(f"scale is {list(scale)!r}; it must be different numbers, such as 0, 1, 2, 3.")
    on_scale: list[tuple[float, float]] = []
    for token, logprob in logprobs.items():
        if not logprob <= 1e-6:  # tolerance for rounding
            raise BadInput(f"logprobs[{token!r}] is {logprob}; a log-probability must be 0 or less.")
        number = numbers.get(token.strip(" \t\r\n\xa0▁Ġ"))
        if number is not None and logprob > -math.inf:
            on_scale.append((number, logprob))
    if not on_scale:
        return Expected(None, 0.0)
    top = max(logprob for _, logprob in on_scale)
    weights = [math.exp(logprob - top) for _, logprob in on_scale]
    mean = math.fsum(number * w for (number, _), w in zip(on_scale, weights, strict=True)) / math.fsum(weights)
    return Expected(mean, math.exp(top) * math.fsum(weights))


class _Scale(NamedTuple):
    """A scale's ends and its patterns.

    `named` matches "(0-3)" or "on a scale of 0 to 3", `over` matches "/3" or "out of 3", `marker` matches the markers.
    """

    low: float
    high: float
    named: re.Pattern[str]
    over: re.Pattern[str]
    marker: re.Pattern[str]


@lru_cache
def _scale(low: float, high: float) -> _Scale:
    if not low < high:
        raise BadInput(f"low is {low} and high is {high}; low must be less than high.")
    bottom, top = (rf"{re.escape(f'{end:g}')}(?:[.,]0{{1,3}})?(?![\w%]|[.,][0-9])" for end in (low, high))
    span = rf"[\[(]?{bottom}[ \t]{{0,2}}(?:-|–|—|to\b|through\b|\.\.\.?|…|,)[ \t]{{0,2}}{top}[\])]?"
    prefix = r"(?:(?:on|from|using|in|out of)[ \t])?(?:(?:a|an|the|this|our)[ \t])?"
    scale = rf"scale[ \t](?:(?:of|from)[ \t])?{span}|{span}[ \t](?:scale|range)\b"
    named = rf"[\s,;]{{0,4}}[\[(]?{prefix}(?:{scale}|{span})[\])]?"
    over = (
        rf"(?:[ \t]points?\b)?[ \t]{{0,4}}\(?(?:/|(?:out[ \t])?of[ \t](?:a[ \t](?:possible|maximum)[ \t](?:of[ \t])?)?)"
        rf"[ \t]{{0,4}}{_OPEN_ON_LINE}{top}(?:[ \t]points?\b)?|[ \t]points?\b"
    )
    marker = (
        r"(?P<sure>\\boxed\{|<(?:rating|score|grade|answer)>)"
        rf"|(?<![^\W_])(?<!\w-){_NOUN}\b(?:[ \t](?:scale|value|level))?{_OBJECT}{MARKUP}"
        rf"(?:[ \t]{{0,2}}(?:\([^()\n]{{1,80}}\)|[\[(]?{prefix}(?:{scale}|{span})[\])]?|out of {top}))?{MARKUP}(?:"
        r"(?P<label>[ \t]{0,4}(?:[:=≈]|->|→|[–—-](?![0-9.])))"
        rf"|(?P<given>[ \t]of(?=[ \t]{_RATED_WITH}))"
        rf"|(?P<sentence>[ \t]{{1,4}}[*_]{{0,3}}{_BE}\b[*_]{{0,3}}[ \t]{{0,3}}:?)"
        r"|(?P<heading>[*_#]{0,6}[ \t]{0,8}\n))"
        rf"|(?<![\w'])(?P<said>(?:(?:i|we)(?:'d|'ll|'m)?(?:[ \t]{_WILL}){{0,3}}[ \t]{_RATE}"
        rf"(?:[ \t:]{{1,3}}{_RATED}(?![\w'])){{0,12}}|(?:{scale})(?=[ \t]?[:=,]))[:=,]?"
        rf"(?=[\s~≈](?:{_RATED_WITH}|{_WITHOUT})))"
    )
    return _Scale(low, high, *(re.compile(pattern, re.IGNORECASE) for pattern in (named, over, marker)))


def _value_of(text: str, scale: _Scale) -> float | None:
    fields = object_fields(text)
    if fields is not None:
        given = [value for key, value in fields.items() if key.lower() in _KEYS]
        return _field(given[0], scale) if len(given) == 1 else None
    match = list(_statements(text, scale))
    if not match:
        return _lone(text, scale)
    value, end = match[-1]
    agreed = all(other == value for other, _ in match)
    return value if agreed or ends_reply(text, Statement(None, end)) else None


def _field(value: object, scale: _Scale) -> float | None:
    if isinstance(value, str):
        return _lone(value, scale)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _on_scale(value, scale)


def _statements(text: str, scale: _Scale) -> Iterator[tuple[float | None, int]]:
    """Value and end offset of each statement, in order."""
    for marker in scale.marker.finditer(text):
        start = marker.end()
        if not _is_asserted(text, marker) or scale.named.match(
            text, start
        ):  # "Rating: 0-3" repeats the question's scale
            continue
        stated = _stated(text, start, scale)
        if stated is not None:
            yield stated
        elif nothing := _NO_VALUE.match(text, start):
            yield None, nothing.end()


def _is_asserted(text: str, marker: re.Match[str]) -> bool:
    """Whether the words before a marker, within its clause, present the number as the speaker's own rating."""
    if marker["sure"]:
        return True
    clause = CLAUSE_END.split(_ASIDE.sub("", text[max(0, marker.start() - 60) : marker.start()]))[-1]
    if _DENIED.search(clause) or _DENIED.search(_ASIDE.sub("", marker[0])):
        return False
    words = [word.lower() for word in WORD.findall(clause)]
    if marker["said"] or not words:
        return True
    if marker["given"] and _GIVEN.search(clause):
        return True
    if marker["given"] or marker["heading"]:
        return all(word in _ASSERTING_WORDS for word in words)
    return words[-1] in _ASSERTING_WORDS


def _stated(text: str, start: int, scale: _Scale) -> tuple[float | None, int] | None:
    """Value and end offset of the number at `start`; None if there is no number or it begins a sentence of prose."""
    statements = _VALUE.match(text, start)
    if statements is None:
        return None
    value, end = _read(text, statements, scale)
    if value is None:
        return None, end
    if _COMMENT.match(text, end):
        return None
    below = "\n" in text[start : statements.start(1)]
    if (_LINE_ENDS if below else _AFTER).match(text, end):
        return value, end
    # "2 = moderately funny", where no other grade is explained below
    return (value, end) if _ANCHORED.match(text, end) and ends_reply(text, Statement(None, end)) else None


def _read(text: str, match: re.Match[str], scale: _Scale) -> tuple[float | None, int]:
    """A number's value (None if its context makes it something other than a rating) and its suffix's end offset."""
    bare = end = match.end(1)
    end = _closed(text, end)
    for belongs in (scale.over, scale.named):
        if more := belongs.match(text, end):
            end = _closed(text, more.end())
    if _JOINED.match(text, end) or _UNIT.match(text, end) or (end == bare and _ATTACHED.match(text, end)):
        return None, end
    return _on_scale(_float(match[1]), scale), end


def _closed(text: str, end: int) -> int:
    closing = _CLOSING.match(text, end)
    return closing.end() if closing else end


def _lone(text: str, scale: _Scale) -> float | None:
    """The number of a text that consists only of it, or whose first or last line does."""
    lines = [line for line in text.split("\n") if line.strip()]
    several, values = len(lines) > 1, set()
    for line in lines[:1] + lines[1:][-1:]:
        match = _VALUE.match(line)
        if match is None or (several and match[1].isdigit() and _LIST_ITEM.match(line, match.end(1))):
            continue
        value, end = _read(line, match, scale)
        if _LINE_ENDS.match(line, end) or (not several and _ANCHORED.match(line, end)):
            values.add(value)
    return values.pop() if len(values) == 1 else None


def _float(number: str) -> float | None:
    """The number in any supported notation; None for thousands ("1,600") and for text that is not a number."""
    if _THOUSANDS.fullmatch(number):
        return None
    try:
        return float(number.replace(",", "."))
    except ValueError:
        return None


def _on_scale(value: float | None, scale: _Scale) -> float | None:
    """`value` as a float if it is on the scale, else None. Compared before conversion: an int may overflow. -0 becomes
    0.
    """
    return float(value) + 0.0 if value is not None and scale.low <= value <= scale.high else None
