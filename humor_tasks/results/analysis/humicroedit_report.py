"""Reports of a Humicroedit analysis as Markdown, JSON and a picture.

Markup in names and headlines is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from humor_tasks.errors import BadInput
from humor_tasks.files.tables import interval, json_text, safe, table
from humor_tasks.files.writing import write_text
from humor_tasks.results.analysis.humicroedit import (
    ALL,
    ANTIPODAL,
    Analysis,
    BinnedErrors,
    ByGap,
    Incongruity,
    Miss,
    Overview,
    Solved,
)
from humor_tasks.results.figures import Axis, Chart, Point, Series, check_ending, point, write_picture
from humor_tasks.scorers.estimate import Estimate

REPORTS = (".md", ".json")


def check_endings(report: Path | None, picture: Path | None) -> None:
    """Raise BadInput for unsupported file extensions, before anything is computed."""
    if report and report.suffix not in REPORTS:
        raise BadInput(f"{report}: a report ends in {', '.join(REPORTS)}.")
    check_ending(picture)


def write_report(path: Path, analysis: Analysis) -> None:
    """Write Markdown or JSON, by the file's extension."""
    check_endings(path, None)
    write_text(path, as_json(analysis) if path.suffix == ".json" else as_markdown(analysis))


def as_json(analysis: Analysis) -> str:
    """The fields of the analysis as JSON; unknown values (nan) are null."""
    return json_text(analysis)


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


# ---- figures ------------------------------------------------------------------------------------


def plot(path: Path, analysis: Analysis) -> None:
    """Draw the figures of section 6 of Hossain et al. that the systems allow, one below the other.

    Raises BadInput where there is nothing to draw, for another file type, and without vl-convert-python.
    """
    check_ending(path)
    charts = []
    if analysis.errors:
        charts += [_error_chart(analysis.errors), _antipodal_chart(analysis.systems)]
    if analysis.solved:
        charts += [_solved_chart(analysis.solved, analysis.incongruity), _gap_chart(analysis.by_gap)]
    if not charts:
        raise BadInput("a picture needs a system that rates headlines, or pairs to compare; there is neither.")
    write_picture(path, charts)


def _error_chart(errors: Sequence[BinnedErrors]) -> Chart:
    """Figure 2: one line per system, over bars for the number of headlines in each bin."""
    bins = errors[0].bins
    counts = [max(system.bins[i].mae.n for system in errors) for i in range(len(bins))]
    bars = [Point(b.low, n, x_low=b.low, x_high=b.high) for b, n in zip(bins, counts, strict=True)]
    lines = [Series(e.system, tuple(point((b.low + b.high) / 2, b.mae) for b in e.bins), "line") for e in errors]
    return Chart(
        "errors",
        "Humicroedit: error by funniness",
        Axis("mean grade of the headline, bins of 0.2", low=bins[0].low, high=bins[-1].high),
        Axis("mean absolute error", low=0),
        (*lines, Series("headlines", tuple(bars), "bars", right=True)),
        right=Axis("headlines in the bin", low=0),
    )


def _antipodal_chart(systems: Sequence[Overview]) -> Chart:
    """Figure 3: the RMSE over all headlines, and over the X % funniest and least funny, of the systems by rank."""
    ranked = sorted(((s.rmse.value, s) for s in systems if s.rmse), key=lambda pair: pair[0])
    lines = {"all headlines": [value for value, _ in ranked]}
    lines |= {f"{x} % at each end": [s.antipodal[i].value for _, s in ranked] for i, x in enumerate(ANTIPODAL)}
    names = tuple(s.name for _, s in ranked)
    return Chart(
        "antipodal",
        "Humicroedit: RMSE over the funniest and least funny headlines",
        Axis("systems by their RMSE", categories=names),
        Axis("RMSE"),
        tuple(Series(name, tuple(map(Point, names, values)), "line") for name, values in lines.items()),
    )


def _solved_chart(solved: Sequence[Solved], incongruity: Incongruity | None) -> Chart:
    """Figure 4a: the share of pairs that exactly N systems solve, and incongruity among them."""
    numbers = [str(s.systems) for s in solved]
    lines = [Series("share of the pairs", tuple(point(str(s.systems), s.share) for s in solved), "line")]
    if incongruity:
        points = tuple(Point(n, e.value) for n, e in zip(numbers, incongruity.by_solved, strict=True))
        lines.append(Series("incongruity", points, "line", right=True))
    return Chart(
        "solved",
        "Humicroedit: pairs solved by exactly N systems",
        Axis("systems", categories=tuple(numbers)),
        Axis("share of the pairs", low=0),
        tuple(lines),
        right=Axis("correlation of incongruity and label") if incongruity else None,
    )


def _gap_chart(by_gap: Sequence[ByGap]) -> Chart:
    """Figure 4b: the share of systems that solve a pair, by the difference of its mean grades."""
    points = tuple(point((g.low + g.high) / 2, g.solved) for g in by_gap)
    return Chart(
        "by_gap",
        "Humicroedit: right answers by difference in funniness",
        Axis("difference of the mean grades"),
        Axis("share of the systems", low=0, high=1),
        (Series("all systems", points, "line"),),
    )
