"""A causal language model: log-likelihoods of continuations, generation, and the prompts that it was trained on."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import torch
from torch.nn.functional import log_softmax

from humor_tasks.errors import BadInput
from humor_tasks.models.devices import pick_device
from humor_tasks.models.text.language import Generation, LanguageModel, Likelihood, Written
from humor_tasks.models.text.opening import context_of, kind_of, open_network, open_tokenizer

BATCH = 16
PLAIN_TEMPLATE = (
    "{% for message in messages %}{{ message['content'] }}"
    "{% if not loop.last or add_generation_prompt %}{{ '\n\n' }}{% endif %}{% endfor %}"
)
"""The chat template that a base model is saved with: `humor_tasks.data.records.plain_text`."""


class Pair(NamedTuple):
    """Token ids of a prompt and its continuation, and whether the prompt was cut."""

    prompt: list[int]
    continuation: list[int]
    cut: bool


def chat_text(tokenizer: Any, turns: Sequence[Mapping[str, str]]) -> str:
    """The turns (role, content) as the tokenizer's chat template shows them, up to where the answer begins.

    A tokenizer without a template gets PLAIN_TEMPLATE.
    """
    if tokenizer.chat_template is None:
        tokenizer.chat_template = PLAIN_TEMPLATE
    try:
        text: str = tokenizer.apply_chat_template(list(turns), add_generation_prompt=True, tokenize=False)
    except Exception as problem:  # jinja2's errors, and what a template raises itself
        message = " ".join(str(problem).split())[:200]
        raise BadInput(f"the model's chat template cannot show the benchmark's turns ({message}).") from None
    return text


class PairTokenizer:
    """Prompts and continuations as tokens, at most `limit` together; a prompt that is too long loses its beginning.

    The pair is tokenized as one text, and the continuation is what follows the prompt's tokens, as in lm-eval.
    """

    def __init__(self, tokenizer: Any, limit: int | None) -> None:
        self.tokenizer, self.limit = tokenizer, limit

    def __call__(self, prompt: str, continuation: str, end: bool = False) -> Pair:
        """The pair; `end` adds the end token. Raises BadInput for a continuation without room for a prompt."""
        spaces = len(prompt) - len(prompt.rstrip())
        if spaces:  # white space belongs to the token that follows it
            prompt, continuation = prompt[:-spaces], prompt[-spaces:] + continuation
        ids, whole = self._ids(prompt), self._ids(prompt + continuation)
        own = whole[len(ids) :] + ([self.tokenizer.eos_token_id] if end else [])
        room = len(ids) if self.limit is None else self.limit - len(own)
        if room < 1:
            raise BadInput(
                f"'{continuation.strip():.60}': it has {len(own)} tokens and the model reads {self.limit}; answers are "
                "not cut: leave the row out, or use a model with a longer context."
            )
        return Pair(ids[-room:], own, len(ids) > room)

    def prompt(self, prompt: str, room: int) -> Pair:
        """A prompt alone, with room for `room` new tokens."""
        ids = self._ids(prompt)
        kept = len(ids) if self.limit is None else max(1, self.limit - room)
        return Pair(ids[-kept:], [], len(ids) > kept)

    def _ids(self, text: str) -> list[int]:
        begins = self.tokenizer.bos_token
        special = not (begins and text.startswith(begins))  # chat templates may write it themselves
        ids: list[int] = self.tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"]
        if special and ids and ids[-1] == self.tokenizer.eos_token_id and not text.endswith(self.tokenizer.eos_token):
            ids.pop()  # some tokenizers end every text
        return ids


class Causal(LanguageModel):
    """A causal network with its tokenizer; see `LanguageModel`. batch_size: texts at once, 0: automatic."""

    kind = "causal"

    def __init__(self, network: Any, tokenizer: Any, name: str, limit: int | None = None, batch_size: int = 0) -> None:
        self.network, self.tokenizer, self.name, self.cut = network, tokenizer, name, 0
        self.batch_size = batch_size or BATCH
        self.pairs = PairTokenizer(
            tokenizer, min(filter(None, (context_of(tokenizer, network.config), limit)), default=None)
        )
        self.device = network.device

    @classmethod
    def load(cls, name: str, device: str = "auto", precision: str = "fp32", batch_size: int = 0) -> Self:
        """The model of a hub id or a folder. Raises BadInput for an unknown model and one of another kind."""
        if kind_of(name) != "causal":
            raise BadInput(f"model {name}: is no causal language model.")
        network = open_network(name, "causal", precision).to(pick_device(device, "text")).eval()
        return cls(network, open_tokenizer(name), name, None, batch_size)

    def loglikelihoods(self, prompts: Sequence[str], continuations: Sequence[Sequence[str]]) -> list[list[Likelihood]]:
        """See `LanguageModel`. Continuations that differ in their last token only share one forward pass."""
        asked = [[self.pairs(prompt, each) for each in own] for prompt, own in zip(prompts, continuations, strict=True)]
        self.cut += len({prompt for prompt, own in zip(prompts, asked, strict=True) if any(pair.cut for pair in own)})
        # What is read is everything but the last token, which is only predicted.
        read: dict[tuple[int, ...], list[Pair]] = {}
        for pair in (pair for own in asked for pair in own):
            read.setdefault((*pair.prompt, *pair.continuation[:-1]), []).append(pair)
        found: dict[tuple[tuple[int, ...], tuple[int, ...]], Likelihood] = {}
        order = sorted(read, key=len)
        with torch.inference_mode():
            for start in range(0, len(order), self.batch_size):
                batch = order[start : start + self.batch_size]
                most = max(len(pair.continuation) for ids in batch for pair in read[ids])
                scores = self._scores(batch, most)
                for row, ids in zip(scores, batch, strict=True):
                    for pair in read[ids]:
                        found[tuple(pair.prompt), tuple(pair.continuation)] = _likelihood(row, pair.continuation)
        return [[found[tuple(pair.prompt), tuple(pair.continuation)] for pair in own] for own in asked]

    def _scores(self, rows: Sequence[Sequence[int]], last: int) -> torch.Tensor:
        """Log-probabilities [rows, last, vocabulary] of the token after each of the last places."""
        ids, mask, positions = padded_left(rows, self.tokenizer.pad_token_id, self.device)
        logits = last_logits(self.network, ids, mask, positions, last)
        return log_softmax(logits.float(), -1).cpu()

    def generate(self, prompts: Sequence[str], how: Generation) -> list[Written]:
        """See `LanguageModel`."""
        raise NotImplementedError


def _likelihood(scores: torch.Tensor, tokens: Sequence[int]) -> Likelihood:
    """scores: [places, vocabulary], of which the last ones predict `tokens`."""
    own = scores[-len(tokens) :]
    wanted = torch.tensor(tokens)
    logprob = float(own.gather(1, wanted[:, None]).double().sum())
    return Likelihood(logprob, len(tokens), bool((own.argmax(1) == wanted).all()))


def padded_left(
    rows: Sequence[Sequence[int]], padding: int, device: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids, mask and positions [rows, tokens], padded at the left."""
    longest = max(map(len, rows))
    ids = torch.tensor([[padding] * (longest - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    return ids.to(device), mask.to(device), positions.to(device)


def last_logits(
    network: Any, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, last: int
) -> torch.Tensor:
    """Logits [rows, last, vocabulary] at the last places; the others are not computed where the network can."""
    accepted = inspect.signature(network.forward).parameters
    more: dict[str, Any] = {"logits_to_keep": last} if "logits_to_keep" in accepted else {}
    if "position_ids" in accepted:
        more["position_ids"] = positions
    logits: torch.Tensor = network(input_ids=ids, attention_mask=mask, **more).logits
    return logits[:, -last:]
