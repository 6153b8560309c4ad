"""Reports of graded logs: the table, what does not compare, files, pictures; and the commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from standins.graded_logs import ROWS, Logs, explainer, grader, humor_tasks, report_of, rows_of, run_log
from standins.votes import tight

from humor_tasks.benchmarks.humorbench.corpus import subset_keys
from humor_tasks.errors import BadInput
from humor_tasks.logs.prices import VARIABLE
from humor_tasks.results.points import read_graded
from humor_tasks.results.report.folder import plot_cost
from humor_tasks.results.report.markdown import as_markdown
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.tasks import humorbench


@pytest.mark.slow
def test_the_table_has_the_best_model_first_and_what_it_took(logs: Logs) -> None:
    report = report_of(*logs.pool())
    rows = rows_of(report)
    assert [row["system"] for row in rows] == ["mockllm/a", "mockllm/b", "mockllm/c"]
    assert list(rows[0]) == [
        *("rank", "system", "setting", "score", "n", "clusters", "unparsed", "refused"),
        *("missing verdicts", "as failed / passed", "tokens in / out", "cost"),
        *("graders", "grader tokens in / out", "grader cost"),
    ]
    points = read_graded(logs.of("a", "judge")).points
    read = [point for point in points if point.passed is not None]
    e = clustered_proportion([float(bool(p.passed)) for p in read], [p.cluster for p in read])
    passed = sum(bool(p.passed) for p in read)
    row = rows[0]
    assert row["score"] == f"{100 * e.value:.1f} [{100 * e.low:.1f}, {100 * e.high:.1f}]"
    assert (row["n"], row["missing verdicts"]) == (str(e.n), f"{100 * (ROWS - e.n) / ROWS:.1f} %")
    assert row["as failed / passed"] == f"{100 * passed / ROWS:.1f} / {100 * (passed + ROWS - e.n) / ROWS:.1f}"
    assert (row["tokens in / out"], row["cost"]) == ("5130 / 380", f"${ROWS * 213e-6:.4f}")
    assert row["graders"] == "mockllm/judge"
    assert (row["grader tokens in / out"], row["grader cost"]) == ("266 / 38", f"${ROWS * 340e-6:.4f}")
    assert tight(as_markdown(report)).count("| mockllm/a |") == 2  # the scorecard and the group's table
    sentence = "Spearman's correlation of coverage and cost of the replies: 0.500"
    assert sentence in as_markdown(report)
    assert "Spearman" not in as_markdown(report_of(*logs.pool()[:2]))


def test_subsets_are_parts_with_their_own_points(logs: Logs, tmp_path: Path) -> None:
    path = logs.of("a", "judge")
    points = read_graded(path).points
    chosen = [p for p in points if p.passed is not None][:9] + [p for p in points if p.passed is None][:1]
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps({"keys": [p.id for p in chosen]}))
    report = report_of(path, hard=str(mine))
    rows = {row["part"]: row for row in report.rows if row["metric"] == "coverage"}
    assert rows.keys() >= {"", "wordplay", "cultural_reference", "mine.json"}
    assert "hard" not in rows  # the sample has no such list
    expected = clustered_proportion([float(bool(p.passed)) for p in chosen[:9]], [p.cluster for p in chosen[:9]])
    row = rows["mine.json"]
    assert [row[name] for name in ("value", "low", "high", "n")] == pytest.approx(
        [expected.value, expected.low, expected.high, 9]
    )
    assert row["missing_verdicts"] == pytest.approx(0.1)
    assert [column.estimate for column in report.scorecard.columns] == ["coverage", "coverage_mine.json"]
    assert [row["part"] for row in rows_of(report)] == ["-", "mine.json"]
    assert [column.estimate for column in report_of(path, hard="all").scorecard.columns] == ["coverage"]
    with pytest.raises(BadInput, match="there is no 'nowhere'"):
        report_of(path, hard="nowhere")


@pytest.mark.slow
def test_a_part_of_explanations_of_several_points_has_those_points_only(logs: Logs, tmp_path: Path) -> None:
    task = humorbench(dataset="sample", one_explanation_per="caption", cache=False)
    log = logs.priced(lambda: run_log(task, explainer("a"), [grader("judge")], tmp_path))
    path = Path(log.location)
    keys = subset_keys("wordplay", "sample") or frozenset()
    read = [p for p in read_graded(path).points if p.passed is not None and p.id in keys]
    expected = clustered_proportion([float(bool(p.passed)) for p in read], [p.cluster for p in read])
    (row,) = (r for r in report_of(path).rows if (r["metric"], r["part"]) == ("coverage", "wordplay"))
    assert row["value"] == pytest.approx(expected.value)


def test_logs_that_chose_the_rows_of_a_subset_are_named(logs: Logs, tmp_path: Path) -> None:
    path = logs.of("a", "judge")
    mine = tmp_path / "mine.json"
    chosen = {"logs": [{"log": path.name, "model": "mockllm/a"}]}
    mine.write_text(json.dumps({"keys": [read_graded(path).points[0].id], "source": chosen}))
    report = report_of(path, logs.of("b", "judge"), hard=str(mine))
    assert report.warnings[0].startswith(f"1 log: {path.name} chose the rows of {mine} for being failed")
    assert "circular" not in " ".join(report_of(path).warnings)
    mine.write_text(json.dumps({"keys": json.loads(mine.read_text())["keys"]}))  # a list of unknown origin
    assert "circular" not in " ".join(report_of(path, hard=str(mine)).warnings)


def test_a_log_with_damaged_verdicts_is_left_out(logs: Logs, tmp_path: Path) -> None:
    log = json.loads(read_eval_log(str(logs.of("a", "judge", limit=4))).model_dump_json())
    for sample in log["samples"]:
        sample["scores"]["element_coverage"]["metadata"]["judged"] = [{}]
    (tmp_path / "damaged.json").write_text(json.dumps({"version": log.pop("version"), **log}))
    report = report_of(tmp_path / "damaged.json", logs.of("b", "judge"))
    assert [result.system for result in report.results.results] == ["mockllm/b"]
    (left,) = report.results.left_out
    assert "judge the replies again" in left.why


def test_a_picture_of_score_and_cost(logs: Logs, tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "p.svg"
    assert plot_cost(path, report_of(*logs.pool())) == 3
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert all(f"mockllm/{name}" in path.read_text() for name in "abc")


def test_pictures_that_cannot_be_drawn(logs: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(logs.of("a", "judge"))
    for name in ("p.txt", "p", "p.jpg", "p.raw"):
        with pytest.raises(BadInput, match=r"a picture ends in \.png, \.svg, \.pdf"):
            plot_cost(tmp_path / name, report)
    (tmp_path / "p.png").write_text("mine")
    with pytest.raises(BadInput, match="name prices with --prices FILE"):
        plot_cost(tmp_path / "p.png", report_of(logs.of("free", "judge", limit=4)))
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(BadInput, match="humor-tasks\\[report\\]"):
        plot_cost(tmp_path / "p.png", report)
    assert (tmp_path / "p.png").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_report_on_the_command_line(logs: Logs, tmp_path: Path) -> None:
    paths = [*logs.pool(), logs.of("free", "judge", limit=4)]
    done = humor_tasks("report", *paths, "-o", tmp_path / "r.json", "--plot", tmp_path / "p.svg", "--hard", "wordplay")
    assert done.exit_code == 0, done.output
    shown = done.stdout.splitlines()
    assert shown[-1] == f"{tmp_path / 'p.svg'}: 3 of 4 models have a known cost."
    assert as_markdown(report_of(*paths, hard="wordplay"), warnings=False) in done.stdout
    assert all("of the graders' verdicts are missing" in each for each in done.stderr.splitlines())
    assert f"incomplete: 4 of {ROWS} items." in done.stdout
    rows = json.loads((tmp_path / "r.json").read_text())
    whole = {row["system"]: row["value"] for row in rows if (row["metric"], row["part"]) == ("coverage", "")}
    assert whole.keys() == {"mockllm/a", "mockllm/b", "mockllm/c", "mockllm/free"}


def test_a_plot_without_prices_comes_after_the_report(logs: Logs, tmp_path: Path) -> None:
    free = logs.of("free", "judge", limit=4)
    done = humor_tasks("report", free, "-o", tmp_path / "r.md", "--plot", tmp_path / "p.png")
    assert done.exit_code == 2
    assert (tmp_path / "r.md").read_text().startswith(done.stdout)
    assert "name prices with --prices FILE" in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["r.md"]


def test_report_prices_logs_without_costs_by_the_users_list(
    logs: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(
        "".join(f'[models."mockllm/{name}"]\ninput = 1000\noutput = 0\n' for name in ("free", "judge", "a"))
    )
    half, whole = logs.of("free", "judge", limit=4), logs.of("a", "judge", limit=4)

    def costs(*more: str | Path) -> list[list[float | None]]:
        done = humor_tasks("report", half, whole, "-o", tmp_path / "r.json", *more)
        assert done.exit_code == 0, done.output
        cells = {row["system"]: row for row in json.loads((tmp_path / "r.json").read_text())}
        return [[cells[f"mockllm/{m}"][name] for name in ("cost", "grader_cost")] for m in ("free", "a")]

    recorded = [None, pytest.approx(4 * 340e-6)], [pytest.approx(4 * 213e-6), pytest.approx(4 * 340e-6)]
    assert costs() == list(recorded)  # the packaged list has no such model
    monkeypatch.setenv(VARIABLE, str(prices))
    free, judge, a = (pytest.approx(4 * tokens * 1000 / 1e6) for tokens in (135, 7, 135))
    assert costs() == [[free, recorded[0][1]], recorded[1]]  # what was recorded stands
    assert costs("--prices", prices) == [[free, judge], [a, judge]]
    prices.write_text("models = 3")
    done = humor_tasks("report", half)
    assert done.exit_code == 2
    assert "has no table" in " ".join(done.output.split())
