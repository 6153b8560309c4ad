"""Humicroedit's metrics: those of the scorers, ties, unread ratings, and pairs judged by ratings."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from standins.corpus import rows_of
from standins.humicroedit_sample import PAIRWISE, RATING, SAMPLE, some_ratings, told

from humor_tasks import evaluate, load
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.scorers import against_judges, noise_ceiling, pairwise, regression

# ---- metrics ------------------------------------------------------------------------------------


def test_rating_metrics_are_those_of_the_scorers() -> None:
    run = load(RATING, dataset="sample")
    rated = some_ratings(run)
    found = evaluate(run, {identity: told(value) for identity, value in rated.items()}).metrics
    gold, clusters = [float(str(r.target)) for r in run.records], [r.cluster for r in run.records]
    pure = regression.rating_metrics(list(rated.values()), gold, clusters)
    judges = [r.facts["grades"] for r in run.records]
    against, ceiling = against_judges(list(rated.values()), judges, clusters), noise_ceiling(judges, clusters)
    for name, estimate in pure.items():
        ours = re.sub(r"mae\[(...),.*", r"mae_\1", name.replace("@", "_at_"))
        if estimate.n:
            assert found[ours] == estimate, name
        else:
            assert ours not in found
    assert (found["beats_judge"], found["judge_rmse"]) == (against.beats_judge, against.judge_rmse)
    assert [found[name] for name in ("one_judge", "other_judges", "true_mean")] == [
        ceiling.one_judge,
        ceiling.other_judges,
        ceiling.true_mean,
    ]
    assert found["rmse"].clusters == 12
    assert next(iter(found)) == "rmse"


def test_pairwise_metrics_are_those_of_the_scorers() -> None:
    run = load(PAIRWISE, dataset="sample")
    said = {r.id: "AB"[i % 3 == 0] for i, r in enumerate(run.records)}
    found = evaluate(run, said).metrics
    rows = {row["id"]: row for row in rows_of(SAMPLE / "task-2" / "test.csv")}
    means = [(float(rows[i]["meanGrade1"]), float(rows[i]["meanGrade2"])) for i in said]
    clusters = [r.cluster for r in run.records]
    picks = ["AB".index(letter) + 1 for letter in said.values()]
    assert found["accuracy"] == pairwise.pair_accuracy(pairwise.pair_labels(means), picks, clusters)
    reward = pairwise.pair_reward(means, picks, clusters)
    assert (found["reward"].value, found["reward"].stderr) == pytest.approx((reward.value, reward.stderr))


def test_ratings_compared_are_pairs_answered() -> None:
    """A tie is worth half."""
    run, direct = (load(PAIRWISE, dataset="sample", via=via) for via in ("ratings", "direct"))
    rated = some_ratings(run)
    values: dict[str, list[float]] = {}
    at = {(pair["id"], pair["place"]): rated[r.id] for r in run.records for pair in r.facts["pairs"]}
    for record in direct.records:
        a, b = at[record.id, 1], at[record.id, 2]
        right = 0.5 if a == b else float(("A" if a > b else "B") == record.target)
        values.setdefault("accuracy", []).append(right)
        values.setdefault("reward", []).append((2 * right - 1) * record.facts["difference"])
        values.setdefault("tied", []).append(float(a == b))
    found = evaluate(run, {identity: told(value) for identity, value in rated.items()}).metrics
    for name, each in values.items():
        assert found[name].value == pytest.approx(math.fsum(each) / len(each))
        assert (found[name].n, found[name].clusters) == (len(direct.records), 12)


def test_constant_ratings_tie_everywhere() -> None:
    found = evaluate(PAIRWISE, {r.id: "1" for r in ratings_run().records}, dataset="sample", via="ratings").metrics
    assert {name: found[name].value for name in ("accuracy", "reward", "tied", "unparsed")} == {
        "accuracy": 0.5,
        "reward": 0.0,
        "tied": 1.0,
        "unparsed": 0.0,
    }


def ratings_run(**more: Any) -> Run:
    return load(PAIRWISE, dataset="sample", via="ratings", **more)


def test_a_pair_with_an_unread_rating_is_wrong_or_left_out() -> None:
    run = ratings_run()
    perfect = {r.id: f"Rating: {r.target}" for r in run.records}
    lost = run.records[0]
    touched = len(lost.facts["pairs"])
    n = len(load(PAIRWISE, dataset="sample").records)
    wrong = evaluate(run, perfect | {lost.id: "no idea"}).metrics
    assert wrong["accuracy"].value == pytest.approx(1 - touched / n)
    assert wrong["unparsed"].value == pytest.approx(1 / len(run.records))
    left = evaluate(ratings_run(on_unparsed="exclude"), perfect | {lost.id: "no idea"}).metrics
    assert (left["accuracy"].value, left["accuracy"].n) == (1, n - touched)
    for place in (1, 2):  # a limited run lacks the pairs of what it leaves out
        lost = next(r for r in run.records if {pair["place"] for pair in r.facts["pairs"]} == {place})
        outcomes = [run.outcome(r, perfect[r.id]) for r in run.records if r is not lost]
        assert run.metrics(outcomes)["accuracy"].n == n - len(lost.facts["pairs"])


def test_submissions_may_name_ties_but_nothing_else() -> None:
    run = load(PAIRWISE, dataset="sample", split="dev")
    said = {r.id: "A" for r in run.records}
    with_ties = said | dict.fromkeys(run.data.dropped, "B")
    assert evaluate(run, with_ties).metrics == evaluate(run, said).metrics
    with pytest.raises(BadInput, match="1 unknown id: 1-2"):
        evaluate(run, with_ties | {"1-2": "A"})
    with pytest.raises(BadInput, match="1 missing id"):
        evaluate(run, dict(list(with_ties.items())[1:]))


@pytest.mark.parametrize("via", ["direct", "ratings"])
def test_ties_that_are_kept_are_asked_about_and_not_scored(via: str) -> None:
    dropped, kept = (load(PAIRWISE, dataset="sample", split="dev", via=via, ties=ties) for ties in ("drop", "keep"))
    asked, some = (
        {pair["id"] for r in run.records for pair in r.facts.get("pairs", [{"id": r.id}])} for run in (kept, dropped)
    )
    ties = load(PAIRWISE, dataset="sample", split="dev").data.dropped
    assert asked == some | ties
    assert ties
    assert not some & ties
    assert not kept.data.dropped & {r.id for r in kept.records}
    said = {r.id: told(i % 4) if via == "ratings" else "A" for i, r in enumerate(kept.records)}
    without = {r.id: said[r.id] for r in dropped.records}
    wanted, found = evaluate(dropped, without).metrics, evaluate(kept, said).metrics
    assert {name: found[name] for name in ("accuracy", "reward")} == {n: wanted[n] for n in ("accuracy", "reward")}
    assert found["unparsed"].n == len(kept.records)
