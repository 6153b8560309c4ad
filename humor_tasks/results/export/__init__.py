"""Results of finished runs in the forms of other places.

This module says which results may stand for their corpus there, and under which model's name. `eval_schema` writes
records of Every Eval Ever, `hub_results` the hub's `.eval_results`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from humor_tasks.errors import BadInput, nearest
from humor_tasks.results.result import LeftOut, Result, Results

MODEL = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)


@dataclass(frozen=True)
class Published:
    """A result and the model that it is of, as the hub writes it: ORG/NAME."""

    result: Result
    model: str


def read_models(pairs: Iterable[str]) -> dict[str, str]:
    """System -> model, from "SYSTEM=ORG/NAME". Raises BadInput for another form, and for two models of one system."""
    models: dict[str, str] = {}
    for pair in pairs:
        system, _, model = pair.rpartition("=")
        if not system or not _on_the_hub(model):
            raise BadInput(f"--model {pair}: give the system's name in the log and its model: SYSTEM=ORG/NAME.")
        if models.setdefault(system, model) != model:
            raise BadInput(f"--model {system}: is given as {models[system]} and as {model}; a system is one model.")
    return models


def _on_the_hub(model: str) -> bool:
    """Whether the hub would take this name, with an organisation, for a model."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # public by its documentation

    try:
        validate_repo_id(model)
    except HFValidationError:
        return False
    return MODEL.fullmatch(model) is not None


def choose(
    results: Results, models: Mapping[str, str], refuses: Callable[[Result], str] = lambda _: ""
) -> tuple[list[Published], list[LeftOut]]:
    """The results that may be published, and the others with the reason.

    refuses: why the place where they go cannot take a result; "" where it can. Raises BadInput where nothing is left,
    for a system without a model and for a model of no system.
    """
    chosen: list[Result] = []
    left = list(results.left_out)
    for result in results.results:
        try:
            why = refusal(result) or refuses(result)
        except BadInput as problem:  # values that give no score
            why = str(problem)
        if why:
            left += [LeftOut(path, why) for path in result.paths]
        else:
            chosen.append(result)
    reasons = "\n".join(f"{file.path}: {file.why}" for file in left)
    if not chosen:
        raise BadInput(f"there is no result that can be exported; nothing was written.\n{reasons}")
    systems = {result.system for result in results.results}
    for system in models:
        if system not in systems:
            why = f"\nLeft out: {reasons}" if left else ""
            raise BadInput(f"--model {system}: no run is of this system.{nearest(system, systems)}{why}")
    if missing := sorted({result.system for result in chosen} - models.keys()):
        options = " ".join(f"--model '{system}=ORG/NAME'" for system in missing)
        raise BadInput(f"say which models these systems are, as the hub names them: {options}")
    return [Published(result, models[result.system]) for result in chosen], left


def refusal(result: Result) -> str:
    """Why a result may not stand for the benchmark's corpus; "" where it may."""
    corpus, dataset = defaults(result).get("dataset"), result.run.source.get("dataset")
    name, main = result.benchmark.name, result.benchmark.metrics[0].name
    if dataset == "sample":
        return f"is of the packaged sample and says nothing about {corpus or 'the corpus'}; run {name} on the corpus."
    if not corpus:
        return f"{name} has no public corpus that its result could stand for."
    if not dataset and result.run.harness == "lm_eval":
        return "does not say which rows it is of; put lm-eval's results_*.json of the run beside its samples."
    if dataset != corpus:
        return f"is of {dataset or 'rows of unknown origin'} and not of {corpus}; run {name} without `dataset`."
    if not result.complete:
        return " ".join(result.notes)
    if not result.signature:
        return f"has no signature, which says how it was made; run {name} with this version."
    if main not in result.estimates or not math.isfinite(result.estimates[main].value):
        return f"has no value of {main}."
    return ""


def defaults(result: Result) -> dict[str, Any]:
    """The defaults of the benchmark's parameters."""
    return {field.name: field.default for field in dataclasses.fields(result.benchmark.options)}


def started(result: Result) -> str:
    """When the run was made, in ISO 8601; "" where its files do not say. lm-eval writes hours with hyphens."""
    date, _, time = result.run.created.partition("T")
    return f"{date}T{time if ':' in time else time.replace('-', ':')}" if time else date
