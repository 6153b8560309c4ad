"""OFA's network: published reference outputs, the same thing written plainly, every parameter's name, and bad input.

The published reference outputs are not part of this project: they lie beside the folder of HUMOR_TASKS_REAL_DATA. What
is written plainly is standins/ofa_plainly.py.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from standins.ofa import FLAG_NAMES, formula_weights, gap, network, picture, pictures, small, texts
from standins.ofa_plainly import Plain

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa import Ofa, OfaConfig
from humor_tasks.models.ofa.layers import code_ids, image_index, text_index
from humor_tasks.models.ofa.network import OfaNetwork

CLOSE = 2e-4
CPU = torch.device("cpu")
CASES = (
    "single",
    "batch_padded",
    "text_only_padded",
    "nonsquare",
    "decoder_padded",
    "code_masks_all",
    "code_masks_mixed",
    "patch_mask_false",
)


# -- reference outputs ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("flags", ["", "flags"])
@torch.inference_mode()
def test_states_and_logits_are_the_published_ones(flags: str, case: str, golden: Path) -> None:
    built = Ofa.load(golden / flags, device="cpu").network
    held, about = (
        load_file(golden / flags / "cases.safetensors"),
        json.loads((golden / flags / "cases.json").read_text()),
    )

    def said(name: str) -> Any:
        other = about["cases"][case].get("inputs_from", case)
        return held.get(f"{case}/{name}", held.get(f"{other}/{name}") if name.startswith("in.") else None)

    out = "out_upstream" if case == "patch_mask_false" else "out"  # what the training code does with the mask
    encoded = built.encoder(said("in.input_ids"), said("in.patch_images"), said("in.patch_masks"))
    if (states := said(f"{out}.encoder_last_hidden_state")) is not None:
        visible = ~said(f"{out}.encoder_padding_mask")
        assert gap(encoded.states[visible], states[visible]) < CLOSE
        assert encoded.padding is None or torch.equal(encoded.padding, ~visible)
    if (positions := said("out.encoder_position_embedding")) is not None:
        assert gap(encoded.positions.expand_as(positions), positions) < CLOSE
    keep = said("in.decoder_attention_mask") if case == "decoder_padded" else None
    found = built.decoder(said("in.decoder_input_ids"), encoded, keep, held.get(f"{case}/in.code_masks"))
    matters = slice(None) if keep is None else keep.bool()
    assert gap(found[matters], said(f"{out}.logits")[matters]) < CLOSE


@pytest.mark.slow
@torch.inference_mode()
def test_the_tiny_size_gives_the_published_numbers(golden: Path) -> None:
    held, about = load_file(golden / "full_tiny.safetensors"), json.loads((golden / "full_tiny.json").read_text())
    config = OfaConfig.from_values(about["config"])
    assert config == OfaConfig.named("tiny")
    state = formula_weights(config)
    for name, last in about["weight_checks_last3"].items():
        assert state[name].flatten()[-3:].tolist() == last
    built = OfaNetwork(config).eval()
    built.load_state_dict(state)
    image = picture(*about["image_hw"])[None]
    encoded = built.encoder(held["in.input_ids"], image)
    features = built.encoder.features(image)
    assert list(features.shape) == about["feature_map"]
    assert encoded.states.shape[1] == about["enc_len"]
    assert gap(features[:, ::16, ::3, ::3], held["mid.resnet_features_slice"]) < CLOSE
    assert gap(encoded.states[:, ::7, ::3], held["out.encoder_last_hidden_state_slice"]) < CLOSE
    logits = built.decoder(held["in.decoder_input_ids"], encoded)
    assert gap(logits[:, :, held["vocab_slice"]], held["out.logits_slice"]) < CLOSE
    assert gap(logits.logsumexp(2), held["out.logits_logsumexp"]) < CLOSE
    assert torch.equal(logits.argmax(2), held["out.logits_argmax"])


def test_distances_fall_into_the_published_buckets(golden: Path) -> None:
    held, full = load_file(golden / "buffers.safetensors"), load_file(golden / "full_tiny.safetensors")
    for buckets, published in ((8, held), (256, full)):
        index = text_index(1024, buckets, CPU)
        offsets = torch.cat([index[0].flip(0), index[1:, 0]])  # -1023..1023
        assert torch.equal(offsets, published["token_rp_bucket_by_offset"].long())
    assert torch.equal(text_index(64, 8, CPU), held["token_rp_bucket_64x64"].long())
    assert torch.equal(image_index(torch.arange(65), 8), held["image_rp_bucket"].long())
    assert torch.equal(torch.tensor(code_ids(4, 8)), held["decoder_image_position_idx"].long())
    assert torch.equal(torch.tensor(code_ids(16, 42)), full["decoder_image_position_idx"].long())
    about = json.loads((golden / "full_tiny.json").read_text())["image_rp_bucket_checks"]
    index = image_index(torch.arange(1765), 42)
    assert [*index.shape] == about["shape"]
    assert (int(index.sum()), int(index.max())) == (about["sum"], about["max"])


# -- the same, written plainly ----------------------------------------------------------


flags = st.fixed_dictionaries({name: st.booleans() for name in FLAG_NAMES})


@st.composite
def situations(draw: Any) -> dict[str, Any]:
    """A configuration, and two inputs with their decoder's ids."""
    heads = st.sampled_from([1, 2, 3, 4])
    config = small(
        **draw(flags),
        d_model=12,
        encoder_layers=draw(st.integers(1, 3)),
        decoder_layers=draw(st.integers(1, 2)),
        encoder_attention_heads=draw(heads),
        decoder_attention_heads=draw(heads),
        resnet_type=draw(st.sampled_from(["resnet18", "resnet34", "resnet50"])),
        token_bucket_size=draw(st.integers(2, 9)),
        image_bucket_size=draw(st.integers(3, 6)),
        code_image_size=draw(st.sampled_from([8, 16, 24])),
        attn_scale_factor=draw(st.sampled_from([1.0, 2.0, 3.5])),
        max_position_embeddings=draw(st.sampled_from([20, 1024])),
    )
    kind = draw(st.sampled_from(["both", "text", "picture"]))
    side = st.integers(17, 16 * 3)
    window = (config.code_image_size // 8) ** 2 + 1
    return {
        "config": config,
        "lengths": None if kind == "picture" else draw(st.lists(st.integers(2, 9), min_size=2, max_size=2)),
        "size": None if kind == "text" else (draw(side), draw(side)),
        "masks": draw(st.sampled_from([None, [True, False]])) if kind == "both" else None,
        "codes": draw(st.sampled_from([None, [True, True], [False, True], [False, False]])),
        "written": draw(st.integers(1, min(7, window))),
        "keep": draw(st.sampled_from([None, 1, 2])),
        "seed": draw(st.integers(0, 5)),
    }


@pytest.mark.slow
@given(situations())
@settings(max_examples=10, deadline=None)
@torch.inference_mode()
def test_the_network_is_the_one_written_plainly(s: dict[str, Any]) -> None:
    config, n = s["config"], 2
    state = formula_weights(config, s["seed"])
    built, plain = network(config, s["seed"]), Plain(config, state)
    ids = None if s["lengths"] is None else texts(s["lengths"], config, s["seed"])
    images = None if s["size"] is None else pictures(n, *s["size"])
    masks = None if s["masks"] is None else torch.tensor(s["masks"])
    written = torch.from_numpy(np.random.RandomState(s["seed"]).randint(0, config.vocab_size, (n, s["written"])))
    codes = None if s["codes"] is None else torch.tensor(s["codes"])
    keep = None
    if s["keep"]:
        keep = torch.ones_like(written)
        keep[1, max(1, s["written"] - s["keep"]) :] = 0
    encoded = built.encoder(ids, images, masks)
    logits = built.decoder(written, encoded, keep, codes)
    for i in range(n):
        expected = plain.encode(
            None if ids is None else ids[i].tolist(),
            None if images is None else images[i].numpy(),
            masks is not None and not bool(masks[i]),
        )
        visible = torch.tensor(expected[2])
        assert gap(encoded.states[i][visible].double(), torch.tensor(expected[0])[visible]) < 5e-5
        row = None if keep is None else keep[i].tolist()
        told = plain.decode(written[i].tolist(), expected, row, codes is not None and bool(codes[i]))
        matters = slice(None) if row is None else torch.tensor(row).bool()
        assert gap(logits[i][matters].double(), torch.tensor(told)[matters]) < 5e-5


@torch.inference_mode()
def test_codes_beyond_the_window_stand_at_the_filler() -> None:
    config = small(image_bucket_size=33, code_image_size=8, max_position_embeddings=64)  # 33 * 33 > 1024
    built, plain = network(config), Plain(config, formula_weights(config))
    ids, written = texts([5], config), torch.randint(3, 60, (1, 6), generator=torch.Generator().manual_seed(1))
    logits = built(ids, None, written, code_masks=torch.tensor([True]))
    told = plain.decode(written[0].tolist(), plain.encode(ids[0].tolist(), None), code=True)
    assert gap(logits[0].double(), torch.tensor(told)) < 5e-5


# -- batches and places -----------------------------------------------------------------


@torch.inference_mode()
def test_company_and_padding_change_nothing() -> None:
    built, lengths = network(), [3, 9, 6]
    ids, images, written = texts(lengths), pictures(3), torch.randint(0, 61, (3, 5))
    encoded = built.encoder(ids, images)
    together = built.decoder(written, encoded)
    patches = encoded.states.shape[1] - 9
    for i, length in enumerate(lengths):
        alone = built.encoder(ids[i : i + 1, :length], images[i : i + 1])
        assert gap(alone.states[0], encoded.states[i, : patches + length]) < 2e-5
        assert gap(built.decoder(written[i : i + 1], alone)[0], together[i]) < 2e-5


@pytest.mark.parametrize(("height", "width"), [(16, 16), (17, 33), (80, 1), (1, 80), (79, 64)])
@torch.inference_mode()
def test_a_step_of_sixteen_pixels_rounds_up(height: int, width: int) -> None:
    states = network().encoder(None, pictures(1, height, width)).states
    assert states.shape == (1, -(-height // 16) * -(-width // 16), 24)


@torch.inference_mode()
def test_later_tokens_do_not_change_earlier_logits() -> None:
    built = network()
    encoded, written = built.encoder(texts([4]), pictures(1)), torch.randint(0, 61, (1, 8))
    other = written.clone()
    other[0, 5:] = 60 - other[0, 5:]
    a, b = built.decoder(written, encoded), built.decoder(other, encoded)
    assert gap(a[:, :5], b[:, :5]) == 0
    assert gap(a[:, 5:], b[:, 5:]) > 0.1


@torch.inference_mode()
def test_a_row_that_may_see_nothing_stays_finite() -> None:
    built = network()
    written = torch.randint(0, 61, (1, 4))
    logits = built(texts([4]), None, written, decoder_attention_mask=torch.tensor([[0, 1, 1, 0]]))
    assert logits.isfinite().all()
    assert built(torch.ones(1, 3, dtype=torch.long), None, written).isfinite().all()


@pytest.mark.parametrize("code_masks", [None, [True, True], [False, True]])
@torch.inference_mode()
def test_one_place_after_another_is_all_at_once(code_masks: list[bool] | None) -> None:
    built = network()
    masks = None if code_masks is None else torch.tensor(code_masks)
    encoded, written = built.encoder(texts([4, 7]), pictures(2)), torch.randint(0, 61, (2, 8))
    cache = built.decoder.cache(encoded, 8, 1, masks)
    steps = torch.cat([built.decoder.step(written[:, t : t + 1], cache) for t in range(8)], 1)
    assert gap(steps, built.decoder(written, encoded, code_masks=masks)) < 2e-5


def test_gradients_reach_every_parameter_that_matters() -> None:
    built = network(small(share_decoder_input_output_embed=False)).train()
    logits = built(
        texts([9, 9]), pictures(2, 80, 80), torch.randint(3, 61, (2, 9)), code_masks=torch.tensor([True, False])
    )
    (logits * torch.randn(logits.shape)).sum().backward()
    silent = {name for name, p in built.named_parameters() if p.grad is None or float(p.grad.abs().max()) < 1e-4}
    # These cancel in the softmax.
    assert {name for name in silent if not name.endswith(("k_proj.bias", "pos_k_linear.bias"))} == set()
    assert not any(module.training for module in built.encoder.embed_images.modules())


@torch.inference_mode()
def test_half_precision_is_near() -> None:
    built = network()
    inputs = texts([4, 7]), pictures(2), torch.randint(0, 61, (2, 6))
    exact = built(*inputs)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = built(*inputs)
    half = copy.deepcopy(built).to(torch.bfloat16)(inputs[0], inputs[1].bfloat16(), inputs[2])
    for other in (mixed, half):
        assert other.dtype == torch.bfloat16
        assert float((other.float() - exact).abs().mean()) < 0.05 * float(exact.std())


# -- bad input --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "images", "said"),
    [
        (None, None, "give a picture, a text or both"),
        (torch.zeros(1, 49, dtype=torch.long), None, "a text of 49 tokens; there are 48 positions"),
        (torch.zeros(5, dtype=torch.long), None, r"token ids must be \[B, T\], not \[5\]"),
        (texts([3]), pictures(2), "2 pictures and 1 texts"),
        (None, torch.zeros(1, 3, 16, 96), "96 x 16 pixels; at most 80 per side"),
        (None, torch.zeros(3, 16, 16), r"\[B, 3, H, W\], not \[3, 16, 16\]"),
        (None, torch.zeros(1, 1, 16, 16), r"not \[1, 1, 16, 16\]"),
    ],
)
def test_inputs_without_a_place_are_refused(ids: Any, images: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        network().encoder(ids, images)


def test_outputs_without_a_place_are_refused() -> None:
    built = network()
    encoded = built.encoder(texts([3]))
    with pytest.raises(BadInput, match="49 tokens to generate; there are 48 positions"):
        built.decoder(torch.zeros(1, 49, dtype=torch.long), encoded)
    with pytest.raises(BadInput, match="11 image codes; the table of 5 x 5 positions"):
        built.decoder(torch.zeros(1, 11, dtype=torch.long), encoded, code_masks=torch.tensor([True]))


@pytest.mark.slow
def test_buckets_of_any_size_stay_inside_their_table() -> None:
    for buckets in [*range(2, 20), 127, 128, 129, 148, 512, 1012, 2046, 2048, 5000]:
        index = text_index(1024, buckets, CPU)
        assert 0 <= int(index.min()) <= int(index.max()) <= 2 * buckets - 2
        assert int(index[5, 5]) == buckets - 1
