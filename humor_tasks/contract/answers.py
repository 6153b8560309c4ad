"""Answer forms: what answers look like, and how to get them from a reply, log-likelihoods or a submission file.

All of these ways result in an `Answer`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.scorers import yes_no
from humor_tasks.scorers.answer import Status, read_answer
from humor_tasks.scorers.given_markers import with_known_markers
from humor_tasks.scorers.guess import seeded_guess
from humor_tasks.scorers.own_turn import own_turn, unwrapped
from humor_tasks.scorers.rating import expected_rating, read_rating
from humor_tasks.scorers.refusal import is_refusal
from humor_tasks.scorers.tagged import count_words

BLANK_LINE = ("\n\n",)
"""Stop sequence of a direct answer; without it, a base model continues with another example."""


LETTER_METRICS = {"logprobs": "logprob_", "scores": "score_"}
"""Per-letter numbers that a model may report -> the prefix of their names, such as logprob_A.

logprobs: natural log-probabilities of the letters. scores: a chooser's scores on its own scale, in Inspect only.
"""

ANSWER_TOKENS = 1024
"""The length of a reply, in tokens, of a model without chat template, where `Options.generation` prescribes none.

lm-eval sends it as max_gen_toks. Models of this package write at most as many in both harnesses. A limit that the user
gives takes precedence here and below.
"""
CHAT_TOKENS = 4096
"""The same of a chat model, whose thinking counts, in lm-eval and for models in Inspect whose limits are unknown.

HumorBench's released usage is 740 tokens a reply on average, thinking included, for the model that wrote most (Gemini
2.5 Flash), and the released caps of other work are 1,000 and 1,024 tokens. With the prompt it fits a context of 8,192.
"""
HOSTED_TOKENS = 16384
"""The same of a model in Inspect whose own limit is known, which is taken where it is lower.

The largest thinking budget of HumorBench's published runs; with it Claude 3.7 Sonnet wrote 581 tokens on average.
"""


ENDED = "ended"
"""The key of an outcome's facts that says how its reply ended, where that is not as it should."""
THINKING, TURN, LIMIT = "while thinking", "at a made-up turn", "at the limit of its length"
"""The beginnings of its values."""


@dataclass(frozen=True)
class Answer:
    """An answer to one item.

    value: a letter, a word, a decimal number or a text; None where there is no readable answer.
    status: answered, unparsed, refused or empty.
    values: metrics of the reply alone, such as its number of words, in addition to `unparsed` and `refused`.
    facts: what metrics need of the reply beside numbers, such as the captions of a list; values of JSON.
    """

    value: str | None
    status: Status = "answered"
    values: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rates(self) -> dict[str, float]:
        """The reply's values of the metrics `unparsed` (unreadable or empty) and `refused`."""
        return {"unparsed": float(self.status in ("unparsed", "empty")), "refused": float(self.status == "refused")}

    def outcome(self, record: Record, values: Mapping[str, float] = MappingProxyType({})) -> Outcome:
        """The outcome of a record, with these values beside those of the reply alone."""
        metric_values = {**self.rates, **self.values, **values}
        facts = {**record.facts, **self.facts}
        return Outcome(
            record.id, record.cluster, record.groups, self.status, self.value, record.target, metric_values, facts
        )


UNREAD = Answer(None, "unparsed")


@dataclass(frozen=True)
class AnswerForm:
    """A form of answer.

    stop: stop sequences of a generated reply; empty where only the model's end-of-text token ends it.
    prefix: the text before the answer in a worked example, and before the labels whose likelihoods are compared.
    needs_likelihoods: whether the answer requires probabilities of the labels and cannot be read from generated text.
    whole: whether a reply that was cut off has no answer, as where it may end with a quotation.
    """

    stop: tuple[str, ...] = field(default=(), kw_only=True)
    needs_likelihoods: bool = field(default=False, kw_only=True)
    whole: bool = field(default=False, kw_only=True)
    prefix: ClassVar[str] = "Answer:"

    @property
    def labels(self) -> tuple[str, ...]:
        """The continuations whose log-likelihoods are compared; empty for free text."""
        return ()

    @property
    def literal(self) -> bool:
        """Whether a reply is read as it stands, with its thinking and made-up turns, by a rule of released code."""
        return False

    def written(self, target: str | None) -> str:
        """The answer of a worked example."""
        return f"{self.prefix} {target}"

    def answer(self, reply: str, thinking: str | None, refused: bool = False, cut_off: bool = False) -> Answer:
        """The answer in a reply, with the fact ENDED where the reply did not end as it should.

        thinking: markers as in `Options.thinking`; the others as in `Run.outcome`. Of a reply that is read literally
        the fact says no more than `cut_off`. Where a turn is made up before the limit, the own turn ended there.
        """
        reply = reply if self.literal else with_known_markers(reply, thinking)
        found = UNREAD if cut_off and self.whole else self.read(reply, refused)
        ended = LIMIT if cut_off else ""
        if not self.literal:
            own = own_turn(reply)
            ended = THINKING if own.text is None else f"{TURN}: {own.turn}" if own.turn else ended
        return replace(found, facts={**found.facts, ENDED: ended}) if ended else found

    def read(self, reply: str, refused: bool = False) -> Answer:
        """The answer in a reply; `refused`: whether the provider flagged a refusal."""
        raise NotImplementedError

    def from_likelihoods(self, likelihoods: Sequence[float]) -> Answer:
        """The answer from the log-likelihoods of the labels; unparsed where none is finite."""
        raise NotImplementedError

    def from_submission(self, text: str) -> Answer:
        """The answer in an entry of a submission file. Raises BadInput for an invalid entry."""
        return self.read(text)

    def guess(self, seed: int, identity: str) -> str | None:
        """A random guess seeded by the item; None for a form without a fixed set of answers."""
        return None


@dataclass(frozen=True)
class Choice(AnswerForm):
    """Multiple choice, answered by a letter; `extraction` is the rule for reading a reply."""

    letters: str
    extraction: str = "strict"

    @property
    def labels(self) -> tuple[str, ...]:
        """The letters."""
        return tuple(self.letters)

    @property
    def literal(self) -> bool:
        """Whether the rule is one of released code."""
        return self.extraction != "strict"

    def read(self, reply: str, refused: bool = False) -> Answer:
        """See AnswerForm."""
        reading = read_answer(reply, self.letters, self.extraction)
        status = "refused" if refused and reading.letter is None else reading.status
        return Answer(reading.letter, status, {} if reading.fallback is None else {"fallback": float(reading.fallback)})

    def from_likelihoods(self, likelihoods: Sequence[float]) -> Answer:
        """The letter of highest likelihood, the first one in a tie."""
        letter = _likeliest(likelihoods, self.labels)
        return Answer(letter) if letter else UNREAD

    def guess(self, seed: int, identity: str) -> str | None:
        """A random letter."""
        letter: str = seeded_guess(seed, identity, self.letters)
        return letter


@dataclass(frozen=True)
class YesNo(AnswerForm):
    """Yes or no."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The words for yes and no."""
        return tuple(yes_no.WORDS)

    def read(self, reply: str, refused: bool = False) -> Answer:
        """See AnswerForm."""
        word, status = yes_no.read_yes_no(reply)
        return Answer(word, "refused" if refused and word is None else status)

    def from_likelihoods(self, likelihoods: Sequence[float]) -> Answer:
        """The word of higher likelihood."""
        word = _likeliest(likelihoods, self.labels)
        return Answer(word) if word else UNREAD

    def guess(self, seed: int, identity: str) -> str | None:
        """A random word."""
        return self.labels["YN".index(seeded_guess(seed, identity, "YN"))]


@dataclass(frozen=True)
class Rating(AnswerForm):
    """A number between the lowest and the highest label of the scale; the labels are digits in ascending order."""

    scale: tuple[str, ...]
    prefix: ClassVar[str] = "Rating:"

    @property
    def labels(self) -> tuple[str, ...]:
        """The scale."""
        return self.scale

    def read(self, reply: str, refused: bool = False) -> Answer:
        """The rating as a decimal number."""
        rating = read_rating(reply)
        if rating.value is None:
            return Answer(None, "refused" if refused else rating.status)
        return Answer(repr(rating.value), rating.status)

    def from_likelihoods(self, likelihoods: Sequence[float]) -> Answer:
        """The expected value under the labels' probabilities; unparsed where one is nan or none is finite."""
        if any(map(math.isnan, likelihoods)):
            return UNREAD
        rating = expected_rating(dict(zip(self.scale, likelihoods, strict=True)), self.scale).value
        return UNREAD if rating is None else Answer(repr(rating))

    def from_submission(self, text: str) -> Answer:
        """A number on the scale."""
        low, high = self.scale[0], self.scale[-1]
        try:
            value = math.nan if "_" in text else float(text)  # Python reads 0_1 as 1
        except ValueError:
            value = math.nan
        if not float(low) <= value <= float(high):
            raise BadInput(f"the prediction is {text!r}; it must be a number from {low} to {high}.")
        return Answer(repr(value))


def whole_reply(reply: str, refused: bool) -> Answer:
    """The model's own turn without its thinking, with its number of `words`."""
    visible = own_turn(reply).text
    text = unwrapped(visible or "").strip()
    status: Status = "unparsed" if visible is None else "empty" if not text else "answered"
    if (refused and status != "answered") or (text and is_refusal(text)):
        status = "refused"
    return Answer(text, status, {"words": float(count_words(text))}) if status == "answered" else Answer(None, status)


@dataclass(frozen=True)
class FreeText(AnswerForm):
    """A free-text answer, read by `reader(reply, refused)`.

    reference: whether the target is a reference text, which is compared with the answer and whose likelihood is used.
    scorer: the name of Inspect's scorer for answers without a reference that no judges score.
    """

    reader: Callable[[str, bool], Answer] = whole_reply
    reference: bool = False
    scorer: str = ""
    prefix: ClassVar[str] = "Explanation:"

    def read(self, reply: str, refused: bool = False) -> Answer:
        """See AnswerForm."""
        return self.reader(reply, refused)


def _likeliest(likelihoods: Sequence[float], labels: Sequence[str]) -> str | None:
    """The label with the highest log-likelihood; None where one is nan or none is finite."""
    if any(math.isnan(x) for x in likelihoods) or max(likelihoods) == -math.inf:
        return None
    return labels[max(range(len(likelihoods)), key=lambda i: likelihoods[i])]
