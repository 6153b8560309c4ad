"""Comparison of runs under several prompt sets: over all and set by set against the paired test, and its sentences."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest
from standins.finished_runs import coins, compared, in_all_orders, marked, paired_test, under_sets
from standins.votes import tight

from humor_tasks import scorers
from humor_tasks.results import Result
from humor_tasks.results.comparable import reasons_apart, refusals
from humor_tasks.results.compare import as_csv, as_json, as_markdown

SETS = "ABCDE"
ITEMS = 40
CLUSTERS = [f"c{i // 4}" for i in range(ITEMS)]


def drawn(name: str, seed: int, share: float = 0.6) -> Result:
    return under_sets(name, {letter: coins(10 * seed + i, ITEMS, share) for i, letter in enumerate(SETS)})


def of_set(result: Result, letter: str) -> list[float]:
    return [o.values["accuracy"] for o in result.outcomes if o.id.endswith(f"@{letter}")]


def test_the_figures_are_those_of_the_paired_test_and_holm_is_over_the_sets_apart_from_the_rest() -> None:
    a, b = drawn("a", 1), drawn("b", 2, 0.8)
    found = compared(a, b)
    (section,) = found.benchmarks
    (over_all,) = section.comparisons
    expected = paired_test(*([o.values["accuracy"] for o in r.outcomes] for r in (a, b)), CLUSTERS * 5)
    assert (over_all.test.p_value, over_all.test.adjusted) == (expected.p_value, expected.p_value)
    assert over_all.test.difference == expected.difference
    assert math.isnan(over_all.test.mcnemar)  # askings of one item are not independent
    tests = [c.test for each in section.sets for c in each.comparisons]
    under = [paired_test(of_set(a, letter), of_set(b, letter), CLUSTERS) for letter in SETS]
    assert [each.metric for each in section.sets] == [f"accuracy_set_{letter}" for letter in SETS]
    for name in ("difference", "p_value", "mcnemar", "equal"):
        assert [getattr(t, name) for t in tests] == [getattr(t, name) for t in under]
    assert [t.adjusted for t in tests] == pytest.approx(scorers.holm([t.p_value for t in under]))

    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    told = json.loads(as_json(found))["benchmarks"][0]
    assert [row["metric"] for row in rows] == ["accuracy", *(f"accuracy_set_{letter}" for letter in SETS)]
    assert [row["comparisons"] for row in rows] == ["1", *["5"] * 5]
    assert [float(row["p_holm"]) for row in rows[1:]] == [t.adjusted for t in tests]
    assert {letter: c["difference"] for letter, (c,) in told["sets"].items()} == {
        letter: t.difference.value for letter, t in zip(SETS, under, strict=True)
    }
    assert told["systems"][0]["spread"]["value"] == a.estimates["spread"].value
    markdown = tight(as_markdown(found))
    assert "Each item is asked 5 times (5 prompt sets)." in markdown
    assert f"| C | a ({section.sets[2].systems[0].value.value:.3f}) |" in markdown


def test_the_systems_keep_their_order_under_every_prompt_set() -> None:
    (found,) = compared(*(drawn(name, i, 0.3 + 0.2 * i) for i, name in enumerate("abc"))).benchmarks
    assert {tuple(s.label for s in each.systems) for each in found.sets} == {("c", "b", "a")}


ONES, HALF = [1.0] * ITEMS, [1.0, 0.0] * (ITEMS // 2)
NONE = [0.0] * ITEMS


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("11110", "11100", "the difference 0.200 is smaller than the spread of wordings of a (1.000) and b (1.000)."),
        ("11110", "11111", "the difference 0.200 is smaller than the spread of wordings of a (1.000)."),
        ("11111", "00000", ""),
        ("11111", "1111h", "the difference 0.100 is smaller than the spread of wordings of b (0.500)."),
        ("11111", "hhhhh", ""),
    ],
)
def test_a_difference_within_the_spread_of_wordings_is_told(first: str, second: str, said: str) -> None:
    marks = {"1": ONES, "0": NONE, "h": HALF}
    a, b = (under_sets(n, dict(zip(SETS, map(marks.get, w), strict=True))) for n, w in (("a", first), ("b", second)))  # type: ignore[arg-type]
    (found,) = compared(a, b).benchmarks
    assert [note for note in found.notes if "wordings" in note] == ([f"a and b: {said}"] if said else [])


def test_of_many_comparisons_the_number_within_the_wordings_is_told_and_no_set_is_listed() -> None:
    found = compared(*(drawn(name, i) for i, name in enumerate("abcdef")))
    (note,) = [note for note in found.benchmarks[0].notes if "wordings" in note]
    assert note.endswith("of 15 differences are smaller than the spread of wordings of one of their systems.")
    assert "under each prompt set" not in as_markdown(found)
    assert len(as_csv(found).splitlines()) == 1 + 15 + 75


def test_runs_asked_once_are_compared_with_each_other_beside_those_under_all_sets() -> None:
    once = [marked(name, coins(i, ITEMS)) for i, name in enumerate(("one", "two"))]
    found = compared(*once, drawn("a", 1), drawn("b", 2))
    (section,) = json.loads(as_json(found))["benchmarks"]
    assert {frozenset((c["first"], c["second"])) for c in section["comparisons"]} == {
        frozenset(("one", "two")),
        frozenset("ab"),
    }
    assert {s["system"] for s in section["systems"] if "spread" in s} == {"a", "b"}
    assert {len(of_set) for of_set in section["sets"].values()} == {1}
    assert "Each item is asked 5 times (5 prompt sets) by " in as_markdown(found)


ONCE, SEVERAL, ORDERS = marked("once", [1.0] * 8), drawn("several", 1), in_all_orders("orders", ["ABCDE"] * 8)


@pytest.mark.parametrize(
    ("one", "other", "ways"),
    [
        (SEVERAL, ONCE, "5 times (5 prompt sets) and once"),
        (ORDERS, ONCE, "5 times (5 orders) and once"),
        (SEVERAL, ORDERS, "5 times (5 prompt sets) and 5 times (5 orders)"),
    ],
)
def test_runs_asked_in_other_ways_do_not_compare_and_the_remedy_is_named(one: Result, other: Result, ways: str) -> None:
    remedy = f"askings of each item: {ways} (run both with the same prompts and order)"
    assert refusals(one, other)[0] == reasons_apart(one, other)[0] == remedy
    assert not any(reason.startswith(("rows", "prompt set")) for reason in refusals(one, other))
