"""Reports of graded logs: the table, what does not compare, files, pictures; and the commands."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from standins.graded_logs import ROWS, Logs, explainer, grader, humor_tasks, made_log, rows_of, run
from standins.votes import tight

from humor_tasks.data.prices import VARIABLE
from humor_tasks.data.signature import Signature
from humor_tasks.data.writing import cell_text, write_bytes, write_text
from humor_tasks.errors import BadInput
from humor_tasks.results.report.graded import read_graded
from humor_tasks.results.report.table import (
    COLUMNS,
    as_csv,
    as_markdown,
    cost_correlation,
    incomparable,
    lines_of,
    plot,
    score_and_cost,
)
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.tasks import humorbench

# ---- report -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_table_has_the_best_model_first(logs: Logs) -> None:
    lines = lines_of([read_graded(path) for path in logs.pool()])
    assert [line.log.model for line in lines] == ["mockllm/a", "mockllm/b", "mockllm/c"]
    rows = rows_of(lines)
    assert rows[0] == [
        *("model", "score", "of", "hard score", "of", "no verdict", "as failed / passed"),
        *("explainer tokens in / out", "explainer cost", "grader", "grader tokens in / out", "grader cost", "version"),
    ]
    assert tight(as_markdown(lines)).splitlines()[1] == "|" + "---|" * len(rows[0])
    assert len({len(row) for row in rows}) == 1
    e = lines[0].score
    first = ["mockllm/a", f"{100 * e.value:.1f} [{100 * e.low:.1f}, {100 * e.high:.1f}]", str(e.n), "-", "0"]
    assert rows[1][:5] == first
    assert rows[1][5] == str(ROWS - e.n)
    passed = sum(point.passed is True for point in lines[0].log.points)
    assert rows[1][6] == f"{100 * passed / ROWS:.1f} / {100 * (passed + ROWS - e.n) / ROWS:.1f}"
    assert rows[1][7:9] == ["5130 / 380", f"${ROWS * 213e-6:.4f}"]
    assert rows[1][9:] == ["mockllm/judge", "266 / 38", f"${ROWS * 340e-6:.4f}", "1-A"]


def test_the_table_shows_of_how_many_points_the_hard_score_is(tmp_path: Path) -> None:
    given = {"1-a": True, "2-b": False, "3-c": True, "4-d": None}
    (tmp_path / "mine.json").write_text(json.dumps({"keys": ["1-a", "2-b", "4-d"]}))
    (line,) = lines_of([made_log(passes=given)], str(tmp_path / "mine.json"))
    _, row = rows_of([line])
    assert row[3].startswith("50.0 [")
    assert (row[2], row[4], row[5]) == ("3", "2", "1")


ALIKE = made_log(fingerprint="f")
ALIKE = dataclasses.replace(ALIKE, version="1-A", rows=12, samples=12)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"fingerprint": "other"}, "the logs differ in data file: f, other."),
        ({"fingerprint": None}, "the logs differ in data file: f, None."),
        ({"version": "2-A"}, "the logs differ in version: 1-A, 2-A."),
        ({"subset": "hard"}, "the logs differ in subset: all, hard."),
        (
            {"grading": Signature.parse("graders:k")},
            "the logs differ in grader or way of asking: graders:j, graders:k.",
        ),
        (
            {"grading": Signature.parse("graders:j|verdict:json")},
            "the logs differ in grader or way of asking: graders:j, graders:j|verdict:json.",
        ),
        ({"samples": 5, "path": Path("part.eval")}, "part.eval holds 5 samples of 12."),
    ],
)
def test_what_does_not_compare_is_named(change: dict[str, Any], told: str) -> None:
    other = dataclasses.replace(ALIKE, **change)
    assert incomparable(lines_of([ALIKE, other])) == [told]
    assert incomparable(lines_of([ALIKE, other, ALIKE, other]))[0] == told  # each value once


def test_everything_that_does_not_compare_is_named() -> None:
    change: dict[str, Any] = {
        "fingerprint": "g",
        "version": "2-A",
        "subset": "hard",
        "grading": Signature.parse("graders:k"),
        "samples": 3,
    }
    told = incomparable(lines_of([ALIKE, dataclasses.replace(ALIKE, **change)]))
    assert [text.split(":")[0].removeprefix("the logs differ in ") for text in told] == [
        *("data file", "version", "subset", "grader or way of asking", "log.eval holds 3 samples of 12."),
    ]


def test_logs_that_compare_have_nothing_told_of_them(logs: Logs) -> None:
    assert incomparable([]) == incomparable(lines_of([ALIKE])) == []
    signature = Signature({"bench": "t"})
    other = dataclasses.replace(
        ALIKE, model="x/y", signature=signature, path=Path("o.eval"), explainer=None, grader=None
    )
    assert incomparable(lines_of([ALIKE, other])) == []
    unknown = dataclasses.replace(ALIKE, rows=None, samples=3)
    assert incomparable(lines_of([ALIKE, unknown])) == []
    assert incomparable(lines_of([read_graded(path) for path in logs.pool()])) == []


@pytest.mark.slow
def test_epochs_do_not_hide_that_a_run_is_partial(tmp_path: Path) -> None:
    task = humorbench(dataset="sample", cache=False)
    half, whole = (
        run(task, explainer("a"), [grader("judge")], tmp_path, limit=limit, epochs=2) for limit in (ROWS // 2, None)
    )
    told = incomparable(lines_of([read_graded(Path(half.location)), read_graded(Path(whole.location))]))
    assert told == [f"{Path(half.location).name} holds {ROWS // 2} samples of {ROWS}."]


def test_names_with_bars_and_logs_without_verdicts() -> None:
    silent = made_log("silent", dict.fromkeys(["1-a", "2-b"]))
    lines = lines_of(
        [silent, made_log("a|b"), made_log("best", {"1-a": True}), silent, made_log("worst", {"1": False})]
    )
    assert [line.log.model for line in lines] == ["best", "a|b", "worst", "silent", "silent"]
    rows = tight(as_markdown(lines)).splitlines()
    assert rows[3].startswith("| a\\|b | 66.7 [")
    assert rows[5].startswith(
        "| silent | - | 0 | - | 0 | 2 | 0.0 / 100.0 | 1000 / 200 | $1.0000 | j | 30 / 4 | - | - |"
    )


def test_hard_score_is_over_the_keys_of_the_list(logs: Logs, tmp_path: Path) -> None:
    found = read_graded(logs.of("a", "judge"))
    chosen = [p for p in found.points if p.passed is not None][:9] + [p for p in found.points if p.passed is None][:1]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"keys": [p.id for p in chosen]}))
    (line,) = lines_of([found], str(path))
    assert line.hard == clustered_proportion(
        [float(bool(p.passed)) for p in chosen[:9]], [p.cluster for p in chosen[:9]]
    )
    assert (line.hard.n, line.cells()["hard_points"]) == (9, 9)
    (line,) = lines_of([found])  # the public list has no key of the sample
    assert line.hard.n == 0
    assert line.cells()["hard_score"] is None
    (line,) = lines_of([found], "all")
    assert line.hard == line.score
    with pytest.raises(BadInput, match="there is no 'nowhere'"):
        lines_of([found], "nowhere")


def test_the_csv_carries_the_numbers(logs: Logs) -> None:
    lines = lines_of([*(read_graded(path) for path in logs.pool()), made_log('odd, "name"', {"1-a": None}, cost=None)])
    table = list(csv.DictReader(io.StringIO(as_csv(lines))))
    objects = [line.cells() for line in lines]
    assert [list(row) for row in table] == [list(row) for row in objects] == [list(COLUMNS)] * 4
    for row, shown in zip(table, objects, strict=True):
        read = {name: cell_text(cell) for name, cell in row.items()}
        assert read == {name: "" if value is None else str(value) for name, value in shown.items()}
    cells = objects[0]
    assert (cells["model"], cells["log"]) == ("mockllm/a", logs.of("a", "judge").name)
    assert cells["score"] == lines[0].score.value
    assert (cells["low"], cells["high"]) == (lines[0].score.low, lines[0].score.high)
    assert (cells["explainer_input_tokens"], cells["grader_output_tokens"]) == (ROWS * 135, ROWS)
    assert cells["grader_cost"] == pytest.approx(ROWS * 340e-6)
    assert objects[3]["model"] == 'odd, "name"'
    assert [objects[3][name] for name in ("score", "low", "hard_score", "explainer_cost")] == [None] * 4


def test_score_and_cost_have_a_coefficient() -> None:
    passes = [{f"{i}-a": i < k for i in range(8)} for k in (2, 4, 3, 7)]
    logs = [
        made_log(f"m{i}", each, cost=cost) for i, (each, cost) in enumerate(zip(passes, (1, 3, 9, 27), strict=True))
    ]
    found = cost_correlation(lines_of([*logs, made_log("unknown", cost=None)]))
    assert found is not None
    assert (found.value, found.n) == (pytest.approx(0.8), 4)
    assert score_and_cost(lines_of(logs)).startswith(
        "Spearman's correlation of score and cost of the explanations: 0.800"
    )
    assert (cost_correlation(lines_of(logs[:2])), score_and_cost(lines_of(logs[:2]))) == (None, "")


@pytest.mark.parametrize(("kind", "begins"), [(".png", b"\x89PNG\r\n"), (".svg", b"<svg"), (".pdf", b"%PDF-")])
def test_pictures(tmp_path: Path, kind: str, begins: bytes) -> None:
    some = [made_log("mockllm/a", cost=0.5), made_log("_x/$a_$b^2", {"1-a": True, "2-b": False}, cost=2.0)]
    left_out = [made_log(cost=None), made_log(cost=0.0), made_log(passes={"1-a": None})]
    path = tmp_path / "new folder" / f"p{kind}"
    assert plot(path, lines_of([*some, *left_out])) == 2
    assert path.read_bytes().startswith(begins)
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_pictures_that_cannot_be_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("p.txt", "p", "p.jpg", "p.raw"):
        with pytest.raises(BadInput, match=r"a picture ends in \.png, \.svg, \.pdf"):
            plot(tmp_path / name, lines_of([made_log()]))
    (tmp_path / "p.png").write_text("mine")
    with pytest.raises(BadInput, match="name prices with --prices FILE"):
        plot(tmp_path / "p.png", lines_of([made_log(cost=None)]))
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(BadInput, match="humor-tasks\\[report\\]"):
        plot(tmp_path / "p.png", lines_of([made_log()]))
    assert (tmp_path / "p.png").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.md"
    path.write_text("before")

    def full(self: Path, data: bytes) -> None:
        with self.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(BadInput, match=r"cannot be written \(disk full\)"):
            write_text(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(BadInput, match="not a file that can be replaced"):
        write_bytes(tmp_path, b"")


# ---- the command line ---------------------------------------------------------------------------


def humorbench_rows(markdown: str) -> list[str]:
    """HumorBench's table with tokens and cost in a printed report."""
    _, _, after = markdown.partition("## HumorBench: tokens and cost\n\n")
    return tight(after).split("\n\n")[0].strip().splitlines()


def test_report_on_the_command_line(logs: Logs, tmp_path: Path) -> None:
    paths = [*logs.pool(), logs.of("free", "judge", limit=4)]
    done = humor_tasks("report", *paths, "-o", tmp_path / "r.json", "--plot", tmp_path / "p.svg", "--hard", "wordplay")
    assert done.exit_code == 0, done.output
    shown = done.stdout.splitlines()
    assert shown[-1] == f"{tmp_path / 'p.svg'}: 3 of 4 models have a known cost."
    lines = lines_of([read_graded(path) for path in paths], "wordplay")
    assert as_markdown(lines) in done.stdout
    told = done.stderr.splitlines()
    assert told[0] == f"Beware: {paths[-1].name} holds 4 samples of {ROWS}."
    assert all("of the graders' verdicts are missing" in each for each in told[1:])
    rows = json.loads((tmp_path / "r.json").read_text())
    whole = {row["system"]: row for row in rows if (row["metric"], row["part"]) == ("coverage", "")}
    assert {name: row["value"] for name, row in whole.items()} == {line.log.model: line.score.value for line in lines}


def test_a_plot_without_prices_comes_after_the_report(logs: Logs, tmp_path: Path) -> None:
    free = logs.of("free", "judge", limit=4)
    done = humor_tasks("report", free, "-o", tmp_path / "r.md", "--plot", tmp_path / "p.png")
    assert done.exit_code == 2
    assert (tmp_path / "r.md").read_text().startswith(done.stdout)
    assert "name prices with --prices FILE" in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["r.md"]


def test_report_prices_anew_on_the_command_line(logs: Logs, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."mockllm/free"]\ninput = 1000\noutput = 0\ncache_read = 0\ncache_write = 0\n')
    path = logs.of("free", "judge", limit=4)
    done = humor_tasks("report", path, "--prices", prices)
    ends = "| 540 / 40 | {} | mockllm/judge | 28 / 4 | {} | 1-A |"
    assert humorbench_rows(done.stdout)[2].endswith(ends.format("$0.4000", "-"))
    assert humorbench_rows(humor_tasks("report", path).stdout)[2].endswith(ends.format("-", "$0.0014"))
    done = humor_tasks("report", path, "--prices", tmp_path / "none.toml")
    assert done.exit_code == 2
    assert "prices: " in done.output


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


def test_report_says_on_stderr_what_does_not_compare(logs: Logs, tmp_path: Path) -> None:
    alike = humor_tasks("report", *logs.pool())
    missing = alike.stderr.splitlines()
    assert all("of the graders' verdicts are missing" in each for each in missing), missing
    other = logs.of("a", "free", limit=4)
    done = humor_tasks("report", *logs.pool(), other, "-o", tmp_path / "r.csv")
    assert done.exit_code == 0
    lines = lines_of([read_graded(path) for path in (*logs.pool(), other)])
    assert len(incomparable(lines)) == 2
    assert done.stderr.splitlines()[: 2 + len(missing)] == [*(f"Beware: {t}" for t in incomparable(lines)), *missing]
    assert "Beware" not in done.stdout
    assert "Beware" not in (tmp_path / "r.csv").read_text()


def test_commands_that_fail_leave_what_was_there(logs: Logs, tmp_path: Path) -> None:
    mine = {name: tmp_path / name for name in ("r.txt", "p.png", "s.json", "labels.csv")}
    for path in mine.values():
        path.write_text("mine")
    log, free = logs.of("a", "judge"), logs.of("free", "judge", limit=4)
    for arguments, message in (
        (["report"], "Missing argument"),
        (["report", tmp_path / "no.eval"], "there is no such file"),
        (["report", log, tmp_path / "no.eval", "--plot", mine["p.png"]], "there is no such file"),
        (["report", log, "-o", mine["r.txt"]], "a report ends in"),
        (["report", log, "--hard", "easy"], "there is no 'easy'"),
        (["report", free, "--plot", mine["p.png"]], "no log has both a score and a known cost"),
        (["hard-subset", log, "-o", mine["s.json"]], "no row has 3 verdicts; the most is 1"),
        (["hard-subset", log, "-o", mine["s.json"], "--size", "0"], "0 is not in the range"),
        (["hard-subset", log, "-o", mine["s.json"], "--min-attempts", "1"], "100 would be all of them"),
        (["hard-subset", log], "Missing option '-o'"),
        (["correct-for-judge", log, "--labels", mine["labels.csv"]], "there is no column 'label'"),
        (["correct-for-judge", mine["s.json"], "--labels", mine["labels.csv"]], "cannot be read as an Inspect log"),
        (["correct-for-judge", log], "Missing option '--labels'"),
    ):
        done = humor_tasks(*arguments)
        assert done.exit_code == 2, arguments
        assert message in " ".join(done.output.split()), arguments
        assert "Traceback" not in done.output
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(mine, "mine")


@pytest.mark.slow
def test_a_process_of_its_own(logs: Logs, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "humor_tasks.cli", "report", str(logs.of("a", "judge")), "-o"]
    done = subprocess.run([*command, str(tmp_path / "r.csv")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    row = next(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text())))
    assert float(row["cost"]) == pytest.approx(ROWS * 213e-6)
    assert done.stdout.startswith("# Report")
    refused = subprocess.run([*command, str(tmp_path / "r.txt")], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "a report ends in" in refused.stderr
    assert "Traceback" not in refused.stderr
