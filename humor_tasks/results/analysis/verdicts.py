"""Verdicts on the rows of graded logs: pass rates corrected with human labels, and the hard subset.

The hard subset holds the rows with the lowest pass rate over a pool of models (Narad et al. 2025). It depends on the
pool, so the output names its logs. Keys identify rows by (idx, element).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.humorbench.corpus import key
from humor_tasks.contract.judging.missing import BOUNDS, MISSING
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.csv_files import CsvRows, claim, read_csv
from humor_tasks.results.points import GradedLog, GradedPoint, read_graded
from humor_tasks.scorers.correction import ENOUGH, prediction_powered, rogan_gladen
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

VERDICTS = {"PASS": True, "FAIL": False}
LEAST = 10
_KNOWN = ("id", "idx", "element", "cluster", "explanation")


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
    if path.suffix.lower() != ".csv":
        points = list(read_graded(path).points)
        repeated = len(points) - len({point.id for point in points})
        if repeated:
            raise BadInput(f"{path}: holds {repeated} rows more than once (epochs?); a correction needs one each.")
        return points
    table = read_csv(path, ("verdict",), known=_KNOWN, ids=("id", "idx"))
    points = []
    for i, (identity, row) in enumerate(zip(_ids(table), table.rows, strict=True)):
        verdict = row["verdict"].strip()
        if verdict not in (*VERDICTS, ""):
            raise BadInput(f"{table.where(i)}: verdict is {verdict!r}; it must be PASS, FAIL or empty.")
        points.append(GradedPoint(identity, row.get("cluster") or identity, VERDICTS.get(verdict), None))
    return points


def read_labels(path: Path, judged: Sequence[GradedPoint]) -> dict[str, bool]:
    """Human labels by id, from a CSV with the columns label (PASS or FAIL) and id, or idx and element.

    An optional column `explanation` must hold the judged text. Raises BadInput for any other label, a row that was not
    judged, a repeated row and a different explanation.
    """
    table = read_csv(path, ("label",), known=_KNOWN, ids=("id", "idx"))
    known = {point.id: point for point in judged}
    ids = _ids(table)
    unknown = [identity for identity in ids if identity not in known]
    if unknown:
        raise BadInput(f"{path}: {listed('labelled row', unknown)} not among the judged rows. Nothing was computed.")
    labels = {}
    for i, (identity, row) in enumerate(zip(ids, table.rows, strict=True)):
        label = row["label"].strip()
        if label not in VERDICTS:
            raise BadInput(f"{table.where(i)}: label is {label!r}; it must be PASS or FAIL, by a human annotator.")
        written, text = known[identity].explanation, row.get("explanation")
        if text is not None and written is not None and text.split() != written.split():
            raise BadInput(f"{table.where(i)}: labels another explanation than the one that was judged.")
        labels[identity] = VERDICTS[label]
    return labels


def _ids(table: CsvRows) -> list[str]:
    columns = table.rows[0]
    if "id" in columns:
        ids = [row["id"].strip() for row in table.rows]
    elif {"idx", "element"} <= set(columns):
        ids = [key(row["idx"], row["element"]) for row in table.rows]
    else:
        raise BadInput(f"{table.path}: needs a column id, or the columns idx and element.")
    places: dict[str, str] = {}
    for i, identity in enumerate(ids):
        claim(places, identity, table.where(i), "Remove one of the rows.")
    return ids


def correct(judged: Sequence[GradedPoint], labels: Mapping[str, bool]) -> Correction:
    """The corrected pass rates; labelled rows must be a random sample of the judged ones.

    Rows without a verdict are left out of every estimate but the bounds, and counted. Standard errors are clustered by
    the rows' clusters. Raises BadInput for fewer than 10 labelled rows with a verdict.
    """
    estimates, asked = _estimates(judged, labels), [point for point in judged if point.asked]
    without = [float(point.passed is None) for point in asked]
    bounds: dict[str, Estimate] = {}
    for suffix, passes in BOUNDS.items() if any(without) else ():
        filled = [replace(point, passed=passes) if point.passed is None else point for point in asked]
        bounds |= {f"{name}_{suffix}": e for name, e in _estimates(filled, labels).items() if name != "labelled"}
    return Correction(
        **estimates,
        without_verdict=sum(point.passed is None for point in judged),
        missing=clustered_proportion(without, _clusters(asked)),
        bounds=bounds,
    )


def _estimates(judged: Sequence[GradedPoint], labels: Mapping[str, bool]) -> dict[str, Estimate]:
    """The estimates from the rows with a verdict."""
    decided = [point for point in judged if point.passed is not None]
    rest = [point for point in decided if point.id not in labels]
    both = [point for point in decided if point.id in labels]
    if len(both) < LEAST:
        raise BadInput(f"{len(both)} of the labelled rows have a verdict; a correction needs at least {LEAST}.")
    human = [labels[point.id] for point in both]
    verdicts, verdicts_on_labelled = [bool(point.passed) for point in rest], [bool(point.passed) for point in both]
    clusters = {"clusters": _clusters(rest), "human_clusters": _clusters(both)}
    data = [list(map(float, values)) for values in (verdicts, verdicts_on_labelled, human)]
    return {
        "judged": clustered_proportion([float(bool(point.passed)) for point in decided], _clusters(decided)),
        "labelled": clustered_proportion(data[2], _clusters(both)),
        "prediction_powered": prediction_powered(*data, **clusters, proportion=True),
        "rogan_gladen": rogan_gladen(verdicts, verdicts_on_labelled, human, **clusters),
    }


def _clusters(points: Sequence[GradedPoint]) -> list[str]:
    return [point.cluster for point in points]


def hard_subset(logs: Sequence[GradedLog], size: int = 100, min_attempts: int = 3) -> dict[str, Any]:
    """The `size` keys with the lowest pass rate among those with at least `min_attempts` verdicts.

    Of equal rates, the row with more attempts comes first, then that with the smaller SHA-256 of its key, which favours
    no cartoon; the note tells how many rows tie at the cut. Raises BadInput for logs of different data files, when no
    row has enough attempts, and when at most `size` rows have enough.
    """
    files = {log.fingerprint for log in logs if log.fingerprint}
    if len(files) > 1:
        raise BadInput(f"the logs are of {len(files)} different data files; a subset belongs to one.")
    tally: dict[str, list[bool]] = {}
    for log in logs:
        for point in log.points:
            tally.setdefault(point.id, []).extend([] if point.passed is None else [point.passed])
    enough = {key: passes for key, passes in tally.items() if len(passes) >= min_attempts}
    if not enough:
        most = max(map(len, tally.values()), default=0)
        raise BadInput(f"no row has {min_attempts} verdicts; the most is {most}. Give logs of more models or epochs.")
    if len(enough) <= size:
        raise BadInput(f"{len(enough)} rows have {min_attempts} verdicts or more: {size} would be all of them.")
    worth = {key: (sum(passes) / len(passes), -len(passes)) for key, passes in enough.items()}
    keys = sorted(worth, key=lambda key: (*worth[key], hashlib.sha256(key.encode()).hexdigest()))[:size]
    tied = list(worth.values()).count(worth[keys[-1]])
    places = sum(worth[key] == worth[keys[-1]] for key in keys)
    cut = f"; {tied} rows tie at the cut, where {places} fit: a hash of their keys decides" if tied > places else ""
    return {
        "subset": "hard",
        "corpus_sha256": next(iter(files), None),
        "source": {"logs": [{"log": o.path.name, "model": o.model, "grading": str(o.grading)} for o in logs]},
        "note": f"lowest pass rate of {len(enough)} rows with at least {min_attempts} verdicts; "
        f"{len(tally) - len(enough)} rows had fewer{cut}",
        "keys": keys,
        "pass_rates": {key: round(sum(enough[key]) / len(enough[key]), 6) for key in keys},
        "attempts": {key: len(enough[key]) for key in keys},
    }
