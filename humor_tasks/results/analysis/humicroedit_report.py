"""Reports of a Humicroedit analysis as Markdown, JSON and a plot.

Markup in names and headlines is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from humor_tasks.data.tables import interval, plain, safe, table
from humor_tasks.data.writing import write_text
from humor_tasks.errors import BadInput
from humor_tasks.results.analysis.humicroedit import (
    ALL,
    ANTIPODAL,
    Analysis,
    BinnedErrors,
    ByGap,
    Miss,
    Overview,
    Solved,
)
from humor_tasks.scorers.estimate import Estimate

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
    if any(each.antipodal for each in analysis.systems):
        parts += ["## RMSE over the funniest and the least funny headlines, by rank", _antipodal(analysis.systems)]
    if analysis.solved:
        parts += ["## Pairs solved by exactly N systems", _solved(analysis.solved)]
        parts += ["## Pairs solved by difference in funniness", _by_gap(analysis.by_gap)]
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
    rows = [(s.systems, s.pairs, interval(s.share, 4), f"{s.independent:.4f}", interval(s.gap)) for s in solved]
    return table(("systems", "pairs", "share", "if errors were independent", "mean difference in funniness"), rows)


def _antipodal(systems: Sequence[Overview]) -> str:
    """Figure 3 of the paper: systems by their RMSE, the best first."""
    ranked = sorted(((s.rmse.value, s) for s in systems if s.rmse), key=lambda pair: pair[0])
    rows = [(i, s.name, f"{of:.4f}", *(f"{e.value:.4f}" for e in s.antipodal)) for i, (of, s) in enumerate(ranked, 1)]
    return table(("rank", "system", "RMSE", *(f"RMSE@{x}" for x in ANTIPODAL)), rows)


def _by_gap(found: Sequence[ByGap]) -> str:
    rows = [(f"{g.low:.1f} to {g.high:.1f}", g.solved.n, interval(g.solved, 4)) for g in found]
    return table(("difference of the mean grades", "pairs", "share of the systems that are right"), rows)


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
