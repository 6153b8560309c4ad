"""Systems compared on the items that they all answered: every pair of results of one benchmark that compare.

A metric that is the mean of its values over items is compared item by item. Another one (an RMSE, a correlation, a
corpus BLEU, a ratio of sums) is compared by leaving out one group of clusters at a time (`scorers.jackknife`).
docs/comparing.md describes the statistics.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.contract.judging.missing import missing_warning
from humor_tasks.contract.metric import Direction
from humor_tasks.contract.replies import endings_warning
from humor_tasks.errors import BadInput
from humor_tasks.files.tables import csv_text, interval, json_text, safe, short, table, to_json
from humor_tasks.files.writing import write_text
from humor_tasks.results.comparable import differences, settings
from humor_tasks.results.pairing import EQUAL, Comparison, Paired, PlannedComparison, Refused, System, planned
from humor_tasks.results.result import LeftOut, Result, Results
from humor_tasks.results.wordings import drafts_by_set, set_of, told_of_askings, within_wordings
from humor_tasks.scorers.bradley_terry import Strength, bradley_terry
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.paired import PairedTest, paired_tests

ALPHA = 0.05
DRAWS, DRAWS_EACH = 10_000, 1_000
"""Random sign patterns of a permutation test that cannot be exact: at least DRAWS, and DRAWS_EACH per comparison, so
that the smallest p-value survives Holm's correction."""


@dataclass(frozen=True)
class Compared:
    """The systems compared by one metric of one benchmark; the best first, but two in the order given.

    A system that compares with no other, such as an unfinished run, is not among them and has no place. count: the
    comparisons that Holm's correction is over. sets: the same under each prompt set, for runs under several.
    """

    benchmark: str
    metric: str
    direction: Direction
    systems: tuple[System, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    count: int
    sets: tuple[Compared, ...] = ()


@dataclass(frozen=True)
class Comparisons:
    """All comparisons of a command.

    Holm's correction is over all of them, and apart from these over all comparisons under one prompt set.
    """

    benchmarks: tuple[Compared, ...]
    refused: tuple[Refused, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def count(self) -> int:
        """The number of comparisons."""
        return sum(len(compared.comparisons) for compared in self.benchmarks)


def compare(results: Results, metric: str | Sequence[str] | None = None, seed: int = 0) -> Comparisons:
    """Every pair of results of one benchmark that compare, by `metric`; None: by the benchmark's primary metric.

    Of several metrics, each benchmark is compared by the first that it has. A task of another package has one only.

    Raises BadInput where no two results compare, with the reasons.
    """
    refused: list[Refused] = []
    names = (metric,) if isinstance(metric, str) else metric or ()
    tasks = [results.of(benchmark.name) for benchmark in results.benchmarks]
    drafts = [draft for of_task in tasks if (draft := planned(of_task, _metric(of_task, names), refused))]
    pairs = [pair for draft in drafts for pair in draft.pairs]
    if not pairs:
        reasons = [f"{r.benchmark}: {r.what}: {r.why}" for r in refused]
        reasons += [f"{file.path}: {file.why}" for file in results.left_out]
        remedy = "there is nothing to compare. Give two or more runs of one benchmark that have the metric."
        raise BadInput("\n".join([remedy, *reasons]))
    drafts = [draft for draft in drafts if draft.pairs]
    by_set = {d.benchmark: drafts_by_set(results.of(d.benchmark), d) for d in drafts}
    of_sets = _tested([of_set for d in drafts for of_set in by_set[d.benchmark]], seed)
    compared = []
    for draft, found in zip(drafts, _tested(drafts, seed), strict=True):
        sets = tuple(next(of_sets) for _ in by_set[draft.benchmark])
        compared.append(dataclasses.replace(_with_strengths(found, draft, seed), sets=sets))
    return Comparisons(tuple(compared), tuple(refused), results.left_out)


def _metric(results: Sequence[Result], names: Sequence[str]) -> str | None:
    """The first of these metrics that results of one benchmark have; if there is none, the first, to be refused."""
    if not names or results[0].foreign:
        return None
    return next((name for name in names if any(name in result.estimates for result in results)), names[0])


def _tested(drafts: Sequence[PlannedComparison], seed: int) -> Iterator[Compared]:
    """The comparisons of each draft; Holm's correction is over those of all."""
    pairs = [pair for draft in drafts for pair in draft.pairs]
    draws = max(DRAWS, DRAWS_EACH * len(pairs))
    scores, swapped = [pair.scores for pair in pairs], [pair.swapped for pair in pairs]
    tests = iter(paired_tests(scores, draws=draws, seed=seed, level=1 - ALPHA, swapped=swapped))
    for draft in drafts:
        direction = draft.metric.direction
        comparisons = tuple(_comparison(pair, next(tests), direction) for pair in draft.pairs)
        notes = (*_metric_notes(draft), *within_wordings(comparisons, draft.name))
        notes += tuple(_comparison_notes(comparisons, len(pairs)))
        yield Compared(draft.benchmark, draft.name, direction, tuple(draft.systems), comparisons, notes, len(pairs))


def _with_strengths(compared: Compared, draft: PlannedComparison, seed: int) -> Compared:
    """The same with the systems' strengths, or a note why there are none."""
    try:
        strengths = _strengths(draft, seed)
    except BadInput as error:
        return dataclasses.replace(compared, notes=(*compared.notes, f"No Bradley-Terry strengths: {error}"))
    systems = tuple(dataclasses.replace(s, strength=strengths.get(s.label)) for s in compared.systems)
    return dataclasses.replace(compared, systems=systems)


def _strengths(draft: PlannedComparison, seed: int) -> Mapping[str, Strength]:
    """Strengths of three systems or more over items. Raises BadInput where they cannot be computed."""
    if len(draft.systems) < 3:
        return {}
    rows = []
    for pair in draft.pairs:
        if pair.won is None:
            raise BadInput(f"{draft.name} has no value of an item that a system could win.")
        for cluster, (higher, lower, equal) in pair.won.items():
            better, items = higher if draft.metric.direction == "higher" else lower, higher + lower + equal
            rows.append((pair.first.label, pair.second.label, (better + equal / 2) / items, cluster, items))
    first, second, preferences, clusters, times = zip(*rows, strict=True)
    strengths: Mapping[str, Strength] = bradley_terry(first, second, preferences, clusters, seed=seed, times=times)
    return strengths


def _comparison(pair: Paired, test: PairedTest, direction: Direction) -> Comparison:
    """The comparison, with the figures that belong to the metric instead of to its pseudo-values."""
    e = dataclasses.replace(test.difference, n=pair.items, clusters=pair.clusters)
    needed, mcnemar = test.needed, test.mcnemar
    if pair.swapped is not None:
        needed = None if needed is None else math.ceil(needed * pair.items / len(pair.scores[0]))
    if pair.swapped is not None or pair.first.asked_again:
        mcnemar = math.nan
    wins = None
    if pair.won is not None:
        higher, lower, equal = map(sum, zip(*pair.won.values(), strict=True))
        wins = (higher, lower, equal) if direction == "higher" else (lower, higher, equal)
    test = dataclasses.replace(test, difference=e, needed=needed, mcnemar=mcnemar)
    unequal = tuple(differences(pair.first.result, pair.second.result))
    return Comparison(pair.first, pair.second, test, pair.left_out, wins, unequal)


def _metric_notes(draft: PlannedComparison) -> Iterator[str]:
    """Notes on the metric and the systems."""
    if not draft.by_item:
        groups = max(len(pair.scores[0]) for pair in draft.pairs)
        yield (
            f"{draft.metric.values} is no mean over items: intervals, p-values and needed items are from leaving out "
            f"one of {groups} groups of clusters at a time."
        )
    yield from told_of_askings(draft)
    yield from _grouped((system.label, sentence) for system in draft.systems for sentence in system.result.unknown)
    signed = [system for system in draft.systems if system.result.signature]
    for name, values in settings([system.result for system in signed]).items():
        users: dict[str, list[str]] = {}
        for system, value in zip(signed, values, strict=True):
            users.setdefault(value, []).append(system.label)
        listed = (f"{value} ({_few(names)})" for value, names in users.items())
        yield f"The systems differ in {name}: {', '.join(listed)}."
    for system in draft.systems:
        values_by_name = {n: e.value for n, e in system.result.estimates.items()}
        for warning in filter(None, (missing_warning(values_by_name), endings_warning(values_by_name))):
            yield f"{system.label}: {warning}"
        reported = system.result.estimates.get(draft.name)
        if reported and not math.isclose(reported.value, system.value.value, rel_tol=1e-9, abs_tol=EQUAL):
            yield (
                f"{system.label}: the run reports {draft.name} {reported.value:.4f}, a mean of its folds or parts; "
                f"compared is {system.value.value:.4f}, over all items."
            )


def _few(names: Sequence[str]) -> str:
    """The first two names, and the number of the others."""
    return ", ".join((*names[:2], *([f"{len(names) - 2} more"] if len(names) > 2 else [])))


def _comparison_notes(comparisons: Sequence[Comparison], count: int) -> Iterator[str]:
    """Notes on the comparisons."""
    fewest = min(c.test.difference.clusters for c in comparisons)
    least = 2.0 ** (1 - fewest)
    if fewest == 1:
        yield "All items are in one cluster: it is not known how clusters differ. There is no interval, and p is 1."
    elif least * count > ALPHA:
        yield (
            f"With {fewest} clusters p cannot be below {least:.3g}, or {min(1, least * count):.3g} after Holm's "
            f"correction over {count}: no difference can show."
        )
    equal = "equal on every item. Their interval is a point, which says nothing of other items; p is 1."
    named = [(f"{c.first.label} and {c.second.label}", c) for c in comparisons]
    yield from _grouped(
        [(names, equal) for names, c in named if c.wins and c.wins[:2] == (0, 0)]
        + [
            (names, f"{c.left_out} items count in one of the two only, and are left out.")
            for names, c in named
            if c.left_out
        ]
    )


def _grouped(messages: Iterable[tuple[str, str]]) -> list[str]:
    """ "A and B: MESSAGE" for pairs of names and message, each message once, with the number of its other names."""
    names: dict[str, list[str]] = {}
    for name, message in messages:
        names.setdefault(message, []).append(name)
    return [
        f"{named[0]}{f', and {len(named) - 1} more' if len(named) > 1 else ''}: {message}"
        for message, named in names.items()
    ]


# ---- CSV and JSON -------------------------------------------------------------------------------

COLUMNS = (
    *("benchmark", "metric", "direction", "first", "second", "first_value", "second_value"),
    *("difference", "low", "high", "stderr", "items", "clusters", "left_out"),
    *("p_holm", "p_permutation", "draws", "p_t", "p_mcnemar"),
    *("first_better", "second_better", "equal", "needed_items", "comparisons"),
)


def _cells(compared: Compared) -> list[dict[str, Any]]:
    """The comparisons by COLUMNS; None where a value is unknown."""
    return [dict(zip(COLUMNS, map(to_json, _values(compared, c)), strict=True)) for c in compared.comparisons]


def _values(compared: Compared, c: Comparison) -> list[Any]:
    e, t = c.test.difference, c.test
    values: list[Any] = [compared.benchmark, compared.metric, compared.direction, c.first.label, c.second.label]
    values += [c.first.value.value, c.second.value.value, e.value, e.low, e.high, e.stderr, e.n, e.clusters, c.left_out]
    values += [t.adjusted, t.p_value, t.draws, t.t_p_value, t.mcnemar, *(c.wins or (None, None, None))]
    return [*values, t.needed, compared.count]


def as_csv(report: Comparisons) -> str:
    """One row per comparison, and per prompt set and comparison under it."""
    tables = [table for compared in report.benchmarks for table in (compared, *compared.sets)]
    return csv_text(COLUMNS, (row.values() for table in tables for row in _cells(table)))


def as_json(report: Comparisons) -> str:
    """The comparisons of each benchmark with its systems, and what was not compared."""
    benchmarks = [
        {
            "benchmark": compared.benchmark,
            "metric": compared.metric,
            "direction": compared.direction,
            "systems": [
                {
                    "system": s.label,
                    "files": [str(path) for path in s.result.paths],
                    "value": to_json(s.value),
                    "strength": to_json(s.strength),
                    **({"spread": to_json(s.result.estimates["spread"])} if "spread" in s.result.estimates else {}),
                }
                for s in compared.systems
            ],
            "comparisons": _cells(compared),
            "notes": list(compared.notes),
            **({"sets": {set_of(s.metric): _cells(s) for s in compared.sets}} if compared.sets else {}),
        }
        for compared in report.benchmarks
    ]
    data = {
        "humor_tasks": __version__,
        "alpha": ALPHA,
        "comparisons": report.count,
        "benchmarks": benchmarks,
        "not_compared": [to_json(refused) for refused in report.refused],
        "left_out": [{"path": str(file.path), "why": file.why} for file in report.left_out],
    }
    return json_text(data)


# ---- Markdown -----------------------------------------------------------------------------------

MOST_LISTED, MOST_BY_SET = 10, 6
"""Comparisons of a benchmark that a report for people lists, in all and under each prompt set; files have them all."""


def as_markdown(report: Comparisons) -> str:
    """For each benchmark the systems, every pair of them, and what to know; then what was not compared."""
    parts = [part for compared in report.benchmarks for part in _section(compared)]
    parts.append(
        "Differences are first - second, with 95 % intervals by cluster. p (Holm) is the permutation test by cluster, "
        f"corrected for {report.count} comparison{'s' * (report.count != 1)}; * marks at most {ALPHA}. The others are "
        "not corrected. McNemar's test takes items as independent. Needed: the items that show such a difference with "
        "power .8."
    )
    if by_set := [of_set.count for compared in report.benchmarks for of_set in compared.sets]:
        parts[-1] += (
            f" The {by_set[0]} comparisons under one prompt set are corrected among themselves; -o FILE.csv or "
            "FILE.json lists them all."
        )
    unlike = _grouped((f"{refused.benchmark}: {refused.what}", refused.why) for refused in report.refused)
    unlike += [f"{file.path}: {file.why}" for file in report.left_out]
    if unlike:
        parts += ["Not compared:", _bullets(unlike)]
    return "\n\n".join(parts) + "\n"


def _section(compared: Compared) -> Iterator[str]:
    yield f"## {safe(compared.benchmark)}: {safe(compared.metric)} ({compared.direction} is better)"
    if len(compared.systems) > 2:
        yield _matrix(compared)
    if len(compared.comparisons) <= MOST_LISTED:
        yield table(HEAD, map(_row, compared.comparisons))
    else:
        yield f"{len(compared.comparisons)} comparisons: -o FILE.csv or FILE.json lists them all."
    if compared.notes:
        yield _bullets(compared.notes)
    if compared.sets and len(compared.comparisons) <= MOST_BY_SET:
        yield f"### {safe(compared.benchmark)}: {safe(compared.metric)} under each prompt set"
        yield table(("set", *HEAD), ([set_of(s.metric), *_row(c)] for s in compared.sets for c in s.comparisons))
        if notes := dict.fromkeys(n for s in compared.sets for n in s.notes if n not in compared.notes):
            yield _bullets(notes)


HEAD = (
    *("first", "second", "difference", "p (Holm)", "p", "t", "McNemar", "first wins", "second wins", "ties"),
    *("items / clusters", "needed"),
)


def _row(c: Comparison) -> list[str]:
    t, e = c.test, c.test.difference
    systems = [f"{short(system.label)} ({system.value.value:.3f})" for system in (c.first, c.second)]
    p_values = [adjusted_text(t), *map(_p, (t.p_value, t.t_p_value, t.mcnemar))]
    wins = [f"{100 * n / e.n:.1f} %" for n in c.wins] if c.wins else ["-"] * 3
    return [*systems, signed(e), *p_values, *wins, f"{e.n} / {e.clusters}", str(t.needed or "-")]


def signed(e: Estimate) -> str:
    """ "+0.200 [0.049, 0.351]": a difference."""
    return interval(e) if interval(e).startswith("-") else f"+{interval(e)}"


def adjusted_text(test: PairedTest) -> str:
    """The p-value after Holm's correction, marked where it is at most ALPHA."""
    return _p(test.adjusted) + _mark(test.adjusted)


def _matrix(compared: Compared) -> str:
    """The systems with their values and strengths, and the difference of each row's system to each column's."""
    tests: dict[tuple[str, str], str] = {}
    for c in compared.comparisons:
        difference, p = c.test.difference.value, f"({_p(c.test.adjusted)}){_mark(c.test.adjusted)}"
        tests[c.first.label, c.second.label] = f"{difference:+z.3f} {p}"
        tests[c.second.label, c.first.label] = f"{-difference:+z.3f} {p}"
    strong = any(s.strength for s in compared.systems)
    head = ["", "system", compared.metric, *(["strength", "rank"] if strong else [])]
    rows = []
    for i, s in enumerate(compared.systems, 1):
        row = [str(i), short(s.label), interval(s.value)]
        if s.strength:
            row += [interval(s.strength.estimate), f"{s.strength.best}-{s.strength.worst}"]
        elif strong:
            row += ["-", "-"]
        rows.append(row + [tests.get((s.label, other.label), "") for other in compared.systems])
    return table([*head, *(f"- {i}" for i in range(1, len(rows) + 1))], rows)


def _p(p: float) -> str:
    return "-" if math.isnan(p) else "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _mark(p: float) -> str:
    return "*" if p <= ALPHA else ""


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {safe(line)}" for line in lines)


# ---- files --------------------------------------------------------------------------------------

REPORTS: Mapping[str, Callable[[Comparisons], str]] = {".md": as_markdown, ".csv": as_csv, ".json": as_json}


def check_ending(path: Path | None) -> None:
    """Raise BadInput for an unsupported file extension, before anything is computed."""
    if path and path.suffix not in REPORTS:
        raise BadInput(f"{path}: a report ends in {', '.join(REPORTS)}.")


def write_report(path: Path, report: Comparisons) -> None:
    """Write Markdown, CSV or JSON, by the file's extension."""
    check_ending(path)
    write_text(path, REPORTS[path.suffix](report))
