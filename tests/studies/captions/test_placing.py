"""Where a model places captions among a contest's own, by its scores and by a judge's comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from standins.contests import invent
from standins.judging import between

from humor_tasks.benchmarks.crowd.corpus import Cartoon, Crowd, CrowdOptions, open_crowd
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Chooser, Question
from humor_tasks.rows.contests.contest_csv import Contest
from humor_tasks.scorers.placement import rank_correlation_by_cluster
from humor_tasks.studies.captions import figures, placing
from humor_tasks.studies.captions.pairwise import PairwiseJudge
from humor_tasks.testing import ScriptedModel


@pytest.fixture(scope="module")
def crowd() -> Crowd:
    return open_crowd(CrowdOptions(dataset="sample", split="validation", contests="9010-9012"))


class Oracle(Chooser):
    """Knows the crowd's ratings; a caption that is not the crowd's has the rating `others`."""

    def __init__(self, crowd: Crowd, others: float = 0.0, sign: int = 1) -> None:
        self.name = "oracle"
        self.others, self.sign = others, sign
        self.ratings: dict[tuple[str, str], float] = {}
        for c in crowd.cartoons:
            for text, mean in zip(c.contest.caption, c.contest.mean, strict=True):
                self.ratings.setdefault((str(c.number), text), mean or 0.0)
        self.asked: list[Question] = []

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        self.asked += questions
        return [[self.rating(q.cluster, text) for text in q.choices] for q in questions]

    def rating(self, contest: str, text: str) -> float:
        return self.sign * self.ratings.get((contest, text), self.others)


def by_rating(cartoon: Cartoon, rank: int) -> float:
    """The percentile of the caption at a rank, worked out slowly."""
    means = cartoon.contest.mean
    mean = means[cartoon.contest.place.index(rank)] or 0.0
    return 100 * sum((m or 0) < mean for m in means) / len(means) + 50 * means.count(mean) / len(means)


def test_an_oracle_places_each_caption_where_the_crowd_does(crowd: Crowd) -> None:
    oracle = Oracle(crowd)
    first = crowd.cartoons[0]
    best, middle = first.contest.caption[0], first.contest.caption[first.contest.place.index(750)]
    placed = placing.place(oracle, crowd.cartoons, {first.number: [best, middle, "My own.", best]})
    assert placed.percentile[first.number, best] == pytest.approx(by_rating(first, 0))
    assert placed.percentile[first.number, middle] == pytest.approx(by_rating(first, 750))
    assert placed.percentile[first.number, "My own."] == 0
    assert placed.agreement.value == pytest.approx(1)
    assert (placed.agreement.n, placed.agreement.clusters) == (3 * 41, 3)
    for known in figures.human_groups(crowd, placed):
        assert known.placed == known.crowd
        assert known.placed.n == 30


def test_every_distinct_caption_is_scored_once_and_a_contest_in_one_call(crowd: Crowd) -> None:
    oracle = Oracle(crowd)
    texts = {c.number: [c.contest.caption[3], "Mine.", "Mine."] for c in crowd.cartoons}
    placing.place(oracle, crowd.cartoons, texts)
    assert [question.cluster for question in oracle.asked] == ["9010", "9011", "9012"]
    for question, cartoon in zip(oracle.asked, crowd.cartoons, strict=True):
        assert len(question.choices) == len(set(question.choices))
        assert set(question.choices) == {*cartoon.contest.caption, "Mine."}
        assert question.context == cartoon.context != ""


def test_a_model_against_the_crowd_is_told(crowd: Crowd) -> None:
    placed = placing.place(Oracle(crowd, sign=-1), crowd.cartoons, {})
    assert placed.agreement.value == pytest.approx(-1)
    shares = {known.name: (known.placed.value, known.crowd.value) for known in figures.human_groups(crowd, placed)}
    assert shares["top10"][0] == pytest.approx(100 - shares["top10"][1])


def test_a_model_without_taste_places_everything_in_the_middle(crowd: Crowd) -> None:
    constant = Oracle(crowd)
    constant.ratings.clear()
    placed = placing.place(constant, crowd.cartoons, {9010: ["One.", "Two."]})
    assert set(placed.percentile.values()) == {50.0}
    assert math.isnan(placed.agreement.value)


def test_a_model_of_places_is_refused(crowd: Crowd) -> None:
    with pytest.raises(BadInput, match="baseline/first scores the places of captions"):
        placing.place(Baseline("first"), crowd.cartoons, {})


def test_anchors_are_the_middles_of_deciles(crowd: Crowd) -> None:
    contest = crowd.cartoons[0].contest
    assert placing.anchors(contest) == [contest.caption[i] for i in (2, 6, 10, 14, 18, 22, 26, 30, 34, 38)]


@dataclass
class Judged:
    """What a judge was asked of a contest of twelve captions, with four anchors, and the placement."""

    contest: Contest
    asked: list[str]
    placed: placing.Placement


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """The judge knows the ratings, cannot tell of "Mine.", and of "Other." always says A."""
    folder = invent(tmp_path_factory.mktemp("corpus"), contests=1, captions=12)
    options = CrowdOptions(dataset=str(folder), split="all")
    crowd = open_crowd(options)
    oracle, asked = Oracle(crowd), list[str]()

    def answer(messages: Any) -> str:
        asked.append(messages[-1].text)
        first, second = (between(asked[-1], tag) for tag in ("caption_a", "caption_b"))
        if "Mine." in (first, second):
            return "I cannot say."
        better = oracle.rating("101", second) > oracle.rating("101", first) and "Other." not in (first, second)
        return f"So.\nAnswer: {'AB'[better]}"

    judge = PairwiseJudge(ScriptedModel("judge", answer).model, cache=False, log_dir=str(folder / "logs"))
    texts = {101: ["Mine.", "Other.", crowd.cartoons[0].contest.caption[1]]}
    with patch.object(placing, "ANCHORS", 4):
        placed = placing.place_by_comparing(judge, crowd, options, texts)
    return Judged(crowd.cartoons[0].contest, asked, placed)


@pytest.mark.slow
def test_a_judge_that_knows_the_ratings(judged: Judged) -> None:
    """An anchor ties with itself, without a question; all but the last caption are in the human groups."""
    placed, captions = judged.placed, judged.contest.caption
    percentile = [placed.percentile[101, text] for text in captions[:11]]
    assert percentile == [100, 87.5, 75, 75, 62.5, 50, 50, 37.5, 25, 25, 12.5]
    assert placed.agreement == rank_correlation_by_cluster(percentile, judged.contest.mean[:11], [101] * 11)
    assert placed.correlated == "the human groups"
    assert len(judged.asked) == 2 * (4 * (11 + 2) - 4)
    assert {between(text, "caption_a") for text in judged.asked} == {
        between(text, "caption_b") for text in judged.asked
    }


@pytest.mark.slow
def test_answers_that_follow_the_place_put_a_caption_in_the_middle(judged: Judged) -> None:
    assert judged.placed.percentile[101, "Other."] == 50


@pytest.mark.slow
def test_comparisons_without_an_answer_are_counted_and_not_guessed(judged: Judged) -> None:
    assert (101, "Mine.") not in judged.placed.percentile
    assert judged.placed.unread == 4


def test_a_judge_without_any_readable_answer_is_refused(tmp_path: Path) -> None:
    options = CrowdOptions(dataset=str(invent(tmp_path, contests=1, captions=5)), split="all")
    judge = PairwiseJudge(ScriptedModel("judge", "?").model, cache=False)
    with patch.object(placing, "ANCHORS", 4), pytest.raises(BadInput, match=r"no answer of .*judge could be parsed"):
        placing.place_by_comparing(judge, open_crowd(options), options, {101: ["Mine."]})
