"""An audit as Markdown, JSON and a page, and the folder that holds the last two."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.errors import BadInput
from humor_tasks.files.pages import cut, render
from humor_tasks.files.tables import interval, safe, table, to_json
from humor_tasks.files.writing import encodable, write_text
from humor_tasks.lab.corpora.audit.auditing import Audit
from humor_tasks.lab.corpora.audit.counts import Statistic
from humor_tasks.lab.corpora.audit.items import KINDS, SEVERITIES, counted
from humor_tasks.lab.corpora.audit.shortcuts import Balance, Shortcut

MOST_IN_TERMINAL = 3
"""Rows of a finding that are printed; the page and the JSON name MOST_ROWS."""


def verdict(audit: Audit) -> str:
    """ "1 error, 2 warnings, no notes"."""
    counts = Counter(finding.severity for finding in audit.findings)
    return ", ".join(counted(counts[name], name) if counts[name] else f"no {name}s" for name in SEVERITIES)


def parts_of(audit: Audit) -> list[tuple[str, int, int, int]]:
    """(part, rows, groups, rows with a label)."""
    parts = []
    for name in audit.data.parts:
        items = audit.data.of(name)
        groups = len({item.group for item in items}) if audit.data.grouped else 0
        labelled = sum(item.target is not None or (audit.data.kind == "text" and item.about != "") for item in items)
        parts.append((name, len(items), groups, labelled))
    return parts


PARTS = ("part", "rows", "groups", "with a label")
FINDINGS = ("severity", "kind", "count", "what was found")
SHORTCUTS = ("part", "rule", "metric", "value", "chance", "")
BALANCE = ("part", "rows", "labels", "p")
STATISTICS = ("quantity", "here", "published", "source")


def _part_row(part: tuple[str, int, int, int]) -> tuple[str, ...]:
    name, rows, groups, labelled = part
    return name, f"{rows:,}", f"{groups:,}" if groups else "none", f"{labelled:,}"


def _shortcut_row(s: Shortcut) -> tuple[str, ...]:
    comparison = f"{s.side} chance" + (f" by more than {s.margin}" if s.above else "") if s.side else ""
    return s.part, s.rule, s.metric, interval(s.estimate), f"{s.chance:.3f}", comparison


def _balance_row(b: Balance) -> tuple[str, ...]:
    shares = ", ".join(f"{label} {interval(share)}" for label, share in b.shares.items())
    return b.part, f"{b.n:,}", shares, f"{b.p:.2g} ({b.test})" if b.p == b.p else f"- ({b.test})"


def _statistic_row(s: Statistic) -> tuple[str, ...]:
    spread = "" if s.least == s.most else f" ({s.least:,.0f} to {s.most:,.0f})"
    return s.quantity, f"{s.here:,.6g}{spread}", "" if s.published is None else f"{s.published:,g}", s.source


# ---- Markdown and JSON ---------------------------------------------------------------------------


def as_markdown(audit: Audit) -> str:
    """The audit for a terminal or a file."""
    lines = [f"# Audit of {safe(audit.data.dataset)}: {verdict(audit)}", ""]
    lines += [*map(safe, audit.data.read_as), ""]
    lines += [table(PARTS, map(_part_row, parts_of(audit))), "", "## Counts and lengths", ""]
    lines += [table(STATISTICS, map(_statistic_row, audit.statistics)), "", "## Findings", ""]
    for finding in audit.findings:
        lines.append(f"- {finding.severity}: {safe(finding.kind)}: {safe(finding.what)}")
        lines += [f"    - {safe(row)}" for row in finding.rows[:MOST_IN_TERMINAL]]
        if finding.rows and finding.count > MOST_IN_TERMINAL:
            lines.append(f"    - and {finding.count - MOST_IN_TERMINAL:,} more")
    lines += [] if audit.findings else ["None."]
    lines += ["", "## Shortcuts", "", "Accuracy or correlation with a 95 % interval clustered by group.", ""]
    lines += [table(SHORTCUTS, map(_shortcut_row, audit.shortcuts)), "", "## Labels", ""]
    lines += [table(BALANCE, map(_balance_row, audit.balances))]
    lines += ["", "## What was compared, and what was left out", ""]
    lines += [f"- {safe(sentence)}" for sentence in (*audit.told, *audit.data.told)]
    return encodable("\n".join(lines) + "\n")


def as_json(audit: Audit) -> str:
    """The audit as indented JSON. Numbers that are not known are null."""
    data: dict[str, Any] = {
        "dataset": audit.data.dataset,
        "answers": audit.data.kind,
        "read_as": audit.data.read_as,
        "parts": [dict(zip(("part", "rows", "groups", "labelled"), part, strict=True)) for part in parts_of(audit)],
        "statistics": audit.statistics,
        "findings": audit.findings,
        "shortcuts": [to_json(shortcut) | {"above": shortcut.above} for shortcut in audit.shortcuts],
        "labels": audit.balances,
        "told": audit.told,
        "warnings": audit.data.told,
        "humor_tasks": __version__,
    }
    return encodable(json.dumps(to_json(data), indent=2, ensure_ascii=False)) + "\n"


# ---- the page and the folder ---------------------------------------------------------------------

PAGE, DATA = "index.html", "audit.json"
SECTIONS = {
    "findings": "Findings",
    "shortcuts": "Shortcuts",
    "labels": "Labels",
    "statistics": "Counts and lengths",
    "rows": "How it was read",
    "compared": "What was compared, and what was left out",
}
NUMBER_COLUMNS = {"here", "published", "rows", "groups", "with a label", "count", "value", "chance", "p"}


def page(audit: Audit) -> str:
    """The page: one HTML file that needs no other file, no script and no network."""
    parts = parts_of(audit)
    return render(
        "lab/corpora/audit/audit.html",
        title=f"Audit of {cut(audit.data.dataset, 200)}",
        summary=f"{counted(sum(part[1] for part in parts), 'row')}: {verdict(audit)}.",
        contents=SECTIONS,
        scripts=(),
        audit=audit,
        kinds=KINDS,
        counted=counted,
        number_columns=NUMBER_COLUMNS,
        finding_columns=FINDINGS,
        shortcut_columns=SHORTCUTS,
        shortcuts=list(map(_shortcut_row, audit.shortcuts)),
        balance_columns=BALANCE,
        balances=list(map(_balance_row, audit.balances)),
        statistic_columns=STATISTICS,
        statistics=list(map(_statistic_row, audit.statistics)),
        part_columns=PARTS,
        parts=list(map(_part_row, parts)),
    )


def check_folder(folder: Path, inputs: Sequence[str]) -> None:
    """Raise BadInput where the audit cannot be written to this folder."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file; -o takes a folder, for {PAGE} and {DATA}.")
    for path in (folder / PAGE, folder / DATA):
        if path.exists() and not path.is_file():
            raise BadInput(f"{path}: is not a file that can be replaced.")
        if any(Path(name).resolve() == path.resolve() for name in inputs):
            raise BadInput(f"{path}: is an input; choose another output folder.")


def write_audit(folder: Path, audit: Audit) -> None:
    """Write the page and the JSON, each atomically. Raises BadInput where that fails."""
    files = {PAGE: page(audit), DATA: as_json(audit)}
    for name, text in files.items():
        write_text(folder / name, text)
