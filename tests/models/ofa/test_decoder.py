"""OFA's decoder: several continuations of an input, steps of fixed shapes, and their capture and export."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from standins.ofa import gap, network, pictures, small, texts
from standins.ofa_graphs import Counted, recorded
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

from humor_tasks.models.ofa import GenerationSettings, Ofa
from humor_tasks.models.ofa import network as network_module
from humor_tasks.models.ofa.encoder import Encoded
from humor_tasks.models.ofa.generation import HELD, CapturedSteps, Replay, generate
from humor_tasks.models.ofa.layers import Attention, FewRowsLinear
from humor_tasks.models.ofa.network import Cache, Decoder, OfaNetwork

LENGTHS = [4, 9, 6, 3]
AT_MOST = 20  # tokens: three buckets of positions


@torch.no_grad()
def ending(seed: int = 0, eager: float = 3.5) -> OfaNetwork:
    """A network whose inputs end at different times."""
    built = network(small(share_decoder_input_output_embed=False, vocab_size=71), seed)
    built.decoder.layer_norm.bias += 1
    built.decoder.output_projection.weight[2] = eager / built.config.d_model
    return built


def ids(found: Any) -> list[list[list[int]]]:
    return [[h.ids for h in each] for each in found]


# -- continuations of an input ----------------------------------------------------------------------


@torch.no_grad()
def test_continuations_share_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    built = network(small(share_decoder_input_output_embed=False))
    encoded, written = built.encoder(texts([4, 7]), pictures(2)), torch.stack([texts([6] * 3, seed=i) for i in (1, 2)])
    alone = built.decoder(written.flatten(0, 1), encoded.rows(torch.arange(2).repeat_interleave(3)))
    seen: list[int] = []
    pair = Attention.pair
    monkeypatch.setattr(Attention, "pair", lambda self, x: seen.append(x.shape[0] * x.shape[1]) or pair(self, x))
    found = built.decoder.output_projection(built.decoder.continued(written, encoded))
    assert gap(found.flatten(0, 1), alone) < 2e-5
    # Each layer: the tokens' own keys, and the keys of two inputs, not of six.
    assert seen == [written.numel(), encoded.states.shape[0] * encoded.states.shape[1]] * 2


@torch.no_grad()
@pytest.mark.parametrize("most", [1, 5, 99])
def test_loglikelihoods_are_of_the_logits(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_module, "SCORED", most)
    built = network()
    encoded, written = built.encoder(texts([4, 7]), None), torch.stack([texts([6] * 3, seed=i) for i in (1, 2)])
    logs = built.decoder.output_projection(built.decoder.continued(written, encoded)).log_softmax(-1)
    wanted = written.roll(-1, 2)
    wanted[0, 0] = logs[0, 0].argmax(-1)
    likely, first = built.decoder.loglikelihoods(written, wanted, encoded)
    assert gap(likely, logs.gather(3, wanted[..., None])[..., 0]) < 2e-5
    assert torch.equal(first, logs.argmax(-1) == wanted)
    assert first[0, 0].all()
    assert not first.all()


# -- a few rows on a CPU ----------------------------------------------------------------------------


@torch.no_grad()
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("wide", [31, 32, 70])
@pytest.mark.parametrize("rows", [1, 4, 15, 16])
def test_few_rows_give_what_many_give(rows: int, wide: int, bias: bool) -> None:
    layer, x = FewRowsLinear(7, wide, bias), torch.randn(rows, 7)

    def same() -> bool:
        return torch.allclose(layer(x), torch.nn.functional.linear(x, layer.weight, layer.bias), atol=1e-6)

    assert same()
    layer.weight.data[0, 0] += 1  # which no version counts
    assert same()
    layer.weight.data = torch.randn(wide, 7)
    assert same()
    assert torch.equal(layer(x.view(rows, 1, 7))[:, 0], layer(x))
    assert set(vars(layer)) == set(vars(torch.nn.Linear(7, 9)))  # nothing of a weight is stored beside it


def test_few_rows_have_gradients() -> None:
    layer, x = FewRowsLinear(7, 33), torch.randn(5, 7, requires_grad=True)
    found = torch.autograd.grad(layer(x).square().sum(), [x, *layer.parameters()])
    wanted = torch.autograd.grad(
        torch.nn.functional.linear(x, layer.weight, layer.bias).square().sum(), [x, *layer.parameters()]
    )
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(found, wanted, strict=True))


# -- steps of fixed shapes --------------------------------------------------------------------------


@torch.inference_mode()
def test_steps_of_a_bucket_have_the_same_shapes_and_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    built, widths = network(), []
    cross = Attention.forward
    monkeypatch.setattr(
        Attention, "forward", lambda self, x, bias, pair: widths.append(pair[0].shape[2]) or cross(self, x, bias, pair)
    )
    encoded = built.encoder(texts([4, 7]), pictures(2))
    widths.clear()
    cache, seen = built.decoder.cache(encoded, 17, 2), []
    for t in range(17):
        with Counted() as counted:
            built.decoder.step(torch.full((2, 2), t), cache)
        seen.append((tuple(widths), tuple(counted.shapes)))
        widths.clear()
        cache.pick(torch.zeros(2, 2, dtype=torch.long))
    assert [len(set(part)) for part in (seen[:8], seen[8:16])] == [1, 1]
    places = encoded.states.shape[1]
    assert [part[0][:2] for part in (seen[0], seen[8], seen[16])] == [(2 * w, places) for w in (8, 16, 24)]


@torch.inference_mode()
def test_the_host_reads_one_value_a_step() -> None:
    built = ending()
    encoded, steps = built.encoder(texts(LENGTHS), pictures(4)), CapturedSteps(built.decoder, recorded)
    reads = []
    for least in (0, AT_MOST):  # before min_len no input can be done
        with Counted() as counted:
            generate(built, encoded, GenerationSettings(beams=3, max_len=AT_MOST, min_len=least), steps)
        reads.append(counted.names["item"] + counted.names["_local_scalar_dense"])
    assert 1 < reads[0] <= AT_MOST
    assert reads[1] == 0
    assert counted.names["nonzero"] == 0


def test_steps_and_the_search_do_not_wait_for_a_gpu() -> None:
    """A fake GPU has shapes and no values: whatever waits for a value raises."""
    config = small()
    with FakeTensorMode(), torch.device("cuda"), torch.inference_mode():
        built = SimpleNamespace(config=config, decoder=Decoder(config, torch.nn.Embedding(61, 24)).eval())
        encoded = Encoded(torch.randn(3, 20, 24), torch.randn(1, 20, 24), torch.zeros(3, 20, dtype=torch.bool))
        written, masks = torch.zeros(3, 2, dtype=torch.long), torch.ones(3, dtype=torch.bool)
        cache = built.decoder.cache(encoded, 9, 2, masks)
        for _ in range(9):
            assert built.decoder.step(written, cache).device.type == "cuda"
            cache.pick(written)
        assert built.decoder(written, encoded, None, masks).shape == (3, 2, 61)
        assert built.decoder.continued(written[:, None], encoded).shape == (3, 1, 2, 24)
        for style in ("fairseq", "hf"):
            how = GenerationSettings(style, max_len=3, min_len=3)
            with pytest.raises(DataDependentOutputException) as stopped:
                generate(cast(OfaNetwork, built), encoded, how)
            assert "lists" in [entry.name for entry in stopped.traceback]  # the results, after the last step


@torch.inference_mode()
def test_inputs_leave_when_half_of_them_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    built, steps = ending(1), []
    step = Decoder.step
    monkeypatch.setattr(Decoder, "step", lambda self, x, cache: steps.append(len(x)) or step(self, x, cache))
    asked, images = texts(LENGTHS * 2, seed=3), pictures(8)
    how = GenerationSettings(beams=2, max_len=AT_MOST)
    found = generate(built, built.encoder(asked, images), how)
    sizes = list(dict.fromkeys(steps))
    assert sizes[0] == 8
    assert len(sizes) > 1
    assert all(2 * after <= before for before, after in itertools.pairwise(sizes))
    for i, row in enumerate(asked):
        length = (LENGTHS * 2)[i]
        alone = generate(built, built.encoder(row[None, :length], images[i : i + 1]), how)
        assert ids(alone) == ids(found[i : i + 1])


# -- captured steps ---------------------------------------------------------------------------------


@pytest.mark.slow
@torch.inference_mode()
@pytest.mark.parametrize(("style", "beams"), [("fairseq", 1), ("hf", 4)])
def test_captured_steps_write_the_same(style: str, beams: int) -> None:
    built = ending()
    captures: list[int] = []
    steps = CapturedSteps(built.decoder, lambda work: captures.append(1) or recorded(work))
    how = GenerationSettings(style, beams=beams, max_len=AT_MOST)
    for seed, lengths in ((0, LENGTHS), (1, LENGTHS), (3, [4, 4, 5, 8]), (0, [5])):
        asked, images = texts(lengths, seed=seed), pictures(len(lengths))
        encoded = built.encoder(asked, images)
        assert ids(generate(built, encoded, how, steps)) == ids(generate(built, encoded, how))
        if seed == 0 and len(lengths) == 4:
            assert 2 <= len(captures) <= 4  # the first step of one beam, and a bucket's steps each
            first = len(captures)
        if seed == 1:
            assert len(captures) <= 4
    assert first
    assert len(steps.held) == 2  # 12 patches with 9 or 8 tokens make 24 places


@torch.inference_mode()
def test_sampled_tokens_are_those_of_uncaptured_steps() -> None:
    built = ending()
    encoded, how = built.encoder(texts(LENGTHS)), GenerationSettings(beams=1, sample=True, max_len=9, seed=3)
    steps = CapturedSteps(built.decoder, recorded)
    assert ids(generate(built, encoded, how, steps)) == ids(generate(built, encoded, how))


def test_a_model_with_captured_steps_answers_the_same() -> None:
    model = Ofa(ending(), "small")
    asked, how = texts(LENGTHS), GenerationSettings(max_len=9)
    assert model.captured is None  # on a CPU a launch is a call
    plain = model.generate(pictures(4), asked, how)
    model.captured = CapturedSteps(model.network.decoder, recorded)
    assert ids(model.generate(pictures(4), asked, how)) == ids(plain)
    assert len(model.captured.held) == 1


@torch.inference_mode()
def test_captures_follow_the_weights() -> None:
    built, captures = ending(), []
    steps = CapturedSteps(built.decoder, lambda work: captures.append(1) or recorded(work))
    encoded, how = built.encoder(texts(LENGTHS)), GenerationSettings(beams=2, max_len=5)

    def same() -> bool:
        return ids(generate(built, encoded, how, steps)) == ids(generate(built, encoded, how))

    assert same()
    before = len(captures)
    built.decoder.output_projection.weight.data.mul_(-1)  # replays read the memory of the weight
    assert same()
    assert len(captures) == before
    built.decoder.output_projection.weight.data = torch.randn(71, 24)  # other memory
    assert same()
    assert len(captures) == 2 * before


@torch.inference_mode()
def test_few_shapes_are_held() -> None:
    built = ending()
    steps = CapturedSteps(built.decoder, recorded)
    for n in range(1, HELD + 3):
        generate(built, built.encoder(texts([4] * n)), GenerationSettings(beams=1, max_len=2), steps)
    assert len(steps.held) == HELD


@torch.inference_mode()
def test_a_failed_capture_is_told_once() -> None:
    def fails(work: Callable[[], torch.Tensor]) -> Replay:
        raise RuntimeError("operation not permitted when stream is capturing")

    built = ending()
    steps = CapturedSteps(built.decoder, fails)
    encoded, how = built.encoder(texts(LENGTHS)), GenerationSettings(beams=2, max_len=5)
    with pytest.warns(UserWarning, match="ofa: decoding runs slower, .*: operation not permitted") as told:
        found = generate(built, encoded, how, steps)
    assert len(told) == 1
    assert ids(found) == ids(generate(built, encoded, how))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ids(generate(built, encoded, how, steps)) == ids(found)


@torch.inference_mode()
def test_memory_that_does_not_suffice_is_given_back() -> None:
    def full(work: Callable[[], torch.Tensor]) -> Replay:
        raise torch.OutOfMemoryError("CUDA out of memory")

    built = ending()
    steps = CapturedSteps(built.decoder, full)
    with pytest.raises(torch.OutOfMemoryError):
        generate(built, built.encoder(texts(LENGTHS)), GenerationSettings(), steps)
    assert not steps.held
    assert not steps.fails  # a smaller batch may fit


# -- export -----------------------------------------------------------------------------------------


class Step(torch.nn.Module):
    """A step as a module of tensors."""

    def __init__(self, built: Decoder, width: int) -> None:
        super().__init__()
        self.decoder, self.width = built, width

    def forward(self, written: torch.Tensor, *tensors: Any) -> torch.Tensor:
        return self.decoder.step_at(written, Cache(*tensors), self.width)


def parts(cache: Cache) -> Iterator[Any]:
    return (getattr(cache, name) for name in ("tokens", "slots", "at", "bias", "cross", "padding", "codes", "pairs"))


@pytest.mark.slow
@torch.no_grad()
def test_a_step_is_exported() -> None:
    built = network()
    encoded, written = built.encoder(texts([4, 7]), pictures(2)), texts([9, 9, 9, 9], seed=4).view(2, 2, 9)
    one, other = (built.decoder.cache(encoded, 9, 2) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Step(built.decoder, 16), (written[:, :, 0], *parts(one)))
    exported = program.module()
    one = built.decoder.cache(encoded, 9, 2)
    for t in range(9):
        found = exported(written[:, :, t], *parts(one))
        one.advance()
        assert gap(found, built.decoder.step(written[:, :, t], other)) < 2e-5
        for cache in (one, other):
            cache.pick(torch.tensor([[1, 0], [1, 1]]))
