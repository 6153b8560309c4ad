"""The command that starts a run again, its versions, and how epochs were reduced, from what a log records of them."""

from __future__ import annotations

import datetime
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humor_tasks.files.secrets import without_secrets
from humor_tasks.logs.record import MEAN, Invocation

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import ModelConfig

REDUCTIONS = "reductions.json"  # the member of an .eval that its header lacks
SEEDS = {"random_seed": 0, "numpy_seed": 1234, "torch_seed": 1234, "fewshot_seed": 1234}
"""lm-eval's seeds in the order of its `--seed`, with their defaults."""


def of_inspect(log: EvalLog, settings: Mapping[str, Any], answered_by: str) -> Invocation:
    """What an Inspect log says. settings: of generation, as far as the task does not prescribe them."""
    asked, config = log.eval, log.eval.config
    words = ["inspect", "eval", asked.task_registry_name or asked.task, "--model", asked.model]
    words += _option("--model-base-url", without_secrets(asked.model_base_url))
    words += _pairs("-M", asked.model_args)
    for role, models in (asked.model_roles or {}).items():
        words += ["--model-role", f"{role}={_models(models if isinstance(models, list) else [models])}"]
    words += _option("--solver", asked.solver) + _pairs("-S", asked.solver_args_passed or {})
    said = log.plan.config.merge(asked.model_generate_config).system_message
    for name, value in _open({**settings, "system_message": said}).items():
        words += _option(f"--{name.replace('_', '-')}", value)
    limit: Any = config.limit
    if isinstance(limit, tuple | list):  # from 0; the command line counts from 1
        limit = f"{limit[0] + 1}-{limit[1]}"
    epochs = config.epochs if config.epochs != 1 else None
    words += _option("--limit", limit) + _option("--sample-id", config.sample_id) + _option("--epochs", epochs)
    return Invocation(
        words=tuple(words),
        parameters=without_secrets(asked.task_args_passed),
        versions={name.replace("_", "-"): version for name, version in asked.packages.items()},
        answered_by=answered_by,
        seconds=_seconds(log.stats.started_at, log.stats.completed_at),
    )


def reducer(log: EvalLog) -> str:
    """How the epochs are reduced: MEAN, also beside other ways and of one epoch, or the first way, as "mode of 3"."""
    ways = log.eval.config.epochs_reducer or [MEAN]
    epochs = log.eval.config.epochs or 1
    return MEAN if epochs == 1 or MEAN in ways else f"{ways[0]} of {epochs}"


def reduced(log: EvalLog, path: Path) -> dict[str, dict[str, Any]]:
    """Scorer -> id -> the value to which the log reduced all epochs in that way."""
    found = [reduction.model_dump() for reduction in log.reductions or ()]
    if not found and path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            found = json.loads(archive.read(REDUCTIONS)) if REDUCTIONS in archive.NameToInfo else []
    values = {each["scorer"]: each["samples"] for each in found if each.get("reducer") == reducer(log).split(" of ")[0]}
    return {name: {str(sample["sample_id"]): sample["value"] for sample in of} for name, of in values.items()}


def arguments_of(log: EvalLog) -> dict[str, Any]:
    """The arguments that the model was made with, without secrets; of a run that only graded, its explainer's."""
    told = log.eval.metadata or {}
    given = told.get("explainer_arguments") or {} if told.get("explainer") else log.eval.model_args
    made: dict[str, Any] = without_secrets(given, drop=True)
    return made


def of_lm_eval(task: str, results: Mapping[str, Any]) -> Invocation:
    """What lm-eval's file of results says. Its task parameters stand among the task's own metadata."""
    config = results.get("config") or {}
    words = ["lm_eval", "--tasks", task, *_option("--model", config.get("model"))]
    for name in ("model_args", "gen_kwargs"):
        given = config.get(name) or {}
        pairs = without_secrets(given) if isinstance(given, str) else ",".join(_written(given))
        words += _option(f"--{name}", pairs or None)
    if results.get("chat_template"):
        words.append("--apply_chat_template")
    words += _option("--system_instruction", results.get("system_instruction"))
    words += _option("--limit", config.get("limit")) + _option("--batch_size", config.get("batch_size"))
    seeds = [config.get(name, default) for name, default in SEEDS.items()]
    words += _option("--seed", ",".join(map(str, seeds)) if seeds != list(SEEDS.values()) else None)
    seconds = results.get("total_evaluation_time_seconds")
    named = {"lm-eval": "lm_eval_version", "transformers": "transformers_version"}
    return Invocation(
        words=(*words, "--log_samples", "--output_path", "logs"),
        parameters=without_secrets(dict((results.get("configs") or {}).get(task, {}).get("metadata") or {})),
        versions={name: str(results[key]) for name, key in named.items() if results.get(key)},
        seconds=float(seconds) if seconds else None,
    )


def _models(models: Iterable[ModelConfig]) -> str:
    """The models of a role: names with commas, or JSON where one has settings or arguments."""
    described = []
    for model in models:
        arguments = _open(model.args) | ({"base_url": without_secrets(model.base_url)} if model.base_url else {})
        settings = _open(model.config.model_dump(exclude_none=True)) | ({"model_args": arguments} if arguments else {})
        described.append({"model": model.model, **settings} if settings else model.model)
    if all(isinstance(each, str) for each in described):
        return ",".join(map(str, described))
    return json.dumps(described[0] if len(described) == 1 else described)


def _open(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are set, with those of secrets hidden."""
    opened: dict[str, Any] = without_secrets({name: value for name, value in values.items() if value is not None})
    return opened


def _option(flag: str, value: Any) -> list[str]:
    """The words of an option; none where it has no value."""
    if value is None or value is False:
        return []
    return [flag] if value is True else [flag, text_of(value)]


def _pairs(flag: str, values: Mapping[str, Any]) -> list[str]:
    return [word for pair in _written(values) for word in (flag, pair)]


def _written(values: Mapping[str, Any]) -> Iterator[str]:
    """NAME=VALUE, without secrets."""
    return (f"{name}={text_of(value)}" for name, value in _open(values).items())


def text_of(value: Any) -> str:
    """A value as both harnesses read it on their command lines."""
    if isinstance(value, list | tuple):
        return ",".join(map(text_of, value))
    if isinstance(value, Mapping):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _seconds(started: str, ended: str) -> float | None:
    try:
        return (datetime.datetime.fromisoformat(ended) - datetime.datetime.fromisoformat(started)).total_seconds()
    except (TypeError, ValueError):  # of an unfinished run
        return None
