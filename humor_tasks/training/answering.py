"""Answers of trained models to a benchmark's rows, without a harness, and the perplexity of the references.

Processes divide the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from accelerate import PartialState
from accelerate.utils import gather_object

from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.records import Record
from humor_tasks.scorers.perplexity import UNITS, perplexity_estimate

Perplexities = dict[str, dict[str, float | int | None]]


def divided(run: Run, compute: Callable[[Sequence[Record]], Sequence[Any]]) -> dict[str, Any]:
    """{instance_id: result} of all rows; each process computes its share."""
    state = PartialState()
    rows = run.records[state.process_index :: state.num_processes]
    found = dict(gather_object([(r.id, each) for r, each in zip(rows, compute(rows), strict=True)]))
    return {record.id: found[record.id] for record in run.records}


def perplexities(run: Run, likelihoods: Callable[[Sequence[Record]], Sequence[tuple[float, int]]]) -> Perplexities:
    """The perplexities of the references by name, as in lm-eval, with intervals clustered as scores.

    likelihoods: returns the log-likelihood of each record's reference, and its number of tokens. The published unit is
    that of `word_perplexity`. The end token is not counted.
    """
    found = divided(run, likelihoods)
    clusters = [record.cluster for record in run.records]
    logprobs = [found[record.id][0] for record in run.records]
    results: Perplexities = {}
    for perplexity, count in UNITS.items():
        units = [count(str(record.target), found[record.id][1]) or 0 for record in run.records]
        estimate = perplexity_estimate(logprobs, units, clusters)
        values = {"value": estimate.value, "stderr": estimate.stderr, "low": estimate.low, "high": estimate.high}
        results[perplexity] = {name: value if value == value else None for name, value in values.items()}
        results[perplexity] |= {"n": estimate.n, "clusters": estimate.clusters, "units": sum(units)}
    return results


def mean_perplexities(folds: Sequence[Perplexities]) -> Perplexities:
    """The unweighted means over folds, as published; None without a value of each."""
    found: Perplexities = {}
    for name in UNITS:
        values = [value for fold in folds if (value := fold[name]["value"]) is not None]
        found[name] = {"value": fmean(values) if len(values) == len(folds) else None}
    return found


def shown(metrics: Mapping[str, Any]) -> list[str]:
    """A run's scores and perplexities of validation and test, one a line."""
    lines = []
    for split in ("validation", "test"):
        found = metrics.get(split, {})
        for name, each in (found.get("metrics", {}) | found.get("perplexity", {})).items():
            value = "undefined" if each["value"] is None else f"{each['value']:.5f}"
            lines += [f"{split:<12}{name:<24}{value}"] if name.split("_")[0] not in _RATES else []
    return lines


_RATES = ("unparsed", "refused")
