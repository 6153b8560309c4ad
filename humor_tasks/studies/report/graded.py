"""Graded logs as plain records: explainer, graders, verdicts on each point, tokens and cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from humor_tasks.data.logs import FinishedRun, Usage, read_run
from humor_tasks.data.prices import Price
from humor_tasks.errors import BadInput

ROLE = "grader"  # the model role of the graders


@dataclass(frozen=True)
class GradedPoint:
    """One point of one explanation; `passed` is None where the graders gave no verdict.

    asked: whether graders were asked; false for a reply that the run left out.
    """

    id: str
    cluster: str
    passed: bool | None
    explanation: str | None
    asked: bool = True


@dataclass(frozen=True)
class Spent:
    """Tokens and cost in dollars of one role; `cost` is None where a model has no price."""

    input: int
    output: int
    cost: float | None


@dataclass(frozen=True)
class GradedLog:
    """One finished run.

    `explainer` is None where the explanations were read from another run's log. `grader` is None where this run did
    not pay for the verdicts (graded again, or from the cache). `samples` counts each sample once, independently of the
    number of epochs. `rows` is the number of samples of a complete run.
    """

    path: Path
    model: str
    signature: str
    graders: str
    fingerprint: str | None
    points: tuple[GradedPoint, ...]
    explainer: Spent | None
    grader: Spent | None
    version: str = "-"
    subset: str = "all"
    rows: int | None = None
    samples: int = 0


def read_graded(path: Path, prices: Mapping[str, Price] | None = None, anew: bool = True) -> GradedLog:
    """A log of humor_tasks/humorbench or of `humor-tasks grade`.

    With `anew`, costs are computed from `prices`; otherwise only where the run recorded no cost. Raises BadInput for a
    log of another task, an unfinished log and a log without verdicts.
    """
    run = read_run(path)
    points: list[GradedPoint] = []
    asked: set[str] = set()
    ids: set[str] = set()
    signature = "-"
    for sample in run.samples:
        score = sample.scored_by("element_coverage", "points")
        if score is None:
            raise BadInput(f"{sample.where} has no score of element_coverage.")
        ids.add(sample.id)
        signature = signature if signature != "-" else str(score.details.get("signature") or "-")
        for point in score.details["points"]:
            asked_about = point["passed"] is not None or score.answer is not None
            points.append(GradedPoint(point["id"], sample.cluster, point["passed"], score.answer, asked_about))
            asked |= {word["grader"] for word in point["verdicts"]}
    if not points:
        raise BadInput(f"{path}: holds no verdicts of element_coverage.")
    judges = set(run.graders) | asked
    explainer, grader = _spent(run, judges, prices if anew else None)
    if not anew and prices is not None and None in (explainer.cost, grader.cost):
        priced = _spent(run, judges, prices)
        explainer = explainer if explainer.cost is not None else priced[0]
        grader = grader if grader.cost is not None else priced[1]
    return GradedLog(
        path=path,
        model=run.replayed or run.model,
        signature=run.signature,
        graders=signature,
        fingerprint=run.source.get("fingerprint"),
        points=tuple(points),
        explainer=None if run.replayed else explainer,
        grader=grader if _is_this_runs(run, asked) else None,
        version=run.version,
        subset=_subset(run.signature),
        rows=run.rows,
        samples=len(ids),
    )


def _subset(signature: str) -> str:
    """The subset in the signature of the run that wrote the explanations; a log of `grade` has no such argument."""
    parts = dict(part.partition(":")[::2] for part in signature.split("|"))
    return parts.get("subset", "all")


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


def _is_this_runs(run: FinishedRun, asked: Set[str]) -> bool:
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
