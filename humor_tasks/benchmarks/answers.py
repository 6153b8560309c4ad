"""Answer forms: what a benchmark is answered with, and how an answer is read from a reply, from log-likelihoods or from
an entry of a submission file.

Every way of answering ends in an `Answer`; nothing is written into a sentence to be read back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import likeliest
from humor_tasks.scorers import yes_no
from humor_tasks.scorers.answer import Status, read_answer
from humor_tasks.scorers.guess import seeded_guess
from humor_tasks.scorers.rating import expected_rating, read_rating

BLANK_LINE = ("\n\n",)
"""Where a direct answer ends. A base model would otherwise continue with a further example."""


@dataclass(frozen=True)
class Answer:
    """What was answered.

    value: a letter, a word, a number in decimals or a text; None where none was read.
    status: answered, unparsed, refused or empty.
    values: what the reply itself shows, by metric (its words, missing tags), beside `unparsed` and `refused`.
    """

    value: str | None
    status: Status = "answered"
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def rates(self) -> dict[str, float]:
        """This reply's value of `unparsed` (unreadable or empty) and of `refused`."""
        return {"unparsed": float(self.status in ("unparsed", "empty")), "refused": float(self.status == "refused")}


UNREAD = Answer(None, "unparsed")


@dataclass(frozen=True)
class AnswerForm:
    """One form of answer.

    stop: the sequences at which a generated reply ends; empty where it may run to the model's end mark.
    prefix: what the answer follows in a worked example, and what compared labels continue.
    needs_likelihoods: whether only probabilities of the labels give the answer, and no generated text does.
    """

    stop: tuple[str, ...] = field(default=(), kw_only=True)
    needs_likelihoods: bool = field(default=False, kw_only=True)
    prefix: ClassVar[str] = "Answer:"

    @property
    def labels(self) -> tuple[str, ...]:
        """The continuations whose log-likelihoods can be compared; none for open answers."""
        return ()

    def written(self, target: str | None) -> str:
        """How a worked example is answered."""
        return f"{self.prefix} {target}"

    def read(self, reply: str, refused: bool = False) -> Answer:
        """The answer in a reply; `refused` where the provider flagged a refusal."""
        raise NotImplementedError

    def from_likelihoods(self, likelihoods: Sequence[float]) -> Answer:
        """The answer that log-likelihoods of the labels give; unparsed where none is finite."""
        raise NotImplementedError

    def from_submission(self, text: str) -> Answer:
        """The answer that an entry of a submission file means. Raises BadInput where it means none."""
        return self.read(text)

    def guess(self, seed: int, identity: str) -> str | None:
        """A guess seeded by the item; None where this form has nothing to guess from."""
        return None


@dataclass(frozen=True)
class Choice(AnswerForm):
    """One of several choices, named by its letter; `extraction` is the rule by which a reply is read."""

    letters: str
    extraction: str = "strict"

    @property
    def labels(self) -> tuple[str, ...]:
        """The letters."""
        return tuple(self.letters)

    def read(self, reply: str, refused: bool = False) -> Answer:
        """See AnswerForm."""
        reading = read_answer(reply, self.letters, self.extraction)
        return Answer(reading.letter, "refused" if refused and reading.letter is None else reading.status)

    def from_likelihoods(self, likelihoods: Sequence[float]) -> Answer:
        """The likeliest letter, the first of several."""
        found = likeliest(likelihoods, self.labels)
        return Answer(found) if found else UNREAD

    def guess(self, seed: int, identity: str) -> str | None:
        """A letter."""
        letter: str = seeded_guess(seed, identity, self.letters)
        return letter


@dataclass(frozen=True)
class YesNo(AnswerForm):
    """Yes or no, in a word."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Yes, no."""
        return tuple(yes_no.WORDS)

    def read(self, reply: str, refused: bool = False) -> Answer:
        """See AnswerForm."""
        word, status = yes_no.read_yes_no(reply)
        return Answer(word, "refused" if refused and word is None else status)

    def from_likelihoods(self, likelihoods: Sequence[float]) -> Answer:
        """The likelier word."""
        found = likeliest(likelihoods, self.labels)
        return Answer(found) if found else UNREAD

    def guess(self, seed: int, identity: str) -> str | None:
        """A word."""
        return self.labels["YN".index(seeded_guess(seed, identity, "YN"))]


@dataclass(frozen=True)
class Rating(AnswerForm):
    """A number between the lowest and the highest of the scale's labels, which are digits in order."""

    scale: tuple[str, ...]
    prefix: ClassVar[str] = "Rating:"

    @property
    def labels(self) -> tuple[str, ...]:
        """The scale."""
        return self.scale

    def read(self, reply: str, refused: bool = False) -> Answer:
        """The number in decimals."""
        rating = read_rating(reply)
        if rating.value is None:
            return Answer(None, "refused" if refused else rating.status)
        return Answer(repr(rating.value), rating.status)

    def from_likelihoods(self, likelihoods: Sequence[float]) -> Answer:
        """The mean of the scale under the labels' probabilities; unparsed where one is nan or none is finite."""
        if any(map(math.isnan, likelihoods)):
            return UNREAD
        found = expected_rating(dict(zip(self.scale, likelihoods, strict=True)), self.scale).value
        return UNREAD if found is None else Answer(repr(found))

    def from_submission(self, text: str) -> Answer:
        """A number on the scale."""
        low, high = self.scale[0], self.scale[-1]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not float(low) <= value <= float(high):
            raise BadInput(f"the prediction is {text!r}; it must be a number from {low} to {high}.")
        return Answer(repr(value))


@dataclass(frozen=True)
class FreeText(AnswerForm):
    """An answer in the model's own words, read by `reader(reply, refused)`.

    reference: whether the target is a reference text, which the answer, or its likelihood, is compared with.
    """

    reader: Callable[[str, bool], Answer]
    reference: bool = False
    prefix: ClassVar[str] = "Explanation:"

    def read(self, reply: str, refused: bool = False) -> Answer:
        """See AnswerForm."""
        return self.reader(reply, refused)
