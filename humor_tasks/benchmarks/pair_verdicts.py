"""Verdicts on pairs of texts: what they are worth, and the metrics over pairs.

A pair is asked about in one order or in both. A pair whose orders disagree is a tie (Zheng et al. 2023, arXiv
2306.05685).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from humor_tasks.benchmarks.metric import Metric
from humor_tasks.data.records import Outcome, Record
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.preference import length_controlled_win_rate, win_rate

SIDES = ("system", "against")  # also what an answer names, beside "tie"; shown in this order, or in the other
WORTH = {"system": 1.0, "tie": 0.5, "against": 0.0}
NOT_ASKED = "not_asked"
FAILURES = {"unparsed": ("unparsed", "empty"), "refused": ("refused",), "grader_failed": ("error",)}
"""Share of the judges' replies without a verdict, by why -> the statuses of such replies."""


def settled(system: str, against: str, on_unparsed: str) -> str:
    """What needs no judge: `same` texts, or one that is `empty`; `left_out` for the latter with exclude; else ""."""
    if system.strip() and against.strip():
        return "same" if system.split() == against.split() else ""
    if on_unparsed == "exclude":
        return "left_out"
    return "same" if system.strip() == against.strip() else "system" if system.strip() else "against"


def _other(side: str) -> str:
    return SIDES[side == SIDES[0]]


def other(side: str) -> str:
    """The other side."""
    return SIDES[side == SIDES[0]]


def decided(record: Record, choices: Sequence[str | None], statuses: Sequence[str]) -> Outcome:
    """What the verdicts A, B or tie on a record are worth: one, or two where a record holds both orders.

    The answer names the preferred side of each order in turn, "-" for one without a verdict; its status
    tells why. The outcome's own status is the first that is not `answered`. Values are of the record alone: a record of
    one order has no value of `inconsistent`, and one without a verdict none of `win_rate`.
    """
    orders = _orders(record.groups)
    named = [_side(choice, first) for choice, first in zip(choices, orders, strict=True)]
    settled_as = record.groups.get("settled", "")
    if settled_as:
        named, statuses = ["tie" if settled_as == "same" else settled_as] * len(named), []
    values = {"same_text": float(settled_as == "same"), "empty": float(settled_as in (*SIDES, "left_out"))}
    if settled_as != "left_out":
        values |= _worth(named)
    if not settled_as:
        values |= {name: sum(s in found for s in statuses) / len(statuses) for name, found in FAILURES.items()}
        sided = [float(side == first) for side, first in zip(named, orders, strict=True) if side in SIDES]
        values |= {"first_shown": sum(sided) / len(sided)} if sided else {}
    status = next((status for status in statuses if status != "answered"), "answered")
    return Outcome(record.id, record.cluster, record.groups, status, " ".join(named), None, values)


def _worth(named: Sequence[str]) -> dict[str, float]:
    if not set(named) <= set(WORTH):
        return {"unread": 1.0}
    side = named[0] if len(set(named)) == 1 else "tie"
    found = {"unread": 0.0, "win_rate": sum(WORTH[s] for s in named) / len(named)}
    found |= {"preferred": float(side == "system"), "tie_rate": float(side == "tie")}
    return found | ({"inconsistent": float(len(set(named)) > 1)} if len(named) > 1 else {})


def _orders(groups: Mapping[str, str]) -> tuple[str, ...]:
    """The side shown first, of each question about a record."""
    return (groups["first"],) if "first" in groups else SIDES


def _side(choice: str | None, first: str) -> str:
    return {"A": first, "B": other(first), "tie": "tie"}.get(choice or "", "-")


# ---- pairs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """A pair's verdicts by order: sides, "tie", "left_out", NOT_ASKED (a limit), or "-" where there is none."""

    cluster: str
    named: tuple[str, ...]
    longer: float
    """By how many characters the system's text is the longer."""

    @property
    def preferred(self) -> str | None:
        """A side or "tie", which a pair is whose orders disagree; None unless every order has a verdict."""
        if not set(self.named) <= set(WORTH):
            return None
        return self.named[0] if len(set(self.named)) == 1 else "tie"


def pairs_of(outcomes: Sequence[Outcome]) -> list[Pair]:
    """The pairs of these outcomes, each epoch for itself."""
    return [_pair(orders) for orders in _by_pair(outcomes)]


def _by_pair(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """The outcomes of each pair and epoch."""
    found: dict[tuple[str, int], list[Outcome]] = {}
    times: dict[str, int] = {}
    for o in outcomes:
        times[o.id] = epoch = times.get(o.id, 0) + 1
        found.setdefault((o.groups.get("pair_id", o.id), epoch), []).append(o)
    return list(found.values())


def _pair(orders: Sequence[Outcome]) -> Pair:
    named = [side for o in orders for side in (o.answer or "-").split()]
    missing = int(orders[0].groups.get("orders", 0)) - len(named)
    system, against = map(float, orders[0].groups.get("lengths", "0 0").split())
    return Pair(orders[0].cluster, (*named, *[NOT_ASKED] * missing), system - against)


# ---- metrics ------------------------------------------------------------------------------------


def _judged(o: Outcome) -> bool:
    """Whether a judge was asked."""
    return not o.groups.get("settled")


def _mean_over(pairs: Sequence[Pair], value: Callable[[Pair], object]) -> Estimate:
    return clustered_mean([float(bool(value(pair))) for pair in pairs], [pair.cluster for pair in pairs])


def _whole(outcomes: Sequence[Outcome]) -> list[Pair]:
    """The pairs that were asked about in every order."""
    return [pair for pair in pairs_of(outcomes) if not {"left_out", NOT_ASKED} & set(pair.named)]


def _read(outcomes: Sequence[Outcome]) -> list[Pair]:
    """Those of them with a verdict in every order."""
    return [pair for pair in _whole(outcomes) if pair.preferred is not None]


def _win_rate(outcomes: Sequence[Outcome]) -> Estimate:
    pairs = _read(outcomes)
    return win_rate([WORTH[str(pair.preferred)] for pair in pairs], [pair.cluster for pair in pairs])


def _length_controlled(outcomes: Sequence[Outcome]) -> Estimate:
    pairs = _read(outcomes)
    worth, lengths = [WORTH[str(pair.preferred)] for pair in pairs], [pair.longer for pair in pairs]
    clusters = [pair.cluster for pair in pairs]
    return length_controlled_win_rate(worth, lengths, [0.0] * len(pairs), clusters).win_rate


def _share(wanted: str) -> Callable[[Sequence[Outcome]], Estimate]:
    return lambda outcomes: _mean_over(_read(outcomes), lambda pair: pair.preferred == wanted)


def _inconsistent(outcomes: Sequence[Outcome]) -> Estimate:
    both = [pair for pair in _read(outcomes) if len(pair.named) > 1]
    return _mean_over(both, lambda pair: len(set(pair.named)) > 1)


def _first_shown(outcomes: Sequence[Outcome]) -> Estimate:
    """Over verdicts for one side, not over pairs: .5 where the order has no influence."""
    asked = [
        (float(named == first), o.cluster)
        for o in outcomes
        for first, named in zip(_orders(o.groups), (o.answer or "-").split(), strict=True)
        if named in SIDES
    ]
    return clustered_mean([found for found, _ in asked], [cluster for _, cluster in asked])


def _of_texts(name: str) -> Metric:
    """A property of a pair's texts, the same in every order."""

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        firsts = [orders[0] for orders in _by_pair(outcomes)]
        return clustered_mean([o.values[name] for o in firsts], [o.cluster for o in firsts])

    return Metric(name, "lower", estimate)


def _every(o: Outcome) -> bool:
    return True


INCONSISTENT = Metric("inconsistent", "lower", _inconsistent, counts=_judged)
FIRST_SHOWN = Metric("first_shown", "higher", _first_shown, counts=_judged)
METRICS = (
    Metric("win_rate", "higher", _win_rate, counts=_every),
    Metric("preferred", "higher", _share("system"), counts=_every),
    Metric(
        "length_controlled_win_rate",
        "higher",
        _length_controlled,
        counts=lambda o: o.groups.get("settled", "") in ("", "same"),  # an empty text loses whatever its length
    ),
    Metric("tie_rate", "lower", _share("tie"), counts=_every),
    INCONSISTENT,
    FIRST_SHOWN,
    Metric(
        "unread",
        "lower",
        lambda outcomes: _mean_over(_whole(outcomes), lambda pair: pair.preferred is None),
        counts=_every,
    ),
    Metric(
        "half_asked",
        "lower",
        lambda outcomes: _mean_over(pairs_of(outcomes), lambda pair: NOT_ASKED in pair.named),
        counts=_every,
    ),
    _of_texts("same_text"),
    _of_texts("empty"),
    *(Metric(name, "lower") for name in FAILURES),
)
