"""`noise_ceiling` and `against_judges`: by hand, a loop over judges, and the grades of Humicroedit's dev rows."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.corpus import rows_of

from humor_tasks import scorers
from humor_tasks.errors import BadInput

GRADES = st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=12)


def naive_ceiling(grades: list[list[int]]) -> tuple[float, float, float]:
    """By pairs of judges and by judges held out, one by one."""
    pairs, held_out, of_mean = [], [], []
    for row in grades:
        if len(row) > 1:
            pairs.append(statistics.fmean((a - b) ** 2 for a, b in itertools.permutations(row, 2)))
            others = [row[:j] + row[j + 1 :] for j in range(len(row))]
            held_out.append(statistics.fmean((x - statistics.fmean(o)) ** 2 for x, o in zip(row, others, strict=True)))
            of_mean.append(statistics.variance(row) / len(row))
    return tuple(math.sqrt(statistics.fmean(column)) for column in (pairs, held_out, of_mean))  # type: ignore[return-value]


def values(found: scorers.NoiseCeiling) -> tuple[float, float, float]:
    return found.one_judge.value, found.other_judges.value, found.true_mean.value


@pytest.mark.parametrize(
    ("rating", "grades", "share"),
    [
        # the others' means are 2/3, 1, 1 and 4/3: the judges are 4/3, 0, 0 and 4/3 off
        (1.0, [2, 1, 1, 0], (1 + 0.5 + 0.5 + 1) / 4),
        (2.1, [2, 1, 1, 0], 1 / 4),
        # both judges are as far from each other; a rating between is nearer to either
        (1.0, [0, 2], 1),
        (0.0, [0, 2], (0.5 + 1) / 2),
        (2.5, [0, 2], (1 + 0) / 2),
        (4.5, [0, 2], 0),
        # nobody beats judges who agree, except for a tie
        (1.0, [1, 1, 1], 0.5),
        (1.1, [1, 1, 1], 0),
        # |0.6 - 4/5| and |1 - 4/5| are equal but for their rounding
        (0.6, [1, 1, 1, 1, 1, 0], (5 * 0.5 + 1) / 6),
    ],
)
def test_beating_a_judge_by_hand(rating: float, grades: list[int], share: float) -> None:
    found = scorers.against_judges([rating], [grades], ["a"])
    assert found.beats_judge.value == pytest.approx(share)
    assert found.judge_rmse.value == pytest.approx(math.sqrt(statistics.fmean((rating - x) ** 2 for x in grades)))


def test_the_ceiling_by_hand() -> None:
    # Variances 2 (two judges), 1/3 and 0 (four), whose means 1, 1.5 and 3 do not matter.
    found = scorers.noise_ceiling([[0, 2], [1, 2, 1, 2], [3, 3, 3, 3], [1], []], "aabbc")
    assert found.one_judge.value == pytest.approx(math.sqrt((4 + 2 / 3 + 0) / 3))
    assert found.other_judges.value == pytest.approx(math.sqrt((2 * 2 + 1 / 3 * 4 / 3 + 0) / 3))
    assert found.true_mean.value == pytest.approx(math.sqrt((2 / 2 + 1 / 3 / 4 + 0) / 3))
    assert (found.one_judge.n, found.one_judge.clusters, found.left_out) == (3, 2, 2)
    squares = scorers.clustered_mean([4, 2 / 3, 0], "aab")
    assert found.one_judge.stderr == pytest.approx(squares.stderr / (2 * found.one_judge.value))


def test_errors_are_clustered_by_headline() -> None:
    found = scorers.against_judges([1, 0, 2.5, 1], [[2, 1, 1, 0], [0, 2], [0, 2], [3]], "aabb", 0.9)
    assert found.beats_judge == scorers.clustered_proportion([0.75, 0.75, 0.5], "aab", 0.9)
    squares = scorers.clustered_mean([0.5, 2, 3.25], "aab", 0.9)
    assert found.judge_rmse.stderr == pytest.approx(squares.stderr / (2 * math.sqrt(squares.value)))
    assert found.left_out == 1


@given(GRADES)
def test_the_ceiling_equals_the_loop_over_judges(grades: list[list[int]]) -> None:
    found = scorers.noise_ceiling(grades, range(len(grades)))
    assert found.left_out == sum(len(row) < 2 for row in grades)
    if found.left_out < len(grades):
        assert values(found) == pytest.approx(naive_ceiling(grades), abs=1e-9)
        assert found.true_mean.value <= found.other_judges.value <= found.one_judge.value + 1e-9


@given(GRADES)
def test_a_system_that_is_the_mean_of_the_others_beats_no_less_than_half(grades: list[list[int]]) -> None:
    """The mean of all lies between the others' mean and the judge held out."""
    kept = [row for row in grades if len(row) > 1]
    found = scorers.against_judges([statistics.fmean(row) for row in kept], kept, range(len(kept)))
    assert not kept or 0.5 <= found.beats_judge.value <= 1


def test_a_perfect_system_reaches_the_ceiling() -> None:
    """Judges drawn around a known true mean: what is estimated without it is what the true mean scores."""
    rng = random.Random(0)
    true = [rng.uniform(0.5, 2.5) for _ in range(20_000)]
    grades = [[int(m) + (rng.random() < m % 1) for _ in range(5)] for m in true]
    errors = [(m - statistics.fmean(row)) ** 2 for m, row in zip(true, grades, strict=True)]
    ceiling = scorers.noise_ceiling(grades, range(len(true)))
    assert math.sqrt(statistics.fmean(errors)) == pytest.approx(ceiling.true_mean.value, rel=0.02)


def test_nothing_to_compare() -> None:
    for ceiling in (scorers.noise_ceiling([], []), scorers.noise_ceiling([[1], []], "ab")):
        assert all(math.isnan(value) for value in values(ceiling))
    assert math.isnan(scorers.against_judges([], [], []).beats_judge.value)
    unread = scorers.against_judges([math.nan, 1], [[1, 2], [1, 2]], "ab")
    assert math.isnan(unread.beats_judge.value)
    assert math.isnan(unread.judge_rmse.value)


def test_judges_who_agree_leave_no_noise() -> None:
    found = scorers.noise_ceiling([[1, 1], [2, 2, 2]], "ab")
    assert dataclasses.astuple(found.true_mean) == (0, 0, 0, 0, 2, 2)


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="pred has 1, grades has 2"):
        scorers.against_judges([1], [[1, 2], [1, 2]], "ab")
    with pytest.raises(BadInput, match="grades has 1, clusters has 2"):
        scorers.noise_ceiling([[1, 2]], "ab")
    with pytest.raises(BadInput, match=r"grades\[1\] is '22100'"):
        scorers.noise_ceiling([[1, 2], "22100"], "ab")  # type: ignore[list-item]


# ---- real rows ------------------------------------------------------------------------------------


def test_a_single_0_of_subtask_1_is_five_zeros(real_data: Path) -> None:
    folder = real_data / "humicroedit"
    lone = {row["id"] for row in rows_of(folder / "task-1" / "train.csv") if len(row["grades"]) == 1}
    full = {
        row[f"grades{n}"]
        for row in rows_of(folder / "task-2" / "train.csv")
        for n, identity in enumerate(row["id"].split("-"), start=1)
        if identity in lone
    }
    assert len(lone) == 523
    assert full == {"00000"}


def test_the_judges_of_dev(real_data: Path) -> None:
    rows = rows_of(real_data / "humicroedit" / "task-1" / "dev.csv")
    headlines = [" ".join(row["original"].replace("<", "").replace("/>", "").split()) for row in rows]
    as_filed = [list(map(int, row["grades"])) for row in rows]
    grades = [row if len(row) > 1 else row * 5 for row in as_filed]
    constant = [0.9355712114932938] * len(rows)
    found, system = scorers.noise_ceiling(grades, headlines), scorers.against_judges(constant, grades, headlines)
    assert [f"{value:.5f}" for value in values(found)] == ["1.24060", "0.98013", "0.39114"]
    assert (f"{system.beats_judge.value:.5f}", f"{system.judge_rmse.value:.5f}") == ("0.64146", "0.97524")
    assert (found.true_mean.n, found.true_mean.clusters, found.left_out) == (2419, 828, 0)
    assert values(found) == pytest.approx(naive_ceiling(grades))
    biased = scorers.noise_ceiling(as_filed, headlines)
    assert biased.left_out == 124
    assert f"{biased.true_mean.value:.5f}" == "0.40157"
