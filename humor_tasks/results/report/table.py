"""The table of a report: one row per run, metric and part of the data, with tokens, cost and missing verdicts.

`tidy_rows` has all of it, for CSV and JSON. `group_table` has the main metric of one group, for people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.contract.judging.missing import BOUNDS, MISSING
from humor_tasks.contract.metric import REPLY_RATES, Metric
from humor_tasks.contract.replies import ENDINGS
from humor_tasks.contract.variations import INCOMPLETE
from humor_tasks.files.tables import interval, short
from humor_tasks.logs import FinishedRun, Usage
from humor_tasks.logs.prices import Price
from humor_tasks.papers.published import Figure as Published
from humor_tasks.results.report.grouping import Group
from humor_tasks.results.report.scorecard import EXTRA_METRICS, Column, Scorecard, beside, part_of, words
from humor_tasks.results.result import Result
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.regression import spearman

SIGNED = {"setting": "setting", "shots": "shots", "method": "method", "prompts": "prompt_set", "split": "split"}
SIGNED |= {"fold": "fold", "humor_tasks": "release"}
"""Entry of a signature -> column."""
COLUMNS = (
    *("benchmark", "group", "system", "harness", "scorer", "metric", "part"),
    *("value", "low", "high", "stderr", "n", "clusters", "direction", "unparsed", "refused"),
    *(MISSING, *BOUNDS),
    *("input_tokens", "output_tokens", "cost", "grader_input_tokens", "grader_output_tokens", "grader_cost"),
    *("setting", "shots", "method", "prompt_set", "dataset", "split", "fold", "fingerprint", "version", "release"),
    *("graders", "signature", "complete", "notes", "files"),
)
"""Columns; None where a value is unknown or undefined.

group: results of a benchmark with different letters do not compare. low, high: the 95 % interval. unparsed, refused:
shares of the replies of that part. missing_verdicts: the share of that part's verdicts that are missing;
missing_failed, missing_passed: the value with each of them counted as failed and as passed. Tokens and cost (US
dollars) are of the whole run, of the system and of the graders.
"""
SEVERAL = ("asked", *EXTRA_METRICS)
"""Further columns where a run asks each item several times: how often, and what stands beside the main metric."""
LEAST_COSTS = 3  # two always correlate by 1 or -1


def tidy_rows(results: Sequence[Result], groups: Sequence[Group], spent: Spending) -> list[dict[str, Any]]:
    """The rows. spent: tokens and cost of each result."""
    several = SEVERAL if any(result.opened.variations.number > 1 for result in results) else ()
    group_names = {id(result): group.name for group in groups for result in group.results}
    rows = []
    for result in results:
        shared = _of_run(result, group_names.get(id(result), "-"), spent[result.key])
        estimates = _estimates(result, results)
        rows += [{name: row.get(name, shared.get(name)) for name in (*COLUMNS, *several)} for row in estimates]
    return rows


def _estimates(result: Result, results: Sequence[Result]) -> Iterator[dict[str, Any]]:
    for metric in (*result.opened.reported, *ENDINGS, INCOMPLETE):
        for name, e in result.summaries.get(metric.name, {}).items():
            part = part_of(name, metric)
            row = {"metric": metric.name, "part": part, "direction": metric.direction} | numbers(e)
            shares = {} if metric.of else rates(result, results, metric, part)  # they are of all askings
            shares |= beside(result, metric, part)
            yield row | {name: finite(e.value) for name, e in shares.items()}


def rates(result: Result, results: Sequence[Result], metric: Metric, part: str) -> dict[str, Estimate]:
    """Shares of unparsed and refused replies and of missing verdicts of a part, and the metric's bounds for the latter.

    By column, as far as they are known. Another scorer of the same run may have the shares of replies.
    """
    of_run = [result, *(other for other in results if other.run is result.run)]
    end = f"_{part}" if part else ""
    known = {
        name: e
        for other_result in reversed(of_run)
        for rate in REPLY_RATES
        for name, e in _named(other_result, rate.name)
    }
    known |= dict(_named(result, MISSING))
    columns = {rate.name: known.get(f"{rate.name}{end}") for rate in REPLY_RATES}
    columns[MISSING] = known.get(f"{MISSING}{end}")
    for bound in BOUNDS:
        name = f"{metric.name}_{bound}"
        columns[bound] = dict(_named(result, name)).get(f"{name}{end}")
    return {name: e for name, e in columns.items() if e is not None}


def _named(result: Result, metric: str) -> Iterable[tuple[str, Estimate]]:
    return result.summaries.get(metric, {}).items()


def numbers(e: Estimate) -> dict[str, Any]:
    """The fields of an estimate; None for nan."""
    fields = {name: finite(getattr(e, name)) for name in ("value", "low", "high", "stderr")}
    return fields | {"n": e.n, "clusters": e.clusters}


def finite(value: float) -> float | None:
    """The value; None where it is nan or infinite, which JSON cannot express."""
    return value if math.isfinite(value) else None


def _of_run(result: Result, group: str, both: Pooled) -> dict[str, Any]:
    """The columns that all rows of a result share."""
    run = result.run
    shared: dict[str, Any] = {"benchmark": result.benchmark.name, "group": group, "system": result.system}
    shared |= {"harness": run.harness, "scorer": result.scorer, "version": run.version}
    shared |= {column: result.signature.get(name) for name, column in SIGNED.items()}
    shared["setting"] = shared["setting"] or result.signature.get("input")
    shared |= {"dataset": run.source.get("dataset") or result.signature.get("data")}
    shared |= {"fingerprint": run.source.get("fingerprint") or result.signature.get("rows")}
    shared |= {"graders": ", ".join(run.graders) or None, "signature": str(run.signature), "complete": result.complete}
    shared |= {"notes": " ".join(result.notes), "files": "; ".join(map(str, result.paths))}
    shared |= {"asked": result.opened.variations.number}
    for prefix, spent in zip(("", "grader_"), both, strict=True):
        if spent:
            shared |= {f"{prefix}input_tokens": spent.input, f"{prefix}output_tokens": spent.output}
            shared |= {f"{prefix}cost": spent.cost}
    return shared


# ---- for people ---------------------------------------------------------------------------------

HEAD = ("rank", "system", "setting", "score", "n", "clusters", "unparsed", "refused", "tokens in / out", "cost")
OF_ASKINGS = tuple(map(words, EXTRA_METRICS))
OF_GRADERS = ("missing verdicts", "as failed / passed", "graders", "grader tokens in / out", "grader cost")
OPTIONAL = ("part", *OF_ASKINGS, *OF_GRADERS)
"""Columns that are left out of a table where no row has a value."""
ORDER = (*HEAD[:3], "part", "score", *OF_ASKINGS, *HEAD[4:8], *OF_GRADERS[:2], *HEAD[8:], *OF_GRADERS[2:])


def group_table(
    group: Group, columns: Sequence[Column], results: Sequence[Result], spent: Spending
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows of the main metric of one group: the best first, then its parts that have a column.

    columns: the scorecard's, of every group. Texts are as the runs have them; unknown values are "-".
    """
    main = [c for c in columns if (c.benchmark, c.group, c.metric) == (group.benchmark, group.name, _main(group))]
    rows = []
    for column in sorted(main, key=lambda column: column.part != ""):
        for cell in column.cells:
            e, shares = cell.estimate, rates(cell.result, results, column.metric, column.part)
            percents = {name: f"{100 * share.value:.1f} %" for name, share in shares.items()}
            system, graders = spent[cell.result.key]
            bounds = [value_text(shares[name].value, column.metric) for name in BOUNDS if name in shares]
            rows.append(
                {
                    "rank": str(cell.rank) if cell.rank else "incomplete" if not cell.result.complete else "-",
                    "system": short(cell.result.system) + (f" ({cell.label})" if cell.label else ""),
                    "setting": column.protocol,
                    "part": column.part,
                    "score": estimate_text(e, column.metric),
                    "n": str(e.n),
                    "clusters": str(e.clusters),
                    **{words(name): estimate_text(other, column.metric) for name, other in cell.beside.items()},
                    "unparsed": percents.get("unparsed"),
                    "refused": percents.get("refused"),
                    "missing verdicts": percents.get(MISSING),
                    "as failed / passed": " / ".join(bounds),
                    "tokens in / out": system and f"{system.input} / {system.output}",
                    "cost": system and _dollars(system.cost),
                    "graders": ", ".join(cell.result.run.graders or sorted(cell.result.judges)),
                    "grader tokens in / out": graders and f"{graders.input} / {graders.output}",
                    "grader cost": graders and _dollars(graders.cost),
                }
            )
    head = tuple(name for name in ORDER if name in HEAD or any(row.get(name) for row in rows))
    return head, [tuple(row.get(name) or "-" for name in head) for row in rows]


def score_and_cost(group: Group, spent: Spending) -> str:
    """A sentence with the correlation of score and cost over finished runs; empty for fewer than three with both."""
    metric = _main(group).name
    known = []
    for result in group.results:
        system, _ = spent[result.key]
        e = result.estimates.get(metric)
        if result.complete and e is not None and e.value == e.value and system and system.cost is not None:
            known.append((e.value, system.cost))
    if len(known) < LEAST_COSTS:
        return ""
    scores, costs = zip(*known, strict=True)
    text = interval(spearman(scores, costs, range(len(known))))
    return f"Spearman's correlation of {metric} and cost of the replies: {text}, {len(known)} runs."


def _main(group: Group) -> Metric:
    return group.benchmark.metrics[0]


def _dollars(cost: float | None) -> str:
    return "-" if cost is None else f"${cost:.4f}"


def value_text(value: float | None, metric: Metric) -> str:
    """ "84.7" of a share, "0.575" of another metric; "-" for an unknown value."""
    if value is None or value != value:
        return "-"
    return f"{100 * value:.1f}" if metric.proportion else f"{value:.3f}"


def estimate_text(e: Estimate, metric: Metric) -> str:
    """ "84.7 [80.1, 88.4]"; without an interval where it is unknown."""
    value = value_text(e.value, metric)
    if value == "-" or e.low != e.low:
        return value
    return f"{value} [{value_text(e.low, metric)}, {value_text(e.high, metric)}]"


def unit(metric: Metric) -> str:
    """ "%" of a share, and "" else."""
    return "%" if metric.proportion else ""


@dataclass(frozen=True)
class TextTable:
    """A table of texts, as the runs have them, "-" for no value. Its first column names the row."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


PUBLISHED = {"people (published)": "human", "best published": "best"}
"""Row of a table of systems -> field of a column."""


def cells_text(card: Scorecard, system: str, column: Column) -> str:
    """The values of a system in a column, each with what tells it apart; "-" for none."""
    texts = []
    for cell in card.cells(system, column):
        notes = [note for note in (cell.label, "" if cell.result.complete else "incomplete") if note]
        beside = [f"{words(name)} {estimate_text(e, column.metric)}" for name, e in cell.beside.items()]
        text = ", ".join((estimate_text(cell.estimate, column.metric), *beside))
        texts.append(text + (f" ({', '.join(notes)})" if notes else ""))
    return "; ".join(texts) or "-"


def published_cell(column: Column, field: str) -> str:
    """The published figure of a column (human or best), and in what it has another protocol; "-" for none."""
    figure, others = getattr(column, field), column.others[field]
    return value_text(figure.value if figure else None, column.metric) + (f" ({others})" if others else "")


def published_text(figure: Published, metric: Metric) -> str:
    """ "94.0 (Human estimate, pixels)"."""
    shots = "" if figure.shots is None else f"{figure.shots} shot{'' if figure.shots == 1 else 's'}"
    about = [text for text in (figure.system, figure.setting, shots) if text]
    return f"{value_text(figure.value, metric)} ({', '.join(about)})"


# ---- tokens and cost ----------------------------------------------------------------------------

ROLE = "grader"  # the model role of the graders


@dataclass(frozen=True)
class Cost:
    """Tokens and cost in dollars of one role; `cost` is None where a model has no price."""

    input: int
    output: int
    cost: float | None


Pooled = tuple[Cost | None, Cost | None]
"""Of the system and of the graders; None for who used no model in the run."""
Spending = Mapping[tuple[Path, str], Pooled]
"""By `Result.key`."""


def spent_of(result: Result, prices: Mapping[str, Price] | None = None, anew: bool = False) -> Pooled:
    """Tokens and cost of the system and of the graders. In a judged run, every other model than the system grades.

    The graders' are None where the run did not pay for all of its verdicts: graded again, or from the cache. With
    `anew`, costs are computed from `prices`; otherwise only where the run recorded no cost.
    """
    run = result.run
    judged = result.benchmark.judging is not None
    used = _used(run)
    judges = set(run.graders) | result.judges | (used.keys() - {run.model} if judged else set())
    system, graders = _spent(run, judges, prices if anew else None)
    if not anew and prices is not None and None in (system.cost, graders.cost):
        priced = _spent(run, judges, prices)
        system = system if system.cost is not None else priced[0]
        graders = graders if graders.cost is not None else priced[1]
    took_part = run.models and not run.replayed and not (judged and run.model not in run.models)
    paid = judges & used.keys() and _is_this_runs(run, result.judges)
    return system if took_part else None, graders if paid else None


def _spent(run: FinishedRun, judges: Set[str], prices: Mapping[str, Price] | None) -> tuple[Cost, Cost]:
    """Usage of the system and of the graders; the system's is that of all models minus that of the role."""
    role = run.roles.get(ROLE, Usage())
    system_cost, grader_cost = _costs(run, judges, prices)
    used = run.models.values()
    tokens = sum(u.all_input for u in used) - role.all_input, sum(u.output for u in used) - role.output
    return Cost(*tokens, system_cost), Cost(role.all_input, role.output, grader_cost)


def _costs(run: FinishedRun, judges: Set[str], prices: Mapping[str, Price] | None) -> tuple[float | None, float | None]:
    """Cost of the system and of the graders in dollars, as recorded or computed from `prices`.

    `judges` are the models bound to the role and the models passed to the scorer. The cost is None where a model has
    no price. It is also None where the system is also one of several graders and `prices` are given, because the log
    does not separate its tokens as system and as grader.
    """
    costs = {m: u.cost if prices is None else _cost(prices.get(m), u) for m, u in _used(run).items()}
    if run.model not in judges:
        apart = [[cost for model, cost in costs.items() if (model in judges) == graded] for graded in (False, True)]
        return _total(apart[0]), _total(apart[1])
    role = run.roles.get(ROLE, Usage(cost=0.0))
    new = _cost((prices or {}).get(run.model), role) if len(judges) == 1 else None
    whole, part = _total(costs.values()), role.cost if prices is None else new
    return (None, None) if whole is None or part is None else (whole - part, part)


def _is_this_runs(run: FinishedRun, judges: Set[str]) -> bool:
    """Whether the run recorded tokens of every model that gave its verdicts."""
    if run.model in judges:  # its tokens may be those of the system only
        role = run.roles.get(ROLE, Usage())
        if not role.all_input + role.output or (run.graders and run.model not in run.graders):
            return False
    return judges <= _used(run).keys()


def _used(run: FinishedRun) -> dict[str, Usage]:
    """The models for which the run recorded tokens."""
    return {model: usage for model, usage in run.models.items() if usage.all_input + usage.output}


def _total(costs: Iterable[float | None]) -> float | None:
    known = list(costs)
    return None if None in known else sum((cost for cost in known if cost is not None), 0.0)


def _cost(price: Price | None, usage: Usage) -> float | None:
    return None if price is None else price.cost(usage.input, usage.output, usage.cache_read, usage.cache_write)
