"""Graded logs as plain rows: who explained, who graded, what was found, what it took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ModelUsage

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.graders import ROLE
from humor_tasks.on_inspect.logs import coverage_of, read_log, signature_in
from humor_tasks.prices import Price


@dataclass(frozen=True)
class GradedPoint:
    """One point of one explanation; `passed` is None where graders gave no verdict."""

    id: str
    cluster: str
    passed: bool | None
    explanation: str | None


@dataclass(frozen=True)
class Spent:
    """Tokens and dollars of one role; `cost` is None where a model has no price."""

    input: int
    output: int
    cost: float | None


@dataclass(frozen=True)
class GradedLog:
    """One finished run. `explainer` is None where the explanations came from another harness's log."""

    path: Path
    model: str
    signature: str
    graders: str
    fingerprint: str | None
    points: tuple[GradedPoint, ...]
    explainer: Spent | None
    grader: Spent


def read_graded(path: Path, prices: Mapping[str, Price] | None = None) -> GradedLog:
    """A log of humor_tasks/humorbench or of `humor-tasks grade`.

    `prices` prices the tokens anew; without it the costs are those recorded when the model was run.
    Raises BadInput for a log of something else, one that did not finish, and one without verdicts.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no such log.")
    log = read_log(path)
    if log.status != "success":
        raise BadInput(f"{path}: ended with status {log.status}; finish it with inspect eval-retry.")
    points = tuple(point for sample in log.samples or [] for point in _points(sample, path))
    if not points:
        raise BadInput(f"{path}: holds no verdicts of element_coverage.")
    about = log.eval.metadata or {}
    replayed = about.get("explainer")
    explainer, grader = _spent(log, prices)
    return GradedLog(
        path=path,
        model=str(replayed or log.eval.model),
        signature=str(about.get("signature", "-")),
        graders=next((s for sample in log.samples or [] if (s := signature_in(sample))), "-"),
        fingerprint=about.get("source", {}).get("fingerprint"),
        points=points,
        explainer=None if replayed else explainer,
        grader=grader,
    )


def _points(sample: EvalSample, path: Path) -> Iterable[GradedPoint]:
    score = coverage_of(sample)
    if score is None:
        raise BadInput(f"{path}: sample {sample.id} has no score of element_coverage.")
    cluster = str(sample.metadata.get("cluster", sample.id))
    for point in (score.metadata or {})["points"]:
        yield GradedPoint(point["id"], cluster, point["passed"], score.answer)


def _spent(log: EvalLog, prices: Mapping[str, Price] | None) -> tuple[Spent, Spent]:
    """What the explainer and what the graders took: all models' usage less that of the role."""
    everything = log.stats.model_usage
    role = log.stats.role_usage.get(ROLE, ModelUsage())
    total = sum(everything.values(), ModelUsage())
    recorded = (total.total_cost, role.total_cost)
    costs = recorded if prices is None else _priced(log, prices)
    whole, graders = costs
    rest = None if whole is None or (graders is None and role.total_tokens) else whole - (graders or 0.0)
    explainer = Spent(_input(total) - _input(role), total.output_tokens - role.output_tokens, rest)
    return explainer, Spent(_input(role), role.output_tokens, graders if role.total_tokens else 0.0)


def _priced(log: EvalLog, prices: Mapping[str, Price]) -> tuple[float | None, float | None]:
    used = log.stats.model_usage
    costs = {model: _cost(prices.get(model), usage) for model, usage in used.items()}
    whole = None if None in costs.values() else sum(cost for cost in costs.values() if cost is not None)
    role = log.stats.role_usage.get(ROLE, ModelUsage())
    bound = (log.eval.model_roles or {}).get(ROLE)
    judges = [config.model for config in (bound if isinstance(bound, list) else [bound] if bound else [])]
    if len(set(judges)) == 1:
        return whole, _cost(prices.get(judges[0]), role)
    if log.eval.model in judges:  # a panel that includes the explainer: its tokens cannot be told apart
        return whole, None
    parts = [costs.get(judge) for judge in set(judges)]
    return whole, None if None in parts else sum(part for part in parts if part is not None)


def _cost(price: Price | None, usage: ModelUsage) -> float | None:
    if price is None:
        return None
    cached = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    return price.cost(usage.input_tokens, usage.output_tokens, *cached)


def _input(usage: ModelUsage) -> int:
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
