"""Explanations for pairwise comparison: a model's, from a log or a file, or the human references."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from humor_tasks.benchmarks.contract import Run
from humor_tasks.data.logs import read_run
from humor_tasks.errors import BadInput

HUMAN = "human"
ONE_REPLY = "keep one reply per instance (--epochs 1)."


@dataclass(frozen=True)
class System:
    """Texts by instance id, empty where a reply had none; `model` names their author."""

    texts: Mapping[str, str] = field(repr=False)
    model: str

    @property
    def fingerprint(self) -> str:
        """SHA-256 over ids and texts."""
        text = json.dumps(dict(self.texts), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_system(spec: str, run: Run) -> System:
    """The texts that `spec` names: `human` (the references of `run`), an Inspect log, lm-eval's samples, or a file.

    A log ends in .eval or .json, samples end in .jsonl. A file of texts is {instance_id: text} as JSON, or records as
    JSON lines. Replies are parsed by the benchmark of `run`, so a leading "Explanation:" is removed. Raises BadInput
    for any other file, and for logs of another task, with several epochs, or of an unfinished run.
    """
    if spec == HUMAN:
        return System({record.id: record.target or "" for record in run.records}, HUMAN)
    path = Path(spec).expanduser()
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise BadInput(f"{spec}: {what}; name 'human', an Inspect log, lm-eval's samples or {{id: text}} as JSON.")
    found = read_run(path, run.benchmark.name, one_epoch=ONE_REPLY, replies=True, texts=True)
    known = {record.id: record for record in run.records}
    texts = {}
    for sample in found.samples:
        reply = sample.reply or ""
        text = run.outcome(known[sample.id], reply).answer or "" if sample.id in known else reply.strip()
        texts[sample.id] = text.encode("utf-8", "replace").decode()  # lone surrogates cannot be logged
    if not texts:
        raise BadInput(f"{path}: has no explanations.")
    return System(texts, found.model if found.harness == "inspect" else path.stem)
