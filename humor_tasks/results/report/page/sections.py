"""The sections of the page but the gallery, as HTML. Every text of a run is escaped by `shown`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from humor_tasks.benchmarks.metric import Metric
from humor_tasks.data.pages.parts import bullets, name, scrolling
from humor_tasks.data.pages.texts import shown
from humor_tasks.data.published import Figure as Published
from humor_tasks.results import Result
from humor_tasks.results.report.build import Report
from humor_tasks.results.report.grouping import Group
from humor_tasks.results.report.scorecard import Cell, Column, Scorecard
from humor_tasks.results.report.table import group_table, published_text, score_and_cost, value_text
from humor_tasks.scorers.estimate import Estimate

MOST_UPRIGHT = 6
"""Columns of a scorecard that fit on upright paper."""


def warnings(report: Report) -> str:
    """The report's warnings."""
    found = bullets(report.warnings)
    return f'<div class="notice" role="note"><strong>Beware</strong>{found}</div>' if found else ""


# ---- scorecard ----------------------------------------------------------------------------------


def scorecard(card: Scorecard) -> str:
    """Systems by columns, people and the best published figure below, and what the columns hold."""
    told = (
        "Each value with its 95 % confidence interval; the best of a column is bold. The arrow points to better values."
    )
    head = '<th scope="col">System</th>' + "".join(map(_head, card.columns))
    rows = "".join(_row(system, card) for system in card.systems)
    published = "".join(
        f'<tr><th scope="row">{title}</th>{"".join(_published(getattr(c, kind), c, kind) for c in card.columns)}</tr>'
        for kind, title in PUBLISHED.items()
        if any(getattr(column, kind) for column in card.columns)
    )
    many = " many" if len(card.columns) > MOST_UPRIGHT else ""
    table = (
        f'<table class="scorecard{many}"><caption>{told}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>'
        f'<tbody class="published">{published}</tbody></table>'
    )
    groups = "".join(_group(group, card.columns) for group in card.groups)
    return scrolling("Scorecard", table) + _sources(card.columns) + groups


def _row(system: str, card: Scorecard) -> str:
    cells = "".join(_cells(card.cells(system, column), column.metric) for column in card.columns)
    return f'<tr><th scope="row">{name(system)}</th>{cells}</tr>'


PUBLISHED = {"human": "People, published", "best": "Best system, published"}
"""Field of a column -> the row of the scorecard."""


def _sources(columns: Sequence[Column]) -> str:
    """The published figures with their sources, each once."""
    found: dict[str, None] = {}
    for column in columns:
        for kind, title in PUBLISHED.items():
            figure = getattr(column, kind)
            if figure is not None:
                told = published_text(figure, column.metric)
                found[f"{title}, {column.benchmark.name} {column.estimate}: {told}. {figure.source}."] = None
    return f"<details><summary>Sources of the published figures</summary>{bullets(found)}</details>" if found else ""


def _head(column: Column) -> str:
    percent = ", %" if column.metric.proportion else ""
    arrow = "↑" if column.metric.direction == "higher" else "↓"
    apart = "; ".join(each for each in (column.group and f"group {column.group}", column.setting) if each)
    lines = f"{shown(column.benchmark.name)}<small>{shown(column.estimate)}{percent} {arrow}</small>"
    return f'<th scope="col" id="{column.key}">{lines}{f"<small>{shown(apart)}</small>" if apart else ""}</th>'


def _cells(cells: Sequence[Cell], metric: Metric) -> str:
    if not cells:
        return "<td>–</td>"
    best = ' class="best"' if any(cell.rank == 1 for cell in cells) else ""
    return f"<td{best}>{''.join(_cell(cell, metric) for cell in cells)}</td>"


def _cell(cell: Cell, metric: Metric) -> str:
    notes = "".join(f"<small>{shown(note)}</small>" for note in (cell.label, *cell.notes) if note)
    return f'<div class="cell">{value(cell.estimate, metric)}{notes}</div>'


def value(e: Estimate, metric: Metric) -> str:
    """A value with its interval; the attribute has it with all digits."""
    if math.isnan(e.value):
        return "–"
    low, high = (value_text(x, metric) for x in (e.low, e.high))
    interval = "" if math.isnan(e.low) else f'<small class="interval">[{low}, {high}]</small>'
    return f'<b data-value="{e.value!r}">{value_text(e.value, metric)}</b>{interval}'


def _published(figure: Published | None, column: Column, kind: str) -> str:
    if figure is None:
        return "<td>–</td>"
    shown_value = f'<b data-value="{figure.value!r}">{value_text(figure.value, column.metric)}</b>'
    apart = f"<small>{shown(column.others[kind])}</small>" if column.others[kind] else ""
    return f"<td>{shown_value}<small>{shown(figure.system, 200)}</small>{apart}</td>"


def _group(group: Group, columns: Sequence[Column]) -> str:
    """What the results of a group share, and what must be known before they are compared."""
    title = shown(group.benchmark.card.title) + (f", group {shown(group.name)}" if group.name else "")
    own = [c for c in columns if (c.benchmark.name, c.group) == (group.benchmark.name, group.name)]
    protocols = "; ".join(dict.fromkeys(column.protocol for column in own if column.protocol))
    about = dict(group.about) | ({"setting": protocols} if protocols else {})
    facts = "".join(f"<dt>{shown(key)}</dt><dd>{shown(text, 400)}</dd>" for key, text in about.items())
    beside = {text: None for column in own for text in column.beside}
    parts = {
        "Does not compare with the first group of this benchmark": group.apart,
        "Differs between these runs": group.differences,
        "Beside the published figures": tuple(beside),
    }
    told = "".join(f"<p>{head}:</p>{bullets(texts)}" for head, texts in parts.items() if texts)
    return f'<div class="card"><h3>{title}</h3><dl class="facts">{facts}</dl>{told}</div>'


# ---- runs with tokens and cost ------------------------------------------------------------------

_NUMBER = ' class="number"'


def runs(report: Report) -> str:
    """The table of each group: one row per run, with tokens, cost and missing verdicts."""
    return "".join(_runs(report, group) for group in report.scorecard.groups)


def _runs(report: Report, group: Group) -> str:
    head, rows = group_table(group, report.scorecard.columns, report.results.results, report.spent)
    title = group.benchmark.card.title + (f", group {group.name}" if group.name else "")
    percent = ", %" if group.benchmark.metrics[0].proportion else ""
    titles = "".join(f'<th scope="col">{shown(text + (percent if text == "score" else ""))}</th>' for text in head)
    body = "".join(f"<tr>{''.join(map(_run_cell, head, row))}</tr>" for row in rows)
    caption = f"<caption>{shown(' '.join(filter(None, [f'{title}.', score_and_cost(group, report.spent)])))}</caption>"
    return scrolling(title, f"<table>{caption}<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>")


def _run_cell(title: str, text: str) -> str:
    if title == "system":
        return f'<th scope="row">{name(text)}</th>'
    kind = "" if title in ("setting", "part", "graders") else _NUMBER
    return f"<td{kind}>{shown('–' if text == '-' else text)}</td>"


# ---- left out, and how it was made --------------------------------------------------------------


def left_out(report: Report) -> str:
    """The files without a result, and why."""
    rows = "".join(
        f"<tr><th scope='row'>{shown(each.path)}</th><td class='wide'>{shown(each.why)}</td></tr>"
        for each in report.results.left_out
    )
    head = '<th scope="col">File</th><th scope="col">Why</th>'
    return scrolling("Files left out", f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")


def how_made(results: Sequence[Result], names: Sequence[str]) -> str:
    """Every run with its files, versions and signature."""
    titles = ("System", "Benchmark", "Harness", "Scored by", "Replies", "Run at", "Files", "Signature")
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    rows = "".join(
        f'<tr><th scope="row">{name(system)}</th><td>{shown(result.benchmark.name)}</td>'
        f"<td>{shown(result.run.harness)}</td><td>{shown(result.scorer)}</td>"
        f"<td{_NUMBER}>{len(result.outcomes):,}</td><td>{shown(result.run.created or '–')}</td>"
        f'<td class="wide">{shown(", ".join(map(str, result.paths)))}</td>'
        f'<td class="wide"><code>{shown(result.run.signature)}</code></td></tr>'
        for result, system in zip(results, names, strict=True)
    )
    return scrolling("Runs", f'<table class="runs"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>')
