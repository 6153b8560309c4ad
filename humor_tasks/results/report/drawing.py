"""Charts as static pictures for papers (PNG, SVG, PDF), by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import cycle
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.results.report.chart import Axis, Chart, Point

MISSING = 'pictures need matplotlib: pip install "humor-tasks[plot]"'
MARKERS = "osD^vPX*<>"
MOST_SHOWN = 60
"""Characters of a name in a picture."""
SPREAD = 0.5
"""The width that the series of one category share."""


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def drawn(chart: Chart, form: str) -> bytes:
    """The picture in this form (png, svg, pdf). Raises BadInput without matplotlib."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise BadInput(MISSING) from problem
    # The same picture for the same data: no date, and no random ids in an SVG.
    with rc_context({"svg.hashsalt": chart.name, "svg.fonttype": "none"}):
        figure = Figure(figsize=(max(8.0, 0.4 * len(chart.x.categories)), 5))
        axes = figure.subplots()
        handles, names = _series(axes, chart)
        _references(axes, chart)
        _axes(axes, chart)
        axes.set_title(_literal(chart.title))
        axes.grid(alpha=0.3)
        if chart.note:
            figure.text(0, -0.02, _literal(chart.note, 400), fontsize=7, va="top", wrap=False)
        axes.legend(handles, names, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8)
        picture = io.BytesIO()
        metadata = {"Date": None} if form == "svg" else {"CreationDate": None} if form == "pdf" else None
        figure.savefig(picture, format=form, dpi=150, bbox_inches="tight", metadata=metadata)
    return picture.getvalue()


def _series(axes: Any, chart: Chart) -> tuple[list[Any], list[str]]:
    handles, names = [], []
    markers = cycle(MARKERS)
    for i, series in enumerate(chart.series):
        shown = [p for p in series.points if p.y == p.y]
        if not shown:
            continue
        xs = [_place(p.x, chart.x, i, len(chart.series)) for p in shown]
        bars = axes.errorbar(
            xs,
            [_scaled(p.y, chart.y) for p in shown],
            yerr=_reach(shown, "low", "high", "y", chart.y),
            xerr=_reach(shown, "x_low", "x_high", "x", chart.x) if not chart.x.categories else None,
            fmt=next(markers) + ("-" if series.style == "line" else ""),
            capsize=3,
            markersize=5,
            linewidth=1,
        )
        handles.append(bars)
        names.append(_literal(series.name))
    return handles, names


def _place(x: float | str, axis: Axis, i: int, of: int) -> float:
    """The place of a point; the series of one category stand side by side."""
    if isinstance(x, str):
        return axis.categories.index(x) + SPREAD * ((i + 0.5) / of - 0.5)
    return _scaled(x, axis)


def _scaled(value: float, axis: Axis) -> float:
    return 100 * value if axis.percent else value


def _reach(points: Sequence[Point], low: str, high: str, of: str, axis: Axis) -> list[list[float]]:
    """The lengths of error bars downwards and upwards; 0 for an unknown limit."""
    ends: list[list[float]] = [[], []]
    for p in points:
        value = getattr(p, of)
        for end, name in zip(ends, (low, high), strict=True):
            limit = getattr(p, name)
            end.append(0.0 if limit is None else max(0.0, _scaled(abs(limit - value), axis)))
    return ends


def _references(axes: Any, chart: Chart) -> None:
    for reference, style in zip(chart.references, cycle(("--", ":", "-."))):
        axis = chart.x if reference.axis == "x" else chart.y
        value = _scaled(reference.value, axis)
        draw = axes.axvline if reference.axis == "x" else axes.axhline
        draw(value, color="0.45", linestyle=style, linewidth=1)
        text = _literal(reference.label)
        if reference.axis == "x":
            axes.text(value, 1.01, text, transform=axes.get_xaxis_transform(), fontsize=7, ha="center", va="bottom")
        else:
            axes.text(0.99, value, text, transform=axes.get_yaxis_transform(), fontsize=7, ha="right", va="bottom")
    if chart.diagonal:
        axes.axline((0, 0), slope=1, color="0.7", linewidth=0.8)


def _axes(axes: Any, chart: Chart) -> None:
    for axis, of in ((chart.x, "x"), (chart.y, "y")):
        percent = ", %" if axis.percent else ""
        log = " (log scale)" if axis.log else ""
        getattr(axes, f"set_{of}label")(_literal(axis.label) + percent + log)
        if axis.log:
            _log(axes, of)
        low, high = (None if limit is None else _scaled(limit, axis) for limit in (axis.low, axis.high))
        if low is not None or high is not None:
            getattr(axes, f"set_{of}lim")(low, high)
    if chart.x.categories:
        labels = [_literal(name, 30) for name in chart.x.categories]
        axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right", fontsize=8)
        axes.set_xlim(-0.6, len(labels) - 0.4)


def _log(axes: Any, of: str) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    getattr(axes, f"set_{of}scale")("log")
    axis = getattr(axes, f"{of}axis")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _literal(text: str, most: int = MOST_SHOWN) -> str:
    """Text that matplotlib draws as it is: $...$ would be mathematics, and a legend hides what starts with _."""
    shown = "".join(c for c in " ".join(text.split()) if c.isprintable())
    shown = shown if len(shown) <= most else f"{shown[: most - 1]}…"
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
