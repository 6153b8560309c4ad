"""Instance-level records of Every Eval Ever (schema 0.3.0): UUID_samples.jsonl beside a run's aggregate record.

One line is one reply and one metric, as the schema asks: `evaluation_result_id` names the score that it counts towards.
Lines are written while the log is read, one sample at a time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from humor_tasks.contract.metric import Metric
from humor_tasks.files.writing import encodable, replacing
from humor_tasks.logs import LoggedSample
from humor_tasks.results.result import Result
from humor_tasks.rows.records import Outcome


def beside(aggregate: PurePosixPath) -> PurePosixPath:
    """The path of the samples of an aggregate record, which the schema prescribes."""
    return aggregate.with_name(f"{aggregate.stem}_samples.jsonl")


def write_samples(folder: Path, aggregate: PurePosixPath, record: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """Write the samples of a result beside its aggregate `record`; returns its `detailed_evaluation_results`.

    folder: the folder that `aggregate` is relative to. Raises BadInput where the file cannot be written.
    """
    path, digest, count = beside(aggregate), hashlib.sha256(), 0
    with replacing(folder / path) as temporary, temporary.open("wb") as file:
        for line in _lines(record, result):
            # ASCII: the validator takes U+2028 and U+0085 in a text for ends of the line
            data = f"{json.dumps(line, allow_nan=False)}\n".encode("ascii")
            file.write(data)
            digest.update(data)
            count += 1
    about = {"hash_algorithm": "sha256", "checksum": digest.hexdigest(), "total_rows": count}
    return {"format": "jsonl", "file_path": str(path), **about}


def _lines(record: Mapping[str, Any], result: Result) -> Iterator[dict[str, Any]]:
    common = {
        "schema_version": record["schema_version"],
        "evaluation_id": record["evaluation_id"],
        "model_id": record["model_info"]["id"],
        "evaluation_name": result.benchmark.name,
    }
    identities = {score["evaluation_result_id"] for score in record["evaluation_results"]}
    metrics = {identity: m for m in result.opened.reported if (identity := result_id(result, m)) in identities}
    for sample in result.run:
        for score in sample.scores:
            if score.outcome is None or score.scorer.rsplit("/", 1)[-1] != result.scorer:
                continue
            reply = _reply(sample, score.outcome, result)
            for identity, metric in metrics.items():
                if metric.values in score.outcome.values and metric.counted([score.outcome]):
                    value = score.outcome.values[metric.values]
                    evaluation = {"score": value, "is_correct": _correct(score.outcome, result), "num_turns": 1}
                    yield {**common, "evaluation_result_id": identity, **reply, "evaluation": evaluation}


def result_id(result: Result, metric: Metric) -> str:
    """The name of a metric's score within the record of its run."""
    return f"{result.scorer}:{metric.name}"


def _reply(sample: LoggedSample, outcome: Outcome, result: Result) -> dict[str, Any]:
    """What the records of one reply have in common: the question, the reply and the answer read from it."""
    question, prompt = encodable(sample.question), encodable(sample.prompt)
    reference = [encodable(sample.target)] if sample.target is not None else []
    told = {"epoch": str(sample.epoch), "cluster": sample.cluster, "status": outcome.status}
    told |= {"stop_reason": sample.stop} if sample.stop else {}
    told |= {"media": ", ".join(sample.media_names)} if sample.media_names else {}
    failed = sample.error or (outcome.status if outcome.status != "answered" else None)
    return {
        "sample_id": encodable(sample.id),
        "sample_hash": hashlib.sha256("".join((question, *reference)).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {
            "raw": question,
            "formatted": prompt if prompt != question else None,
            "reference": reference,
            "choices": [encodable(choice) for choice in sample.choices] or None,
        },
        "output": {"raw": [encodable(sample.reply)] if sample.reply is not None else []},
        "answer_attribution": _attribution(outcome, result),
        "error": encodable(failed) if failed else None,
        "metadata": {name: encodable(text) for name, text in {**outcome.groups, **told}.items()},
    }


def _attribution(outcome: Outcome, result: Result) -> list[dict[str, Any]]:
    if outcome.answer is None:
        return []
    method = result.signature.get("method", "generate")
    read = result.signature.get("extraction", result.scorer) if method == "generate" else method
    found = {"extracted_value": encodable(outcome.answer), "extraction_method": read, "is_terminal": True}
    return [{"turn_idx": 0, "source": "output.raw", **found}]


def _correct(outcome: Outcome, result: Result) -> bool:
    """Whether the benchmark's main metric, a share of right answers, is 1; False where it is another measure."""
    main = result.benchmark.metrics[0]
    return main.proportion and main.direction == "higher" and outcome.values.get(main.values) == 1
