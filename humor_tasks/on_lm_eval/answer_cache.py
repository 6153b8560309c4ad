"""lm-eval's `--use_cache`, which this package's tasks and models refuse.

lm-eval's `CachingLM` identifies an answer by the kind of the request and its texts (and, in 0.4, its pictures). The
model, its arguments and weights, the task and the document are not part of the key, so a second run with the same file
would be scored on the answers of another model. No key that a task could add tells models apart: lm-eval does not pass
the model to tasks, and a name or folder does not identify weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.harness import LM, CachingLM, Instance

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
    found: Callable[[CachingLM, str], Any] = CachingLM.__getattr__
    if found.__module__ == __name__:
        return

    def attribute(self: CachingLM, name: str) -> Any:
        value = found(self, name)
        return _checked(value) if name in REQUESTS else value

    CachingLM.__getattr__ = attribute


def _checked(answer: Callable[[Sequence[Instance]], Any]) -> Callable[[Sequence[Instance]], Any]:
    def answers(requests: Sequence[Instance]) -> Any:
        names = {str(r.task_name): None for r in requests if isinstance(r.doc, dict) and OWN in r.doc}
        if names:
            raise BadInput(f"--use_cache: leave it out for {', '.join(names)}. {WHY}")
        return answer(requests)

    return answers
