"""Steps of OFA's decoder as CUDA graphs: a step is many small operations, whose launches take longer than their work.

A graph is captured once for each shape of a step and replayed after that. It reads and writes fixed memory, so that its
cache is kept between calls too.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch.nn import functional

from humor_tasks.models.ofa.cache import Cache
from humor_tasks.models.ofa.decoder import Decoder
from humor_tasks.models.ofa.encoder import Encoded
from humor_tasks.models.ofa.places import eights

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
        fresh = self.decoder.cache(encoded, length, beams, own=None if held is None else held.cache.own)
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
        found = work()

    def replay() -> torch.Tensor:
        graph.replay()
        return found

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
