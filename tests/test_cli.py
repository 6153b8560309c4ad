"""`humor-tasks` and the Python interface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from humor_tasks import evaluate, load
from humor_tasks.cli import main
from humor_tasks.errors import BadInput


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    path = tmp_path / "predictions.json"
    path.write_text(
        json.dumps({r.id: f"So the answer is {r.target}." for r in load("ranking", dataset="sample").records})
    )
    return path


def test_score_prints_every_metric_with_its_interval_and_signature(predictions: Path) -> None:
    done = CliRunner().invoke(main, ["score", str(predictions), "--task", "ranking", "--dataset", "sample"])
    assert done.exit_code == 0, done.output
    for word in (
        "accuracy",
        "ny_accuracy",
        "crowd_accuracy",
        "1.00000",
        "95% interval",
        "bench:ranking|v:1-A|method:predictions",
    ):
        assert word in done.output


def test_score_as_json(predictions: Path) -> None:
    arguments = ["score", str(predictions), "--task", "ranking", "--dataset", "sample", "--json"]
    found = json.loads(CliRunner().invoke(main, arguments).output)
    assert found["metrics"]["accuracy"]["value"] == 1
    assert found["metrics"]["accuracy"]["clusters"] == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop(next(iter(p))), "1 missing id: "),
        (lambda p: p.update(extra="A"), "1 unknown id: extra"),
        (lambda p: p.clear(), "10 missing ids: "),
    ],
)
def test_ids_that_do_not_fit_are_listed_and_nothing_is_scored(predictions: Path, change, message: str) -> None:
    data = json.loads(predictions.read_text())
    change(data)
    predictions.write_text(json.dumps(data))
    done = CliRunner().invoke(main, ["score", str(predictions), "--task", "ranking", "--dataset", "sample"])
    assert done.exit_code == 2
    assert message in done.output
    assert "Nothing was scored" in done.output
    assert "accuracy" not in done.output
    with pytest.raises(BadInput, match=message):
        evaluate("ranking", data, dataset="sample")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "rankin", "--dataset", "sample"], "Did you mean 'ranking'"),
        (["--task", "ranking", "--dataset", "sample", "--fold", "9"], "there is no '9'"),
        (["--task", "ranking", "--dataset", "/no/where"], "/no/where"),
        (["--task", "matching", "--dataset", "sample"], "unknown ids"),
    ],
)
def test_bad_arguments(predictions: Path, arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["score", str(predictions), *arguments])
    assert done.exit_code == 2
    assert message in done.output


def test_predictions_that_are_no_text_and_parameters_too_late() -> None:
    run = load("ranking", dataset="sample")
    replies = {record.id: "A" for record in run.records}
    with pytest.raises(BadInput, match="is None; it must be text"):
        evaluate(run, replies | {run.records[0].id: None})  # type: ignore[dict-item]
    with pytest.raises(BadInput, match="extraction: give parameters to load"):
        evaluate(run, replies, extraction="nonsense")


def test_report_reads_well() -> None:
    run = load("explanation", dataset="sample")
    report = evaluate(run, {r.id: str(r.target) for r in run.records})
    assert str(report).splitlines()[0].split() == ["metric", "value", "stderr", "95%", "interval", "n", "clusters"]
    assert report.as_dict()["metrics"]["bleu"]["value"] == pytest.approx(100)
    assert len(report.outcomes) == 5


def test_unknown_uncertainty_is_null_in_json() -> None:
    run = load("matching", dataset="sample")
    outcome = run.outcome(run.records[0], "A")
    from humor_tasks.api import Report

    assert Report(run.metrics([outcome]), "s", (outcome,)).as_dict()["metrics"]["accuracy"]["stderr"] is None


def test_help_and_version() -> None:
    assert "submission" in CliRunner().invoke(main, ["--help"]).output
    assert "humor-tasks, version" in CliRunner().invoke(main, ["--version"]).output
