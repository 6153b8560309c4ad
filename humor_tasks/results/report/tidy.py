"""The tidy table: one row per run, metric and part of the data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.metric import REPLY_RATES
from humor_tasks.data.writing import as_table
from humor_tasks.results.report.grouping import Group
from humor_tasks.results.report.scorecard import part_of
from humor_tasks.results.report.spent import Both
from humor_tasks.results.result import Result
from humor_tasks.scorers.estimate import Estimate

SIGNED = {"setting": "setting", "shots": "shots", "method": "method", "prompts": "prompt_set", "split": "split"}
SIGNED |= {"fold": "fold", "humor_tasks": "release"}
"""Entry of a signature -> column."""
COLUMNS = (
    *("benchmark", "group", "system", "harness", "scorer", "metric", "part"),
    *("value", "low", "high", "stderr", "n", "clusters", "direction", "unparsed", "refused"),
    *("input_tokens", "output_tokens", "cost", "grader_input_tokens", "grader_output_tokens", "grader_cost"),
    *("setting", "shots", "method", "prompt_set", "dataset", "split", "fold", "fingerprint", "version", "release"),
    *("graders", "signature", "complete", "notes", "files"),
)
"""Columns; None where a value is unknown or undefined.

group: results of a benchmark with different letters do not compare. low, high: the 95 % interval. unparsed, refused:
shares of the replies of that part. Tokens and cost (US dollars) are of the whole run, of the system and of the graders.
"""


def tidy_rows(results: Sequence[Result], groups: Sequence[Group], spent: Mapping[Path, Both]) -> list[dict[str, Any]]:
    """The rows. spent: tokens and cost by the path of a run."""
    named = {id(result): group.name for group in groups for result in group.results}
    rows = []
    for result in results:
        about = _about(result, named.get(id(result), "-"), spent[result.run.path])
        found = _estimates(result, reply_rates(result, results))
        rows += [{name: each.get(name, about.get(name)) for name in COLUMNS} for each in found]
    return rows


def reply_rates(result: Result, results: Sequence[Result]) -> dict[str, Estimate]:
    """The shares of unparsed and refused replies by name, which another scorer of the run may have."""
    of_run = [result, *(other for other in results if other.run is result.run)]
    rates = tuple(metric.name for metric in REPLY_RATES)
    return {name: e for each in reversed(of_run) for rate in rates for name, e in each.summaries.get(rate, {}).items()}


def _estimates(result: Result, rates: Mapping[str, Estimate]) -> Iterator[dict[str, Any]]:
    for metric in result.benchmark.reported:
        for name, e in result.summaries.get(metric.name, {}).items():
            part = part_of(name, metric)
            told = {rate.name: _rate(rates, rate.name, part) for rate in REPLY_RATES}
            yield {"metric": metric.name, "part": part, "direction": metric.direction} | numbers(e) | told


def numbers(e: Estimate) -> dict[str, Any]:
    """The fields of an estimate; None for nan."""
    known = {name: getattr(e, name) for name in ("value", "low", "high", "stderr")}
    return {name: finite(value) for name, value in known.items()} | {"n": e.n, "clusters": e.clusters}


def finite(value: float) -> float | None:
    """The value; None where it is nan or infinite, which JSON cannot express."""
    return value if math.isfinite(value) else None


def _rate(rates: Mapping[str, Estimate], rate: str, part: str) -> float | None:
    found = rates.get(f"{rate}_{part}" if part else rate)
    return finite(found.value) if found else None


def _about(result: Result, group: str, both: Both) -> dict[str, Any]:
    """The columns that all rows of a result share."""
    run = result.run
    about: dict[str, Any] = {"benchmark": result.benchmark.name, "group": group, "system": result.system}
    about |= {"harness": run.harness, "scorer": result.scorer, "version": run.version}
    about |= {column: result.signature.get(name) for name, column in SIGNED.items()}
    about["setting"] = about["setting"] or result.signature.get("input")
    about |= {"dataset": run.source.get("dataset") or result.signature.get("data")}
    about |= {"fingerprint": run.source.get("fingerprint") or result.signature.get("rows")}
    about |= {"graders": ", ".join(run.graders) or None, "signature": str(run.signature), "complete": result.complete}
    about |= {"notes": " ".join(result.notes), "files": "; ".join(map(str, result.paths))}
    for prefix, spent in zip(("", "grader_"), both, strict=True):
        if spent:
            about |= {f"{prefix}input_tokens": spent.input, f"{prefix}output_tokens": spent.output}
            about |= {f"{prefix}cost": spent.cost}
    return about


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table as CSV."""
    return as_table(COLUMNS, (row.values() for row in rows))


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table as JSON, a list of objects."""
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
