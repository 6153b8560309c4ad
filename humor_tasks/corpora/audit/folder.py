"""The folder of an audit: the page and the JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from humor_tasks._version import __version__
from humor_tasks.corpora.audit.auditing import Audit
from humor_tasks.corpora.audit.items import KINDS, Finding, counted
from humor_tasks.corpora.audit.writing import (
    BALANCE,
    FINDINGS,
    PARTS,
    SHORTCUTS,
    as_json,
    cells_of_balance,
    cells_of_part,
    cells_of_shortcut,
    parts_of,
    verdict,
)
from humor_tasks.data.pages.embedding import policy
from humor_tasks.data.pages.parts import bullets, scrolling, section, style
from humor_tasks.data.pages.parts import page as framed
from humor_tasks.data.pages.texts import shown
from humor_tasks.data.writing import write_text
from humor_tasks.errors import BadInput

# ---- the page ------------------------------------------------------------------------------------
# An audit as one HTML file without scripts, in the style of the report's page. Texts of the dataset are escaped.

_NUMBERS = {"rows", "groups", "with a label", "count", "value", "chance", "p"}


def page(audit: Audit) -> str:
    """The page: one HTML file that needs no other file, no script and no network."""
    rows = sum(part[1] for part in parts_of(audit))
    parts = {
        "findings": ("Findings", _findings(audit.findings)),
        "shortcuts": ("Shortcuts", _shortcuts(audit)),
        "labels": ("Labels", _table("Labels of each part", BALANCE, map(cells_of_balance, audit.balances))),
        "rows": ("How it was read", _read(audit)),
        "compared": ("What was compared, and what was left out", bullets([*audit.told, *audit.data.told])),
    }
    return framed(
        {
            "policy": policy([]),
            "title": f"Audit of {shown(audit.data.dataset, 200)}",
            "style": style(),
            "counts": f"{counted(rows, 'row')}: {verdict(audit)}.",
            "contents": "".join(f'<li><a href="#{name}">{title}</a></li>' for name, (title, _) in parts.items()),
            "sections": "".join(section(name, title, body) for name, (title, body) in parts.items()),
            "made": f"Written by humor-tasks {__version__}. This page holds all its data and loads nothing.",
            "data": "",
            "scripts": "",
        },
    )


def _findings(findings: Sequence[Finding]) -> str:
    if not findings:
        return "<p>None.</p>"
    lines = "".join(
        f'<tr><th scope="row">{each.severity}</th><td>{each.kind}<br><span class="quiet">{KINDS[each.kind]}</span></td>'
        f'<td class="number">{each.count:,}</td><td class="wide">{shown(each.what)}{_rows(each)}</td></tr>'
        for each in findings
    )
    return scrolling("Findings", f"<table><thead><tr>{_head(FINDINGS)}</tr></thead><tbody>{lines}</tbody></table>")


def _rows(finding: Finding) -> str:
    if not finding.rows:
        return ""
    of = f" of {finding.count:,}" if finding.count > len(finding.rows) else ""
    return f"<details><summary>{counted(len(finding.rows), 'row')}{of}</summary>{bullets(finding.rows)}</details>"


def _shortcuts(audit: Audit) -> str:
    told = (
        "<p>What a rule without understanding gets right, with a 95 % interval clustered by group. A rule that cannot "
        "tell choices apart counts as right by chance. Rules that are fitted are tested on other groups.</p>"
    )
    return told + _table("Shortcuts", SHORTCUTS, map(cells_of_shortcut, audit.shortcuts))


def _read(audit: Audit) -> str:
    return bullets(audit.data.read_as) + _table("Parts", PARTS, map(cells_of_part, parts_of(audit)))


def _table(label: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = []
    for first, *others in rows:
        cells = (f"<td{_number(name)}>{shown(cell)}</td>" for name, cell in zip(names[1:], others, strict=True))
        lines.append(f'<tr><th scope="row">{shown(first)}</th>{"".join(cells)}</tr>')
    return scrolling(label, f"<table><thead><tr>{_head(names)}</tr></thead><tbody>{''.join(lines)}</tbody></table>")


def _head(names: Sequence[str]) -> str:
    return "".join(f'<th scope="col"{_number(name)}>{name}</th>' for name in names)


def _number(name: str) -> str:
    return ' class="number"' if name in _NUMBERS else ""


# ---- the folder ----------------------------------------------------------------------------------

PAGE, DATA = "index.html", "audit.json"


def check_folder(folder: Path, inputs: Sequence[str]) -> None:
    """Raise BadInput where the audit cannot be written to this folder."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file; -o takes a folder, for {PAGE} and {DATA}.")
    for name in (PAGE, DATA):
        if (folder / name).exists() and not (folder / name).is_file():
            raise BadInput(f"{folder / name}: is not a file that can be replaced.")
        if any(Path(each).resolve() == (folder / name).resolve() for each in inputs):
            raise BadInput(f"{folder / name}: is an input; choose another output folder.")


def write_audit(folder: Path, audit: Audit) -> None:
    """Write the page and the JSON, each atomically. Raises BadInput where that fails."""
    files = {PAGE: page(audit), DATA: as_json(audit)}
    for name, text in files.items():
        write_text(folder / name, text)
