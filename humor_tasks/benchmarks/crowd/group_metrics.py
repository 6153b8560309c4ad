"""Metrics of verdicts on pairs of groups: raw, and recalibrated by a threshold of log P(A) - log P(B).

Judges favour the group shown first. Zhang et al. 2024 (arXiv 2406.10522, appendix C.2) therefore answer "A" exactly
where log P(A) - log P(B) > tau. Their tau, 3.003349167, is that of one judge. With tau=fit it is fitted here on the
outcomes of contests that are not evaluated, which are among the outcomes, with use=fit in their groups.

Every outcome of a run with tau has it in its groups, so the metrics need the outcomes alone. The errors of recalibrated
metrics take tau as given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from humor_tasks.benchmarks.card import Level
from humor_tasks.benchmarks.metric import ACCURACY, FALLBACK, REPLY_RATES, Metric
from humor_tasks.data.records import Outcome
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.recalibration import fit_threshold, recalibrated

FIT = "fit"
Answered = tuple[Outcome, str]
"""An outcome and its answer, raw or recalibrated."""


def log_odds(o: Outcome) -> float | None:
    """log P(A) - log P(B), infinite where one of them is 0; None where it is not known."""
    found = o.values.get("logprob_A", math.nan) - o.values.get("logprob_B", math.nan)
    return None if math.isnan(found) else found


def threshold(outcomes: Sequence[Outcome]) -> tuple[float, list[Outcome]]:
    """tau, and the outcomes that it is fitted on; nan where it is to be fitted and there are none."""
    taus = [o.facts["tau"] for o in outcomes if "tau" in o.facts]
    if not taus or taus[0] is not None:
        return (taus[0] if taus else math.nan), []
    known = [(o, odds) for o in outcomes if _fits(o) and (odds := log_odds(o)) is not None]
    if not known:
        return math.nan, []
    found = fit_threshold([odds for _, odds in known], [o.target == "A" for o, _ in known])
    return found.tau, [o for o, _ in known]


def _fits(o: Outcome) -> bool:
    """Whether the outcome is one that tau is fitted on, and not evaluated."""
    return o.groups.get("use") == FIT


def _raw(outcomes: Sequence[Outcome]) -> list[Answered]:
    return [(o, o.answer) for o in outcomes if o.answer is not None]


def _recalibrated(outcomes: Sequence[Outcome]) -> list[Answered]:
    """The evaluated outcomes with log-odds, and what they answer under tau; none without a tau."""
    tau, _ = threshold(outcomes)
    known = [(o, odds) for o in outcomes if not _fits(o) and (odds := log_odds(o)) is not None]
    if math.isnan(tau) or not known:
        return []
    answers = recalibrated([odds for _, odds in known], tau)
    return [(o, answer) for (o, _), answer in zip(known, answers, strict=True)]


def _share(found: Sequence[Answered], holds: Callable[[Answered], bool]) -> Estimate:
    return clustered_proportion([float(holds(each)) for each in found], [o.cluster for o, _ in found])


def _consistency(found: Sequence[Answered]) -> Estimate:
    """The share of pairs whose two orders name the same group, of those with an answer in both.

    The orders name the same group where one answer is A and the other B. Each epoch has its own pairs.
    """
    pairs: dict[tuple[str, int], list[Answered]] = {}
    times: dict[str, int] = {}
    for o, answer in found:
        times[o.id] = epoch = times.get(o.id, 0) + 1
        pairs.setdefault((o.groups["pair_id"], epoch), []).append((o, answer))
    both = [pair for pair in pairs.values() if len(pair) == 2]
    agree = [float(first != second) for (_, first), (_, second) in both]
    return clustered_proportion(agree, [o.cluster for (o, _), _ in both])


def _tau(outcomes: Sequence[Outcome]) -> Estimate:
    tau, known = threshold(outcomes)
    return Estimate(tau, math.nan, math.nan, math.nan, len(known), len({o.cluster for o in known}))


def _without_log_odds(outcomes: Sequence[Outcome]) -> Estimate:
    evaluated = [o for o in outcomes if not _fits(o)]
    return clustered_proportion([float(log_odds(o) is None) for o in evaluated], [o.cluster for o in evaluated])


def _has_tau(o: Outcome) -> bool:
    return "tau" in o.facts


_with_tau = partial(Metric, counts=_has_tau, proportion=True)

METRICS = (
    ACCURACY,
    _with_tau(
        "recalibrated_accuracy",
        lm_eval_name="recalibrated_acc",
        estimate=lambda outcomes: _share(_recalibrated(outcomes), lambda each: each[1] == each[0].target),
        about="Accuracy of the recalibrated answers.",
    ),
    Metric(
        "tau",
        estimate=_tau,
        counts=_has_tau,
        about="The threshold of log P(A) - log P(B), given or fitted.",
        neutral=True,
    ),
    Metric("share_a", proportion=True, about="Share of answers A; A is right in half of the questions.", neutral=True),
    _with_tau(
        "recalibrated_share_a",
        estimate=lambda outcomes: _share(_recalibrated(outcomes), lambda each: each[1] == "A"),
        about="Share of A among the recalibrated answers.",
        neutral=True,
    ),
    Metric(
        "consistency",
        estimate=lambda outcomes: _consistency(_raw(outcomes)),
        counts=lambda o: "share_a" in o.values,
        proportion=True,
        about="Share of pairs of groups for which both orders name the same group.",
    ),
    _with_tau(
        "recalibrated_consistency",
        estimate=lambda outcomes: _consistency(_recalibrated(outcomes)),
        about="Consistency of the recalibrated answers.",
    ),
    _with_tau(
        "without_log_odds",
        "lower",
        _without_log_odds,
        about="Share of questions without log-probabilities of both letters.",
    ),
    *REPLY_RATES,
    FALLBACK,
)
"""Accuracy first. Of the others, `recalibrated_*`, `tau` and `without_log_odds` exist only with a tau."""

PEOPLE = tuple(
    Level(value, "accuracy", f"{who}, {shown}, mode={mode}", f"Zhang et al. 2024, Table 2, {name}, row {who} ({shown})")
    for value, who, shown, mode, name in (
        (0.5923, "crowd workers", "description by GPT-4o", "overall", "overall"),
        (0.575, "crowd workers", "picture", "overall", "overall"),
        (0.9428, "an expert", "picture", "overall", "overall"),
        (0.56, "crowd workers", "description by GPT-4o", "best_pick", "best pick"),
        (0.6366, "crowd workers", "picture", "best_pick", "best pick"),
    )
)
"""What people reach on the top 10 and #1000-1009."""
