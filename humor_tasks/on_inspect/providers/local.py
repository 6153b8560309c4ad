"""Models that run in this process.

They are loaded once: to show a model's context window, Inspect makes the model a second time by its name, with a
placeholder for the API key. For a model here that would load all weights again, without its `-M` arguments, and take
its memory twice.

They answer what is queued as one batch. By default, Inspect starts with 20 requests at once and adds more as a remote
server bears them. A model here gets two batches at once, so that the next one fills while one runs.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

from inspect_ai.model import GenerateConfig, Model, ModelAPI

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.private import MODEL_INFO_LOOKUP_API_KEY
from humor_tasks.on_inspect.providers.batching import MOST


class LocalAPI(ModelAPI):
    """A provider whose models run in this process. It finds pictures by their handles (`on_inspect.handles`).

    trained: whether its models may be trained on the rows of a benchmark, and belong in `data.trained_on`.
    """

    trained = True

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        **model_args: Any,
    ) -> None:
        """Raises CannotRun for a model that cannot be opened.

        It does so too where Inspect only looks up a model's context window, and takes that as unknown.
        """
        super().__init__(model_name, base_url, api_key, [], config)
        if api_key == MODEL_INFO_LOOKUP_API_KEY:
            cannot_run(f"model {model_name}: it has no context window that Inspect could look up.")
        self.given = model_args
        try:
            self.open(model_name, **model_args)
        except BadInput as problem:
            cannot_run(f"model {model_name}: {problem}")

    @abc.abstractmethod
    def open(self, model_name: str) -> None:
        """Load this model; `-M` arguments are further parameters. Raises BadInput where it cannot be used."""

    def batch_size(self) -> int:
        """The number of requests that are answered together."""
        return MOST

    def max_connections(self) -> int:
        """Two batches, so that the next one can fill while one runs."""
        return 2 * self.batch_size()


def fill_batches(models: Iterable[Model | None]) -> None:
    """Let Inspect send the models of this process `max_connections` requests at once, unless the user gave a number.

    Inspect asks a provider for its `max_connections` only where its adaptive concurrency is off.
    """
    for model in models:
        if model is None or not isinstance(model.api, LocalAPI):
            continue
        if model.config.max_connections is None and model.config.adaptive_connections is None:
            # A new configuration, because models opened together share one.
            model.config = model.config.merge(GenerateConfig(adaptive_connections=False))
