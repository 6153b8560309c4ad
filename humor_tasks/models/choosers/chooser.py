"""The interface of models that choose among options: the question, and scores as log-probabilities.

Neither harness passes choices to a model. With Inspect they are in the metadata of the user message, with lm-eval in
the document. Where both are missing, they are parsed from the lettered lines of the prompt.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, Protocol

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.humicroedit.texts import edits_in
from humor_tasks.rows.records import Grouped, ReplyLength

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
YES_NO = ("yes", "no")
_LETTERED = re.compile(r"^\(?([A-Z])[).:][ \t]+(\S.*)$")


@dataclass(frozen=True)
class Question:
    """A scene as text (may be empty) and the choices; no choices means an open answer.

    `id` seeds random answers, so that they are the same in any order and in both harnesses. `picture` is the picture of
    the question, a `humor_tasks.rows.media.picture.Picture` or a PIL image, or None. `about` is the text that a yes-no
    question asks about: the caption or the last utterance. `cluster` is the record's: in the caption contest the number
    of the contest. `prompt` is the whole prompt as plain text, which language models read instead of the scene;
    it ends with `prefix`, the beginning of an answer. `grouped`: the captions of each choice where it is a group of
    them (`grouped_scores`). `length` is the benchmark's length of a reply in words.
    """

    id: str
    context: str
    choices: tuple[str, ...]
    picture: Any = field(default=None, compare=False, repr=False)
    about: str = ""
    cluster: str = ""
    prompt: str = field(default="", compare=False, repr=False)
    prefix: str = field(default="", compare=False, repr=False)
    grouped: Grouped | None = None
    length: ReplyLength | None = field(default=None, compare=False)


class Chooser(Protocol):
    """A model that scores choices: higher is better, on any scale.

    `reads_prompt`: whether it reads the prompt, and so groups of captions as a whole. `batch_size`: the number of
    questions that it best answers together; 0 where it does not matter. `signed`: entries of the signature for what it
    changes in the question.
    """

    name: str
    reads_prompt: bool = False
    batch_size: int = 0
    signed: Mapping[str, str] = MappingProxyType({})

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """A list of scores per question, with one score per choice."""
        ...

    def check(self, question: Question) -> None:
        """Raise BadInput where this chooser cannot answer the question. The default accepts every question."""
        return None


def from_text(identity: str, text: str) -> Question:
    """The question parsed from a prompt: the last run of lines `A) ...`, `B) ...`, and the text before it.

    That text is the context; without lettered lines the context is the whole prompt.
    """
    lines = text.splitlines()
    matches = [_LETTERED.match(line) for line in lines]
    starts = [i for i, m in enumerate(matches) if m and m[1] == "A"]
    for start in reversed(starts):
        run: list[str] = []
        for match in matches[start:]:
            if match is None or match[1] != LETTERS[len(run)]:
                break
            run.append(match[2].strip())
        if len(run) >= 2:
            return Question(identity, "\n".join(lines[:start]), tuple(run))
    return Question(identity, text, ())


def check_chooses(choices: Sequence[str], fields: Mapping[str, str]) -> None:
    """Raise BadInput for a headline-rating item: choosing a sentence of it would not be a rating."""
    if edits_in(fields) and not choices:
        raise BadInput(
            "this model chooses among options and cannot rate headlines; use humicroedit/RUN (in lm-eval "
            "humor-humicroedit)."
        )


def check_words(question: Question, name: str) -> None:
    """Raise BadInput where there are no words of a scene that `name` could compare with the choices."""
    if not question.context.strip():
        raise BadInput(
            f"{question.id:.60}: {name} needs the scene in words, and this question has none: use setting=description "
            "(in MOCK input=description), or another model."
        )


def check_ranks(question: Question, name: str) -> None:
    """Raise BadInput where there is no choice of captions that `name` could rank."""
    if len(question.choices) < 2 or question.choices == YES_NO:
        raise BadInput(
            f"{question.id:.60}: {name} ranks captions, and this question has no choice of them; use matching or "
            "ranking."
        )


def log_softmax(scores: Sequence[float]) -> list[float]:
    """Scores as log-probabilities over the choices."""
    top = max(scores)
    total = top + math.log(sum(math.exp(s - top) for s in scores))
    return [s - total for s in scores]


def best(scores: Sequence[float]) -> int:
    """The index of the highest score; the first one on a tie."""
    return max(range(len(scores)), key=lambda i: scores[i])


def answer(question: Question, i: int) -> str:
    """The reply that selects choice `i`: its letter, or "yes" or "no" for a yes-no question."""
    return question.choices[i] if question.choices == YES_NO else LETTERS[i]


def open_answer(chooser: Chooser, question: Question) -> str:
    """A chooser's answer to an open question: the sentence of the scene with the highest score; "" without a scene."""
    sentences = tuple(s for s in re.split(r"(?<=[.!?])\s+|\n+", question.context) if s.strip())
    if not sentences:
        return ""
    picked = chooser.score([Question(question.id, question.context, sentences)])[0]
    return sentences[best(picked)]


# ---- groups of captions for models that score single captions -------------------------------------

COMBINED: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda scores: sum(scores) / len(scores),
    "max": max,
}
"""How captions' scores make the score of their group."""


def grouped_scores(chooser: Chooser, questions: Sequence[Question]) -> list[list[float]]:
    """A chooser's scores of each question's choices.

    Where each choice is a group of captions, the chooser scores these as single choices. A chooser that reads the
    prompt (`reads_prompt`) gets the question as it is.
    """
    if getattr(chooser, "reads_prompt", False):
        return chooser.score(questions)
    flat = [
        replace(q, choices=tuple(chain.from_iterable(q.grouped.captions)), grouped=None) if q.grouped else q
        for q in questions
    ]
    rows = chooser.score(flat)
    return [_combined(row, q.grouped) if q.grouped else row for q, row in zip(questions, rows, strict=True)]


def _combined(row: Sequence[float], grouped: Grouped) -> list[float]:
    combine, captions = COMBINED[check_choice("combine", grouped.combine, COMBINED)], iter(row)
    return [combine([next(captions) for _ in group]) for group in grouped.captions]
