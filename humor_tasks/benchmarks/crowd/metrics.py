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
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from humor_tasks.benchmarks.crowd.corpus import HUMAN_GROUPS
from humor_tasks.contract.card import Level
from humor_tasks.contract.judging.missing import Verdicts
from humor_tasks.contract.metric import ACCURACY, FALLBACK, OF_REPLIES, REPLY_RATES, Metric, rate, share
from humor_tasks.contract.variations import variation_of
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.preference import win_rate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.recalibration import fit_threshold, recalibrated
from humor_tasks.scorers.win_correction import corrected_win_rate

FIT = "fit"
Answered = tuple[Outcome, str]
"""An outcome and its answer, raw or recalibrated."""


def log_odds(o: Outcome) -> float | None:
    """log P(A) - log P(B), infinite where one of them is 0; None where it is not known."""
    odds = o.values.get("logprob_A", math.nan) - o.values.get("logprob_B", math.nan)
    return None if math.isnan(odds) else odds


def threshold(outcomes: Sequence[Outcome]) -> tuple[float, list[Outcome]]:
    """tau, and the outcomes that it is fitted on; nan where it is to be fitted and there are none."""
    taus = [o.facts["tau"] for o in outcomes if "tau" in o.facts]
    if not taus or taus[0] is not None:
        return (taus[0] if taus else math.nan), []
    known = [(o, odds) for o in outcomes if _fits(o) and (odds := log_odds(o)) is not None]
    if not known:
        return math.nan, []
    fitted = fit_threshold([odds for _, odds in known], [o.target == "A" for o, _ in known])
    return fitted.tau, [o for o, _ in known]


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


def _share(answers: Sequence[Answered], holds: Callable[[Answered], bool]) -> Estimate:
    return clustered_proportion([float(holds(answered)) for answered in answers], [o.cluster for o, _ in answers])


def _consistency(answers: Sequence[Answered]) -> Estimate:
    """The share of pairs whose two orders name the same group, of those with an answer in both.

    The orders name the same group where one answer is A and the other B. Each epoch and each prompt set has its own
    pairs.
    """
    pairs: dict[tuple[str, str, int], list[Answered]] = {}
    times: dict[str, int] = {}
    for o, answer in answers:
        times[o.id] = epoch = times.get(o.id, 0) + 1
        pairs.setdefault((o.groups["pair_id"], variation_of(o).prompts, epoch), []).append((o, answer))
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
        no_level=OF_REPLIES,
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


# ---- caption writing -------------------------------------------------------------------------------


WIN_RATES = tuple(f"win_rate_{name}" for name in HUMAN_GROUPS)
JUDGE_ACCURACY = "judge_accuracy"
_HALVES = (*WIN_RATES, JUDGE_ACCURACY, "judge_consistency")
GUESSED = (*_HALVES, *(f"recalibrated_{name}" for name in _HALVES))
"""Metrics with .5 for a judge that decides at random."""


class Verdict(NamedTuple):
    """The judges' verdict on one question about a contest.

    pairing: the human group, or "exam". target: the letter of the written captions, in the exam of the better group.
    answer: A, B, or None where it is missing. log_odds: log P(A) - log P(B), where it is known.
    """

    pairing: str
    target: str
    answer: str | None
    log_odds: float | None = None


def verdict_values(verdicts: Sequence[Verdict], tau: float | None = None) -> dict[str, float]:
    """The values of a contest's verdicts.

    A win rate is the share of the two orders in which the written captions were chosen. Where one of the two has no
    verdict, `missing_` has the share of orders without one, and `read_` the share that was read and won. With a tau,
    the values of the recalibrated answers stand beside them.
    """
    values = _named(verdicts, "")
    if tau is not None:
        known = [None if verdict.log_odds is None else recalibrated([verdict.log_odds], tau)[0] for verdict in verdicts]
        again = [verdict._replace(answer=answer) for verdict, answer in zip(verdicts, known, strict=True)]
        values |= _named(again, "recalibrated_") | {"without_log_odds": known.count(None) / len(known)}
    missing = sum(verdict.answer is None for verdict in verdicts)
    return values | {"verdicts_asked": float(len(verdicts)), "verdicts_missing": float(missing)}


def lost(exam: bool = False, recalibrated: bool = False) -> dict[str, float]:
    """The values of a reply without ten captions that counts as lost; no judge is asked.

    exam, recalibrated: whether the judges of the other contests have an exam and a tau. The reply is lost in the
    corrected and the recalibrated win rates, too.
    """
    prefixes = ("", *["corrected_"] * exam, *["recalibrated_"] * recalibrated)
    return {f"{prefix}{name}": 0.0 for prefix in prefixes for name in WIN_RATES}


def _named(verdicts: Sequence[Verdict], prefix: str) -> dict[str, float]:
    pairs: dict[str, list[Verdict]] = {}
    for each in verdicts:
        pairs.setdefault(each.pairing, []).append(each)
    values: dict[str, float] = {}
    for pairing, orders in pairs.items():
        name = JUDGE_ACCURACY if pairing == "exam" else f"win_rate_{pairing}"
        won = sum(each.answer == each.target for each in orders) / len(orders)
        if missing := sum(each.answer is None for each in orders):
            values |= {} if prefix else {f"missing_{name}": missing / len(orders), f"read_{name}": won}
        else:
            values[prefix + name] = won
    named = [each.answer for each in verdicts if each.answer is not None]
    values |= {f"{prefix}judge_share_a": named.count("A") / len(named)} if named else {}
    whole = [orders for orders in pairs.values() if len(orders) == 2 and all(each.answer for each in orders)]
    agree = [first.answer != second.answer for first, second in whole]
    return values | ({f"{prefix}judge_consistency": sum(agree) / len(agree)} if agree else {})


def _corrected(name: str) -> Metric:
    """A win rate corrected for the judge's accuracy in the same contests.

    No judge errs on a lost reply. It counts with 1 - q, the rate at which judges of accuracy q let a sure loser win,
    which the correction turns into 0.
    """
    corrected = f"corrected_{name}"

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        clusters, judged = [o.cluster for o in outcomes], [o for o in outcomes if corrected not in o.values]
        if not judged:
            return win_rate([0.0] * len(outcomes), clusters)
        right = [o.values[JUDGE_ACCURACY] for o in judged]
        sure = 1 - sum(right) / len(right)
        won = [sure if corrected in o.values else o.values[name] for o in outcomes]
        return corrected_win_rate(won, clusters, right, [o.cluster for o in judged])

    def counts(o: Outcome) -> bool:
        return corrected in o.values or (name in o.values and JUDGE_ACCURACY in o.values)

    return Metric(
        corrected,
        estimate=estimate,
        counts=counts,
        proportion=True,
        about=f"`{name}` corrected by the judge's accuracy in its exam; missing where that is not above .5.",
    )


def _filled(o: Outcome, passes: bool) -> Outcome:
    """The outcome with each order that has no verdict counted; logs before `read_` have only whole contests."""
    values = dict(o.values)
    for name in WIN_RATES:
        if missing := values.get(f"missing_{name}"):
            values[name] = values.get(f"read_{name}", 0.0) + missing * passes
    return replace(o, values=values)


VERDICTS = Verdicts(
    lambda o: o.values.get("verdicts_asked", 0.0), lambda o: o.values.get("verdicts_missing", 0.0), _filled, WIN_RATES
)

_WON = "Share of the verdicts against people's {} that the written captions win, over both orders."
_RAW = {
    "win_rate_top10": _WON.format("ten best captions (ranks 0 to 9)"),
    "win_rate_rank200": _WON.format("captions of ranks 200 to 209"),
    "win_rate_rank1000": _WON.format("captions of ranks 1000 to 1009"),
    "win_rate_median": _WON.format("ten captions around the median"),
    JUDGE_ACCURACY: "The judge's exam in the same contests: top 10 against #1000-1009 (`exam=false` leaves it out).",
    "judge_share_a": "Share of verdicts A, over all questions.",
    "judge_consistency": "Share of pairs of groups for which both orders name the same group, over all questions.",
}
_RECITED = (
    "A writer who does not know the contest repeats next to nothing; people's entries are what it is compared with."
)

WRITING_METRICS = (
    *(Metric(name, proportion=True, about=about, neutral=name == "judge_share_a") for name, about in _RAW.items()),
    *map(_corrected, WIN_RATES),
    *(
        Metric(
            f"recalibrated_{n}",
            proportion=True,
            about=f"`{n}` of the recalibrated verdicts.",
            neutral=n == "judge_share_a",
        )
        for n in _RAW
    ),
    rate("without_log_odds", "Share of questions without log-probabilities of both letters, where `tau` needs them."),
    rate(
        "recited_exact",
        "Share of captions that repeat a rated caption of the contest: equal letters and digits.",
        _RECITED,
    ),
    rate(
        "recited_near",
        "Share of captions whose letters and digits are at least .9 similar to those of a rated caption.",
        _RECITED,
    ),
    Metric(
        "ead",
        about="Diversity of the ten captions: distinct n-grams over the number to be expected of random words.",
        span=(0, math.inf),
    ),
    share("distinct", "Share of different captions among the ten."),
    Metric("characters", about="Mean length of a caption in characters.", neutral=True),
    Metric("words", about="Mean length of a caption in words.", neutral=True),
    *REPLY_RATES,
)
"""Win rates first, each beside the judge's accuracy; then what is corrected, and the captions' words."""
