"""Generation with OFA: beam search, greedy decoding and sampling over a batch of encoded inputs.

The inputs are encoded once. The beams of an input share its cross-attention keys. Finished inputs stay in the batch
until half of it is finished, because the cache is copied when they leave; in captured steps they stay to the end. Every
search ends, because only the end token may follow after `max_len` tokens.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch.nn import functional

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.config import BEGIN, END, PAD, GenerationSettings
from humor_tasks.models.ofa.encoder import Encoded
from humor_tasks.models.ofa.layers import eights
from humor_tasks.models.ofa.network import Cache, Decoder, OfaNetwork

# ---- steps of the decoder as CUDA graphs ----------------------------------------------------------

Replay = Callable[[], torch.Tensor]
"""Repeats the captured work on the current values of the tensors that it read, and returns its result, always in the
same memory."""

HELD = 4  # shapes of batches; the cache of a batch of 32 in the huge size takes about 3 GB


@dataclass
class _Held:
    cache: Cache
    steps: dict[tuple[int, int], tuple[torch.Tensor, Replay]] = field(default_factory=dict)
    """The tokens' memory and the replay, by numbers of beams and of positions read."""


class CapturedSteps:
    """The `cache` and `step` of a decoder, with steps captured at first use.

    capture: runs some work and returns its replay, `cuda_graph` by default. The results of a step are overwritten by
    the next one, and a cache by the next one of the same shape.
    """

    def __init__(self, decoder: Decoder, capture: Callable[[Callable[[], torch.Tensor]], Replay] | None = None) -> None:
        self.decoder, self.capture, self.fails = decoder, capture or cuda_graph, False
        self.held: OrderedDict[tuple[int, ...], _Held] = OrderedDict()
        self._weights: list[int] = []

    def cache(self, encoded: Encoded, length: int, beams: int) -> Cache:
        """See `Decoder.cache`."""
        # A graph reads the addresses that it was captured with; changed values are seen, replaced tensors are not.
        weights = [parameter.data_ptr() for parameter in self.decoder.parameters()]
        if weights != self._weights:
            self.held.clear()
            self._weights = weights
        encoded = _aligned(encoded)
        key = (*encoded.states.shape[:2], length, beams)
        held = self.held.get(key)
        fresh = self.decoder.cache(encoded, length, beams, tokens=None if held is None else held.cache.tokens)
        if held is None:
            held = self.held[key] = _Held(fresh)
        else:
            held.cache.refill(fresh)
        self.held.move_to_end(key)
        if len(self.held) > HELD:
            self.held.popitem(last=False)
        return held.cache

    def step(self, ids: torch.Tensor, cache: Cache) -> torch.Tensor:
        """See `Decoder.step`."""
        if self.fails:
            return self.decoder.step(ids, cache)
        steps = next(held.steps for held in self.held.values() if held.cache is cache)
        key = (ids.shape[1], cache.width)
        if key not in steps:
            tokens, width = ids.clone(), cache.width
            try:
                steps[key] = (tokens, self.capture(lambda: self.decoder.step_at(tokens, cache, width)))
            except torch.OutOfMemoryError:
                self.held.clear()
                raise
            except RuntimeError as problem:
                self.fails = True
                warnings.warn(f"ofa: decoding runs slower, as CUDA graphs cannot be captured: {problem}", stacklevel=2)
                return self.decoder.step(ids, cache)
        tokens, replay = steps[key]
        tokens.copy_(ids)
        logits = replay()
        cache.advance()
        return logits


def cuda_graph(work: Callable[[], torch.Tensor]) -> Replay:
    """Capture the work of the current CUDA device."""
    now, beside = torch.cuda.current_stream(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
    beside.wait_stream(now)
    with torch.cuda.stream(beside):  # libraries allocate their workspaces in the first run
        work()
    now.wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()

    def replay() -> torch.Tensor:
        graph.replay()
        return result

    return replay


def _aligned(encoded: Encoded) -> Encoded:
    """With padding to a multiple of eight: few shapes exist, and attention needs no aligned copy of its biases."""
    states, positions, padding = encoded.states, encoded.positions, encoded.padding
    if padding is None:
        padding = torch.zeros(states.shape[:2], dtype=torch.bool, device=states.device)
    more = eights(states.shape[1]) - states.shape[1]
    rows = (0, 0, 0, more)
    return Encoded(
        functional.pad(states, rows), functional.pad(positions, rows), functional.pad(padding, (0, more), value=True)
    )


# ---- one step of the search ----------------------------------------------------------------------
# Constraints on the next token, candidate selection, and finished hypotheses.
# n inputs have k beams each; rows are [n * k].

NEG_INF = -torch.inf


def constrain(logs: torch.Tensor, written: torch.Tensor, settings: GenerationSettings) -> None:
    """Set the log-probabilities [rows, V] of tokens that may not follow `written` [rows, t + 1] to -inf, in place.

    `written` includes the begin token. In style fairseq padding is never generated, and the forced end token keeps its
    log-probability; in style hf it has log-probability 0.
    """
    t = written.shape[1] - 1
    if settings.style == "fairseq":
        logs[:, PAD] = NEG_INF
    if t < settings.min_len:
        logs[:, END] = NEG_INF
    if t == settings.max_len:
        end = logs[:, END].clone() if settings.style == "fairseq" else 0.0
        logs.fill_(NEG_INF)
        logs[:, END] = end
    elif settings.no_repeat_ngram:
        _block_repeats(logs, written, settings.no_repeat_ngram)


def _block_repeats(logs: torch.Tensor, written: torch.Tensor, n: int) -> None:
    """Mask tokens that would repeat an n-gram; the begin token is part of the first n-gram."""
    if written.shape[1] < n:
        return
    grams = written.unfold(1, n, 1)  # [rows, places, n]
    same = (grams[:, :, :-1] == written[:, None, written.shape[1] - n + 1 :]).all(2)
    # A token may follow several n-grams; one equal n-gram suffices to mask it.
    blocked = torch.where(same, NEG_INF, torch.inf)
    logs.scatter_reduce_(1, grams[:, :, -1], blocked, "amin")


def best(logs: torch.Tensor, scores: torch.Tensor, most: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The `most` best continuations of each input's beams: summed log-probabilities, beams, tokens; [n, most] each.

    scores [n, k] are the beams' summed log-probabilities so far.
    """
    n, beams = scores.shape
    values, tokens = logs.topk(min(most, logs.shape[1]))
    width = values.shape[1]  # candidates of a beam
    sums = (values + scores.view(-1, 1)).view(n, beams * width)
    top, at = sums.topk(min(most, beams * width))
    return top, at // width, tokens.view(n, beams * width).gather(1, at)


def drawn(
    logs: torch.Tensor, scores: torch.Tensor, chance: torch.Tensor, settings: GenerationSettings
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """One sampled continuation per row, in the format of `best`; chance [n] holds uniform random numbers in [0, 1).

    The score is the model's own log-probability, before temperature and truncation.
    """
    x, order = logs.sort(1, descending=True)
    if settings.top_k:
        x, order = x[:, : settings.top_k], order[:, : settings.top_k]
    # The limit avoids division by zero; the most likely token then has all the probability.
    share = ((x - x[:, :1]) / max(settings.temperature, 1e-30)).softmax(1)
    share = torch.where(share.cumsum(1) - share < settings.top_p, share, 0)
    cumulative = share.cumsum(1)
    at = torch.searchsorted(cumulative, chance[:, None] * cumulative[:, -1:], right=True)
    at = torch.minimum(at, (share > 0).sum(1, keepdim=True) - 1)  # rounding may exceed the last index
    at = at.clamp(min=0)  # nan has no share; `generate` reports it
    token = order.gather(1, at)
    return scores + logs.gather(1, token), torch.zeros_like(token), token


class Finished:
    """The finished hypotheses of n inputs, at most k each: the first ones (fairseq) or the best ones (hf)."""

    def __init__(self, n: int, settings: GenerationSettings, device: torch.device) -> None:
        k, length = settings.beams, settings.max_len + 1
        self.settings = settings
        self.scores = torch.full((n, k), NEG_INF, device=device)
        self.ids = torch.full((n, k, length), PAD, device=device)

    def add(
        self, live: torch.Tensor, done: torch.Tensor, sums: torch.Tensor, ended: torch.Tensor, ids: torch.Tensor
    ) -> torch.Tensor:
        """Add the candidates that `ended`, in order of rank, of inputs that are not `done`; returns which inputs are.

        live, done [n]: indices of the inputs, and whether they were done before; sums, ended [n, c]; ids [n, c, t]:
        generated tokens without begin and end.
        """
        settings, k, t = self.settings, self.settings.beams, ids.shape[2]
        length = float(t + 1) ** (settings.lenpen if settings.normalize else 0.0)
        new = torch.where(ended & ~done[:, None], sums / length, NEG_INF)
        written = torch.full((*ended.shape, self.ids.shape[2]), PAD, device=ids.device)
        written[:, :, :t], written[:, :, t] = ids, END
        scores = torch.cat([self.scores[live], new], 1)
        if settings.style == "fairseq":
            keep = (scores == NEG_INF).to(torch.uint8).argsort(dim=1, stable=True)[:, :k]
        else:
            keep = scores.argsort(dim=1, descending=True, stable=True)[:, :k]
        scores = scores.gather(1, keep)
        both = torch.cat([self.ids[live], written], 1)
        self.scores[live] = scores
        self.ids[live] = both.gather(1, keep[:, :, None].expand(-1, -1, both.shape[2]))
        if settings.style == "fairseq":
            return done | (scores[:, -1] > NEG_INF)
        # As in transformers: done if the best candidate, finished now, would not be among the best k.
        over: torch.Tensor = (scores[:, -1] > NEG_INF) & (scores[:, -1] >= sums[:, 0] / length)
        return done | over

    def lists(self) -> list[list[tuple[list[int], float]]]:
        """Each input's hypotheses, best first: ids including the end token, and scores."""
        scores, order = self.scores.sort(dim=1, descending=True, stable=True)
        ids = self.ids.gather(1, order[:, :, None].expand(-1, -1, self.ids.shape[2])).tolist()
        return [
            [(row[: row.index(END) + 1], score) for row, score in zip(rows, values, strict=True) if score > NEG_INF]
            for rows, values in zip(ids, scores.tolist(), strict=True)
        ]


# ---- generation ----------------------------------------------------------------------------------


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
            rest = (~done).nonzero()[:, 0]
            live, done, written, scores = live[rest], done[rest], written[rest], scores[rest]
            writer.keep(rest)
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
        """Nothing depends on the beams."""

    def keep(self, inputs: torch.Tensor) -> None:
        self.encoded = self.encoded.rows(inputs)
