"""A Chooser as an lm-eval model."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from humor_tasks.data.records import Grouped
from humor_tasks.errors import check_choice
from humor_tasks.models.choosers import grouped
from humor_tasks.models.choosers.chooser import (
    LETTERS,
    Chooser,
    Question,
    answer,
    best,
    check_chooses,
    from_text,
    log_softmax,
    open_answer,
)
from humor_tasks.on_lm_eval.checks import Uncached, check_requests
from humor_tasks.on_lm_eval.harness import Instance, pictures_of
from humor_tasks.on_lm_eval.providers.generating import prefix_of, prompt_of

logger = logging.getLogger(__name__)

HARNESS = {"batch_size", "max_batch_size", "device"}  # passed to every model by lm-eval


class ChooserLM(Uncached):
    """Scores the choices of each document once; the log-probability of each letter follows from the scores.

    Requests are grouped by task and document. The choices are those of the document, otherwise the
    lettered lines of the prompt, otherwise the continuations themselves.
    """

    MULTIMODAL = True  # accepts tasks with pictures; the chooser may ignore them
    tokenizer_name = "none"
    batch_size = 256  # questions in the first step of the progress bar
    weights = ""  # the folder or name of weights that may be trained on a benchmark's rows; see `on_lm_eval.seen`

    def __init__(self, chooser: Chooser, unused: dict[str, Any], known: Sequence[str]) -> None:
        """unused: the remaining model arguments; BadInput for any that lm-eval does not pass to every model."""
        super().__init__()
        for name in set(unused) - HARNESS:
            check_choice(f"--model_args of {chooser.name}", name, known)
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
            asked, indices = self._question(members)
            self.chooser.check(asked)
            if len(asked.choices) > 1:
                judged.append((members, asked, indices))
        if len(judged) < len(groups):
            logger.warning("%s has no log-likelihoods of free text: perplexities are left out.", self.chooser.name)
        found = self._scores([asked for _, asked, _ in judged], disable_tqdm or self.rank != 0)
        for (members, _, indices), scores in zip(judged, found, strict=True):
            logprobs, picked = log_softmax(scores), best(scores)
            for request, index in zip(members, indices, strict=True):
                answers[id(request)] = (logprobs[index], index == picked)
        return [answers[id(request)] for request in requests]

    def check_unseen(self, requests: Sequence[Instance]) -> None:
        """Raise BadInput where the model was trained on the requests' documents."""
        if self.weights:
            check_requests(self.weights, requests)

    def _scores(self, questions: Sequence[Question], quiet: bool) -> list[list[float]]:
        """Scores in steps of doubling size for the progress bar, because each step ends with a small batch."""
        scores: list[list[float]] = []
        with tqdm(total=len(questions), disable=quiet, desc=self.chooser.name) as bar:
            while step := questions[len(scores) : len(scores) + len(scores) + self.batch_size]:
                scores += grouped.scores(self.chooser, step)
                bar.update(len(step))
        return scores

    def _question(self, requests: list[Instance]) -> tuple[Question, list[int]]:
        asked = _asked(requests[0])
        continuations = [str(request.args[1]).strip() for request in requests]
        letters = LETTERS[: len(asked.choices)]
        if all(len(c) == 1 and c in letters for c in continuations):
            return asked, [letters.index(c) for c in continuations]
        context = asked.context or str(requests[0].args[0])
        asked = dataclasses.replace(asked, context=context, choices=tuple(continuations), grouped=None)
        return asked, list(range(len(continuations)))

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """ "Answer: X"; where there are no choices, "Explanation: " and a sentence of the scene."""
        self.check_unseen(requests)
        questions = [_asked(request) for request in requests]
        for question in questions:
            self.chooser.check(question)
        scores = grouped.scores(self.chooser, [q for q in questions if q.choices])
        picked = iter(scores)
        return [
            f"Answer: {answer(q, best(next(picked)))}" if q.choices else f"Explanation: {open_answer(self.chooser, q)}"
            for q in questions
        ]

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Not supported."""
        raise NotImplementedError(f"{self.chooser.name} only scores choices; it has no log-likelihoods of texts.")

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The turns as plain text."""
        return "\n\n".join(turn["content"] for turn in chat_history)


def _asked(request: Instance) -> Question:
    doc = request.doc if isinstance(request.doc, dict) else {}
    if "context" in doc and "choices" in doc and "id" in doc:
        fields = doc.get("fields", {})
        check_chooses(doc["choices"], fields)
        asked = Question(
            doc["id"],
            doc["context"],
            tuple(doc["choices"]),
            about=fields.get("punchline", ""),
            cluster=doc.get("cluster", ""),
            grouped=Grouped.of(doc.get("grouped")),
        )
    else:
        asked = from_text(str(request.args[0]), str(request.args[0]))
    last = (pictures_of(request) or [None])[-1]  # the pictures of worked examples come first
    picture, prefix = getattr(last, "picture", last), prefix_of(request)
    return dataclasses.replace(asked, prompt=prompt_of(request, prefix), prefix=prefix, picture=picture)
