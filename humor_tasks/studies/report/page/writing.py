"""The page as one file."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path

from humor_tasks._version import __version__
from humor_tasks.studies.report.build import Report
from humor_tasks.studies.report.page import sections
from humor_tasks.studies.report.page.embedding import json_block, policy, script
from humor_tasks.studies.report.page.figures import library
from humor_tasks.studies.report.page.gallery import gallery
from humor_tasks.studies.report.page.names import names_of
from humor_tasks.studies.report.page.plots import STILL, figures
from humor_tasks.studies.report.table import shown_name

FOLDER = Path(__file__).parent
_SLOT = re.compile(r"\[\[([a-z]+)\]\]")
TITLE = "Results of humor-tasks"


def page(report: Report) -> str:
    """The page: one HTML file that needs no other file and no network."""
    results = report.results.results
    names = names_of(results, report.scorecard)
    parts = {"scorecard": ("Scorecard", sections.warnings(report) + sections.scorecard(report.scorecard))}
    plots, specifications = figures(report.charts)
    if report.charts:
        parts["figures"] = ("Figures", plots)
    for key, lines in report.judged.items():
        parts[key] = (f"{shown_name(lines)} with tokens and cost", sections.judged(lines))
    if report.results.left_out:
        parts["left-out"] = ("Files that were left out", sections.left_out(report))
    made = sections.section("made", "How this was made", sections.how_made(results, names))
    scripts = [script(source) for source in _scripts(bool(specifications))]
    body = "".join(sections.section(key, title, inside) for key, (title, inside) in parts.items())
    data = json_block("charts", specifications)
    items = gallery(results, names, len(body) + len(made) + len(data) + sum(map(len, scripts)))
    shown = filled("gallery.html", {"notes": "".join(f'<p class="notice">{html.escape(n)}</p>' for n in items.notes)})
    titles = {key: title for key, (title, _) in parts.items()} | {"gallery": "Items", "made": "How this was made"}
    return filled(
        "page.html",
        {
            "policy": policy(scripts),
            "title": TITLE,
            "style": _read("page.css"),
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
    return [] if not report.charts or library() else [STILL]


def _scripts(drawn: bool) -> list[str]:
    return [*([library() or "", _read("figures.js")] if drawn else []), _read("gallery.js")]


def filled(template: str, slots: Mapping[str, str]) -> str:
    """The template with its slots filled; what fills a slot is not read again."""
    return _SLOT.sub(lambda found: slots[found[1]], _read(template))


def _read(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")
