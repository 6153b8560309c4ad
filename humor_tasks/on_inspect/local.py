"""Models that run in this process.

They are loaded once: to show a model's context window, Inspect makes the model a second time by its name, with a
placeholder for the API key. For a model here that would load all weights again, without its `-M` arguments, and take
its memory twice.

They answer what is queued as one batch. By default, Inspect starts with 20 requests at once and adds more as a remote
server bears them. A model here gets two batches at once, so that the next one fills while one runs.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import anyio
import anyio.to_thread
from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, Model, ModelAPI, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.private import MODEL_INFO_LOOKUP_API_KEY

Item = TypeVar("Item")
Result = TypeVar("Result")
Key = TypeVar("Key", bound=Hashable)
MOST = 256  # items of a batch, of models without a batch size
TURNS = 20  # more than a sample takes from its start to its request
UNSUPPORTED = ("frequency_penalty", "presence_penalty", "logit_bias", "best_of", "logprobs", "response_schema")


class LocalAPI(ModelAPI):
    """A provider whose models run in this process. It finds pictures by their handles (`on_inspect.handles`).

    trained: whether its models may be trained on the rows of a benchmark, and belong in `rows.trained_on`.
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
        self.model_args = model_args
        try:
            self.open(model_name, **model_args)
        except BadInput as problem:
            cannot_run(f"model {model_name}: {problem}")

    @abc.abstractmethod
    def open(self, model_name: str) -> None:
        """Load this model; `-M` arguments are further parameters. Raises BadInput where it cannot be used."""

    @abc.abstractmethod
    async def reply(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """The reply to a conversation. Raises BadInput where the model cannot give one."""

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """See ModelAPI."""
        try:
            return await self.reply(input, config)
        except BadInput as problem:
            cannot_run(f"model {self.model_name}: {problem}")

    def batch_size(self) -> int:
        """The number of requests that are answered together."""
        return MOST

    def max_connections(self) -> int:
        """Two batches, so that the next one can fill while one runs."""
        return 2 * self.batch_size()


def last_user_message(messages: Sequence[ChatMessage]) -> ChatMessageUser | None:
    """The request that a conversation ends with, or None."""
    return next((m for m in reversed(messages) if isinstance(m, ChatMessageUser)), None)


def check_supported(config: GenerateConfig, by: str) -> None:
    """Raise BadInput for a setting that models in this process lack; `by` says by what, such as "by image_text/"."""
    for name in UNSUPPORTED:
        if getattr(config, name):
            raise BadInput(f"{name} is not supported {by}; leave it out.")


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


# ---- batches of concurrent requests -------------------------------------------------------------


class Batcher(Generic[Item, Result]):
    """Runs `process` in a thread on all queued items, at most `most` per call.

    A batch starts after the other tasks that are ready had `TURNS` turns of the event loop, so that their items join
    it; where none is ready, that takes microseconds. While one batch runs, other items are queued, and the next batch
    takes all of them. There is no background task. An exception of `process` is raised for every caller of the batch, a
    BadInput among its results, which `isolate_errors` returns, for its own caller.
    """

    def __init__(self, process: Callable[[Sequence[Item]], Sequence[Result | BadInput]], most: int = MOST) -> None:
        self.process = process
        self.most = most
        self._lock = anyio.Lock()
        self._queue: list[tuple[Item, dict[str, Any]]] = []

    async def __call__(self, item: Item) -> Result:
        """The result for one item."""
        box: dict[str, Any] = {}
        self._queue.append((item, box))
        try:
            while not box:
                async with self._lock:
                    if not box:
                        for _ in range(TURNS):
                            await anyio.sleep(0)
                        await self._run()
        except BaseException:  # cancelled: nobody waits for the result
            self._queue = [waiting for waiting in self._queue if waiting[1] is not box]
            raise
        if "error" in box:
            raise box["error"]
        result: Result = box["result"]
        return result

    async def _run(self) -> None:
        batch, self._queue = self._queue[: self.most], self._queue[self.most :]
        try:
            results = await anyio.to_thread.run_sync(self.process, [item for item, _ in batch])
            for (_, box), result in zip(batch, results, strict=True):
                box["error" if isinstance(result, BadInput) else "result"] = result
        except Exception as error:
            for _, box in batch:
                box["error"] = error
        except BaseException:  # cancelled: the items of other callers return to the queue
            self._queue = batch + self._queue
            raise


def isolate_errors(
    process: Callable[[Sequence[Item]], Sequence[Result]], items: Sequence[Item]
) -> list[Result | BadInput]:
    """The results; BadInput of one item becomes its result and does not affect the others in the batch."""
    try:
        return [*process(items)]
    except BadInput as problem:
        if len(items) == 1:
            return [problem]
    half = len(items) // 2
    return [*isolate_errors(process, items[:half]), *isolate_errors(process, items[half:])]


def by_settings(
    requests: Sequence[Item], key: Callable[[Item], Key], process: Callable[[Key, Sequence[Item]], Sequence[Result]]
) -> list[Result | BadInput]:
    """The results of requests, BadInput for its own caller; only requests with the same key are processed together."""
    results: dict[int, Result | BadInput] = {}
    keys = [key(request) for request in requests]
    for settings in dict.fromkeys(keys):
        places = [i for i, other in enumerate(keys) if other == settings]
        batch = isolate_errors(partial(process, settings), [requests[i] for i in places])
        results |= dict(zip(places, batch, strict=True))
    return [results[i] for i in range(len(requests))]
