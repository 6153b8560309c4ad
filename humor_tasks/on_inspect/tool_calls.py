"""Replies that call a tool. This package's tasks give none: a call ends the turn, and the reply has no answer."""

from __future__ import annotations

from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput
from inspect_ai.solver import Generate, TaskState

MOST_MESSAGES = 100
"""The most messages of a sample after its prompt, whatever solver asks: one that answers tool calls could go on."""


async def answer(state: TaskState, generate: Generate) -> TaskState:
    """The state with the model's reply; where the task gives no tools, the first tool call ends the turn."""
    return await generate(state, tool_calls="loop" if state.tools else "none")


def tool_called(output: ModelOutput) -> str:
    """The tool that an output calls; "" for none."""
    calls = output.choices[0].message.tool_calls if output.choices else None
    return calls[0].function if calls else ""


def left_calling(state: TaskState) -> str:
    """The tool that a sample's last reply calls and that gave no result; "" for other replies.

    An agent's reply that calls a tool of its own, such as one to submit an answer, has a result or is taken out of the
    conversation.
    """
    for message in reversed(state.messages):
        if isinstance(message, ChatMessageTool) and message.error is None:
            return ""
        if isinstance(message, ChatMessageAssistant):
            return message.tool_calls[0].function if message.tool_calls else ""
    return ""
