"""Which of two edits of a headline is funnier (SemEval-2020 Task 7, subtask 2; Hossain et al. 2020).

    label      1 where the first has the higher mean grade, 2 where the second has, 0 where they are equal
    accuracy   share of correct predictions
    reward     mean of (+1 correct, -1 wrong) x |mean of the first - mean of the second|

Both metrics are over the rows with label 1 or 2; ties are dropped. A prediction is 1 or 2. Anything else is wrong and
loses the full reward: 0 (a tie, which some teams submitted) and None (an unparsed reply). Dropping these rows would
shrink the denominator. The published figures agree with this: systems that predict all three labels have accuracies
near 1/3 and rewards near -1/3 of the mean gap.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from humor_tasks.errors import BadInput

from .estimate import Estimate, clustered_mean
from .proportion import clustered_proportion
from .validation import check_same_length


def pair_labels(means: Sequence[tuple[float, float]]) -> list[int]:
    """The label of each pair of mean grades. Raises BadInput on a mean that is nan or infinite."""
    for i, pair in enumerate(means):
        if not all(map(math.isfinite, pair)):
            raise BadInput(f"means[{i}] is {pair!r}; it must be the two headlines' mean grades.")
    return [0 if first == second else 1 if first > second else 2 for first, second in means]


def pair_accuracy(
    labels: Sequence[int], predictions: Sequence[int | None], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """The share of correct predictions, by `clustered_proportion`; `clusters` are the original headlines.

    `n` counts the rows without a tie. Raises BadInput on lists of different length, a label other than 0, 1 and 2, and
    a prediction other than these and None.
    """
    untied = _untied(labels, predictions, clusters)
    return clustered_proportion(
        [float(labels[i] == predictions[i]) for i in untied], [clusters[i] for i in untied], level
    )


def pair_reward(
    means: Sequence[tuple[float, float]],
    predictions: Sequence[int | None],
    clusters: Sequence[Hashable],
    level: float = 0.95,
) -> Estimate:
    """The mean reward, by `clustered_mean`; otherwise as `pair_accuracy`, with the labels of `pair_labels`."""
    labels = pair_labels(means)
    untied = _untied(labels, predictions, clusters)
    gaps = [abs(means[i][0] - means[i][1]) * (1 if labels[i] == predictions[i] else -1) for i in untied]
    return clustered_mean(gaps, [clusters[i] for i in untied], level)


def _untied(labels: Sequence[int], predictions: Sequence[int | None], clusters: Sequence[Hashable]) -> list[int]:
    check_same_length(labels=labels, predictions=predictions, clusters=clusters)
    for i, (label, prediction) in enumerate(zip(labels, predictions, strict=True)):
        if label not in (0, 1, 2):
            raise BadInput(f"labels[{i}] is {label!r}; it must be 1 or 2, the funnier headline, or 0 for a tie.")
        if prediction not in (0, 1, 2, None):
            raise BadInput(f"predictions[{i}] is {prediction!r}; it must be 1 or 2, the headline predicted funnier.")
    return [i for i, label in enumerate(labels) if label != 0]
