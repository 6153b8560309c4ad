"""Scores of a judge corrected by human labels, and the files that labels and verdicts are read from."""

from __future__ import annotations

import csv
import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from standins.graded_logs import Logs, humor_tasks
from standins.humorbench import ELEMENTS

from humor_tasks.api import Report
from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import Signature
from humor_tasks.results.analysis.verdicts import correct, read_judged, read_labels
from humor_tasks.results.points import GradedPoint, read_graded
from humor_tasks.scorers.correction import prediction_powered, rogan_gladen
from humor_tasks.scorers.proportion import clustered_proportion


def judged_rows(seed: int, rows: int = 60) -> tuple[list[GradedPoint], dict[str, bool]]:
    """Verdicts of an easygoing judge, a few missing, and labels of every third row."""
    draw = random.Random(seed)
    points, labels = [], {}
    for i in range(rows):
        label = draw.random() < 0.6
        said = (label or draw.random() < 0.3) if i % 11 else None
        points.append(GradedPoint(f"{i}-k", f"cartoon-{i // 4}", said, f"Explanation {i}."))
        if i % 3 == 0:
            labels[f"{i}-k"] = label
    return points, labels


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_correction_is_what_the_scorers_say(seed: int) -> None:
    points, labels = judged_rows(seed)
    found = correct(points, labels)
    read = [p for p in points if p.passed is not None]
    rest, both = [p for p in read if p.id not in labels], [p for p in read if p.id in labels]
    human = [labels[p.id] for p in both]
    own = {"clusters": [p.cluster for p in rest], "human_clusters": [p.cluster for p in both]}
    verdicts = [[bool(p.passed) for p in part] for part in (rest, both)]
    expected = {
        "judged": clustered_proportion([float(bool(p.passed)) for p in read], [p.cluster for p in read]),
        "labelled": clustered_proportion([float(label) for label in human], own["human_clusters"]),
        "prediction_powered": prediction_powered(*verdicts, human, **own, proportion=True),
        "rogan_gladen": rogan_gladen(*verdicts, human, **own),
    }
    assert found.without_verdict == len(points) - len(read) == 6
    assert found.missing.value == 0.1
    for passes, word in ((False, "failed"), (True, "passed")):
        filled = [replace(p, passed=passes) if p.passed is None else p for p in points]
        again = correct(filled, labels)
        assert (again.missing.value, again.bounds) == (0, {})
        for name in ("judged", "prediction_powered", "rogan_gladen"):
            expected[f"{name}_missing_{word}"] = again.estimates()[name]
    assert set(found.estimates()) == {*expected, "missing_verdicts"}
    for name, estimate in expected.items():
        assert vars(found.estimates()[name]) == pytest.approx(vars(estimate)), name
    assert found.prediction_powered.n == len(read) < len(points)
    assert found.judged.value > found.rogan_gladen.value  # the judge was easygoing


def table_file(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def human_labels(path: Path) -> list[dict[str, str]]:
    """Labels of every other row, a third of them against the grader."""
    points = read_graded(path).points
    with ELEMENTS.open(newline="", encoding="utf-8") as file:
        corpus = list(csv.DictReader(file))
    rows = []
    for i, (row, point) in enumerate(zip(corpus, points, strict=True)):
        assert point.id.startswith(f"{row['idx']}-")
        label = bool(point.passed) != (i % 3 == 0)
        named = {"id": point.id, "idx": row["idx"], "element": row["element"]}
        rows.append(named | {"label": "PASS" if label else "FAIL", "explanation": f"  {point.explanation}\n"})
    return rows[::2]


@pytest.mark.slow
def test_labels_go_by_id_or_by_idx_and_element(logs: Logs, tmp_path: Path) -> None:
    rows, points = human_labels(logs.of("a", "judge")), read_judged(logs.of("a", "judge"))
    by_id = {row["id"]: row["label"] == "PASS" for row in rows}
    for columns in (("id",), ("idx", "element"), ("id", "explanation"), ("id", "idx", "element")):
        named = [{name: row[name] for name in (*columns, "label")} for row in rows]
        assert read_labels(table_file(tmp_path / "labels.csv", named), points) == by_id, columns
    found = correct(points, by_id)
    read = [p for p in points if p.passed is not None]
    assert found.judged == clustered_proportion([float(bool(p.passed)) for p in read], [p.cluster for p in read])
    assert found.labelled.n == sum(p.passed is not None for p in points if p.id in by_id) < len(by_id)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "pass"}, "labels.csv, line 2: label is 'pass'; it must be PASS or FAIL"),
        ({"label": ""}, "label is ''"),
        ({"id": "1-nobody"}, "1 labelled row: 1-nobody not among the judged rows. Nothing was computed."),
        ({"id": "3-k"}, "labels.csv, line 3: id '3-k' is also that of .*labels.csv, line 2. Remove one of the rows"),
        ({"explanation": "Another one."}, "line 2: labels another explanation than the one that was judged"),
    ],
)
def test_labels_that_do_not_fit(tmp_path: Path, change: dict[str, str], message: str) -> None:
    points, labels = judged_rows(1)
    texts = {p.id: p.explanation or "" for p in points}
    rows = [{"id": k, "label": "PASS" if v else "FAIL", "explanation": texts[k]} for k, v in labels.items()]
    rows[0] |= change
    with pytest.raises(BadInput, match=message):
        read_labels(table_file(tmp_path / "labels.csv", rows), points)


def test_label_files_that_are_none(tmp_path: Path) -> None:
    points, _ = judged_rows(1)
    for rows, message in (
        ([{"id": "0-k", "labels": "PASS"}], "there is no column 'label'.*Did you mean 'labels'"),
        ([{"idx": "0", "label": "PASS"}], "needs a column id, or the columns idx and element"),
    ):
        with pytest.raises(BadInput, match=message):
            read_labels(table_file(tmp_path / "labels.csv", rows), points)
    with pytest.raises(BadInput, match=r"missing\.csv: there is no such file\.$"):
        read_labels(tmp_path / "missing.csv", points)


def test_a_correction_needs_ten_labels_of_rows_with_a_verdict() -> None:
    points, labels = judged_rows(1)
    silent = {p.id: True for p in points if p.passed is None}
    said = {p.id: labels[p.id] for p in points if p.id in labels and p.passed is not None}
    nine, ten = dict(list(said.items())[:9]), dict(list(said.items())[:10])
    for few in ({}, {"3-k": True}, silent, {"3-k": True, **silent}, nine, {**nine, **silent}):
        counted = len([k for k in few if k not in silent])
        message = f"^{counted} of the labelled rows have a verdict; a correction needs at least 10"
        with pytest.raises(BadInput, match=message):
            correct(points, few)
    found = correct(points, ten)
    assert (found.labelled.n, found.prediction_powered.n) == (10, 54)


@pytest.mark.parametrize(("n", "few"), [(10, True), (29, True), (30, False), (150, False)])
def test_a_correction_by_few_labels_says_so(n: int, few: bool) -> None:
    points, _ = judged_rows(1, 300)
    said = [p for p in points if p.passed is not None]
    silent = [p for p in points if p.passed is None]  # which do not count
    labels = {p.id: i % 3 > 0 for i, p in enumerate([*said[:n], *silent])}
    warning = f"{n} labelled rows: below 30 the corrected intervals are too narrow." if few else ""
    assert (correct(points, labels).few, correct(points, labels).labelled.n) == (warning, n)


def test_judged_rows_from_a_csv(tmp_path: Path) -> None:
    points, labels = judged_rows(2)
    words = {True: "PASS", False: "FAIL", None: ""}
    rows = [{"id": p.id, "cluster": p.cluster, "verdict": words[p.passed]} for p in points]
    found = read_judged(table_file(tmp_path / "judged.csv", rows))
    assert [(p.id, p.cluster, p.passed) for p in found] == [(p.id, p.cluster, p.passed) for p in points]
    assert correct(found, labels) == correct(points, labels)
    alone = read_judged(table_file(tmp_path / "alone.csv", [{k: row[k] for k in ("id", "verdict")} for row in rows]))
    assert [p.cluster for p in alone] == [p.id for p in alone]
    named = read_judged(table_file(tmp_path / "named.csv", [{"idx": "7", "element": "A pun.", "verdict": "FAIL"}]))
    assert [(p.id.split("-")[0], p.passed) for p in named] == [("7", False)]
    assert len(named[0].id) == len("7-") + 8
    with pytest.raises(BadInput, match=r"bad.csv, line 2: verdict is 'maybe'; it must be PASS, FAIL or empty"):
        read_judged(table_file(tmp_path / "bad.csv", [{"id": "1", "verdict": "maybe"}]))
    with pytest.raises(BadInput, match=r"line 3: id '1' is also that of .* line 2"):
        read_judged(table_file(tmp_path / "twice.csv", 2 * [{"id": "1", "verdict": "PASS"}]))


def test_correct_for_judge_on_the_command_line(logs: Logs, tmp_path: Path) -> None:
    log = logs.of("a", "judge")
    path = table_file(tmp_path / "labels.csv", human_labels(log))
    points = read_judged(log)
    expected = correct(points, read_labels(path, points))
    shown = humor_tasks("judge", "correct", log, "--labels", path)
    assert shown.exit_code == 0, shown.output
    few, missing = shown.stderr.splitlines()
    assert few == f"Warning: {expected.few}"
    assert re.match(r"Warning: [\d.]+% of the graders' verdicts are missing.*judged is 0\.", missing)
    names = [row.split()[0] for row in shown.stdout.splitlines()[1:5]]
    assert names == ["judged", "labelled", "prediction_powered", "rogan_gladen"]
    assert f"judged:{log.name}|labels:labels.csv|without_verdict:{expected.without_verdict}" in shown.output
    found = json.loads(humor_tasks("judge", "correct", log, "--labels", path, "--json").stdout)
    assert found["metrics"] == Report(expected.estimates(), Signature(), ()).as_dict()["metrics"]
    assert expected.without_verdict > 0


def test_points_that_nobody_was_asked_about_are_not_missing() -> None:
    points, labels = judged_rows(1)
    silent = [replace(p, asked=p.passed is not None) for p in points]
    found = correct(silent, labels)
    assert (found.without_verdict, found.missing.value, found.bounds) == (6, 0, {})


def test_what_cannot_be_known_is_null(tmp_path: Path) -> None:
    points, _ = judged_rows(3)
    rows = [{"id": p.id, "verdict": "PASS" if p.passed else "FAIL"} for p in points]
    judged = table_file(tmp_path / "judged.csv", rows)
    labels = table_file(tmp_path / "labels.csv", [{"id": p.id, "label": "PASS"} for p in points[:12]])
    done = humor_tasks("judge", "correct", judged, "--labels", labels, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout, parse_constant=pytest.fail)["metrics"]
    assert found["rogan_gladen"]["value"] is None  # no FAIL among the labels
    assert found["labelled"]["value"] == 1
    assert math.isfinite(found["prediction_powered"]["value"])
