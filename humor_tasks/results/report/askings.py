"""Runs that ask each item several times, in tables: under each prompt set, by the place of the right choice, by letter.

docs/wordings.md says what the metrics are. The spread stands beside each score; see `scorecard.beside`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from humor_tasks.files.tables import short
from humor_tasks.results.report.grouping import Group
from humor_tasks.results.report.scorecard import Column
from humor_tasks.results.report.table import TextTable, estimate_text, unit
from humor_tasks.results.result import Result

OF_WORDINGS = {"same answer": "same_answer", "right under all": "right_under_all", "SD within item": "within_item_sd"}
OF_ORDERS = {"right in all": "right_in_all"}
"""Title of a column -> the metric of several askings."""


def tables(group: Group, columns: Sequence[Column]) -> list[TextTable]:
    """The tables of a group's finished runs; none for runs that ask each item once. A row is a run, a column a metric.

    columns: the scorecard's, of every group.
    """
    main, ways = group.benchmark.metrics[0], group.results[0].opened.variations
    held = [c for c in columns if (c.benchmark, c.group, c.estimate) == (group.benchmark, group.name, main.name)]
    sets = {f"set {letter}": f"{main.name}_set_{letter}" for letter in ways.sets}
    places = {f"right at {letter}": f"{main.name}_right_at_{letter}" for letter in ways.letters}
    shares = {letter: f"letter_share_{letter}" for letter in ways.letters}
    found = []
    if sets:
        found.append(_table(f"{main.name} under each prompt set", held, sets | OF_WORDINGS))
    if places:
        found.append(_table(f"{main.name} by the place of the right choice", held, places | OF_ORDERS))
        right = f"share of answers by letter; each letter is right in {100 / len(shares):.1f} % of the questions"
        found.append(_table(right, held, shares))
    return [table for table in found if table.rows]


def _table(title: str, held: Sequence[Column], names: Mapping[str, str]) -> TextTable:
    """names: title of a column -> the metric; a column without any value is left out."""
    runs = list(_finished(held))
    metrics = {metric.name: metric for _, result in runs for metric in result.opened.reported}
    shown = {head: metrics[name] for head, name in names.items() if any(name in r.estimates for _, r in runs)}
    rows = []
    for system, result in runs:
        found = ((metric, result.estimates.get(metric.name)) for metric in shown.values())
        rows.append((short(system), *("-" if e is None else estimate_text(e, metric) for metric, e in found)))
    heads = (f"{head}{', %' if unit(metric) else ''}" for head, metric in shown.items())
    return TextTable(title, ("system", *heads), tuple(rows))


def _finished(held: Sequence[Column]) -> Iterator[tuple[str, Result]]:
    """The finished runs with their names in the scorecard, the best of each column first."""
    for column in held:
        for cell in column.cells:
            about = ", ".join(filter(None, (column.setting, cell.label)))
            if cell.result.complete:
                yield cell.result.system + (f" ({about})" if about else ""), cell.result
