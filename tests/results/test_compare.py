"""`humor-tasks compare`: which runs are compared, by what, and what is said of them."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import json
import math
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from standins import commands
from standins.votes import tight

from humor_tasks import load, scorers
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.data.logs import FinishedRun
from humor_tasks.data.records import Outcome
from humor_tasks.data.signature import Signature
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question, best
from humor_tasks.results import LeftOut, Result, Results, differences, read_results
from humor_tasks.results import compare as compare_module
from humor_tasks.results.comparable import labels
from humor_tasks.results.compare import ALPHA, COLUMNS, Comparisons, as_csv, as_json, as_markdown, compare
from humor_tasks.results.report.grouping import groups_of
from humor_tasks.results.report.scorecard import scorecard


def paired_test(first: Any, second: Any, clusters: Any, **settings: Any) -> scorers.PairedTest:
    return scorers.paired_tests([(first, second, clusters)], **settings)[0]


def of(name: str, outcomes: Sequence[Outcome], benchmark: str = "matching", **more: Any) -> Result:
    """A run of the system `name` with these outcomes; those of several epochs follow each other."""
    version = find_benchmark(benchmark).version
    signature = Signature.parse(more.pop("signature", "-"))
    run = FinishedRun(Path(f"{name}.eval"), "inspect", benchmark, version, signature, name, len(outcomes), ())
    opened = find_benchmark(benchmark).reopen(version, more.pop("options", {}))
    epochs = (1,) * len(outcomes)
    return Result(run, opened, "multiple_choice", name, tuple(outcomes), epochs, **{"paths": (run.path,)} | more)


def right(
    name: str, marks: Sequence[float], contests: int | Sequence[str] = 4, benchmark: str = "matching", **more: Any
) -> Result:
    """A run that is right or wrong on each item; `contests` of these, or of so many items each."""
    of_contest = [f"c{i // contests}" for i in range(len(marks))] if isinstance(contests, int) else contests
    outcomes = [
        Outcome(f"i{i}", contest, {"fold": str(i % 5)}, "answered", "A", "A", {"accuracy": mark, "unparsed": 0.0})
        for i, (mark, contest) in enumerate(zip(marks, of_contest, strict=True))
    ]
    return of(name, outcomes, benchmark, **more)


def rated(name: str, ratings: Sequence[float], size: int = 4) -> Result:
    """A run of ratings; the mean grade of item i is (i % 16) / 5."""
    outcomes = []
    for i, rating in enumerate(ratings):
        gold = (i % 16) / 5
        values = {"rmse": abs(rating - gold), "unparsed": 0.0}
        outcomes.append(Outcome(f"i{i}", f"c{i // size}", {}, "answered", str(rating), str(gold), values))
    return of(name, outcomes, "humicroedit_rating")


def marks(seed: int, n: int = 120, share: float = 0.6) -> list[float]:
    rng = random.Random(seed)
    return [float(rng.random() < share) for _ in range(n)]


def compared(*results: Result, metric: str | None = None) -> Comparisons:
    return compare(Results(results), metric)


def values(result: Result, metric: str = "accuracy") -> list[float]:
    return [outcome.values[metric] for outcome in result.outcomes]


CLUSTERS = [f"c{i // 4}" for i in range(120)]


# ---- figures ------------------------------------------------------------------------------------


def test_two_systems_have_the_figures_of_the_paired_test_and_keep_their_order() -> None:
    worse, better = right("worse", marks(1, share=0.3)), right("better", marks(2, share=0.8))
    (found,) = compared(worse, better).benchmarks
    (c,) = found.comparisons
    assert c.test == paired_test(values(worse), values(better), CLUSTERS)
    assert c.test.difference.value < 0
    assert c.wins == (c.test.higher, c.test.lower, c.test.equal)
    assert sum(c.wins) == 120
    assert [system.label for system in found.systems] == ["worse", "better"]
    assert (found.metric, found.direction, c.left_out, found.notes) == ("accuracy", "higher", 0, ())


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_two_runs_and_of_their_items_changes_only_signs(seed: int) -> None:
    a, b = right("a", marks(seed)), right("b", marks(seed + 100))
    shuffled = dataclasses.replace(b, outcomes=tuple(random.Random(seed).sample(b.outcomes, 120)))
    (one,), (other,) = (compared(*pair).benchmarks[0].comparisons for pair in ((a, b), (shuffled, a)))
    assert other.test.difference.value == pytest.approx(-one.test.difference.value)
    assert other.test.difference.low == pytest.approx(-one.test.difference.high)
    for name in ("p_value", "adjusted", "t_p_value", "mcnemar"):
        assert getattr(other.test, name) == pytest.approx(getattr(one.test, name))
    assert one.wins
    assert other.wins == (one.wins[1], one.wins[0], one.wins[2])


def test_many_systems_are_ranked_and_holms_correction_is_over_all_benchmarks() -> None:
    shares = {"low": 0.3, "high": 0.8, "middle": 0.5}
    runs = [right(name, marks(i, share=share)) for i, (name, share) in enumerate(shares.items())]
    pair = [right(name, marks(9 + i), benchmark="ranking") for i, name in enumerate("ab")]
    found = compared(*runs, *pair)
    matching, ranking = found.benchmarks
    assert [system.label for system in matching.systems] == ["high", "middle", "low"]
    assert [(c.first.label, c.second.label) for c in matching.comparisons] == [
        ("high", "middle"),
        ("high", "low"),
        ("middle", "low"),
    ]
    tests = [c.test for each in found.benchmarks for c in each.comparisons]
    assert found.count == len(tests) == 4
    assert [t.adjusted for t in tests] == pytest.approx(scorers.holm([t.p_value for t in tests]))
    expected = scorers.permutation_items(
        values(pair[0]), values(pair[1]), CLUSTERS, tests[3].difference.value, level=1 - ALPHA / 4
    )
    assert ranking.comparisons[0].test.needed == expected


def test_strengths_are_those_of_every_item_as_a_comparison_of_each_pair() -> None:
    runs = [right(name, marks(i, share=0.4 + i / 10)) for i, name in enumerate("abc")]
    (found,) = compared(*runs).benchmarks
    rows = [
        (one.system, other.system, (1 + x - y) / 2, cluster)
        for one, other in itertools.combinations(runs, 2)
        for x, y, cluster in zip(values(one), values(other), CLUSTERS, strict=True)
    ]
    plainly = scorers.bradley_terry(*map(list, zip(*rows, strict=True)))
    for system in found.systems:
        assert system.strength
        e, expected = system.strength.estimate, plainly[system.label].estimate
        assert (e.n, e.clusters) == (expected.n, expected.clusters) == (240, 30)
        assert e.value == pytest.approx(expected.value)
        assert (system.strength.best, system.strength.worst) == (
            plainly[system.label].best,
            plainly[system.label].worst,
        )


def test_strengths_need_evalica_and_are_else_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "evalica", None)
    (found,) = compared(*(right(name, marks(i)) for i, name in enumerate("abc"))).benchmarks
    assert [system.strength for system in found.systems] == [None] * 3
    assert any('pip install "humor-tasks[preference]"' in note for note in found.notes)


def test_where_lower_is_better_the_lower_value_wins() -> None:
    bad = right("bad", marks(1))
    bad = dataclasses.replace(
        bad,
        outcomes=tuple(
            dataclasses.replace(o, values={**o.values, "unparsed": float(i < 12)}) for i, o in enumerate(bad.outcomes)
        ),
    )
    runs = [bad, right("good", marks(2)), right("fine", marks(3))]
    (found,) = compared(*runs, metric="unparsed").benchmarks
    assert (found.direction, found.systems[-1].label) == ("lower", "bad")
    c = next(c for c in found.comparisons if c.second.label == "bad")
    assert c.wins == (12, 0, 108)
    assert c.test.difference.value == pytest.approx(-0.1)
    strengths = {s.label: s.strength.estimate.value for s in found.systems if s.strength}
    assert strengths["bad"] < strengths["good"] == pytest.approx(strengths["fine"])


def test_epochs_are_averaged_by_item() -> None:
    a, b = right("a", marks(1)), right("b", marks(2))
    twice = dataclasses.replace(a, outcomes=a.outcomes + right("a", marks(5)).outcomes, epochs=(1,) * 120 + (2,) * 120)
    (c,) = compared(twice, b).benchmarks[0].comparisons
    means = [(x + y) / 2 for x, y in zip(marks(1), marks(5), strict=True)]
    assert c.test == paired_test(means, values(b), CLUSTERS)
    assert c.test.difference.n == 120
    assert math.isnan(c.test.mcnemar)


def test_an_rmse_is_compared_by_the_jackknife() -> None:
    gold = [(i % 16) / 5 for i in range(240)]
    rng = random.Random(0)
    near, far = ([g + rng.gauss(0, spread) for g in gold] for spread in (0.3, 0.6))
    (found,) = compared(rated("near", near), rated("far", far)).benchmarks
    (c,) = found.comparisons
    clusters = [f"c{i // 4}" for i in range(240)]
    e = c.test.difference
    assert e.value == pytest.approx(scorers.rmse(near, gold, clusters).value - scorers.rmse(far, gold, clusters).value)
    by_hand = scorers.linearised(
        lambda x, y: x**0.5 - y**0.5,
        [[(r - g) ** 2 for r, g in zip(column, gold, strict=True)] for column in (near, far)],
        clusters,
    )
    assert e.stderr == pytest.approx(by_hand.stderr, rel=0.2)  # of 50 groups of 60 clusters
    assert (e.n, e.clusters, found.direction) == (240, 60, "lower")
    squares = [[(r - g) ** 2 for r, g in zip(column, gold, strict=True)] for column in (near, far)]
    assert c.test.p_value == pytest.approx(paired_test(*squares, clusters).p_value, abs=1e-3)
    assert math.isnan(c.test.mcnemar)
    assert c.wins
    assert c.wins[0] == sum(abs(x - g) < abs(y - g) for x, y, g in zip(near, far, gold, strict=True))
    assert "rmse is no mean over items: " in found.notes[0]
    assert c.test.needed
    assert c.test.needed < 240


def test_a_correlation_has_no_winner_of_an_item() -> None:
    rng = random.Random(0)
    runs = [rated(name, [(i % 16) / 5 + rng.gauss(0, 0.5) for i in range(80)]) for name in "abc"]
    (found,) = compared(*runs, metric="pearson").benchmarks
    assert [c.wins for c in found.comparisons] == [None] * 3
    assert any(note.startswith("No Bradley-Terry strengths: pearson has no value of an item") for note in found.notes)
    constant = rated("constant", [1.0] * 80)
    with pytest.raises(BadInput, match="pearson is not defined without some of the clusters"):
        compared(constant, runs[0], metric="pearson")


def test_a_part_of_a_metric_is_compared_over_its_items() -> None:
    runs = [right(name, marks(i), options={"fold": "all"}) for i, name in enumerate("ab")]
    (found,) = compared(*runs, metric="accuracy_fold2").benchmarks
    (c,) = found.comparisons
    kept = range(2, 120, 5)
    expected = paired_test(*([values(r)[i] for i in kept] for r in runs), [CLUSTERS[i] for i in kept])
    assert (found.metric, c.test) == ("accuracy_fold2", expected)


def test_a_mean_of_folds_is_told_apart_from_the_mean_over_items() -> None:
    uneven = [right(name, marks(i, n=118), options={"fold": "all"}) for i, name in enumerate("ab")]
    (found,) = compared(*uneven).benchmarks
    reported = uneven[0].estimates["accuracy"].value
    assert any(
        note.startswith(f"a: the run reports accuracy {reported:.4f}, a mean of its folds or parts")
        for note in found.notes
    )


def test_of_many_comparisons_more_permutations_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_module, "DRAWS", 20)
    monkeypatch.setattr(compare_module, "DRAWS_EACH", 30)
    rng = random.Random(0)
    runs = [rated(name, [rng.uniform(0, 3) for _ in range(120)]) for name in "abc"]
    (found,) = compared(*runs).benchmarks
    assert {c.test.draws for c in found.comparisons} == {90}
    assert all(c.test.p_value >= 1 / 91 for c in found.comparisons)


# ---- what is said -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "size", "note"),
    [
        (marks(1), marks(1), 4, "a and b: equal on every item. Their interval is a point"),
        (marks(1), marks(2), 120, "All items are in one cluster: it is not known how clusters differ."),
        (marks(1), marks(2), 24, "With 5 clusters p cannot be below 0.0625, or 0.0625 after"),
    ],
)
def test_what_the_figures_cannot_show_is_said(first: list[float], second: list[float], size: int, note: str) -> None:
    (found,) = compared(right("a", first, size), right("b", second, size)).benchmarks
    assert any(said.startswith(note) for said in found.notes), found.notes
    (c,) = found.comparisons
    assert c.test.p_value >= 0.0625
    if "cannot" not in note:
        assert (c.test.p_value, c.test.adjusted) == (1, 1)


def test_items_that_count_in_one_run_only_are_left_out_and_said() -> None:
    a, b = right("a", marks(1)), right("b", marks(2))
    unread = tuple(dataclasses.replace(o, values={"unparsed": 1.0}) if i < 7 else o for i, o in enumerate(b.outcomes))
    (found,) = compared(a, dataclasses.replace(b, outcomes=unread)).benchmarks
    (c,) = found.comparisons
    assert (c.left_out, c.test.difference.n) == (7, 113)
    assert found.notes == ("a and b: 7 items count in one of the two only, and are left out.",)


def test_other_settings_are_told_with_the_systems_of_each() -> None:
    shots = {"a": 0, "b": 0, "c": 5, "d": 0, "e": 0}
    runs = [right(name, marks(i), signature=f"v:2-A|shots:{n}") for i, (name, n) in enumerate(shots.items())]
    (found,) = compared(*runs[:1], runs[2]).benchmarks
    assert found.notes == ("The systems differ in number of worked examples: 0 (a), 5 (c).",)
    assert found.comparisons[0].differences == ("number of worked examples: 0 and 5",)
    (found,) = compared(*runs).benchmarks
    (note,) = found.notes
    assert "5 (c)" in note
    assert ", 2 more)" in note


# ---- what is not compared -----------------------------------------------------------------------


def test_runs_that_do_not_compare_are_listed_and_the_others_compared() -> None:
    a, b = right("a", marks(1)), right("b", marks(2))
    short = right("short", marks(3, n=100))
    short = dataclasses.replace(short, complete=False, notes=("incomplete: 100 of 120 items.",))
    alone = right("x", marks(4), benchmark="ranking")
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
    made = right("b", marks(2, n))
    return dataclasses.replace(made, outcomes=tuple(dataclasses.replace(o, id=f"{o.id}x") for o in made.outcomes))


def changed(result: Result, **change: Any) -> Result:
    return dataclasses.replace(result, outcomes=tuple(dataclasses.replace(o, **change) for o in result.outcomes))


A = right("a", marks(1), signature="v:2-A|split:test|prompts:1")


@pytest.mark.parametrize(
    ("results", "metric", "message"),
    [
        ([A], None, "a: there is no other run to compare it with"),
        ([A, right("b", marks(2), benchmark="ranking")], None, "ranking: b: there is no other run"),
        ([A, other_rows(120)], None, "a and b: rows: 240 of 240 are in one of the two only"),
        ([A, changed(right("b", marks(2)), target="B")], None, "rows: 120 of 120 have another target"),
        ([A, changed(right("b", marks(2)), cluster="c")], None, "have the same items in other clusters"),
        (
            [A, right("b", marks(2), signature="v:1-A|split:test|prompts:1")],
            None,
            "version of the benchmark: 2-A and 1-A",
        ),
        ([A, right("b", marks(2), signature="v:2-A|split:dev|prompts:1")], None, "split: test and dev"),
        ([A, right("b", marks(2), signature="v:2-A|split:test|prompts:2")], None, "prompt set: 1 and 2"),
        ([A, dataclasses.replace(A, scorer="mine")], None, "are one run, scored by multiple_choice and mine"),
        ([A, right("b", marks(2))], "bleu", "matching: bleu: is none of its metrics, which are accuracy, unparsed"),
        ([A, changed(right("b", marks(2)), values={"unparsed": 1.0})], None, "b: no item counts towards accuracy"),
        (
            [changed(r, values={"unparsed": 0.0}) for r in (A, right("b", marks(2)))],
            "accuracy",
            "accuracy: is none of its metrics",
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
        found = of(
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
        made = right(name, marks(seed), signature=str(Signature(signed)))
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
        right(name, marks(2), signature=f"v:2-A|method:generate{s}") for name, s in (("a", inspect), ("b", lm_eval))
    )
    assert differences(a, dataclasses.replace(b, run=dataclasses.replace(b.run, harness="lm_eval"))) == told


def test_two_settings_have_rows_of_their_own_and_are_columns_of_one_group() -> None:
    a, b = (
        right(name, marks(i), signature=f"v:2-A|rows:{i}|setting:{setting}|prompts:{i}")
        for i, (name, setting) in enumerate((("a", "pixels"), ("b", "description")))
    )
    assert differences(a, b) == ["setting: pixels and description"]
    assert len(groups_of(a.benchmark, [a, b])) == 1


def points(name: str, shares: Sequence[float | None]) -> Result:
    """A run of HumorBench with one point an item; None is a missing verdict."""
    outcomes = []
    for i, share in enumerate(shares):
        missing = {"grader_failed": float(share is None), "undecided": 0.0, "asked_points": 1.0}
        found = missing if share is None else missing | {"coverage": share, "graded_points": 1.0}
        outcomes.append(Outcome(f"i{i}", f"c{i // 3}", {}, "answered", "text", None, found))
    return of(name, outcomes, "humorbench")


def test_missing_verdicts_of_graders_are_warned_of() -> None:
    (found,) = compared(points("a", [1.0, 0.0] * 15), points("b", [None] * 3 + [1.0] * 27)).benchmarks
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
        return of(name, outcomes, "humorbench")

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
        return dataclasses.replace(right(system, [1.0], **more), paths=(Path(path),))

    shots = [run("m", "a.eval", signature=f"v:2-A|shots:{n}|prompts:1") for n in (0, 5)]
    assert labels([*shots, run("n", "c.eval")]) == ["m, shots=0", "m, shots=5", "n"]
    assert labels([run("m", "x/a.eval"), run("m", "x/b.eval")]) == ["m, a.eval", "m, b.eval"]
    assert labels([run("m", "x/a.eval"), run("m", "y/a.eval")]) == ["m, x/a.eval", "m, y/a.eval"]
    mixed = run("m", "b.eval")
    mixed = dataclasses.replace(mixed, run=dataclasses.replace(mixed.run, harness="lm_eval"))
    assert labels([run("m", "a.eval"), mixed]) == ["m, inspect", "m, lm_eval"]
    assert labels([run("a", "a.eval"), run("b", "a.eval")]) == ["a", "b"]


# ---- reports ------------------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>|*m*\u202e{{ x }}"


def test_every_report_has_the_same_figures() -> None:
    found = compared(*(right(n, marks(i, share=0.3 + 0.2 * i)) for i, n in enumerate(("a", "b", HOSTILE))))
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
    found = compared(*(right("x" * 10_000 + name, marks(i)) for i, name in enumerate("abc")))
    assert max(map(len, as_markdown(found).split("## ")[1].split("\n- ")[0].splitlines())) < 500


def test_a_matrix_has_each_difference_and_marks_those_that_count() -> None:
    found = compared(right("a", [1.0] * 80), right("b", [0.0] * 80), right("c", [0.0] * 76 + [1.0] * 4))
    lines = tight(as_markdown(found)).splitlines()
    a, c, b = (next(line for line in lines if line.startswith(f"| {k} |")) for k in (1, 2, 3))
    assert a.endswith(r"| | +0.950 (\<.001)\* | +1.000 (\<.001)\* |")
    assert c.endswith(r"| -0.950 (\<.001)\* | | +0.050 (1.000) |")
    assert b.endswith(r"| -1.000 (\<.001)\* | -0.050 (1.000) | |")


def test_of_many_systems_the_report_for_people_has_the_matrix_alone() -> None:
    found = compared(*(right(str(i), marks(i)) for i in range(6)))
    markdown = as_markdown(found)
    assert "15 comparisons: -o FILE.csv or FILE.json lists them all." in markdown
    assert "second wins" not in markdown
    assert len(as_csv(found).splitlines()) == 16


# ---- the command --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two baselines in Inspect and one in lm-eval, on the sample of matching; one run with a limit."""
    folder = tmp_path_factory.mktemp("compared")
    on_sample = ("-T", "dataset=sample", "--display", "none")
    for name, more in (("first", ()), ("overlap", ()), ("random", ("--limit", "4"))):
        where = folder / (name if not more else "short")
        model = ("--model", f"baseline/{name}", "--log-dir", where)
        commands.inspect("eval", "humor_tasks/matching", *model, *on_sample, *more, cwd=folder)
    how = ("--model", "humor-baseline", "--model_args", "strategy=longest", "--metadata", "dataset=sample")
    commands.lm_eval("--tasks", "nyc_matching", *how, "--output_path", folder / "lm", "--log_samples", cwd=folder)
    return folder


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
    assert "is none of its metrics" in commands.refused(
        "compare", logs / "first", logs / "lm", "--metric", "rmse", "-o", out
    )
    assert "incomplete: 4 of 10 items" in commands.refused("compare", logs / "first", logs / "short", "-o", out)
    (log,) = (logs / "first").glob("*.eval")
    copy = tmp_path / "copy.eval"
    copy.write_bytes(log.read_bytes())
    assert "is the same run as" in commands.refused("compare", log, copy, "-o", out)
    assert "there is no such file" in commands.refused("compare", tmp_path / "none.eval", "-o", out)
    assert not out.exists()
    before = copy.read_bytes()
    commands.refused("compare", logs / "lm", copy, "-o", copy)
    assert copy.read_bytes() == before
    assert "a report ends in .md, .csv, .json" in commands.refused("compare", log, copy, "-o", tmp_path / "c.txt")


def test_baselines_on_real_rows(real_corpus: str) -> None:
    opened = load("matching", dataset=real_corpus, split="validation")
    questions = [Question(r.id, r.context, r.choices) for r in opened.records]
    runs = []
    for name in ("first", "overlap"):
        chosen = [best(scores) for scores in Baseline(name).score(questions)]
        marks = [float("ABCDE"[k] == r.target) for k, r in zip(chosen, opened.records, strict=True)]
        clusters = [record.cluster for record in opened.records]
        runs.append(right(name, marks, clusters))
    (found,) = compared(*runs).benchmarks
    (c,) = found.comparisons
    e = c.test.difference
    assert ([system.label for system in found.systems], e.n) == (["first", "overlap"], 531)
    assert e.value == pytest.approx((111 - 141) / 531)  # the words of the description give captions away
    assert e.low < e.high < 0
    assert c.test.adjusted == c.test.p_value < 0.05
    assert c.test.needed
    assert 100 < c.test.needed < 531
