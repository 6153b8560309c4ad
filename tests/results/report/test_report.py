"""`humor-tasks report`: scorecard, tidy table, charts and the folder, from logs of both harnesses and predictions."""

from __future__ import annotations

import csv
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import eval
from inspect_ai.log import read_eval_log
from standins.finished_runs import finished
from standins.graded_logs import explainer, grader, run_log
from standins.once import made_once
from standins.paths import GOLDEN
from standins.predictions import always_a, explanations, predicted_results, rated_alike, target_of, together
from standins.sample_runs import sample_runs

from humor_tasks import load
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.cli import main
from humor_tasks.files.tables import cell_text, csv_text, json_text
from humor_tasks.on_inspect.tasks.caption_contest import matching
from humor_tasks.papers.published import published
from humor_tasks.results import LeftOut, Results, read_results
from humor_tasks.results.report.build import build_report
from humor_tasks.results.report.markdown import as_markdown
from humor_tasks.results.report.page import page
from humor_tasks.results.report.scorecard import sentences
from humor_tasks.results.report.table import COLUMNS
from humor_tasks.tasks import humorbench
from humor_tasks.testing import ScriptedModel
from humor_tasks.testing.judges import verdict_reply

GOLDEN = GOLDEN / "report.json"
ODD = "a|<b>$x$ =1+1"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a.eval, short.eval with a limit, and lm-eval's files in lm/."""
    by_lm_eval = sample_runs(tmp_path_factory) / "lm"

    def make(place: Path) -> None:
        for name, more in (("a", {}), ("short", {"limit": 4})):
            by = ScriptedModel(name, "Answer: A").model
            (log,) = eval(matching(dataset="sample"), model=by, log_dir=str(place / "made"), display="log", **more)
            Path(log.location).rename(place / f"{name}.eval")
        shutil.copytree(by_lm_eval, place / "lm")

    return made_once(tmp_path_factory, "runs to report", make)


# ---- the tidy table -----------------------------------------------------------------------------


def test_the_tidy_table_of_the_sample_is_the_recorded_one(tmp_path: Path) -> None:
    ranked = predicted_results(
        tmp_path / "longest.json", lambda r: "AB"[len(r.choices[1]) > len(r.choices[0])], "ranking"
    )
    report = build_report(
        together(predicted_results(tmp_path / "first.json", always_a), ranked, rated_alike(tmp_path / "one.json", "1"))
    )
    rows = [dict(row) | {"release": "-", "signature": row["signature"].rsplit("|", 1)[0]} for row in report.rows]
    rows = [row | {"files": Path(row["files"]).name} for row in rows]
    assert list(map(rounded, rows)) == list(map(rounded, json.loads(GOLDEN.read_text())))


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Without the last bits, in which machines differ."""
    return {name: f"{value:.12g}" if isinstance(value, float) else value for name, value in row.items()}


def test_csv_and_json_are_equal(tmp_path: Path) -> None:
    report = build_report(predicted_results(tmp_path / f"{ODD}.json", always_a))
    table = list(csv.DictReader(io.StringIO(csv_text(COLUMNS, (row.values() for row in report.rows)))))
    objects = json.loads(json_text(report.rows), parse_constant=pytest.fail)
    assert [list(row) for row in objects] == [list(COLUMNS)] * len(table)
    for row, shown in zip(table, objects, strict=True):
        read = {name: cell_text(cell) for name, cell in row.items()}
        assert read == {name: "" if value is None else str(value) for name, value in shown.items()}


def test_part_and_metric_are_apart_where_the_data_has_parts(tmp_path: Path) -> None:
    report = build_report(predicted_results(tmp_path / "all.json", target_of, fold="all"))
    parts = [row["part"] for row in report.rows if row["metric"] == "accuracy"]
    assert parts == ["", *(f"fold{i}" for i in range(5))]
    assert {(row["value"], row["unparsed"]) for row in report.rows if row["metric"] == "accuracy"} == {(1.0, 0.0)}


# ---- the scorecard ------------------------------------------------------------------------------


def test_results_that_do_not_compare_are_in_columns_of_their_own(tmp_path: Path) -> None:
    zero, again = (predicted_results(tmp_path / f"{name}.json", always_a) for name in ("zero", "again"))
    one = predicted_results(tmp_path / "one.json", always_a, fold="1")
    report = build_report(together(one, zero, again))
    assert "group B does not compare with group A: fold: 0 and 1" in as_markdown(report)
    card = report.scorecard
    assert [(group.name, len(group.results)) for group in card.groups] == [("A", 2), ("B", 1)]
    assert card.groups[0].apart == ()
    assert card.groups[1].apart[0] == "fold: 0 and 1"
    assert [[cell.result.system for cell in column.cells] for column in card.columns] == [["zero", "again"], ["one"]]


@pytest.mark.slow
def test_an_unfinished_run_is_shown_beside_the_others_without_a_rank(logs: Path) -> None:
    report = build_report(read_results([logs / "a.eval", logs / "short.eval"]))
    (column,) = report.scorecard.columns
    assert [(cell.result.system, cell.rank) for cell in column.cells] == [("mockllm/a", 1), ("mockllm/short", None)]
    assert "(incomplete)" in as_markdown(report)
    assert "mockllm/short: incomplete: 4 of 10 items." in as_markdown(report)
    assert [s.points[0].x for chart in report.charts for s in chart.series] == ["mockllm/a"]
    assert [row["complete"] for row in report.rows if row["metric"] == "accuracy"] == [True, False]


def test_the_best_comes_first_whichever_direction_is_better(tmp_path: Path) -> None:
    better = together(
        predicted_results(tmp_path / "first.json", always_a), predicted_results(tmp_path / "right.json", target_of)
    )
    lower = together(rated_alike(tmp_path / "three.json", "3"), rated_alike(tmp_path / "one.json", "1"))
    for results, order in ((better, ["right", "first"]), (lower, ["one", "three"])):
        (column,) = build_report(results).scorecard.columns
        assert [(cell.result.system, cell.rank) for cell in column.cells] == [(order[0], 1), (order[1], 2)]


def test_published_figures_stand_beside_what_they_are_of(tmp_path: Path) -> None:
    ranked = predicted_results(tmp_path / "r.json", always_a, "ranking")
    found = together(predicted_results(tmp_path / "m.json", always_a), ranked, rated_alike(tmp_path / "one.json", "1"))
    columns = {column.title: column for column in build_report(found).scorecard.columns}
    beside = {
        title: (column.human.value if column.human else None, column.best.value if column.best else None)
        for title, column in columns.items()
    }
    assert beside == {
        "matching accuracy": (0.94, 0.845),
        "ranking accuracy": (None, None),
        "ranking crowd_accuracy": (0.837, 0.733),
        "ranking ny_accuracy": (0.646, 0.698),
        "humicroedit_rating rmse": (None, 0.49725),
    }
    assert columns["matching accuracy"].beside == (
        "The published figures are of jmhessel/newyorker_caption_contest; these runs are of sample.",
        "The published figure of Human estimate is of setting pixels; these runs are of setting description.",
        "The published figure of GPT-4, 5-shot is of fold all; these runs are of fold 0.",
    )


CORPORA = {name: find_benchmark(name).options.dataset for name in sorted({f.benchmark for f in published()})}
HIDDEN = "a corpus that is not public"
OTHER_ROWS = [
    *((name, {}, corpus or HIDDEN) for name, corpus in CORPORA.items() if name != "explanation_preference"),
    ("explanation_preference", {"system": "a.json"}, CORPORA["explanation"]),
    ("explanation_preference", {"system": "a.json", "of": "mock_explaining"}, HIDDEN),
]


@pytest.mark.parametrize(("name", "options", "corpus"), OTHER_ROWS)
def test_a_published_figure_beside_other_rows_says_so(name: str, options: dict[str, str], corpus: str) -> None:
    run = finished("m", [], name, signature="bench:x|data:sample", options=options)
    told = sentences([run], [published(name)[0]])
    assert f"The published figures are of {corpus}; these runs are of sample." in told
    own = finished("m", [], name, signature=f"bench:x|data:{corpus}", options=options)
    assert corpus == HIDDEN or not any(f"are of {corpus}; these" in each for each in sentences([own], published(name)))


BESIDE = [
    (
        "matching",
        {"setting": "caption_only", "shots": 2},
        "caption_only, 2 shots, no reasoning",
        {"human": "other setting", "best": "other fold, shots, setting"},
        "The published figure of GPT-4, 5-shot is of fold all, shots 5, setting description; these runs are of fold 0, "
        "shots 2, setting caption_only.",
    ),
    (
        "crowd_groups",
        {"against": 200, "mode": "best_pick"},
        "description, 0 shots, against=200, mode=best_pick",
        {"human": "other setting, against", "best": "other shots, setting, against"},
        "The published figure of crowd workers, picture is of setting pixels, against 1000; these runs are of setting "
        "description, against 200.",
    ),
    (
        "crowd_pairs",
        {"shots": 5, "setting": "description"},
        "description, 5 shots, no reasoning",
        {"human": "", "best": ""},
        "",
    ),
    (
        "mock_detecting",
        {"input": "description"},
        "description, 0 shots",
        {"human": "other input", "best": "other input, chain_of_task"},
        "The published figure of VideoChat2, Chain-of-Task is of input media, chain_of_task True; these runs are of "
        "input description, chain_of_task False.",
    ),
]


@pytest.mark.parametrize(("task", "given", "protocol", "others", "sentence"), BESIDE)
def test_another_protocol_stands_beside_the_published_figure(
    task: str, given: dict[str, Any], protocol: str, others: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    """Also where all runs share it; in the terminal, on the page and in the charts."""
    found = predicted_results(tmp_path / "m.json", target_of, task, **given)
    run = replace(found.results[0].run, signature=load(task, dataset="sample", **given).signature("generate"))
    report = build_report(Results((replace(found.results[0], run=run),)))
    column = next(column for column in report.scorecard.columns if column.human and column.best)
    assert (column.protocol, column.others) == (protocol, others)
    shown = as_markdown(report).replace("\\", "")
    for text in (shown, page(report)):
        assert protocol in text
        assert sentence in text
        assert all(each in text for each in others.values())


def test_win_rates_against_other_texts_are_no_figures_to_reach(tmp_path: Path) -> None:
    run = load("explanation_preference", dataset="sample", system=str(explanations(tmp_path)))
    (tmp_path / "judge.json").write_text(json.dumps({record.id: verdict_reply("A") for record in run.records}))
    (column,) = build_report(read_results([tmp_path / "judge.json"], run)).scorecard.columns
    assert (column.title, column.human, column.best) == ("explanation_preference win_rate", None, None)


def test_two_runs_of_one_system_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    twice = together(
        predicted_results(tmp_path / "m.json", always_a), predicted_results(tmp_path / "again" / "m.json", target_of)
    )
    (column,) = build_report(twice).scorecard.columns
    assert [cell.label for cell in column.cells] == [str(tmp_path / name) for name in ("again/m.json", "m.json")]
    signed = [each.run.signature.with_entries({"seed": i}) for i, each in enumerate(twice.results)]
    unlike = [replace(r, run=replace(r.run, signature=s)) for r, s in zip(twice.results, signed, strict=True)]
    (column,) = build_report(Results(tuple(unlike))).scorecard.columns
    assert sorted(cell.label for cell in column.cells) == ["seed 0", "seed 1"]


# ---- texts --------------------------------------------------------------------------------------


def test_names_are_text_in_markdown_and_csv(tmp_path: Path) -> None:
    report = build_report(predicted_results(tmp_path / f"{ODD}.json", always_a))
    report = replace(report, results=replace(report.results, left_out=(LeftOut(Path("<i>.eval"), "`why`"),)))
    shown = as_markdown(report)
    assert r"a\|\<b\>\$x\$ =1+1" in shown
    assert r"- \<i\>.eval: \`why\`" in shown
    assert "<b>" not in shown


# ---- the command --------------------------------------------------------------------------------


def reported(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


@pytest.mark.slow
def test_the_command_reads_folders_of_both_harnesses_and_predictions(logs: Path, tmp_path: Path) -> None:
    predicted_results(tmp_path / "mine.json", target_of)
    shutil.copy(logs / "a.eval", tmp_path / "again.eval")
    (tmp_path / "cut.eval").write_bytes((logs / "a.eval").read_bytes()[:300])
    given = (logs, tmp_path / "mine.json", tmp_path / "again.eval", tmp_path / "cut.eval")
    done = reported(*given, "--task", "matching", "--dataset", "sample", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert all(name in done.stdout for name in ("mockllm/a", "mockllm/short", "strategy=longest", "mine"))
    assert f"left out: {tmp_path / 'again.eval'}: is the same run as {logs / 'a.eval'}." in done.stderr
    assert f"left out: {tmp_path / 'cut.eval'}: cannot be read" in done.stderr
    written = (tmp_path / "out" / "report.md").read_text()
    assert "is the same run as" in written
    assert "(figures/matching_by_shots.svg)" in written
    rows = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {row["harness"] for row in rows} == {"inspect", "lm_eval", "predictions"}


@pytest.mark.slow
def test_a_cancelled_run_with_samples_without_a_score_is_shown_as_incomplete(tmp_path: Path) -> None:
    made = run_log(humorbench(dataset="sample", cache=False), explainer("a"), [grader("judge")], tmp_path, limit=6)
    log = json.loads(read_eval_log(made.location).model_dump_json())
    log["status"] = "cancelled"
    log["samples"][0] |= {"scores": None, "error": {"message": "stopped", "traceback": "", "traceback_ansi": ""}}
    (tmp_path / "cancelled.json").write_text(json.dumps({"version": log.pop("version"), **log}))
    report = build_report(read_results([tmp_path / "cancelled.json"]))
    (column,) = report.scorecard.columns
    (cell,) = column.cells
    assert (cell.rank, cell.result.complete) == (None, False)
    assert any("cancelled" in note for note in cell.notes)
    assert report.charts == ()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gone.eval"], "there is no such file or folder"),
        (["RUN", "-o", "r.txt"], "a report ends in .md, .csv, .json, .html, or is a folder"),
        (["RUN", "-o", "RUN"], "is also an input file"),
        (["RUN", "--plot", "p.jpg"], "a picture ends in"),
        (["RUN", "--dataset", "sample"], "name their benchmark with --task"),
        (["RUN", "--task", "matching", "-T", "fold"], "write -T NAME=VALUE"),
        (["RUN", "--task", "matchin"], "matchin"),
        (["RUN"], "there is no run to read"),
    ],
)
def test_what_the_command_refuses(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text("{}", encoding="utf-8")
    done = reported(*("run.json" if each == "RUN" else each for each in arguments))
    assert done.exit_code == 2
    assert says in " ".join(done.output.split())
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]
