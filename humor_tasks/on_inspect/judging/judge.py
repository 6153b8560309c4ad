"""The scorer of every judged benchmark: it puts the questions of `Judging` to graders and scores their verdicts."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Content, ContentText, Model
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from humor_tasks.benchmarks.preference import judging_of
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.judging.questions import (
    JUDGED,
    ByAnswer,
    ByRubric,
    Judging,
    OwnPrompt,
    Panel,
    Question,
    Reply,
    Verdict,
    logged,
)
from humor_tasks.contract.judging.rubrics import SETS, Rubric
from humor_tasks.contract.options import ALL
from humor_tasks.contract.prompts import folder_of
from humor_tasks.contract.variations import Variation
from humor_tasks.errors import BadInput
from humor_tasks.logs.record import TaskMetadata
from humor_tasks.logs.signature import Signature
from humor_tasks.on_inspect.checks import check_takes_these
from humor_tasks.on_inspect.client import register_prices
from humor_tasks.on_inspect.errors import cannot_run, first_exception
from humor_tasks.on_inspect.hooks import warn_when_tasks_end
from humor_tasks.on_inspect.judging.graders import (
    ALL_SETS,
    VerdictForm,
    by_answer,
    in_words,
    own_view,
    resolve,
    verdict_of,
    with_markers,
)
from humor_tasks.on_inspect.judging.graders import GraderSettings as GraderSettings
from humor_tasks.on_inspect.judging.graders import Requests as Requests
from humor_tasks.on_inspect.judging.graders import RubricSettings as RubricSettings
from humor_tasks.on_inspect.judging.refusals import OURS, Standing
from humor_tasks.on_inspect.messages import chat_messages, in_thread, media_of, prompt_messages, split_first
from humor_tasks.on_inspect.outcomes import opened_for
from humor_tasks.on_inspect.scorers import read_reply, score_of
from humor_tasks.rows.records import VARIATION, Outcome, Point, Record


class Judge:
    """A scorer.

    name: its public name. like: the benchmark that samples of other packages' tasks are taken for. grader: the models
    that judge; None for those of the role `grader`. how: the settings of requests. prompts: folder of templates that
    replace packaged ones. as_in_task: whether the task's `structured` takes the place of that of `how`.
    data: of the task's run, where the scorer was made for a task; a log is judged without it.
    """

    def __init__(
        self,
        name: str,
        like: str | Benchmark[Any],
        grader: str | list[str] | None,
        how: Requests,
        prompts: str | None = None,
        as_in_task: bool = False,
    ) -> None:
        register_prices()
        warn_when_tasks_end()
        self.name, self.like, self.grader, self.how = name, like, grader, how
        self.prompts, self.as_in_task = prompts, as_in_task
        if prompts and isinstance(how, RubricSettings) and how.grader_prompts:
            cannot_run(f"{name}: prompts={prompts} and {SETS}={how.grader_prompts} name the same templates; give one.")
        self.data: Data | None = None
        self.standings: defaultdict[str, Standing] = defaultdict(Standing)  # by grader, of this run

    async def __call__(self, state: TaskState, target: Target) -> Score:
        """The score of a sample's reply."""
        run, logged_metadata = opened_for(self.name, state, self.like)
        judging = judging_of(run)
        assert judging is not None  # others are refused
        try:
            how, rubrics, hashes = self._opened(run, judging, logged_metadata)
            run = run if self.data is None else dataclasses.replace(run, data=self.data)
            reply = reply_of(run, judging, logged_metadata, state, target)
            questions = await in_thread(judging.questions, run, reply, rubrics)
        except BadInput as problem:
            cannot_run(f"sample {state.sample_id}: {problem}")
        judges = resolve(self.grader)
        panels = await _ask(judges, questions, judging, how, state, self.standings, run.options.thinking)
        if self.data is not None:
            _note(state, reply.outcome)
        score = _score(judging, judging.outcome(run, reply.outcome, panels), questions, panels)
        (score.metadata or {})["signature"] = str(_signature(judges, how, hashes, questions, self.standings))
        return score

    def _opened(
        self, run: Run[Any], judging: Judging[Any], logged_metadata: TaskMetadata
    ) -> tuple[Requests, list[Rubric], list[str]]:
        """The settings, the rubrics of this sample, and the hashes of those of all samples."""
        how = self.how
        if self.as_in_task and isinstance(how, GraderSettings):
            how = dataclasses.replace(how, structured=logged_metadata.options.get("structured", False))
        chosen, first = (how.grader_prompts, how.judge_first) if isinstance(how, RubricSettings) else (None, "none")
        if run.judged_under:
            if chosen not in (None, ALL):
                sets = ", ".join(run.judged_under)
                raise BadInput(f"{SETS}={chosen}: its reply is judged under sets {sets}; leave {SETS} out.")
            how = dataclasses.replace(how, grader_prompts=ALL) if isinstance(how, RubricSettings) else how
            asked = Variation(**logged_metadata.facts[VARIATION])
            return how, judging.open(asked.prompts, first), judging.hashes(run.judged_under, first)
        if chosen == ALL:
            raise BadInput(ALL_SETS)
        name = SETS if chosen else "prompts"
        rubrics = judging.open(chosen or self.prompts or folder_of(run.options.prompts), first, name)
        return how, rubrics, [rubric.hash for rubric in rubrics]


# ---- the reply ------------------------------------------------------------------------------------


def reply_of(
    run: Run[Any], judging: Judging[Any], logged_metadata: TaskMetadata, state: TaskState, target: Target
) -> Reply:
    """The reply of a sample, for the questions about it."""
    identity = str(state.sample_id)
    ours = logged_metadata.benchmark is not None  # in other tasks, metadata of the same names can differ
    points = [Point(f"{identity}-{i}", text) for i, text in enumerate(target, 1) if text.strip()]
    record = Record(
        id=identity,
        cluster=str(state.metadata.get("cluster", identity)),
        fields=state.metadata.get("fields", {}) if ours else {},
        context=str(state.metadata.get("context") or ""),
        choices=tuple(choice.value for choice in state.choices),
        target=target[0] if len(target) else None,  # the first of several alternatives
        groups=logged_metadata.groups,
        points=tuple(Point(**point) for point in state.metadata.get("points", ())) if ours else tuple(points),
        facts=logged_metadata.facts,
    )
    if judging.judges_replies:
        outcome = read_reply(run, logged_metadata, state, target)
    else:
        outcome = Outcome(record.id, record.cluster, record.groups, "answered", None, None, {}, record.facts)
    return Reply(outcome, record, _asked_last(state).text, state.input_text)


def _asked_last(state: TaskState) -> ChatMessageUser:
    return next(message for message in reversed(state.messages) if isinstance(message, ChatMessageUser))


def _note(state: TaskState, outcome: Outcome) -> None:
    """Keep the reply's facts in the sample, because those that need the data cannot be found in a log."""
    if (entry := state.metadata.get("humor_tasks")) is not None:
        state.metadata["humor_tasks"] = {**entry, "facts": {**entry["facts"], **outcome.facts}}


# ---- the judges -----------------------------------------------------------------------------------


async def _ask(
    judges: Sequence[Model],
    questions: Sequence[Question],
    judging: Judging[Any],
    how: Requests,
    state: TaskState,
    standings: Standings,
    thinking: str | None,
) -> list[Panel]:
    """The verdicts of all judges on each question; none on a question that is not put.

    thinking: the run's given markers, which may be those of the judges.
    """
    asked = [question.request for question in questions if question.request is not None]
    for put in asked:
        if isinstance(put, ByAnswer) and put.needs_logprobs and len(judges) > 1:
            needs = f"{put.needs_logprobs} needs one grader, whose log-probabilities are compared"
            cannot_run(f"{needs}, not {len(judges)}.")
    media = media_of(_asked_last(state), f"of sample {state.sample_id}") if asked and judging.shows_media else []
    try:
        messages = [await in_thread(_messages, put, how, state, media) for put in asked]
    except BadInput as problem:
        cannot_run(f"sample {state.sample_id}: {problem}")
    for judge in judges:
        for question_messages in messages:
            check_takes_these(judge, question_messages)
    try:
        views = await _views(judges, messages, how, standings, thinking)
        requests = [
            _verdict(
                judge, question_messages, with_markers(_form(put, how), thinking), how, views, standings[str(judge)]
            )
            for question_messages, put in zip(messages, asked, strict=True)
            for judge in judges
        ]
        verdicts = iter(await collect(*requests))
    except BaseExceptionGroup as problems:
        raise first_exception(problems) from None
    return [Panel(q.about, tuple(next(verdicts) for _ in judges) if q.request is not None else ()) for q in questions]


Standings = Mapping[str, Standing]
"""Grader -> what the run has learned about it."""
_Views = Mapping[tuple[str, ...], Verdict]
"""Judge and texts of a first request -> the judge's own view, as the word of a verdict."""


async def _views(
    judges: Sequence[Model],
    messages: Sequence[Sequence[ChatMessage]],
    how: Requests,
    standings: Standings,
    thinking: str | None,
) -> _Views:
    """The own view of each judge, by one request for all questions about the same item."""
    firsts = [first for question_messages in messages if (first := split_first(question_messages)[0])]
    asked = {_key(judge, first): (judge, first) for first in firsts for judge in judges}
    form = with_markers(own_view(), thinking)
    found = await collect(
        *(verdict_of(judge, first, form, how, standings[str(judge)]) for judge, first in asked.values())
    )
    return dict(zip(asked, found, strict=True))


def _key(judge: Model, first: Sequence[ChatMessage]) -> tuple[str, ...]:
    return (str(judge), *(message.text for message in first))


async def _verdict(
    judge: Model,
    messages: Sequence[ChatMessage],
    form: VerdictForm,
    how: Requests,
    views: _Views,
    standing: Standing,
) -> Verdict:
    """A judge's verdict on a question. Without its own view, where that is asked for, there is none."""
    first, rest = split_first(messages)
    if not first:
        return await verdict_of(judge, rest, form, how, standing)
    view = views[_key(judge, first)]
    if view.word is None:
        return view
    return await verdict_of(judge, [*first, ChatMessageAssistant(content=view.word), *rest], form, how, standing)


def _messages(
    put: ByRubric | ByAnswer | OwnPrompt, how: Requests, state: TaskState, media: Sequence[Content]
) -> list[ChatMessage]:
    """A question with the pictures and clips that are `shown`; the item's own prompt has them already."""
    if isinstance(put, OwnPrompt):
        return list(state.messages)
    if isinstance(put, ByAnswer):
        messages = chat_messages(put.prompt, put.record, put.form, put.length, pictures=True)
    else:
        messages = prompt_messages(put.rubric.ask(put.material, _structured(how)))
    if media:
        shows = (split_first(messages)[0] or messages)[-1]
        shows.content = [*media, ContentText(text=shows.text)]
    return messages


def _form(put: ByRubric | ByAnswer | OwnPrompt, how: Requests) -> VerdictForm:
    if isinstance(put, ByAnswer):
        return by_answer(put)
    return in_words(put.rubric.judgement if isinstance(put, ByRubric) else put.judgement, _structured(how))


def _structured(how: Requests) -> bool:
    return isinstance(how, GraderSettings) and how.structured


# ---- the score ------------------------------------------------------------------------------------


def _score(judging: Judging[Any], outcome: Outcome, questions: Sequence[Question], panels: Sequence[Panel]) -> Score:
    """The score with the verdict and reasons of every judge; N where there is no value."""
    value = judging.value(outcome)
    lines: list[str] = []
    for question, panel in zip(questions, panels, strict=True):
        if question.title:
            verdict = judging.panel(panel.words) if panel.verdicts else None
            lines.append(f"{_word(verdict)}: {question.title}")
        mark = "- " if question.title else ""
        lines += [f"{mark}{v.grader}, {_word(v.word)}: {v.reasons}" for v in panel.verdicts]
    verdicts_logged = {JUDGED: logged(judging, panels)}
    missing = judging.missing_reason(outcome) if value is None else None
    return score_of(outcome, value, "\n".join(lines), missing, **verdicts_logged)


def _word(word: Any) -> str:
    if isinstance(word, bool):
        return "PASS" if word else "FAIL"
    return "no verdict" if word is None else str(word)


def _signature(
    judges: Sequence[Model],
    how: Requests,
    hashes: Sequence[str],
    questions: Sequence[Question],
    standings: Standings,
) -> Signature:
    """Who judged, and how: for a score's metadata. hashes: of the rubrics.

    What was left out for all judges is signed as `none`; otherwise an entry has what each of them was not sent.
    """
    left_out = {str(judge): standings[str(judge)].left_out for judge in judges}
    of_all = [name for name in OURS if all(name in names for names in left_out.values())]
    lacking = [f"{judge}-{n}" for judge, names in left_out.items() for n in names if n not in of_all]
    others = dict.fromkeys(q.request.prompts for q in questions if isinstance(q.request, ByAnswer))
    prompts = ",".join([*hashes, *others])
    about = {"graders": ",".join(map(str, judges)), **how.without(of_all).signature_entries()}
    about |= {"left_out": ",".join(lacking)} if lacking else {}
    return Signature(about | ({"prompts": prompts} if prompts else {}))
