"""Seq2seq models (T5, BART): log-likelihoods of continuations, and generation.

The encoder reads each distinct prompt once, and all of its continuations use that one reading. Where they are single
tokens, as letters are, one step of the decoder gives the log-likelihoods of all. Rows are batched by length; neither
the batch nor the padding changes a result.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers.modeling_outputs import BaseModelOutput

from humor_tasks.errors import BadInput
from humor_tasks.models.devices import Batches, padded
from humor_tasks.models.text.language import Continuation, Generation, LanguageModel, Likelihood
from humor_tasks.models.text.pretrained import (
    PROMPTS,
    about,
    context_of,
    generate,
    open_model,
)

logger = logging.getLogger(__name__)


class Row(NamedTuple):
    """The token ids of a prompt, and of each of its continuations."""

    prompt: list[int]
    texts: list[list[int]]


class Seq2Seq(LanguageModel):
    """A seq2seq network with its tokenizer.

    A prompt is encoded with the tokenizer's special tokens, a continuation without; log-likelihoods do not include the
    end token. lm-eval's `hf` does the same.
    """

    kind = "seq2seq"
    bare: tuple[str, str] | None
    """The first word of the texts that it was trained on, and the prefix of answers, which it reads without; None for
    a model that reads prompts.
    """

    def __init__(
        self, network: Any, tokenizer: Any, name: str, device: str | torch.device = "cpu", batch_size: int = 0
    ) -> None:
        """network: on `device`; it may be in training, and is put into evaluation mode while it is used. batch_size:
        rows of the encoder, 0 chooses by length.
        """
        self.network, self.tokenizer, self.name = network, tokenizer, name
        self.device = torch.device(device)
        self.context = context_of(tokenizer, network.config)
        self.batches = Batches(f"text/{name}", self.device, batch_size)
        self._too_long: set[int] = set()
        self.bare: tuple[str, str] | None = None

    @classmethod
    def load(
        cls,
        name: str,
        device: str = "auto",
        precision: str = "fp32",
        batch_size: int = 0,
        revision: str | None = None,
    ) -> Seq2Seq:
        """The model of a folder or hub id. precision: fp32, fp16 or bf16.

        Raises BadInput for an unknown model, one of another kind, and an unavailable device.
        """
        network, tokenizer, place = open_model(name, "seq2seq", device, precision, revision, f"text/{name}")
        model, notes = cls(network, tokenizer, name, place, batch_size), about(name)
        model.bare = (notes["begins"], notes["prefix"]) if "begins" in notes else None
        return model

    @property
    def cut(self) -> int:  # type: ignore[override]  # read-only here
        """See LanguageModel."""
        return len(self._too_long)

    def was_cut(self, prompt: str) -> bool:
        """Whether the prompt was read and was longer than the context."""
        return hash(prompt) in self._too_long

    def loglikelihoods(self, prompts: Sequence[str], continuations: Sequence[Sequence[str]]) -> list[list[Likelihood]]:
        """See LanguageModel. Raises BadInput for a continuation with more tokens than the decoder has positions, and
        where the network's output is not a number.
        """
        pairs = [[_pair(prompt, text) for text in texts] for prompt, texts in zip(prompts, continuations, strict=True)]
        texts_of: dict[str, dict[str, None]] = {}
        for prompt, text in (pair for row in pairs for pair in row):
            texts_of.setdefault(prompt, {}).setdefault(text)
        ids_of = self.continuations([text for texts in texts_of.values() for text in texts])
        rows = [
            Row(ids, [ids_of[text] for text in texts])
            for ids, texts in zip(self.read(list(texts_of)), texts_of.values(), strict=True)
        ]
        with self._evaluating():
            scores = self.batches.run(self._scored, rows, [len(row.prompt) for row in rows])
        known = {
            (prompt, text): likelihood
            for (prompt, texts), likelihoods in zip(texts_of.items(), scores, strict=True)
            for text, likelihood in zip(texts, likelihoods, strict=True)
        }
        return [[known[pair] for pair in row] for row in pairs]

    def generate(self, prompts: Sequence[str], how: Generation) -> list[Continuation]:
        """See LanguageModel. A prompt's text depends on the seed, not on the batch; equal prompts get equal texts."""
        if self._positions is not None:  # the first position is the start token's
            how = replace(how, max_tokens=min(how.max_tokens, self._positions - 1))
        distinct = list(dict.fromkeys(prompts))
        rows = list(zip(distinct, self.read(distinct), strict=True))

        def write(part: Sequence[tuple[str, list[int]]]) -> list[Continuation]:
            ids, mask = self._padded([ids for _, ids in part])
            inputs = {"input_ids": ids, "attention_mask": mask}
            return generate(self.network, self.tokenizer, inputs, [prompt for prompt, _ in part], how, skip=1)

        with self._evaluating():
            texts = self.batches.run(write, rows, [len(ids) for _, ids in rows])
        replies = dict(zip(distinct, texts, strict=True))
        return [replies[prompt] for prompt in prompts]

    # ---- tokens ----

    def _shown(self, prompt: str) -> str:
        """What the network reads of a prompt. Raises BadInput for a prompt of another kind than it was trained on."""
        if self.bare is None:
            return prompt
        begins, prefix = self.bare
        if not prompt.startswith(f"{begins} "):
            folder = Path(self.name) / PROMPTS
            raise BadInput(
                f"text/{self.name}: was trained on the corpus's own text (input=released), which begins with "
                f"'{begins}', and the prompt is '{prompt:.40}...': give prompts={folder}, cot=false and its setting."
            )
        return prompt.removesuffix(prefix).rstrip()

    def read(self, prompts: Sequence[str]) -> list[list[int]]:
        """The token ids of prompts; those longer than the context lose their beginning, but no special token."""
        if not prompts:
            return []
        # verbose=False: no warning of the tokenizer's, because what is too long is cut and counted here.
        shown = [self._shown(prompt) for prompt in prompts]
        encoded = self.tokenizer(shown, return_special_tokens_mask=True, verbose=False)
        rows, cut_before = [], self.cut
        for prompt, ids, marks in zip(prompts, encoded["input_ids"], encoded["special_tokens_mask"], strict=True):
            if not ids:
                raise BadInput(f"text/{self.name}: a prompt has no tokens; it must not be empty.")
            over = len(ids) - (self.context or len(ids))
            if over > 0:
                self._too_long.add(hash(prompt))
                left_out = [i for i, mark in enumerate(marks) if not mark][:over]
                ids = [token for i, token in enumerate(ids) if i not in set(left_out)]
            rows.append(ids)
        if self.cut > cut_before:
            logger.warning(
                "text/%s: %d prompts so far were longer than the model's %s tokens; their beginning was left out.",
                self.name,
                self.cut,
                self.context,
            )
        return rows

    def continuations(self, texts: Sequence[str]) -> dict[str, list[int]]:
        """The token ids of continuations, without special tokens."""
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return {}
        encoded = self.tokenizer(distinct, add_special_tokens=False, verbose=False)["input_ids"]
        most = self._positions
        for text, ids in zip(distinct, encoded, strict=True):
            if most is not None and len(ids) > most:
                raise BadInput(
                    f"text/{self.name}: the continuation '{text.strip():.40}...' has {len(ids)} tokens, and the "
                    f"decoder has {most} positions; it is not cut. Shorten it, or use a model with relative positions, "
                    "such as T5."
                )
        return dict(zip(distinct, encoded, strict=True))

    @property
    def _positions(self) -> int | None:
        """The number of positions of the decoder; None for relative positions."""
        config = self.network.config
        stated = [getattr(config, f"max_{which}position_embeddings", None) for which in ("decoder_", "")]
        return next((int(number) for number in stated if number), None)

    @property
    def _start(self) -> int:
        """The token that the decoder starts with."""
        configs = (self.network.config, self.network.generation_config)
        stated = [getattr(config, "decoder_start_token_id", None) for config in configs]
        start = next((token for token in stated if token is not None), None)
        if start is None:
            raise BadInput(f"text/{self.name}: its configuration does not say with which token the decoder starts.")
        return int(start)

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids padded at the end, and the mask of what is not padding: two tensors [rows, longest]."""
        ids, mask = padded(rows, self.tokenizer.pad_token_id), padded([[1] * len(row) for row in rows], 0)
        return ids.to(self.device), mask.to(self.device)

    # ---- the network ----

    @contextlib.contextmanager
    def _evaluating(self) -> Iterator[None]:
        """Without gradients, in evaluation mode; a network in training goes on training after it."""
        training = self.network.training
        self.network.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            self.network.train(training)

    def _scored(self, rows: Sequence[Row]) -> list[list[Likelihood]]:
        """The likelihoods of one batch of prompts, which the encoder reads at once."""
        ids, mask = self._padded([row.prompt for row in rows])
        states = self.network.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        likelihoods = [[Likelihood(0.0, 0, True) for _ in row.texts] for row in rows]
        short = [i for i, row in enumerate(rows) if row.texts and max(map(len, row.texts)) == 1]
        if short:
            self._score_letters(rows, short, states, mask, likelihoods)
        rest = set(range(len(rows))) - set(short)
        pairs = [(i, j) for i in sorted(rest) for j, text in enumerate(rows[i].texts) if text]
        for part in self.batches.split([len(rows[i].prompt) + len(rows[i].texts[j]) for i, j in pairs]):
            self._score_texts(rows, [pairs[k] for k in part], states, mask, likelihoods)
        return likelihoods

    def _score_letters(
        self,
        rows: Sequence[Row],
        places: Sequence[int],
        states: torch.Tensor,
        mask: torch.Tensor,
        likelihoods: list[list[Likelihood]],
    ) -> None:
        """Fill in the likelihoods of continuations of at most one token: one step of the decoder for each prompt."""
        logits = self._logits(states, mask, places, torch.full((len(places), 1), self._start))[:, 0]
        total, top = logits.logsumexp(-1), logits.argmax(-1)
        for k, i in enumerate(places):
            for j, text in enumerate(rows[i].texts):
                for token in text:  # none or one
                    chance = self._number(float(logits[k, token] - total[k]))
                    likelihoods[i][j] = Likelihood(chance, 1, int(top[k]) == token)

    def _score_texts(
        self,
        rows: Sequence[Row],
        pairs: Sequence[tuple[int, int]],
        states: torch.Tensor,
        mask: torch.Tensor,
        likelihoods: list[list[Likelihood]],
    ) -> None:
        """Fill in the likelihoods of continuations of any length. pairs: places of prompts, and of their texts."""
        targets, real = self._padded([rows[i].texts[j] for i, j in pairs])
        before = torch.cat([torch.full((len(pairs), 1), self._start, device=self.device), targets[:, :-1]], 1)
        logits = self._logits(states, mask, [i for i, _ in pairs], before)
        chances = logits.gather(2, targets[..., None])[..., 0] - logits.logsumexp(-1)  # [pairs, longest]
        sums = (chances * real).double().sum(1).tolist()
        greedy = ((logits.argmax(-1) == targets) | (real == 0)).all(1).tolist()
        for (i, j), chance, whole in zip(pairs, sums, greedy, strict=True):
            likelihoods[i][j] = Likelihood(self._number(chance), len(rows[i].texts[j]), whole)

    def _logits(
        self, states: torch.Tensor, mask: torch.Tensor, places: Sequence[int], before: torch.Tensor
    ) -> torch.Tensor:
        """The decoder's logits [n, length, words] in float32, after the prompts at these places of the batch."""
        index = torch.tensor(places, device=self.device)
        output = self.network(
            encoder_outputs=BaseModelOutput(last_hidden_state=states[index]),
            attention_mask=mask[index],
            decoder_input_ids=before.to(self.device),
            use_cache=False,
        )
        logits: torch.Tensor = output.logits.float()
        return logits

    def _number(self, chance: float) -> float:
        if chance != chance:
            raise BadInput(
                f"text/{self.name}: its output is not a number (nan). Use precision=fp32 or bf16 (T5 overflows in "
                "fp16), or other weights."
            )
        return chance


def _pair(prompt: str, text: str) -> tuple[str, str]:
    """White space at the end of a prompt belongs to the continuation, as in lm-eval."""
    bare = prompt.rstrip()
    return bare, prompt[len(bare) :] + text
