"""Estimates of the human pass rate: judged pass rates, corrected with human labels of a sample of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from humor_tasks.benchmarks.humorbench.corpus import check_distinct, key
from humor_tasks.benchmarks.judging import BOUNDS, MISSING
from humor_tasks.data.rows import CsvRows, read_csv
from humor_tasks.errors import BadInput, listed
from humor_tasks.results.report.graded import GradedPoint, read_graded
from humor_tasks.scorers.correction import ENOUGH, prediction_powered, rogan_gladen
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

VERDICTS = {"PASS": True, "FAIL": False}
LEAST = 10


@dataclass(frozen=True)
class Correction:
    """The judged pass rate, the pass rate of the human labels, two corrected pass rates, and the unjudged rows.

    missing: the share of the rows that graders were asked about without a verdict. bounds: where there are such rows,
    each estimate from verdicts with the missing ones counted as failed and as passed, by NAME_missing_failed and
    NAME_missing_passed.
    """

    judged: Estimate
    labelled: Estimate
    prediction_powered: Estimate
    rogan_gladen: Estimate
    without_verdict: int
    missing: Estimate
    bounds: Mapping[str, Estimate]

    @property
    def few(self) -> str:
        """A warning about too few labels; empty where there are enough."""
        n = self.labelled.n
        return "" if n >= ENOUGH else f"{n} labelled rows: below {ENOUGH} the corrected intervals are too narrow."

    def estimates(self) -> dict[str, Estimate]:
        """The estimates by name, for a report."""
        names = ("judged", "labelled", "prediction_powered", "rogan_gladen")
        return {name: getattr(self, name) for name in names} | {MISSING: self.missing} | dict(self.bounds)


def read_judged(path: Path) -> list[GradedPoint]:
    """Verdicts from a graded log, or from a CSV with the columns verdict (PASS, FAIL or empty) and id, or idx and
    element. An optional column `cluster` gives the clusters for the standard errors.

    Raises BadInput for a repeated row and for any other verdict.
    """
    if path.suffix != ".csv":
        points = list(read_graded(path).points)
        repeated = len(points) - len({point.id for point in points})
        if repeated:
            raise BadInput(f"{path}: holds {repeated} rows more than once (epochs?); a correction needs one each.")
        return points
    found = read_csv(path, ("verdict",))
    ids = _ids(found)
    points = []
    for i, (identity, row) in enumerate(zip(ids, found.rows, strict=True)):
        verdict = row["verdict"].strip()
        if verdict not in (*VERDICTS, ""):
            raise BadInput(f"{found.where(i)}: verdict is {verdict!r}; it must be PASS, FAIL or empty.")
        points.append(GradedPoint(identity, row.get("cluster") or identity, VERDICTS.get(verdict), None))
    return points


def read_labels(path: Path, judged: Sequence[GradedPoint]) -> dict[str, bool]:
    """Human labels by id, from a CSV with the columns label (PASS or FAIL) and id, or idx and element.

    An optional column `explanation` must hold the judged text. Raises BadInput for any other label, a row that was not
    judged, a repeated row and a different explanation.
    """
    found = read_csv(path, ("label",))
    known = {point.id: point for point in judged}
    ids = _ids(found)
    unknown = [identity for identity in ids if identity not in known]
    if unknown:
        raise BadInput(f"{path}: {listed('labelled row', unknown)} not among the judged rows. Nothing was computed.")
    labels = {}
    for i, (identity, row) in enumerate(zip(ids, found.rows, strict=True)):
        label = row["label"].strip()
        if label not in VERDICTS:
            raise BadInput(f"{found.where(i)}: label is {label!r}; it must be PASS or FAIL, by a human annotator.")
        written, text = known[identity].explanation, row.get("explanation")
        if text is not None and written is not None and text.split() != written.split():
            raise BadInput(f"{found.where(i)}: labels another explanation than the one that was judged.")
        labels[identity] = VERDICTS[label]
    return labels


def _ids(found: CsvRows) -> list[str]:
    columns = found.rows[0]
    if "id" in columns:
        ids = [row["id"].strip() for row in found.rows]
    elif {"idx", "element"} <= set(columns):
        ids = [key(row["idx"], row["element"]) for row in found.rows]
    else:
        raise BadInput(f"{found.path}: needs a column id, or the columns idx and element.")
    check_distinct(ids, [found.where(i) for i in range(len(ids))], "row")
    return ids


def correct(judged: Sequence[GradedPoint], labels: Mapping[str, bool]) -> Correction:
    """The corrected pass rates; labelled rows must be a random sample of the judged ones.

    Rows without a verdict are left out of every estimate but the bounds, and counted. Standard errors are clustered by
    the rows' clusters. Raises BadInput for fewer than 10 labelled rows with a verdict.
    """
    found, asked = _estimates(judged, labels), [point for point in judged if point.asked]
    without = [float(point.passed is None) for point in asked]
    bounds: dict[str, Estimate] = {}
    for suffix, passes in BOUNDS.items() if any(without) else ():
        filled = [replace(point, passed=passes) if point.passed is None else point for point in asked]
        bounds |= {f"{name}_{suffix}": e for name, e in _estimates(filled, labels).items() if name != "labelled"}
    return Correction(
        **found,
        without_verdict=sum(point.passed is None for point in judged),
        missing=clustered_proportion(without, [point.cluster for point in asked]),
        bounds=bounds,
    )


def _estimates(judged: Sequence[GradedPoint], labels: Mapping[str, bool]) -> dict[str, Estimate]:
    """The estimates from the rows with a verdict."""
    read = [(point, point.passed) for point in judged if point.passed is not None]
    rest = [(p, float(v)) for p, v in read if p.id not in labels]
    both = [(p, float(v)) for p, v in read if p.id in labels]
    if len(both) < LEAST:
        raise BadInput(f"{len(both)} of the labelled rows have a verdict; a correction needs at least {LEAST}.")
    human = [float(labels[p.id]) for p, _ in both]
    clusters, human_clusters = [p.cluster for p, _ in rest], [p.cluster for p, _ in both]
    data = ([v for _, v in rest], [v for _, v in both], human)
    own = {"clusters": clusters, "human_clusters": human_clusters}
    return {
        "judged": clustered_proportion([float(v) for _, v in read], [p.cluster for p, _ in read]),
        "labelled": clustered_proportion(human, human_clusters),
        "prediction_powered": prediction_powered(*data, **own, proportion=True),
        "rogan_gladen": rogan_gladen(*([bool(v) for v in part] for part in data), **own),
    }
