"""Tokens and cost of a run, of its system and of its graders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from humor_tasks.data.logs import FinishedRun, Usage
from humor_tasks.data.prices import Price

ROLE = "grader"  # the model role of the graders


@dataclass(frozen=True)
class Spent:
    """Tokens and cost in dollars of one role; `cost` is None where a model has no price."""

    input: int
    output: int
    cost: float | None


Both = tuple[Spent | None, Spent | None]
"""Of the system and of the graders; None for who used no model in the run."""


def spent_of(run: FinishedRun, judged: bool, prices: Mapping[str, Price] | None = None, anew: bool = False) -> Both:
    """Tokens and cost of the system and of the graders. In a judged run, every other model than the system grades."""
    used = _used(run)
    judges = (set(run.graders) | used.keys() - {run.model}) if judged else set(run.graders)
    system, graders = apart(run, judges, prices, anew)
    took_part = run.models and not run.replayed and not (judged and run.model not in run.models)
    return system if took_part else None, graders if judges & used.keys() else None


def apart(
    run: FinishedRun, judges: Set[str], prices: Mapping[str, Price] | None = None, anew: bool = False
) -> tuple[Spent, Spent]:
    """Tokens and cost of the system and of the graders, where the run has these `judges`.

    With `anew`, costs are computed from `prices`; otherwise only where the run recorded no cost.
    """
    system, graders = _spent(run, judges, prices if anew else None)
    if not anew and prices is not None and None in (system.cost, graders.cost):
        priced = _spent(run, judges, prices)
        system = system if system.cost is not None else priced[0]
        graders = graders if graders.cost is not None else priced[1]
    return system, graders


def _spent(run: FinishedRun, judges: Set[str], prices: Mapping[str, Price] | None) -> tuple[Spent, Spent]:
    """Usage of the explainer and of the graders; the explainer's is the usage of all models minus that of the role."""
    role = run.roles.get(ROLE, Usage())
    explaining, grading = _costs(run, judges, prices)
    used = run.models.values()
    explainer = Spent(
        sum(u.all_input for u in used) - role.all_input, sum(u.output for u in used) - role.output, explaining
    )
    return explainer, Spent(role.all_input, role.output, grading)


def _costs(run: FinishedRun, judges: Set[str], prices: Mapping[str, Price] | None) -> tuple[float | None, float | None]:
    """Cost of the explainer and of the graders in dollars, as recorded or computed from `prices`.

    `judges` are the models bound to the role and the models passed to the scorer. The cost is None where a model has
    no price. It is also None where the explainer is also one of several graders and `prices` are given, because the
    log does not separate its tokens for explaining and for grading.
    """
    costs = {m: u.cost if prices is None else _cost(prices.get(m), u) for m, u in _used(run).items()}
    if run.model not in judges:
        apart = [[cost for model, cost in costs.items() if (model in judges) == graded] for graded in (False, True)]
        return _total(apart[0]), _total(apart[1])
    role = run.roles.get(ROLE, Usage(cost=0.0))
    new = _cost((prices or {}).get(run.model), role) if len(judges) == 1 else None
    whole, part = _total(costs.values()), role.cost if prices is None else new
    return (None, None) if whole is None or part is None else (whole - part, part)


def is_this_runs(run: FinishedRun, asked: Set[str]) -> bool:
    """Whether the run recorded tokens of every model in `asked`, the models that gave the verdicts."""
    if run.model in asked:  # its tokens may be from explaining only
        role = run.roles.get(ROLE, Usage())
        if not role.all_input + role.output or (run.graders and run.model not in run.graders):
            return False
    return asked <= _used(run).keys()


def _used(run: FinishedRun) -> dict[str, Usage]:
    """The models for which the run recorded tokens."""
    return {model: usage for model, usage in run.models.items() if usage.all_input + usage.output}


def _total(costs: Iterable[float | None]) -> float | None:
    known = list(costs)
    return None if None in known else sum((cost for cost in known if cost is not None), 0.0)


def _cost(price: Price | None, usage: Usage) -> float | None:
    return None if price is None else price.cost(usage.input, usage.output, usage.cache_read, usage.cache_write)
