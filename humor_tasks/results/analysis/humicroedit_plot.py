"""The figures of section 6 of Hossain et al. in one picture: error by funniness (2), antipodal RMSE by rank (3), pairs
solved by N systems with incongruity (4a), and right answers by the difference in funniness (4b).
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.data.writing import write_bytes
from humor_tasks.errors import BadInput
from humor_tasks.results.analysis.humicroedit import ANTIPODAL, Analysis
from humor_tasks.results.analysis.humicroedit_report import check_endings
from humor_tasks.scorers.estimate import Estimate


def plot(path: Path, analysis: Analysis) -> None:
    """Draw each figure that the systems allow, one below the other.

    Raises BadInput where there is nothing to draw, for another file type, and without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise BadInput('a picture needs matplotlib: pip install "humor-tasks[plot]"') from problem
    check_endings(None, path)
    panels: list[Callable[[Any, Analysis], None]] = []
    if analysis.errors:
        panels += [_errors, _antipodal]
    if analysis.solved:
        panels += [_solved, _by_gap]
    if not panels:
        raise BadInput("a picture needs a system that rates headlines, or pairs to compare; there is neither.")
    figure = Figure(figsize=(8, 5 * len(panels)))
    for axes, draw in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels, strict=True):
        draw(axes, analysis)
    figure.tight_layout()
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:], dpi=150, bbox_inches="tight")
    write_bytes(path, picture.getvalue())


def _errors(axes: Any, analysis: Analysis) -> None:
    """Figure 2: one line per system, over bars for the number of headlines in each bin."""
    errors = analysis.errors
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
        lines.append(_line(axes, [(b.low + b.high) / 2 for b in seen], [b.mae for b in seen]))
    axes.set_xlim(bins[0].low, bins[-1].high)
    axes.set_ylim(bottom=0)
    _name(axes, "error by funniness", "mean grade of the headline, bins of 0.2", "mean absolute error")
    rows.set_ylabel("headlines in the bin")
    _legend(axes, lines, [each.system for each in errors])


def _antipodal(axes: Any, analysis: Analysis) -> None:
    """Figure 3: the RMSE over all headlines, and over the X % funniest and least funny, of the systems by rank."""
    ranked = sorted(((s.rmse.value, s) for s in analysis.systems if s.rmse), key=lambda pair: pair[0])
    lines = [axes.plot(range(1, len(ranked) + 1), [value for value, _ in ranked], marker="o")[0]]
    for i in range(len(ANTIPODAL)):
        values = [s.antipodal[i].value for _, s in ranked]
        lines.append(axes.plot(range(1, len(ranked) + 1), values, marker="o", linestyle="--")[0])
    axes.set_xticks(range(1, len(ranked) + 1), [_literal(s.name) for _, s in ranked], rotation=30, ha="right")
    _name(axes, "RMSE over the funniest and least funny headlines", "systems by their RMSE", "RMSE")
    _legend(axes, lines, ["all headlines", *(f"{x} % at each end" for x in ANTIPODAL)])


def _solved(axes: Any, analysis: Analysis) -> None:
    """Figure 4a: the share of pairs that exactly N systems solve, and incongruity among them."""
    found = analysis.solved
    lines = [_line(axes, [s.systems for s in found], [s.share for s in found])]
    names = ["share of the pairs"]
    if analysis.incongruity:
        right = axes.twinx()
        lines.append(right.plot([e.value for e in analysis.incongruity.by_solved], "k--", marker="s")[0])
        right.set_ylabel("correlation of incongruity and label")
        names.append("incongruity")
    axes.set_xticks([s.systems for s in found])
    _name(axes, "pairs solved by exactly N systems", "systems", "share of the pairs")
    _legend(axes, lines, names)


def _by_gap(axes: Any, analysis: Analysis) -> None:
    """Figure 4b: the share of systems that solve a pair, by the difference of its mean grades."""
    _line(axes, [(g.low + g.high) / 2 for g in analysis.by_gap], [g.solved for g in analysis.by_gap])
    axes.set_ylim(0, 1)
    _name(axes, "right answers by difference in funniness", "difference of the mean grades", "share of the systems")


def _line(axes: Any, x: Sequence[float], found: Sequence[Estimate]) -> Any:
    around = [[_reach(e, end) for e in found] for end in (-1, 1)]
    return axes.errorbar(x, [e.value for e in found], yerr=around, marker="o", markersize=4, capsize=2)


def _name(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_title(f"Humicroedit: {title}")
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _legend(axes: Any, lines: Sequence[Any], names: Sequence[str]) -> None:
    shown = [_literal(name) for name in names]
    axes.legend(lines, shown, loc="upper left", bbox_to_anchor=(1.1, 1), frameon=False, fontsize=9)


def _reach(e: Estimate, end: int) -> float:
    """The length of an error bar, which does not extend below zero; 0 for an unknown interval."""
    half = e.high - e.value
    return 0.0 if math.isnan(half) else min(half, e.value) if end < 0 else half


def _literal(name: str) -> str:
    """Escape a name for matplotlib, which renders $...$ as mathematics and hides legend entries that start with _."""
    shown = name.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
