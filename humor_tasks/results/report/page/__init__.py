"""The report's page: one HTML file that works offline.

| module | holds |
|---|---|
| this one | `page`: the page as one file; `page_notes`: what it lacks for want of an extra |
| `gallery`, `items` | the items with every system's answer, and their pictures |

The page itself is report.html with scorecard.html and gallery.html, and the scripts figures.js and gallery.js.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.contract.metric import Metric
from humor_tasks.files.pages import render, script_in_html
from humor_tasks.results import Result
from humor_tasks.results.figures import HEIGHT, Chart, library, number, specification
from humor_tasks.results.report.askings import tables
from humor_tasks.results.report.build import Report
from humor_tasks.results.report.grouping import Group
from humor_tasks.results.report.page.gallery import EMPTY, gallery_of
from humor_tasks.results.report.scorecard import Cell, Column, Scorecard, explained, words
from humor_tasks.results.report.table import (
    OF_ASKINGS,
    TextTable,
    estimate_text,
    group_table,
    published_text,
    score_and_cost,
    value_text,
)

FOLDER = Path(__file__).parent
TITLE = "Results of humor-tasks"
MISSING = 'The figures are not drawn: pip install "humor-tasks[report]", and write the report again.'


def page(report: Report) -> str:
    """The page: one HTML file that needs no other file and no network."""
    results = report.results.results
    names = names_of(results, report.scorecard)
    vega = library() if report.charts else None
    scripts = [vega, _read("figures.js"), _read("gallery.js")] if vega else [_read("gallery.js")]
    data = {
        "title": TITLE,
        "contents": _contents(report),
        "scripts": list(map(script_in_html, scripts)),
        "warnings": report.warnings,
        "profile": report.profile
        and {"notes": report.profile.notes, "tables": list(map(_of_texts, report.profile.tables))},
        "scorecard": _scorecard(report.scorecard),
        "figures": [_figure(chart) for chart in report.charts],
        "figures_note": "" if vega else MISSING,
        "specifications": {chart.name: specification(chart) for chart in report.charts} if vega else {},
        "tables": [table for group in report.scorecard.groups for table in _tables(report, group)],
        "left_out": [(file.path, file.why) for file in report.results.left_out],
        "made": [_made(result, name) for result, name in zip(results, names, strict=True)],
    }

    def rendered(summary: str, items: Any) -> str:
        return render("results/report/page/report.html", summary=summary, gallery=items, **data)

    items = gallery_of(results, names, len(rendered("", EMPTY)))
    summary = f"{len(results)} results of {len(report.scorecard.systems)} systems; {items.items:,} items."
    return rendered(summary, items)


def page_notes(report: Report) -> list[str]:
    """What the page lacks because an optional package is missing, one sentence each."""
    return [] if not report.charts or library() else [MISSING]


def names_of(results: Sequence[Result], card: Scorecard) -> list[str]:
    """A name for every result, by which readers tell the results of one system apart.

    The system's name, with group, setting and label of its cell in the scorecard; else with the name of its file.
    """
    notes: dict[int, str] = {}
    for column in card.columns:
        for cell in column.cells:
            parts = (column.group and f"group {column.group}", column.setting, cell.label)
            notes.setdefault(id(cell.result), ", ".join(filter(None, parts)))
    names = []
    for result in results:
        note = notes.get(id(result), result.scorer)
        names.append(f"{result.system} ({note})" if note else result.system)
    repeated = Counter(zip((result.benchmark.name for result in results), names, strict=True))
    return [
        f"{name}, {result.paths[0].name}" if repeated[result.benchmark.name, name] > 1 else name
        for result, name in zip(results, names, strict=True)
    ]


def _read(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


def _contents(report: Report) -> dict[str, str]:
    """The id of each section -> its heading."""
    contents = {"profile": "Profile"} if report.profile else {}
    contents["scorecard"] = "Scorecard"
    if report.charts:
        contents["figures"] = "Figures"
    if report.scorecard.groups:
        contents["runs"] = "Runs with tokens and cost"
    if report.results.left_out:
        contents["left-out"] = "Files that were left out"
    return contents | {"gallery": "Items", "made": "How this was made"}


def _made(result: Result, name: str) -> dict[str, Any]:
    return {
        "system": name,
        "texts": (result.benchmark.name, result.run.harness, result.scorer),
        "replies": f"{len(result.outcomes):,}",
        "created": result.run.created or "–",
        "files": ", ".join(map(str, result.paths)),
        "signature": result.run.signature,
    }


# ---- scorecard -----------------------------------------------------------------------------------

MOST_UPRIGHT = 6
"""Columns of a scorecard that fit on upright paper."""
PUBLISHED = {"human": "People, published", "best": "Best system, published"}
"""Field of a column -> the row of the scorecard."""


def _scorecard(card: Scorecard) -> dict[str, Any]:
    """Systems by columns, people and the best published figure below, and what the columns hold."""
    columns = card.columns
    return {
        "many": len(columns) > MOST_UPRIGHT,
        "explained": explained(columns),
        "columns": list(map(_head, columns)),
        "rows": [
            (system, [[_cell(cell, column.metric) for cell in card.cells(system, column)] for column in columns])
            for system in card.systems
        ],
        "published": [
            (title, [_published(column, field) for column in columns])
            for field, title in PUBLISHED.items()
            if any(getattr(column, field) for column in columns)
        ],
        "sources": list(
            dict.fromkeys(
                f"{title}, {column.benchmark.name} {column.estimate}: {published_text(figure, column.metric)}. "
                f"{figure.source}."
                for column in columns
                for field, title in PUBLISHED.items()
                if (figure := getattr(column, field)) is not None
            )
        ),
        "groups": [_group(group, columns) for group in card.groups],
    }


def _head(column: Column) -> dict[str, str]:
    return {
        "key": column.key,
        "benchmark": column.benchmark.name,
        "estimate": f"{column.estimate}{', %' if column.metric.proportion else ''} "
        f"{'↑' if column.metric.direction == 'higher' else '↓'}",
        "setting": "; ".join(filter(None, (column.group and f"group {column.group}", column.setting))),
    }


def _value(value: float, metric: Metric) -> dict[str, str]:
    """A value as text, and with all digits."""
    return {"text": value_text(value, metric), "exact": repr(value)}


def _cell(cell: Cell, metric: Metric) -> dict[str, Any]:
    e = cell.estimate
    interval = "" if math.isnan(e.low) else f"[{value_text(e.low, metric)}, {value_text(e.high, metric)}]"
    beside = [f"{words(name)} {estimate_text(other, metric)}" for name, other in cell.beside.items()]
    return {
        "best": cell.rank == 1,
        "value": None if math.isnan(e.value) else _value(e.value, metric),
        "interval": interval,
        "notes": list(filter(None, (*beside, cell.label, *cell.notes))),
    }


def _published(column: Column, field: str) -> dict[str, Any] | None:
    figure = getattr(column, field)
    if figure is None:
        return None
    return {
        "value": _value(figure.value, column.metric),
        "system": figure.system,
        "protocol": column.others[field],
    }


def _title(group: Group) -> str:
    return group.benchmark.card.title + (f", group {group.name}" if group.name else "")


def _group(group: Group, columns: Sequence[Column]) -> dict[str, Any]:
    """What the results of a group share, and what must be known before they are compared."""
    held = [c for c in columns if (c.benchmark.name, c.group) == (group.benchmark.name, group.name)]
    protocols = "; ".join(dict.fromkeys(column.protocol for column in held if column.protocol))
    return {
        "title": _title(group),
        "facts": dict(group.about) | ({"setting": protocols} if protocols else {}),
        "remarks": {
            "Does not compare with the first group of this benchmark": group.apart,
            "Differs between these runs": group.differences,
            "Beside the published figures": list(dict.fromkeys(text for column in held for text in column.beside)),
        },
    }


# ---- figures -------------------------------------------------------------------------------------


def _figure(chart: Chart) -> dict[str, Any]:
    lines = "; ".join(
        f"{line.label} {number(chart.x if line.axis == 'x' else chart.y, line.value)}"
        + (f" ({line.source})" if line.source else "")
        for line in chart.references
    )
    notes = (chart.note, f"Lines: {lines}." if lines else "", f"After {chart.source}." if chart.source else "")
    # Room for legend and axis is kept, so that nothing moves when the figure is drawn.
    legend = math.ceil(sum(9 * min(len(series.name), 60) + 45 for series in chart.series) / 900)
    return {
        "name": chart.name,
        "title": chart.title,
        "label": f"{chart.title}: {chart.y.label} by {chart.x.label}. The numbers are in the table below.",
        "height": HEIGHT + 75 + 20 * legend,
        "notes": list(filter(None, notes)),
        "columns": ("System", chart.x.label, chart.y.label, "n"),
        "rows": [
            {
                "system": series.name,
                "point": point.label,
                "x": number(chart.x, point.x, point.x_low, point.x_high),
                "y": number(chart.y, point.y, point.low, point.high),
                "n": "–" if point.n is None else f"{point.n:,}",
            }
            for series in chart.series
            for point in series.points
        ],
    }


# ---- runs with tokens and cost -------------------------------------------------------------------

TEXTS = ("rank", "setting", "part", "graders")
"""Columns of texts; the others but the system's hold numbers."""


def _tables(report: Report, group: Group) -> Iterator[dict[str, Any]]:
    """The runs of a group, and where they ask each item several times what `askings.tables` has of them."""
    yield _table(report, group)
    for table in tables(group, report.scorecard.columns):
        yield _of_texts(table) | {"title": f"{table.title} ({_title(group)})", "numbers": table.head[1:], "texts": ()}


def _of_texts(table: TextTable) -> dict[str, Any]:
    """A table whose columns hold texts; the one of systems or models has the rows' headings."""
    names = ["system" if title == "model" else title for title in table.head]
    rows = [[(_shown(cell), name) for cell, name in zip(row, names, strict=True)] for row in table.rows]
    return {"title": table.title, "note": "", "columns": table.head, "numbers": (), "rows": rows, "texts": names}


def _shown(cell: str) -> str:
    return "–" if cell == "-" else cell


def _table(report: Report, group: Group) -> dict[str, Any]:
    """One row per run of a group, with tokens, cost and missing verdicts."""
    head, rows = group_table(group, report.scorecard.columns, report.results.results, report.spent)
    percent = ", %" if group.benchmark.metrics[0].proportion else ""
    titles = {name: f"{name}{percent}" if name in ("score", *OF_ASKINGS) else name for name in head}
    return {
        "title": _title(group),
        "note": score_and_cost(group, report.spent),
        "columns": list(titles.values()),
        "numbers": [title for name, title in titles.items() if name not in (*TEXTS, "system")],
        "rows": [[(_shown(cell), name) for cell, name in zip(row, head, strict=True)] for row in rows],
        "texts": TEXTS,
    }
