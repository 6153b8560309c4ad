"""A headline with one word replaced: its rendering as encoder input, and variants of its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from humor_tasks.errors import BadInput, check_choice

CONTEXTS = ("full", "masked", "none")
ORIGINALS = ("no", "word", "headline")
OPEN, CLOSE = "[E]", "[/E]"


class Edit(NamedTuple):
    """An edited headline: `word` of the headline `before word after` is replaced by `edit`."""

    before: str
    word: str
    edit: str
    after: str

    @property
    def original(self) -> str:
        """The original headline."""
        return _join(self.before, self.word, self.after)

    @property
    def edited(self) -> str:
        """The edited headline."""
        return _join(self.before, self.edit, self.after)

    @property
    def context(self) -> str:
        """The words that both headlines share."""
        return _join(self.before, self.after)


def as_edit(headline: Any) -> Edit:
    """An Edit from four texts (before, word, edit, after) or an object with these fields. Raises BadInput otherwise."""
    if isinstance(headline, Sequence) and not isinstance(headline, str) and len(headline) == 4:
        parts = tuple(headline)
    else:
        parts = tuple(getattr(headline, name, None) for name in Edit._fields)
    if not all(isinstance(part, str) for part in parts):
        raise BadInput(f"{headline!r}: is not an edited headline; give (before, word, edit, after) as texts.")
    return Edit(*(" ".join(part.split()) for part in parts))


def edits_in(fields: Mapping[str, str]) -> list[Edit]:
    """The edited headline in the fields of a rating item, or the two of a pairwise item; empty for other items."""
    for numbers in (("",), ("1", "2")):
        if all(f"{name}{n}" in fields for n in numbers for name in Edit._fields):
            return [as_edit(tuple(fields[f"{name}{n}"] for name in Edit._fields)) for n in numbers]
    return []


def answer(ratings: Sequence[float]) -> str:
    """The reply for a task: "Rating: x" clipped to 0..3 for one rating; "Answer: A" or "Answer: B" for two (A on a
    tie).
    """
    if len(ratings) == 1:
        return f"Rating: {min(max(ratings[0], 0.0), 3.0)!r}"
    return f"Answer: {'A' if ratings[0] >= ratings[1] else 'B'}"


@dataclass(frozen=True)
class Form:
    """The encoder input of a headline; see `written`.

    context: full (the edited headline), masked (the headline with a mask, and the edited word as second text), or none
    (the edited word only). original: no, word (the replaced word as second text), or headline (the original headline as
    second text; needs context=full). marked: whether special tokens enclose the replacing and the replaced word.
    """

    context: str = "full"
    original: str = "no"
    marked: bool = False

    def __post_init__(self) -> None:
        check_choice("context", self.context, CONTEXTS)
        check_choice("original", self.original, ORIGINALS)
        if self.original == "headline" and self.context != "full":
            raise BadInput(f"context={self.context}: original=headline needs context=full.")


@dataclass(frozen=True)
class EditedHeadline:
    """One or two texts for a tokenizer.

    `edit` and `word` locate the replacing and the replaced word: (index of the text, start, end), or None if absent.
    """

    first: str
    second: str | None
    edit: tuple[int, int, int]
    word: tuple[int, int, int] | None


def written(edit: Edit, form: Form, mask: str = "[MASK]") -> EditedHeadline:
    """`edit` rendered in `form`; `mask` is the tokenizer's mask token."""
    new, old = _mark(edit.edit, form), _mark(edit.word, form)
    second_text = old if form.original == "word" else None
    if form.context == "none":
        return EditedHeadline(new, second_text, (0, 0, len(new)), (1, 0, len(old)) if second_text else None)
    if form.context == "masked":
        second = _join(new, second_text or "")
        at = (1, len(new) + 1, len(second)) if second_text else None
        return EditedHeadline(_join(edit.before, mask, edit.after), second, (1, 0, len(new)), at)
    start = len(edit.before) + 1 if edit.before else 0
    first, place = _join(edit.before, new, edit.after), (0, start, start + len(new))
    if form.original == "headline":
        return EditedHeadline(first, _join(edit.before, old, edit.after), place, (1, start, start + len(old)))
    return EditedHeadline(first, second_text, place, (1, 0, len(old)) if second_text else None)


def _mark(word: str, form: Form) -> str:
    return f"{OPEN} {word} {CLOSE}" if form.marked else word


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


# ---- variants that teams of SemEval-2020 Task 7 trained on (section 5.6) --------------------------

EXTENSIONS = frozenset(
    "report|reports|poll|study|survey|sources|source|live|live updates|live video|video|cnn video|bbc news|world news|"
    "us news|cbc news|fox news|npr|cnn|cnnpolitics.com|reuters|vox|nyt|the new york times|new york times|the guardian|"
    "business insider|the huffington post|technology|environment|opinion|analysis".split("|")
)
"""What news sites append to a headline after a dash, a bar or a colon."""
_SEPARATORS = frozenset(("-", "–", "—", "|", ":"))


def _lower(text: str) -> str:
    return text.lower()


def _no_symbols(text: str) -> str:
    words = " ".join("".join(c for c in word if c.isalnum() or c in "'’-") for word in text.split())
    return " ".join(word for word in words.split() if any(map(str.isalnum, word)))


def _segmented(text: str) -> str:
    return " ".join(_segments(word) for word in text.split())


@lru_cache(maxsize=100_000)
def _segments(word: str) -> str:
    """The words that an unknown word, such as a hashtag, is written of; other words as they are."""
    bare = "".join(filter(str.isalnum, word)).lower()
    return word if not bare.isalpha() or bare in english().unigrams else " ".join(english().segment(bare))


@cache
def english() -> Any:
    """wordsegment's counts of English words and word pairs on the web. Raises BadInput where it is not installed."""
    try:
        from wordsegment import Segmenter
    except ModuleNotFoundError as problem:
        raise missing_extra(problem) from None
    segmenter = Segmenter()
    segmenter.load()
    return segmenter


def missing_extra(problem: Exception) -> BadInput:
    """The error for a missing library of the extra."""
    return BadInput(f"this needs the extra 'semeval': pip install 'humor-tasks[semeval]' ({problem}).")


_CHANGES: dict[str, Callable[[str], str]] = {"segmented": _segmented, "lower": _lower, "no-symbols": _no_symbols}
VARIANTS = (*_CHANGES, "no-extensions")


def check_text(text: str) -> None:
    """Raise BadInput for a name in `text`, such as "lower+segmented", that is no variant."""
    for name in text.split("+") if text else ():
        check_choice("text", name, VARIANTS)


def prepared(edit: Edit, text: str) -> Edit:
    """The headline in the variants that `text` names; a word that would become empty stays as it is."""
    names = text.split("+")
    if "no-extensions" in names:
        edit = edit._replace(after=_without_extension(edit.after))
    for name, change in _CHANGES.items():
        if name in names:
            edit = Edit(
                change(edit.before), change(edit.word) or edit.word, change(edit.edit) or edit.edit, change(edit.after)
            )
    return edit


def _without_extension(after: str) -> str:
    words = after.split()
    at = next((i for i in range(len(words) - 1, -1, -1) if words[i] in _SEPARATORS), None)
    return after if at is None or " ".join(words[at + 1 :]).lower() not in EXTENSIONS else " ".join(words[:at])
