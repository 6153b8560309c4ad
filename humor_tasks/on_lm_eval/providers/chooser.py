"""A Chooser as an lm-eval model."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from humor_tasks.models.choosers.chooser import (
    LETTERS,
    Chooser,
    Question,
    answer,
    best,
    check_chooses,
    from_text,
    grouped_scores,
    log_softmax,
    open_answer,
)
from humor_tasks.on_lm_eval.harness import Instance, pictures_of
from humor_tasks.on_lm_eval.providers.local import LocalLM, check_arguments, prefix_of, prompt_of
from humor_tasks.rows.records import Grouped

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")


class ChooserLM(LocalLM):
    """Scores the choices of each document once; the log-probability of each letter follows from the scores.

    Requests are grouped by task and document. The choices are those of the document, otherwise the
    lettered lines of the prompt, otherwise the continuations themselves.
    """

    MULTIMODAL = True  # accepts tasks with pictures; the chooser may ignore them
    batch_size = 256  # questions in the first step of the progress bar

    def __init__(self, chooser: Chooser, unused: dict[str, Any], known: Sequence[str]) -> None:
        """unused: the remaining model arguments; BadInput for any that lm-eval does not pass to every model."""
        super().__init__()
        check_arguments(chooser.name, unused, known)
        self.chooser = chooser

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """See LM.loglikelihood; nan for a text without alternatives, which a chooser cannot score."""
        self.check_unseen(requests)
        # With several processes, lm-eval pads shorter lists of requests with copies of the last one.
        distinct = {id(request): request for request in requests}
        groups: dict[tuple[Any, ...], list[Instance]] = {}
        for request in distinct.values():
            groups.setdefault((request.task_name, request.doc_id, request.args[0]), []).append(request)
        answers = dict.fromkeys(distinct, (float("nan"), False))
        judged = []
        for members in groups.values():
            question, indices = self._question(members)
            self.chooser.check(question)
            if len(question.choices) > 1:
                judged.append((members, question, indices))
        if len(judged) < len(groups):
            logger.warning("%s has no log-likelihoods of free text: perplexities are left out.", self.chooser.name)
        score = partial(grouped_scores, self.chooser)
        rows = self.in_steps([question for _, question, _ in judged], score, disable_tqdm)
        for (members, _, indices), scores in zip(judged, rows, strict=True):
            logprobs, picked = log_softmax(scores), best(scores)
            for request, index in zip(members, indices, strict=True):
                answers[id(request)] = (logprobs[index], index == picked)
        return [answers[id(request)] for request in requests]

    def in_steps(
        self, items: Sequence[Item], run: Callable[[Sequence[Item]], Sequence[Result]], quiet: bool
    ) -> Iterator[Result]:
        """Results in steps of doubling size for the progress bar, because each step ends with a small batch."""
        done = 0
        with self.bar(self.chooser.name, len(items), quiet) as bar:
            while step := items[done : done + done + self.batch_size]:
                yield from run(step)
                done += len(step)
                bar.update(len(step))

    def _question(self, requests: list[Instance]) -> tuple[Question, list[int]]:
        question = question_of(requests[0])
        continuations = [str(request.args[1]).strip() for request in requests]
        letters = LETTERS[: len(question.choices)]
        if all(len(c) == 1 and c in letters for c in continuations):
            return question, [letters.index(c) for c in continuations]
        context = question.context or str(requests[0].args[0])
        question = dataclasses.replace(question, context=context, choices=tuple(continuations), grouped=None)
        return question, list(range(len(continuations)))

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """ "Answer: X"; where there are no choices, "Explanation: " and a sentence of the scene."""
        self.check_unseen(requests)
        questions = [question_of(request) for request in requests]
        for question in questions:
            self.chooser.check(question)
        scores = iter(grouped_scores(self.chooser, [q for q in questions if q.choices]))
        return [
            f"Answer: {answer(q, best(next(scores)))}" if q.choices else f"Explanation: {open_answer(self.chooser, q)}"
            for q in questions
        ]

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Not supported."""
        raise NotImplementedError(f"{self.chooser.name} only scores choices; it has no log-likelihoods of texts.")


def question_of(request: Instance) -> Question:
    """The question of a document of this package, or else of the prompt's text."""
    doc = request.doc if isinstance(request.doc, dict) else {}
    if "context" in doc and "choices" in doc and "id" in doc:
        fields = doc.get("fields", {})
        check_chooses(doc["choices"], fields)
        question = Question(
            str(doc.get("item", doc["id"])),
            doc["context"],
            tuple(doc["choices"]),
            about=fields.get("punchline", ""),
            cluster=doc.get("cluster", ""),
            grouped=Grouped.of(doc.get("grouped")),
        )
    else:
        question = from_text(str(request.args[0]), str(request.args[0]))
    last = (pictures_of(request) or [None])[-1]  # the pictures of worked examples come first
    picture, prefix = getattr(last, "picture", last), prefix_of(request)
    return dataclasses.replace(question, prompt=prompt_of(request, prefix), prefix=prefix, picture=picture)
