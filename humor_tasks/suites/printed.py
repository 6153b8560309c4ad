"""A plan as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from humor_tasks.files.tables import safe, table
from humor_tasks.suites.members import Absent
from humor_tasks.suites.plan import Asked, Plan, Requests, TaskPlan


def as_markdown(plan: Plan, absent: Sequence[Absent] = ()) -> str:
    """The tasks in a table, each model with its tokens and cost, notes, and what is left out."""
    head = ["task", "items", "clusters", "requests", "tokens in", "tokens out, about", "interval, about"]
    rows = [_row(plan, task) for task in plan.tasks]
    parts = ["# Plan", table(head, rows)]
    parts.append("\n".join(f"- {safe(line)}" for line in _models(plan)))
    notes = [f"{task.member.name}: {note}" for task in plan.tasks for note in task.notes]
    notes += [
        f"{plan.number:,} requests in all. The intervals are of simulated systems that are right in half of the items, "
        "and are narrower for better or worse ones."
    ]
    parts.append("\n".join(f"- {safe(note)}" for note in notes))
    if own := sorted({each.name for each in plan.models} & {each.name for each in plan.graders}):
        parts[-1] += "\n" + "\n".join(f"- {safe(name)} judges its own replies." for name in own)
    if absent:
        parts.append("Left out:\n\n" + "\n".join(f"- {safe(f'{each.member.name}: {each.why}')}" for each in absent))
    return "\n\n".join(parts) + "\n"


def _row(plan: Plan, task: TaskPlan) -> list[str]:
    asked = task.by_model[plan.models[0].name]
    judged = sum(requests.number for requests in task.by_grader.values())
    number = f"{asked.number:,}" + (f" + {judged:,} to graders" if judged else "")
    width = "-" if task.half_width is None else f"{task.metric} ± {task.half_width:.2f}"
    return [task.member.name, f"{task.items:,}", f"{task.clusters:,}", number, *_tokens(asked), width]


def _tokens(requests: Requests) -> tuple[str, str]:
    return f"{requests.read:,}", f"{requests.written:,}"


def _models(plan: Plan) -> Iterator[str]:
    for asked in plan.models:
        yield _line(asked, plan.total(asked, grader=False), "")
    for asked in plan.graders:
        if (total := plan.total(asked, grader=True)).number:
            yield _line(asked, total, ", as grader")


def _line(asked: Asked, requests: Requests, role: str) -> str:
    read, written = _tokens(requests)
    cost, most = asked.cost(requests), asked.most(requests)
    if asked.free:
        money = "no price: it runs on this machine"
    elif cost is None:
        money = "no price is known (--prices FILE)"
    else:
        money = f"about ${cost:.2f}"
        money += f", at most ${most:.2f} if every reply has {asked.most_tokens:,} tokens" if most is not None else ""
    if not requests.read:
        return f"{asked.name}{role}: {requests.number:,} requests, without tokens; {money}."
    of_replies = (
        "of typical replies, without thinking" if asked.reply_tokens is None else f"of {asked.reply_tokens:,} a reply"
    )
    return (
        f"{asked.name}{role}: {requests.number:,} requests, {read} tokens in ({asked.counter.about}), {written} out "
        f"({of_replies}); {money}."
    )
