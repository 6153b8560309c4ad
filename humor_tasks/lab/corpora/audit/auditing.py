"""All checks of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humor_tasks.lab.corpora.audit.items import Finding, Items, finding, in_order
from humor_tasks.lab.corpora.audit.repeated import across_rows, across_splits, elsewhere, in_rows
from humor_tasks.lab.corpora.audit.shortcuts import Balance, Shortcut, balance_findings, balances, shortcuts
from humor_tasks.lab.corpora.audit.similar import near_duplicates, pictures
from humor_tasks.lab.corpora.audit.unmarked import unmarked
from humor_tasks.models.choosers.chooser import Chooser


@dataclass(frozen=True)
class Audit:
    """What was checked and found. told: what was compared, and what was left out and why."""

    data: Items
    findings: tuple[Finding, ...]
    shortcuts: tuple[Shortcut, ...]
    balances: tuple[Balance, ...]
    told: tuple[str, ...]


def audit(data: Items, choosers: Sequence[Chooser] = (), against: Sequence[str] = ()) -> Audit:
    """Every check. Raises BadInput for a dataset of `against` that cannot be read, and where rensa is missing."""
    common, compared = elsewhere(data, against)
    measured = shortcuts(data, choosers)
    shares = balances(data)
    unlabelled = [item.where for item in data.items if item.target is None]
    findings = [
        *in_rows(data.items),
        *across_rows(data),
        *across_splits(data),
        *near_duplicates(data),
        *pictures(data),
        *measured.findings,
        *balance_findings(shares),
        *common,
        *unmarked(data),
        *finding("unlabelled", "note", "row", "without a label; rules do not count them.", unlabelled),
    ]
    pictured = any(item.picture is not None for item in data.items)
    bare = [] if pictured else ["No pictures were read, so none were compared."]
    notes = (*measured.left_out, *bare, *compared)
    return Audit(data, tuple(in_order(findings)), measured.measured, tuple(shares), notes)
