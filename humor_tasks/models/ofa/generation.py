"""Generation with OFA: beam search, greedy decoding and sampling over a batch of encoded inputs.

The inputs are encoded once. The beams of an input share its cross-attention keys. Finished inputs stay in the batch
until half of it is finished, because the cache is copied when they leave; in captured steps they stay to the end. Every
search ends, because only the end token may follow after `max_len` tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.capture import CapturedSteps
from humor_tasks.models.ofa.config import BEGIN, END
from humor_tasks.models.ofa.decoder import Decoder
from humor_tasks.models.ofa.encoder import Encoded
from humor_tasks.models.ofa.network import OfaNetwork
from humor_tasks.models.ofa.search import Finished, best, constrain, drawn
from humor_tasks.models.ofa.settings import GenerationSettings


@dataclass(frozen=True)
class Hypothesis:
    """The generated ids after the begin token, including the end token, and their score in the search."""

    ids: list[int]
    score: float


def generate(
    network: OfaNetwork, encoded: Encoded, settings: GenerationSettings, captured: CapturedSteps | None = None
) -> list[list[Hypothesis]]:
    """Each input's hypotheses, best first; at least one. Raises BadInput for lengths that exceed the positions.

    captured: the decoder's steps as CUDA graphs, which keep their memory between calls.
    """
    _check(network, settings)
    n, k, device = len(encoded.states), settings.beams, encoded.states.device
    if not n:
        return []
    writer = (
        _Cached(captured or network.decoder, encoded, settings)
        if settings.use_cache
        else _Uncached(network.decoder, encoded)
    )
    finished = Finished(n, settings, device)
    random_numbers = _random_numbers(n, settings).to(device) if settings.sample else None
    live, done = torch.arange(n, device=device), torch.zeros(n, dtype=torch.bool, device=device)
    written = torch.full((n, 1, 1), BEGIN, device=device)  # one beam in the first step, where all beams would be equal
    scores = torch.zeros(n, 1, device=device)
    for t in range(settings.max_len + 1):
        logs = writer.logits(written).flatten(0, 1).float().log_softmax(1)
        constrain(logs, written.flatten(0, 1), settings)
        if random_numbers is None:
            sums, beams, tokens = best(logs, scores, 2 * k)
        else:
            sums, beams, tokens = drawn(logs, scores, random_numbers[live, t], settings)
        ended = (tokens == END) & (sums > -torch.inf)
        done = finished.add(live, done, sums[:, :k], ended[:, :k], _pick(written, beams[:, :k])[:, :, 1:])
        if t == settings.max_len:
            break
        # Each beam contributes at most one end token, so at least k of the 2k candidates continue.
        order = ended.to(torch.uint8).argsort(dim=1, stable=True)[:, :k]
        scores, beams, tokens = (x.gather(1, order) for x in (sums, beams, tokens))
        written = torch.cat([_pick(written, beams), tokens[:, :, None]], 2)
        writer.pick(beams)
        if t < settings.min_len:  # no input can be done
            continue
        going = int((~done).sum())  # the only value of a step that the host reads
        if not going:
            break
        if writer.shrinks and 2 * going <= len(live):
            kept = (~done).nonzero()[:, 0]
            live, done, written, scores = live[kept], done[kept], written[kept], scores[kept]
            writer.keep(kept)
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

    def __init__(self, steps: Decoder | CapturedSteps, encoded: Encoded, settings: GenerationSettings) -> None:
        self.steps, self.shrinks = steps, not isinstance(steps, CapturedSteps)
        self.cache = steps.cache(encoded, settings.max_len + 1, settings.beams)

    def logits(self, written: torch.Tensor) -> torch.Tensor:
        return self.steps.step(written[:, :, -1], self.cache)

    def pick(self, beams: torch.Tensor) -> None:
        """Continue with these beams [n, k]."""
        self.cache.pick(beams)

    def keep(self, inputs: torch.Tensor) -> None:
        """Continue with the inputs with these indices."""
        self.cache = self.cache.rows(inputs)


class _Uncached:
    """Logits [n, k, V] of the next token, recomputed from all tokens."""

    shrinks = True

    def __init__(self, decoder: Decoder, encoded: Encoded) -> None:
        self.decoder, self.encoded = decoder, encoded

    def logits(self, written: torch.Tensor) -> torch.Tensor:
        n, k, _ = written.shape
        owners = torch.arange(n, device=written.device).repeat_interleave(k)
        logits: torch.Tensor = self.decoder(written.flatten(0, 1), self.encoded.rows(owners))
        return logits[:, -1].view(n, k, -1)

    def pick(self, beams: torch.Tensor) -> None:
        """Nothing is kept of the beams."""

    def keep(self, inputs: torch.Tensor) -> None:
        self.encoded = self.encoded.rows(inputs)
