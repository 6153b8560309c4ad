"""The pairwise accuracy and reward of headlines: by hand, clusters, symmetry, and the baseline on real rows."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.corpus import rows_of

from humor_tasks import scorers
from humor_tasks.errors import BadInput

MEANS = [(1.0, 0.4), (0.6, 0.6), (0.2, 2.2), (3.0, 1.0), (0.0, 0.0), (1.2, 1.4)]
LABELS = [1, 0, 2, 1, 0, 2]
HEADLINES = ["a", "a", "b", "b", "c", "c"]


def test_labels_follow_the_means() -> None:
    assert scorers.pair_labels(MEANS) == LABELS
    assert scorers.pair_labels([]) == []


@pytest.mark.parametrize(
    ("predictions", "accuracy", "reward"),
    [
        ([1, 1, 2, 1, 1, 2], 1, (0.6 + 2 + 2 + 0.2) / 4),
        ([2, 2, 1, 2, 2, 1], 0, -(0.6 + 2 + 2 + 0.2) / 4),
        ([1, 1, 1, 1, 1, 1], 0.5, (0.6 - 2 + 2 - 0.2) / 4),
        ([2, 2, 2, 2, 2, 2], 0.5, (-0.6 + 2 - 2 + 0.2) / 4),
        # a predicted tie and a reply that could not be read are wrong, also beside a tie that is dropped
        ([1, 0, 0, 1, None, None], 0.5, (0.6 - 2 + 2 - 0.2) / 4),
        ([0] * 6, 0, -4.8 / 4),
        ([None] * 6, 0, -4.8 / 4),
    ],
)
def test_by_hand(predictions: list[int | None], accuracy: float, reward: float) -> None:
    right = scorers.pair_accuracy(LABELS, predictions, HEADLINES)
    won = scorers.pair_reward(MEANS, predictions, HEADLINES)
    assert (right.value, right.n, right.clusters) == (accuracy, 4, 3)
    assert (won.value, won.n, won.clusters) == (pytest.approx(reward), 4, 3)


def test_errors_are_clustered_by_headline() -> None:
    predictions = [1, 1, 1, 1, 1, 2]
    assert scorers.pair_accuracy(LABELS, predictions, HEADLINES) == scorers.clustered_proportion([1, 0, 1, 1], "abbc")
    reward = scorers.pair_reward(MEANS, predictions, HEADLINES, 0.9)
    gaps = [abs(first - second) for first, second in MEANS]
    assert reward == scorers.clustered_mean([gaps[0], -gaps[2], gaps[3], gaps[5]], "abbc", 0.9)


def test_only_ties_and_nothing() -> None:
    for found in (scorers.pair_accuracy([0, 0], [1, 2], "ab"), scorers.pair_reward([], [], [])):
        assert found.n == 0
        assert math.isnan(found.value)


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="labels has 1, predictions has 2"):
        scorers.pair_accuracy([1], [1, 2], "ab")
    with pytest.raises(BadInput, match=r"labels\[1\] is 3"):
        scorers.pair_accuracy([1, 3], [1, 2], "ab")
    with pytest.raises(BadInput, match=r"predictions\[1\] is -1"):
        scorers.pair_reward([(1, 2), (1, 1)], [1, -1], "ab")
    with pytest.raises(BadInput, match=r"means\[0\] is \(nan, 1\)"):
        scorers.pair_reward([(math.nan, 1)], [1], "a")


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15), st.sampled_from([1, 2])), min_size=1))
def test_the_other_choice_loses_what_this_one_wins(rows: list[tuple[int, int, int]]) -> None:
    means = [(first / 5, second / 5) for first, second, _ in rows]
    chosen = [choice for *_, choice in rows]
    other = [3 - choice for choice in chosen]
    labels, ids = scorers.pair_labels(means), range(len(rows))
    if any(labels):
        accuracies = [scorers.pair_accuracy(labels, choice, ids).value for choice in (chosen, other)]
        rewards = [scorers.pair_reward(means, choice, ids).value for choice in (chosen, other)]
        assert sum(accuracies) == pytest.approx(1)
        assert sum(rewards) == pytest.approx(0)
        wins = [
            abs(a - b) if choice == label else -abs(a - b)
            for (a, b), choice, label in zip(means, chosen, labels, strict=True)
        ]
        assert rewards[0] == pytest.approx(sum(wins) / sum(map(bool, labels)))


# ---- real rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicted", "accuracy", "reward"), [("official", "0.51405", "0.02325"), ("2", "0.48595", "-0.02325")]
)
def test_constants_and_the_organisers_baseline_on_dev(
    real_data: Path, predicted: str, accuracy: str, reward: str
) -> None:
    folder = real_data / "humicroedit"
    rows = rows_of(folder / "task-2" / "dev.csv")
    submitted = {row["id"]: int(row["pred"]) for row in rows_of(folder / "official_task-2-output.csv")}
    headlines = [" ".join(row["original1"].replace("<", "").replace("/>", "").split()) for row in rows]
    means = [(float(row["meanGrade1"]), float(row["meanGrade2"])) for row in rows]
    labels = [int(row["label"]) for row in rows]
    assert scorers.pair_labels(means) == labels
    predictions = [submitted[row["id"]] if predicted == "official" else int(predicted) for row in rows]
    right = scorers.pair_accuracy(labels, predictions, headlines)
    won = scorers.pair_reward(means, predictions, headlines)
    assert (right.n, right.clusters) == (won.n, won.clusters) == (2099, 815)
    assert (f"{right.value:.5f}", f"{won.value:.5f}") == (accuracy, reward)
