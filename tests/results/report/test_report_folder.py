"""`humor-tasks report -o FOLDER`: the charts, and a folder that is replaced as a whole or not at all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from standins.predictions import always_a, explanations, predicted_results, rated_alike, target_of, together

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.results import read_results
from humor_tasks.results.figures import Axis, Chart, Point, Reference, Series, can_draw, drawn
from humor_tasks.results.report import folder
from humor_tasks.results.report.build import Report, build_report
from humor_tasks.results.report.folder import MARKER, write_report
from humor_tasks.scorers.bounded_mean import bounded_mean
from humor_tasks.testing.judges import verdict_reply


def chart(report: Report, name: str) -> Chart:
    return next(each for each in report.charts if each.name == name)


def test_charts_have_the_estimates_of_the_runs(tmp_path: Path) -> None:
    ranked = predicted_results(tmp_path / "rank.json", always_a, "ranking")
    results = together(
        predicted_results(tmp_path / "first.json", always_a),
        predicted_results(tmp_path / "right.json", target_of),
        ranked,
    )
    report = build_report(results)
    by_shots = chart(report, "matching_by_shots")
    assert by_shots.x.categories == ("right", "first")
    assert [(p.x, p.y) for p in by_shots.series[0].points] == [("right", 1.0), ("first", 0.2)]
    assert [(each.label, each.value) for each in by_shots.references] == [
        ("people (other setting)", 0.94),
        ("best published: GPT-4, 5-shot (other fold)", 0.845),
        ("baseline: Random (other fold)", 0.2),
    ]
    (only,) = chart(report, "ranking_people").series
    estimates = ranked.results[0].estimates
    assert only.points[0].x == estimates["ny_accuracy"].value
    assert only.points[0].y == estimates["crowd_accuracy"].value
    assert [(r.axis, r.value) for r in chart(report, "ranking_people").references] == [("x", 0.646), ("y", 0.837)]


def test_a_run_of_all_folds_has_a_chart_of_its_folds(tmp_path: Path) -> None:
    report = build_report(predicted_results(tmp_path / "all.json", always_a, fold="all"))
    series = {each.name: each.points[0].y for each in chart(report, "folds_matching").series}
    estimates = report.results.results[0].estimates
    assert series == {"mean of the folds": estimates["accuracy"].value} | {
        f"fold{i}": estimates[f"accuracy_fold{i}"].value for i in range(5)
    }


def test_error_and_calibration_of_a_rater_who_always_says_one(tmp_path: Path) -> None:
    report = build_report(rated_alike(tmp_path / "one.json", "1"))
    targets = [float(o.target or "nan") for o in report.results.results[0].outcomes]
    (calibrated,) = chart(report, "humicroedit_calibration").series[0].points
    assert (calibrated.x, calibrated.y) == (1.0, pytest.approx(sum(targets) / len(targets)))
    rated = bounded_mean(targets, [o.cluster for o in report.results.results[0].outcomes], 0, 3)
    assert (calibrated.low, calibrated.high) == (rated.low, rated.high)
    error = {p.x: p.y for p in chart(report, "humicroedit_error").series[0].points}
    lowest = [abs(target - 1) for target in targets if target < 0.2]
    assert error[0.1] == pytest.approx(sum(lowest) / len(lowest))


def test_a_judge_that_likes_what_comes_first_is_seen(tmp_path: Path) -> None:
    run = load("explanation_preference", dataset="sample", system=str(explanations(tmp_path)))
    (tmp_path / "judge.json").write_text(json.dumps({record.id: verdict_reply("A") for record in run.records}))
    report = build_report(read_results([tmp_path / "judge.json"], run))
    shown = {each.name: each.points[0].y for each in chart(report, "judge_bias_explanation_preference").series}
    assert shown == {"prefers the text shown first": 1.0, "verdicts differ between the orders": 1.0}


EVERY_KIND = Chart(
    "made",
    "_Title of $x$",
    Axis("cost", log=True),
    Axis("share", percent=True, low=0, high=1),
    (
        Series("_a $b$", (Point(1.0, 0.5, 0.4, 0.6, 0.9, 1.1), Point(10.0, 0.7))),
        Series("x" * 500, (Point(3.0, float("nan")),), "line"),
    ),
    (Reference("people", 0.9), Reference("people", 2.0, "x")),
    note="Note.",
)


@pytest.mark.parametrize(("form", "begins"), [("png", b"\x89PNG\r\n"), ("svg", b"<svg"), ("pdf", b"%PDF-")])
def test_a_chart_is_drawn_the_same_each_time(form: str, begins: bytes) -> None:
    picture = drawn([EVERY_KIND], form)
    assert picture.startswith(begins)
    if form == "png":  # an SVG counts the pictures of its process, and a PDF has its date
        assert picture == drawn([EVERY_KIND], form)
    if form == "svg":
        assert all(text in picture for text in (b"_Title of $x$", b"_a $b$", b"people"))
        assert b"x" * 100 not in picture


def held(path: Path) -> dict[str, bytes]:
    return {each.relative_to(path).as_posix(): each.read_bytes() for each in path.rglob("*") if each.is_file()}


FILES = {"report.md", "results.csv", "results.json", MARKER}


def test_a_folder_has_everything_and_is_replaced_as_a_whole(tmp_path: Path) -> None:
    out, report = tmp_path / "new" / "report", build_report(predicted_results(tmp_path / "m.json", always_a))
    out.mkdir(parents=True)  # an empty folder is as good as none
    assert write_report(out, report) == []
    pictures = {f"figures/matching_by_shots.{form}" for form in ("png", "svg")}
    assert held(out).keys() >= FILES | pictures
    write_report(out, build_report(rated_alike(tmp_path / "one.json", "1")))
    assert not pictures & held(out).keys()
    assert [each.name for each in out.parent.iterdir()] == ["report"]


@pytest.mark.parametrize("case", ["other", "beside", "file", "ending", "marker"])
def test_a_place_that_is_not_ours_is_refused_and_stays(tmp_path: Path, case: str) -> None:
    report = build_report(predicted_results(tmp_path / "m.json", always_a))
    out = tmp_path / ("out.txt" if case == "ending" else "out")
    if case == "beside":
        write_report(out, report)
    if case == "file":
        out.write_text("mine")
    elif case != "ending":
        out.mkdir(exist_ok=True)
        (out / ("figures" if case == "beside" else ".")).mkdir(exist_ok=True)
        (out / {"beside": "figures/mine.png", "marker": MARKER}.get(case, "mine.txt")).write_text("mine")
    before = held(tmp_path)
    says = {"other": "with other files", "beside": "figures/mine.png", "marker": "cannot be read"}
    with pytest.raises(BadInput, match=says.get(case, "is a folder without an ending")):
        write_report(out, report)
    assert held(tmp_path) == before


def test_what_fails_leaves_the_earlier_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = build_report(predicted_results(tmp_path / "m.json", always_a))
    write_report(tmp_path / "out", report)
    before = held(tmp_path)

    def full(*rows: Any) -> str:
        raise OSError("disk full")

    monkeypatch.setattr(folder, "csv_text", full)
    with pytest.raises(BadInput, match=r"cannot be written \(disk full\)"):
        write_report(tmp_path / "out", report)
    assert held(tmp_path) == before


def test_without_the_extra_the_pictures_are_left_out_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = build_report(predicted_results(tmp_path / "m.json", always_a))
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert not can_draw()
    assert all("humor-tasks[report]" in note for note in write_report(tmp_path / "out", report))
    assert not any(name.startswith("figures/") for name in held(tmp_path / "out"))
    with pytest.raises(BadInput, match=r"humor-tasks\[report\]"):
        drawn(report.charts, "png")
