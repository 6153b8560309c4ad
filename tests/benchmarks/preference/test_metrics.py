"""Metrics of pairwise preference: those of a table of verdicts, whatever the order, the failures and the epochs."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.judging import Pair, always, fickle, judged, longer, slow_metrics, write_texts
from standins.preference_runs import HUMAN, IDS, OTHERS, opened, scored, value

from humor_tasks import load
from humor_tasks.api import Report
from humor_tasks.benchmarks.preference import EXPLANATION_PREFERENCE, PreferenceOptions, pair_outcome
from humor_tasks.contract.definition import Data, Run
from humor_tasks.logs.signature import Signature
from humor_tasks.rows.records import Outcome


@pytest.fixture
def others(tmp_path: Path) -> str:
    """A file of texts: each instance has another's human explanation, and laughs."""
    return write_texts(tmp_path / "others.json", OTHERS)


# ---- metrics ------------------------------------------------------------------------------------


def assert_same(report: Report, pairs: Sequence[Pair]) -> None:
    for name, expected in slow_metrics(pairs).items():
        found = report.metrics[name]
        assert (found.value, found.stderr) == pytest.approx(expected, nan_ok=True), name


def test_a_judge_that_always_says_a_is_even_and_inconsistent(others: str) -> None:
    report = scored(opened(others), always("A"))
    assert (value(report, "win_rate"), value(report, "inconsistent"), value(report, "tie_rate")) == (0.5, 1, 1)
    assert (value(report, "first_shown"), value(report, "preferred"), value(report, "unread")) == (1, 0, 0)
    fixed = scored(opened(others, order="fixed"), always("A"))
    assert (value(fixed, "win_rate"), value(fixed, "preferred"), value(fixed, "first_shown")) == (1, 1, 1)
    assert fixed.metrics["inconsistent"].n == 0


def test_metrics_of_a_judge_of_texts(others: str) -> None:
    pairs = {
        judge: [judged(judge, (OTHERS[i], HUMAN[i]), str(k)) for k, i in enumerate(IDS)] for judge in (longer, fickle)
    }
    for judge, expected in pairs.items():
        assert_same(scored(opened(others), judge), expected)
    assert {pair.side for pair in pairs[longer]} == {"system", "against"}
    assert None in {side for pair in pairs[fickle] for side in pair.said.values()}


SIDES = ("system", "against")
RUN = Run(EXPLANATION_PREFERENCE, PreferenceOptions(system="-"), Data((), {}), {})
PROTOTYPE = load("explanation", dataset="sample").records[0]


def outcome(pair: int, cluster: str, longer_by: int, first: str, side: str | None, status: str, orders: int) -> Outcome:
    """What the reading of one question leaves."""
    groups = {"pair_id": f"p{pair}", "first": first, "settled": ""}
    facts = {"lengths": [1000 + longer_by, 1000], "orders": orders}
    record = dataclasses.replace(PROTOTYPE, id=f"p{pair}-{first}", cluster=cluster, groups=groups, facts=facts)
    choice = "tie" if side == "tie" else None if side is None else "A" if side == first else "B"
    return pair_outcome(record, [choice], [status if side is None else "answered"])


sides = st.sampled_from([*SIDES, "tie", None])
orders = st.sampled_from([SIDES, SIDES, SIDES[:1], SIDES[1:]])
rows = st.tuples(st.sampled_from("uvwx"), st.integers(-300, 300), sides, sides, orders)
failures = st.sampled_from(["unparsed", "empty", "refused", "error"])


@settings(max_examples=60)
@given(st.lists(rows, min_size=1, max_size=25), st.randoms(use_true_random=False), failures)
def test_metrics_are_those_of_a_table_of_verdicts(table: list[Any], shuffled: random.Random, status: str) -> None:
    pairs, outcomes = [], []
    for i, (cluster, longer_by, one, other, asked) in enumerate(table):
        said = {first: side for first, side in zip(SIDES, (one, other), strict=True) if first in asked}
        pairs.append(Pair(cluster, longer_by, said))
        outcomes += [outcome(i, cluster, longer_by, first, side, status, len(said)) for first, side in said.items()]
    shuffled.shuffle(outcomes)
    metrics = RUN.metrics(outcomes)
    assert_same(Report(metrics, Signature(), ()), pairs)
    failed = sum(side is None for pair in pairs for side in pair.said.values()) / len(outcomes)
    names = {"unparsed": ("unparsed", "empty"), "refused": ("refused",), "grader_failed": ("error",)}
    for name, statuses in names.items():
        assert metrics[name].value == pytest.approx(failed if status in statuses else 0)
    assert metrics["same_text"].value == metrics["empty"].value == 0


@settings(max_examples=30)
@given(st.lists(rows, min_size=1, max_size=10))
def test_epochs_are_pairs_of_their_own(table: list[Any]) -> None:
    """Two epochs, the second with the sides' verdicts exchanged: each order's first reply meets the other's first."""
    outcomes, pairs = [], []
    for epoch in range(2):
        for i, (cluster, longer_by, *verdicts, _) in enumerate(table):
            said = dict(zip(SIDES, verdicts[:: 1 - 2 * epoch], strict=True))
            pairs.append(Pair(cluster, longer_by, said))
            outcomes += [outcome(i, cluster, longer_by, first, side, "unparsed", 2) for first, side in said.items()]
    assert_same(Report(RUN.metrics(outcomes), Signature(), ()), pairs)


def test_a_pair_of_which_one_order_is_missing_leaves_the_rest() -> None:
    """As where a run was limited to an odd number of questions, or a question failed."""
    whole = [outcome(0, "u", 5, first, "system", "", 2) for first in SIDES]
    half = [outcome(1, "v", 5, "system", "system", "", 2)]
    metrics = RUN.metrics([*whole, *half])
    assert (metrics["win_rate"].value, metrics["win_rate"].n, metrics["unread"].value) == (1, 1, 0)
    assert (metrics["half_asked"].value, metrics["half_asked"].n) == (0.5, 2)


def test_that_an_empty_text_loses_is_no_liking_for_length() -> None:
    lengths = (-60, -20, 15, 40, 70, -35)
    judged = [
        outcome(i, str(i), d, first, "system" if i % 2 else "against", "", 2)
        for i, d in enumerate(lengths)
        for first in SIDES
    ]
    empty = [
        dataclasses.replace(
            o,
            id=f"e{o.id}",
            groups={**o.groups, "pair_id": f"e{o.groups['pair_id']}", "settled": "against"},
            answer="against",
            facts={**o.facts, "named": ["against"]},
            values={"same_text": 0.0, "empty": 1.0, "unread": 0.0, "win_rate": 0.0},
        )
        for o in judged
    ]
    alone, mixed = RUN.metrics(judged), RUN.metrics([*judged, *empty])
    assert mixed["length_controlled_win_rate"] == alone["length_controlled_win_rate"]
    assert mixed["win_rate"].value < alone["win_rate"].value


@pytest.mark.parametrize(
    ("reply", "refused", "status", "answer"),
    [
        ("<judgement>A</judgement>", False, "answered", "system"),
        ("<judgement>B</judgement>", False, "answered", "against"),
        ("<judgement>TIE</judgement>", False, "answered", "tie"),
        ("Explanation A is better.", False, "unparsed", "-"),
        ('{"judgement": "A"}', False, "unparsed", "-"),
        ("", False, "empty", "-"),
        ("I can't help with that.", False, "refused", "-"),
        ("Well", True, "refused", "-"),
        ("<judgement>A</judgement>", True, "answered", "system"),
    ],
)
def test_what_a_reply_is_worth(others: str, reply: str, refused: bool, status: str, answer: str) -> None:
    run = opened(others)
    found = run.outcome(run.records[0], reply, refused)
    assert (found.status, found.answer) == (status, answer)
    turned = run.outcome(run.records[1], reply, refused)
    assert turned.answer == {"system": "against", "against": "system"}.get(answer, answer)


def test_both_orders_in_one_record_are_worth_what_two_records_are() -> None:
    whole = dataclasses.replace(PROTOTYPE, groups={"settled": ""}, facts={"lengths": [5, 3]})
    found = pair_outcome(whole, ["A", None], ["answered", "refused"])
    assert (found.answer, found.status) == ("system -", "refused")
    assert {name: found.values[name] for name in ("unparsed", "refused", "grader_failed")} == {
        "unparsed": 0,
        "refused": 0.5,
        "grader_failed": 0,
    }
    both = pair_outcome(whole, [None, None], ["error", "empty"])
    assert (both.values["unparsed"], both.values["grader_failed"], both.status) == (0.5, 0.5, "error")
    agreed = pair_outcome(whole, ["A", "B"], ["answered", "answered"])
    assert (agreed.answer, agreed.values["win_rate"], agreed.values["first_shown"]) == ("system system", 1, 0.5)
    assert agreed.values["inconsistent"] == 0
    half = pair_outcome(whole, ["A", "tie"], ["answered", "answered"])
    assert half.values["inconsistent"] == 1
    assert half.values["win_rate"] == RUN.metrics([half])["win_rate"].value == 0.5
    assert RUN.metrics([agreed])["win_rate"].value == 1
