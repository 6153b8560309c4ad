"""OFA's decoder: several continuations of an input, and one position at a time."""

from __future__ import annotations

import pytest
import torch
from standins.ofa import network, pictures, small, texts

from humor_tasks.models.ofa import decoder
from humor_tasks.models.ofa.attention import Attention


def gap(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).abs().max())


# -- continuations of an input ----------------------------------------------------------------------


@torch.no_grad()
def test_continuations_share_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    built = network(small(share_decoder_input_output_embed=False))
    encoded, written = built.encode(texts([4, 7]), pictures(2)), torch.stack([texts([6] * 3, seed=i) for i in (1, 2)])
    alone = built.decoder(written.flatten(0, 1), encoded.rows(torch.arange(2).repeat_interleave(3)))
    seen: list[int] = []
    pair = Attention.pair
    monkeypatch.setattr(Attention, "pair", lambda self, x: seen.append(x.shape[0] * x.shape[1]) or pair(self, x))
    found = built.decoder.scores(written, encoded)
    assert gap(found.flatten(0, 1), alone) < 2e-5
    # Each layer: the tokens' own keys, and the keys of two inputs, not of six.
    assert seen == [written.numel(), encoded.states.shape[0] * encoded.states.shape[1]] * 2


@torch.no_grad()
@pytest.mark.parametrize("most", [1, 5, 99])
def test_loglikelihoods_are_of_the_logits(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "SCORED", most)
    built = network()
    encoded, written = built.encode(texts([4, 7]), None), torch.stack([texts([6] * 3, seed=i) for i in (1, 2)])
    logs = built.decoder.scores(written, encoded).log_softmax(-1)
    wanted = written.roll(-1, 2)
    wanted[0, 0] = logs[0, 0].argmax(-1)
    likely, first = built.decoder.loglikelihoods(written, wanted, encoded)
    assert gap(likely, logs.gather(3, wanted[..., None])[..., 0]) < 2e-5
    assert torch.equal(first, logs.argmax(-1) == wanted)
    assert first[0, 0].all()
    assert not first.all()
