"""Pairwise comparison of texts: from judges' verdicts to win values, and the metrics over pairs.

A pair is judged in one order or in both. A pair with different verdicts in the two orders is a tie (Zheng et al. 2023,
arXiv 2306.05685).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.missing import Verdicts
from humor_tasks.contract.judging.questions import Panel
from humor_tasks.contract.metric import OF_JUDGES, OF_REPLIES, Metric, rate
from humor_tasks.contract.variations import variation_of
from humor_tasks.errors import BadInput
from humor_tasks.logs import check_asked_once, read_run
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.preference import length_controlled_win_rate, win_rate
from humor_tasks.scorers.preferred import panel_choice
from humor_tasks.scorers.proportion import clustered_proportion

HUMAN = "human"
ONE_REPLY = "keep one reply per instance (--epochs 1)."


@dataclass(frozen=True)
class System:
    """Texts by instance id, empty where a reply had none; `model` names their author."""

    texts: Mapping[str, str] = field(repr=False)
    model: str

    @property
    def fingerprint(self) -> str:
        """SHA-256 over ids and texts."""
        text = json.dumps(dict(self.texts), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_system(spec: str, run: Run) -> System:
    """The texts that `spec` names: `human` (the references of `run`), an Inspect log, lm-eval's samples, or a file.

    A log ends in .eval or .json, samples end in .jsonl. A file of texts is {instance_id: text} as JSON, or records as
    JSON lines. Replies are parsed by the benchmark of `run`, so a leading "Explanation:" is removed. Raises BadInput
    for any other file, and for logs of another task, with several epochs, or of an unfinished run.
    """
    if spec == HUMAN:
        return System({record.id: record.target or "" for record in run.records}, HUMAN)
    path = Path(spec).expanduser()
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise BadInput(f"{spec}: {what}; name 'human', an Inspect log, lm-eval's samples or {{id: text}} as JSON.")
    finished = read_run(path, run.benchmark.name, one_epoch=ONE_REPLY, replies=True, texts=True)
    known = {record.id: record for record in run.records}
    texts = {}
    for sample in finished.samples:
        check_asked_once(sample)
        reply = sample.reply or ""
        text = run.outcome(known[sample.id], reply).answer or "" if sample.id in known else reply.strip()
        texts[sample.id] = text.encode("utf-8", "replace").decode()  # lone surrogates cannot be logged
    if not texts:
        raise BadInput(f"{path}: has no explanations.")
    return System(texts, finished.model if finished.harness == "inspect" else path.stem)


SIDES = ("system", "against")  # an answer names one of them, or "tie"
WIN_VALUES = {"system": 1.0, "tie": 0.5, "against": 0.0}
NOT_ASKED = "not_asked"
FAILURES = {"unparsed": ("unparsed", "empty"), "refused": ("refused",), "grader_failed": ("error",)}
"""Metric -> reply statuses; the metric is the share of the judges' replies with one of these statuses."""


def settled(system: str, against: str, on_unparsed: str) -> str:
    """The result of a pair that needs no judge; "" where a judge is needed.

    It is `same` for equal texts. With one empty text it is the other side, or `left_out` with on_unparsed=exclude.
    """
    if system.strip() and against.strip():
        return "same" if system.split() == against.split() else ""
    if on_unparsed == "exclude":
        return "left_out"
    return "same" if system.strip() == against.strip() else "system" if system.strip() else "against"


def other(side: str) -> str:
    """The other side."""
    return SIDES[side == SIDES[0]]


def pair_outcome(record: Record, choices: Sequence[str | None], statuses: Sequence[str]) -> Outcome:
    """The outcome of the verdicts (A, B or tie) on a record: one verdict, or two where the record holds both orders.

    The answer names the preferred side in each order, "-" where there is no verdict. The status is the first one that
    is not `answered`. Values are those of this record: a record of one order has no value of `inconsistent`, and one
    without a verdict has none of `win_rate`.
    """
    orders = _orders(record.groups)
    named = [_side(choice, first) for choice, first in zip(choices, orders, strict=True)]
    settled_as = record.groups.get("settled", "")
    if settled_as:
        named, statuses = ["tie" if settled_as == "same" else settled_as] * len(named), []
    values = {"same_text": float(settled_as == "same"), "empty": float(settled_as in (*SIDES, "left_out"))}
    if settled_as != "left_out":
        values |= _values(named)
    if not settled_as:
        values |= {name: sum(s in failures for s in statuses) / len(statuses) for name, failures in FAILURES.items()}
        sided = [float(side == first) for side, first in zip(named, orders, strict=True) if side in SIDES]
        values |= {"first_shown": sum(sided) / len(sided)} if sided else {}
    status = next((status for status in statuses if status != "answered"), "answered")
    facts = {**record.facts, "named": named}
    return Outcome(record.id, record.cluster, record.groups, status, " ".join(named), None, values, facts)


def judged_pair(run: Any, o: Outcome, panels: Sequence[Panel]) -> Outcome:
    """`pair_outcome` of panels of judges, one a question.

    The status of a panel without a verdict is that of its first failure.
    """
    choices = [panel_choice(panel.words) for panel in panels]
    failed = [[verdict.status for verdict in panel.verdicts if verdict.word is None] for panel in panels]
    statuses = [f[0] if choice is None and f else "answered" for choice, f in zip(choices, failed, strict=True)]
    record = Record(o.id, o.cluster, {}, "", (), None, o.groups, facts=o.facts)
    return pair_outcome(record, choices, statuses)


def win_value(o: Outcome) -> float | None:
    """The mean win value of the verdicts; None where one is missing."""
    named = o.facts["named"]
    return None if set(named) - set(WIN_VALUES) else sum(WIN_VALUES[side] for side in named) / len(named)


def _values(named: Sequence[str]) -> dict[str, float]:
    side = preferred_side(named)
    if side is None:
        return {"unread": 1.0}
    values = {"unread": 0.0, "win_rate": WIN_VALUES[side]}
    values |= {"preferred": float(side == "system"), "tie_rate": float(side == "tie")}
    return values | ({"inconsistent": float(len(set(named)) > 1)} if len(named) > 1 else {})


def preferred_side(named: Sequence[str]) -> str | None:
    """The side that all verdicts name, "tie" where they differ; None where one is missing."""
    if not set(named) <= set(WIN_VALUES):
        return None
    return named[0] if len(set(named)) == 1 else "tie"


def _orders(groups: Mapping[str, str]) -> tuple[str, ...]:
    """The side that is shown first, for each question about a record."""
    return (groups["first"],) if "first" in groups else SIDES


def _side(choice: str | None, first: str) -> str:
    return {"A": first, "B": other(first), "tie": "tie"}.get(choice or "", "-")


# ---- pairs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """A pair with its verdicts in each order.

    A verdict is a side, "tie", "left_out", NOT_ASKED (because of --limit), or "-" where there is none.
    """

    cluster: str
    named: tuple[str, ...]
    longer: float
    """Length of the system's text minus that of the other, in characters."""

    @property
    def preferred(self) -> str | None:
        """The preferred side, or "tie", also where the orders disagree; None where an order has no verdict."""
        return preferred_side(self.named)


def pairs_of(outcomes: Sequence[Outcome]) -> list[Pair]:
    """The pairs of these outcomes; each epoch and each prompt set has its own pairs."""
    return [_pair(orders) for orders in _by_pair(outcomes)]


def _by_pair(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    pairs: dict[tuple[str, str, int], list[Outcome]] = {}
    times: dict[str, int] = {}
    for o in outcomes:
        times[o.id] = epoch = times.get(o.id, 0) + 1
        pairs.setdefault((o.groups.get("pair_id", o.id), variation_of(o).prompts, epoch), []).append(o)
    return list(pairs.values())


def _pair(orders: Sequence[Outcome]) -> Pair:
    named = [side for o in orders for side in o.facts["named"]]
    missing = orders[0].facts.get("orders", 0) - len(named)
    system, against = orders[0].facts.get("lengths", (0, 0))
    return Pair(orders[0].cluster, (*named, *[NOT_ASKED] * missing), system - against)


# ---- metrics ------------------------------------------------------------------------------------


def _judged(o: Outcome) -> bool:
    return not o.groups.get("settled")


def _mean_over(pairs: Sequence[Pair], value: Callable[[Pair], object]) -> Estimate:
    return clustered_proportion([float(bool(value(pair))) for pair in pairs], [pair.cluster for pair in pairs])


def _fully_asked(outcomes: Sequence[Outcome]) -> list[Pair]:
    return [pair for pair in pairs_of(outcomes) if not {"left_out", NOT_ASKED} & set(pair.named)]


def _with_verdicts(outcomes: Sequence[Outcome]) -> list[Pair]:
    return [pair for pair in _fully_asked(outcomes) if pair.preferred is not None]


def _win_rate(outcomes: Sequence[Outcome]) -> Estimate:
    pairs = _with_verdicts(outcomes)
    return win_rate([WIN_VALUES[str(pair.preferred)] for pair in pairs], [pair.cluster for pair in pairs])


def _length_controlled(outcomes: Sequence[Outcome]) -> Estimate:
    pairs = _with_verdicts(outcomes)
    wins, lengths = [WIN_VALUES[str(pair.preferred)] for pair in pairs], [pair.longer for pair in pairs]
    clusters = [pair.cluster for pair in pairs]
    return length_controlled_win_rate(wins, lengths, [0.0] * len(pairs), clusters).win_rate


def _share(wanted: str) -> Callable[[Sequence[Outcome]], Estimate]:
    return lambda outcomes: _mean_over(_with_verdicts(outcomes), lambda pair: pair.preferred == wanted)


def _inconsistent(outcomes: Sequence[Outcome]) -> Estimate:
    both = [pair for pair in _with_verdicts(outcomes) if len(pair.named) > 1]
    return _mean_over(both, lambda pair: len(set(pair.named)) > 1)


def _first_shown(outcomes: Sequence[Outcome]) -> Estimate:
    """The share of verdicts for the side shown first, over verdicts for a side; .5 means no position bias."""
    found = [
        (float(named == first), o.cluster)
        for o in outcomes
        for first, named in zip(_orders(o.groups), o.facts["named"], strict=True)
        if named in SIDES
    ]
    return clustered_proportion([first for first, _ in found], [cluster for _, cluster in found])


def _text_property(name: str, about: str) -> Metric:
    """A metric of a pair's texts, which does not depend on the order."""

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        firsts = [orders[0] for orders in _by_pair(outcomes)]
        return clustered_proportion([o.values[name] for o in firsts], [o.cluster for o in firsts])

    return Metric(name, "lower", estimate, proportion=True, about=about, no_level=OF_REPLIES)


# Some metrics count every pair, others the pairs that needed a judge.
_of_pairs = partial(Metric, counts=lambda o: True, proportion=True)
_of_judged = partial(Metric, counts=_judged, proportion=True)

INCONSISTENT = _of_judged("inconsistent", "lower", _inconsistent, about="Share of pairs whose two orders disagree.")
FIRST_SHOWN = _of_judged(
    "first_shown",
    "higher",
    _first_shown,
    about="Share of choices that fell on the text shown first; .5 is no position bias.",
    neutral=True,
)
_FAILURES_ABOUT = {
    "unparsed": "Share of the judges' replies without a readable verdict.",
    "refused": "Share of the judges' replies that decline.",
    "grader_failed": "Share of the judges' requests that failed.",
}
METRICS = (
    _of_pairs("win_rate", "higher", _win_rate, about="Share of pairs won; a tie counts half."),
    _of_pairs("preferred", "higher", _share("system"), about="Share of pairs won outright (EXPAcc)."),
    Metric(
        "length_controlled_win_rate",
        "higher",
        _length_controlled,
        counts=lambda o: o.groups.get("settled", "") in ("", "same"),  # an empty text loses regardless of length
        proportion=True,
        about="The win rate over judged pairs, adjusted for length by logistic regression, as in AlpacaEval 2; nan "
        "where one side is always longer.",
    ),
    _of_pairs("tie_rate", "lower", _share("tie"), about="Share of ties."),
    INCONSISTENT,
    FIRST_SHOWN,
    _of_pairs(
        "unread",
        "lower",
        lambda outcomes: _mean_over(_fully_asked(outcomes), lambda pair: pair.preferred is None),
        about="Share of pairs without a verdict in one of their orders; they leave the scores.",
        no_level=OF_JUDGES,
    ),
    _of_pairs(
        "half_asked",
        "lower",
        lambda outcomes: _mean_over(pairs_of(outcomes), lambda pair: NOT_ASKED in pair.named),
        about="Share of pairs asked in one order only (`--limit`); excluded from other metrics.",
        no_level=OF_JUDGES,
    ),
    _text_property("same_text", "Share of pairs of equal texts: a tie, without asking a judge."),
    _text_property("empty", "Share of pairs with an empty text, which are settled without a judge."),
    *(rate(name, _FAILURES_ABOUT[name], OF_JUDGES) for name in FAILURES),
)


# ---- missing verdicts -----------------------------------------------------------------------------


def _named(o: Outcome) -> list[str]:
    """The verdicts on a record that judges were asked about; none where it is settled without them."""
    return o.facts["named"] if _judged(o) else []


def _filled(o: Outcome, wins: bool) -> Outcome:
    named = [SIDES[not wins] if side == "-" else side for side in _named(o)]
    return replace(o, facts={**o.facts, "named": named}) if _judged(o) else o


VERDICTS = Verdicts(
    requested=lambda o: float(len(_named(o))),
    missing=lambda o: float(_named(o).count("-")),
    filled=_filled,
    bounded=("win_rate", "preferred", "length_controlled_win_rate"),
)
"""The judges' verdicts on pairs: a missing one counts as lost or as won."""
