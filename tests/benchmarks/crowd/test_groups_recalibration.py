"""Recalibration of judges of groups: by hand, on which contests tau is fitted, and what is left out."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from pathlib import Path

import pytest
from standins.crowd_groups import EVALUATED, OTHERS, opened
from standins.ranked import ranked

from humor_tasks.benchmarks.crowd.metrics import threshold
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Outcome, Record


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return ranked(tmp_path_factory.mktemp("contests"), (*OTHERS, *EVALUATED))


# ---- recalibration --------------------------------------------------------------------------------


def judged(record: Record, odds: float | None, answer: str, tau: str = "fit", use: str = "") -> Outcome:
    groups = {**record.groups} | ({"use": use} if use else {})
    facts = {"tau": None if tau == "fit" else float(tau)}
    values: dict[str, float] = {} if odds is None else {"logprob_A": odds / 2, "logprob_B": -odds / 2}
    if not use:
        values |= {"accuracy": float(answer == record.target), "share_a": float(answer == "A")}
    return Outcome(record.id, record.cluster, groups, "answered", answer, record.target, values, facts)


def test_recalibration_by_hand(folder: str) -> None:
    """A judge that favours A by 2: A first gives 2 + 1, B first 2 - 1; every raw answer is A."""
    run = opened(folder)
    other = {530: 536, 531: 537}
    bias = {"A": 3.0, "B": 1.0}
    evaluated = [judged(r, bias[str(r.target)], "A") for r in run.records]
    fit = [
        dataclasses.replace(
            judged(r, bias[str(r.target)], "A", use="fit"), id=f"{number}{r.id[3:]}", cluster=str(number)
        )
        for number, like in other.items()
        for r in run.records
        if r.cluster == str(like)
    ]
    found = {name: e.value for name, e in run.metrics([*evaluated, *fit]).items()}
    assert found["tau"] == 2.0  # in the middle of 1 and 3
    assert (found["accuracy"], found["recalibrated_accuracy"]) == (0.5, 1.0)
    assert (found["share_a"], found["recalibrated_share_a"]) == (1.0, 0.5)
    assert (found["consistency"], found["recalibrated_consistency"]) == (0.0, 1.0)
    assert found["without_log_odds"] == 0.0
    estimate = run.metrics([*evaluated, *fit])["tau"]
    assert (estimate.n, estimate.clusters) == (4, 2)
    assert run.metrics([*evaluated, *fit])["accuracy"].n == len(evaluated)
    only = {name: e.value for name, e in run.metrics(evaluated).items()}
    assert math.isnan(only["tau"])
    assert math.isnan(only["recalibrated_accuracy"])
    assert only["accuracy"] == 0.5


@pytest.mark.parametrize(
    ("tau", "accuracy", "share"),
    [("3.003349167", 0.5, 0.0), ("2", 1.0, 0.5), ("0", 0.5, 1.0), ("3", 0.5, 0.0), ("1", 1.0, 0.5), ("-1e9", 0.5, 1.0)],
)
def test_a_given_tau_is_strict(folder: str, tau: str, accuracy: float, share: float) -> None:
    run = opened(folder, tau=float(tau))
    assert all(record.facts["tau"] == float(tau) for record in run.records)
    outcomes = [judged(r, {"A": 3.0, "B": 1.0}[str(r.target)], "A", tau) for r in run.records]
    found = run.metrics(outcomes)
    assert found["tau"].value == float(tau)
    assert (found["recalibrated_accuracy"].value, found["recalibrated_share_a"].value) == (accuracy, share)


def test_rows_without_log_odds_are_left_out_of_recalibration_and_counted(folder: str) -> None:
    run = opened(folder, tau=0)
    known = [judged(r, 1.0 if r.target == "A" else -1.0, "A", "0") for r in run.records]
    known[0] = judged(run.records[0], None, "A", "0")
    known[1] = dataclasses.replace(known[1], values={**known[1].values, "logprob_A": math.nan})
    known[3] = dataclasses.replace(known[3], values={**known[3].values, "logprob_A": -math.inf})
    found = run.metrics(known)
    assert found["without_log_odds"].value == pytest.approx(2 / 6)
    assert (found["recalibrated_accuracy"].n, found["recalibrated_accuracy"].value) == (4, 1.0)
    assert found["accuracy"].n == 6
    assert (found["recalibrated_consistency"].n, found["consistency"].n) == (2, 3)


def test_rows_that_tau_is_fitted_on_are_not_evaluated_and_epochs_are_apart(folder: str) -> None:
    run = opened(folder, tau="fit")
    outcomes = [judged(r, 1.0, "A", use=r.groups.get("use", "")) for r in run.records]
    outcomes[-1] = dataclasses.replace(outcomes[-1], values={})
    found = run.metrics(outcomes)
    assert (found["without_log_odds"].value, found["without_log_odds"].n) == (0.0, 6)
    assert found["tau"].n == 5
    other = {"A": "B", "B": "A"}
    named = [judged(r, 1.0, str(r.target)) for r in run.records if "use" not in r.groups]  # each order names the top 10
    turned = [judged(r, 1.0, other[str(r.target)]) for r in run.records if "use" not in r.groups]
    twice = run.metrics([*named, *turned])["consistency"]
    assert (twice.value, twice.n) == (1.0, 6)


def test_without_tau_nothing_is_recalibrated(folder: str) -> None:
    run = opened(folder)
    found = run.metrics([dataclasses.replace(judged(r, 1.0, "A"), facts=r.facts) for r in run.records])
    assert set(found) == {"accuracy", "share_a", "consistency"}
    assert math.isnan(threshold([])[0])


def test_tau_is_fitted_on_contests_that_are_not_evaluated(folder: str) -> None:
    run = opened(folder, tau="fit", shots=2)
    use = {record.cluster: record.groups.get("use", "") for record in run.records}
    assert use == {str(n): "" for n in EVALUATED} | {str(n): "fit" for n in OTHERS}
    assert run.data.provenance["fit_contests"] == 3
    assert run.data.provenance["rows"] == len(run.records) == 12
    assert run.data.provenance["fingerprint"] != opened(folder).data.provenance["fingerprint"]
    few = opened(folder, tau="fit", fit_contests=1)
    assert len(few.records) == 8
    some = opened(folder, tau="fit", split="train", contests="530-531")
    assert {r.cluster for r in some.records if "use" in r.groups} == {"532"}
    with pytest.raises(BadInput, match="has no contest of split train beside the evaluated ones; give a number"):
        opened(folder, tau="fit", split="train")
    outcomes = [run.outcome(record, "Answer: A") for record in run.records]
    assert [o.values for o in outcomes if "use" in o.groups] == [{}] * 6
    assert run.metrics(outcomes)["accuracy"].clusters == 3


def test_tau_is_fitted_on_contests_that_can_be_shown(tmp_path: Path) -> None:
    folder = ranked(tmp_path, (530, 531, 536))
    first, second = sorted(("530", "531"), key=lambda number: hashlib.sha256(number.encode()).hexdigest())
    told = json.loads((tmp_path / "annotations.json").read_text())
    del told[first]
    (tmp_path / "annotations.json").write_text(json.dumps(told))
    for setting, expected in (("description", second), ("caption_only", first)):
        run = opened(folder, tau="fit", fit_contests=1, setting=setting)
        assert {r.cluster for r in run.records if "use" in r.groups} == {expected}


def test_twins_of_evaluated_contests_are_not_fitted_on(tmp_path: Path) -> None:
    folder = ranked(tmp_path, (530, 646, 647))
    run = opened(folder, tau="fit", split="all", contests="647")
    assert {r.cluster for r in run.records if "use" in r.groups} == {"530"}
    run = opened(folder, tau="fit")
    assert {r.cluster: r.groups.get("use") for r in run.records} == {"646": None, "530": "fit"}
