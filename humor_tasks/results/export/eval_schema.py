"""Results as records of Every Eval Ever (schema 0.3.0), one a run and scorer: data/CORPUS/ORG/NAME/UUID.json.

`eval_samples` writes the replies beside them.

The package `every-eval-ever` converts logs of both harnesses by itself. It takes each number of an Inspect log for a
score, also the ends of intervals, and does not know split and rows; here each metric is one score with its clustered
standard error and interval. Its validator (`every_eval_ever validate`) accepts these records.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

from humor_tasks.contract.metric import Metric
from humor_tasks.files.tables import json_text
from humor_tasks.results.export import Published, defaults, started
from humor_tasks.results.export.eval_samples import result_id, write_samples
from humor_tasks.results.result import Result
from humor_tasks.scorers.estimate import Estimate

SCHEMA = "0.3.0"
LIBRARIES = {"inspect": "inspect-ai", "lm_eval": "lm-eval"}
DATA = ("split", "fold", "subset", "skipped", "revision", "fingerprint", "rows")
"""Entries of a run's source and signature that say which rows it is of."""


def files(
    published: Sequence[Published], organization: str, relationship: str, now: float, samples: Path | None = None
) -> dict[PurePosixPath, str]:
    """The files' texts. now: seconds since 1970, the time of the export.

    samples: the folder of the files; with it, the replies of each run are written there first, because the record holds
    their number and checksum. Raises BadInput where that fails.
    """
    texts: dict[PurePosixPath, str] = {}
    for p in published:
        path, record = _file(p, organization), _record(p, organization, relationship, now)
        if samples is not None:
            record["detailed_evaluation_results"] = write_samples(samples, path, record, p.result)
        texts[path] = json_text(record)
    return texts


def _file(published: Published, organization: str) -> PurePosixPath:
    """The record's place, the same in each export of the run by the organisation."""
    result = published.result
    run = result.run
    key = [organization, published.model, result.system, result.scorer, run.identity, str(run.signature), run.created]
    digest = hashlib.sha256(json.dumps([*key, run.source.get("fingerprint")]).encode()).digest()
    return PurePosixPath("data", _corpus(result), published.model, f"{UUID(bytes=digest[:16], version=4)}.json")


def _record(published: Published, organization: str, relationship: str, now: float) -> dict[str, Any]:
    result, model = published.result, published.model
    library = LIBRARIES[result.run.harness]
    signed = {"signature": str(result.run.signature), "humor_tasks": result.signature.get("humor_tasks", "unknown")}
    record: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": f"{result.benchmark.name}/{model.replace('/', '_')}/{now}",
        "retrieved_timestamp": str(now),
        "source_metadata": {
            "source_name": "humor-tasks",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
        },
        "eval_library": {
            "name": library.replace("-", "_"),
            "version": result.run.invocation.versions.get(library, "unknown"),
            "additional_details": signed,
        },
        "model_info": {
            "name": result.system,
            "id": model,
            "developer": model.partition("/")[0],
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            _score(result, metric, result.estimates[metric.name])
            for metric in result.opened.reported
            if metric.name in result.estimates and math.isfinite(result.estimates[metric.name].value)
        ],
    }
    if started(result):
        record["evaluation_timestamp"] = started(result)
    return record


def _corpus(result: Result) -> str:
    return str(defaults(result)["dataset"]).rpartition("/")[2]


def _score(result: Result, metric: Metric, estimate: Estimate) -> dict[str, Any]:
    """One metric over all items."""
    bounds = {"score_type": "continuous", "min_score": 0.0, "max_score": 1.0} if metric.proportion else {}
    card = result.benchmark.card
    graders = {"graders": ", ".join(result.run.graders)} if result.benchmark.judging and result.run.graders else {}
    return {
        "evaluation_result_id": result_id(result, metric),
        "evaluation_name": result.benchmark.name,
        "source_data": _source(result),
        "metric_config": {
            "evaluation_description": ", ".join(filter(None, (card.title, card.paper.citation))),
            "metric_id": f"humor_tasks.{metric.name}",
            "metric_name": metric.name,
            "lower_is_better": metric.direction == "lower",
            **bounds,
            **({"additional_details": graders} if graders else {}),
        },
        "score_details": {
            "score": estimate.value,
            "details": {"clusters": str(estimate.clusters)},
            "uncertainty": _uncertainty(estimate),
        },
    }


def _uncertainty(estimate: Estimate) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": estimate.n}
    if math.isfinite(estimate.stderr):
        uncertainty["standard_error"] = {"value": estimate.stderr, "method": "clustered, linearised"}
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        ends = {"lower": estimate.low, "upper": estimate.high}
        uncertainty["confidence_interval"] = {**ends, "confidence_level": 0.95, "method": "clustered"}
    return uncertainty


def _source(result: Result) -> dict[str, Any]:
    """The corpus. Only a dataset of the hub has a revision."""
    source = result.run.source
    recorded = {**result.signature, **{name: value for name, value in source.items() if value is not None}}
    about = {name: str(recorded[name]) for name in DATA if name in recorded}
    data: dict[str, Any] = {"dataset_name": _corpus(result), "additional_details": about}
    if source.get("revision"):
        hub = {"hf_repo": source["dataset"], "hf_split": about.get("split", "test")}
        return data | {"source_type": "hf_dataset"} | hub
    return data | {"source_type": "other"}
