"""Pairwise comparison by judges: as the task `explanation_preference`, and as a scorer of other tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from inspect_ai.model import ChatMessage, ChatMessageUser, ContentText, Model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
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


@solver
def left_to_judges() -> Solver:
    """Does nothing, because the judges are called in the scorer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve


@metric(scores="unreduced")
def preference_metrics() -> Metric:
    """Win rates with confidence intervals and measures of the judges' reliability, over all pairs."""

    def compute(scores: list[SampleScore]) -> Value:
        run = Run(EXPLANATION_PREFERENCE, PreferenceOptions(system="-"), Data((), {}), {})
        return reported(run, scores)

    return compute


@scorer(metrics=[preference_metrics()])
def preference(
    grader: str | list[str] | None = None,
    structured: bool | None = None,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """The judges' verdict on two texts: those of a sample of `explanation_preference`, or a reply and its reference.

    In any other task with a reference text as its target, it is `reference_preference` with the packaged templates.

    The verdict of a panel is that of more than half of its judges; without such a majority, it is a tie if all judges
    gave a verdict. The score is 1 where the system is preferred, .5 for a tie, 0 otherwise, and N without a verdict.

    Args:
        grader: Model or models that judge; by default those bound to the model role `grader`.
        structured: Request a JSON verdict through the provider's structured output; by default as in the task.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
    """
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


@scorer(metrics=[preference_metrics()])
def reference_preference(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """Whether judges prefer the reply to the reference, judged in both orders; EXPAcc is the metric `preferred`.

    This scorer is for `explanation` and `mock_explaining`, and for any task with a reference text as its target. It
    compares the reply without its reasoning block with the reference. Judges see the sample's metadata `context`,
    otherwise the question's text, and the question's pictures.

    Args:
        grader: Model or models that judge; by default those bound to the model role `grader`.
        structured: Request a JSON verdict through the provider's structured output.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        prompts: Folder whose `prefer.txt` and `verdict.*.txt` replace the packaged templates.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
    """
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
