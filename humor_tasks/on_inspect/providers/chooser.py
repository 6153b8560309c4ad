"""Choosers as Inspect model providers: baseline/, clip/, embedding/, quality/ and reward/."""

from __future__ import annotations

import abc
import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelOutput,
    ModelUsage,
    TopLogprob,
)

from humor_tasks.benchmarks.caption_contest.corpus import CaptionPrompt
from humor_tasks.errors import check_choice
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import (
    LETTERS,
    Chooser,
    Question,
    answer,
    best,
    grouped_scores,
    log_softmax,
    open_answer,
)
from humor_tasks.models.choosers.clip import SETTINGS, ClipChooser
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.choosers.reward import RewardChooser
from humor_tasks.models.quality.model import QualityChooser
from humor_tasks.on_inspect.checks import check_cache
from humor_tasks.on_inspect.local import Batcher, LocalAPI, isolate_errors
from humor_tasks.on_inspect.messages import question


class ChooserAPI(LocalAPI):
    """Replies "Answer: X", with log-probabilities of the letters, and the raw scores as metadata.

    Without choices, the reply is "Explanation: " and the best sentence of the scene. Subclasses create the chooser in
    `make`, whose parameters are the `-M` arguments.
    """

    def open(self, model_name: str, **model_args: Any) -> None:
        """See LocalAPI."""
        for name in model_args:
            check_choice(f"-M argument of {type(self).__name__}", name, self.arguments())
        self.chooser = self.make(model_name, **model_args)
        self._batcher: Batcher[Question, list[float]] = Batcher(
            partial(isolate_errors, partial(grouped_scores, self.chooser)), self.batch_size()
        )

    @abc.abstractmethod
    def make(self, model_name: str) -> Chooser:
        """The chooser of this name. Raises BadInput where there is none."""

    def batch_size(self) -> int:
        """See LocalAPI."""
        return self.chooser.batch_size or super().batch_size()

    def arguments(self) -> Sequence[str]:
        """The names of the `-M` arguments: the parameters of `make`."""
        return list(inspect.signature(self.make).parameters)[1:]

    def question(self, messages: Sequence[ChatMessage]) -> Question:
        """The question of a conversation."""
        return question(messages, self.chooser.reads_prompt)

    async def score(self, question: Question) -> list[float]:
        """Scores of one question's choices, batched with other queued questions."""
        return await self._batcher(question)

    async def write(self, question: Question, config: GenerateConfig) -> ModelOutput:
        """The answer to a question without choices."""
        return self._output(f"Explanation: {open_answer(self.chooser, question)}", None, {})

    async def reply(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """See LocalAPI."""
        check_cache(self.model_name, self.model_args, config)
        asked = self.question(messages)
        self.chooser.check(asked)
        if not asked.choices:
            return await self.write(asked, config)
        scores = await self.score(asked)
        logprobs, picked = log_softmax(scores), best(scores)
        letters = LETTERS[: len(scores)]
        top = [TopLogprob(token=a, logprob=p) for a, p in zip(letters, logprobs, strict=True)]
        token = Logprob(token=letters[picked], logprob=logprobs[picked], top_logprobs=top)
        raw = {"scores": dict(zip(letters, scores, strict=True)), **getattr(self.chooser, "signed", {})}
        return self._output(f"Answer: {answer(asked, picked)}", Logprobs(content=[token]), raw)

    def _output(self, text: str, logprobs: Logprobs | None, metadata: dict[str, Any]) -> ModelOutput:
        message = ChatMessageAssistant(content=text, source="generate")
        choice = ChatCompletionChoice(message=message, stop_reason="stop", logprobs=logprobs)
        # Explicit zero usage: nothing is billed, and Inspect does not count tokens.
        return ModelOutput(model=self.model_name, choices=[choice], usage=ModelUsage(), metadata=metadata)


class BaselineAPI(ChooserAPI):
    """`--model baseline/overlap`: the shortcut baselines; `-M seed=N` seeds the random strategy."""

    trained = False

    def make(self, model_name: str, seed: int = 0) -> Baseline:
        """The baseline with the strategy `model_name`."""
        return Baseline(model_name, seed)

    def batch_size(self) -> int:
        """See LocalAPI; only Inspect's own work is concurrent."""
        return 32

    async def score(self, question: Question) -> list[float]:
        """Scores of one question, without batching, because a thread would take longer than the computation."""
        return grouped_scores(self.chooser, [question])[0]


class ClipAPI(ChooserAPI):
    """`--model clip/ViT-L-14-336/openai` or `clip/<folder>`, for tasks with setting=pixels.

    `-M fit=crop`, `-M precision=bf16`, `-M device=cuda`: the fields of `ClipConfig`. Concurrent samples are batched; by
    default so many are asked at once as fill two batches.
    """

    def make(self, model_name: str, **settings: Any) -> ClipChooser:
        """The CLIP model of this name: ARCHITECTURE/TAG, a folder or a weight file."""
        return ClipChooser.load(model_name, settings)

    def arguments(self) -> Sequence[str]:
        """See ChooserAPI."""
        return SETTINGS


class EmbeddingAPI(ChooserAPI):
    """`--model embedding/<name or folder>`; `-M device=cuda`, `-M batch_size=N` are those of sentence-transformers."""

    trained = False

    def make(self, model_name: str, device: str | None = None, batch_size: int = 64) -> Embedding:
        """The model of this name, from the hub or a folder."""
        return Embedding(model_name, device, batch_size)


class QualityAPI(ChooserAPI):
    """`--model quality/<folder>`: the text-only quality model of captions.

    `-M encoder=MODEL` is the sentence-embedding model, where it is elsewhere than at training; `-M device=cuda`.
    """

    trained = False  # a contest that it saw is judged by its half that has not seen it

    def make(self, model_name: str, encoder: str | None = None, device: str | None = None) -> QualityChooser:
        """The model of this folder."""
        return QualityChooser(model_name, encoder, device)


class RewardAPI(ChooserAPI):
    """`--model reward/<folder or hub id>`: a reward model of captions.

    `-M` arguments: `device`, `batch_size`, `precision` (fp32, fp16, bf16), `format`, `prompts`, `revision`.
    `format=standard|conversational` and `prompts=FOLDER` are those of `humor-tasks export preferences`.
    """

    def make(
        self,
        model_name: str,
        device: str | None = None,
        batch_size: int = 32,
        precision: str = "fp32",
        format: str | None = None,
        prompts: str | None = None,
        revision: str | None = None,
    ) -> RewardChooser:
        """The model of this name, from the hub or a folder."""
        request = CaptionPrompt.read(prompts)
        return RewardChooser(model_name, request, device, batch_size, precision, format, revision)
