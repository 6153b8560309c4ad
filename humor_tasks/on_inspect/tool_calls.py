"""Replies that call a tool. This package's tasks give none: a call ends the turn, and the reply has no answer."""

from __future__ import annotations

from inspect_ai.model import ModelOutput
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
