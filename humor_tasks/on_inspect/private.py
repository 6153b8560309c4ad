"""The private names of Inspect that this package needs.

A new release of Inspect may move them: tests/whole_package/test_layers.py allows private names
of Inspect in this module only.
"""

from humor_tasks.errors import unsupported

SUPPORTED = ">=0.3.281"
"""The versions of Inspect that pyproject.toml asks for."""

try:
    from inspect_ai._eval.registry import task_create
    from inspect_ai._util.config import parse_cli_args
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai._util.registry import registry_info, registry_lookup
    from inspect_ai.model._generate_config import active_generate_config
    from inspect_ai.model._model import active_model, init_active_model, init_model_roles
    from inspect_ai.model._model_info import MODEL_INFO_LOOKUP_API_KEY
except ImportError as missing:
    raise unsupported("inspect-ai", SUPPORTED, missing) from None

__all__ = [
    "MODEL_INFO_LOOKUP_API_KEY",
    "PrerequisiteError",
    "active_generate_config",
    "active_model",
    "init_active_model",
    "init_model_roles",
    "parse_cli_args",
    "registry_info",
    "registry_lookup",
    "task_create",
]
