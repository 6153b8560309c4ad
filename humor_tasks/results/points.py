"""Judges' verdicts in finished runs: on each point of one log, and on the subsets of points of a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from humor_tasks.contract.judging.points import by_points, over_points
from humor_tasks.contract.judging.questions import Panel, damaged, panels_in
from humor_tasks.errors import BadInput
from humor_tasks.logs import LoggedSample, read_run
from humor_tasks.logs.record import Scored
from humor_tasks.logs.signature import Signature
from humor_tasks.results.result import Result
from humor_tasks.rows.records import Outcome
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
    """The verdicts of one finished run. grading: how graders were asked. fingerprint: that of the data file."""

    path: Path
    model: str
    grading: Signature
    fingerprint: str | None
    points: tuple[GradedPoint, ...]


def read_graded(path: Path) -> GradedLog:
    """A log of a task with judged points, or of `humor-tasks grade`.

    Raises BadInput for a log of another task, an unfinished log and a log without verdicts.
    """
    run = read_run(path)
    points: list[GradedPoint] = []
    gradings: dict[bool, Signature] = {}  # by whether a grader was asked
    for sample in run.samples:
        score = sample.scored_by(SCORER)
        if score is None:
            raise BadInput(f"{sample.where} has no score of {SCORER}.")
        gradings.setdefault(score.asked, score.grading)
        points += _points(sample, score)
    if not points:
        raise BadInput(f"{path}: holds no verdicts of {SCORER}.")
    grading = gradings.get(True) or gradings[False]
    return GradedLog(path, run.replayed or run.model, grading, run.source.get("fingerprint"), tuple(points))


def _points(sample: LoggedSample, score: Scored) -> Iterator[GradedPoint]:
    counted = score.outcome is not None and "coverage" in score.outcome.values
    for panel in _panels(sample, score):
        passed = majority(panel.words)
        if score.answer is None:  # nobody was asked: the reply covers nothing, or is left out
            passed = False if counted else None
        asked = passed is not None or score.answer is not None
        yield GradedPoint(panel.about["id"], sample.cluster, passed, score.answer, asked)


def _panels(sample: LoggedSample, score: Scored) -> list[Panel]:
    """The panels of a score. Raises BadInput where one lacks the id of its point, or a point has none."""
    panels = panels_in(score.details, sample.where) or []
    ids = {panel.about.get("id") for panel in panels}
    if lacking := {point.id for point in sample.points} - ids or ids & {None}:
        raise damaged(sample.where, KeyError(next(iter(lacking))))
    return panels


# ---- a result -----------------------------------------------------------------------------------


def with_verdicts(result: Result, subset: str = "") -> Result:
    """The result with the judges that gave its verdicts and, where its benchmark has subsets of points, their parts.

    subset: a further subset, a name or a file; the part of a file has the file's name. Reads the run once more where
    its replies are judged. Raises BadInput for verdicts that cannot be read.
    """
    if result.benchmark.judging is None:
        return result
    subsets = result.benchmark.display.subsets
    judges: set[str] = set()
    judged: list[tuple[Outcome, list[Panel]]] = []
    for sample in result.run.scored():
        for score in sample.scores:
            if score.outcome is not None and score.scorer.rsplit("/", 1)[-1] == result.scorer:
                panels = _panels(sample, score) if subsets else panels_in(score.details, sample.where) or []
                judges |= {verdict.grader for panel in panels for verdict in panel.verdicts}
                judged.append((score.outcome, panels))
    parts = {}
    for name in dict.fromkeys((*subsets.names, subset)) if subsets else ():
        outcomes = tuple(_of_subset(result, judged, name)) if name else ()
        if outcomes:
            parts[part_name(name)] = outcomes
    return replace(result, judges=frozenset(judges), parts=parts)


def part_name(subset: str) -> str:
    """The name of the part of the data that a subset is; of a file its name."""
    return Path(subset).name


def _of_subset(result: Result, judged: Sequence[tuple[Outcome, list[Panel]]], subset: str) -> Iterator[Outcome]:
    """The outcomes over the points of a subset alone; none for all points, which is no part."""
    dataset = str(result.run.source.get("dataset") or "")
    subsets = result.benchmark.display.subsets
    try:
        keys = subsets.keys(subset, dataset) if subsets else None
    except BadInput:  # the sample has no such list
        return
    for outcome, panels in judged:
        chosen = [panel for panel in panels if keys is not None and panel.about["id"] in keys]
        if chosen:
            yield over_points(result.opened, outcome, chosen)
