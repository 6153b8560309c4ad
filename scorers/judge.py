"""Quality of a judge: its verdicts against human labels of the same items, with PASS as the positive class.

Verdicts and labels fall into four cells: TP (judge PASS, human PASS), FP (judge PASS, human FAIL), FN (judge FAIL,
human PASS) and TN (judge FAIL, human FAIL).

    accuracy          (TP + TN) / all               precision   TP / (TP + FP)
    false_pass_rate   FP / (FP + TN)                recall      TP / (TP + FN)
    false_fail_rate   FN / (FN + TP)                f1          2 TP / (2 TP + FP + FN)
    cohen_kappa       see `kappa`                   gwet_ac1    see `agreement`

A judge that passes everything has a kappa of 0, while its accuracy is the share of PASS; AC1 stays near the accuracy.
f1 is 0, not undefined, where either precision or recall is undefined. Errors are linearised and clustered (see
`estimate`). The PROPORTIONS have the intervals of `clustered_share`, the two coefficients t intervals.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from humor_tasks.errors import BadInput

from .agreement import gwet_ac1
from .estimate import Estimate
from .kappa import cohen_kappa
from .proportion import clustered_share
from .validation import check_same_length

# An item's contribution to numerator and denominator, by its cell: TP, FP, FN, TN.
_RATIOS = {
    "accuracy": ((1, 0, 0, 1), (1, 1, 1, 1)),
    "false_pass_rate": ((0, 1, 0, 0), (0, 1, 0, 1)),
    "false_fail_rate": ((0, 0, 1, 0), (1, 0, 1, 0)),
    "precision": ((1, 0, 0, 0), (1, 1, 0, 0)),
    "recall": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "f1": ((2, 0, 0, 0), (2, 1, 1, 0)),
}
PROPORTIONS = tuple(_RATIOS)
METRICS = (*PROPORTIONS, "cohen_kappa", "gwet_ac1")


def judge_exam(
    labels: Sequence[bool], verdicts: Sequence[bool], clusters: Sequence[Hashable], level: float = 0.95
) -> dict[str, Estimate]:
    """All METRICS, in that order, from human labels and the judge's verdicts of the same items (True is PASS).

    An undefined metric (0/0, such as the precision of a judge that never passes) is nan in all fields, never 0. `n`
    counts all items, also where a metric uses one class only. A judge without errors in this sample has a stderr of 0,
    as any mean of equal values has, but no interval of a point. Raises BadInput on lists of different length and on
    an entry other than True, False, 1 and 0. The caller decides whether an unparsed verdict (None) is left out or
    counted as FAIL.
    """
    check_same_length(labels=labels, verdicts=verdicts, clusters=clusters)
    check_binary(labels=labels, verdicts=verdicts)
    cells = [2 * (not verdict) + (not label) for label, verdict in zip(labels, verdicts, strict=True)]
    exam = {
        name: clustered_share([top[cell] for cell in cells], [bottom[cell] for cell in cells], clusters, level)
        for name, (top, bottom) in _RATIOS.items()
    }
    exam["cohen_kappa"] = cohen_kappa(labels, verdicts, clusters, level=level)
    exam["gwet_ac1"] = gwet_ac1(list(zip(labels, verdicts, strict=True)), clusters, (True, False), level)
    return exam


def check_binary(**columns: Sequence[object]) -> None:
    """Raise BadInput naming the first entry that is not True, False, 1 or 0; text and None are refused, although they
    have a truth value.
    """
    for name, column in columns.items():
        for i, entry in enumerate(column):
            if entry not in (0, 1):
                raise BadInput(f"{name}[{i}] is {entry!r}; it must be True or 1 (PASS), or False or 0 (FAIL).")
