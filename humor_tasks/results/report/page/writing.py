"""The page as one file."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.data.pages.embedding import json_block, policy, script
from humor_tasks.data.pages.parts import filled, name, scrolling, section, style
from humor_tasks.data.pages.parts import page as framed
from humor_tasks.data.pages.texts import shown
from humor_tasks.results import Result
from humor_tasks.results.figures import HEIGHT, Chart, Point, Series, library, number, specification
from humor_tasks.results.report.build import Report
from humor_tasks.results.report.page import sections
from humor_tasks.results.report.page.gallery import gallery
from humor_tasks.results.report.scorecard import Scorecard

# ---- names ---------------------------------------------------------------------------------------
# A name for every result, by which readers tell the results of one system apart.


def names_of(results: Sequence[Result], card: Scorecard) -> list[str]:
    """The system's name, with group, setting and label of its cell in the scorecard; else with the name of its file."""
    told: dict[int, str] = {}
    for column in card.columns:
        for cell in column.cells:
            apart = (column.group and f"group {column.group}", column.setting, cell.label)
            told.setdefault(id(cell.result), ", ".join(each for each in apart if each))
    named = [_named(result.system, told.get(id(result), result.scorer)) for result in results]
    repeated = Counter(zip((result.benchmark.name for result in results), named, strict=True))
    return [
        f"{each}, {result.paths[0].name}" if repeated[result.benchmark.name, each] > 1 else each
        for result, each in zip(results, named, strict=True)
    ]


def _named(system: str, apart: str) -> str:
    return f"{system} ({apart})" if apart else system


# ---- figures -------------------------------------------------------------------------------------

MISSING = 'The figures are not drawn: pip install "humor-tasks[report]", and write the report again.'


def figures(charts: Sequence[Chart]) -> tuple[str, dict[str, Any]]:
    """The figures as HTML, and what draws them by name: nothing without the extra `report`."""
    drawable = library() is not None
    note = "" if drawable else f'<p class="notice">{shown(MISSING)}</p>'
    plots = [_drawn_on_the_page(chart) if drawable else "" for chart in charts]
    html = "".join(_figure(chart, plot) for chart, plot in zip(charts, plots, strict=True))
    return f'{note}<div class="figures">{html}</div>', {c.name: specification(c) for c in charts if drawable}


def _label(chart: Chart) -> str:
    return shown(f"{chart.title}: {chart.y.label} by {chart.x.label}. The numbers are in the table below.")


def _drawn_on_the_page(chart: Chart) -> str:
    # Room for legend and axis is kept, so that nothing moves when the figure is drawn.
    rows = math.ceil(sum(9 * min(len(series.name), 60) + 45 for series in chart.series) / 900)
    style = f'style="min-height:{HEIGHT + 75 + 20 * rows}px"'
    return f'<div class="plot" data-chart="{shown(chart.name)}" role="img" aria-label="{_label(chart)}" {style}></div>'


def _figure(chart: Chart, plot: str) -> str:
    lines = "; ".join(
        f"{line.label} {number(chart.x if line.axis == 'x' else chart.y, line.value)}"
        + (f" ({line.source})" if line.source else "")
        for line in chart.references
    )
    told = [chart.note, f"Lines: {lines}." if lines else "", f"After {chart.source}." if chart.source else ""]
    below = "".join(f'<p class="quiet">{shown(text)}</p>' for text in told if text)
    return (
        f'<figure id="figure-{shown(chart.name)}"><figcaption><h3>{shown(chart.title)}</h3></figcaption>'
        f"{plot}{below}{_numbers(chart, bool(plot))}</figure>"
    )


def _numbers(chart: Chart, plotted: bool) -> str:
    head = "".join(f'<th scope="col">{shown(t)}</th>' for t in ("System", chart.x.label, chart.y.label, "n"))
    rows = "".join(_row(chart, series, point) for series in chart.series for point in series.points)
    table = scrolling(
        f"Numbers of {chart.title}", f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )
    return f"<details{'' if plotted else ' open'}><summary>Numbers</summary>{table}</details>"


def _row(chart: Chart, series: Series, point: Point) -> str:
    system = name(series.name) + (f"<br><small>{name(point.label)}</small>" if point.label else "")
    x = number(chart.x, point.x, point.x_low, point.x_high)
    y = number(chart.y, point.y, point.low, point.high)
    n = "–" if point.n is None else f"{point.n:,}"
    return f'<tr><th scope="row">{system}</th><td>{shown(x)}</td><td>{shown(y)}</td><td class="number">{n}</td></tr>'


# ---- the page ------------------------------------------------------------------------------------

FOLDER = Path(__file__).parent
TITLE = "Results of humor-tasks"


def page(report: Report) -> str:
    """The page: one HTML file that needs no other file and no network."""
    results = report.results.results
    names = names_of(results, report.scorecard)
    parts = {"scorecard": ("Scorecard", sections.warnings(report) + sections.scorecard(report.scorecard))}
    plots, specifications = figures(report.charts)
    if report.charts:
        parts["figures"] = ("Figures", plots)
    if report.scorecard.groups:
        parts["runs"] = ("Runs with tokens and cost", sections.runs(report))
    if report.results.left_out:
        parts["left-out"] = ("Files that were left out", sections.left_out(report))
    made = section("made", "How this was made", sections.how_made(results, names))
    scripts = [script(source) for source in _scripts(bool(specifications))]
    body = "".join(section(key, title, inside) for key, (title, inside) in parts.items())
    data = json_block("charts", specifications)
    items = gallery(results, names, len(body) + len(made) + len(data) + sum(map(len, scripts)))
    shown = filled(
        FOLDER / "gallery.html", {"notes": "".join(f'<p class="notice">{html.escape(n)}</p>' for n in items.notes)}
    )
    titles = {key: title for key, (title, _) in parts.items()} | {"gallery": "Items", "made": "How this was made"}
    return framed(
        {
            "policy": policy(scripts),
            "title": TITLE,
            "style": style(),
            "counts": f"{len(results)} results of {len(report.scorecard.systems)} systems; {items.items:,} items.",
            "contents": "".join(f'<li><a href="#{key}">{title}</a></li>' for key, title in titles.items()),
            "sections": body + shown + made,
            "made": f"Written by humor-tasks {__version__}. This page holds all its data and loads nothing.",
            "data": data + items.blocks,
            "scripts": "".join(scripts),
        },
    )


def page_notes(report: Report) -> list[str]:
    """What the page lacks because an optional package is missing, one sentence each."""
    return [] if not report.charts or library() else [MISSING]


def _scripts(drawn: bool) -> list[str]:
    return [*([library() or "", _read("figures.js")] if drawn else []), _read("gallery.js")]


def _read(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")
