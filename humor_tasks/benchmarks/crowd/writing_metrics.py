"""Metrics of written captions: win rates against people, and how reliable the judges are that give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from humor_tasks.benchmarks.crowd.group_metrics import log_odds
from humor_tasks.benchmarks.crowd.groups import HUMAN_GROUPS
from humor_tasks.benchmarks.metric import REPLY_RATES, Metric
from humor_tasks.benchmarks.missing import Verdicts
from humor_tasks.data.records import Outcome, Record
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.recalibration import recalibrated
from humor_tasks.scorers.win_correction import corrected_win_rate

WIN_RATES = tuple(f"win_rate_{name}" for name in HUMAN_GROUPS)
ACCURACY = "judge_accuracy"
Asked = tuple[Record, Outcome]
"""A judges' question about a contest, and the outcome of its verdict."""


def verdict_values(asked: Sequence[Asked]) -> dict[str, float]:
    """The values of a contest's verdicts.

    A win rate is the share of the two orders in which the written captions were chosen; it is missing where one of the
    two has no verdict. With a tau in the questions, the recalibrated values stand beside them.
    """
    answers = [outcome.answer for _, outcome in asked]
    values = _named(asked, answers, "")
    taus = {record.groups["tau"] for record, _ in asked if "tau" in record.groups}
    if taus:
        odds = [log_odds(outcome) for _, outcome in asked]
        tau = float(taus.pop())
        mended = [None if each is None else recalibrated([each], tau)[0] for each in odds]
        values |= _named(asked, mended, "recalibrated_")
        values["without_log_odds"] = odds.count(None) / len(odds)
    missing = answers.count(None)
    return values | {"verdicts_asked": float(len(asked)), "verdicts_missing": float(missing)}


def lost() -> dict[str, float]:
    """The values of a reply without ten captions that counts as lost; no judge is asked."""
    return dict.fromkeys(WIN_RATES, 0.0)


def _named(asked: Sequence[Asked], answers: Sequence[str | None], prefix: str) -> dict[str, float]:
    pairs: dict[str, list[tuple[str | None, str | None]]] = {}
    for (record, _), answer in zip(asked, answers, strict=True):
        pairs.setdefault(record.groups["pairing"], []).append((answer, record.target))
    values: dict[str, float] = {}
    for pairing, found in pairs.items():
        name = ACCURACY if pairing == "exam" else f"win_rate_{pairing}"
        if any(answer is None for answer, _ in found):
            values |= {} if prefix else {f"missing_{name}": 1.0}
        else:
            values[prefix + name] = sum(answer == target for answer, target in found) / len(found)
    named = [answer for answer in answers if answer is not None]
    both = [found for found in pairs.values() if len(found) == 2 and None not in (found[0][0], found[1][0])]
    values |= {f"{prefix}judge_share_a": named.count("A") / len(named)} if named else {}
    agree = [first != second for (first, _), (second, _) in both]
    return values | ({f"{prefix}judge_consistency": sum(agree) / len(agree)} if agree else {})


def _corrected(name: str) -> Metric:
    """A win rate corrected for the judge's accuracy in the same contests."""

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        won, right = ([o.values[each] for o in outcomes] for each in (name, ACCURACY))
        clusters = [o.cluster for o in outcomes]
        return corrected_win_rate(won, clusters, right, clusters)

    def counts(o: Outcome) -> bool:
        return name in o.values and ACCURACY in o.values

    return Metric(f"corrected_{name}", estimate=estimate, counts=counts)


def _filled(o: Outcome, passes: bool) -> Outcome:
    missing = (name for name in WIN_RATES if f"missing_{name}" in o.values)
    return replace(o, values={**o.values, **dict.fromkeys(missing, float(passes))})


VERDICTS = Verdicts(
    lambda o: o.values.get("verdicts_asked", 0.0), lambda o: o.values.get("verdicts_missing", 0.0), _filled, WIN_RATES
)

_OF_THE_JUDGE = (ACCURACY, "judge_share_a", "judge_consistency")

METRICS = (
    *(Metric(name, proportion=True) for name in WIN_RATES),
    *(Metric(name, proportion=True) for name in _OF_THE_JUDGE),
    *map(_corrected, WIN_RATES),
    *(Metric(f"recalibrated_{name}", proportion=True) for name in (*WIN_RATES, *_OF_THE_JUDGE)),
    Metric("without_log_odds", "lower", proportion=True),
    Metric("recited_exact", "lower", proportion=True),
    Metric("recited_near", "lower", proportion=True),
    Metric("ead"),
    Metric("distinct", proportion=True),
    Metric("characters"),
    Metric("words"),
    *REPLY_RATES,
)
"""Win rates first, each beside the judge's accuracy; then what is corrected, and the captions' words."""
