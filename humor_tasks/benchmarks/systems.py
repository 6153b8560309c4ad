"""Explanations for pairwise comparison: a model's, from a log or a file, or the human references."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.contract import Run
from humor_tasks.errors import BadInput

HUMAN = "human"


@dataclass(frozen=True)
class Side:
    """Texts by instance id, empty where a reply had none; `model` names their author."""

    texts: Mapping[str, str] = field(repr=False)
    model: str

    @property
    def fingerprint(self) -> str:
        """SHA-256 over ids and texts."""
        text = json.dumps(dict(self.texts), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_side(spec: str, run: Run) -> Side:
    """The texts that `spec` names: `human` (the references of `run`), an Inspect log, lm-eval's samples, or a file.

    A log ends in .eval or .json, samples end in .jsonl. A file of texts is {instance_id: text} as JSON, or records as
    JSON lines. Replies are parsed by the benchmark of `run`, so a leading "Explanation:" is removed. Raises BadInput
    for any other file, and for logs of another task, with several epochs, or of an unfinished run.
    """
    if spec == HUMAN:
        return Side({record.id: record.target or "" for record in run.records}, HUMAN)
    path = Path(spec).expanduser()
    if not path.is_file():
        raise BadInput(
            f"{spec}: there is no such file; name 'human', an Inspect log, lm-eval's samples or {{id: text}} as JSON."
        )
    replies, model = _replies(path, run.benchmark.name)
    if not replies:
        raise BadInput(f"{path}: has no explanations.")
    known = {record.id: record for record in run.records}
    texts = {}
    for identity, reply in replies.items():
        text = run.outcome(known[identity], reply).answer or "" if identity in known else reply.strip()
        texts[identity] = text.encode("utf-8", "replace").decode()  # lone surrogates cannot be logged
    return Side(texts, model)


def _replies(path: Path, task: str) -> tuple[dict[str, str], str]:
    """{id: reply}, and the name of the model."""
    if path.suffix == ".eval" or _is_inspect_json(path):
        return _of_inspect(path, task)
    if path.suffix == ".jsonl" and (found := _of_lm_eval(path)):
        return found, path.stem
    from humor_tasks.data.predictions import read_predictions

    return read_predictions(path), path.stem


def _is_inspect_json(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    with path.open("rb") as file:
        start = file.read(400)
    return b'"eval"' in start and b'"version"' in start


def _of_inspect(path: Path, task: str) -> tuple[dict[str, str], str]:
    from humor_tasks.on_inspect.logs import read_log

    log = read_log(path)
    if log.status != "success":
        raise BadInput(f"{path}: ended with status {log.status}; finish it with inspect eval-retry.")
    found: dict[str, str] = {}
    for sample in log.samples or []:
        if sample.metadata.get("humor_tasks", {}).get("benchmark") != task:
            raise BadInput(f"{path}: sample {sample.id} is not of humor_tasks/{task}.")
        if sample.epoch > 1:
            raise BadInput(f"{path}: holds several epochs; keep one reply an instance (--epochs 1).")
        if sample.error is not None or not sample.output.choices:
            raise BadInput(f"{path}: sample {sample.id} has no reply; finish the run with inspect eval-retry.")
        found[str(sample.id)] = sample.output.completion
    return found, log.eval.model


def _of_lm_eval(path: Path) -> dict[str, str]:
    """{id: reply} of lm-eval's samples; empty where the lines are something else."""
    found: dict[str, str] = {}
    for i, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {i}"
        try:
            sample: Any = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise BadInput(f"{where}: not JSON that can be read ({problem}).") from None
        if not isinstance(sample, dict) or "doc" not in sample:
            return {}
        try:
            identity, reply = sample["doc"]["id"], sample["filtered_resps"][0]
        except (KeyError, TypeError, IndexError) as problem:
            raise BadInput(f"{where}: is no sample of a humor-tasks task ({problem!r}).") from None
        if not isinstance(reply, str):
            raise BadInput(f"{where}: holds no reply but {reply!r}; take the samples of a _gen task.")
        if identity in found:
            raise BadInput(f"{where}: holds a second reply for {identity}; keep one run a file.")
        found[identity] = reply
    return found
