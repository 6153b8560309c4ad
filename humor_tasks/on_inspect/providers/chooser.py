"""A Chooser as an Inspect model provider."""

from __future__ import annotations

import abc
import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelOutput,
    ModelUsage,
    TopLogprob,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.choosers import grouped
from humor_tasks.models.choosers.chooser import LETTERS, Chooser, Question, answer, best, log_softmax, open_answer
from humor_tasks.on_inspect.checks import check_cache
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.messages import question
from humor_tasks.on_inspect.providers.batching import Batcher, each
from humor_tasks.on_inspect.providers.local import LocalAPI


class ChooserAPI(LocalAPI):
    """Replies "Answer: X", with log-probabilities of the letters, and the raw scores as metadata.

    Without choices, the reply is "Explanation: " and the best sentence of the scene. Subclasses create the chooser in
    `make`, whose parameters are the `-M` arguments.
    """

    def open(self, model_name: str, **model_args: Any) -> None:
        """See LocalAPI."""
        for name in model_args:
            check_choice(f"-M argument of {type(self).__name__}", name, self.arguments())
        self.chooser = self.make(model_name, **model_args)
        self._batcher: Batcher[Question, list[float]] = Batcher(self._scored, self.batch_size())

    @abc.abstractmethod
    def make(self, model_name: str) -> Chooser:
        """The chooser of this name. Raises BadInput where there is none."""

    def batch_size(self) -> int:
        """See LocalAPI."""
        return self.chooser.batch_size or super().batch_size()

    def arguments(self) -> Sequence[str]:
        """The names of the `-M` arguments: the parameters of `make`."""
        return list(inspect.signature(self.make).parameters)[1:]

    async def score(self, asked: Question) -> list[float]:
        """Scores of one question's choices, batched with other queued questions."""
        return await self._batcher(asked)

    def asked(self, messages: Sequence[ChatMessage]) -> Question:
        """The question in a conversation."""
        return question(messages)

    async def write(self, asked: Question, config: GenerateConfig) -> ModelOutput:
        """The answer to a question without choices."""
        return self._output(f"Explanation: {open_answer(self.chooser, asked)}", None, {})

    def _scored(self, questions: Sequence[Question]) -> list[list[float] | BadInput]:
        return each(partial(grouped.scores, self.chooser), questions)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """See ModelAPI."""
        try:
            check_cache(self.model_name, self.given, config)
            asked = self.asked(input)
            self.chooser.check(asked)
            if not asked.choices:
                return await self.write(asked, config)
            scores = await self.score(asked)
        except BadInput as problem:
            cannot_run(f"model {self.model_name}: {problem}")
        logprobs = log_softmax(scores)
        letters = LETTERS[: len(scores)]
        top = [TopLogprob(token=a, logprob=p) for a, p in zip(letters, logprobs, strict=True)]
        picked = best(scores)
        token = Logprob(token=letters[picked], logprob=logprobs[picked], top_logprobs=top)
        raw = {"scores": dict(zip(letters, scores, strict=True))}
        return self._output(f"Answer: {answer(asked, picked)}", Logprobs(content=[token]), raw)

    def _output(self, text: str, logprobs: Logprobs | None, metadata: dict[str, Any]) -> ModelOutput:
        message = ChatMessageAssistant(content=text, source="generate")
        choice = ChatCompletionChoice(message=message, stop_reason="stop", logprobs=logprobs)
        # Explicit zero usage: nothing is billed, and Inspect does not count tokens.
        return ModelOutput(model=self.model_name, choices=[choice], usage=ModelUsage(), metadata=metadata)
