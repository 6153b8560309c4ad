"""A causal language model: log-likelihoods of continuations, generation, and the prompts that it was trained on."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import torch

from humor_tasks.errors import BadInput
from humor_tasks.models.devices import pick_device
from humor_tasks.models.text.batches import Batches
from humor_tasks.models.text.language import Generation, LanguageModel, Likelihood, Written
from humor_tasks.models.text.opening import context_of, kind_of, open_network, open_tokenizer
from humor_tasks.models.text.sampling import arguments, written

_PLAIN = (
    "{{% for message in messages %}}{{{{ message['content'] }}}}{{% if not loop.last %}}{{{{ '\n\n' }}}}{{% endif %}}"
    "{{% endfor %}}{{% if add_generation_prompt %}}{{{{ '\n\n{prefix}' }}}}{{% endif %}}"
)


def plain_template(prefix: str) -> str:
    """A chat template that shows turns as `humor_tasks.data.records.plain_text`; `prefix` begins the answer."""
    return _PLAIN.format(prefix=prefix)


def chat_text(tokenizer: Any, turns: Sequence[Mapping[str, str]]) -> str:
    """The turns (role, content) as the tokenizer's chat template shows them, up to where the answer begins."""
    try:
        text: str = tokenizer.apply_chat_template(list(turns), add_generation_prompt=True, tokenize=False)
    except Exception as problem:  # jinja2's errors, and what a template raises itself
        message = " ".join(str(problem).split())[:200]
        raise BadInput(f"the model's chat template cannot show the benchmark's turns ({message}).") from None
    return text


class Pair(NamedTuple):
    """Token ids of a prompt and its continuation, and whether the prompt was cut; `shown`: what an image-text model
    is shown instead of the prompt's ids.
    """

    prompt: list[int]
    continuation: list[int]
    cut: bool
    shown: Any = None


class PairTokenizer:
    """Prompts and continuations as tokens, at most `limit` together; a prompt that is too long loses its beginning.

    A judged pair is tokenized as one text, and the continuation is what follows the prompt's tokens, as in lm-eval. A
    trained pair is divided where a generated answer begins.
    """

    def __init__(self, tokenizer: Any, limit: int | None) -> None:
        self.tokenizer, self.limit = tokenizer, limit

    def __call__(self, prompt: str, continuation: str, end: bool = False) -> Pair:
        """The pair; `end` adds the end token, for training. Raises BadInput for a continuation without room."""
        if end and prompt[-1:].isspace():
            ids = self._ids(prompt)
            own = self.tokenizer(continuation, add_special_tokens=False, verbose=False)["input_ids"]
        else:
            kept = prompt.rstrip()  # white space belongs to the token that follows it
            ids, whole = self._ids(kept), self._ids(prompt + continuation)
            own = whole[len(ids) :]
        own = own + ([self.tokenizer.eos_token_id] if end else [])
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
    """A causal network with its tokenizer; see `LanguageModel`. batch_size: texts at once, 0 chooses by length."""

    kind = "causal"

    def __init__(
        self, network: Any, tokenizer: Any, name: str, device: str | torch.device = "cpu", batch_size: int = 0
    ) -> None:
        self.network, self.tokenizer, self.name, self.cut = network, tokenizer, name, 0
        self.device = torch.device(device)
        self.pairs = PairTokenizer(tokenizer, context_of(tokenizer, network.config))
        self.batches = Batches(name, self.device, batch_size)

    @classmethod
    def load(cls, name: str, device: str = "auto", precision: str = "fp32", batch_size: int = 0) -> Self:
        """The model of a hub id or a folder. Raises BadInput for an unknown model and one of another kind."""
        if (kind := kind_of(name)) != "causal":
            raise BadInput(f"{name}: it is a model of the kind '{kind}', not causal.")
        where = pick_device(device, name)
        network = open_network(name, "causal", precision).to(where).eval()
        return cls(network, open_tokenizer(name), name, where, batch_size)

    def loglikelihoods(self, prompts: Sequence[str], continuations: Sequence[Sequence[str]]) -> list[list[Likelihood]]:
        """See `LanguageModel`. Continuations that differ only in their last token share one forward pass."""
        asked = [[self.pairs(prompt, each) for each in own] for prompt, own in zip(prompts, continuations, strict=True)]
        self.cut += len({prompt for prompt, own in zip(prompts, asked, strict=True) if any(pair.cut for pair in own)})
        # The last token is only predicted. What comes before it is read once.
        read: dict[tuple[int, ...], list[Pair]] = {}
        for pair in (pair for own in asked for pair in own if pair.continuation):
            read.setdefault((*pair.prompt, *pair.continuation[:-1]), []).append(pair)
        groups = list(read.items())
        scored = self.batches.run(self._scored, groups, [len(ids) for ids, _ in groups])
        found = {
            (tuple(pair.prompt), tuple(pair.continuation)): likelihood
            for (_, pairs), own in zip(groups, scored, strict=True)
            for pair, likelihood in zip(pairs, own, strict=True)
        }
        nothing = Likelihood(0.0, 0, True)
        return [[found.get((tuple(p.prompt), tuple(p.continuation)), nothing) for p in own] for own in asked]

    def _scored(self, groups: Sequence[tuple[Sequence[int], list[Pair]]]) -> list[list[Likelihood]]:
        """The likelihoods of continuations by what is read before their last token."""
        last = max(len(pair.continuation) for _, pairs in groups for pair in pairs)
        self.network.eval()
        with torch.inference_mode():
            read = padded_left([ids for ids, _ in groups], self.tokenizer.pad_token_id, self.device)
            logits = last_logits(self.network, accepted(self.network), *read, last).float()
            total = logits.logsumexp(-1)
            return [
                [_likelihood(own, each, pair.continuation) for pair in pairs]
                for own, each, (_, pairs) in zip(logits, total, groups, strict=True)
            ]

    def generate(self, prompts: Sequence[str], how: Generation) -> list[Written]:
        """See `LanguageModel`. Equal prompts get equal texts."""
        asked = list(dict.fromkeys(prompts))
        rows = [(prompt, self.pairs.prompt(prompt, how.max_tokens)) for prompt in asked]
        self.cut += sum(pair.cut for _, pair in rows)
        self.network.eval()
        with torch.inference_mode():
            written = self.batches.run(
                lambda part: self._write(part, how), rows, [len(pair.prompt) for _, pair in rows]
            )
        found = dict(zip(asked, written, strict=True))
        return [found[prompt] for prompt in prompts]

    def _write(self, rows: Sequence[tuple[str, Pair]], how: Generation) -> list[Written]:
        ids, mask, _ = padded_left([pair.prompt for _, pair in rows], self.tokenizer.pad_token_id, self.device)
        given = arguments(how, [prompt for prompt, _ in rows], self.device)
        more = {"pad_token_id": self.tokenizer.pad_token_id}
        made = self.network.generate(input_ids=ids, attention_mask=mask, **given, **more)[:, ids.shape[1] :].tolist()
        ends = self.network.generation_config.eos_token_id
        stops = set(ends if isinstance(ends, list) else [ends])
        return [
            written(self.tokenizer, len(pair.prompt), own, stops) for (_, pair), own in zip(rows, made, strict=True)
        ]


def _likelihood(logits: torch.Tensor, total: torch.Tensor, tokens: Sequence[int]) -> Likelihood:
    """logits: [places, vocabulary], total: [places], their logsumexp; the last places predict `tokens`."""
    own, wanted = logits[-len(tokens) :], torch.tensor(tokens, device=logits.device)
    chances = own.gather(1, wanted[:, None])[:, 0] - total[-len(tokens) :]
    return Likelihood(float(chances.double().sum()), len(tokens), bool((own.argmax(1) == wanted).all()))


def padded_left(
    rows: Sequence[Sequence[int]], padding: int, device: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids, mask and positions [rows, tokens], padded at the left."""
    longest = max(map(len, rows))
    ids = torch.tensor([[padding] * (longest - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    return ids.to(device), mask.to(device), positions.to(device)


def accepted(network: Any) -> frozenset[str]:
    """The optional arguments that a network's forward pass accepts."""
    known = inspect.signature(network.forward).parameters
    return frozenset(name for name in ("logits_to_keep", "position_ids") if name in known)


def last_logits(
    model: Any, takes: frozenset[str], ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, last: int
) -> torch.Tensor:
    """Logits [rows, last, vocabulary] at the last places; the others are not computed where the network can.

    takes: what `accepted` says of the network, which `model` may wrap.
    """
    more = {"logits_to_keep": last, "position_ids": positions}
    logits: torch.Tensor = model(
        input_ids=ids, attention_mask=mask, **{name: more[name] for name in more if name in takes}
    ).logits
    return logits[:, -last:]
