"""`--model humicroedit/<run folder>`: a trained Humicroedit rating model as an Inspect provider."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage

from humor_tasks.errors import BadInput
from humor_tasks.models.humicroedit import Edit, load
from humor_tasks.models.humicroedit.texts import answer, edits_in
from humor_tasks.on_inspect.checks import check_cache
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.local import Batcher, LocalAPI, last_user_message


class HumicroeditAPI(LocalAPI):
    """Replies "Rating: x" for one edited headline and "Answer: A" or "Answer: B" for two.

    The headlines are read from the metadata of the last user message, which the Humicroedit tasks set. Ratings in
    replies are clipped to the scale 0..3.
    """

    def open(self, model_name: str) -> None:
        """See LocalAPI."""
        try:
            self.rater = load(Path(model_name))
        except BadInput as problem:
            cannot_run(f"model humicroedit/{model_name}: {problem}")
        self._batcher: Batcher[Sequence[Edit], list[float]] = Batcher(self.rater.rate_groups)

    async def reply(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """See LocalAPI."""
        check_cache(self.model_name, self.model_args, config)
        message = last_user_message(messages)
        edits = edits_in((message.metadata or {}).get("fields", {})) if message else []
        if not edits:
            cannot_run(f"model humicroedit/{self.model_name} can only answer the Humicroedit tasks.")
        ratings = await self._batcher(edits)
        output = ModelOutput.from_content(self.model_name, answer(ratings))
        output.usage, output.metadata = ModelUsage(), {"ratings": ratings}
        return output
