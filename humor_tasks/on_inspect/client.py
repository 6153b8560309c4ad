"""Inspect models by name, for commands that ask them themselves, and what they say of themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.model import GenerateConfig, Model, get_model

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import plain
from humor_tasks.on_inspect.private import parse_cli_args

_SECRET = re.compile(r"key|token(?!iz|s\b)|secret|passw|passphrase|pwd|credential|auth|bearer|cookie", re.I)
_OWN = ("model", "role", "default", "config", "memoize")  # what `get_model` takes for itself


def open_model(
    name: str,
    arguments: Sequence[str] = (),
    base_url: str | None = None,
    at_once: int | None = None,
    role: str | None = None,
) -> Model:
    """An Inspect model by name, `arguments` read as Inspect reads those after `-M`; BadInput if there is none."""
    what = role or "model"
    if bare := next((argument for argument in arguments if not argument.partition("=")[1]), None):
        raise BadInput(f"-M {bare}: has no value; give it as -M {bare}=VALUE.")
    try:
        given = parse_cli_args(list(arguments), force_str=False)
        if taken := next((argument for argument in given if argument in _OWN), None):
            raise BadInput(f"-M {taken}: is no argument of a model.")
        config = GenerateConfig(max_connections=at_once)
        model = get_model(name, role=role, base_url=base_url, config=config, memoize=False, **given)
    except BadInput:
        raise
    except Exception as problem:  # YAML's of an argument; whatever a provider raises that cannot begin
        raise BadInput(f"{what} {name}: {plain(problem)}") from None
    if at_once is None and hasattr(model.api, "identity"):
        # In this process: no server to feel one's way with, as Inspect otherwise does from 20 requests up.
        model.config.max_connections = model.api.max_connections()
    return model


def identity(model: Model) -> dict[str, Any]:
    """What a model of this package says of itself: checkpoint, revision, settings. Of others, the `-M` arguments."""
    tell: Callable[[], dict[str, Any]] | None = getattr(model.api, "identity", None)
    if tell:
        return tell()
    given = _told(model.model_args)
    return {"model_args": given} if given else {}


def _told(value: Any) -> Any:
    """As JSON has it, at any depth; without what is named like a secret, and who logs in where."""
    if isinstance(value, Mapping):
        return {str(name): _told(held) for name, held in value.items() if not _SECRET.search(str(name))}
    if isinstance(value, list | tuple):
        return [_told(held) for held in value]
    # YAML makes a date of api_version=2024-06-01.
    return value if value is None or isinstance(value, int | float) else re.sub(r"(?<=://)[^/@\s]+@", "", str(value))
