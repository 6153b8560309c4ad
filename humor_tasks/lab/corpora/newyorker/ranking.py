"""Ranking's pairs: one okay caption for each high-quality one of a contest, as alike as can be in all but the joke.

Within a contest, over all ways to give each high-quality caption h an okay caption o of its own, the sum of

    cost(h, o) = sum over features f of w(f) * |f(h) - f(o)| / sd(f) + weight * cos(h, o)

is the least (Hessel et al. 2023, Appendix C; an assignment problem, solved by SciPy as in Crouse 2016). Features:
predicted quality, words, characters, punctuation. sd: the standard deviation over the contest's whole pool, of both
kinds. w: 5 for predicted quality, 1 for the others. High-quality captions lie at one end of predicted quality, so
that with equal weights the okay one is below it a little too often: over 95 real contests the rule "higher predicted
quality" is right in .559 [.514, .604] of the pairs then, and in .514 [.469, .559] with 5. The cosine of the sentence
vectors keeps the two from being the same joke.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.errors import BadInput
from humor_tasks.files.tables import interval
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.proportion import clustered_proportion

FEATURES = ("quality", "words", "characters", "punctuation")
WEIGHTS = (5.0, 1.0, 1.0, 1.0)
"""The weight of each feature's difference."""
WEIGHT = 1.0
_DECIMALS = 6  # of a cosine and a cost: below are the rounding errors of float32 sums

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Assigned:
    """Okay captions of the high-quality ones. h: the number of high-quality captions.

    partner: the place of the okay caption, -1 where the pool was too small [h]. cosine: of the two, nan without [h].
    """

    partner: NDArray[np.intp]
    cosine: Floats

    @property
    def without(self) -> int:
        """The number of high-quality captions without a partner."""
        return int((self.partner < 0).sum())


def assign(high: Any, okay: Any, high_vectors: Any, okay_vectors: Any, weight: float = WEIGHT) -> Assigned:
    """The okay caption of each high-quality caption of one contest, by the cost above.

    high [h, 4], okay [o, 4]: the features in the order of FEATURES. *_vectors [h, d], [o, d]: unit sentence vectors.
    Where o < h, those h - o captions stay without whose absence costs least. Raises BadInput on shapes that do not fit
    and on features or vectors that are not finite.
    """
    x, y = _finite("high", high, len(FEATURES)), _finite("okay", okay, len(FEATURES))
    u = _finite("high_vectors", high_vectors, rows=len(x))
    v = _finite("okay_vectors", okay_vectors, u.shape[1], rows=len(y))
    h = len(x)
    assigned = Assigned(np.full(h, -1), np.full(h, np.nan))
    if not h or not len(y):
        return assigned
    from scipy.optimize import linear_sum_assignment

    scale = np.concatenate((x, y)).std(axis=0)
    scale[scale == 0] = 1.0  # all equal: the difference is 0 whatever the unit
    cosine = np.round(u @ v.T, _DECIMALS)
    apart = (np.abs(x[:, None, :] - y[None, :, :]) / scale * WEIGHTS).sum(axis=-1)
    cost = np.round(apart + weight * cosine, _DECIMALS)
    rows, columns = linear_sum_assignment(cost)
    assigned.partner[rows] = columns
    assigned.cosine[rows] = cosine[rows, columns]
    return assigned


def _finite(name: str, values: Any, width: int | None = None, rows: int | None = None) -> Floats:
    """A two-dimensional array of finite numbers; an empty one of any shape has no rows."""
    array = np.asarray(values, dtype=float)
    if not array.size:
        array = np.empty((rows if rows is not None and array.ndim == 2 else 0, width or 0))
    if array.ndim != 2 or (width and array.shape[1] != width and len(array)) or rows not in (None, len(array)):
        raise BadInput(
            f"{name} has the shape {array.shape}; it must be [{rows or 'captions'}, {width or 'dimensions'}]."
        )
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise BadInput(f"{name}[{row}] is not finite; leave that caption out, or score and embed it again.")
    return array


@dataclass(frozen=True)
class Pair:
    """A high-quality caption of a contest and its okay caption, with their features, in the order of FEATURES, and the
    cosine of their vectors.
    """

    contest: int
    high: str
    okay: str
    winner_source: str
    high_features: Sequence[float]
    okay_features: Sequence[float]
    cosine: float


# ---- report -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Balance:
    """How the high-quality captions of all pairs differ from the okay ones.

    differences: feature -> mean of high - okay, in its unit. standardised: that mean over the standard deviation of the
    feature over all captions in pairs (both sides). rules: rule that sees the captions alone -> its accuracy; a tie
    counts half. All with 95 % intervals clustered by contest.
    """

    pairs: int
    differences: Mapping[str, Estimate]
    standardised: Mapping[str, float]
    cosine: Estimate
    rules: Mapping[str, Estimate]


RULES = {
    "predicted quality": "quality",
    "more words": "words",
    "longer": "characters",
    "more punctuation": "punctuation",
}
"""Rule -> feature; the rule chooses the caption with the larger value."""


def balance(pairs: Sequence[Pair]) -> Balance:
    """The balance of pairs of all contests."""
    contests = [pair.contest for pair in pairs]
    high = np.asarray([pair.high_features for pair in pairs], dtype=float).reshape(-1, len(FEATURES))
    okay = np.asarray([pair.okay_features for pair in pairs], dtype=float).reshape(-1, len(FEATURES))
    apart = high - okay
    spread = np.concatenate((high, okay)).std(axis=0) if pairs else np.full(len(FEATURES), np.nan)
    means = {name: clustered_mean(apart[:, k].tolist(), contests) for k, name in enumerate(FEATURES)}
    right = (np.sign(apart) + 1) / 2
    return Balance(
        len(pairs),
        means,
        {
            name: means[name].value / spread[k] if spread[k] > 0 else float(means[name].value * 0)
            for k, name in enumerate(FEATURES)
        },
        clustered_mean([pair.cosine for pair in pairs], contests),
        {rule: clustered_proportion(right[:, FEATURES.index(name)].tolist(), contests) for rule, name in RULES.items()},
    )


def section(balance: Balance) -> str:
    """The card's section on balance: tables of the differences and of the rules."""
    lines = [
        "## Balance of ranking",
        "",
        f"{balance.pairs:,} pairs. Differences are high-quality minus okay caption, with 95 % intervals clustered by "
        "contest; standardised: over the standard deviation of all captions in pairs. Mean cosine of the two "
        f"captions: {interval(balance.cosine)}.",
        "",
        "| | mean difference | standardised |",
        "|---|---|---|",
        *(
            f"| {name} | {interval(balance.differences[name])} | {balance.standardised[name]:+.3f} |"
            for name in FEATURES
        ),
        "",
        "How often a rule that sees the two captions alone is right (a tie counts half; chance is 0.5):",
        "",
        "| rule | accuracy |",
        "|---|---|",
        *(f"| {rule} | {interval(estimate)} |" for rule, estimate in balance.rules.items()),
    ]
    return "\n".join(lines) + "\n"
