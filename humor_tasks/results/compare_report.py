"""Reports of comparisons as Markdown, CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.data.tables import csv_text, interval, json_text, plain, safe, short, table
from humor_tasks.data.writing import write_text
from humor_tasks.errors import BadInput
from humor_tasks.results.compare import ALPHA, Compared, Comparison, Comparisons, grouped

MOST_LISTED = 10
"""Comparisons of a benchmark that a report for people lists; of more it has the matrix only."""
COLUMNS = (
    *("benchmark", "metric", "direction", "first", "second", "first_value", "second_value"),
    *("difference", "low", "high", "stderr", "items", "clusters", "left_out"),
    *("p_holm", "p_permutation", "draws", "p_t", "p_mcnemar"),
    *("first_better", "second_better", "equal", "needed_items", "comparisons"),
)


def cells(compared: Compared, c: Comparison, comparisons: int) -> dict[str, Any]:
    """One comparison by COLUMNS; None where a value is unknown."""
    e, t = c.test.difference, c.test
    values: list[Any] = [compared.benchmark, compared.metric, compared.direction, c.first.label, c.second.label]
    values += [c.first.value.value, c.second.value.value, e.value, e.low, e.high, e.stderr, e.n, e.clusters, c.left_out]
    values += [t.adjusted, t.p_value, t.draws, t.t_p_value, t.mcnemar, *(c.wins or (None, None, None))]
    values += [t.needed, comparisons]
    return {name: plain(value) for name, value in zip(COLUMNS, values, strict=True)}


def as_csv(found: Comparisons) -> str:
    """One row per comparison."""
    rows = [cells(each, c, found.count) for each in found.benchmarks for c in each.comparisons]
    return csv_text(COLUMNS, (row.values() for row in rows))


def as_json(found: Comparisons) -> str:
    """The comparisons of each benchmark with its systems, and what was not compared."""
    data = {
        "humor_tasks": __version__,
        "alpha": ALPHA,
        "comparisons": found.count,
        "benchmarks": [_data(each, found.count) for each in found.benchmarks],
        "not_compared": [plain(each) for each in found.refused],
        "left_out": [{"path": str(each.path), "why": each.why} for each in found.left_out],
    }
    return json_text(data)


def _data(compared: Compared, comparisons: int) -> dict[str, Any]:
    systems = [
        {
            "system": s.label,
            "files": [str(path) for path in s.result.paths],
            "value": plain(s.value),
            "strength": plain(s.strength),
        }
        for s in compared.systems
    ]
    return {
        "benchmark": compared.benchmark,
        "metric": compared.metric,
        "direction": compared.direction,
        "systems": systems,
        "comparisons": [cells(compared, c, comparisons) for c in compared.comparisons],
        "notes": list(compared.notes),
    }


# ---- Markdown -----------------------------------------------------------------------------------


def as_markdown(found: Comparisons) -> str:
    """For each benchmark the systems, every pair of them, and what to know; then what was not compared."""
    parts = [part for each in found.benchmarks for part in _section(each)]
    parts.append(
        f"Differences are first - second, with 95 % intervals by cluster. p (Holm) is the permutation test by cluster, "
        f"corrected for {_number(found.count, 'comparison')}; * marks at most {ALPHA}. The others are not corrected. "
        "McNemar's test takes items as independent. Needed: the items that show such a difference with power .8."
    )
    unlike = grouped((f"{each.benchmark}: {each.what}", each.why) for each in found.refused)
    unlike += [f"{each.path}: {each.why}" for each in found.left_out]
    if unlike:
        parts += ["Not compared:", _list(unlike)]
    return "\n\n".join(parts) + "\n"


def _section(compared: Compared) -> Iterator[str]:
    yield f"## {safe(compared.benchmark)}: {safe(compared.metric)} ({compared.direction} is better)"
    if len(compared.systems) > 2:
        yield _matrix(compared)
    if len(compared.comparisons) <= MOST_LISTED:
        yield _pairs(compared)
    else:
        yield f"{len(compared.comparisons)} comparisons: -o FILE.csv or FILE.json lists them all."
    if compared.notes:
        yield _list(compared.notes)


def _pairs(compared: Compared) -> str:
    head = ("first", "second", "difference", "p (Holm)", "p", "t", "McNemar", "first wins", "second wins", "ties")
    rows = []
    for c in compared.comparisons:
        t = c.test
        wins = [f"{100 * n / t.difference.n:.1f} %" for n in c.wins] if c.wins else ["-"] * 3
        row = [_named(c.first.label, c.first.value.value), _named(c.second.label, c.second.value.value)]
        row += [_signed(interval(t.difference)), f"{_p(t.adjusted)}{_mark(t.adjusted)}"]
        row += [_p(p) for p in (t.p_value, t.t_p_value, t.mcnemar)]
        rows.append([*row, *wins, f"{t.difference.n} / {t.difference.clusters}", str(t.needed or "-")])
    return table((*head, "items / clusters", "needed"), rows)


def _matrix(compared: Compared) -> str:
    """The systems with their values and strengths, and the difference of each row's system to each column's."""
    tests: dict[tuple[str, str], tuple[float, float]] = {}
    for c in compared.comparisons:
        tests[c.first.label, c.second.label] = (c.test.difference.value, c.test.adjusted)
        tests[c.second.label, c.first.label] = (-c.test.difference.value, c.test.adjusted)
    strong = any(s.strength for s in compared.systems)
    head = ["", "system", compared.metric, *(["strength", "rank"] if strong else [])]
    rows = []
    for i, s in enumerate(compared.systems, 1):
        row = [str(i), short(s.label), interval(s.value)]
        if strong:
            row += (
                [interval(s.strength.estimate), f"{s.strength.best}-{s.strength.worst}"] if s.strength else ["-", "-"]
            )
        rows.append(row + [_cell(tests.get((s.label, other.label))) for other in compared.systems])
    return table([*head, *(f"- {i}" for i in range(1, len(rows) + 1))], rows)


def _cell(test: tuple[float, float] | None) -> str:
    return "" if test is None else f"{test[0]:+z.3f} ({_p(test[1])}){_mark(test[1])}"


def _named(label: str, value: float) -> str:
    return f"{short(label)} ({value:.3f})"


def _signed(text: str) -> str:
    return text if text.startswith("-") else f"+{text}"


def _p(p: float) -> str:
    return "-" if math.isnan(p) else "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _mark(p: float) -> str:
    return "*" if p <= ALPHA else ""


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _list(lines: list[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {safe(line)}" for line in lines)


# ---- files --------------------------------------------------------------------------------------

REPORTS: Mapping[str, Callable[[Comparisons], str]] = {".md": as_markdown, ".csv": as_csv, ".json": as_json}


def check_ending(path: Path | None) -> None:
    """Raise BadInput for an unsupported file extension, before anything is computed."""
    if path and path.suffix not in REPORTS:
        raise BadInput(f"{path}: a report ends in {', '.join(REPORTS)}.")


def write_report(path: Path, found: Comparisons) -> None:
    """Write Markdown, CSV or JSON, by the file's extension."""
    check_ending(path)
    write_text(path, REPORTS[path.suffix](found))
