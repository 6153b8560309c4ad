"""Models that run in this process are loaded once.

To show a model's context window, Inspect makes the model a second time by its name, with a placeholder for the API key.
For a model here that would load all weights again, without its `-M` arguments, and take its memory twice.
"""

from __future__ import annotations

from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.private import MODEL_INFO_LOOKUP_API_KEY


def refuse_lookup(model_name: str, api_key: str | None) -> None:
    """Raise CannotRun where Inspect only looks up a model's context window. Inspect takes that as unknown."""
    if api_key == MODEL_INFO_LOOKUP_API_KEY:
        cannot_run(f"model {model_name}: it has no context window that Inspect could look up.")
