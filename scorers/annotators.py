"""What raters say together, how good each of them is, and how good anyone could be against them.

Tables are those of `agreement`: a row an item, a column a rater, None a missing rating.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from humor_tasks.errors import BadInput

from .estimate import Estimate, check_level, clustered_ratio
from .rating_table import Coded, Ratings, coded

if TYPE_CHECKING:
    from .rating_table import Floats, Integers

_SAME = 1e-9  # of two probabilities
_NEVER = 1e-6  # ratings of a category that, by the model, a rater has never had before them


@dataclass(frozen=True)
class RaterQuality:
    """How good a rater is, by the model: `votes`, `accuracy` and `confusion`.

    `accuracy` is the mean probability that a vote of theirs is right, nan without a vote. confusion[a][b] is the
    probability that they say b where a is true; nan for an a that they have not met.
    """

    votes: int
    accuracy: float
    confusion: dict[Hashable, dict[Hashable, float]]


@dataclass(frozen=True)
class DawidSkene:
    """Of each item its most probable category (None on a tie or without a vote) and the probabilities of all.

    `prior` is the probability of each category before any vote; `raters` are by name.
    """

    labels: list[Hashable | None]
    probabilities: list[dict[Hashable, float]]
    prior: dict[Hashable, float]
    raters: dict[Hashable, RaterQuality]


def majority_vote(ratings: Ratings) -> list[Hashable | None]:
    """The most frequent rating of each item; None on a tie of the most frequent and without a vote.

    Missing ratings do not count, unlike in `verdict.majority`, which asks for more than half of all: among
    PASS, FAIL and None the two differ where PASS has one vote of three. Raises BadInput as `gwet_ac1` does.
    """
    table = coded(ratings)
    top, leaders, which = _leaders(table)
    alone = (leaders == 1) & (top > 0)
    return [table.categories[k] if one else None for k, one in zip(which.tolist(), alone.tolist(), strict=True)]


def human_ceiling(ratings: Ratings, clusters: Sequence[Hashable] | None = None, level: float = 0.95) -> Estimate:
    """How often one rater agrees with the majority of the others: the accuracy to be expected of a person.

    Each vote is compared with the most frequent of the item's other votes. Where k of these are tied, the vote
    counts 1/k if it is one of them: what it would get on average were the tie broken by lot. The value is
    the mean over all votes of items with two or more; others are left out.

    A system is scored against the majority of all raters, one more than a person here: the person's
    figure is the lower for it, the less so the more raters there are. Error and interval are those of
    `clustered_ratio`; `n` counts items. nan without an item with two votes. Raises BadInput as `gwet_ac1` does.
    """
    import numpy as np

    check_level(level)
    table = coded(ratings, clusters).with_ratings(2)
    top, leaders, _ = _leaders(table)
    item, _, count = table.cells()
    below = count < top[item]
    second = np.zeros(len(top))
    np.maximum.at(second, item[below], count[below])
    rivals = np.bincount(item, below & (count == second[item]), minlength=len(top))
    # Without one of its votes a category still leads only where it led alone, perhaps with others beside it.
    agreed = np.where(leaders == 1, top / np.where(top - 1 == second, rivals + 1, 1), 0.0)
    return clustered_ratio(agreed.tolist(), table.totals.tolist(), table.clusters, level)


def dawid_skene(ratings: Ratings, raters: Sequence[Hashable] | None = None, iterations: int = 100) -> DawidSkene:
    """Categories and raters' errors that explain the ratings best, by Dawid and Skene (1979, Applied Statistics 28).

    Each item has one true category; each rater, given that, says b with a probability of their own,
    independently of the others. Estimated by maximum likelihood with crowd-kit's EM algorithm, from the shares of
    the votes: nothing is random. `raters` names the columns (default: 0, 1, 2 and so on); columns of one
    name are of one rater, asked again.

    All `iterations` are made. crowd-kit would stop by itself where its bound no longer rises, but that
    counts the prior once a vote and falls after a few. Three raters or more who are better than chance are
    needed: with two, the model cannot tell who erred. Raises BadInput as `gwet_ac1` does, and without the
    extra `agreement`.
    """
    table = coded(ratings)
    width = table.codes.shape[1]
    names = list(range(width) if raters is None else raters)
    if len(names) != width:
        raise BadInput(f"raters has {len(names)} names, ratings has {width} columns; they must match.")
    if iterations < 1:
        raise BadInput(f"iterations is {iterations}; it must be 1 or more.")
    if not (table.codes >= 0).any():
        return DawidSkene([None] * len(ratings), [{}] * len(ratings), {}, {name: _quality([], []) for name in names})
    chances, prior = _expectation_maximisation(table.codes, names, len(table.categories), iterations)
    probabilities: list[dict[Hashable, float]] = [
        dict(zip(table.categories, row, strict=True)) if total else {}
        for row, total in zip(chances.tolist(), table.totals.tolist(), strict=True)
    ]
    said = _said(table, names, chances)
    return DawidSkene(
        [_most_probable(row) for row in probabilities],
        probabilities,
        dict(zip(table.categories, prior, strict=True)),
        {name: _quality(table.categories, rows) for name, rows in said.items()},
    )


def _leaders(table: Coded) -> tuple[Floats, Integers, Integers]:
    """Of each item: the votes of its most frequent category, how many categories have as many, the last of them."""
    import numpy as np

    item, code, count = table.cells()
    top, which = np.zeros(len(table.codes)), np.zeros(len(table.codes), dtype=np.intp)
    np.maximum.at(top, item, count)
    leads = count == top[item]
    which[item[leads]] = code[leads]
    return top, np.bincount(item[leads], minlength=len(top)), which


def _expectation_maximisation(
    codes: Integers, names: Sequence[Hashable], q: int, iterations: int
) -> tuple[Floats, list[float]]:
    """crowd-kit's probability of each category [items, categories], 0 throughout without a vote, and the prior."""
    import numpy as np

    try:
        import pandas as pd
        from crowdkit.aggregation.classification.dawid_skene import DawidSkene as Model
    except ImportError as error:
        raise BadInput('dawid_skene needs crowd-kit: pip install "humor-tasks[agreement]"') from error
    # Numbers for everything: pandas takes tuples, True and mixed types for something else.
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    task, column = np.nonzero(codes >= 0)
    worker = np.asarray([number[name] for name in names])[column]
    votes = pd.DataFrame({"task": task, "worker": worker, "label": codes[task, column]})
    model: Any = Model(n_iter=iterations, tol=-math.inf).fit(votes)
    found, chances = model.probas_, np.zeros((len(codes), q))
    chances[np.ix_(found.index.to_numpy(), found.columns.to_numpy())] = found.to_numpy()
    return chances, [float(model.priors_[k]) for k in range(q)]


def _said(table: Coded, names: Sequence[Hashable], chances: Floats) -> dict[Hashable, list[list[float]]]:
    """For each rater, how many votes of each category they gave where each was true, to be expected: [true][said]."""
    import numpy as np

    q = len(table.categories)
    found = {name: np.zeros((q, q)) for name in names}
    for name, codes in zip(names, table.codes.T, strict=True):
        given = codes >= 0
        found[name] += chances[given].T @ np.eye(q)[codes[given]]
    return {name: rows.tolist() for name, rows in found.items()}


def _quality(categories: Sequence[Hashable], said: Sequence[Sequence[float]]) -> RaterQuality:
    votes = math.fsum(map(math.fsum, said))
    right = math.fsum(row[k] for k, row in enumerate(said))
    confusion: dict[Hashable, dict[Hashable, float]] = {}
    for true, row in zip(categories, said, strict=True):
        total = math.fsum(row)
        shares = [n / total if total > _NEVER else math.nan for n in row]
        confusion[true] = dict(zip(categories, shares, strict=True))
    return RaterQuality(round(votes), right / votes if votes else math.nan, confusion)


def _most_probable(chances: dict[Hashable, float]) -> Hashable | None:
    best = [k for k, chance in chances.items() if chance > max(chances.values()) - _SAME]
    return best[0] if len(best) == 1 else None
