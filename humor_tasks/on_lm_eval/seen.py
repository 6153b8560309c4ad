"""The check that a model was not trained on the rows that it is asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.records import Record
from humor_tasks.data.trained_on import CHECKPOINT, check_unseen
from humor_tasks.on_lm_eval.answer_cache import OWN
from humor_tasks.on_lm_eval.harness import Instance


def check_weights(arguments: Mapping[str, Any], run: Run, records: Sequence[Record]) -> None:
    """Raise BadInput where the model was trained on these records; see `data.trained_on.check_unseen`.

    arguments: `--metadata`, with the model arguments of the command line. This serves models of any provider.
    """
    place = arguments.get("pretrained")
    if isinstance(place, str):
        units = {run.benchmark.unit(record.cluster) for record in records}
        check_unseen(place, [place], run.options.split, units, tells=(Path(place).expanduser() / CHECKPOINT).is_file())


def check_requests(place: str, requests: Sequence[Instance]) -> None:
    """The same for the documents of requests, when a model of this package with the weights `place` is asked."""
    units: dict[tuple[str, str], set[str]] = {}
    for request in requests:
        told = request.doc.get(OWN, {}) if isinstance(request.doc, dict) else {}
        if "split" in told:
            units.setdefault((told["benchmark"], told["split"]), set()).add(request.doc["cluster"])
    for (name, split), clusters in units.items():
        check_unseen(place, [place], split, {find_benchmark(name).unit(cluster) for cluster in clusters}, tells=True)
