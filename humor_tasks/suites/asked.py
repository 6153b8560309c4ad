"""The models of a run: opened, with what a plan needs of each, and what keeps them from being asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.logs.prices import Price
from humor_tasks.on_inspect.eval_sets import Opened, open_for_plan, refuses
from humor_tasks.suites.members import Absent, Member, check_left
from humor_tasks.suites.plan import Asked
from humor_tasks.suites.tokens import Counter, counter_of, nothing


@dataclass(frozen=True)
class Models:
    """Models under test and graders. problems: of those that cannot be asked, one sentence each with the remedy."""

    models: tuple[Opened, ...]
    graders: tuple[Opened, ...]
    problems: tuple[str, ...]


def open_models(
    names: Sequence[str],
    graders: Sequence[str],
    arguments: Sequence[str] = (),
    base_url: str | None = None,
    most: int | None = None,
) -> Models:
    """The models by name. arguments, base_url, most (tokens of a reply): of the models under test.

    Raises BadInput for a model that is named twice.
    """
    for what, given in (("--model", names), ("--grader", graders)):
        if twice := next((name for name in given if given.count(name) > 1), None):
            raise BadInput(f"{what} {twice}: is given twice.")
    models = tuple(open_for_plan(name, arguments, base_url, most=most) for name in names)
    panel = tuple(open_for_plan(name, (), None, role="grader") for name in graders)
    problems = [each.problem for each in (*models, *panel) if each.problem]
    problems += [
        f"grader {each.name}: writes no verdict; name a language model." for each in panel if each.reads_no_tokens
    ]
    return Models(models, panel, tuple(problems))


def asked_of(
    opened: Opened,
    prices: Mapping[str, Price],
    tokenizer: str | None = None,
    reply_tokens: int | None = None,
) -> Asked:
    """What the plan needs of a model; see `plan.Asked`. Raises BadInput as `counter_of` does."""
    arguments = opened.model.model_args if opened.model else {}
    counter: Counter = nothing() if opened.reads_no_tokens else counter_of(opened.name, arguments, tokenizer)
    expected = 0 if opened.reads_no_tokens else reply_tokens
    price = prices.get(opened.name)
    return Asked(opened.name, counter, price, opened.here and price is None, opened.most_tokens, expected)


def without_refused(
    ready: Sequence[tuple[Member, Run[Any]]], models: Sequence[Opened]
) -> tuple[list[tuple[Member, Run[Any]]], list[Absent]]:
    """The members that every model can be asked, and the others. Raises BadInput as `check_left` does."""
    kept: list[tuple[Member, Run[Any]]] = []
    absent: list[Absent] = []
    for member, run in ready:
        judged_only = run.benchmark.judging is not None and not run.benchmark.judging.judges_replies
        asked = [] if judged_only else [each.model for each in models if each.model]
        why = next((why for model in asked if (why := refuses(model, run))), None)
        if why:
            absent.append(Absent(member, why))
        else:
            kept.append((member, run))
    check_left(kept, absent)
    return kept, absent
