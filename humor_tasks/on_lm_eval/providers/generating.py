"""What models in this process are asked: the prompt with the answer's prefix, and lm-eval's generation arguments."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.models.utils import normalize_gen_kwargs

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.data.records import plain_text
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.on_lm_eval.checks import OWN
from humor_tasks.on_lm_eval.harness import Instance, Unsaid


def prompt_of(request: Instance, prefix: str) -> str:
    """A request's prompt up to where the answer goes on, after `prefix_of`; tasks of replies leave it to the model."""
    text = str(request.args[0])
    return text if text.endswith(prefix) else plain_text([text.rstrip()], prefix)


def prefix_of(request: Instance) -> str:
    """The prefix of answers in a task of this package; empty for other tasks."""
    told = request.doc.get(OWN) if isinstance(request.doc, dict) else None
    return _prefix(told["benchmark"], tuple(told["options"].items())) if told else ""


@functools.cache
def _prefix(name: str, options: tuple[tuple[str, Any], ...]) -> str:
    return find_benchmark(name).reopen(None, dict(options)).form.prefix


def read_arguments(
    who: str, given: Mapping[str, Any], own: int, chosen: bool, known: Sequence[str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments by lm-eval's names, and the stop sequences.

    own, chosen: see `ReplyLength.within`. temperature is None for greedy decoding. Raises BadInput for an argument that
    is not `known`, and for invalid ones.
    """
    try:
        how: dict[str, Any] = dict(normalize_gen_kwargs(dict(given), own))
    except (TypeError, ValueError) as problem:
        raise BadInput(f"{who}: {dict(given)} cannot be used ({problem}).") from None
    if isinstance(given, Unsaid):
        how["max_gen_toks"] = given.length.within(own, chosen)
    stops, draws = [stop for stop in how.pop("until") if stop is not None], how.pop("do_sample")
    for name in how:
        check_choice(who, name, known)
    if wrong := [stop for stop in stops if not isinstance(stop, str)]:
        raise BadInput(f"{who}: until contains {wrong[0]!r}; it must be a text or a list of texts.")
    if draws not in (None, True, False):
        raise BadInput(f"{who}: do_sample is {draws!r}; it must be true or false.")
    if draws:
        how.setdefault("temperature", 1.0)
    else:
        how["temperature"] = None
    return how, tuple(stops)
