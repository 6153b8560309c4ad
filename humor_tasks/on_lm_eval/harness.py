"""lm-eval's classes, and the one place that knows how its generations differ.

| | 0.4 | 0.5 |
|---|---|---|
| task and document of a request | the tuple `metadata` | fields of their own |
| pictures of a request | the third argument | also `additional_args`, which its own models do not read yet |
| scoring | filters of the task, then `process_results` | scorers of the task; each filters and asks `process_results` |
| a logged document | the task's; its hash is of the request's | the request's, and so is its hash |

What is installed is found by looking at its classes, not by its version.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from humor_tasks.errors import BadInput, unsupported
from humor_tasks.logs.contents import reply_text
from humor_tasks.rows.records import ReplyLength

SUPPORTED = ">=0.4.13,<0.6"
"""The versions of lm-eval that pyproject.toml asks for; newer ones work as long as `problem` finds none."""

try:
    from lm_eval.api.filter import Filter
    from lm_eval.api.instance import Instance
    from lm_eval.api.model import LM, CachingLM
    from lm_eval.api.task import Task
    from lm_eval.config.task import TaskConfig
    from lm_eval.filters import build_filter_ensemble
except ImportError as missing:
    raise unsupported("lm-eval", SUPPORTED, missing) from None

__all__ = ["LM", "CachingLM", "Instance", "Task", "TaskConfig"]

FIELDS = {field.name for field in dataclasses.fields(Instance)}
HAS_FIELDS = "additional_args" in FIELDS
HAS_SCORERS = hasattr(Task, "scorers")
GIVEN = {"doc", "ctx", "metadata", "doc_id", "apply_chat_template", "chat_template", "kwargs"}
"""What lm-eval may give `construct_requests`."""
OUTCOME = "outcome"


class Where(NamedTuple):
    """The task and the document of a request."""

    task: str
    doc_id: int
    repeats: int = 1

    @classmethod
    def from_kwargs(cls, task: str, given: Mapping[str, Any]) -> Where:
        """From the keyword arguments of `construct_requests`."""
        metadata = given.get("metadata")
        return cls(*metadata) if isinstance(metadata, tuple) else cls(task, given.get("doc_id", 0))


def request(
    kind: Any,
    doc: dict[str, Any],
    arguments: tuple[Any, ...],
    index: int,
    where: Where,
    visual: Mapping[str, Any] | None = None,
    target: str | None = None,
) -> Instance:
    """A request to a model; `visual`: {"visual": pictures}, which all requests of a document may share."""
    if visual:
        arguments = (*arguments, visual)
    if not HAS_FIELDS:
        return Instance(kind, doc, arguments, index, metadata=tuple(where))
    more = {"additional_args": visual, "target": target, "repeats": where.repeats}
    return Instance(kind, doc, arguments, idx=index, task_name=where.task, doc_id=where.doc_id, **more)


def pictures_of(asked: Instance) -> list[Any]:
    """The pictures of a request, of this package's tasks or of others."""
    visual = getattr(asked, "additional_args", None) or (asked.args[2] if len(asked.args) > 2 else None)
    return list((visual or {}).get("visual") or ())


def prepare(task: Task) -> None:
    """Give a task what takes the first reply to each of its requests, as a text."""
    first = _take_first()
    if HAS_SCORERS:
        task._scorers = [_scorer(first)]
    else:
        task._filters = [first]


class AsText(Filter):
    """Makes a text of every reply; the pair of a log-likelihood and whether it is the greatest stays as it is."""

    def apply(self, resps: Iterable[Sequence[Any]], docs: Any) -> list[list[Any]]:
        """See Filter."""
        return [[reply if _is_likelihood(reply) else reply_text(reply) for reply in replies] for replies in resps]


def _is_likelihood(reply: Any) -> bool:
    return isinstance(reply, tuple | list) and len(reply) == 2 and isinstance(reply[0], int | float)


def _take_first() -> Any:
    first = build_filter_ensemble("none", [("take_first", None)])
    first.filters.insert(0, AsText)
    return first


def _scorer(first: Any) -> Any:
    from lm_eval.scorers import Scorer

    class Scored(Scorer):
        """Aggregates what `process_results` returns: without the outcome, which is no metric but is logged."""

        def aggregate(
            self,
            reduced_docs: Mapping[int, Mapping[str, Any]],
            bootstrap_iters: int | None = 0,
            aggregation_overrides: dict[str, Any] | None = None,
        ) -> Any:
            metrics = {
                i: {k: v for k, v in doc_metrics.items() if k != OUTCOME} for i, doc_metrics in reduced_docs.items()
            }
            # The task has standard errors of its own: no bootstrap, which costs minutes.
            return super().aggregate(metrics, 0, aggregation_overrides)

    # Without metrics of its own: those would replace the task's of the same name.
    return Scored(name=first.name, filter=first, metrics=[])


def log_outcome(doc: dict[str, Any], metrics: dict[str, Any], outcome: Mapping[str, Any]) -> dict[str, Any]:
    """What `process_results` returns, with the outcome where the log of samples has it and a document's hash has not.

    Otherwise two models' runs would not have the same hashes.
    """
    if HAS_SCORERS:
        return metrics | {OUTCOME: dict(outcome)}
    doc[OUTCOME] = dict(outcome)
    return metrics


@functools.cache
def check_supported() -> None:
    """Raise BadInput, in one sentence, where the installed lm-eval does not fit this adapter."""
    if what := problem():
        raise unsupported("lm-eval", SUPPORTED, what)


def problem() -> str:
    """What of the installed lm-eval does not fit this adapter; empty where all does."""
    unknown = set(inspect.signature(Task.construct_requests).parameters) - GIVEN - {"self"}
    if unknown:
        return f"Task.construct_requests has the unknown parameters {', '.join(sorted(unknown))}"
    try:
        _probe()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _probe() -> None:
    """A request there and back: made, answered, filtered, scored."""
    made = request("loglikelihood", {}, ("a", " b"), 0, Where("task", 7), {"visual": ["picture"]}, "b")
    made.resps.append((-1.0, True))
    fields = (made.task_name, made.doc_id, made.args[:2], pictures_of(made))
    if fields != ("task", 7, ("a", " b"), ["picture"]):
        raise BadInput(f"a request holds {fields}")
    TaskConfig(task="task", output_type="generate_until", metadata={}, generation_kwargs={"until": []})
    first = _take_first()
    first.apply([made])
    filtered = made.filtered_resps["none"]
    if filtered != ([(-1.0, True)] if HAS_SCORERS else (-1.0, True)):
        raise BadInput(f"a filtered reply is {filtered}")
    if HAS_SCORERS:
        from lm_eval.scorers import ScoredDoc

        scorer = _scorer(first)
        scorer.set_results({7: ScoredDoc(doc_id=7, reference=None, scores={"acc": [1.0], OUTCOME: [{}]})})
        metrics, _ = scorer.aggregate(scorer.reduced_docs, aggregation_overrides={"acc": sum})
        if metrics.get("acc,none") != 1.0:
            raise BadInput(f"the aggregated scores are {metrics}")


LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""lm-eval's names for the number of tokens of a reply; the first one that is given takes precedence."""


class DefaultLength(dict[str, Any]):
    """Generation arguments with the benchmark's length of a reply, where the user gave none.

    To lm-eval and its models it is the dictionary with max_gen_toks. The models of this package tell it from a length
    that the user gave.
    """

    def __init__(self, given: Mapping[str, Any], length: ReplyLength) -> None:
        super().__init__(given, max_gen_toks=length.tokens)
        self.length = length
