"""Judges of written captions: each group of ten against the contest's human groups, in both orders."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import partial
from itertools import product
from typing import cast

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from humor_tasks.benchmarks.contract import Run
from humor_tasks.benchmarks.crowd import writing
from humor_tasks.benchmarks.crowd.writing_metrics import WIN_RATES, Verdict
from humor_tasks.data.records import Outcome, Record
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import cannot_run, first_exception
from humor_tasks.on_inspect.judging.graders import CUT_OFF, Graded, Requests, VerdictForm, resolve, verdict_of
from humor_tasks.on_inspect.judging.missing import warn_when_tasks_end
from humor_tasks.on_inspect.logprobs import LIKELIHOODS, letter_logprobs
from humor_tasks.on_inspect.messages import chat_messages
from humor_tasks.on_inspect.modalities import check_takes_these
from humor_tasks.on_inspect.outcomes import read_reply, run_scored_by, score_of
from humor_tasks.on_inspect.prices import register_prices
from humor_tasks.on_inspect.threads import in_thread


def people_scorer(
    grader: str | list[str] | None = None,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """See `humor_tasks.on_inspect.parts.against_people`."""
    register_prices()
    warn_when_tasks_end()
    how = Requests(temperature, seed, cache, retries)

    async def score(state: TaskState, target: Target) -> Score:
        run = run_scored_by("against_people", state)
        o = writing.options_of(run)
        judges = resolve(grader)
        if len(judges) > 1 and o.question().needs_logprobs:
            cannot_run(f"tau={o.tau} needs one grader, whose log-probabilities are compared, not {len(judges)}.")
        signature = f"graders:{','.join(map(str, judges))}|temperature:{how.temperature}|seed:{how.seed}"
        try:
            outcome = read_reply(run, state, target)
            if outcome.answer is None:  # no judge is asked
                return _score(writing.judged(run, outcome, ()), [], signature)
            asked = writing.judges_run(o.question())
            cartoon = writing.cartoon(o, int(outcome.cluster))
            records = writing.comparisons(o.question(), cartoon, outcome.facts["captions"], o.exam)
            questions = [await in_thread(_messages, asked, record) for record in records]
        except BadInput as problem:
            cannot_run(f"sample {state.sample_id}: {problem}")
        try:
            replies = await collect(*_requests(judges, asked, questions, how))
        except BaseExceptionGroup as problems:
            raise first_exception(problems) from None
        panels = [replies[i : i + len(judges)] for i in range(0, len(replies), len(judges))]
        found = [_verdict(record, panel) for record, panel in zip(records, panels, strict=True)]
        logged = [
            verdict._asdict() | {"first": record.groups["first"], "verdicts": [each.as_dict() for each in panel]}
            for verdict, record, panel in zip(found, records, panels, strict=True)
        ]
        return _score(writing.judged(run, outcome, found), logged, f"{signature}|prompts:{asked.prompts_hash}")

    return score


def _messages(asked: Run, record: Record) -> list[ChatMessage]:
    messages: list[ChatMessage] = chat_messages(asked.prompt(record), record, asked, pictures=True)
    return messages


def _requests(
    judges: Sequence[Model], asked: Run, questions: Sequence[list[ChatMessage]], how: Requests
) -> list[Awaitable[Graded]]:
    """A request to each judge for each question, the judges of a question in a row."""
    for judge, messages in product(judges, questions):
        check_takes_these(judge, messages)
    logprobs = asked.options.needs_logprobs
    form = VerdictForm(GenerateConfig(**(LIKELIHOODS if logprobs else {})), partial(_read, asked, logprobs))
    return [verdict_of(judge, list(messages), form, how) for messages in questions for judge in judges]


def _read(asked: Run, logprobs: str, grader: str, output: ModelOutput) -> Graded:
    """The letter in a judge's output, and with a tau the letters' log-probabilities; a truncated output has none."""
    stopped = output.stop_reason if output.choices else "stop"
    answer = asked.form.read(output.completion, stopped == "content_filter")
    told = letter_logprobs(output, asked.form.labels, logprobs) if logprobs else None
    if answer.value is not None and stopped not in CUT_OFF:
        return Graded(grader, answer.value, answer.status, "", None, told)
    return Graded(grader, None, "unparsed" if answer.value else answer.status, "", output.error or output.completion)


def _verdict(record: Record, panel: Sequence[Graded]) -> Verdict:
    """A panel's verdict: the letter of more than half of its judges, None where there is none."""
    letters = [graded.word for graded in panel]
    chosen = next((letter for letter in "AB" if 2 * letters.count(letter) > len(letters)), None)
    told = panel[0].told or {}
    odds = told["A"] - told["B"] if len(told) == 2 else None
    return Verdict(record.groups["pairing"], str(record.target), chosen, odds)


def _score(outcome: Outcome, verdicts: Sequence[object], signature: str) -> Score:
    won = [outcome.values.get(name) for name in WIN_RATES]
    value = "N" if None in won else sum(cast(Sequence[float], won)) / len(won)
    return score_of(outcome, value, verdicts=list(verdicts), signature=signature)
