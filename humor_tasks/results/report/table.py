"""The report table, one row per model (score, hard score, tokens, cost), and the plot of score against cost.

As in Narad et al. 2025 (arXiv 2507.21476). Tokens and cost of explainer and graders are counted separately: the first
are a property of the model, the second of the benchmark.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.judging import BOUNDS
from humor_tasks.data.tables import aligned, interval
from humor_tasks.data.writing import as_table, write_bytes
from humor_tasks.errors import BadInput, listed
from humor_tasks.results.report.graded import GradedLog, GradedPoint
from humor_tasks.results.report.spent import Spent
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.regression import spearman

COLUMNS = (
    *("model", "score", "low", "high", "hard_score", "hard_low", "hard_high", "points", "hard_points", "no_verdict"),
    *(f"score_{suffix}" for suffix in BOUNDS),
    *("explainer_input_tokens", "explainer_output_tokens", "explainer_cost"),
    *("grader_input_tokens", "grader_output_tokens", "grader_cost"),
    *("version", "subset", "graders", "samples", "of", "log"),
)
LEAST_MODELS = 3  # two always correlate by 1 or -1
PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Line:
    """The table row of one log."""

    log: GradedLog
    score: Estimate
    hard: Estimate
    no_verdict: int
    bounds: tuple[Estimate, ...]
    """The score with each missing verdict counted as in BOUNDS."""

    def cells(self) -> dict[str, Any]:
        """The values of the row by COLUMNS; None where a value is unknown."""
        explainer, grader = self.log.explainer, self.log.grader
        values = [self.log.model, self.score.value, self.score.low, self.score.high]
        values += [self.hard.value, self.hard.low, self.hard.high, self.score.n, self.hard.n, self.no_verdict]
        values += [bound.value for bound in self.bounds]
        values += [explainer.input, explainer.output, explainer.cost] if explainer else [None, None, None]
        values += [grader.input, grader.output, grader.cost] if grader else [None, None, None]
        values += [self.log.version, self.log.subset, str(self.log.grading), self.log.samples, self.log.rows]
        values.append(self.log.path.name)
        known = [None if isinstance(v, float) and v != v else v for v in values]
        return dict(zip(COLUMNS, known, strict=True))


def lines_of(logs: Sequence[GradedLog], hard: str = "hard") -> list[Line]:
    """One row per log, the best score first; `hard` is a named subset or a file of keys."""
    lines = []
    for log in logs:
        keys = log.keys(hard)
        read = [point for point in log.points if point.passed is not None]
        some = [point for point in read if keys is None or point.id in keys]
        asked = [point for point in log.points if point.asked]
        bounds = tuple(share(asked, passes) for passes in BOUNDS.values())
        lines.append(Line(log, share(read), share(some), len(log.points) - len(read), bounds))
    return sorted(lines, key=lambda line: -line.score.value if line.score.n else math.inf)


def share(points: Sequence[GradedPoint], missing: bool = False) -> Estimate:
    """The share of passed points; a point without a verdict counts as `missing`."""
    passed = [float(missing if p.passed is None else p.passed) for p in points]
    return clustered_proportion(passed, [p.cluster for p in points])


def as_markdown(lines: Sequence[Line]) -> str:
    """The table as Markdown: scores in percent, each with its number of points."""
    head = (
        "model",
        "score",
        "of",
        "hard score",
        "of",
        "no verdict",
        "as failed / passed",
        "explainer tokens in / out",
        "explainer cost",
    )
    rows: list[tuple[str, ...]] = [(*head, "grader", "grader tokens in / out", "grader cost", "version")]
    for line in lines:
        row = [line.log.model, _percent(line.score), str(line.score.n), _percent(line.hard), str(line.hard.n)]
        row += [str(line.no_verdict), " / ".join(_value(bound) for bound in line.bounds)]
        row += [*_spent(line.log.explainer), line.log.graders, *_spent(line.log.grader)]
        rows.append((*row, line.log.version))
    return aligned([[cell.replace("|", "\\|") for cell in row] for row in rows]) + "\n"


def score_and_cost(lines: Sequence[Line]) -> str:
    """A sentence with the correlation of score and cost; empty for too few models."""
    e = cost_correlation(lines)
    told = "Spearman's correlation of score and cost of the explanations:"
    return "" if e is None else f"{told} {interval(e)}, {e.n} models."


def cost_correlation(lines: Sequence[Line]) -> Estimate | None:
    """Spearman's correlation of the models' scores with the costs of their explanations; None for fewer than three
    models with both.
    """
    known = [(line.score.value, cost) for line in lines if (cost := _explaining(line)) is not None]
    if len(known) < LEAST_MODELS:
        return None
    scores, costs = zip(*known, strict=True)
    return spearman(scores, costs, range(len(known)))


def _value(e: Estimate) -> str:
    return "-" if not e.n else f"{100 * e.value:.1f}"


def _percent(e: Estimate) -> str:
    return "-" if not e.n else f"{100 * e.value:.1f} [{100 * e.low:.1f}, {100 * e.high:.1f}]"


def _spent(spent: Spent | None) -> tuple[str, str]:
    return (f"{spent.input} / {spent.output}", _dollars(spent.cost)) if spent else ("-", "-")


def shown_name(lines: Sequence[Line]) -> str:
    """The benchmark of these rows, in a heading."""
    return ", ".join(dict.fromkeys(line.log.subsets.title for line in lines if line.log.subsets))


def incomparable(lines: Sequence[Line]) -> list[str]:
    """Messages on why the scores of these rows are not comparable; empty where no reason is known."""
    told = []
    about = {"data file": "fingerprint", "version": "version", "subset": "subset", "grader or way of asking": "grading"}
    for name, field in about.items():
        values = dict.fromkeys(str(getattr(line.log, field)) for line in lines)
        if len(values) > 1:
            told.append(f"the logs differ in {name}: {', '.join(values)}.")
    for line in lines:
        log = line.log
        if log.rows is not None and log.samples < log.rows:
            told.append(f"{log.path.name} holds {log.samples} samples of {log.rows}.")
    return told


def circular(lines: Sequence[Line], hard: str) -> list[str]:
    """A message on the logs that chose the rows of `hard`, a file of `humor-tasks hard-subset`; empty without one."""
    logs = [line.log for line in lines]
    chosen = {name for subsets in {log.subsets for log in logs if log.subsets} for name in subsets.source_logs(hard)}
    found = [log for log in logs if (log.path.name, log.model) in chosen]
    if not found:
        return []
    return [
        f"{listed('log', [log.path.name for log in found])} chose the rows of {hard} for being failed: their hard "
        "scores are circular, and too low. Compare hard scores of other logs only."
    ]


def _dollars(cost: float | None) -> str:
    return "-" if cost is None else f"${cost:.4f}"


def as_csv(lines: Sequence[Line]) -> str:
    """The table as CSV."""
    return as_table(COLUMNS, (line.cells().values() for line in lines))


def check_ending(picture: Path | None) -> None:
    """Raise BadInput for a file type that is no picture, before anything is computed."""
    if picture and picture.suffix not in PICTURES:
        raise BadInput(f"{picture}: a picture ends in {', '.join(PICTURES)}.")


def plot(path: Path, lines: Sequence[Line]) -> int:
    """Plot score against the cost of the explanations; returns the number of models shown.

    Models are numbered by score. Models with unknown or zero cost are left out, because the axis is logarithmic.
    Raises BadInput when no model is left, for another file type, and without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogLocator, NullFormatter
    except ImportError as problem:
        raise BadInput('a picture needs matplotlib: pip install "humor-tasks[plot]"') from problem
    check_ending(path)
    shown = [(line, cost) for line in lines if (cost := _explaining(line))]
    if not shown:
        raise BadInput("no log has both a score and a known cost: name prices with --prices FILE.")
    figure = Figure(figsize=(8, 5.5))
    axes = figure.subplots()
    bars, names = [], []
    for i, (line, cost) in enumerate(shown, 1):
        e = line.score
        error = None if e.stderr != e.stderr else [[100 * (e.value - e.low)], [100 * (e.high - e.value)]]
        bars.append(axes.errorbar(cost, 100 * e.value, yerr=error, fmt="o", capsize=3))
        axes.annotate(str(i), (cost, 100 * e.value), xytext=(5, 4), textcoords="offset points", fontsize=9)
        names.append(f"{i}  {line.log.model}".replace("$", r"\$"))  # matplotlib would render $...$ as mathematics
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("cost of the explanations, US dollars (log scale)")
    axes.set_ylabel("coverage, % of elements, with 95 % interval")
    axes.set_title(f"{shown_name(lines)}: score against cost")
    axes.grid(alpha=0.3)
    axes.margins(x=0.1)
    axes.legend(bars, names, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:], dpi=150, bbox_inches="tight")  # "tight" fits the width to the names
    write_bytes(path, picture.getvalue())
    return len(shown)


def _explaining(line: Line) -> float | None:
    return line.log.explainer.cost if line.log.explainer and line.score.n else None
