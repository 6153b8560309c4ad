"""Checks before a model is asked: `--use_cache`, which is refused, and whether it was trained on the rows.

lm-eval's `CachingLM` identifies an answer by the kind of the request and its texts (and, in 0.4, its pictures). The
model, its arguments and weights, the task and the document are not part of the key, so a second run with the same file
would be scored on the answers of another model. No key that a task could add tells models apart: lm-eval does not pass
the model to tasks, and a name or folder does not identify weights.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.harness import LM, CachingLM, Instance
from humor_tasks.rows.trained_on import CHECKPOINT, check_unseen

logger = logging.getLogger(__name__)

REQUESTS = ("loglikelihood", "loglikelihood_rolling", "generate_until")
OWN = "humor_tasks"  # every document of a `BenchmarkTask` has this key
WHY = (
    "lm-eval's cache does not know which model an answer is from, and would give one model's answers to another. "
    "Nothing has been asked. In Inspect, `inspect eval-retry` resumes an interrupted run."
)


class Uncached(LM):
    """A model that answers from documents, arguments and weights, none of which lm-eval's cache distinguishes."""

    def set_cache_hook(self, cache_hook: Any) -> None:
        """See LM; lm-eval calls it for `--use_cache`, which raises BadInput."""
        if cache_hook.dbdict is not None:
            raise BadInput(f"--use_cache: leave it out for {type(self).__name__}. {WHY}")
        super().set_cache_hook(cache_hook)


def refuse_use_cache() -> None:
    """Make lm-eval's cache refuse requests of this package's tasks, whichever the model; a second call changes nothing.

    lm-eval has no hook for it: `simple_evaluate` wraps the model before it loads tasks, and passes tasks its rank only.
    """
    original: Callable[[CachingLM, str], Any] = CachingLM.__getattr__
    if original.__module__ == __name__:
        return

    def attribute(self: CachingLM, name: str) -> Any:
        value = original(self, name)
        return _checked(value) if name in REQUESTS else value

    CachingLM.__getattr__ = attribute


def _checked(answer: Callable[[Sequence[Instance]], Any]) -> Callable[[Sequence[Instance]], Any]:
    def answers(requests: Sequence[Instance]) -> Any:
        names = {str(r.task_name): None for r in requests if isinstance(r.doc, dict) and OWN in r.doc}
        if names:
            raise BadInput(f"--use_cache: leave it out for {', '.join(names)}. {WHY}")
        return answer(requests)

    return answers


def check_weights(arguments: Mapping[str, Any], split: str, units: Collection[str]) -> None:
    """Raise BadInput where the model was trained on these units of a split; see `rows.trained_on.check_unseen`.

    arguments: `--metadata`, with the model arguments of the command line. This serves models of any provider.
    """
    place = arguments.get("pretrained")
    if isinstance(place, str):
        check_unseen(place, [place], split, units, tells=(Path(place).expanduser() / CHECKPOINT).is_file())


def check_whole_items(task: str, run: Run, limit: int | None, samples: Sequence[int] | None) -> None:
    """Say how many requests there are, where each item is asked several times, before the first one.

    Raises BadInput where `--limit` or `--samples` leaves out some of the askings of an item: its scores under all
    prompt sets and in all orders would be of other items.
    """
    ways = run.variations.number
    if ways == 1:
        return
    numbers = samples or range(min(limit or len(run.records), len(run.records)))
    asked = Counter(i // ways for i in numbers)
    if any(count != ways for count in asked.values()):
        raise BadInput(
            f"{task}: each item is asked {ways} times, and {'--samples' if samples else f'--limit {limit}'} leaves "
            f"out some of these. Use whole items: a multiple of {ways}, rows {ways} x i to {ways} x i + "
            f"{ways - 1} of item i."
        )
    logger.warning("%s: %s", task, run.variations.in_words(len(numbers) // ways))


def check_requests(place: str, requests: Sequence[Instance]) -> None:
    """The same for the documents of requests, when a model of this package with the weights `place` is asked."""
    units: dict[tuple[str, str], set[str]] = {}
    for request in requests:
        entry = request.doc.get(OWN, {}) if isinstance(request.doc, dict) else {}
        if "split" in entry:
            units.setdefault((entry["benchmark"], entry["split"]), set()).add(request.doc["cluster"])
    for (name, split), clusters in units.items():
        check_unseen(place, [place], split, {find_benchmark(name).unit(cluster) for cluster in clusters}, tells=True)
