"""Inspect models by name, the identity of a model, the policy of Inspect's cache, and prices.

Inspect's cache identifies an answer by the model's provider and name, its base URL, the generation settings and the
messages with their metadata, pictures and clips. The arguments of a model (`-M`) and the content of files on this
machine are not part of the key: `policy` adds them. Inspect includes no prices: `register_prices` adds ours.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    CachePolicy,
    GenerateConfig,
    Model,
    ModelCost,
    ModelInfo,
    ModelOutput,
    get_model,
    get_model_info,
    set_model_info,
)

from humor_tasks.errors import BadInput
from humor_tasks.files.secrets import without_secrets
from humor_tasks.logs.prices import read_prices
from humor_tasks.on_inspect.errors import cannot_run, one_line
from humor_tasks.on_inspect.local import fill_batches
from humor_tasks.on_inspect.private import parse_cli_args

_RESERVED = ("model", "role", "default", "config", "memoize")  # parameters of `get_model` itself


def open_model(
    name: str,
    arguments: Sequence[str] = (),
    base_url: str | None = None,
    at_once: int | None = None,
    role: str | None = None,
) -> Model:
    """An Inspect model by name; `arguments` are parsed like those of `-M`. Raises BadInput if it cannot be opened."""
    what = role or "model"
    if bare := next((argument for argument in arguments if not argument.partition("=")[1]), None):
        raise BadInput(f"-M {bare}: has no value; write -M {bare}=VALUE.")
    try:
        given = parse_cli_args(list(arguments), force_str=False)
        if taken := next((argument for argument in given if argument in _RESERVED), None):
            raise BadInput(f"-M {taken}: is not an argument of a model; leave it out.")
        config = GenerateConfig(max_connections=at_once)
        model = get_model(name, role=role, base_url=base_url, config=config, memoize=False, **given)
    except BadInput:
        raise
    except Exception as problem:  # invalid YAML in an argument, or any error of the provider
        raise BadInput(f"{what} {name}: {one_line(problem)}") from None
    fill_batches([model])
    return model


def identity(model: Model) -> dict[str, Any]:
    """What a model's answers depend on besides its name and generation settings; empty if that is all.

    A model may tell it itself, as OFA does: checkpoint, revision and settings. For other models it is the `-M`
    arguments, and the state of the files on this machine that the name or an argument points to.
    """
    identify: Callable[[], dict[str, Any]] | None = getattr(model.api, "identity", None)
    if identify:
        return identify()
    given = without_secrets(_plain(model.model_args), drop=True, headers=False)
    files = [_state(path) for path in local_files(model.name, model.model_args)]
    return ({"model_args": given} if given else {}) | ({"files": files} if files else {})


def local_files(name: str, arguments: Mapping[str, Any]) -> list[Path]:
    """The files and folders on this machine that a model's name or one of its arguments points to."""
    return [
        Path(value).expanduser() for value in (name, *arguments.values()) if isinstance(value, str) and _is_path(value)
    ]


def _is_path(text: str) -> bool:
    try:
        return bool(text) and Path(text).expanduser().exists()
    except (OSError, RuntimeError, ValueError):  # cannot be a path
        return False


def _state(path: Path) -> str:
    """The first 16 hex digits of the SHA-256 over names, sizes and times of a file or of all files in a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    state = [(str(file.relative_to(path)), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(state).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """The value for JSON."""
    if isinstance(value, Mapping):
        return {str(name): _plain(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    if callable(value):  # its text holds an address, which differs between runs
        return getattr(value, "__qualname__", type(value).__name__)
    # Other values become text: YAML parses api_version=2024-06-01 as a date.
    return value if value is None or isinstance(value, int | float) else str(value)


def policy(model: Model, **scopes: str) -> CachePolicy:
    """The policy for requests of this package, whose key also has the model's `identity` and `scopes`.

    Entries do not expire and are shared by all epochs.
    """
    about = identity(model)
    model_scope = {"model": json.dumps(about, sort_keys=True)} if about else {}
    return CachePolicy(expiry=None, per_epoch=False, scopes=scopes | model_scope)


def replayed(output: ModelOutput) -> bool:
    """Whether the running sample got this output from the cache."""
    if not output.choices:
        return False
    known = output.choices[0].message.id
    for event in reversed(list(transcript().events)):
        if isinstance(event, ModelEvent) and event.output.choices and event.output.choices[0].message.id == known:
            return event.cache == "read"
    return False


@lru_cache(maxsize=1)
def register_prices() -> None:
    """Register the price list with Inspect, once per process; existing prices are not replaced."""
    try:
        prices = read_prices()
    except BadInput as problem:
        cannot_run(str(problem))
    for name, price in prices.items():
        info = get_model_info(name) or ModelInfo()
        if info.cost is None:
            cost = ModelCost(
                input=price.input,
                output=price.output,
                input_cache_read=price.cache_read,
                input_cache_write=price.cache_write,
            )
            set_model_info(name, info.model_copy(update={"cost": cost}))
