"""An audit as Markdown and JSON."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.corpora.audit.auditing import Audit
from humor_tasks.corpora.audit.items import SEVERITIES, counted
from humor_tasks.corpora.audit.shortcuts import Balance, Shortcut
from humor_tasks.data.tables import interval, plain, safe, table
from humor_tasks.data.writing import encodable

MOST_IN_TERMINAL = 3
"""Rows of a finding that are printed; the page and the JSON name MOST_ROWS."""


def verdict(audit: Audit) -> str:
    """ "1 error, 2 warnings, no notes"."""
    counts = Counter(each.severity for each in audit.findings)
    return ", ".join(counted(counts[each], each) if counts[each] else f"no {each}s" for each in SEVERITIES)


def parts_of(audit: Audit) -> list[tuple[str, int, int, int]]:
    """(part, rows, groups, rows with a label)."""
    found = []
    for name in audit.data.parts:
        items = audit.data.of(name)
        groups = len({item.group for item in items}) if audit.data.grouped else 0
        found.append((name, len(items), groups, sum(item.target is not None for item in items)))
    return found


PARTS = ("part", "rows", "groups", "with a label")
FINDINGS = ("severity", "kind", "count", "what was found")
SHORTCUTS = ("part", "rule", "metric", "value", "chance", "")
BALANCE = ("part", "rows", "labels", "p")


def cells_of_part(part: tuple[str, int, int, int]) -> tuple[str, ...]:
    """The cells of a line of PARTS."""
    name, rows, groups, labelled = part
    return name, f"{rows:,}", f"{groups:,}" if groups else "none", f"{labelled:,}"


def cells_of_shortcut(s: Shortcut) -> tuple[str, ...]:
    """The cells of a line of SHORTCUTS."""
    told = f"{s.side} chance" + (f" by more than {s.margin}" if s.above else "") if s.side else ""
    return s.part, s.rule, s.metric, interval(s.estimate), f"{s.chance:.3f}", told


def cells_of_balance(b: Balance) -> tuple[str, ...]:
    """The cells of a line of BALANCE."""
    shares = ", ".join(f"{label} {interval(share)}" for label, share in b.shares.items())
    return b.part, f"{b.n:,}", shares, f"{b.p:.2g} ({b.test})" if b.p == b.p else f"- ({b.test})"


def as_markdown(audit: Audit) -> str:
    """The audit for a terminal or a file."""
    lines = [f"# Audit of {safe(audit.data.dataset)}: {verdict(audit)}", ""]
    lines += [*(safe(each) for each in audit.data.read_as), ""]
    lines += [table(PARTS, map(cells_of_part, parts_of(audit))), "", "## Findings", ""]
    for each in audit.findings:
        lines.append(f"- {each.severity}: {safe(each.kind)}: {safe(each.what)}")
        lines += [f"    - {safe(row)}" for row in each.rows[:MOST_IN_TERMINAL]]
        if each.rows and each.count > MOST_IN_TERMINAL:
            lines.append(f"    - and {each.count - MOST_IN_TERMINAL:,} more")
    lines += [] if audit.findings else ["None."]
    lines += ["", "## Shortcuts", "", "Accuracy or correlation with a 95 % interval clustered by group.", ""]
    lines += [table(SHORTCUTS, map(cells_of_shortcut, audit.shortcuts)), "", "## Labels", ""]
    lines += [table(BALANCE, map(cells_of_balance, audit.balances))]
    told = [*audit.told, *audit.data.told]
    lines += ["", "## What was compared, and what was left out", "", *(f"- {safe(each)}" for each in told)]
    return encodable("\n".join(lines) + "\n")


def as_data(audit: Audit) -> dict[str, Any]:
    """The audit for JSON. Numbers that are not known are None."""
    made: dict[str, Any] = plain(
        {
            "dataset": audit.data.dataset,
            "answers": audit.data.kind,
            "read_as": audit.data.read_as,
            "parts": [dict(zip(("part", "rows", "groups", "labelled"), part, strict=True)) for part in parts_of(audit)],
            "findings": [plain(each) for each in audit.findings],
            "shortcuts": [plain(each) | {"above": each.above} for each in audit.shortcuts],
            "labels": [plain(each) for each in audit.balances],
            "told": audit.told,
            "warnings": audit.data.told,
            "humor_tasks": __version__,
        }
    )
    return made


def as_json(audit: Audit) -> str:
    """The audit as indented JSON."""
    return encodable(json.dumps(as_data(audit), indent=2, ensure_ascii=False)) + "\n"
