"""`humor-tasks compare`: which runs are compared, and what is said of those that differ."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from standins.finished_runs import coins, compared, finished, marked

from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import Signature
from humor_tasks.results import LeftOut, Result, Results, differences
from humor_tasks.results.comparable import labels
from humor_tasks.results.compare import as_markdown, compare
from humor_tasks.results.report.grouping import groups_of
from humor_tasks.results.report.scorecard import scorecard
from humor_tasks.rows.records import Outcome

# ---- what is said -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "size", "note"),
    [
        (coins(1), coins(1), 4, "a and b: equal on every item. Their interval is a point"),
        (coins(1), coins(2), 120, "All items are in one cluster: it is not known how clusters differ."),
        (coins(1), coins(2), 24, "With 5 clusters p cannot be below 0.0625, or 0.0625 after"),
    ],
)
def test_what_the_figures_cannot_show_is_said(first: list[float], second: list[float], size: int, note: str) -> None:
    (found,) = compared(marked("a", first, size), marked("b", second, size)).benchmarks
    assert any(said.startswith(note) for said in found.notes), found.notes
    (c,) = found.comparisons
    assert c.test.p_value >= 0.0625
    if "cannot" not in note:
        assert (c.test.p_value, c.test.adjusted) == (1, 1)


def test_items_that_count_in_one_run_only_are_left_out_and_said() -> None:
    a, b = marked("a", coins(1)), marked("b", coins(2))
    unread = tuple(dataclasses.replace(o, values={"unparsed": 1.0}) if i < 7 else o for i, o in enumerate(b.outcomes))
    (found,) = compared(a, dataclasses.replace(b, outcomes=unread)).benchmarks
    (c,) = found.comparisons
    assert (c.left_out, c.test.difference.n) == (7, 113)
    assert found.notes == ("a and b: 7 items count in one of the two only, and are left out.",)


def test_other_settings_are_told_with_the_systems_of_each() -> None:
    shots = {"a": 0, "b": 0, "c": 5, "d": 0, "e": 0}
    runs = [marked(name, coins(i), signature=f"v:2-A|shots:{n}") for i, (name, n) in enumerate(shots.items())]
    (found,) = compared(*runs[:1], runs[2]).benchmarks
    assert found.notes == ("The systems differ in number of worked examples: 0 (a), 5 (c).",)
    assert found.comparisons[0].differences == ("number of worked examples: 0 and 5",)
    (found,) = compared(*runs).benchmarks
    (note,) = found.notes
    assert "5 (c)" in note
    assert ", 2 more)" in note


# ---- what is not compared -----------------------------------------------------------------------


def test_runs_that_do_not_compare_are_listed_and_the_others_compared() -> None:
    a, b = marked("a", coins(1)), marked("b", coins(2))
    short = marked("short", coins(3, n=100))
    short = dataclasses.replace(short, complete=False, notes=("incomplete: 100 of 120 items.",))
    alone = marked("x", coins(4), benchmark="ranking")
    left = LeftOut(Path("again.eval"), "is the same run as a.eval.")
    found = compare(Results((a, b, short, alone), (left,)))
    assert [(c.first.label, c.second.label) for each in found.benchmarks for c in each.comparisons] in (
        [("a", "b")],
        [("b", "a")],
    )
    assert {s.label for each in found.benchmarks for s in each.systems} == {"a", "b"}  # `short` has no place
    told = {(each.benchmark, each.what): each.why for each in found.refused}
    assert told.pop(("ranking", "x")) == "there is no other run to compare it with."
    assert set(told.values()) == {"short: incomplete: 100 of 120 items."}
    text = as_markdown(found)
    assert "- matching: " in text
    assert ", and 1 more: short: incomplete: 100 of 120 items." in text
    assert "- again.eval: is the same run as a.eval." in text


def other_rows(n: int) -> Result:
    made = marked("b", coins(2, n))
    return dataclasses.replace(made, outcomes=tuple(dataclasses.replace(o, id=f"{o.id}x") for o in made.outcomes))


def with_outcomes(result: Result, **change: Any) -> Result:
    return dataclasses.replace(result, outcomes=tuple(dataclasses.replace(o, **change) for o in result.outcomes))


A = marked("a", coins(1), signature="v:2-A|split:test|prompts:1")


@pytest.mark.parametrize(
    ("results", "metric", "message"),
    [
        ([A], None, "a: there is no other run to compare it with"),
        ([A, marked("b", coins(2), benchmark="ranking")], None, "ranking: b: there is no other run"),
        ([A, other_rows(120)], None, "a and b: rows: 240 of 240 are in one of the two only"),
        ([A, with_outcomes(marked("b", coins(2)), target="B")], None, "rows: 120 of 120 have another target"),
        ([A, with_outcomes(marked("b", coins(2)), cluster="c")], None, "have the same items in other clusters"),
        (
            [A, marked("b", coins(2), signature="v:1-A|split:test|prompts:1")],
            None,
            "version of the benchmark: 2-A and 1-A",
        ),
        ([A, marked("b", coins(2), signature="v:2-A|split:dev|prompts:1")], None, "split: test and dev"),
        ([A, marked("b", coins(2), signature="v:2-A|split:test|prompts:2")], None, "prompt set: 1 and 2"),
        ([A, dataclasses.replace(A, scorer="mine")], None, "are one run, scored by multiple_choice and mine"),
        ([A, marked("b", coins(2))], "bleu", "matching: bleu: unknown metric; choose from accuracy, unparsed"),
        (
            [A, with_outcomes(marked("b", coins(2)), values={"unparsed": 1.0})],
            None,
            "b: no item counts towards accuracy",
        ),
        (
            [with_outcomes(r, values={"unparsed": 0.0}) for r in (A, marked("b", coins(2)))],
            "accuracy",
            "accuracy: unknown metric; choose from",
        ),
    ],
)
def test_where_nothing_compares_the_reasons_are_the_error(
    results: list[Result], metric: str | None, message: str
) -> None:
    with pytest.raises(BadInput, match="nothing to compare") as raised:
        compared(*results, metric=metric)
    assert message in str(raised.value)


def test_different_graders_do_not_compare() -> None:
    runs = []
    for name, grader in (("a", "one"), ("b", "other")):
        outcome = {"coverage": 1.0, "graded_points": 1.0, "asked_points": 1.0}
        found = finished(
            name, [Outcome(f"i{i}", f"c{i}", {}, "answered", "t", None, outcome) for i in range(4)], "humorbench"
        )
        runs.append(dataclasses.replace(found, run=dataclasses.replace(found.run, role_models={"grader": (grader,)})))
    with pytest.raises(BadInput, match="a and b: graders: one and other"):
        compared(*runs)


PLAIN = {"v": "2-A", "rows": "1", "setting": "description", "chain_of_task": "False", "prompts": "1"}
GRADING = {"verdict": "tags", "temperature": "0.0", "seed": "1", "prompts": "1"}
CHANGED: list[tuple[dict[str, str], dict[str, str], str, bool]] = [
    # entries of the second run's signature, of its graders', what is said, and whether the two compare at all
    ({"judge_shots": "3"}, {}, "number of worked examples of the judges: - and 3", False),
    ({}, {"verdict": "json"}, "verdict of the graders: tags and json", False),
    ({}, {"temperature": "1.0"}, "temperature of the graders: 0.0 and 1.0", False),
    ({}, {"prompts": "2"}, "prompts of the graders: 1 and 2", False),
    ({"solver": "chain_of_thought-1"}, {}, "solver: - and chain_of_thought-1", True),
    ({"setting": "described", "describer": "d-1"}, {}, "describer: - and d-1", True),
    ({"system_message": "1"}, {}, "system message: - and 1", True),
    ({"chain_of_task": "True", "prompts": "2"}, {}, "Chain-of-Task: False and True", True),
    ({"rows": "2"}, {}, "fingerprint of the rows: 1 and 2", True),
    ({"chat_template": "applied"}, {}, "chat template: - and applied", True),
    ({"generation": "temperature=0.7"}, {}, "generation settings: - and temperature=0.7", True),
    ({"anything": "new"}, {}, "anything: - and new", True),
]
RANKED = ("chat_template", "generation", "anything")


@pytest.mark.parametrize(("entries", "grading", "told", "compares"), CHANGED)
def test_whatever_differs_is_refused_or_told(
    entries: dict[str, str], grading: dict[str, str], told: str, compares: bool
) -> None:
    def run(name: str, seed: int, signed: dict[str, str], judged: dict[str, str]) -> Result:
        made = marked(name, coins(seed), signature=str(Signature(signed)))
        return dataclasses.replace(made, judging=judged)

    a, b = run("a", 1, PLAIN, GRADING), run("b", 2, PLAIN | entries, GRADING | grading)
    if compares:
        (found,) = compared(a, b).benchmarks
        assert told in found.comparisons[0].differences
        assert any(told.partition(":")[0] in note for note in found.notes)
    else:
        with pytest.raises(BadInput, match=told):
            compared(a, b)
    groups = groups_of(a.benchmark, [a, b])
    ranked = entries.keys() <= set(RANKED) and not grading
    assert len(groups) == (1 if ranked else 2)
    assert any(told.partition(":")[0] in each for group in groups for each in (*group.differences, *group.apart))
    if "generation" in entries:  # beside each number
        (column,) = scorecard(Results((a, b))).columns
        assert {cell.label for cell in column.cells} == {"generation -", "generation temperature=0.7"}


@pytest.mark.parametrize(
    ("inspect", "lm_eval", "told"),
    [
        ("", "", ["generation settings: - and temperature=0.0"]),
        ("|generation:temperature=0.0", "", []),
        ("|generation:temperature=1", "|generation:temperature=1", []),
        ("", "|generation:top_p=0.5", ["generation settings: - and temperature=0.0,top_p=0.5"]),
    ],
)
def test_lm_eval_samples_greedily_by_itself_and_inspect_does_not(inspect: str, lm_eval: str, told: list[str]) -> None:
    a, b = (
        marked(name, coins(2), signature=f"v:2-A|method:generate{s}") for name, s in (("a", inspect), ("b", lm_eval))
    )
    assert differences(a, dataclasses.replace(b, run=dataclasses.replace(b.run, harness="lm_eval"))) == told


def test_two_settings_have_rows_of_their_own_and_are_columns_of_one_group() -> None:
    a, b = (
        marked(name, coins(i), signature=f"v:2-A|rows:{i}|setting:{setting}|prompts:{i}")
        for i, (name, setting) in enumerate((("a", "pixels"), ("b", "description")))
    )
    assert differences(a, b) == ["setting: pixels and description"]
    assert len(groups_of(a.benchmark, [a, b])) == 1


def graded_run(name: str, shares: Sequence[float | None]) -> Result:
    """A run of HumorBench with one point an item; None is a missing verdict."""
    outcomes = []
    for i, share in enumerate(shares):
        missing = {"grader_failed": float(share is None), "undecided": 0.0, "asked_points": 1.0}
        found = missing if share is None else missing | {"coverage": share, "graded_points": 1.0}
        outcomes.append(Outcome(f"i{i}", f"c{i // 3}", {}, "answered", "text", None, found))
    return finished(name, outcomes, "humorbench")


def test_missing_verdicts_of_graders_are_warned_of() -> None:
    (found,) = compared(graded_run("a", [1.0, 0.0] * 15), graded_run("b", [None] * 3 + [1.0] * 27)).benchmarks
    (warning, left_out) = found.notes
    assert warning.startswith("b: 10.0% of the graders' verdicts are missing")
    assert left_out == "a and b: 3 items count in one of the two only, and are left out."
    assert found.comparisons[0].test.difference.n == 27


def test_a_ratio_of_sums_is_no_mean_over_items() -> None:
    rng = random.Random(0)

    def captions(name: str) -> Result:
        outcomes = []
        for i in range(40):
            n = 1 + i % 3
            share = sum(rng.random() < 0.5 for _ in range(n)) / n
            found = {"coverage": share, "graded_points": float(n), "asked_points": float(n)}
            outcomes.append(Outcome(f"i{i}", f"c{i // 2}", {}, "answered", "text", None, found))
        return finished(name, outcomes, "humorbench")

    runs = [captions("a"), captions("b")]
    (found,) = compared(*runs).benchmarks
    (c,) = found.comparisons
    a, b = (run.estimates["coverage"].value for run in runs)
    assert c.test.difference.value == pytest.approx(a - b)
    assert found.notes[0].startswith("coverage is no mean over items")
    assert c.wins
    assert sum(c.wins) == 40


# ---- names --------------------------------------------------------------------------------------


def test_runs_of_one_system_are_told_apart_by_what_differs() -> None:
    def run(system: str, path: str, **more: Any) -> Result:
        return dataclasses.replace(marked(system, [1.0], **more), paths=(Path(path),))

    shots = [run("m", "a.eval", signature=f"v:2-A|shots:{n}|prompts:1") for n in (0, 5)]
    assert labels([*shots, run("n", "c.eval")]) == ["m, shots=0", "m, shots=5", "n"]
    assert labels([run("m", "x/a.eval"), run("m", "x/b.eval")]) == ["m, a.eval", "m, b.eval"]
    assert labels([run("m", "x/a.eval"), run("m", "y/a.eval")]) == ["m, x/a.eval", "m, y/a.eval"]
    mixed = run("m", "b.eval")
    mixed = dataclasses.replace(mixed, run=dataclasses.replace(mixed.run, harness="lm_eval"))
    assert labels([run("m", "a.eval"), mixed]) == ["m, inspect", "m, lm_eval"]
    assert labels([run("a", "a.eval"), run("b", "a.eval")]) == ["a", "b"]
