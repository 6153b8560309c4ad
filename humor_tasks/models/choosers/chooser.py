"""What models that pick among choices share: the question they see, and scores as log-probabilities.

Neither harness hands choices to a model: Inspect's travel in the metadata of the user's message,
lm-eval's in the document. Where both are missing, the lettered lines of the prompt are read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from humor_tasks.errors import BadInput

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
YES_NO = ("yes", "no")
_LETTERED = re.compile(r"^\(?([A-Z])[).:][ \t]+(\S.*)$")


@dataclass(frozen=True)
class Question:
    """A scene in words (may be empty) and the choices; no choices means an open answer.

    `id` keeps random answers the same in every order and in both harnesses. `picture` is the one shown
    with the question, as a `humor_tasks.data.media.picture.Picture` or a PIL image, and None where there is none.
    `about` is what a question of yes or no is about: the caption, the last utterance.
    """

    id: str
    context: str
    choices: tuple[str, ...]
    picture: Any = field(default=None, compare=False, repr=False)
    about: str = ""


class Chooser(Protocol):
    """A model that scores choices: higher is better, on any scale."""

    name: str

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """One list of scores a question, one score a choice."""
        ...

    def check(self, question: Question) -> None:
        """Raises BadInput where this chooser cannot answer; unless it says otherwise, it always can."""
        return None


def from_text(identity: str, text: str) -> Question:
    """The question in a prompt's text: the last run of lines `A) ...`, `B) ...`, and all before it.

    The context is the text before those lines; without lettered lines it is the whole text.
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
    """BadInput where an edited headline is to be rated: a sentence of it, as elsewhere, would rate nothing."""
    if "edited" in fields and not choices:
        raise BadInput(
            "this model picks among choices and rates no headline; humicroedit/RUN (humor-humicroedit in lm-eval) does."
        )


def log_softmax(scores: Sequence[float]) -> list[float]:
    """Scores as log-probabilities over the choices."""
    top = max(scores)
    total = top + math.log(sum(math.exp(s - top) for s in scores))
    return [s - total for s in scores]


def best(scores: Sequence[float]) -> int:
    """Index of the highest score, the first one on a tie."""
    return max(range(len(scores)), key=lambda i: scores[i])


def answer(question: Question, i: int) -> str:
    """How choice `i` is answered: by its letter, or by itself where the choices are yes and no."""
    return question.choices[i] if question.choices == YES_NO else LETTERS[i]


def likeliest(likelihoods: Sequence[float], letters: Sequence[str]) -> str | None:
    """The letter (or word) of the highest log-likelihood; None where one is nan or none is finite."""
    if any(math.isnan(x) for x in likelihoods) or max(likelihoods) == -math.inf:
        return None
    return letters[best(likelihoods)]


def open_answer(chooser: Chooser, question: Question) -> str:
    """A chooser's answer where there is nothing to choose: the sentence of the scene it prefers."""
    sentences = tuple(s for s in re.split(r"(?<=[.!?])\s+|\n+", question.context) if s.strip())
    if not sentences:
        return ""
    picked = chooser.score([Question(question.id, question.context, sentences)])[0]
    return sentences[best(picked)]
