"""A causal language model: log-likelihoods of continuations, generation, and the prompts that it was trained on."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import torch

from humor_tasks.errors import BadInput
from humor_tasks.models.devices import Batches, padded
from humor_tasks.models.text.language import Continuation, Generation, LanguageModel, Likelihood
from humor_tasks.models.text.pretrained import context_of, generate, open_model
from humor_tasks.models.text.templates import chat_text

_PLAIN = (
    "{{% for message in messages %}}{{{{ message['content'] }}}}{{% if not loop.last %}}{{{{ '\n\n' }}}}{{% endif %}}"
    "{{% endfor %}}{{% if add_generation_prompt %}}{{{{ '{gap}{prefix}' }}}}{{% endif %}}"
)


def plain_template(prefix: str, gap: str = "\n\n") -> str:
    """A chat template that shows turns as `humor_tasks.rows.records.plain_text`; `prefix` begins the answer."""
    return _PLAIN.format(prefix=prefix.replace("\\", r"\\").replace("'", r"\'"), gap=gap)


Ids = tuple[int, ...]
Continued = tuple[Ids, list[Ids]]
"""A prompt and its continuations."""


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
            answer = self.tokenizer(continuation, add_special_tokens=False, verbose=False)["input_ids"]
        else:
            ids = self._ids(prompt.rstrip())  # white space belongs to the token that follows it
            answer = self._ids(prompt + continuation)[len(ids) :]
        answer = answer + ([self.tokenizer.eos_token_id] if end else [])
        room = len(ids) if self.limit is None else self.limit - len(answer)
        if room < 1:
            raise BadInput(
                f"'{continuation.strip():.60}': it has {len(answer)} tokens and the model reads {self.limit}; answers "
                "are not cut: leave the row out, or use a model with a longer context."
            )
        return Pair(ids[-room:], answer, len(ids) > room)

    def prompt(self, prompt: str, room: int) -> Pair:
        """A prompt alone, with room for `room` new tokens."""
        ids = self._ids(prompt)
        most = len(ids) if self.limit is None else max(1, self.limit - room)
        return Pair(ids[-most:], [], len(ids) > most)

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
    def load(
        cls,
        name: str,
        device: str = "auto",
        precision: str = "fp32",
        batch_size: int = 0,
        revision: str | None = None,
    ) -> Self:
        """The model of a hub id or a folder. Raises BadInput for an unknown model and one of another kind."""
        network, tokenizer, place = open_model(name, "causal", device, precision, revision, name)
        return cls(network, tokenizer, name, place, batch_size)

    def prompt(self, turns: Sequence[Mapping[str, str]], prefix: str) -> str:
        """See `LanguageModel`; under the model's own chat template, where it has one."""
        if self.tokenizer.chat_template is None:
            return super().prompt(turns, prefix)
        shown = chat_text(self.tokenizer, turns)
        return shown if shown.endswith(prefix) else shown + prefix

    def loglikelihoods(self, prompts: Sequence[str], continuations: Sequence[Sequence[str]]) -> list[list[Likelihood]]:
        """See `LanguageModel`. Each distinct prompt is read once.

        Continuations that differ only in their last token share one forward pass; others share the prompt's keys and
        values.
        """
        rows = [
            [self.pairs(prompt, text) for text in texts] for prompt, texts in zip(prompts, continuations, strict=True)
        ]
        self.cut += len({prompt for prompt, row in zip(prompts, rows, strict=True) if any(pair.cut for pair in row)})
        # The last token is only predicted: {prompt: {the tokens before it: continuations}}.
        read: dict[Ids, dict[Ids, list[Ids]]] = {}
        for pair in (pair for row in rows for pair in row if pair.continuation):
            before = read.setdefault(tuple(pair.prompt), {}).setdefault(tuple(pair.continuation[:-1]), [])
            before.append(tuple(pair.continuation))
        shares = _cache_of(self.network) is not None
        many: list[Continued] = []
        single: list[Continued] = []
        for prompt, by_start in read.items():
            if shares and len(by_start) > 1:
                many.append((prompt, [end for ends in by_start.values() for end in ends]))
            else:
                single += [(prompt, ends) for ends in by_start.values()]
        known: dict[tuple[Ids, Ids], Likelihood] = {}
        for score, groups in ((self._scored, single), (self._shared, many)):
            lengths = [len(prompt) + max(map(len, ends)) - 1 for prompt, ends in groups]
            for (prompt, ends), found in zip(groups, self.batches.run(score, groups, lengths), strict=True):
                known |= {(prompt, end): likelihood for end, likelihood in zip(ends, found, strict=True)}
        nothing = Likelihood(0.0, 0, True)
        return [[known.get((tuple(p.prompt), tuple(p.continuation)), nothing) for p in row] for row in rows]

    def _scored(self, groups: Sequence[Continued]) -> list[list[Likelihood]]:
        """The likelihoods of continuations that differ only in their last token, prompt by prompt."""
        last = max(len(ends[0]) for _, ends in groups)
        self.network.eval()
        with torch.inference_mode():
            ids = [[*prompt, *ends[0][:-1]] for prompt, ends in groups]
            read = padded_left(ids, self.tokenizer.pad_token_id, self.device)
            logits = last_logits(self.network, accepted(self.network), *read, last).float()
            total = logits.logsumexp(-1)
            return [
                [_likelihood(row, sums, end) for end in ends]
                for row, sums, (_, ends) in zip(logits, total, groups, strict=True)
            ]

    def _shared(self, groups: Sequence[Continued]) -> list[list[Likelihood]]:
        """The likelihoods of any continuations, which go on from the keys and values of their prompt."""
        self.network.eval()
        with torch.inference_mode():
            ids, mask, positions = padded_left([ids for ids, _ in groups], self.tokenizer.pad_token_id, self.device)
            keep = {"logits_to_keep": 1} if "logits_to_keep" in accepted(self.network) else {}
            read = self.network(input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=True, **keep)
            pairs = [(i, end) for i, (_, ends) in enumerate(groups) for end in ends]
            found: dict[int, Likelihood] = {}
            for part in self.batches.split([len(groups[i][0]) + len(end) for i, end in pairs]):
                index = torch.tensor([pairs[k][0] for k in part], device=self.device)
                before = [pairs[k][1][:-1] for k in part]
                logits = read.logits[index, -1:]
                if any(before):
                    more = self._continued(before, mask[index], _selected(read[_cache_of(self.network)], index))
                    logits = torch.cat([logits, more], 1)
                for row, k in zip(logits.float(), part, strict=True):
                    row = row[: len(pairs[k][1])]
                    found[k] = _likelihood(row, row.logsumexp(-1), pairs[k][1])
        scores = iter([found[k] for k in range(len(pairs))])
        return [[next(scores) for _ in ends] for _, ends in groups]

    def _continued(self, before: Sequence[Sequence[int]], mask: torch.Tensor, cache: Any) -> torch.Tensor:
        """Logits [rows, longest, words] at tokens after a cached prompt, padded at the right. mask: the prompt's."""
        ids, real = padded(before, self.tokenizer.pad_token_id), padded([[1] * len(row) for row in before], 0)
        positions = mask.sum(1, keepdim=True) + torch.arange(ids.shape[1], device=self.device)
        logits: torch.Tensor = self.network(
            input_ids=ids.to(self.device),
            attention_mask=torch.cat([mask, real.to(self.device)], 1),
            position_ids=positions,
            use_cache=True,
            **{str(_cache_of(self.network)): cache},
        ).logits
        return logits

    def generate(self, prompts: Sequence[str], how: Generation) -> list[Continuation]:
        """See `LanguageModel`. Equal prompts get equal texts."""
        distinct = list(dict.fromkeys(prompts))
        rows = [(prompt, self.pairs.prompt(prompt, how.max_tokens)) for prompt in distinct]
        self.cut += sum(pair.cut for _, pair in rows)
        self.network.eval()
        with torch.inference_mode():
            texts = self.batches.run(partial(self._write, how), rows, [len(pair.prompt) for _, pair in rows])
        replies = dict(zip(distinct, texts, strict=True))
        return [replies[prompt] for prompt in prompts]

    def _write(self, how: Generation, rows: Sequence[tuple[str, Pair]]) -> list[Continuation]:
        ids, mask, _ = padded_left([pair.prompt for _, pair in rows], self.tokenizer.pad_token_id, self.device)
        inputs = {"input_ids": ids, "attention_mask": mask}
        return generate(self.network, self.tokenizer, inputs, [prompt for prompt, _ in rows], how, ids.shape[1])


def _likelihood(logits: torch.Tensor, total: torch.Tensor, tokens: Sequence[int]) -> Likelihood:
    """logits: [places, vocabulary], total: [places], their logsumexp; the last places predict `tokens`."""
    last, targets = logits[-len(tokens) :], torch.tensor(tokens, device=logits.device)
    chances = last.gather(1, targets[:, None])[:, 0] - total[-len(tokens) :]
    return Likelihood(float(chances.double().sum()), len(tokens), bool((last.argmax(1) == targets).all()))


CACHES = ("cache", "past_key_values")
"""The argument with the keys and values of earlier tokens: in recent releases of transformers, and in earlier ones."""


def _cache_of(network: Any) -> str | None:
    """The name of a network's argument in `CACHES`; None where it keeps a state in their place, as Mamba does."""
    takes = accepted(network)
    stateful = getattr(network, "_is_stateful", True) or "position_ids" not in takes
    return None if stateful else next((name for name in CACHES if name in takes), None)


def _selected(cache: Any, index: torch.Tensor) -> Any:
    """The rows of a cache of keys and values at these places; the cache itself is not changed."""
    some = copy.copy(cache)
    some.layers = [copy.copy(layer) for layer in cache.layers]
    some.batch_select_indices(index)
    return some


def padded_left(
    rows: Sequence[Sequence[int]], padding: int, device: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids, mask and positions [rows, tokens], padded at the left."""
    ids, mask = padded(rows, padding, left=True), padded([[1] * len(row) for row in rows], 0, left=True)
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    return ids.to(device), mask.to(device), positions.to(device)


def accepted(network: Any) -> frozenset[str]:
    """The optional arguments that a network's forward pass accepts."""
    known = inspect.signature(network.forward).parameters
    return frozenset(name for name in ("logits_to_keep", "position_ids", *CACHES) if name in known)


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
