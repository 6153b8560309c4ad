"""A Chooser as an Inspect model provider."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from humor_tasks.models.chooser import LETTERS, Chooser, Question, best, log_softmax, open_answer
from humor_tasks.on_inspect.messages import question


class ChooserAPI(ModelAPI):
    """Answers "Answer: X" with log-probabilities over the letters and the raw scores as metadata.

    Without choices it answers "Explanation: " and the sentence of the scene it prefers.
    """

    chooser: Chooser

    async def score(self, asked: Question) -> list[float]:
        """Scores of one question's choices; a provider that batches overrides this."""
        return self.chooser.score([asked])[0]

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """See ModelAPI."""
        asked = question(input)
        if not asked.choices:
            return self._output(f"Explanation: {open_answer(self.chooser, asked)}", None, {})
        scores = await self.score(asked)
        logprobs = log_softmax(scores)
        letters = LETTERS[: len(scores)]
        top = [TopLogprob(token=a, logprob=p) for a, p in zip(letters, logprobs, strict=True)]
        picked = best(scores)
        token = Logprob(token=letters[picked], logprob=logprobs[picked], top_logprobs=top)
        raw = {"scores": dict(zip(letters, scores, strict=True))}
        return self._output(f"Answer: {letters[picked]}", Logprobs(content=[token]), raw)

    def _output(self, text: str, logprobs: Logprobs | None, metadata: dict[str, Any]) -> ModelOutput:
        message = ChatMessageAssistant(content=text, source="generate")
        choice = ChatCompletionChoice(message=message, stop_reason="stop", logprobs=logprobs)
        # Zero usage, said explicitly: nothing was billed, and Inspect need not count tokens.
        return ModelOutput(model=self.model_name, choices=[choice], usage=ModelUsage(), metadata=metadata)
