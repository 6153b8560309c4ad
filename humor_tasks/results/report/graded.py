"""Graded logs as plain records: explainer, graders, verdicts on each point, tokens and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.card import Subsets
from humor_tasks.benchmarks.judging import damaged, panels_in
from humor_tasks.benchmarks.points import by_points
from humor_tasks.data.logs import FinishedRun, read_run
from humor_tasks.data.prices import Price
from humor_tasks.data.signature import Signature
from humor_tasks.errors import BadInput
from humor_tasks.results.report.spent import Spent, apart, is_this_runs
from humor_tasks.scorers.verdict import majority

SCORER = by_points().scorer


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
class GradedLog:
    """One finished run.

    `grading` says how graders were asked. `explainer` is None where the explanations were read from another run's log.
    `grader` is None where this run did not pay for the verdicts (graded again, or from the cache). `samples` counts
    each sample once, independently of the number of epochs. `rows` is the number of samples of a complete run.
    `subsets` are those of its benchmark.
    """

    path: Path
    model: str
    signature: Signature
    grading: Signature
    fingerprint: str | None
    points: tuple[GradedPoint, ...]
    explainer: Spent | None
    grader: Spent | None
    version: str = "-"
    subset: str = "all"
    rows: int | None = None
    samples: int = 0
    dataset: str | None = None
    subsets: Subsets | None = None

    def keys(self, subset: str, dataset: str = "") -> frozenset[str] | None:
        """The ids of the points in a subset; None for all, and where the benchmark has no subsets."""
        return self.subsets.keys(subset, dataset) if self.subsets else None

    @property
    def graders(self) -> str:
        """The graders' names; "-" where they are not recorded."""
        return self.grading.get("graders", "-")


def read_graded(path: Path, prices: Mapping[str, Price] | None = None, anew: bool = True) -> GradedLog:
    """A log of a task with judged points, or of `humor-tasks grade`.

    With `anew`, costs are computed from `prices`; otherwise only where the run recorded no cost. Raises BadInput for a
    log of another task, an unfinished log and a log without verdicts.
    """
    return graded(read_run(path), prices, anew)


def graded(run: FinishedRun, prices: Mapping[str, Price] | None = None, anew: bool = True) -> GradedLog:
    """`read_graded` for a run that is open already; samples of an unfinished run may have no score."""
    points: list[GradedPoint] = []
    asked: set[str] = set()
    ids: set[str] = set()
    grading = Signature()
    for sample in run.samples:
        score = sample.scored_by(SCORER)
        if score is None and run.status != "success":
            continue
        if score is None:
            raise BadInput(f"{sample.where} has no score of {SCORER}.")
        ids.add(sample.id)
        grading = grading or score.grading
        lost = score.outcome is not None and "coverage" in score.outcome.values
        panels = panels_in(score.details, sample.where) or []
        named = {panel.about.get("id") for panel in panels}
        if lacking := {point.id for point in sample.points} - named or named & {None}:
            raise damaged(sample.where, KeyError(next(iter(lacking))))
        for panel in panels:
            passed = majority(panel.words)
            if score.answer is None:  # nobody was asked: the reply covers nothing, or is left out
                passed = False if lost else None
            asked_about = passed is not None or score.answer is not None
            points.append(GradedPoint(panel.about["id"], sample.cluster, passed, score.answer, asked_about))
            asked |= {verdict.grader for verdict in panel.verdicts}
    if not points:
        raise BadInput(f"{run.path}: holds no verdicts of {SCORER}.")
    judges = set(run.graders) | asked
    benchmark = BENCHMARKS.get(run.benchmark or "")
    explainer, grader = apart(run, judges, prices, anew)
    return GradedLog(
        path=run.path,
        model=run.replayed or run.model,
        signature=run.signature,
        grading=grading,
        fingerprint=run.source.get("fingerprint"),
        points=tuple(points),
        explainer=None if run.replayed else explainer,
        grader=grader if is_this_runs(run, asked) else None,
        version=run.version,
        subset=run.signature.get("subset", "all"),  # of the run that wrote the explanations
        rows=run.rows,
        samples=len(ids),
        dataset=run.source.get("dataset"),
        subsets=benchmark.display.subsets if benchmark else None,
    )
