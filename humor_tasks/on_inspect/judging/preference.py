"""Pairwise comparison by judges: as the task `explanation_preference`, and as a scorer of other tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from inspect_ai.model import ChatMessage, ChatMessageUser, ContentText, Model
from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from humor_tasks.benchmarks.contract import Data, Run
from humor_tasks.benchmarks.pair_verdicts import SIDES, WIN_VALUES, judged_pair, settled
from humor_tasks.benchmarks.preference import EXPLANATION_PREFERENCE, PREFERENCE, PreferenceOptions
from humor_tasks.data.logs.metadata import about
from humor_tasks.data.records import Outcome, Record
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.judging.graders import (
    Asking,
    Graded,
    prepared,
    put,
    resolve,
    rubric_of,
)
from humor_tasks.on_inspect.messages import media_of, turn_messages
from humor_tasks.on_inspect.modalities import check_takes_these
from humor_tasks.on_inspect.outcomes import REASONS, read_reply, reported, run_scored_by


def pair_metrics(scores: list[SampleScore]) -> dict[str, float]:
    """See `humor_tasks.on_inspect.parts.preference_metrics`."""
    return reported(Run(EXPLANATION_PREFERENCE, PreferenceOptions(system="-"), Data((), {}), {}), scores)


def preference_scorer(
    grader: str | list[str] | None = None,
    structured: bool | None = None,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """See `humor_tasks.on_inspect.parts.preference`."""
    asking = prepared(bool(structured), temperature, seed, cache, retries)

    async def score(state: TaskState, target: Target) -> Score:
        asked_for = bool(about(state.metadata).options.get("structured", False))
        how = dataclasses.replace(asking, structured=asked_for if structured is None else structured)
        if about(state.metadata).benchmark != EXPLANATION_PREFERENCE.name:
            return await _against_reference("preference", state, target, grader, how, None)
        record = _record(state)
        panel = [] if record.groups["settled"] else await _asked(resolve(grader), state.messages, how)
        return _score(record, [panel], how)

    return score


def reference_scorer(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """See `humor_tasks.on_inspect.parts.reference_preference`."""
    how = prepared(structured, temperature, seed, cache, retries)

    async def score(state: TaskState, target: Target) -> Score:
        return await _against_reference("reference_preference", state, target, grader, how, prompts)

    return score


async def _against_reference(
    scorer: str, state: TaskState, target: Target, grader: str | list[str] | None, how: Asking, prompts: str | None
) -> Score:
    """The score of a reply that is compared with the sample's target in both orders."""
    run = run_scored_by(scorer, state)
    if state.choices:
        cannot_run(f"sample {state.sample_id}: its target is not a reference text.")
    reference = target[0] if len(target) else ""  # the first of several alternatives
    if not reference.strip():
        cannot_run(f"sample {state.sample_id}: the target has no reference text to compare the reply with.")
    reply = read_reply(run, state, target).answer or ""
    texts = dict(zip(SIDES, (reply, reference), strict=True))
    groups = {"settled": settled(reply, reference, run.options.on_unparsed)}
    facts = {"lengths": [len(reply), len(reference)]}
    record = dataclasses.replace(_record(state), groups=groups, facts=facts)
    if groups["settled"]:
        return _score(record, [[], []], how)
    rubric, judges = rubric_of("preference", prompts, PREFERENCE), resolve(grader)
    question = next(m for m in reversed(state.messages) if isinstance(m, ChatMessageUser))
    context = str(state.metadata.get("context") or question.text)
    panels = []
    for first, second in (SIDES, SIDES[::-1]):
        material = {"context": context, "first": texts[first], "second": texts[second]}
        asked = turn_messages(rubric.ask(material, how.structured).turns)
        asked[-1].content = [*media_of(question, f"of sample {state.sample_id}"), ContentText(text=asked[-1].text)]
        panels.append(await _asked(judges, asked, how))
    return _score(record, panels, how, f"|prompts:{rubric.hash}")


async def _asked(judges: Sequence[Model], messages: list[ChatMessage], how: Asking) -> list[Graded]:
    for judge in judges:
        check_takes_these(judge, messages)
    return list(await collect(*(put(judge, list(messages), PREFERENCE, how) for judge in judges)))


def _record(state: TaskState) -> Record:
    identity = str(state.sample_id)
    cluster, told = str(state.metadata.get("cluster", identity)), about(state.metadata)
    return Record(identity, cluster, {}, "", (), None, told.groups, facts=told.facts)


def _score(record: Record, panels: Sequence[Sequence[Graded]], how: Asking, prompts: str = "") -> Score:
    """The score with the verdict and reasons of every judge."""
    words = [word for panel in panels for word in panel]
    verdicts = [[word.as_dict() for word in panel] for panel in panels]
    outcome = judged_pair(record, verdicts)
    judges = ",".join(dict.fromkeys(word.grader for word in words))
    return Score(
        value=_value(outcome),
        answer=outcome.answer,
        explanation="\n".join(f"{word.grader}, {word.word or 'no verdict'}: {word.reasons}" for word in words),
        reason=REASONS.get(outcome.status),
        metadata={
            **outcome.as_dict(),
            "verdicts": verdicts,
            "signature": f"graders:{judges}|{how.shown()}{prompts}",
        },
    )


def _value(outcome: Outcome) -> float | str:
    """The mean win value of the verdicts; N where one is missing."""
    named = outcome.facts["named"]
    return "N" if set(named) - set(WIN_VALUES) else sum(WIN_VALUES[side] for side in named) / len(named)
