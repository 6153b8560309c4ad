"""Logs that humor-tasks 0.1.0 left: every command reads them as its own version did."""

from __future__ import annotations

import json
import math
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import score
from inspect_ai.log import read_eval_log
from standins.grading import grader, run, thirds

from humor_tasks import load
from humor_tasks.benchmarks.systems import read_system
from humor_tasks.cli import main
from humor_tasks.data.logs import read_run
from humor_tasks.on_inspect.judging.preference import preference_metrics
from humor_tasks.on_inspect.outcomes import benchmark_metrics
from humor_tasks.on_inspect.scorers import multiple_choice
from humor_tasks.studies.grade import grading_task, read_written, report_of

GOLDEN = Path(__file__).parent / "golden" / "logs_0_1_0"
COMMANDS = json.loads((GOLDEN / "expected.json").read_text())
# The samples of 0.1.0 did not say that they are of no use for a submission; read as a run, they do.
NO_LETTERS = "a submission needs a log of matching (five choices) or ranking (two)."


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all of them."""
    folder = tmp_path_factory.mktemp("old")
    shutil.copytree(GOLDEN, folder, dirs_exist_ok=True)
    with zipfile.ZipFile(GOLDEN / "lm_eval.zip") as archive:
        archive.extractall(folder)
    return folder


def named(command: list[str]) -> str:
    return "-".join(re.sub(r"/.*", "", part) for part in command[:3] if part not in ("--dataset",))


def close(found: Any, expected: Any) -> bool:
    """Equal, numbers up to rounding."""
    if isinstance(expected, float):
        return found == pytest.approx(expected, abs=1e-9, nan_ok=True)
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(close(found[k], expected[k]) for k in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    return bool(found == expected)


@pytest.mark.parametrize("expected", COMMANDS, ids=lambda each: named(each["command"]))
def test_a_command_makes_of_old_logs_what_it_made_of_them(
    expected: dict[str, Any], old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(old)
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    out = next((Path(part) for part in expected["command"] if part.startswith("OUT.")), None)
    if out:
        out.unlink(missing_ok=True)
    done = CliRunner().invoke(main, expected["command"])
    assert done.exit_code == expected["exit"], done.output
    if expected["exit"]:
        assert NO_LETTERS in done.output
        return
    shown = re.sub(r"Every answer: .*", "Every answer: LOG", done.output)
    found, wanted = (parsed(text) for text in (shown, expected["shown"]))
    assert close(found, wanted)
    if expected["file"] is not None:
        assert out
        written = out.read_text()
        if out.suffix == ".json":
            assert close(json.loads(written), json.loads(expected["file"]))
        else:
            assert written == expected["file"]


def parsed(text: str) -> list[Any]:
    """A report as JSON, and what is shown behind it; other text alone."""
    if not text.startswith("{"):
        return [text]
    report, end = json.JSONDecoder().raw_decode(text)
    return [without_version(report), text[end:]]


def without_version(report: dict[str, Any]) -> dict[str, Any]:
    return report | ({"signature": report["signature"].rsplit("|", 1)[0]} if "signature" in report else {})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["humorbench.eval", "lm_humorbench"])
def test_old_explanations_are_graded_as_before(name: str, old: Path) -> None:
    path = old / name if name.endswith(".eval") else next((old / name).glob("samples_*"))
    (expected,) = (each for told, each in json.loads((GOLDEN / "graded.json").read_text()).items() if name in told)
    log = run(grading_task(read_written(path, "humorbench"), "humorbench", "x"), None, grader("again", thirds))
    found = report_of(log).as_dict()
    found["metrics"] = {name: found["metrics"][name] for name in expected["metrics"]}  # 0.1 had fewer
    assert close(without_version(found), without_version(expected))


@pytest.mark.parametrize(
    ("name", "benchmark"),
    [
        ("matching.eval", "matching"),
        ("ranking.json", "ranking"),
        ("rating.eval", "humicroedit_rating"),
        ("pairwise.eval", "humicroedit_pairwise"),
        ("ratings.eval", "humicroedit_pairwise"),
        ("humorbench.eval", "humorbench"),
        ("explanation.eval", "explanation"),
        ("explanation_preference.eval", "explanation_preference"),
        ("brainstorm.eval", "brainstorm"),
        ("lm_nyc_matching", "matching"),
        ("lm_nyc_ranking_gen", "ranking"),
        ("lm_humicroedit_rating", "humicroedit_rating"),
        ("lm_humicroedit_pairwise_gen", "humicroedit_pairwise"),
        ("lm_ratings_humicroedit_pairwise_gen", "humicroedit_pairwise"),
        ("lm_humorbench", "humorbench"),
        ("lm_nyc_explanation", "explanation"),
    ],
)
def test_an_old_run_is_told_as_what_it_is(name: str, benchmark: str, old: Path) -> None:
    path = old / name if "." in name else next((old / name).glob("samples_*"))
    found = read_run(path, benchmark)
    assert found.benchmark == benchmark
    assert found.signature.startswith(f"bench:{benchmark}|v:1-A")
    assert found.held == found.rows == len({sample.id for sample in found.samples})
    given: dict[str, Any] = {"via": "ratings"} if "ratings" in name else {}
    given |= {"system": str(old / "explanation.eval")} if benchmark == "explanation_preference" else {}
    records = {record.id: record for record in load(benchmark, dataset="sample", **given).records}
    for sample in found.samples:
        assert sample.groups == records[sample.id].groups
        assert sample.cluster == records[sample.id].cluster
        assert sample.points == records[sample.id].points


def test_an_old_system_is_read_from_either_harness(old: Path) -> None:
    opened = load("explanation", dataset="sample")
    texts = {record.id: f"It is a pun ({record.id}). So." for record in opened.records}
    paths = [old / "explanation.eval", *(p for f in old.glob("lm_nyc_explanation*") for p in f.glob("samples_*"))]
    assert len(paths) == 3
    for path in paths:
        assert dict(read_system(str(path), opened).texts) == texts


@pytest.mark.parametrize(
    "name",
    ["matching", "explanation", "explanation_preference", "brainstorm", "rating", "pairwise", "ratings", "humorbench"],
)
def test_metrics_over_an_old_log_are_those_that_it_holds(name: str, old: Path) -> None:
    """As `inspect score --action recompute` and edited scores need them."""
    from inspect_ai.scorer import SampleScore

    log = read_eval_log(str(old / f"{name}.eval"))
    assert log.results
    ids = list(log.eval.dataset.sample_ids or [])
    kept = [
        SampleScore(score=one, sample_id=sample.id, sample_metadata=sample.metadata)
        for sample in sorted(log.samples or [], key=lambda s: ids.index(s.id))  # bootstraps depend on the order
        for one in (sample.scores or {}).values()
    ]
    compute: Any = preference_metrics() if name == "explanation_preference" else benchmark_metrics()
    metrics = {n: m.value for result in log.results.scores for n, m in result.metrics.items()}
    found = compute(kept)  # with metrics that 0.1 did not have
    assert {name: found[name] for name in metrics} == pytest.approx(metrics, nan_ok=True)


def test_an_old_log_can_be_scored_again(old: Path) -> None:
    log = read_eval_log(str(old / "matching.eval"))
    again = score(log, multiple_choice(), action="overwrite", display="none")
    assert log.results
    assert again.results
    before, after = (each.results.scores[0].metrics for each in (log, again) if each.results)
    assert {n: m.value for n, m in after.items()} == pytest.approx({n: m.value for n, m in before.items()})
    assert not any(math.isnan(m.value) for n, m in after.items() if n == "accuracy")
