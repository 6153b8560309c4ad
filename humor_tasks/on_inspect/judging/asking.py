"""Questions to graders: each question to each of them, in messages; a panel of verdicts for each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspect_ai.model import ChatMessage, ChatMessageAssistant, Content, ContentText, Model
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from humor_tasks.contract.judging.questions import ByAnswer, ByRubric, OwnPrompt, Panel, Question, Verdict
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.checks import check_takes_these
from humor_tasks.on_inspect.errors import cannot_run, first_exception
from humor_tasks.on_inspect.judging.graders import (
    GraderSettings,
    Requests,
    VerdictForm,
    by_answer,
    in_words,
    own_view,
    verdict_of,
    with_markers,
)
from humor_tasks.on_inspect.judging.refusals import Standing
from humor_tasks.on_inspect.messages import (
    asked_last,
    chat_messages,
    in_thread,
    media_of,
    prompt_messages,
    split_first,
)

Standings = Mapping[str, Standing]
"""Grader -> what the run has learned about it."""
_Views = Mapping[tuple[str, ...], Verdict]
"""Judge and texts of a first request -> the judge's own view, as the word of a verdict."""


async def ask(
    judges: Sequence[Model],
    questions: Sequence[Question],
    shows_media: bool,
    how: Requests,
    state: TaskState,
    standings: Standings,
    thinking: str | None,
) -> list[Panel]:
    """The verdicts of all judges on each question; none on a question that is not put.

    shows_media: whether judges see the pictures and clips of the item. thinking: the run's given markers, which may be
    those of the judges.
    """
    asked = [question.request for question in questions if question.request is not None]
    for put in asked:
        if isinstance(put, ByAnswer) and put.needs_logprobs and len(judges) > 1:
            needs = f"{put.needs_logprobs} needs one grader, whose log-probabilities are compared"
            cannot_run(f"{needs}, not {len(judges)}.")
    media = media_of(asked_last(state.messages), f"of sample {state.sample_id}") if asked and shows_media else []
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
