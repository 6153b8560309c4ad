"""The reply of a sample: its outcome, and what questions about it need."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState

from humor_tasks.contract.answers import LETTER_METRICS, Choice
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.questions import Judging, Reply
from humor_tasks.logs.record import CUT_OFF, TOOL_CALL, TaskMetadata, model_wrote
from humor_tasks.on_inspect.logprobs import letter_logprobs
from humor_tasks.on_inspect.messages import asked_last
from humor_tasks.rows.records import Outcome, Point, Record


def read_reply(run: Run, logged: TaskMetadata, state: TaskState, target: Target) -> Outcome:
    """The outcome of a sample's reply; unparsed where it ends with a call of a tool."""
    identity = str(state.sample_id)
    cluster = str(state.metadata.get("cluster", identity))
    record = Record(identity, cluster, {}, "", (), target.text or None, logged.groups, facts=logged.facts)
    if called := _left_calling(state):
        nothing = run.form.read("")  # a form may have values of every reply
        facts = {**nothing.facts, TOOL_CALL: called}
        return run.scored(record, dataclasses.replace(nothing, value=None, status="unparsed", facts=facts))
    stopped = state.output.stop_reason if state.output.choices else "stop"
    reply, refused = model_wrote(state.output)
    return run.outcome(record, reply, refused, told_of(run, state.output), stopped in CUT_OFF)


def told_of(run: Run, output: ModelOutput) -> dict[str, float]:
    """What the model tells of each letter, by the names of LETTER_METRICS; empty unless the benchmark asks for it.

    Raises CannotRun for a model without log-probabilities where a setting of the run needs them.
    """
    if not run.benchmark.letter_metrics or not isinstance(run.form, Choice):
        return {}
    letters = run.form.letters
    logprobs = letter_logprobs(output, letters, run.options.needs_logprobs, run.options.thinking)
    scores = (output.metadata or {}).get("scores", {})  # of a chooser
    known = {letter: scores[letter] for letter in letters if letter in scores}
    return _named("logprobs", logprobs) | _named("scores", known)


def _named(kind: str, by_letter: Mapping[str, float]) -> dict[str, float]:
    return {f"{LETTER_METRICS[kind]}{letter}": value for letter, value in by_letter.items()}


def reply_of(run: Run[Any], judging: Judging[Any], logged: TaskMetadata, state: TaskState, target: Target) -> Reply:
    """The reply of a sample, for the questions about it."""
    identity = str(state.sample_id)
    ours = logged.benchmark is not None  # in other tasks, metadata of the same names can differ
    points = [Point(f"{identity}-{i}", text) for i, text in enumerate(target, 1) if text.strip()]
    record = Record(
        id=identity,
        cluster=str(state.metadata.get("cluster", identity)),
        fields=state.metadata.get("fields", {}) if ours else {},
        context=str(state.metadata.get("context") or ""),
        choices=tuple(choice.value for choice in state.choices),
        target=target[0] if len(target) else None,  # the first of several alternatives
        groups=logged.groups,
        points=tuple(Point(**point) for point in state.metadata.get("points", ())) if ours else tuple(points),
        facts=logged.facts,
    )
    if judging.judges_replies:
        outcome = read_reply(run, logged, state, target)
    else:
        outcome = Outcome(record.id, record.cluster, record.groups, "answered", None, None, {}, record.facts)
    return Reply(outcome, record, asked_last(state.messages).text, state.input_text)


def _left_calling(state: TaskState) -> str:
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
