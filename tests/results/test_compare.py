"""`humor-tasks compare`: the figures of two and of many runs against the paired test, Holm and Bradley-Terry."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import sys

import pytest
from standins.finished_runs import coins, compared, marked, paired_test, rated_headlines

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.results import Result
from humor_tasks.results import compare as compare_module
from humor_tasks.results.compare import ALPHA


def values_of(result: Result, metric: str = "accuracy") -> list[float]:
    return [outcome.values[metric] for outcome in result.outcomes]


CLUSTERS = [f"c{i // 4}" for i in range(120)]


def test_two_systems_have_the_figures_of_the_paired_test_and_keep_their_order() -> None:
    worse, better = marked("worse", coins(1, share=0.3)), marked("better", coins(2, share=0.8))
    (found,) = compared(worse, better).benchmarks
    (c,) = found.comparisons
    assert c.test == paired_test(values_of(worse), values_of(better), CLUSTERS)
    assert c.test.difference.value < 0
    assert c.wins == (c.test.higher, c.test.lower, c.test.equal)
    assert sum(c.wins) == 120
    assert [system.label for system in found.systems] == ["worse", "better"]
    assert (found.metric, found.direction, c.left_out, found.notes) == ("accuracy", "higher", 0, ())


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_two_runs_and_of_their_items_changes_only_signs(seed: int) -> None:
    a, b = marked("a", coins(seed)), marked("b", coins(seed + 100))
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
    runs = [marked(name, coins(i, share=share)) for i, (name, share) in enumerate(shares.items())]
    pair = [marked(name, coins(9 + i), benchmark="ranking") for i, name in enumerate("ab")]
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
        values_of(pair[0]), values_of(pair[1]), CLUSTERS, tests[3].difference.value, level=1 - ALPHA / 4
    )
    assert ranking.comparisons[0].test.needed == expected


def test_strengths_are_those_of_every_item_as_a_comparison_of_each_pair() -> None:
    runs = [marked(name, coins(i, share=0.4 + i / 10)) for i, name in enumerate("abc")]
    (found,) = compared(*runs).benchmarks
    rows = [
        (one.system, other.system, (1 + x - y) / 2, cluster)
        for one, other in itertools.combinations(runs, 2)
        for x, y, cluster in zip(values_of(one), values_of(other), CLUSTERS, strict=True)
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
    (found,) = compared(*(marked(name, coins(i)) for i, name in enumerate("abc"))).benchmarks
    assert [system.strength for system in found.systems] == [None] * 3
    assert any('pip install "humor-tasks[preference]"' in note for note in found.notes)


def test_where_lower_is_better_the_lower_value_wins() -> None:
    bad = marked("bad", coins(1))
    bad = dataclasses.replace(
        bad,
        outcomes=tuple(
            dataclasses.replace(o, values={**o.values, "unparsed": float(i < 12)}) for i, o in enumerate(bad.outcomes)
        ),
    )
    runs = [bad, marked("good", coins(2)), marked("fine", coins(3))]
    (found,) = compared(*runs, metric="unparsed").benchmarks
    assert (found.direction, found.systems[-1].label) == ("lower", "bad")
    c = next(c for c in found.comparisons if c.second.label == "bad")
    assert c.wins == (12, 0, 108)
    assert c.test.difference.value == pytest.approx(-0.1)
    strengths = {s.label: s.strength.estimate.value for s in found.systems if s.strength}
    assert strengths["bad"] < strengths["good"] == pytest.approx(strengths["fine"])


def test_epochs_are_averaged_by_item() -> None:
    a, b = marked("a", coins(1)), marked("b", coins(2))
    twice = dataclasses.replace(a, outcomes=a.outcomes + marked("a", coins(5)).outcomes, epochs=(1,) * 120 + (2,) * 120)
    (c,) = compared(twice, b).benchmarks[0].comparisons
    means = [(x + y) / 2 for x, y in zip(coins(1), coins(5), strict=True)]
    assert c.test == paired_test(means, values_of(b), CLUSTERS)
    assert c.test.difference.n == 120
    assert math.isnan(c.test.mcnemar)


def test_an_rmse_is_compared_by_the_jackknife() -> None:
    gold = [(i % 16) / 5 for i in range(240)]
    rng = random.Random(0)
    near, far = ([g + rng.gauss(0, spread) for g in gold] for spread in (0.3, 0.6))
    (found,) = compared(rated_headlines("near", near), rated_headlines("far", far)).benchmarks
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
    runs = [rated_headlines(name, [(i % 16) / 5 + rng.gauss(0, 0.5) for i in range(80)]) for name in "abc"]
    (found,) = compared(*runs, metric="pearson").benchmarks
    assert [c.wins for c in found.comparisons] == [None] * 3
    assert any(note.startswith("No Bradley-Terry strengths: pearson has no value of an item") for note in found.notes)
    constant = rated_headlines("constant", [1.0] * 80)
    with pytest.raises(BadInput, match="pearson is not defined without some of the clusters"):
        compared(constant, runs[0], metric="pearson")


def test_a_part_of_a_metric_is_compared_over_its_items() -> None:
    runs = [marked(name, coins(i), options={"fold": "all"}) for i, name in enumerate("ab")]
    (found,) = compared(*runs, metric="accuracy_fold2").benchmarks
    (c,) = found.comparisons
    kept = range(2, 120, 5)
    expected = paired_test(*([values_of(r)[i] for i in kept] for r in runs), [CLUSTERS[i] for i in kept])
    assert (found.metric, c.test) == ("accuracy_fold2", expected)


def test_a_mean_of_folds_is_told_apart_from_the_mean_over_items() -> None:
    uneven = [marked(name, coins(i, n=118), options={"fold": "all"}) for i, name in enumerate("ab")]
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
    runs = [rated_headlines(name, [rng.uniform(0, 3) for _ in range(120)]) for name in "abc"]
    (found,) = compared(*runs).benchmarks
    assert {c.test.draws for c in found.comparisons} == {90}
    assert all(c.test.p_value >= 1 / 91 for c in found.comparisons)
