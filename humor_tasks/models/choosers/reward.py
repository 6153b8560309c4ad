"""A reward model as a Chooser: the caption with the highest reward under a prompt that asks for a caption.

Reward models are transformers' models for sequence classification with one output, as TRL's RewardTrainer saves them.
The extra `text` is needed.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any, Protocol

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.choosers.chooser import Chooser, Question, check_ranks
from humor_tasks.models.text.templates import FOLDED, fit_template, is_folding, place_of, refused, shaped

logger = logging.getLogger(__name__)

FORMATS = ("standard", "conversational")
PRECISIONS = ("fp32", "fp16", "bf16")


class Request(Protocol):
    """A request for a caption of a scene, in TRL's two formats."""

    def messages(self, context: str) -> list[dict[str, str]]:
        """The conversational prompt: role and content of each turn."""
        ...

    def text(self, context: str) -> str:
        """The standard prompt."""
        ...


class RewardChooser(Chooser):
    """Scores are rewards of prompt and caption together, tokenised as TRL tokenises its rows.

    model: a hub id or folder. format: `conversational` applies the tokenizer's chat template; `standard` appends the
    caption and the end token to the prompt's text. By default the template is applied where there is one, and system
    text begins the user's turn where it has no system turn. Texts longer than the model's context lose their beginning,
    which is counted in `cut`. Raises BadInput for a model of another kind, and a template that refuses the turns.
    """

    def __init__(
        self,
        model: str,
        request: Request,
        device: str | None = None,
        batch_size: int = 32,
        precision: str = "fp32",
        format: str | None = None,
        revision: str | None = None,
    ) -> None:
        check_choice("reward: precision", precision, PRECISIONS)
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise BadInput(f"reward: batch_size is {batch_size!r}; it must be a whole number of at least 1.")
        try:
            from humor_tasks.models.devices import pick_device
            from humor_tasks.models.text.pretrained import context_of, open_reward, open_tokenizer
        except ImportError:
            raise BadInput("reward models need torch and transformers: pip install 'humor-tasks[text]'.") from None
        self.name, self.request, self.batch_size = f"reward/{model}", request, batch_size
        self.device = pick_device(device or "auto", "reward")
        self.network = open_reward(model, precision, revision).to(self.device).eval()
        self.tokenizer = open_tokenizer(model, revision)
        self.tokenizer.truncation_side = "left"
        settings = self.network.config.get_text_config()
        if settings.pad_token_id is None:  # else a batch cannot be padded
            settings.pad_token_id = self.network.config.pad_token_id = self.tokenizer.pad_token_id
        self.limit = context_of(self.tokenizer, settings)
        has = getattr(self.tokenizer, "chat_template", None)
        self.format = check_choice("reward: format", format or FORMATS[bool(has)], FORMATS)
        if self.format == "conversational" and not has:
            raise BadInput(f"reward: format=conversational: the tokenizer of {model} has no chat template.")
        self.parts = False
        if self.format == "conversational":
            self.parts = fit_template(self.tokenizer).parts
            # A template that refuses the turns, or leaves out the caption, is found before the first question.
            if self._tokens("", "A caption.") == self._tokens("", "Nothing to see here, officer."):
                raise BadInput(
                    f"reward: the chat template of {model} leaves out the caption, the assistant's turn. Change the "
                    f"template, {place_of(self.tokenizer)}, or use format=standard."
                )
            if is_folding(self.tokenizer):
                self.signed = {"chat_template": FOLDED}
        self.cut = 0

    def check(self, question: Question) -> None:
        """Raise BadInput where there is no choice of captions, or a picture in the place of the scene in words."""
        check_ranks(question, self.name)
        if question.picture is not None and not question.context.strip():
            raise BadInput(
                f"{question.id:.60}: {self.name} reads words and cannot see the picture; use setting=description or "
                "setting=caption_only."
            )

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """See `Chooser.score`. Each distinct scene and caption is scored once."""
        pairs = [(q.context, choice) for q in questions for choice in q.choices]
        rewards = dict(zip(dict.fromkeys(pairs), self.rewards([*dict.fromkeys(pairs)]), strict=True))
        for (_, caption), value in rewards.items():
            if not math.isfinite(value):
                raise BadInput(f"{self.name}: the reward of {caption!r:.60} is {value}; try precision=fp32.")
        return [[rewards[q.context, choice] for choice in q.choices] for q in questions]

    def rewards(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The reward of each scene and caption, in batches of similar length."""
        import torch

        before = self.cut
        ids = [self._ids(context, caption) for context, caption in pairs]
        if self.cut > before:
            logger.warning("%s: %d texts were longer than the context and lost their beginning.", self.name, self.cut)
        order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))  # memory runs out at once or never
        values = [0.0] * len(ids)
        for start in range(0, len(order), self.batch_size):
            places = order[start : start + self.batch_size]
            batch = self.tokenizer.pad({"input_ids": [ids[i] for i in places]}, padding=True, return_tensors="pt")
            with torch.inference_mode():
                scores = self.network(**batch.to(self.device)).logits[:, 0].float().tolist()
            for i, value in zip(places, scores, strict=True):
                values[i] = value
        return values

    def _ids(self, context: str, caption: str) -> list[int]:
        """Token ids [tokens], as TRL's RewardTrainer makes them from a row."""
        ids = self._tokens(context, caption)
        if self.limit is None or len(ids) <= self.limit:
            return ids
        self.cut += 1
        return self._tokens(context, caption, truncation=True, max_length=self.limit)

    def _tokens(self, context: str, caption: str, **how: Any) -> list[int]:
        if self.format == "conversational":
            said = [*self.request.messages(context), {"role": "assistant", "content": caption}]
            turns = [turn | {"content": shaped(turn["content"], self.parts)} for turn in said]
            try:
                ids = self.tokenizer.apply_chat_template(turns, tokenize=True, return_dict=True, **how)["input_ids"]
            except Exception as problem:  # jinja2's errors, and what a template raises itself
                raise refused(self.tokenizer, turns, problem, ", or use format=standard") from None
            return list(ids)
        end = self.tokenizer.eos_token or ""
        text = f"{self.request.text(context)} {caption}"
        return list(self.tokenizer(text if text.endswith(end) else text + end, **how)["input_ids"])
