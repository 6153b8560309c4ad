"""Replies with log-probabilities, as providers give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, Logprob, Logprobs, ModelOutput, TopLogprob


def reply_with_logprobs(
    text: str, tokens: Iterable[tuple[str, Mapping[str, float] | None]], model: str = "mockllm/model"
) -> ModelOutput:
    """A reply whose tokens have these likeliest tokens with their log-probabilities; None: the provider gave none."""
    content = [
        Logprob(
            token=token,
            logprob=-0.1,
            top_logprobs=None if top is None else [TopLogprob(token=t, logprob=x) for t, x in top.items()],
        )
        for token, top in tokens
    ]
    choice = ChatCompletionChoice(message=ChatMessageAssistant(content=text), logprobs=Logprobs(content=content))
    return ModelOutput(model=model, choices=[choice])
