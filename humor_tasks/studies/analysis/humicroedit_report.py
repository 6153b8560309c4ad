"""Reports of a Humicroedit analysis as Markdown, JSON and a plot.

Markup in names and headlines is escaped.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from humor_tasks.data.writing import write_bytes, write_text
from humor_tasks.errors import BadInput
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.studies.analysis.humicroedit import ALL, Analysis, BinnedErrors, Miss, Solved
from humor_tasks.studies.analysis.tables import interval, plain, safe, table

REPORTS = (".md", ".json")
PICTURES = (".png", ".svg", ".pdf")


def check_endings(report: Path | None, picture: Path | None) -> None:
    """Raise BadInput for unsupported file extensions, before anything is computed."""
    if report and report.suffix not in REPORTS:
        raise BadInput(f"{report}: a report ends in {', '.join(REPORTS)}.")
    if picture and picture.suffix not in PICTURES:
        raise BadInput(f"{picture}: a picture ends in {', '.join(PICTURES)}.")


def write_report(path: Path, analysis: Analysis) -> None:
    """Write Markdown or JSON, by the file's extension."""
    check_endings(path, None)
    write_text(path, as_json(analysis) if path.suffix == ".json" else as_markdown(analysis))


def as_json(analysis: Analysis) -> str:
    """The fields of the analysis as JSON; unknown values (nan) are null."""
    return json.dumps(plain(analysis), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


# ---- Markdown -----------------------------------------------------------------------------------


def as_markdown(analysis: Analysis) -> str:
    """One section per analysis; the notes name the sections that these systems do not allow, which are left out."""
    parts = ["# Humicroedit: several systems", _systems(analysis)]
    if analysis.solved:
        parts += ["## Pairs solved by exactly N systems", _solved(analysis.solved)]
    if analysis.incongruity:
        found = analysis.incongruity
        parts.append("## Incongruity")
        parts.append(
            "Correlation of distance(old, new) of the second edit less that of the first with the label: "
            f"{interval(found.correlation, 4)}, {found.correlation.n} pairs, {found.words} distinct words. "
            "Among the pairs that exactly N systems solved:"
        )
        parts.append(_incongruity(found.by_solved))
    for each in analysis.misses:
        for how, rows in (("Underestimated", each.underestimated), ("Overestimated", each.overestimated)):
            if rows:
                title = f"{how} by all systems" if each.system == ALL else f"{how} most: {safe(each.system)}"
                parts += [f"## {title}", _misses(rows)]
    if analysis.errors:
        parts += ["## Mean absolute error by funniness", _errors(analysis.errors)]
    if analysis.notes:
        parts += ["## Notes", "\n".join(f"- {safe(note)}" for note in analysis.notes)]
    return "\n\n".join(parts) + "\n"


def _systems(analysis: Analysis) -> str:
    rows = [
        (s.name, s.subtask, s.answers, s.unread, interval(s.rmse, 4), interval(s.solved, 4)) for s in analysis.systems
    ]
    return table(("system", "subtask", "answers", "unread", "RMSE", "pairs solved"), rows)


def _solved(solved: Sequence[Solved]) -> str:
    rows = [(s.systems, s.pairs, interval(s.share, 4), f"{s.independent:.4f}") for s in solved]
    return table(("systems", "pairs", "share", "if errors were independent"), rows)


def _incongruity(by_solved: Sequence[Estimate]) -> str:
    return table(("systems", "pairs", "correlation"), [(n, e.n, interval(e, 4)) for n, e in enumerate(by_solved)])


def _misses(rows: Iterable[Miss]) -> str:
    cells = [(m.id, m.text, f"{m.gold:.2f}", f"{m.predicted:.2f}", f"{m.error:+.2f}") for m in rows]
    return table(("id", "headline", "gold", "predicted", "error"), cells)


def _errors(errors: Sequence[BinnedErrors]) -> str:
    rows = []
    for i, b in enumerate(errors[0].bins):
        cells = [f"{e.bins[i].mae.value:.4f} ({e.bins[i].mae.n})" if e.bins[i].mae.n else "-" for e in errors]
        rows.append((b.name.removeprefix("mae"), *cells))
    return table(("mean grade", *(f"{e.system} (rows)" for e in errors)), rows)


# ---- plot ---------------------------------------------------------------------------------------


def plot(path: Path, errors: Sequence[BinnedErrors]) -> None:
    """Plot mean absolute error by funniness, one line per system, over bars for the number of headlines in each bin.

    Raises BadInput without a system that rates headlines, for another file type, and without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise BadInput('a picture needs matplotlib: pip install "humor-tasks[plot]"') from problem
    check_endings(None, path)
    if not errors:
        raise BadInput("a picture of errors needs a system that rates headlines; these pick from pairs.")
    figure = Figure(figsize=(8, 5))
    axes = figure.subplots()
    rows = axes.twinx()
    rows.set_zorder(0)
    axes.set_zorder(1)
    axes.patch.set_visible(False)  # show the bars behind the lines
    bins = errors[0].bins
    counts = [max(each.bins[i].mae.n for each in errors) for i in range(len(bins))]
    rows.bar([b.low for b in bins], counts, [b.high - b.low for b in bins], align="edge", color="0.9", edgecolor="1")
    lines = []
    for each in errors:
        seen = [b for b in each.bins if b.mae.n]
        middles, values = [(b.low + b.high) / 2 for b in seen], [b.mae.value for b in seen]
        around = [[_reach(b.mae, end) for b in seen] for end in (-1, 1)]
        lines.append(axes.errorbar(middles, values, yerr=around, marker="o", markersize=4, capsize=2))
    axes.set_xlim(bins[0].low, bins[-1].high)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("mean grade of the headline, bins of 0.2")
    axes.set_ylabel("mean absolute error, with 95 % interval")
    rows.set_ylabel("headlines in the bin")
    axes.set_title("Humicroedit: error by funniness")
    names = [_literal(each.system) for each in errors]
    axes.legend(lines, names, loc="upper left", bbox_to_anchor=(1.1, 1), frameon=False, fontsize=9)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:], dpi=150, bbox_inches="tight")
    write_bytes(path, picture.getvalue())


def _reach(e: Estimate, end: int) -> float:
    """The length of an error bar, which does not extend below zero; 0 for an unknown interval."""
    half = e.high - e.value
    return 0.0 if math.isnan(half) else min(half, e.value) if end < 0 else half


def _literal(name: str) -> str:
    """Escape a name for matplotlib, which renders $...$ as mathematics and hides legend entries that start with _."""
    shown = name.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
