"""The block `evaluation_report` of an entry of inspect_evals' register (`metadata.EvaluationReport`, version 0.26)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import yaml

from evidence import facts
from humor_tasks.errors import BadInput
from humor_tasks.results.report.build import Report
from humor_tasks.results.report.scorecard import has_main_metric
from humor_tasks.results.result import Result

ENTRY = "humor_tasks_"  # before the task's name


def register_blocks(report: Report, commit: str, notes: Sequence[str] = ()) -> str:
    """YAML: entry -> its block. commit: of the repository that ran.

    Raises BadInput for a run that did not end, and where no run is Inspect's.
    """
    facts.check_finished(report.results)
    ours = [r for r in report.results.results if r.run.harness == "inspect" and has_main_metric(r)]
    if not ours:
        raise BadInput("no run is of Inspect; the register takes these alone. Write the report as Markdown instead.")
    names = dict.fromkeys(result.benchmark.name for result in ours)
    blocks = {
        ENTRY + name: {"evaluation_report": _block([r for r in ours if r.benchmark.name == name], commit, notes)}
        for name in names
    }
    return facts.without_places(yaml.safe_dump(blocks, sort_keys=False, allow_unicode=True, width=10_000))


def _block(results: Sequence[Result], commit: str, notes: Sequence[str]) -> dict[str, Any]:
    card, run = results[0].benchmark.card, results[0].run
    told = [
        *notes,
        *(f"Deviation: {text}" for text in card.differences),
        *([limits] if (limits := card.considerations.limits) else []),
    ]
    told += [f"{level.reached_by} reach {level.value:g} {level.estimate} ({level.source})." for level in card.human]
    told += [f"{result.system}: {note}" for result in results for note in result.notes]
    release = facts.versions_of(results)
    commands = dict.fromkeys(facts.command_of(result, "MODEL") for result in results)
    return {
        "results": [_row(result) for result in results],
        "commit": commit,
        "version": f"{run.version} ({', '.join(f'{name} {version}' for name, version in release.items())})",
        "command": "\n".join(filter(None, commands)),
        "timestamp": max(map(facts.date_of, results)),
        "notes": told,
    }


def _row(result: Result) -> dict[str, Any]:
    samples = facts.samples_of(result)
    row = {
        "model": result.system,
        "provider": facts.provider_of(result),
        "task": result.benchmark.name,
        "time": facts.time_of(result),
        "date": facts.date_of(result),
        "samples": f"{samples.scored} of {samples.asked}",
        "invalid": f"{100 * samples.share:.1f} %",
    }
    return {**{name: text for name, text in row.items() if text}, "metrics": list(_metrics(result))}


def _metrics(result: Result) -> list[dict[str, Any]]:
    """Each metric over all items with its standard error and interval, as far as they are numbers."""
    found = []
    for metric in result.opened.reported:
        if e := result.estimates.get(metric.name):
            values = {"": e.value, "_stderr": e.stderr, "_ci_low": e.low, "_ci_high": e.high}
            found += [{"key": metric.name + end, "value": v} for end, v in values.items() if math.isfinite(v)]
    return found
