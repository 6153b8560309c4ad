"""Graded logs as plain rows: who explained, who graded, what was found, what it took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ModelUsage

from humor_tasks.data.prices import Price
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.judging.graders import ROLE
from humor_tasks.on_inspect.logs import coverage_of, read_log, signature_in


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
    """One finished run.

    `explainer` is None where the explanations came from another harness's log, `grader` where the
    verdicts are not those this run paid for (graded again, or from the cache). `samples` counts each
    once however many epochs there were, `rows` is how many a whole run has.
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

    `prices` prices the tokens anew, or, without `anew`, where no cost was recorded when the model was run.
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
    replayed, source = about.get("explainer"), about.get("source")
    explainer, grader = _spent(log, prices if anew else None)
    if not anew and prices is not None and None in (explainer.cost, grader.cost):
        priced = _spent(log, prices)
        explainer = explainer if explainer.cost is not None else priced[0]
        grader = grader if grader.cost is not None else priced[1]
    return GradedLog(
        path=path,
        model=str(replayed or log.eval.model),
        signature=str(about.get("signature", "-")),
        graders=next((s for sample in log.samples or [] if (s := signature_in(sample))), "-"),
        fingerprint=source.get("fingerprint") if isinstance(source, dict) else None,
        points=points,
        explainer=None if replayed else explainer,
        grader=grader if _is_this_runs(log) else None,
        version=str(log.eval.task_version),
        subset=_subset(str(about.get("signature", "-"))),
        rows=source.get("rows") if isinstance(source, dict) else None,
        samples=len({sample.id for sample in log.samples or []}),
    )


def _subset(signature: str) -> str:
    """From the signature of the run that wrote the explanations; a log of `grade` has no such argument."""
    parts = dict(part.partition(":")[::2] for part in signature.split("|"))
    return parts.get("subset", "all")


def _points(sample: EvalSample, path: Path) -> Iterable[GradedPoint]:
    score = coverage_of(sample)
    if score is None:
        raise BadInput(f"{path}: sample {sample.id} has no score of element_coverage.")
    cluster = str(sample.metadata.get("cluster", sample.id))
    for point in (score.metadata or {})["points"]:
        yield GradedPoint(point["id"], cluster, point["passed"], score.answer)


def _spent(log: EvalLog, prices: Mapping[str, Price] | None) -> tuple[Spent, Spent]:
    """What the explainer and what the graders took: all models' usage less that of the role."""
    role = log.stats.role_usage.get(ROLE, ModelUsage())
    total = sum(log.stats.model_usage.values(), ModelUsage())
    explaining, grading = _costs(log, prices)
    explainer = Spent(_input(total) - _input(role), total.output_tokens - role.output_tokens, explaining)
    return explainer, Spent(_input(role), role.output_tokens, grading)


def _costs(log: EvalLog, prices: Mapping[str, Price] | None) -> tuple[float | None, float | None]:
    """Dollars of the explainer and of the graders, recorded or priced anew.

    None where a model has no price, and where the explainer grades in a panel and is priced anew: its
    tokens cannot be told apart.
    """
    costs = {m: u.total_cost if prices is None else _cost(prices.get(m), u) for m, u in _used(log).items()}
    judges = _judges(log)
    if log.eval.model not in judges:
        apart = [[cost for model, cost in costs.items() if (model in judges) == graded] for graded in (False, True)]
        return _total(apart[0]), _total(apart[1])
    role = log.stats.role_usage.get(ROLE, ModelUsage(total_cost=0.0))
    new = _cost((prices or {}).get(log.eval.model), role) if len(judges) == 1 else None
    whole, part = _total(costs.values()), role.total_cost if prices is None else new
    return (None, None) if whole is None or part is None else (whole - part, part)


def _is_this_runs(log: EvalLog) -> bool:
    """Whether the verdicts are by the models that the run recorded tokens of."""
    by, used = _asked(log), _used(log).keys()
    if log.eval.model in by:  # its tokens may be those of explaining alone
        role, bound = log.stats.role_usage.get(ROLE, ModelUsage()), _bound(log)
        if not _input(role) + role.output_tokens or (bound and log.eval.model not in bound):
            return False
    return by <= used


def _judges(log: EvalLog) -> set[str]:
    """The models bound to the role, and those that the scorer was given."""
    return _bound(log) | _asked(log)


def _asked(log: EvalLog) -> set[str]:
    """The models whose verdicts the log holds."""
    scores = (coverage_of(sample) for sample in log.samples or [])
    points = [point for score in scores if score for point in (score.metadata or {})["points"]]
    return {word["grader"] for point in points for word in point["verdicts"]}


def _used(log: EvalLog) -> dict[str, ModelUsage]:
    """The models that the run recorded tokens of."""
    return {model: usage for model, usage in log.stats.model_usage.items() if _input(usage) + usage.output_tokens}


def _bound(log: EvalLog) -> set[str]:
    bound = (log.eval.model_roles or {}).get(ROLE, [])
    return {config.model for config in (bound if isinstance(bound, list) else [bound])}


def _total(costs: Iterable[float | None]) -> float | None:
    known = list(costs)
    return None if None in known else sum((cost for cost in known if cost is not None), 0.0)


def _cost(price: Price | None, usage: ModelUsage) -> float | None:
    if price is None:
        return None
    cached = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    return price.cost(usage.input_tokens, usage.output_tokens, *cached)


def _input(usage: ModelUsage) -> int:
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
