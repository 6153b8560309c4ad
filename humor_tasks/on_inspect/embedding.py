"""`--model embedding/<name or folder>`: a sentence embedding model as an Inspect provider."""

from __future__ import annotations

from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig

from humor_tasks.errors import BadInput
from humor_tasks.models.chooser import Question
from humor_tasks.models.embedding import Embedding
from humor_tasks.on_inspect.batching import Batcher
from humor_tasks.on_inspect.chooser import ChooserAPI


class EmbeddingAPI(ChooserAPI):
    """`-M device=cuda` and `-M batch_size=N` as sentence-transformers takes them."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        device: str | None = None,
        batch_size: int = 64,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        try:
            self.chooser = Embedding(model_name, device, batch_size)
        except BadInput as problem:
            raise PrerequisiteError(str(problem)) from None
        self._batcher: Batcher[Question, list[float]] = Batcher(self.chooser.score)

    async def score(self, asked: Question) -> list[float]:
        """See ChooserAPI.score."""
        return await self._batcher(asked)
