"""The profile: abilities in their order, reference values, and paired differences of two or three models."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai import eval
from standins.once import made_once

from humor_tasks.results import Results, read_results
from humor_tasks.results.compare import compare
from humor_tasks.results.report.build import Report, build_report
from humor_tasks.results.report.markdown import as_markdown
from humor_tasks.results.report.page import page
from humor_tasks.results.report.profile import NO_OVERALL, OTHER_ROWS, SAMPLE_ROWS
from humor_tasks.tasks import bbeh_nycc, matching, ranking, recitation

MODELS = ["baseline/longest", "baseline/first", "baseline/random", "baseline/overlap"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    def make(place: Path) -> None:
        tasks = [made(dataset="sample") for made in (bbeh_nycc, matching, ranking, recitation)]
        eval(tasks, model=MODELS, log_dir=str(place), display="none")

    return read_results([made_once(tmp_path_factory, "runs of a profile", make)])


def report(results: Results, models: int = 4, without: tuple[str, ...] = ()) -> Report:
    held = [r for r in results.results if r.system in MODELS[:models] and r.benchmark.name not in without]
    return build_report(Results(tuple(held)))


def test_abilities_in_order(results: Results) -> None:
    built = report(results)
    assert built.profile is not None
    assert built.profile.notes == (NO_OVERALL, OTHER_ROWS, SAMPLE_ROWS)
    assert built.profile.models.head == (
        "model",
        "Which caption belongs: matching accuracy, %",
        "Which is funnier to people: bbeh_nycc accuracy, %",
        "Which is funnier to people: ranking accuracy, %",
        "Control: captions known by heart: recitation recited, lower is better",
    )
    rows = {row[0]: row[1:] for row in built.profile.models.rows}
    assert rows["chance"] == ("20.0", "10.0", "50.0", "0.000")
    assert rows["people (published)"] == ("94.0 (other setting)", "-", "-", "-")
    assert rows["best published"] == ("84.5 (other fold, shots)", "19.5", "-", "-")
    assert set(rows) == {*MODELS, "chance", "people (published)", "best published"}
    assert rows["baseline/longest"][1] == "50.0 [11.8, 88.2]"
    assert built.profile.differences is None  # of four models


@pytest.mark.parametrize(("models", "pairs"), [(2, 1), (3, 3)])
def test_differences(models: int, pairs: int, results: Results) -> None:
    """Those of `compare`, with Holm's correction over the profile."""
    built = report(results, models)
    assert built.profile is not None
    assert built.profile.differences is not None
    rows = built.profile.differences.rows
    compared = compare(built.results)
    assert len(rows) == compared.count == 4 * pairs
    assert f"over {len(rows)}" in built.profile.differences.title
    adjusted = {
        (each.benchmark, c.first.label, c.second.label): c.test.adjusted
        for each in compared.benchmarks
        for c in each.comparisons
    }
    for _, benchmark, first, second, difference, p, _ in rows:
        expected = adjusted[benchmark.split()[0], first, second]
        assert float(p.rstrip("*")) == pytest.approx(expected, abs=5e-4)
        assert difference[0] in "+-"
    assert [row[0] for row in rows] == sorted(
        (row[0] for row in rows),
        key=["Which caption belongs", "Which is funnier to people", "Control: captions known by heart"].index,
    )


def test_one_ability_has_none(results: Results) -> None:
    built = report(results, 2, ("matching", "recitation"))
    assert built.profile is None
    assert "## Profile" not in as_markdown(built)
    assert 'id="profile"' not in page(built)


def test_shown(results: Results) -> None:
    built = report(results, 2)
    text, html = as_markdown(built), page(built)
    assert text.index("## Profile") < text.index("## Scorecard")
    assert html.index('id="profile"') < html.index('id="scorecard"')
    assert NO_OVERALL in html
    assert "Which is funnier to people: bbeh_nycc accuracy, %" in html


def test_a_model_without_a_benchmark(results: Results) -> None:
    held = [r for r in results.results if (r.system, r.benchmark.name) != ("baseline/first", "bbeh_nycc")]
    built = report(Results(tuple(held)), 2)
    assert built.profile is not None
    rows = {row[0]: row[1:] for row in built.profile.models.rows}
    assert rows["baseline/first"][1] == "-"
    assert built.profile.differences is not None
    assert len(built.profile.differences.rows) == 3
