"""Charts as data, their Vega-Lite specification, and files of them (SVG, PNG, PDF) by vl-convert.

The report's page and files share one specification; they differ in colours, size and interaction (`Look`). All texts
are as the runs have them; the specification makes invisible characters visible. It is built by hand: which layers there
are depends on the data, and Altair would wrap each of these dictionaries in a class of its own.
"""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from humor_tasks.errors import BadInput
from humor_tasks.files.pages import style, visible
from humor_tasks.files.writing import write_bytes
from humor_tasks.scorers.estimate import Estimate

MISSING = 'pictures need vl-convert-python: pip install "humor-tasks[report]"'
ENDINGS = (".png", ".svg", ".pdf")
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
SNIPPET = "window.vegaEmbed = vegaEmbed;"
HEIGHT = 340  # pixels
WIDTH, WIDTH_OF_A_CATEGORY = 560, 30  # pixels, in files
SCALE = 2  # pixels of a PNG per pixel
COLOURS = 10
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
MOST_OF_A_NAME = 80  # characters
LINE_OF_A_NOTE = 110  # characters, in files


@dataclass(frozen=True)
class Point:
    """One point with its 95 % intervals; None where a limit is unknown.

    x: a number, or one of the axis's categories. x_low, x_high: of a bar, its edges. n: the number of items. label:
    what the point is, where it is not the series' name.
    """

    x: float | str
    y: float
    low: float | None = None
    high: float | None = None
    x_low: float | None = None
    x_high: float | None = None
    n: int | None = None
    label: str = ""


@dataclass(frozen=True)
class Series:
    """The points of one system. The style `line` connects them in their order; `bars` are drawn behind all else.

    right: whether the axis `Chart.right` counts and not `Chart.y`.
    """

    name: str
    points: tuple[Point, ...]
    style: Literal["points", "line", "bars"] = "points"
    right: bool = False


@dataclass(frozen=True)
class Reference:
    """A straight line across the chart: people, the best published system, chance."""

    label: str
    value: float
    axis: Literal["x", "y"] = "y"
    source: str = ""


@dataclass(frozen=True)
class Axis:
    """One axis.

    percent: the values are from 0 to 1 and shown in percent. categories: the values of a categorical axis in order.
    low, high: the limits; None where they follow from the points.
    """

    label: str
    log: bool = False
    percent: bool = False
    categories: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Chart:
    """One chart.

    name: the stem of the files. diagonal: whether y = x is drawn. note: what a reader has to know. source: the
    published figure that it follows. right: a second axis for y.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    references: tuple[Reference, ...] = ()
    diagonal: bool = False
    note: str = ""
    source: str = ""
    right: Axis | None = None


def point(x: float | str, e: Estimate, label: str = "") -> Point:
    """The point of an estimate at x."""
    low, high = known(e.low), known(e.high)
    return Point(x, e.value, low, high, n=e.n, label=label)


def known(value: float) -> float | None:
    """The number; None for nan."""
    return None if value != value else value


# ---- vl-convert ---------------------------------------------------------------------------------


def can_draw() -> bool:
    """Whether vl-convert-python, the extra `report`, is installed."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return False
    return True


@functools.cache
def library() -> str | None:
    """Vega, Vega-Lite and vega-embed as one script; None without the extra `report`."""
    try:
        import vl_convert
    except ImportError:
        return None
    # In a function, because the bundle's own names must not become names of the page.
    return f"(() => {{{vl_convert.javascript_bundle(SNIPPET)}}})();"


def check_ending(picture: Path | None) -> None:
    """Raise BadInput for a file type that is no picture, before anything is computed."""
    if picture and picture.suffix not in ENDINGS:
        raise BadInput(f"{picture}: a picture ends in {', '.join(ENDINGS)}.")


def write_picture(path: Path, charts: Sequence[Chart]) -> None:
    """Write one picture of these charts. Raises BadInput as `check_ending` and `drawn`."""
    check_ending(path)
    write_bytes(path, drawn(charts, path.suffix[1:]))


def drawn(charts: Sequence[Chart], form: str) -> bytes:
    """One picture (png, svg, pdf) of these charts, one below the other. Raises BadInput without vl-convert-python."""
    try:
        import vl_convert
    except ImportError as problem:
        raise BadInput(MISSING) from problem
    spec = {
        "$schema": SCHEMA,
        "config": _config(),
        "vconcat": [_titled(chart) for chart in charts],
        "resolve": {"scale": {"color": "independent", "shape": "independent"}},
        "spacing": 40,
    }
    offline: dict[str, Any] = {"allowed_base_urls": []}
    if form == "svg":
        return vl_convert.vegalite_to_svg(spec, **offline).encode()
    convert = vl_convert.vegalite_to_png if form == "png" else vl_convert.vegalite_to_pdf
    return convert(spec, scale=SCALE if form == "png" else 1, **offline)


def _config() -> dict[str, Any]:
    """The looks that the page's script gives the figures there, for paper."""
    ink, quiet, line = (_light()[name] for name in ("ink", "quiet", "line"))
    text = {"labelColor": ink, "titleColor": quiet, "labelFontSize": 12, "titleFontSize": 12}
    text |= {"titleFontWeight": "normal"}
    return {
        "background": "#fff",
        "font": "sans-serif",
        "view": {"stroke": None},
        "axis": {**text, "gridColor": line, "domainColor": quiet, "tickColor": quiet, "labelLimit": 200},
        "legend": {**text, "title": None, "labelLimit": 0, "symbolSize": 80, "offset": 30},
        "title": {"anchor": "start", "color": ink, "fontSize": 15, "subtitleColor": quiet, "subtitleFontSize": 11},
    }


@functools.cache
def _light() -> dict[str, str]:
    """The page's colours by the names of its variables; the light ones, which the style sheet has first."""
    return dict(reversed(re.findall(r"--([\w-]+): (#\w+)", style())))


def _titled(chart: Chart) -> dict[str, Any]:
    look = Look(tuple(_light()[f"s{i}"] for i in range(COLOURS)), _light()["quiet"], on_page=False)
    title = {"text": visible(chart.title), "subtitle": textwrap.wrap(visible(chart.note), LINE_OF_A_NOTE)}
    width = max(WIDTH, WIDTH_OF_A_CATEGORY * len(chart.x.categories))
    return {"title": title, "width": width, "height": HEIGHT, **_layers(chart, look)}


# ---- Vega-Lite ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """Colours, and whether names in the legend can be clicked and points tell their numbers."""

    series: tuple[str, ...]
    quiet: str
    on_page: bool


PAGE = Look(tuple(f"var(--s{i})" for i in range(COLOURS)), "var(--quiet)", on_page=True)


def specification(chart: Chart) -> dict[str, Any]:
    """The chart for the page, which adds fonts and has its colours as CSS variables."""
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        **_layers(chart, PAGE),
    }


def _layers(chart: Chart, look: Look) -> dict[str, Any]:
    names = _names([series for series in chart.series if series.style != "bars"])
    left, right = ([s for s in chart.series if s.right == second] for second in (False, True))
    rows = _rows(chart, left, names)
    behind = [*_references(chart.references, look), *([_diagonal(chart, look)] if chart.diagonal else [])]
    layers = [*behind, *_marks(chart, chart.y, left, rows, names, look)]
    if chart.right is None:
        return {"data": {"values": rows}, "layer": layers}
    others = _rows(chart, right, names)
    second = {"data": {"values": others}, "layer": _marks(chart, chart.right, right, others, names, look)}
    # The bars of a second axis are behind the lines of the first.
    return {"data": {"values": rows}, "layer": [second, {"layer": layers}], "resolve": {"scale": {"y": "independent"}}}


def _marks(
    chart: Chart,
    y: Axis,
    series: Sequence[Series],
    rows: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    look: Look,
) -> list[dict[str, Any]]:
    """The layers of these series: bars, intervals, lines, points."""
    styles = {s.style for s in series}
    domain = list(names.values())
    place = {"x": _position(chart.x, "x"), "y": _position(y, "y", right=y is chart.right)}
    if "bars" in styles:
        edges = {"x": {**place["x"], "field": "x_low"}, "x2": {"field": "x_high"}, "y": place["y"], "y2": {"datum": 0}}
        return [{"mark": {"type": "rect", "color": look.quiet, "opacity": 0.2}, "encoding": edges}]
    side_by_side = chart.x.categories and len(domain) > 1 and "line" not in styles
    dodged = {"xOffset": {"field": "system", "sort": domain}} if side_by_side else {}
    colours = [look.series[i % COLOURS] for i in range(len(domain))]
    shapes = [SHAPES[i % len(SHAPES)] for i in range(len(domain))]
    colour = {"field": "system", "type": "nominal", "scale": {"domain": domain, "range": colours}}
    shape = {"field": "system", "type": "nominal", "scale": {"domain": domain, "range": shapes}}
    faded = {"opacity": {"condition": {"param": "chosen", "value": 1}, "value": 0.15}} if look.on_page else {}
    layers: list[dict[str, Any]] = []
    for axis, other, low, high in (("y", "x", "low", "high"), ("x", "y", "x_low", "x_high")):
        if any(row[low] is not None for row in rows):
            ends = {axis: {**place[axis], "field": low}, f"{axis}2": {"field": high}, other: place[other]}
            layers.append(
                {
                    "transform": [{"filter": f"isValid(datum.{low}) && isValid(datum.{high})"}],
                    "mark": {"type": "rule", "strokeWidth": 1.5, "clip": True},
                    "encoding": {**ends, **(dodged if axis == "y" else {}), "color": colour, **faded},
                }
            )
    lines = sorted({names[s.name] for s in series if s.style == "line"})
    if lines:
        connected = {**place, **dodged, "color": colour, **faded, "order": {"field": "order"}}
        of_lines = {"filter": {"field": "system", "oneOf": lines}}
        layers.append({"transform": [of_lines], "mark": {"type": "line"}, "encoding": connected})
    points: dict[str, Any] = {
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
        "encoding": {**place, **dodged, "color": colour, "shape": shape, **faded},
    }
    if look.on_page:
        points["params"] = [{"name": "chosen", "select": {"type": "point", "fields": ["system"]}, "bind": "legend"}]
        points["encoding"]["tooltip"] = [{"field": name, "title": title} for name, title in _tooltip(chart, rows)]
    return [*layers, points]


def _name(text: str) -> str:
    whole = visible(text)
    return whole if len(whole) <= MOST_OF_A_NAME else f"{whole[: MOST_OF_A_NAME - 1]}…"


def _names(series: Sequence[Series]) -> dict[str, str]:
    """Name of a series -> the name in the figure; long names with the same beginning are numbered."""
    named: dict[str, str] = {}
    for one in series:
        short = _name(one.name)
        alike = sum(other.startswith(short) for other in named.values()) if one.name not in named else 0
        named.setdefault(one.name, f"{short} ({alike + 1})" if alike and short.endswith("…") else short)
    return named


def _rows(chart: Chart, series: Sequence[Series], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """One row per point with a value; `order` is the order in which a line connects them."""
    pairs = [(names.get(s.name, s.name), p) for s in series for p in s.points if p.y == p.y]
    return [
        {
            "system": system,
            "x": _name(p.x) if isinstance(p.x, str) else p.x,
            "y": p.y,
            "low": p.low,
            "high": p.high,
            "x_low": p.x_low,
            "x_high": p.x_high,
            "n": p.n,
            "label": _name(p.label),
            "told_x": number(chart.x, p.x, p.x_low, p.x_high),
            "told_y": number(chart.y, p.y, p.low, p.high),
            "order": i,
        }
        for i, (system, p) in enumerate(pairs)
    ]


def _tooltip(chart: Chart, rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The entries of a point's tooltip: fields and their titles."""
    entries = [("system", "system"), ("told_x", visible(chart.x.label)), ("told_y", visible(chart.y.label))]
    entries += [("n", "n")] if any(row["n"] is not None for row in rows) else []
    return [*entries, ("label", "point")] if any(row["label"] for row in rows) else entries


def number(axis: Axis, value: float | str, low: float | None = None, high: float | None = None) -> str:
    """A coordinate in words: "62.3 % [58.1, 66.4]"."""
    if isinstance(value, str):
        return _name(value)
    scale, digits = (100, "{:.1f}") if axis.percent else (1, "{:.4g}")
    text = digits.format(scale * value) + (" %" if axis.percent else "")
    if low is None or high is None:
        return text
    return f"{text} [{digits.format(scale * low)}, {digits.format(scale * high)}]"


def _position(axis: Axis, channel: str, right: bool = False) -> dict[str, Any]:
    title = visible(axis.label) + (" (log scale)" if axis.log else "")
    position: dict[str, Any] = {"field": channel, "title": title}
    if axis.categories:
        names = [_name(name) for name in axis.categories]
        upright = {"labelAngle": 0} if sum(map(len, names)) < 60 else {"labelAngle": -35}
        return position | {"type": "nominal", "scale": {"domain": names}, "axis": {**upright, "grid": False}}
    scale: dict[str, Any] = {"type": "log"} if axis.log else {"zero": False}
    scale |= {"nice": False, "padding": 15} if axis.low is None and axis.high is None else {"nice": False}
    scale |= {"domainMin": axis.low} if axis.low is not None else {}
    scale |= {"domainMax": axis.high} if axis.high is not None else {}
    form: dict[str, Any] = {"format": ".0%"} if axis.percent else {"format": "~g"} if axis.log else {}
    form |= {"orient": "right", "grid": False} if right else {}
    return position | {"type": "quantitative", "scale": scale, "axis": {"tickCount": 6, **form}}


def _references(references: Sequence[Reference], look: Look) -> list[dict[str, Any]]:
    """Dashed lines with their labels, at both ends by turns, so that labels of near values do not overlap."""
    layers = []
    for axis in ("x", "y"):
        lines = sorted(
            (reference for reference in references if reference.axis == axis), key=lambda reference: reference.value
        )
        for i, line in enumerate(lines):
            datum = {axis: {"datum": line.value, "type": "quantitative"}}
            rule = {"type": "rule", "strokeDash": [5, 4], "color": look.quiet}
            end, align = ("width", "right") if i % 2 else (0, "left")
            text = {"type": "text", "text": _name(line.label), "color": look.quiet, "fontSize": 11}
            text |= {"baseline": "bottom"}
            at: dict[str, Any] = {"align": align, "x": end, "dx": -4 if i % 2 else 4, "dy": -3}
            if axis == "x":
                at = {"align": "right", "y": 0, "angle": 270, "dx": -4, "dy": -3}
            once: dict[str, Any] = {"data": {"values": [{}]}, "encoding": datum}
            layers += [{**once, "mark": rule}, {**once, "mark": text | at}]
    return layers


def _diagonal(chart: Chart, look: Look) -> dict[str, Any]:
    points = [p for s in chart.series for p in s.points if not isinstance(p.x, str)]
    of_x = [p.x for p in points] + [p.x_low for p in points] + [p.x_high for p in points] + [chart.x.low, chart.x.high]
    of_y = [p.y for p in points] + [p.low for p in points] + [p.high for p in points] + [chart.y.low, chart.y.high]
    xs, ys = ([x for x in values if isinstance(x, float | int)] or [0.0] for values in (of_x, of_y))
    low, high = max(min(xs), min(ys)), min(max(xs), max(ys))  # the square that both axes show
    ends = [{"x": low, "y": low}, {"x": high, "y": high}] if low < high else []
    mark = {"type": "line", "strokeDash": [2, 3], "color": look.quiet, "strokeWidth": 1}
    along = {name: {"field": name, "type": "quantitative"} for name in ("x", "y")}
    return {"data": {"values": ends}, "mark": mark, "encoding": along}
