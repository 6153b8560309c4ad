"""Consensus labels of several annotators, the quality of each annotator, and the human ceiling.

Tables are those of `agreement`: a row per item, a column per annotator, None for a missing rating.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.errors import BadInput

from .arrays import Floats, Indices
from .estimate import Estimate, check_level
from .proportion import clustered_share
from .rating_table import Ratings, RatingTable, rating_table

_TOLERANCE = 1e-9  # two probabilities within it are equal
_NEGLIGIBLE = 1e-6  # expected number of votes below which an annotator has not seen a category


@dataclass(frozen=True)
class RaterQuality:
    """Estimated quality of one annotator under the Dawid-Skene model.

    `accuracy` is the mean probability that the annotator's vote is correct; nan without votes. `confusion[a][b]` is the
    probability of voting b where the true category is a; nan for an a that the annotator has not seen.
    """

    votes: int
    accuracy: float
    confusion: dict[Hashable, dict[Hashable, float]]


@dataclass(frozen=True)
class DawidSkene:
    """Result of `dawid_skene`.

    `labels` holds each item's most probable category: None on a tie or without a vote. `probabilities` holds those of
    all categories, per item. `prior` is the estimated share of each category. `raters` maps each annotator's name to
    their quality.
    """

    labels: list[Hashable | None]
    probabilities: list[dict[Hashable, float]]
    prior: dict[Hashable, float]
    raters: dict[Hashable, RaterQuality]


def majority_vote(ratings: Ratings) -> list[Hashable | None]:
    """The most frequent rating of each item (plurality); None on a tie for first place and for an item without ratings.

    Missing ratings do not count. `verdict.majority` differs: it requires more than half of all votes, None included, so
    one PASS of three votes and two None is PASS here and None there. Raises BadInput as `gwet_ac1` does.
    """
    table = rating_table(ratings)
    top, leaders, which = _leaders(table)
    alone = (leaders == 1) & (top > 0)
    return [table.categories[k] if one else None for k, one in zip(which.tolist(), alone.tolist(), strict=True)]


def human_ceiling(ratings: Ratings, clusters: Sequence[Hashable] | None = None, level: float = 0.95) -> Estimate:
    """The human ceiling: the expected accuracy of one annotator against the majority of the others (leave-one-out).

    Each vote is compared with the most frequent of the item's other votes. If k categories tie for it, the vote counts
    1/k where it is one of them, which is its expected value under random tie-breaking. The value is the mean over all
    votes of items with two or more votes; other items are left out.

    A system is scored against the majority of all annotators, one more than an annotator is here. The ceiling is
    therefore biased downwards, less so the more annotators there are. Standard error and interval are those of
    `clustered_share`; `n` counts items. The value is nan where no item has two votes. Raises BadInput as `gwet_ac1`
    does.
    """
    import numpy as np

    check_level(level)
    table = rating_table(ratings, clusters).with_ratings(2)
    top, leaders, _ = _leaders(table)
    item, _, count = table.cells()
    below = count < top[item]
    second = np.zeros(len(top))
    np.maximum.at(second, item[below], count[below])
    rivals = np.bincount(item, below & (count == second[item]), minlength=len(top))
    # With one of its votes removed, a category still leads only if it led alone; it may then tie with others.
    agreed = np.where(leaders == 1, top / np.where(top - 1 == second, rivals + 1, 1), 0.0)
    return clustered_share(agreed.tolist(), table.totals.tolist(), table.clusters, level)


def dawid_skene(ratings: Ratings, raters: Sequence[Hashable] | None = None, iterations: int = 100) -> DawidSkene:
    """True categories and annotators' confusion matrices by the model of Dawid and Skene (1979, Applied Statistics 28).

    The model: each item has one true category; given it, each annotator votes b with a probability of their own,
    independently of the others. Parameters are maximum-likelihood estimates by crowd-kit's EM algorithm, initialised
    with the vote shares; the result is deterministic. `raters` names the columns (default: 0, 1, 2, ...); columns with
    the same name are one annotator who rated repeatedly.

    All `iterations` are run. crowd-kit's own stopping rule is disabled: its lower bound counts the prior once per vote
    and decreases after a few iterations. The model needs three or more annotators who are better than chance; with two
    it cannot tell which of them erred. Raises BadInput as `gwet_ac1` does, on a wrong number of names, on fewer than 1
    iteration, and if the extra `agreement` is not installed.
    """
    table = rating_table(ratings)
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
    counts = _expected_votes(table, names, chances)
    return DawidSkene(
        [_most_probable(row) for row in probabilities],
        probabilities,
        dict(zip(table.categories, prior, strict=True)),
        {name: _quality(table.categories, rows) for name, rows in counts.items()},
    )


def _leaders(table: RatingTable) -> tuple[Floats, Indices, Indices]:
    """Per item: the votes of its most frequent category, how many categories share that count, and the last of them."""
    import numpy as np

    item, code, count = table.cells()
    top, which = np.zeros(len(table.codes)), np.zeros(len(table.codes), dtype=np.intp)
    np.maximum.at(top, item, count)
    leads = count == top[item]
    which[item[leads]] = code[leads]
    return top, np.bincount(item[leads], minlength=len(top)), which


def _expectation_maximisation(
    codes: Indices, names: Sequence[Hashable], q: int, iterations: int
) -> tuple[Floats, list[float]]:
    """crowd-kit's probabilities [items, categories] (zeros for an item without votes) and the prior."""
    import numpy as np

    try:
        import pandas as pd
        from crowdkit.aggregation.classification.dawid_skene import DawidSkene as Model
    except ImportError as error:
        raise BadInput('dawid_skene needs crowd-kit: pip install "humor-tasks[agreement]"') from error
    # Integer ids throughout: pandas would interpret tuples, booleans and mixed types differently.
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    task, column = np.nonzero(codes >= 0)
    worker = np.asarray([number[name] for name in names])[column]
    votes = pd.DataFrame({"task": task, "worker": worker, "label": codes[task, column]})
    model: Any = Model(n_iter=iterations, tol=-math.inf).fit(votes)
    posteriors, chances = model.probas_, np.zeros((len(codes), q))
    chances[np.ix_(posteriors.index.to_numpy(), posteriors.columns.to_numpy())] = posteriors.to_numpy()
    return chances, [float(model.priors_[k]) for k in range(q)]


def _expected_votes(
    table: RatingTable, names: Sequence[Hashable], chances: Floats
) -> dict[Hashable, list[list[float]]]:
    """Each annotator's expected vote counts as a matrix [true category][voted category]."""
    import numpy as np

    q = len(table.categories)
    expected = {name: np.zeros((q, q)) for name in names}
    for name, codes in zip(names, table.codes.T, strict=True):
        given = codes >= 0
        expected[name] += chances[given].T @ np.eye(q)[codes[given]]
    return {name: rows.tolist() for name, rows in expected.items()}


def _quality(categories: Sequence[Hashable], counts: Sequence[Sequence[float]]) -> RaterQuality:
    votes = math.fsum(map(math.fsum, counts))
    right = math.fsum(row[k] for k, row in enumerate(counts))
    confusion: dict[Hashable, dict[Hashable, float]] = {}
    for true, row in zip(categories, counts, strict=True):
        total = math.fsum(row)
        shares = [n / total if total > _NEGLIGIBLE else math.nan for n in row]
        confusion[true] = dict(zip(categories, shares, strict=True))
    return RaterQuality(round(votes), right / votes if votes else math.nan, confusion)


def _most_probable(chances: dict[Hashable, float]) -> Hashable | None:
    best = [k for k, chance in chances.items() if chance > max(chances.values()) - _TOLERANCE]
    return best[0] if len(best) == 1 else None
