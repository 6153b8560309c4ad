"""A plan of a suite before the first request: items, requests, tokens and cost of every model, and interval widths.

The requests are exact. Tokens in are those of the prompts themselves; tokens out are those of typical replies
(`suites.typical`), or as many as the user expects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.questions import ByAnswer
from humor_tasks.contract.options import parameters_of
from humor_tasks.logs.prices import Price
from humor_tasks.on_inspect.judging.graders import GraderSettings, RubricSettings
from humor_tasks.on_inspect.tasks.building import Repeated
from humor_tasks.rows.records import Prompt, Record
from humor_tasks.suites.members import Member
from humor_tasks.suites.tokens import Counter
from humor_tasks.suites.typical import TEXT, prompt_of, questions_about, typical_reply
from humor_tasks.suites.width import half_width

VERDICT = f"<reasoning>{TEXT}</reasoning>\n<judgement>PASS</judgement>"
"""A judge's reply: its reasons and a verdict."""


class Requests(NamedTuple):
    """Requests to one model: their number, the tokens that it reads, and those that it writes."""

    number: int = 0
    read: int = 0
    written: int = 0

    def plus(self, other: Requests) -> Requests:
        """The sum of both."""
        return Requests(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, factor: int) -> Requests:
        """As many of them."""
        return Requests(*(factor * part for part in self))


@dataclass(frozen=True)
class Asked:
    """A model that is asked. price: None where none is known, and where it costs nothing.

    most_tokens: the limit of a reply; None where it is unknown. reply_tokens: the user's expectation of a reply's
    length; None: that of typical replies.
    """

    name: str
    counter: Counter
    price: Price | None = None
    free: bool = False
    most_tokens: int | None = None
    reply_tokens: int | None = None

    def requests(self, prompts: Iterable[tuple[Prompt, str]]) -> Requests:
        """The requests of these prompts with their replies; a prompt with a first request is two."""
        total = Requests()
        for prompt, reply in prompts:
            written = self._length(reply)
            if prompt.first:
                first = self._length(TEXT)
                total = total.plus(Requests(1, self.counter.prompt(prompt.turns[: prompt.first]), first))
                total = total.plus(Requests(0, first))  # that reply is a turn of the second request
            total = total.plus(Requests(1, self.counter.prompt(prompt.turns), written))
        return total

    def _length(self, reply: str) -> int:
        """The expected tokens of a reply like this one, within the limit."""
        expected = self.counter.text(reply) if self.reply_tokens is None else self.reply_tokens
        return expected if self.most_tokens is None else min(expected, self.most_tokens)

    def cost(self, requests: Requests) -> float | None:
        """US dollars; None where no price is known."""
        if self.free:
            return 0.0
        return None if self.price is None else self.price.cost(requests.read, requests.written)

    def most(self, requests: Requests) -> float | None:
        """US dollars if every reply has the limit's length; None where no price or no limit is known."""
        if self.most_tokens is None:
            return 0.0 if self.free else None
        return self.cost(requests._replace(written=requests.number * self.most_tokens))


@dataclass(frozen=True)
class TaskPlan:
    """A task of the plan.

    items: how many are asked. clusters: what they belong to, such as contests. by_model: model under test -> its
    requests. by_grader: grader -> the requests about the replies of one model under test. half_width: of the main
    metric's interval, in its units; None where it is unknown. notes: what a reader has to know, one sentence each.
    """

    member: Member
    metric: str
    items: int
    clusters: int
    by_model: Mapping[str, Requests]
    by_grader: Mapping[str, Requests]
    half_width: float | None
    notes: tuple[str, ...] = ()


def task_plan(
    member: Member, run: Run[Any], models: Sequence[Asked], graders: Sequence[Asked], limit: int | None
) -> TaskPlan:
    """The plan of one task, of which Inspect takes the first `limit` items."""
    records = run.records[:limit]
    judging = run.benchmark.judging
    epochs = int(member.parameters.get("replicates", Repeated().replicates)) if run.benchmark.uses.repeated else 1
    shown = [run.prompt(record) for record in records]
    prompts: list[tuple[Prompt, str]] = []
    if judging is None or judging.judges_replies:
        prompts = [(prompt, typical_reply(run, record)) for prompt, record in zip(shown, records, strict=True)]
    questions = _questions(member, run, records) if graders else []
    asks = {each.name: each.requests(prompts).times(epochs) for each in models}
    judged = {each.name: each.requests(questions).times(epochs) for each in graders} if questions else {}
    width = half_width(run) if limit is None else None
    return TaskPlan(
        member,
        run.benchmark.metrics[0].name,
        len(records),
        len({record.cluster for record in records}),
        asks,
        judged,
        width,
        tuple(_notes(run, shown)),
    )


def _questions(member: Member, run: Run[Any], records: Sequence[Record]) -> list[tuple[Prompt, str]]:
    """The prompts of all questions to one judge, with its reply.

    Questions about one item that begin with the same first request share it (`Prompt.first`): it is asked once.
    """
    judging = run.benchmark.judging
    if judging is None:
        return []
    given = {name: member.parameters[name] for name in parameters_of(RubricSettings) if name in member.parameters}
    how = RubricSettings(**given) if judging.rubrics else GraderSettings()
    rubrics = judging.open(how.grader_prompts, how.judge_first) if isinstance(how, RubricSettings) else ()
    found = []
    for record in records:
        seen = set()
        for question in questions_about(run, record, rubrics):
            if question.request is None:
                continue
            prompt = prompt_of(question.request, run, record, how.structured)
            first = tuple(turn.text for turn in prompt.turns[: prompt.first])
            put = question.request
            reply = put.form.written(put.form.labels[0]) if isinstance(put, ByAnswer) else VERDICT
            found.append((Prompt(prompt.turns) if first in seen else prompt, reply))
            seen |= {first} if first else set()
    return found


def _notes(run: Run[Any], prompts: Sequence[Prompt]) -> Iterator[str]:
    asked = run.options.budget
    if asked is not None and "budget" not in run.data.provenance:
        yield f"The budget of {asked} holds all of its items."
    if media := sum(len(prompt.media) for prompt in prompts):
        yield f"The tokens of {media:,} pictures and clips are not counted."


@dataclass(frozen=True)
class Plan:
    """The plan of a suite. graders: a panel; each is asked of the replies of every model."""

    tasks: tuple[TaskPlan, ...]
    models: tuple[Asked, ...]
    graders: tuple[Asked, ...]

    def total(self, asked: Asked, grader: bool) -> Requests:
        """The requests to one model over all tasks."""
        total = Requests()
        for task in self.tasks:
            of_task = task.by_grader if grader else task.by_model
            total = total.plus(of_task.get(asked.name, Requests()))
        return total.times(len(self.models)) if grader else total

    @property
    def number(self) -> int:
        """All requests."""
        return sum(self.total(each, False).number for each in self.models) + sum(
            self.total(each, True).number for each in self.graders
        )


def plan_of(
    ready: Sequence[tuple[Member, Run[Any]]],
    models: Sequence[Asked],
    graders: Sequence[Asked],
    limit: int | None = None,
) -> Plan:
    """The plan of these tasks. limit: the first items of each, as Inspect takes them; None: all."""
    tasks = [task_plan(member, run, models, graders, limit) for member, run in ready]
    return Plan(tuple(tasks), tuple(models), tuple(graders))
