"""A headline with one word replaced, and what an encoder is shown of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from humor_tasks.errors import BadInput, check_choice

CONTEXTS = ("full", "masked", "none")
ORIGINALS = ("no", "word", "headline")
OPEN, CLOSE = "[E]", "[/E]"


class Edit(NamedTuple):
    """`word` of the headline `before word after` is replaced by `edit`."""

    before: str
    word: str
    edit: str
    after: str

    @property
    def original(self) -> str:
        """The headline before the edit."""
        return _joined(self.before, self.word, self.after)

    @property
    def edited(self) -> str:
        """The headline after the edit."""
        return _joined(self.before, self.edit, self.after)

    @property
    def context(self) -> str:
        """The words that both headlines share."""
        return _joined(self.before, self.after)


def as_edit(headline: Any) -> Edit:
    """An Edit from four texts (before, word, edit, after) or from an object with fields of these names."""
    if isinstance(headline, Sequence) and not isinstance(headline, str) and len(headline) == 4:
        parts = tuple(headline)
    else:
        parts = tuple(getattr(headline, name, None) for name in Edit._fields)
    if not all(isinstance(part, str) for part in parts):
        raise BadInput(f"{headline!r}: is no edited headline; give (before, word, edit, after) as texts.")
    return Edit(*(" ".join(part.split()) for part in parts))


def edits_in(fields: Mapping[str, str]) -> list[Edit]:
    """The one edited headline of a rating task's fields, or the two of a pair's; none where there are none."""
    for numbers in (("",), ("1", "2")):
        if all(f"{name}{n}" in fields for n in numbers for name in Edit._fields):
            return [as_edit(tuple(fields[f"{name}{n}"] for name in Edit._fields)) for n in numbers]
    return []


def answer(ratings: Sequence[float]) -> str:
    """A task's reply: "Rating: x", clipped to 0..3, for one rating, "Answer: A" or "Answer: B" for two (A on a tie)."""
    if len(ratings) == 1:
        return f"Rating: {min(max(ratings[0], 0.0), 3.0)!r}"
    return f"Answer: {'A' if ratings[0] >= ratings[1] else 'B'}"


@dataclass(frozen=True)
class Form:
    """What is shown: see `written`.

    context: full (the edited headline), masked (the edited word taken out, and shown beside), none (the word alone).
    original: no, word (the replaced word beside), headline (the original headline beside, for context=full).
    marked: special tokens around the replacing and the replaced word.
    """

    context: str = "full"
    original: str = "no"
    marked: bool = False

    def __post_init__(self) -> None:
        check_choice("context", self.context, CONTEXTS)
        check_choice("original", self.original, ORIGINALS)
        if self.original == "headline" and self.context != "full":
            raise BadInput(f"context={self.context}: the sentence pair shows both headlines in full.")


@dataclass(frozen=True)
class Written:
    """One or two texts for a tokenizer; `edit` and `word` are the two words' (text, start, end), None if not shown."""

    first: str
    second: str | None
    edit: tuple[int, int, int]
    word: tuple[int, int, int] | None


def written(edit: Edit, form: Form, mask: str = "[MASK]") -> Written:
    """`edit` in `form`; `mask` is the tokenizer's mask token."""
    new, old = _mark(edit.edit, form), _mark(edit.word, form)
    beside = old if form.original == "word" else None
    if form.context == "none":
        return Written(new, beside, (0, 0, len(new)), (1, 0, len(old)) if beside else None)
    if form.context == "masked":
        second = _joined(new, beside or "")
        at = (1, len(new) + 1, len(second)) if beside else None
        return Written(_joined(edit.before, mask, edit.after), second, (1, 0, len(new)), at)
    start = len(edit.before) + 1 if edit.before else 0
    first, place = _joined(edit.before, new, edit.after), (0, start, start + len(new))
    if form.original == "headline":
        return Written(first, _joined(edit.before, old, edit.after), place, (1, start, start + len(old)))
    return Written(first, beside, place, (1, 0, len(old)) if beside else None)


def _mark(word: str, form: Form) -> str:
    return f"{OPEN} {word} {CLOSE}" if form.marked else word


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
