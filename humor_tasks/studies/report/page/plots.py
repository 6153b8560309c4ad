"""The section of figures."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

from humor_tasks.studies.report.chart import Chart, Point, Series
from humor_tasks.studies.report.drawing import can_draw, drawn
from humor_tasks.studies.report.page.figures import HEIGHT, library, number, specification
from humor_tasks.studies.report.page.sections import name, scrolling
from humor_tasks.studies.report.page.texts import shown

STILL = 'The figures of the page are still pictures: pip install "humor-tasks[report]" makes them interactive.'
MISSING = 'The figures are not drawn: pip install "humor-tasks[report]", and write the report again.'


def figures(charts: Sequence[Chart]) -> tuple[str, dict[str, Any]]:
    """The figures as HTML, and what draws them by name: nothing without the extra `report`."""
    if library() is not None:
        plots, note, specifications = [_drawn_on_the_page] * len(charts), "", {c.name: specification(c) for c in charts}
    else:
        plots, note = ([_picture], STILL) if can_draw() else ([lambda chart: ""], MISSING)
        plots, note, specifications = plots * len(charts), f'<p class="notice">{shown(note)}</p>', {}
    html = "".join(_figure(chart, plot(chart)) for chart, plot in zip(charts, plots, strict=True))
    return f'{note}<div class="figures">{html}</div>', specifications


def _label(chart: Chart) -> str:
    return shown(f"{chart.title}: {chart.y.label} by {chart.x.label}. The numbers are in the table below.")


def _picture(chart: Chart) -> str:
    data = base64.b64encode(drawn(chart, "svg")).decode()
    return f'<div class="plot"><img src="data:image/svg+xml;base64,{data}" alt="{_label(chart)}"></div>'


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
