"""Item values are what their names say, and answer forms give answers without a detour through text."""

from __future__ import annotations

import math
from typing import Any

import pytest
from standins.judging import panel

from humor_tasks.api import evaluate, load
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.humicroedit.pairwise import FunnierOfTwo
from humor_tasks.contract.answers import UNREAD, Answer, AnswerForm, Choice, Rating, YesNo
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.points import judged
from humor_tasks.contract.metric import Metric
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Outcome

SHOWN: dict[str, dict[str, Any]] = {
    "ranking": {"fold": "all"},
    "humorbench": {"one_explanation_per": "caption"},
    "mock_detecting": {"input": "description"},
    "mock_matching": {"input": "description"},
    "mock_explaining": {"input": "description"},
    "mock_generation": {"input": "description"},
}
CASES = {name: SHOWN.get(name, {}) for name in BENCHMARKS if name != "explanation_preference"}  # which needs two logs
REPLIES = (
    "Answer: A",
    "Answer: no",
    "Rating: 1.3",
    "Explanation: The dog is the lawyer.",
    "<explanation>A short one.</explanation>",
    "<reasoning>So.</reasoning><judgement>PASS</judgement>",
    "Concepts: a; b\nChosen: a\nCaption: Sit.\nExplanation: A pun.",
    "\n".join(f"{i}. Caption number {i}." for i in range(1, 11)),
    "",
    "I'm sorry, but I can't help with that.",
)
# The one metric over a corpus whose items log a relative of it: an item's `bleu` is its sentence BLEU.
RELATED = {"bleu"}


def outcomes_of(run: Run) -> list[Outcome]:
    found = [run.outcome(r, REPLIES[i % len(REPLIES)]) for i, r in enumerate(run.records)]
    found += [run.outcome(r, reply) for r in run.records[:2] for reply in REPLIES]
    points = {r.id: len(r.points) for r in run.records}
    if any(points.values()):
        panels = [panel(word) for word in (True, None, False)]
        found = [judged(run, o, (panels * points[o.id])[: points[o.id]]) for o in found]
    return found


# A value under the name of a correlation or of a kappa would say something that is not so.
OF_MANY = {"pearson", "spearman", "cohen_kappa", "gwet_ac1", "precision", "recall", "f1", "rmse_at_10", "one_judge"}


@pytest.mark.parametrize("name", CASES)
def test_an_items_value_is_the_metric_over_this_item_alone(name: str) -> None:
    run = load(name, dataset="sample", **CASES[name])
    seen = set()
    for outcome in outcomes_of(run):
        assert not OF_MANY & set(outcome.values)
        for metric in run.benchmark.metrics:
            if metric.name in outcome.values and metric.name not in RELATED:
                assert metric.counted([outcome])
                assert metric.over([outcome]).value == pytest.approx(outcome.values[metric.name])
                seen.add(metric.name)
    assert len(seen) >= 3


def test_every_benchmark_has_distinct_metrics_and_lm_eval_names() -> None:
    for benchmark in BENCHMARKS.values():
        names = [metric.name for metric in benchmark.metrics]
        shown = [metric.name_in_lm_eval for metric in benchmark.metrics]
        assert len(set(names)) == len(names)
        assert len(set(shown)) == len(shown)


def test_headlines_rated_for_pairs_hold_no_value_of_pairs() -> None:
    run = load("humicroedit_pairwise", dataset="sample", via="ratings")
    outcomes = [run.outcome(r, f"Rating: {i % 4}") for i, r in enumerate(run.records)]
    assert not any({"accuracy", "reward", "tied"} & set(o.values) for o in outcomes)
    assert all(o.values["pairs"] >= 1 for o in outcomes)
    assert run.metrics(outcomes)["accuracy"].n > 10


# ---- answer forms -------------------------------------------------------------------------------

LOW, HIGH, NEVER = -5.0, -1.0, -math.inf


@pytest.mark.parametrize(
    ("form", "likelihoods", "answer"),
    [
        (Choice("ABC"), [LOW, HIGH, LOW], Answer("B")),
        (Choice("ABC"), [HIGH, HIGH, LOW], Answer("A")),
        (Choice("ABC"), [NEVER, NEVER, NEVER], UNREAD),
        (Choice("ABC"), [math.nan, HIGH, LOW], UNREAD),
        (YesNo(), [LOW, HIGH], Answer("no")),
        (Rating(("0", "1", "2", "3")), [NEVER, 0.0, NEVER, NEVER], Answer("1.0")),
        (Rating(("0", "1", "2", "3")), [math.log(0.5), math.log(0.5), NEVER, NEVER], Answer("0.5")),
        (Rating(("0", "1", "2", "3")), [math.log(0.5), NEVER, NEVER, math.log(0.25)], Answer("1.0")),
        (Rating(("0", "1", "2", "3")), [NEVER] * 4, UNREAD),
        (Rating(("0", "1", "2", "3")), [math.nan, 0.0, NEVER, NEVER], UNREAD),
    ],
)
def test_answers_from_log_likelihoods(form: AnswerForm, likelihoods: list[float], answer: Answer) -> None:
    assert form.from_likelihoods(likelihoods) == answer


@pytest.mark.parametrize(
    ("form", "text", "answer"),
    [
        (Rating(("0", "1", "2", "3")), "1e-05", Answer("1e-05")),
        (Rating(("0", "1", "2", "3")), " 2 ", Answer("2.0")),
        (FunnierOfTwo("AB"), "2", Answer("B")),
        (FunnierOfTwo("AB"), "0", UNREAD),
        (Choice("ABCDE"), "C", Answer("C")),
    ],
)
def test_answers_from_submissions(form: AnswerForm, text: str, answer: Answer) -> None:
    assert form.from_submission(text) == answer


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        (Rating(("0", "1", "2", "3")), "3.1", "must be a number from 0 to 3"),
        (Rating(("0", "1", "2", "3")), "0_1", "must be a number from 0 to 3"),
        (Rating(("0", "1", "2", "3")), "nan", "must be a number from 0 to 3"),
        (FunnierOfTwo("AB"), "3", "must be 1 or 2"),
    ],
)
def test_entries_that_are_no_answer(form: AnswerForm, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        form.from_submission(text)


def test_answers_are_scored_as_they_are() -> None:
    """A number too small to be written as a sentence in decimals keeps its value."""
    run = load("humicroedit_rating", dataset="sample")
    small = evaluate(run, {r.id: Answer("1e-300") for r in run.records})
    zero = evaluate(run, {r.id: "Rating: 0" for r in run.records})
    assert small.metrics["rmse"].value == pytest.approx(zero.metrics["rmse"].value)


# ---- proportions --------------------------------------------------------------------------------

NOT_PROPORTIONS = {
    "bleu": "a score from 0 to 100",
    "rouge_l": "an overlap",
    "words": "a count",
    "concepts": "a count",
    "caption_words": "a count",
    "characters": "a count",
    "ead": "a ratio to an expected number",
    "tau": "a threshold",
    "reward": "negative where wrong",
    **dict.fromkeys(("recited", "recited_nearly"), "a difference of shares"),
    "cohen_kappa": "negative below chance",
    "gwet_ac1": "negative below chance",
    "pearson": "a correlation",
    "spearman": "a correlation",
    "sms": "a rating",
    "hss": "a rating",
}


def test_a_metric_says_whether_it_is_a_proportion() -> None:
    """Errors in grades (rmse, mae, the ceilings) are the only others."""
    rated = ("rmse", "judge_rmse", "mae_", "one_judge", "other_judges", "true_mean")
    for metric in (metric for benchmark in BENCHMARKS.values() for metric in benchmark.metrics):
        name = metric.name.partition("_missing_")[0]
        assert metric.proportion == (name not in NOT_PROPORTIONS and not name.startswith(rated)), metric


@pytest.mark.parametrize("name", CASES)
def test_the_interval_of_a_proportion_is_inside_and_no_point(name: str) -> None:
    run = load(name, dataset="sample", **CASES[name])
    seen = 0
    for replies in (REPLIES, ("Answer: A",), ("",)):
        outcomes = [run.outcome(r, replies[i % len(replies)]) for i, r in enumerate(run.records)]
        for metric in run.benchmark.metrics:
            if metric.proportion and (counted := metric.counted(outcomes)):
                for found in run.benchmark.summary(run, metric, counted).values():
                    assert math.isnan(found.low) or 0 <= found.low <= found.value <= found.high <= 1
                    assert math.isnan(found.low) or found.high - found.low > 0.01
                    seen += not math.isnan(found.low)
    assert seen


RATED = [
    (benchmark.name, metric)
    for benchmark in BENCHMARKS.values()
    for metric in benchmark.metrics
    if metric.scale is not None and (metric.estimate is None or metric.name == "reward")
]


def test_the_means_on_a_scale_are_known() -> None:
    """Every other metric with a span is no mean of items' values, or has one end alone."""
    assert {metric.name: metric.scale for _, metric in RATED} == {
        "sms": (1, 5),
        "hss": (1, 5),
        "rouge_l": (0, 1),
        "reward": (-3, 3),
    }


@pytest.mark.parametrize(("name", "metric"), RATED, ids=lambda each: getattr(each, "name", each))
def test_equal_values_on_a_scale_have_an_interval_on_it_that_is_no_point(name: str, metric: Metric) -> None:
    low, high = metric.scale or (math.nan, math.nan)
    for value in (low, high, (low + high) / 2):
        outcomes = [Outcome(f"{i}", f"{i}", {}, "answered", "", None, {metric.name: value}) for i in range(3)]
        found = metric.over(outcomes)
        assert (found.value, found.stderr) == (value, 0)
        assert low <= found.low <= value <= found.high <= high
        assert found.high - found.low > 0.5 * (high - low)


def test_the_bounds_by_missing_ratings_are_on_the_scale() -> None:
    run = load("mock_generation", dataset="sample", input="description")
    (bound,) = [metric for metric in run.reported if metric.name == "sms_missing_passed"]
    outcomes = [Outcome(f"{i}", f"{i}", {}, "answered", "", None, {"unrated": 1.0}) for i in range(3)]
    found = bound.over(outcomes)
    assert [found.low, found.value, found.high] == pytest.approx([1 + 4 * 0.025 ** (1 / 3), 5, 5])


def test_folds_of_equal_values_on_a_scale_have_an_interval() -> None:
    found = Metric("x", span=(1, 5)).mean_of_folds([[5.0, 5.0], [5.0, 5.0]], ["ab", "cd"])
    assert [found.low, found.high] == pytest.approx([1 + 4 * 0.025**0.25, 5])
    assert math.isnan(Metric("x").mean_of_folds([[5.0, 5.0], [5.0]], ["ab", "c"]).stderr)


def test_the_exam_clusters_by_cartoon_as_coverage_does() -> None:
    exam, elements = load("humorbench_autograder", dataset="sample"), load("humorbench", dataset="sample")
    assert {r.cluster for r in exam.records} <= {r.cluster for r in elements.records}
