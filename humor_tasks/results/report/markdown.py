"""The report as Markdown; names are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from humor_tasks.files.tables import safe, short, table
from humor_tasks.results.report.askings import tables
from humor_tasks.results.report.build import Report
from humor_tasks.results.report.grouping import Group
from humor_tasks.results.report.profile import Profile
from humor_tasks.results.report.scorecard import Column, Scorecard, explained
from humor_tasks.results.report.table import (
    PUBLISHED,
    cells_text,
    group_table,
    published_cell,
    published_text,
    score_and_cost,
    unit,
)
from humor_tasks.results.result import LeftOut


def as_markdown(report: Report, pictures: Sequence[str] = (), warnings: bool = True) -> str:
    """The report.

    pictures: paths of the charts' pictures, in the order of the charts. told: with the warnings and what is left out.
    """
    card = report.scorecard
    parts = ["# Report"]
    parts += [profile_text(report.profile)] if report.profile else []
    if card.columns:
        parts += ["## Scorecard", _scorecard(card), *_published(card.columns)]
        parts += _notes((*explained(card.columns), *_beside(card.columns)))
    apart = [group for group in card.groups if group.apart]
    if apart:
        parts += ["## What does not compare", *_notes(map(_apart, apart))]
    for group in card.groups:
        parts += _group(report, group)
    if pictures:
        parts.append("## Figures")
        parts += [f"![{safe(c.title)}]({path})" for c, path in zip(report.charts, pictures, strict=True)]
    if warnings and report.warnings:
        parts += ["## Beware", *_notes(report.warnings)]
    if warnings and report.results.left_out:
        parts += ["## Left out", *_notes(map(left_out_text, report.results.left_out))]
    return "\n\n".join(parts) + "\n"


def profile_text(profile: Profile) -> str:
    """The profile as a section."""
    tables_of = [part for each in profile.tables for part in (f"{safe(each.title)}:", table(each.head, each.rows))]
    return "\n\n".join(["## Profile", *map(safe, profile.notes), *tables_of])


def _notes(notes: Iterable[str]) -> list[str]:
    """One list, or nothing."""
    listed = [f"- {safe(note)}" for note in notes]
    return ["\n".join(listed)] if listed else []


def left_out_text(left: LeftOut) -> str:
    """The file and why no result was read from it."""
    return f"{left.path}: {left.why}"


# ---- the scorecard ------------------------------------------------------------------------------


def _scorecard(card: Scorecard) -> str:
    head = ["system", *(f"{c.title}{', ' + unit(c.metric) if unit(c.metric) else ''}" for c in card.columns)]
    rows = [[short(system), *(cells_text(card, system, column) for column in card.columns)] for system in card.systems]
    for name, field in PUBLISHED.items():
        if any(getattr(column, field) for column in card.columns):
            rows.append([name, *(published_cell(c, field) for c in card.columns)])
    return table(head, rows)


def _published(columns: Sequence[Column]) -> list[str]:
    """The table of published figures with their sources, each once."""
    rows: dict[tuple[str, ...], None] = {}
    for column in columns:
        for name, field in PUBLISHED.items():
            figure = getattr(column, field)
            if figure:
                about = f"{column.benchmark.name} {column.estimate}"
                rows[about, name, published_text(figure, column.metric), figure.source] = None
    return [table(("of", "figure", "value", "source"), rows)] if rows else []


def _beside(columns: Sequence[Column]) -> list[str]:
    """What keeps published figures from comparison, each once with its benchmarks."""
    names_of: dict[str, dict[str, None]] = {}
    for column in columns:
        for sentence in column.beside:
            names_of.setdefault(sentence, {})[f"{column.benchmark.name} {column.group}".strip()] = None
    return [f"{', '.join(names)}: {sentence}" for sentence, names in names_of.items()]


def _apart(group: Group) -> str:
    return f"{group.benchmark.name}, group {group.name} does not compare with group A: {'; '.join(group.apart)}."


# ---- a group ------------------------------------------------------------------------------------


def _group(report: Report, group: Group) -> list[str]:
    heading = f"{group.benchmark.card.title}{f' (group {group.name})' if group.name else ''}"
    about = "; ".join(f"{name} {value}" for name, value in group.about.items())
    parts = [f"## {safe(heading)}", *([safe(about)] if about else [])]
    if group.differences:
        parts.append(safe(f"These runs differ in {'; '.join(group.differences)}."))
    head, rows = group_table(group, report.scorecard.columns, report.results.results, report.spent)
    incomplete = [f"{short(r.system)}: {note}" for r in group.results for note in r.notes]
    parts.append(table(head, rows))
    for of_askings in tables(group, report.scorecard.columns):
        parts += [f"{safe(of_askings.title)}:", table(of_askings.head, of_askings.rows)]
    return [*parts, *filter(None, [score_and_cost(group, report.spent)]), *_notes(incomplete)]
