"""Reports of runs that ask each item several times: cells, columns, tables and figures; one end to end with compare."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest
from inspect_ai import eval
from inspect_ai.model import ChatMessage
from standins import commands
from standins.finished_runs import in_all_orders, marked, under_sets
from standins.once import made_once
from standins.votes import tight

from humor_tasks import load
from humor_tasks.on_inspect.tasks.caption_contest import matching
from humor_tasks.results import Results
from humor_tasks.results.report.build import Report, build_report
from humor_tasks.results.report.folder import FILES
from humor_tasks.results.report.markdown import as_markdown
from humor_tasks.results.report.table import COLUMNS, SEVERAL
from humor_tasks.testing import ScriptedModel

# Of 8 items right: all under A and B, 6 under C, 4 under D, none under E; another system half of them under each.
RIGHT = {"A": 8, "B": 8, "C": 6, "D": 4, "E": 0}
UNEVEN = under_sets("uneven", {letter: [1.0] * n + [0.0] * (8 - n) for letter, n in RIGHT.items()})
EVEN = under_sets("even", {letter: [1.0, 0.0] * 4 for letter in RIGHT})
# Half of the items are answered rightly in every order, of the others the first letter is the answer in every order.
FIRST = in_all_orders("first", ["ABCDE", "AAAAA"] * 4)


def report_of(*results: object) -> Report:
    return build_report(Results(results))  # type: ignore[arg-type]


def test_the_cell_has_the_spread_and_the_table_each_prompt_set() -> None:
    markdown = tight(as_markdown(report_of(UNEVEN, EVEN)))
    (scorecard,) = (line for line in markdown.splitlines() if line.startswith("| uneven | 65.0"))
    assert ", spread 100.0 [" in scorecard
    assert "Spread: the highest less the lowest value under one prompt set." in markdown
    assert "each item asked 5 times (5 prompt sets)" in markdown
    assert "| score | spread | n |" in markdown
    assert "Order effect" not in markdown
    head, _, uneven, even = markdown.split("accuracy under each prompt set:\n\n")[1].splitlines()[:4]
    titles = [*(f"set {letter}, %" for letter in RIGHT), "same answer, %", "right under all, %"]
    assert head == f"| system | {' | '.join(titles)} |"
    values = {line.split(" | ")[0]: [cell.split(" [")[0] for cell in line.split(" | ")[1:]] for line in (uneven, even)}
    assert values == {
        "| uneven": ["100.0", "100.0", "75.0", "50.0", "0.0", "0.0", "0.0"],
        "| even": ["50.0", "50.0", "50.0", "50.0", "50.0", "100.0", "50.0"],
    }


def test_the_figure_has_one_dot_a_prompt_set_beside_the_value_over_all_with_its_interval() -> None:
    charts = {chart.name: chart for chart in report_of(UNEVEN, EVEN).charts}
    series = {s.name: s.points for s in charts["prompt_sets_matching"].series}
    assert list(series) == ["all sets", *(f"set {letter}" for letter in RIGHT)]
    assert [(p.x, p.y) for p in series["all sets"]] == [("uneven", 0.65), ("even", 0.5)]
    assert all(p.low is not None for p in series["all sets"])
    assert [(p.y, p.low) for name, points in series.items() if name != "all sets" for p in points] == [
        pair for n in RIGHT.values() for pair in ((n / 8, None), (0.5, None))
    ]


def test_places_and_letters_stand_against_the_share_in_which_each_letter_is_right() -> None:
    report = report_of(FIRST)
    charts = {chart.name: chart for chart in report.charts}
    (place,), (letter,) = charts["places_matching"].series, charts["letters_matching"].series
    assert [(p.x, p.y) for p in place.points] == [("A", 1), *((x, 0.5) for x in "BCDE")]
    assert [(p.x, round(p.y, 9)) for p in letter.points] == [("A", 0.6), *((x, 0.1) for x in "BCDE")]
    assert [(line.label, line.value) for line in charts["letters_matching"].references] == [
        ("share of right answers, 1/5", 0.2)
    ]
    markdown = tight(as_markdown(report))
    assert "order effect 50.0 [" in markdown
    assert "share of answers by letter; each letter is right in 20.0 % of the questions:" in markdown
    assert "| first | 60.0 [" in markdown


def test_the_tidy_table_has_more_columns_only_where_an_item_is_asked_several_times() -> None:
    once = marked("once", [1.0, 0.0] * 4)
    assert [list(row) for row in report_of(once).rows[:1]] == [list(COLUMNS)]
    assert not [c.name for c in report_of(once).charts if c.name.startswith(("prompt_sets", "places", "letters"))]
    report = report_of(once, UNEVEN, FIRST)
    rows = list(csv.DictReader(io.StringIO(FILES[".csv"](report))))
    assert list(rows[0]) == [*COLUMNS, *SEVERAL]
    assert json.loads(FILES[".json"](report))[0].keys() == rows[0].keys()
    main = {row["system"]: [row[name] for name in SEVERAL] for row in rows if row["metric"] == "accuracy"}
    assert main.pop("first")[:2] == ["5", ""]
    assert main == {"once": ["1", "", ""], "uneven": ["5", "1.0", ""]}
    under = [row for row in rows if row["metric"] == "accuracy_set_C"]
    assert [(row["value"], row["n"], row["unparsed"], row["spread"]) for row in under] == [("0.75", "8", "", "")]


# ---- end to end ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two scripted models under all prompt sets; cut/, with a limit; one/, of set A."""
    run = load("matching", dataset="sample", prompts="all")
    asked = {tuple(turn.text for turn in run.prompt(record).turns): record for record in run.records}

    def reply(name: str, share: float) -> ScriptedModel:
        def answer(messages: list[ChatMessage]) -> str:
            record = asked[tuple(message.text for message in messages)]
            right = random.Random(name + record.id).random() < share
            return f"Answer: {record.target if right else 'A'}"

        return ScriptedModel(name, answer)

    def make(place: Path) -> None:
        for name, share in (("strong", 0.8), ("weak", 0.4)):
            eval(matching("sample", prompts="all"), model=reply(name, share).model, log_dir=str(place / name))
        eval(matching("sample", prompts="all"), model=reply("cut", 0.5).model, log_dir=str(place / "cut"), limit=7)
        eval(matching("sample"), model=reply("one", 0.5).model, log_dir=str(place / "one"))

    return made_once(tmp_path_factory, "runs under all prompt sets", make)


@pytest.mark.slow
def test_report_and_compare_read_logs_of_all_prompt_sets(logs: Path, tmp_path: Path) -> None:
    commands.humor_tasks("report", logs, "-o", tmp_path / "report")
    markdown = tight((tmp_path / "report" / "report.md").read_text())
    assert "mockllm/cut: incomplete: 7 of 50 replies, 5 an item." in markdown
    assert "askings of each item: 5 times (5 prompt sets) and once" in markdown
    page = (tmp_path / "report" / "index.html").read_text()
    assert "<dt>each item asked</dt><dd>5 times (5 prompt sets)</dd>" in page
    assert "accuracy under each prompt set" in page
    assert (tmp_path / "report" / "figures" / "prompt_sets_matching_a.svg").exists()
    said = tight(commands.humor_tasks("compare", logs / "strong", logs / "weak", logs / "one"))
    assert "### matching: accuracy under each prompt set" in said
    assert "(run both with the same prompts and order)" in said
    (tested,) = (line for line in said.splitlines() if line.startswith("| E |"))
    assert "| 10 / 5 |" in tested
