"""Generation with OFA: beam search, greedy decoding and sampling over a batch of encoded inputs.

The inputs are encoded once. The beams of an input share its cross-attention keys, and finished inputs leave the batch.
Every search ends, because only the end token may follow after `max_len` tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.config import BEGIN, END
from humor_tasks.models.ofa.encoder import Encoded
from humor_tasks.models.ofa.network import OfaNetwork
from humor_tasks.models.ofa.search import Finished, best, constrain, drawn
from humor_tasks.models.ofa.settings import GenerationSettings


@dataclass(frozen=True)
class Hypothesis:
    """The generated ids after the begin token, including the end token, and their score in the search."""

    ids: list[int]
    score: float


def generate(network: OfaNetwork, encoded: Encoded, settings: GenerationSettings) -> list[list[Hypothesis]]:
    """Each input's hypotheses, best first; at least one. Raises BadInput for lengths that exceed the positions."""
    _check(network, settings)
    n, k, device = len(encoded.states), settings.beams, encoded.states.device
    if not n:
        return []
    writer = (_Cached if settings.use_cache else _Uncached)(network, encoded, settings)
    finished = Finished(n, settings, device)
    random_numbers = _random_numbers(n, settings).to(device) if settings.sample else None
    live = torch.arange(n, device=device)
    written = torch.full((n, 1, 1), BEGIN, device=device)  # one beam in the first step, where all beams would be equal
    scores = torch.zeros(n, 1, device=device)
    for t in range(settings.max_len + 1):
        rows = written.flatten(0, 1)
        logs = writer.logits(written).flatten(0, 1).float().log_softmax(1)
        constrain(logs, rows, settings)
        if random_numbers is None:
            sums, beams, tokens = best(logs, scores, 2 * k)
        else:
            sums, beams, tokens = drawn(logs, scores, random_numbers[live, t], settings)
        ended = (tokens == END) & (sums > -torch.inf)
        done = finished.add(live, sums[:, :k], ended[:, :k], _pick(written, beams[:, :k])[:, :, 1:])
        if t == settings.max_len:
            break
        # Each beam contributes at most one end token, so at least k of the 2k candidates continue.
        order = ended.to(torch.uint8).argsort(dim=1, stable=True)[:, :k]
        scores, beams, tokens = (x.gather(1, order) for x in (sums, beams, tokens))
        going = None
        if (stay := [i for i, over in enumerate(done.tolist()) if not over]) and len(stay) < len(live):
            going = torch.tensor(stay, device=device)
        elif not stay:
            break
        written = torch.cat([_pick(written, beams), tokens[:, :, None]], 2)
        if going is not None:
            live, written, scores, beams = live[going], written[going], scores[going], beams[going]
        writer.pick(beams, going)
    results = [[Hypothesis(ids, score) for ids, score in rows] for rows in finished.lists()]
    if not all(results):
        raise BadInput("ofa: the network returns values that are not finite; the weights are damaged.")
    return results


def _check(network: OfaNetwork, settings: GenerationSettings) -> None:
    most = network.config.most_tokens
    if settings.max_len + 1 > most:
        raise BadInput(f"ofa: max_len is {settings.max_len}; the decoder has positions for {most - 1} tokens.")
    if 2 * settings.beams >= network.config.vocab_size:
        raise BadInput(f"ofa: {settings.beams} beams are too many for {network.config.vocab_size} tokens.")


def _random_numbers(n: int, settings: GenerationSettings) -> torch.Tensor:
    """A random number for each token of each input, independent of the other inputs in the batch."""
    generators = [torch.Generator().manual_seed(settings.seed + i) for i in range(n)]
    return torch.stack([torch.rand(settings.max_len + 1, generator=generator) for generator in generators])


def _pick(written: torch.Tensor, beams: torch.Tensor) -> torch.Tensor:
    """The rows of written [n, k, t] for the beams [n, c] -> [n, c, t]."""
    return written.gather(1, beams[:, :, None].expand(-1, -1, written.shape[2]))


class _Cached:
    """Logits [n, k, V] of the next token, from the last token and the cache."""

    def __init__(self, network: OfaNetwork, encoded: Encoded, settings: GenerationSettings) -> None:
        self.decoder = network.decoder
        self.cache = network.decoder.cache(encoded, settings.max_len + 1, settings.beams)

    def logits(self, written: torch.Tensor) -> torch.Tensor:
        return self.decoder.step(written[:, :, -1], self.cache)

    def pick(self, beams: torch.Tensor, inputs: torch.Tensor | None) -> None:
        self.cache.pick(beams, inputs)


class _Uncached:
    """Logits [n, k, V] of the next token, recomputed from all tokens."""

    def __init__(self, network: OfaNetwork, encoded: Encoded, settings: GenerationSettings) -> None:
        self.decoder, self.encoded = network.decoder, encoded

    def logits(self, written: torch.Tensor) -> torch.Tensor:
        n, k, _ = written.shape
        owners = torch.arange(n, device=written.device).repeat_interleave(k)
        logits: torch.Tensor = self.decoder(written.flatten(0, 1), self.encoded.rows(owners))
        return logits[:, -1].view(n, k, -1)

    def pick(self, beams: torch.Tensor, inputs: torch.Tensor | None) -> None:
        if inputs is not None:
            self.encoded = self.encoded.rows(inputs)
