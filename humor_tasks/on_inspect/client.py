"""Inspect models by name, for commands that call models outside an evaluation, and the identity of a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.model import GenerateConfig, Model, get_model

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import plain
from humor_tasks.on_inspect.private import parse_cli_args

_SECRET = re.compile(r"key|token(?!iz|s\b)|secret|passw|passphrase|pwd|credential|auth|bearer|cookie", re.I)
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
        raise BadInput(f"{what} {name}: {plain(problem)}") from None
    if at_once is None and hasattr(model.api, "identity"):
        # The model runs in this process, so Inspect's gradual increase from 20 requests is not needed.
        model.config.max_connections = model.api.max_connections()
    return model


def identity(model: Model) -> dict[str, Any]:
    """Checkpoint, revision and settings of a model of this package; for other models, the `-M` arguments."""
    own: Callable[[], dict[str, Any]] | None = getattr(model.api, "identity", None)
    if own:
        return own()
    given = _without_secrets(model.model_args)
    return {"model_args": given} if given else {}


def _without_secrets(value: Any) -> Any:
    """The value for JSON, without entries whose names suggest secrets and without credentials in URLs."""
    if isinstance(value, Mapping):
        return {str(name): _without_secrets(held) for name, held in value.items() if not _SECRET.search(str(name))}
    if isinstance(value, list | tuple):
        return [_without_secrets(held) for held in value]
    if callable(value):  # its text holds an address, which differs between runs
        return getattr(value, "__qualname__", type(value).__name__)
    # Other values become text: YAML parses api_version=2024-06-01 as a date.
    return value if value is None or isinstance(value, int | float) else re.sub(r"(?<=://)[^/@\s]+@", "", str(value))
