"""How good a judge is: its verdicts against human labels of the same items, PASS being the positive class.

Verdicts and labels fall into four cells, TP (judge PASS, human PASS), FP (judge PASS, human FAIL), FN
and TN:

    accuracy          (TP + TN) / all               precision   TP / (TP + FP)
    false_pass_rate   FP / (FP + TN)                recall      TP / (TP + FN)
    false_fail_rate   FN / (FN + TP)                f1          2 TP / (2 TP + FP + FN)
    cohen_kappa       see `kappa`                   gwet_ac1    see `agreement`

Kappa is 0 for a judge that passes everything, while its accuracy is the share of PASS; AC1 stays near
the accuracy. f1 is 0, not undefined, where precision or recall alone is undefined.
Errors are linearised and clustered (see `estimate`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from humor_tasks.errors import BadInput

from .agreement import gwet_ac1
from .estimate import Estimate, clustered_ratio
from .kappa import cohen_kappa
from .validation import check_same_length

# What an item counts in numerator and denominator, by its cell: TP, FP, FN, TN.
_RATIOS = {
    "accuracy": ((1, 0, 0, 1), (1, 1, 1, 1)),
    "false_pass_rate": ((0, 1, 0, 0), (0, 1, 0, 1)),
    "false_fail_rate": ((0, 0, 1, 0), (1, 0, 1, 0)),
    "precision": ((1, 0, 0, 0), (1, 1, 0, 0)),
    "recall": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "f1": ((2, 0, 0, 0), (2, 1, 1, 0)),
}
METRICS = (*_RATIOS, "cohen_kappa", "gwet_ac1")


def judge_exam(
    labels: Sequence[bool], verdicts: Sequence[bool], clusters: Sequence[Hashable], level: float = 0.95
) -> dict[str, Estimate]:
    """Each of METRICS, in that order, from the items' human labels and judge's verdicts (True is PASS).

    What is undefined (0/0, as the precision of a judge that never passes) is nan throughout, never 0. `n`
    counts all items, also where a metric looks at one class of them. A judge that never errs in this
    sample has a stderr of 0, as the mean of equal values has. Raises BadInput on lists of different
    length and on an entry other than True, False, 1 and 0: an unread verdict (None) is for the caller
    to leave out or to count as a FAIL.
    """
    check_same_length(labels=labels, verdicts=verdicts, clusters=clusters)
    check_binary(labels=labels, verdicts=verdicts)
    cells = [2 * (not verdict) + (not label) for label, verdict in zip(labels, verdicts, strict=True)]
    exam = {
        name: clustered_ratio([top[cell] for cell in cells], [bottom[cell] for cell in cells], clusters, level)
        for name, (top, bottom) in _RATIOS.items()
    }
    exam["cohen_kappa"] = cohen_kappa(labels, verdicts, clusters, level=level)
    exam["gwet_ac1"] = gwet_ac1(list(zip(labels, verdicts, strict=True)), clusters, (True, False), level)
    return exam


def check_binary(**columns: Sequence[object]) -> None:
    """BadInput naming the first entry that is neither True, False, 1 nor 0: text and None have a truth value, too."""
    for name, column in columns.items():
        for i, entry in enumerate(column):
            if entry not in (0, 1):
                raise BadInput(f"{name}[{i}] is {entry!r}; it must be True or 1 (PASS), or False or 0 (FAIL).")
