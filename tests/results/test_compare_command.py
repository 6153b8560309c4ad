"""`humor-tasks compare`: its reports have the same figures, and the command reads logs of both harnesses."""

from __future__ import annotations

import csv
import io
import itertools
import json
from pathlib import Path

import pytest
from standins import commands
from standins.finished_runs import coins, compared, marked, paired_test
from standins.sample_runs import sample_runs
from standins.votes import tight

from humor_tasks.results import read_results
from humor_tasks.results.compare import COLUMNS, as_csv, as_json, as_markdown

HOSTILE = "<script>alert(1)</script>|*m*\u202e{{ x }}"


def test_every_report_has_the_same_figures() -> None:
    found = compared(*(marked(n, coins(i, share=0.3 + 0.2 * i)) for i, n in enumerate(("a", "b", HOSTILE))))
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    data = json.loads(as_json(found))
    assert list(rows[0]) == list(COLUMNS)
    assert data["comparisons"] == 3
    (section,) = data["benchmarks"]
    markdown = tight(as_markdown(found))
    assert "<script>" not in markdown
    assert "\u202e" not in markdown
    for row, told, c in zip(rows, section["comparisons"], found.benchmarks[0].comparisons, strict=True):
        assert told["p_holm"] == float(row["p_holm"]) == c.test.adjusted
        assert told["difference"] == float(row["difference"]) == c.test.difference.value
        assert told["first_better"] + told["second_better"] + told["equal"] == told["items"] == 120
        shown = f"{c.test.difference.value:+.3f} [{c.test.difference.low:.3f}, {c.test.difference.high:.3f}]"
        assert shown in markdown
    assert [s["system"] for s in section["systems"]] == [HOSTILE, "b", "a"]
    assert all(s["strength"]["estimate"]["n"] == 240 for s in section["systems"])


def test_long_names_are_cut_in_tables() -> None:
    found = compared(*(marked("x" * 10_000 + name, coins(i)) for i, name in enumerate("abc")))
    assert max(map(len, as_markdown(found).split("## ")[1].split("\n- ")[0].splitlines())) < 500


def test_a_matrix_has_each_difference_and_marks_those_that_count() -> None:
    found = compared(marked("a", [1.0] * 80), marked("b", [0.0] * 80), marked("c", [0.0] * 76 + [1.0] * 4))
    lines = tight(as_markdown(found)).splitlines()
    a, c, b = (next(line for line in lines if line.startswith(f"| {k} |")) for k in (1, 2, 3))
    assert a.endswith(r"| | +0.950 (\<.001)\* | +1.000 (\<.001)\* |")
    assert c.endswith(r"| -0.950 (\<.001)\* | | +0.050 (1.000) |")
    assert b.endswith(r"| -1.000 (\<.001)\* | -0.050 (1.000) | |")


def test_of_many_systems_the_report_for_people_has_the_matrix_alone() -> None:
    found = compared(*(marked(str(i), coins(i)) for i in range(6)))
    markdown = as_markdown(found)
    assert "15 comparisons: -o FILE.csv or FILE.json lists them all." in markdown
    assert "second wins" not in markdown
    assert len(as_csv(found).splitlines()) == 16


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_runs(tmp_path_factory)


@pytest.mark.slow
def test_the_command_compares_logs_of_both_harnesses(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "c.json"
    said = commands.humor_tasks("compare", logs / "first", logs / "overlap", logs / "lm", "-o", out)
    data = json.loads(out.read_text())
    (section,) = data["benchmarks"]
    runs = {r.system: r for r in read_results([logs / n for n in ("first", "overlap", "lm")]).results}
    assert {s["system"] for s in section["systems"]} == set(runs)
    assert len(section["comparisons"]) == 3
    for row in section["comparisons"]:
        first, second = (runs[row[side]].by_item("accuracy") for side in ("first", "second"))
        expected = paired_test(
            [first[i][0] for i in first], [second[i][0] for i in first], [first[i][1] for i in first]
        )
        assert row["p_permutation"] == expected.p_value
        assert (row["difference"], row["items"]) == (pytest.approx(expected.difference.value), 10)
        assert row["first_value"] == runs[row["first"]].estimates["accuracy"].value
    assert "matching: accuracy (higher is better)" in said
    assert "The systems differ in way of getting an answer: " in said
    for ending, start in ((".md", "## matching"), (".csv", "benchmark,metric")):
        path = out.with_suffix(ending)
        commands.humor_tasks("compare", logs / "first", logs / "lm", "-o", path)
        assert path.read_text().startswith(start)


@pytest.mark.slow
def test_files_of_predictions_are_compared_with_runs_and_with_each_other(logs: Path, tmp_path: Path) -> None:
    ids = [outcome.id for outcome in read_results([logs / "first"]).results[0].outcomes]
    for letter in "AB":
        (tmp_path / f"all_{letter}.json").write_text(json.dumps(dict.fromkeys(ids, letter)))
    files = [tmp_path / f"all_{letter}.json" for letter in "AB"]
    how = ("--task", "matching", "--dataset", "sample")
    out = tmp_path / "c.csv"
    commands.humor_tasks("compare", logs / "first", *files, *how, "-o", out)
    rows = {frozenset((r["first"], r["second"])): r for r in csv.DictReader(io.StringIO(out.read_text()))}
    same = rows[frozenset(("baseline/first", "all_A"))]  # the baseline always answers A
    assert (float(same["difference"]), same["equal"], float(same["p_holm"])) == (0, "10", 1)
    assert rows.keys() == {frozenset(pair) for pair in itertools.combinations(("baseline/first", "all_A", "all_B"), 2)}
    assert "name their benchmark with --task" in commands.refused("compare", *files, "--dataset", "sample")


@pytest.mark.slow
def test_the_command_refuses_what_cannot_be_compared_and_writes_nothing(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "c.md"
    assert "there is no other run to compare it with" in commands.refused("compare", logs / "first", "-o", out)
    (log,) = (logs / "first").glob("*.eval")
    copy = tmp_path / "copy.eval"
    copy.write_bytes(log.read_bytes())
    assert not out.exists()
    before = copy.read_bytes()
    commands.refused("compare", logs / "lm", copy, "-o", copy)
    assert copy.read_bytes() == before
    assert "a report ends in .md, .csv, .json" in commands.refused("compare", log, copy, "-o", tmp_path / "c.txt")
