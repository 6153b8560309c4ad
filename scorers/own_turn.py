"""What of a reply counts: the model's own turn, without thinking.

A reply may hold thinking in the markers of many models, and turns that the model made up: behind its own turn it writes
the user's next one, and an answer to that. Here both are removed, for all readers; `markers` has the tables.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import merge

from .channels import final_channel
from .markers import ANSWER_LABELS, IN_WORDS, IN_WORDS_END, LABELS, THINKING, TURNS, WRAPPERS, WRAPPING_TAGS, is_named

# What may begin one. Each that begins with "</" ends with ">" within 60 characters.
_MARK = re.compile(
    r"<(?=[ \t]{0,4}[|｜a-zA-Z用]|[ \t]{1,4}/|/[ \t|a-zA-Z][^<>]{0,60}>|</?S)|\[(?=[|/a-zA-Z])|\](?=~)|◁"
)
_OPENING = tuple(re.compile(thinking.opening) for thinking in THINKING)
_CLOSING = tuple(re.compile("|".join(filter(None, (t.closing, t.pair)))) for t in THINKING)
_PARTS = {f"open{i}": t.opening for i, t in enumerate(THINKING) if t.where != "start"}
_PARTS |= {f"close{i}": t.closing for i, t in enumerate(THINKING) if t.closing}
_PARTS |= {"wrapper0": "|".join(WRAPPERS)}
_PARTS |= {f"{turn.kind}{i}": turn.pattern for i, turn in enumerate(TURNS)}
_TOKEN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PARTS.items()))
_NAME = re.compile(r"([a-z]+)(\d+)")
_FIRST = re.compile("|".join(f"(?P<open{i}>{t.opening})" for i, t in enumerate(THINKING) if t.where == "start"))
# GigaChat names the role before its token.
_BEFORE_FIRST = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*+(?:(?:<s>)?assistant<\|role_sep\|>\s*+)?")
_OTHER = re.compile("|".join(turn.pattern for turn in TURNS if turn.kind == "other"))
_OWN = "|".join(turn.pattern for turn in TURNS if turn.kind == "own")
_AGAIN = tuple(re.compile(f"{_OWN}|{thinking.opening}") for thinking in THINKING)
_REASONING = next(i for i, opening in enumerate(_OPENING) if opening.fullmatch("<reasoning>"))
_REASONED = (_OPENING[_REASONING], _CLOSING[_REASONING])

_SAID = re.compile(r"[^\s\u200b-\u200f\u2060\ufeff]")  # neither a blank nor of zero width
_ELEMENT = re.compile(r"<(/?)([a-z_]{1,20})>|(?m:^)[ \t]{0,3}(```)", re.IGNORECASE)
_JOKE = re.compile(r"\W*Q\b")  # "Q: Why did ...", "A: Because ..."
_LONE = re.compile(r"\W*(?:(?:option|choice)\s)?(?:[A-J]|yes|no|\d(?:[.,]\d{1,3})?)\W*", re.IGNORECASE)
_SPEECH = re.compile(r"[ \t]{0,8}[\"“*_]{0,3}[A-Z][\w .'’-]{0,24}[*_]{0,3} ?[:：]")
_WRAPPED = re.compile(rf"\s*+<({'|'.join(WRAPPING_TAGS)})>(.*)</\1>\s*+", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class OwnTurn:
    """What of a reply counts.

    text: the model's own turn without thinking; None where it was cut off while thinking. end: the offset in the reply
    at which its own turn ends. turn: the marker of a turn that the model made up, "" where there is none. begun: the
    thinking that began in the prompt, before its second marker.
    """

    text: str | None
    end: int
    turn: str = ""
    begun: str = ""


@lru_cache(maxsize=16)
def own_turn(reply: str, verdict: bool = False, explains: bool = False) -> OwnTurn:
    """What of `reply` counts.

    1. Thinking is removed: that between the markers of `markers.THINKING`, and all but the final message of a reply in
       channels (`channels`). Thinking ends at its own second marker; no other marker counts within it. A second marker
       alone ends thinking that began in the prompt (chat templates of several models put the first one there), so
       everything before it is dropped. Thinking without an end is never read. Escaped tags (&lt;think&gt;) are text,
       and so are words in brackets such as [think].
    2. The turn ends at the first marker of another one. A special token of a chat template (`markers.TURNS`) ends it
       anywhere outside thinking. The name of a role in words (`markers.LABELS`) ends it at the start of a line, unless
       it is quoted: within a complete element (<explanation>) or a code fence, below a line that ends with a colon, or
       among speeches of others where no "Assistant:" follows. "Question:" ends it behind an answer only, because models
       restate the question.
    3. What names the model's own turn before its first word ("assistant", <|im_start|>assistant) is left out. A reply
       that begins with a turn of the user has no text of its own.

    A marker alone in quotation marks ("</think>" is on the mug) is named, and is text.

    verdict: <reasoning> is a part of the reply, not thinking, and no marker within it counts: a judge quotes there.
    Before its verdict neither do tokens in square brackets, such as [INST], which a graded text shows as they are, nor
    does [THINK] behind the reply's start, nor a role in words where no "Assistant:" follows.
    explains: "Question:" ends the turn behind any text. Time is linear in the reply, which may be any text.
    """
    channel = final_channel(reply)
    if channel is None:
        return _Scan(reply, verdict, explains).read()
    if channel.text is None:
        return OwnTurn(None, channel.end)
    final = _Scan(channel.text, verdict, explains, thinks=False).read()
    made_up = final.turn or ("" if _only_ends(reply, channel.end) == len(reply) else "user")
    return OwnTurn(final.text, channel.start + final.end, made_up)


def unwrapped(text: str) -> str:
    """`text` without a tag around all of it in which models give answers: <answer>, <response>."""
    wrapped = _WRAPPED.fullmatch(text)
    return wrapped[2] if wrapped else text


class _Scan:
    """One pass over a reply.

    visible: what is read so far, but for the text from `start` on. base: where what is read begins. held: a turn that
    ended at a role in words, which does not count where thinking that began in the prompt has quoted it. answers:
    whether the model has a turn behind it.
    """

    def __init__(self, reply: str, verdict: bool, explains: bool, thinks: bool = True) -> None:
        self.reply, self.verdict, self.explains, self.thinks = reply, verdict, explains, thinks
        self.visible: list[str] = []
        self.start = self.base = self.place = 0
        self.begun = ""
        self.said = self.answers = False
        self.held: OwnTurn | None = None
        self.used: set[int] = set()
        self.quoted: Counter[int] = Counter()
        self.ignored = -1  # where the line of a quoted role ends

    def read(self) -> OwnTurn:
        """The own turn."""
        ended = self._first()
        if ended is None:
            for place, label in self._marks():
                if place < self.place:
                    continue
                ended = self._label(label) if label else self._token(place)
                if ended:
                    break
        return self.held or ended or self._until(len(self.reply), "")

    def _marks(self) -> Iterator[tuple[int, re.Match[str] | None]]:
        """The places of what may be a token, and of roles in words with their match."""
        tokens = ((mark.start(), None) for mark in _MARK.finditer(self.reply))
        return merge(tokens, ((label.start(), label) for label in self._labels), key=lambda mark: mark[0])

    @cached_property
    def _labels(self) -> list[re.Match[str]]:
        return list(LABELS.finditer(self.reply))

    # ---- thinking ----

    def _first(self) -> OwnTurn | None:
        """Thinking that only counts at the start of the reply."""
        if not self.thinks:
            return None
        if (words := IN_WORDS.match(self.reply)) and (end := IN_WORDS_END.search(self.reply, words.end())):
            self._hide(0, end.end())
            return None
        before = _BEFORE_FIRST.match(self.reply)
        place = before.end() if before else 0
        if place and _SAID.search(self.reply, 0, place):
            self.start = self.place = place
        first = _FIRST.match(self.reply, place)
        return self._thought(int(str(first.lastgroup)[4:]), first) if first else None

    def _hide(self, start: int, end: int) -> None:
        """Leave out a passage of thinking."""
        self._show(start)
        self.visible.append("\n")
        self.start = self.place = end

    def _show(self, end: int) -> None:
        if self._says(end) and not self.said:
            self.said, self.base = True, self.start
        self.visible.append(self.reply[self.start : end])

    def _says(self, end: int) -> bool:
        """Whether the model has said anything before a place."""
        return self.said or _SAID.search(self.reply, self.start, end) is not None

    def _thought(self, i: int, opening: re.Match[str]) -> OwnTurn | None:
        """Skip the thinking that begins here; the end of the reply where it has none in the model's own turn."""
        closing = next(
            (m for m in _CLOSING[i].finditer(self.reply, opening.end()) if not is_named(self.reply, m)), None
        )
        if closing is not None:
            other = _OTHER.search(self.reply, opening.end(), closing.start())
            if other is None or _AGAIN[i].search(self.reply, other.end(), closing.start()) is None:
                self.used.add(i)
                self._hide(opening.start(), closing.end())
                return None
        return OwnTurn(None, len(self.reply), begun=self.begun)

    def _opening(self, i: int, token: re.Match[str]) -> OwnTurn | None:
        if self.verdict and i == _REASONING:
            self.place = self._reasoning.get(token.start(), self.place)
            return None
        if self.verdict and token[0][0] != "<" and self._says(token.start()):
            self.quoted[i] += 1
            return None
        if THINKING[i].where == "line" and i not in self.used and not self._starts_line(token.start()):
            self.quoted[i] += 1
            return None
        return self._thought(i, token)

    @cached_property
    def _reasoning(self) -> dict[int, int]:
        """Start and end of each complete <reasoning> without another one in it."""
        opened, spans = -1, {}
        closing = merge(*([(m.start(), m.end(), i) for m in p.finditer(self.reply)] for i, p in enumerate(_REASONED)))
        for start, end, closes in closing:
            if closes and opened >= 0:
                spans[opened] = end
            opened = -1 if closes else start
        return spans

    def _starts_line(self, place: int) -> bool:
        before = self.reply[max(0, place - 9) : place].rstrip(" \t")
        return before.endswith("\n") or not self._says(place)

    def _closing(self, i: int, token: re.Match[str]) -> OwnTurn | None:
        """Drop what is before a second marker alone."""
        if self.verdict and i == _REASONING:
            return None
        if self.quoted[i]:
            self.quoted[i] -= 1
            return None
        if self.held and self.answers:
            return self.held
        self.visible.clear()
        self.said, self.held, self.ignored = False, None, -1
        self.begun = self.reply[: token.start()]
        self.start = self.place = token.end()
        self.used.add(i)
        return None

    # ---- turns ----

    def _token(self, place: int) -> OwnTurn | None:
        """What follows from a marker that is a token; the own turn where it ends there."""
        token = _TOKEN.match(self.reply, place)
        if token is None:
            return None
        self.place = token.end()
        if is_named(self.reply, token):
            return None
        kind, number = _NAME.fullmatch(str(token.lastgroup)).groups()  # type: ignore[union-attr]
        if kind in ("open", "close"):
            if not self.thinks:
                return None
            return (self._opening if kind == "open" else self._closing)(int(number), token)
        if kind == "wrapper":
            self._show(place)
            self.start = token.end()
            return None
        return self._turn(kind, token)

    def _turn(self, kind: str, token: re.Match[str]) -> OwnTurn | None:
        if self.held:
            return self.held
        if self.verdict and token[0][0] in "[]" and not 0 <= self._judged < token.start():
            return None
        if kind in ("own", "pad") and not self._says(token.start()):
            self.start = token.end()
            return None
        if token[0] == "<s>" or (token[0] == "</s>" and self.quoted[-1]):  # in HTML, struck text
            self.quoted[-1] += 1 if token[0] == "<s>" else -1
            return None
        return self._ended(token)

    @cached_property
    def _judged(self) -> int:
        return self.reply.find("</judg")

    def _ended(self, token: re.Match[str]) -> OwnTurn:
        """The own turn that ends at a token; without a made-up one where only such tokens follow."""
        place = _only_ends(self.reply, token.start())
        following = _TOKEN.match(self.reply, place) or token
        return self._until(token.start(), "" if place == len(self.reply) else following[0].strip())

    def _until(self, end: int, turn: str) -> OwnTurn:
        return OwnTurn("".join([*self.visible, self.reply[self.start : end]]), end, turn, self.begun)

    # ---- roles in words ----

    def _label(self, label: re.Match[str]) -> OwnTurn | None:
        """What follows from a role in words: a turn ends there, unless thinking goes on behind it."""
        kind = str(label.lastgroup)
        own = kind in _OWN_LABELS
        if self.held:
            self.answers = self.answers or own
            return None
        place = label.start(kind)
        quoted = self.verdict and not own and not 0 <= self._judged < place and not self._answered_later(place)
        if quoted or self._enclosed(place):
            return None
        if not self._says(place):
            if own:
                self.start = self.place = label.end()
                return None
            if kind == "question" or (kind in ("other", "asked") and not self._answered_later(place)):
                return None
        elif self._is_quoted(kind, place):
            line = self.reply.find("\n", label.end())
            self.ignored = len(self.reply) if line < 0 else line
            return None
        elif (
            kind == "heading"
            or (kind == "question" and not self._answered(place))
            or (kind == "low_other" and not self._answered_later(place))
        ):
            return None
        self.held, self.answers = self._until(place, label[0].strip()), own
        return None

    def _is_quoted(self, kind: str, place: int) -> bool:
        """Whether a role in words, with a colon, is a speaker's name in a text."""
        if kind not in ("other", "own", "asked", "question"):
            return False
        if self.ignored >= 0 and _SAID.search(self.reply, self.ignored, place) is None:
            return True
        above = self.reply[max(self.start, place - 300) : place].rstrip().rsplit("\n", 1)[-1]
        if above.endswith((":", "：")):
            return True
        speech = _SPEECH.match(above) is not None and ANSWER_LABELS.match(above) is None
        return kind != "question" and speech and not self._answered_later(place)

    def _answered(self, place: int) -> bool:
        """Whether the model has answered before a place."""
        if self.explains and not _JOKE.match(self.reply, place):
            return True
        begin = self.base if self.said else self.start
        if place - begin < 60 and _LONE.fullmatch(self.reply, begin, place):
            return True
        return bisect_left(self._answer_labels, place) > bisect_left(self._answer_labels, begin)

    @cached_property
    def _answer_labels(self) -> list[int]:
        return [answer.start() for answer in ANSWER_LABELS.finditer(self.reply)]

    def _answered_later(self, place: int) -> bool:
        """Whether a role in words behind a place is the model's."""
        return self._last_own > place

    @cached_property
    def _last_own(self) -> int:
        return next((label.start() for label in reversed(self._labels) if label.lastgroup in _OWN_LABELS), -1)

    def _enclosed(self, place: int) -> bool:
        """Whether a place is within a complete element or a code fence."""
        i = bisect_right(self._spans, (place,)) - 1
        return i >= 0 and place < self._spans[i][1]

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """Start and end of the elements and fences that are complete, joined where they overlap."""
        opened: dict[str, int] = {}
        spans: list[tuple[int, int]] = []
        for mark in _ELEMENT.finditer(self.reply):
            name = (mark[2] or mark[3]).lower()
            if (mark[3] and name in opened) or mark[1]:
                if name in opened:
                    spans.append((opened.pop(name), mark.end()))
            else:
                opened[name] = mark.start()
        joined: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined


_OWN_LABELS = ("bare_own", "glued_own", "own", "heading", "tail_own")


def _only_ends(reply: str, place: int) -> int:
    """Where something else than blanks and tokens that end or pad a turn follows."""
    while True:
        said = _SAID.search(reply, place)
        if said is None:
            return len(reply)
        token = _TOKEN.match(reply, said.start())
        if token is None or not str(token.lastgroup).startswith(("end", "pad")):
            return said.start()
        place = token.end()
