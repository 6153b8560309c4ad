"""Humicroedit in both harnesses: prompts, expected ratings, ratings compared."""

from __future__ import annotations

import math
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    Logprob,
    ModelOutput,
)
from standins.humicroedit_runs import (
    PAIRWISE,
    RATING,
    SAMPLE,
    answering,
    inspect_task,
    reply_to,
    run_in_inspect,
    run_in_lm_eval,
    scripted,
)
from standins.logprobs import reply_with_logprobs

from humor_tasks import evaluate, load
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.logprobs import answer_token
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.scorers.estimate import Estimate

VARIANTS = [(RATING, {}), (PAIRWISE, {}), (PAIRWISE, {"via": "ratings"})]


# ---- Inspect ------------------------------------------------------------------------------------


def assert_same(log: EvalLog, metrics: dict[str, Estimate]) -> None:
    assert log.results
    found = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert {name for name in found if f"{name}_stderr" in found} == set(metrics)
    for name, estimate in metrics.items():
        parts = [found[f"{name}{end}"] for end in ("", "_stderr", "_ci_low", "_ci_high")]
        ours = [estimate.value, estimate.stderr, estimate.low, estimate.high]
        assert parts == pytest.approx(ours, nan_ok=True), name


@pytest.mark.slow
def test_inspect_counts_what_it_cannot_read() -> None:
    more = {"via": "ratings", "on_unparsed": "exclude"}

    def spoilt(asked: str) -> str:
        return "Hard to say." if len(asked) % 5 == 0 else reply_to(asked)

    log = run_in_inspect(inspect_task(PAIRWISE, **more), scripted(spoilt))
    opened = load(PAIRWISE, **SAMPLE, **more)
    report = evaluate(opened, {r.id: spoilt(opened.prompt(r).turns[-1].text) for r in opened.records})
    assert 0 < report.metrics["unparsed"].value < 1
    assert_same(log, report.metrics)
    unread = [sample.scores for sample in log.samples or [] if sample.output.completion == "Hard to say."]
    assert {next(iter(scores.values())).reason for scores in unread if scores} == {"invalid_response_format"}


SPREAD = {" 2": math.log(0.3), "2": math.log(0.1), " 0": math.log(0.2), " x": math.log(0.2), "10": math.log(0.1)}


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
@pytest.mark.parametrize(("name", "blank"), [(RATING, "▁"), (PAIRWISE, " ")])
def test_expected_values_are_those_of_the_first_digit(name: str, blank: str) -> None:
    """Of 0.6 on digits 0.4 are on 2: 4/3, whatever the reply says."""
    tokens = [("Rating", {"Rating": -0.1, "3": -2.0}), (":", {}), (f"{blank}3", SPREAD), (".", {"1": 0.0})]
    said = reply_with_logprobs("Rating: 3.", tokens)
    more = {"via": "ratings"} if name == PAIRWISE else {}
    log = run_in_inspect(
        inspect_task(name, estimate="expected", **more), scripted(lambda asked: said.model_copy(deep=True))
    )
    for sample in log.samples or []:
        assert sample.scores
        assert float(str(sample.scores["rating_error"].answer)) == pytest.approx(4 / 3)
        assert sample.metadata["said"] == "Rating: 3."
        assert sample.metadata["digit_probability"] == pytest.approx(0.6)
    opened = load(name, **SAMPLE, estimate="expected", **more)
    assert_same(log, evaluate(opened, {r.id: f"Rating: {4 / 3!r}" for r in opened.records}).metrics)
    assert "|estimate:expected|" in (log.eval.metadata or {})["signature"]
    assert log.plan.config.logprobs


def test_without_a_digit_there_is_no_expected_value() -> None:
    said = reply_with_logprobs("Not funny.", [("Not", {"Not": -0.1, "0": -3.0}), (" funny", {"0": -1.0})])
    log = run_in_inspect(
        inspect_task(RATING, estimate="expected"), scripted(lambda asked: said.model_copy(deep=True)), limit=3
    )
    assert log.results
    assert log.results.scores[0].metrics["unparsed"].value == 1
    assert {sample.metadata["digit_probability"] for sample in log.samples or []} == {0.0}


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(
    ("said", "message"),
    [
        (ModelOutput.from_content("mockllm/model", "Rating: 2"), "returns no log-probabilities; use estimate=text"),
        (
            reply_with_logprobs("2", [("2", None)]),
            "returns the log-probability of the generated token only; use estimate=text",
        ),
    ],
)
def test_a_model_without_logprobs_is_told_so(said: ModelOutput, message: str) -> None:
    log = eval(inspect_task(RATING, estimate="expected"), model=scripted(lambda asked: said), display="log", limit=1)
    assert log[0].status == "error"
    assert message in str(log[0].error)


# ---- lm-eval ------------------------------------------------------------------------------------


def assert_same_results(found: dict[str, Any], metrics: dict[str, Estimate]) -> None:
    for name, estimate in metrics.items():
        short = "acc" if name == "accuracy" else name
        assert found[f"{short},none"] == pytest.approx(estimate.value, nan_ok=True), name
        assert found[f"{short}_stderr,none"] == pytest.approx(estimate.stderr, nan_ok=True), name


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize(("name", "more"), [VARIANTS[0], VARIANTS[2]])
def test_log_likelihoods_of_the_digits_give_the_expected_value(name: str, more: dict[str, str]) -> None:
    model = answering()
    found = run_in_lm_eval(name, model, **more)["results"][name]
    opened = load(name, **SAMPLE, **more)
    assert_same_results(found, evaluate(opened, {r.id: "Rating: 1.0" for r in opened.records}).metrics)
    assert found["unparsed,none"] == 0
    assert len(model.asked) == 4 * len(opened.records)
    assert [r.args[1] for r in model.asked[:4]] == [" 0", " 1", " 2", " 3"]
    assert all(r.args[0].endswith("\n\nRating:") for r in model.asked)


@pytest.mark.parametrize("likelihood", [math.nan, -math.inf])
def test_no_finite_likelihood_is_no_rating(likelihood: float) -> None:
    found = run_in_lm_eval(RATING, answering(dict.fromkeys("0123", likelihood)))["results"][RATING]
    assert found["unparsed,none"] == 1


@pytest.mark.slow
def test_a_model_that_picks_among_choices_rates_nothing() -> None:
    log = eval(inspect_task(RATING), model="baseline/first", display="log", limit=1)[0]
    assert log.status == "error"
    assert "cannot rate headlines" in str(log.error and log.error.message)
    with pytest.raises(BadInput, match="cannot rate headlines"):
        run_in_lm_eval(f"{RATING}_gen", BaselineLM(strategy="first"))


# ---- which token rates ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "rates"),
    [
        (["Rating", ":", " 2"], 2),
        (["Rating: ", "2", ".", "5"], 1),
        ([" ", "**", "1", "**"], 2),
        (["<think>", "there are ", "3", " men", "</think>", "Rating", ": ", "1"], 7),
        (["On the ", "0", "-", "3", " scale: ", "2"], None),
        (["I", " say ", "2"], None),
        (["Rating: ", "1", ". No: ", "Rating: ", "3"], 4),
        (["Rating: ", "about ", "2"], None),
        ([], None),
    ],
)
def test_the_token_that_rates(tokens: list[str], rates: int | None) -> None:
    made = [Logprob(token=token, logprob=-0.1) for token in tokens]
    found = answer_token(made, "rating", lambda token: token.strip() in ("0", "1", "2", "3"))
    assert found is (None if rates is None else made[rates])
