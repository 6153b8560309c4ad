"""Charts -> Vega-Lite, drawn on the page by Vega, which the package vl-convert-python carries."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from humor_tasks.data.pages import visible
from humor_tasks.results.report.chart import Axis, Chart, Point, Reference, Series

HEIGHT = 340  # pixels
SNIPPET = "window.vegaEmbed = vegaEmbed;"
COLOURS = 10
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
MOST_OF_A_NAME = 80  # characters
QUIET = "var(--quiet)"


@functools.cache
def library() -> str | None:
    """Vega, Vega-Lite and vega-embed as one script; None without the extra `report`."""
    try:
        import vl_convert
    except ImportError:
        return None
    # In a function, because the bundle's own names must not become names of the page.
    return f"(() => {{{vl_convert.javascript_bundle(SNIPPET)}}})();"


def specification(chart: Chart) -> dict[str, Any]:
    """The chart as a Vega-Lite specification without colours and fonts, which the page adds.

    The names of systems can be clicked in the legend, and points tell their numbers.
    """
    named = _names(chart.series)
    names = list(named.values())
    rows = [_row(chart, named[s.name], point) for s in chart.series for point in s.points if point.y == point.y]
    lines = {named[series.name] for series in chart.series if series.style == "line"}
    x, y = _position(chart.x, "x"), _position(chart.y, "y")
    dodged = {"xOffset": {"field": "system", "sort": names}} if chart.x.categories and len(names) > 1 else {}
    place = {"x": x, "y": y, **dodged}
    colour = {"field": "system", "type": "nominal", "scale": {"domain": names, "range": _range(names, "var(--s{})")}}
    shape = {"field": "system", "type": "nominal", "scale": {"domain": names, "range": _shapes(names)}}
    faded = {"condition": {"param": "chosen", "value": 1}, "value": 0.15}
    layers: list[dict[str, Any]] = [*_references(chart.references), *([_diagonal(chart)] if chart.diagonal else [])]
    for axis, other in (("y", "x"), ("x", "y")):
        low, high = ("low", "high") if axis == "y" else ("x_low", "x_high")
        if any(row[low] is not None for row in rows):
            ends = {axis: {**place[axis], "field": low}, f"{axis}2": {"field": high}, other: place[other]}
            known = {"filter": f"isValid(datum.{low}) && isValid(datum.{high})"}
            encoding = {**ends, **(dodged if axis == "y" else {}), "color": colour, "opacity": faded}
            layers.append(
                {"transform": [known], "mark": {"type": "rule", "strokeWidth": 1.5, "clip": True}, "encoding": encoding}
            )
    if lines:
        connected = {**place, "color": colour, "opacity": faded, "order": {"field": "order"}}
        of_lines = {"filter": {"field": "system", "oneOf": sorted(lines)}}
        layers.append({"transform": [of_lines], "mark": {"type": "line"}, "encoding": connected})
    told = [{"field": name, "title": title} for name, title in _told(chart, rows)]
    layers.append(
        {
            "params": [{"name": "chosen", "select": {"type": "point", "fields": ["system"]}, "bind": "legend"}],
            "mark": {"type": "point", "filled": True, "size": 80},
            "encoding": {**place, "color": colour, "shape": shape, "opacity": faded, "tooltip": told},
        }
    )
    rows = [{**row, "order": i} for i, row in enumerate(rows)]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": rows},
        "layer": layers,
    }


def _name(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= MOST_OF_A_NAME else f"{shown[: MOST_OF_A_NAME - 1]}…"


def _names(series: Sequence[Series]) -> dict[str, str]:
    """Name of a series -> the name in the figure; long names with the same beginning are numbered."""
    named: dict[str, str] = {}
    for each in series:
        short = _name(each.name)
        alike = sum(other.startswith(short) for other in named.values()) if each.name not in named else 0
        named.setdefault(each.name, f"{short} ({alike + 1})" if alike and short.endswith("…") else short)
    return named


def _range(names: Sequence[str], pattern: str) -> list[str]:
    return [pattern.format(i % COLOURS) for i in range(len(names))]


def _shapes(names: Sequence[str]) -> list[str]:
    return [SHAPES[i % len(SHAPES)] for i in range(len(names))]


def _row(chart: Chart, system: str, point: Point) -> dict[str, Any]:
    return {
        "system": system,
        "x": _name(point.x) if isinstance(point.x, str) else point.x,
        "y": point.y,
        "low": point.low,
        "high": point.high,
        "x_low": point.x_low,
        "x_high": point.x_high,
        "n": point.n,
        "label": _name(point.label),
        "told_x": number(chart.x, point.x, point.x_low, point.x_high),
        "told_y": number(chart.y, point.y, point.low, point.high),
    }


def _told(chart: Chart, rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The entries of a point's tooltip: fields and their titles."""
    told = [("system", "system"), ("told_x", visible(chart.x.label)), ("told_y", visible(chart.y.label))]
    told += [("n", "n")] if any(row["n"] is not None for row in rows) else []
    return [*told, ("label", "point")] if any(row["label"] for row in rows) else told


def number(axis: Axis, value: float | str, low: float | None = None, high: float | None = None) -> str:
    """A coordinate in words: "62.3 % [58.1, 66.4]"."""
    if isinstance(value, str):
        return _name(value)
    scale, digits = (100, "{:.1f}") if axis.percent else (1, "{:.4g}")
    shown = digits.format(scale * value) + (" %" if axis.percent else "")
    if low is None or high is None:
        return shown
    return f"{shown} [{digits.format(scale * low)}, {digits.format(scale * high)}]"


def _position(axis: Axis, channel: str) -> dict[str, Any]:
    shown: dict[str, Any] = {"field": channel, "title": visible(axis.label)}
    if axis.categories:
        names = [_name(name) for name in axis.categories]
        upright = {"labelAngle": 0} if sum(map(len, names)) < 60 else {"labelAngle": -35}
        return shown | {"type": "nominal", "scale": {"domain": names}, "axis": {**upright, "grid": False}}
    scale: dict[str, Any] = {"type": "log"} if axis.log else {"zero": False}
    scale |= {"nice": False, "padding": 15} if axis.low is None and axis.high is None else {"nice": False}
    scale |= {"domainMin": axis.low} if axis.low is not None else {}
    scale |= {"domainMax": axis.high} if axis.high is not None else {}
    form = {"format": ".0%"} if axis.percent else {"format": "~g"} if axis.log else {}
    return shown | {"type": "quantitative", "scale": scale, "axis": {"tickCount": 6, **form}}


def _references(references: Sequence[Reference]) -> list[dict[str, Any]]:
    """Dashed lines with their labels, at both ends by turns, so that labels of near values do not overlap."""
    layers = []
    for axis in ("x", "y"):
        lines = sorted((each for each in references if each.axis == axis), key=lambda each: each.value)
        for i, line in enumerate(lines):
            datum = {axis: {"datum": line.value, "type": "quantitative"}}
            rule = {"type": "rule", "strokeDash": [5, 4], "color": QUIET}
            end, align = ("width", "right") if i % 2 else (0, "left")
            text = {"type": "text", "text": _name(line.label), "color": QUIET, "fontSize": 11, "baseline": "bottom"}
            at: dict[str, Any] = {"align": align, "x": end, "dx": -4 if i % 2 else 4, "dy": -3}
            if axis == "x":
                at = {"align": "right", "y": 0, "angle": 270, "dx": -4, "dy": -3}
            once: dict[str, Any] = {"data": {"values": [{}]}, "encoding": datum}
            layers += [{**once, "mark": rule}, {**once, "mark": text | at}]
    return layers


def _diagonal(chart: Chart) -> dict[str, Any]:
    points = [p for s in chart.series for p in s.points if not isinstance(p.x, str)]
    of_x = [p.x for p in points] + [p.x_low for p in points] + [p.x_high for p in points] + [chart.x.low, chart.x.high]
    of_y = [p.y for p in points] + [p.low for p in points] + [p.high for p in points] + [chart.y.low, chart.y.high]
    xs, ys = ([x for x in found if isinstance(x, float | int)] or [0.0] for found in (of_x, of_y))
    low, high = max(min(xs), min(ys)), min(max(xs), max(ys))  # the square that both axes show
    ends = [{"x": low, "y": low}, {"x": high, "y": high}] if low < high else []
    mark = {"type": "line", "strokeDash": [2, 3], "color": QUIET, "strokeWidth": 1}
    along = {name: {"field": name, "type": "quantitative"} for name in ("x", "y")}
    return {"data": {"values": ends}, "mark": mark, "encoding": along}
