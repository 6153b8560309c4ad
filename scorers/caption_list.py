"""The captions of a reply that lists them, as models write lists.

Lists are numbered ("1. ...", "**2)** ...", "Caption 3: ...", the number on a line of its own), arrays of strings or
objects in JSON, tables in Markdown or, where there is none of these, bulleted. What is between the lines of a list and
what is around it is dropped: a preface, headings, explanations. All patterns are possessive or bounded, so the time is
linear in the reply's length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .answer import Status, unread
from .caption_columns import COMMENTED, REASON, without_columns
from .caption_text import key_of, without_quotes
from .own_turn import own_turn

_INDENT = r"[ \t>]*+"
_BULLET = r"(?:[-+*•·▪◦●‣–—][ \t]++)"
_NUMBERED = re.compile(
    rf"{_INDENT}(?>{_BULLET}?)(?>(?:\#{{1,6}}+[ \t]++)?)(?P<open>[*_`]{{0,3}}+)"
    r"(?P<label>(?>(?:(?:caption|option|entry)[ \t]*+(?>(?:no\.|number)?)[ \t]*+)?))"
    r"\#?+[(\[]?+(?P<number>\d{1,3}+)(?P<inner>[*_`]{0,3}+)"
    r"(?:(?:\\?+[.)\]:．）：、]{1,2}+|\ufe0f?+\u20e3|[ \t]++[-–—](?=[ \t]))(?P<outer>[*_`]{0,3}+)(?!\d)|(?=[ \t]*+\Z))",
    re.IGNORECASE,
)
_BULLETED = re.compile(rf"(?P<indent>{_INDENT}){_BULLET}")
_ARRAY = re.compile(r'\[\s*+"(?>(?:[^"\\]|\\.)*)"(?>(?:\s*+,\s*+"(?>(?:[^"\\]|\\.)*)")*)\s*+,?+\s*+\]', re.DOTALL)

_LABELLED_COMMENT = re.compile(rf"\W*+{REASON}\b[^:\n]{{0,40}}+[:：]", re.IGNORECASE)
# On the caption's own line: 'Nice hat." - Explanation: ...', but not "Tell me Why: ...".
_COMMENT_BEHIND = re.compile(rf"[.!?…\"”’')*_|–—-][ \t]{{0,4}}+[*_(\[–—-]{{0,6}}+(?i:{REASON})\b[^:\n]{{0,40}}+[:：]")
_BEFORE_CAPTION = re.compile(rf"{_INDENT}(?>{_BULLET}?)")
_LABEL = re.compile(r"caption[ \t]*+[:：][ \t]*+", re.IGNORECASE)

_EMPHASIS = re.compile(r"(\*{1,3})(?=[^\s*])([^*]++)(?<=\S)\1|(?<!\w)(_{1,3})(?=[^\s_])([^_]++)(?<=\S)\3(?!\w)")
_DOUBLE = '"“”„«»'
_PAIRS = {'"': '"”', "“": '”"', "„": "“”", "«": "»", "‘": "’", "`": "`", "「": "」", "『": "』"}
_ENDS = ".!?…"
_CLOSERS = "\"”’»'`)*_"
# A line of this many characters may have been broken by a margin; a shorter one ended because its text did.
_MARGIN = 50


@dataclass(frozen=True)
class CaptionList:
    """The captions of a reply in its order, exactly as many as wanted, or none and the reason in `status`.

    `status` is "answered" exactly when there are captions; otherwise "empty" (no text), "refused" (see `is_refusal`) or
    "unparsed". `found` is the number of captions that were found: as many as wanted where they were answered, else
    those of all lists together.
    """

    texts: tuple[str, ...]
    status: Status
    found: int


@dataclass
class _List:
    """One list of a reply: the offset of its first line, the line before it, and each item's lines."""

    place: int
    heading: str
    last: int = 0
    items: list[list[str]] = field(default_factory=list)


def read_captions(reply: str, wanted: int = 10) -> CaptionList:
    """The `wanted` captions that `reply` lists.

    1. Only the model's own turn counts, without thinking (`own_turn`); a reply cut off while thinking is unparsed.
    2. A list is a run of items numbered in succession, wherever it begins, an array of strings in JSON, or the captions
       of objects in JSON or of a table, by the name "caption" (`caption_columns`). Where there are none of these, the
       only texts of objects or of a table are items, and otherwise bullets. A list under a heading such as
       "Explanations" does not count.
    3. An item's caption is the rest of its line, or the first line below that is not blank. The next line goes on with
       it where a quotation mark or ** is still open, or where the line before has no end of a sentence and the next one
       begins with a small letter or the line before is as long as a margin (50 characters). Everything else up to the
       next item is a comment, and so is what follows a label "Explanation:", "Why ...:", "Reasoning:". A dash with an
       explanation on the caption's line cannot be told from a caption with a dash: it stays.
    4. Emphasis in Markdown, a label "Caption:" and quotation marks around the whole caption are removed; ' only where
       it is around every caption of the list. Items without text do not count; equal captions do.
    5. The last list with exactly `wanted` captions is the answer, because models draft first and pick their favourites
       afterwards. Where there is none, all lists together are if they have `wanted` captions and no two equal ones: a
       numbering that begins anew under each heading. Any other number of captions is unparsed, never cut or filled up.

    Time is linear in the reply, which may be any text.
    """
    visible = own_turn(reply, explains=True).text
    if visible is None:
        return CaptionList((), "unparsed", 0)
    lines = visible.replace("🔟", "10\u20e3").splitlines()
    columns, rest = without_columns("\n".join(lines))
    lines = rest.split("\n")
    placed = [(part.place, _captions(map(_caption, part.items))) for part in _numbered(lines)]
    placed += _arrays(lines)
    placed += [(part.line, _unnumbered(part.texts)) for part in columns if part.named]
    lists = [captions for _, captions in sorted(placed, key=lambda part: part[0]) if captions]
    if not lists:
        lists = [captions for part in sorted(columns) if (captions := _unnumbered(part.texts))]
    if not lists:
        lists = [_captions(map(_caption, part.items)) for part in _bulleted(lines)]
    complete = [captions for captions in lists if len(captions) == wanted]
    together = [caption for captions in lists for caption in captions]
    if complete:
        return CaptionList(tuple(complete[-1]), "answered", wanted)
    if len(together) == wanted > 0 and len({key_of(caption) or caption for caption in together}) == wanted:
        return CaptionList(tuple(together), "answered", wanted)
    return CaptionList((), unread(visible), len(together))


def _numbered(lines: list[str]) -> list[_List]:
    """The runs of lines with successive numbers, each with the lines below."""
    lists: list[_List] = []
    said = ""  # the last line that was not blank
    for i, line in enumerate(lines):
        marker = _NUMBERED.match(line)
        number = int(marker["number"]) if marker else 0
        current = lists[-1] if lists else None
        if marker and current and number != current.last + 1 and not any(map(str.strip, current.items[-1])):
            marker = None  # the caption of a number on a line of its own may itself begin with a number
        if marker is None:
            if current:
                current.items[-1].append(line)
        else:
            if current is None or number != current.last + 1:
                current = _List(i, said)
                lists.append(current)
            current.last = number
            current.items.append([_rest(line, marker)])
        said = line if line.strip() else said
    return [listed for listed in lists if not _is_commentary(listed)]


def _rest(line: str, marker: re.Match[str]) -> str:
    """What follows a number, with the emphasis that began before the number and ends behind the caption."""
    closing = marker["inner"] or marker["outer"] or ""
    rest = line[marker.end() :]
    if marker["open"] and not closing:
        return marker["open"] + rest.lstrip()
    return rest if marker["open"] else closing + rest


def _bulleted(lines: list[str]) -> list[_List]:
    """The runs of bullets. One further to the right than the first, and text below a bullet, belong to an item."""
    lists: list[_List] = []
    said, depth, ended = "", 0, True
    for i, line in enumerate(lines):
        marker = _BULLETED.match(line)
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" >"))
        if marker and (ended or indent <= depth):
            if ended:
                lists.append(_List(i, said))
                depth, ended = indent, False
            lists[-1].items.append([line[marker.end() :]])
        elif not ended:
            # A line further to the left, after a blank one, is a heading or a closing remark.
            ended = bool(line.strip()) and not lines[i - 1].strip() and indent <= depth
            lists[-1].items[-1].append(line)
        said = line if line.strip() else said
    return [listed for listed in lists if not _is_commentary(listed)]


def _is_commentary(listed: _List) -> bool:
    """Whether a list is one of explanations, by the heading above it."""
    heading = listed.heading.strip()
    return COMMENTED.match(heading) is not None and (heading[-1] in ":：*_" or heading[0] == "#")


def _arrays(lines: list[str]) -> list[tuple[int, list[str]]]:
    """The captions of the arrays of strings in JSON, each with the number of the line that it begins on."""
    text = "\n".join(lines)
    arrays = []
    at, line = 0, 0
    for array in _ARRAY.finditer(text):
        line += text.count("\n", at, array.start())
        at = array.start()
        try:
            texts = json.loads(re.sub(r",\s*+\]\Z", "]", array[0]), strict=False)
        except ValueError:
            continue
        arrays.append((line, _unnumbered(texts)))
    return arrays


def _unnumbered(texts: Iterable[str]) -> list[str]:
    """The captions of texts that are given apart, without numbers from 1 on before each of them."""
    texts = [" ".join(text.split()) for text in texts]
    markers = [_NUMBERED.match(text) for text in texts]
    if all(marker and int(marker["number"]) == i for i, marker in enumerate(markers, 1)):
        texts = [_rest(text, marker) for text, marker in zip(texts, markers, strict=True) if marker]
    return _captions(map(_cleaned, texts))


def _caption(lines: list[str]) -> str:
    """The caption of an item: its own line or the first one below, and the lines that go on with it."""
    start = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if start == len(lines) or (start and _LABELLED_COMMENT.match(lines[start])):
        return ""
    first = lines[start][_BEFORE_CAPTION.match(lines[start]).end() :].strip()  # type: ignore[union-attr]
    parts, (quotes, bold) = [first], _marks(first)
    marked = first[:1] in (*_DOUBLE, "*", "_", "`")
    for line in map(str.strip, lines[start + 1 :]):
        if not line or _LABELLED_COMMENT.match(line):
            break
        closed = marked and parts[-1][-1:] in _CLOSERS
        if not (marked and (quotes % 2 or bold % 2)) and (closed or not _goes_on(parts[-1], line)):
            break
        parts.append(line)
        more = _marks(line)
        quotes, bold = quotes + more[0], bold + more[1]
    return _cleaned(" ".join(parts))


def _marks(line: str) -> tuple[int, int]:
    """The numbers of double quotation marks and of ** in a line."""
    return sum(map(line.count, _DOUBLE)), line.count("**")


def _goes_on(before: str, line: str) -> bool:
    """Whether a margin, and not the end of the caption, has broken the line before."""
    if before.rstrip(_CLOSERS)[-1:] in tuple(_ENDS) or not line[0].isalnum():
        return False
    return line[0].islower() or len(before) >= _MARGIN


def _cleaned(text: str) -> str:
    """A caption without a comment behind it, without emphasis, and without quotation marks around all of it."""
    comment = _COMMENT_BEHIND.search(text)
    if comment and comment.start() > 0:
        text = text[: comment.start() + 1]
        bare = text.rstrip(" \t-–—|*_([")
        text = bare if text[len(bare) :][:1].isspace() else text.rstrip(" \t-–—|")
    for _ in range(2):  # italics within bold
        text = _EMPHASIS.sub(lambda match: match[2] or match[4], text)
    text = text.strip()
    label = _LABEL.match(text)
    text = text[label.end() :] if label else text
    if text[:1] in tuple(_DOUBLE) and text[-2:-1] in tuple(_DOUBLE) and text[-1] in ".,;" and _marks(text)[0] == 2:
        # Punctuation of the list: "Nice hat",
        text = f"{text[:-2]}{text[-1].strip(',;')}{text[-2]}"
    for _ in range(3):
        text = without_quotes(text)
        if len(text) > 1 and text[-1] in _PAIRS.get(text[0], "") and _closed(text[1:-1], text[0]):
            text = text[1:-1].strip()
    return text if text.strip("*_`") else ""


def _closed(inside: str, mark: str) -> bool:
    """Whether a pair of marks is around all of a text: "I said "no" to him.", but not "Yes" and "no"."""
    marks = _DOUBLE if mark in _DOUBLE else mark
    places = [i for i, c in enumerate(inside) if c in marks]
    if not places or inside[0] == mark:
        return True
    first = places[0]
    opens = inside[first - 1 : first] in (*" ([—–", "") and not inside[first + 1 : first + 2].isspace()
    return opens and len(places) % 2 == 0


def _captions(texts: Iterable[str]) -> list[str]:
    """Those that have text; without ' around each where every one has it."""
    captions = [text for text in texts if text]
    if all(len(text) > 2 and text[0] == text[-1] == "'" for text in captions):
        return [text[1:-1].strip() for text in captions]
    return captions
