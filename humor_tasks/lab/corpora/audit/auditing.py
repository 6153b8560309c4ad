"""All checks of a dataset, and that of the canary in built ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from humor_tasks.files.reading import read_body
from humor_tasks.lab.corpora.audit.counts import Statistic, statistics
from humor_tasks.lab.corpora.audit.items import Finding, Items, Part, finding, in_order
from humor_tasks.lab.corpora.audit.repeated import across_rows, across_splits, elsewhere, in_rows
from humor_tasks.lab.corpora.audit.shortcuts import Balance, Shortcut, balance_findings, balances, shortcuts
from humor_tasks.lab.corpora.audit.similar import near_duplicates, pictures
from humor_tasks.lab.corpora.audit.tables import IN_FOLDERS, read_file
from humor_tasks.models.choosers.chooser import Chooser
from humor_tasks.rows.canary import COLUMN, GUID

_MADE = re.compile(r"(Built|Made) by `humor-tasks (build|describe)")


@dataclass(frozen=True)
class Audit:
    """What was checked and found, and counted. told: what was compared, and what was left out and why."""

    data: Items
    findings: tuple[Finding, ...]
    shortcuts: tuple[Shortcut, ...]
    balances: tuple[Balance, ...]
    told: tuple[str, ...]
    statistics: tuple[Statistic, ...]


def audit(data: Items, choosers: Sequence[Chooser] = (), against: Sequence[str] = ()) -> Audit:
    """Every check. Raises BadInput for a dataset of `against` that cannot be read, and where rensa is missing."""
    common, compared = elsewhere(data, against)
    measured = shortcuts(data, choosers)
    shares = balances(data)
    unlabelled = [item.where for item in data.items if item.target is None and data.kind != "text"]
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
    counted = statistics(data, data.task)
    return Audit(data, tuple(in_order(findings)), measured.measured, tuple(shares), notes, counted)


def unmarked(data: Items) -> list[Finding]:
    """The card and the files of rows without the canary, of a folder that `humor-tasks build` or `describe` made.

    Other datasets have canaries of their own, or none.
    """
    folder = Path(data.dataset).expanduser()
    card = folder / "README.md"
    text = read_body(card) if card.is_file() else ""
    files = [*([] if GUID in text else [card.name]), *_files(folder)] if _MADE.search(text) else []
    what = "without the canary of built datasets, by which training data is filtered; build the dataset again."
    return finding("no_canary", "warning", "file", what, files)


def _files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*/*")):
        if path.suffix in IN_FOLDERS and path.parent.name != "quality":
            rows = read_file(path, Part("", "", "")).rows
            if not all(GUID in str(row.get(COLUMN)) for row in rows):
                yield path.relative_to(folder).as_posix()
