"""OFA's parameters: every published name and shape is there and no other, for each size and flag."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.ofa import FLAG_NAMES, small

from humor_tasks.models.ofa import OfaConfig
from humor_tasks.models.ofa.config import SIZES
from humor_tasks.models.ofa.network import OfaNetwork

flags = st.fixed_dictionaries({name: st.booleans() for name in FLAG_NAMES})


def test_every_published_parameter_is_there_and_no_other(golden: Path) -> None:
    for size, about in json.loads((golden / "state_dict_shapes.json").read_text()).items():
        with torch.device("meta"):
            built = OfaNetwork(OfaConfig.named(size))
        derived = ("token_rp_bucket", "image_rp_bucket", "image_position_idx")
        published = {k: v for k, v in about["shapes"].items() if not k.endswith(derived)}
        assert {name: list(t.shape) for name, t in built.state_dict().items()} == published
        assert sum(p.numel() for p in built.parameters()) == about["n_params_unique"]


# -- names and sizes --------------------------------------------------------------------


def listed(config: OfaConfig, blocks: tuple[int, ...]) -> dict[str, list[int]]:
    """The published table of names and shapes, from a configuration: section by section, without torch."""
    d, v, ni, nt = config.d_model, config.vocab_size, config.image_bucket_size, config.token_bucket_size
    found: dict[str, list[int]] = {}

    def norm(name: str, size: int = d, there: bool = True) -> None:
        if there:
            found.update({f"{name}.weight": [size], f"{name}.bias": [size]})

    def linear(name: str, out: int = d, into: int = d) -> None:
        found.update({f"{name}.weight": [out, into], f"{name}.bias": [out]})

    def batch_norm(name: str, size: int) -> None:
        norm(name, size)
        found.update({f"{name}.running_mean": [size], f"{name}.running_var": [size], f"{name}.num_batches_tracked": []})

    w, root = config.resnet_base_width, "encoder.embed_images"
    found[f"{root}.conv1.weight"], inputs = [w, 3, 7, 7], w
    batch_norm(f"{root}.bn1", w)
    for stage, count in enumerate(blocks):
        planes = w * 2**stage
        for block in range(count):
            at = f"{root}.layer{stage + 1}.{block}"
            for i, shape in enumerate(([planes, inputs, 1, 1], [planes, planes, 3, 3], [4 * planes, planes, 1, 1]), 1):
                found[f"{at}.conv{i}.weight"] = shape
                batch_norm(f"{at}.bn{i}", shape[0])
            if block == 0:
                found[f"{at}.downsample.0.weight"] = [4 * planes, inputs, 1, 1]
                batch_norm(f"{at}.downsample.1", 4 * planes)
            inputs = 4 * planes
    for side in ("encoder", "decoder"):
        layers, heads = getattr(config, f"{side}_layers"), getattr(config, f"{side}_attention_heads")
        inner, more = getattr(config, f"{side}_ffn_dim"), config.normformer
        found[f"{side}.embed_tokens.weight"] = [v, d]
        found[f"{side}.embed_positions.weight"] = [config.max_position_embeddings + 2, d]
        found[f"{side}.embed_image_positions.weight"] = [ni * ni + 1, d]
        norm(f"{side}.layernorm_embedding", there=config.layernorm_embedding)
        norm(f"{side}.pos_ln")
        norm(f"{side}.image_pos_ln")
        norm(f"{side}.layer_norm", there=getattr(config, f"{side}_normalize_before"))
        for i in range(layers):
            at = f"{side}.layers.{i}"
            found[f"{side}.token_rel_pos_table_list.{i}.weight"] = [2 * nt - 1, heads]
            found[f"{side}.image_rel_pos_table_list.{i}.weight"] = [(2 * ni - 1) ** 2 + 3, heads]
            for part in ("self_attn", "cross_attn")[: 1 if side == "encoder" else 2]:
                for projection in "qkv":
                    linear(f"{at}.{part}.{projection}_proj")
                linear(f"{at}.{part}.out_proj")
                found[f"{at}.{part}.c_attn"] = [heads]
                norm(f"{at}.{part}_layer_norm")
                norm(f"{at}.{part}_mid_layer_norm", there=more)
            linear(f"{at}.fc1", inner, d)
            linear(f"{at}.fc2", d, inner)
            norm(f"{at}.ffn_layer_norm", inner, more)
            norm(f"{at}.final_layer_norm")
    if config.add_type_embedding:
        found["encoder.type_embedding.weight"] = [2, d]
    linear("encoder.image_proj", d, 16 * w)
    norm("encoder.patch_layernorm_embedding", there=config.patch_layernorm_embedding)
    norm("decoder.code_layernorm_embedding", there=config.code_layernorm_embedding)
    for name in ("encoder.pos", "decoder.self_pos", "decoder.cross_pos"):
        linear(f"{name}_q_linear")
        linear(f"{name}_k_linear")
    found["decoder.output_projection.weight"] = [v, d]
    return found


@pytest.mark.parametrize(
    ("size", "blocks", "parameters"),
    [
        ("tiny", (3, 4, 6), 33_488_336),
        ("medium", (3, 4, 23), 92_892_000),
        ("base", (3, 4, 23), 182_238_536),
        ("large", (3, 8, 36), 472_977_152),
        ("huge", (3, 8, 36), 929_486_848),
    ],
)
def test_published_sizes_have_the_published_parameters(size: str, blocks: tuple[int, ...], parameters: int) -> None:
    config = OfaConfig.named(size)
    with torch.device("meta"):
        built = OfaNetwork(config)
    assert {name: list(t.shape) for name, t in built.state_dict().items()} == listed(config, blocks)
    assert sum(p.numel() for p in built.parameters()) == parameters  # a shared table counts once
    assert size in SIZES


@pytest.mark.slow
@given(flags)
@settings(max_examples=20, deadline=None)
def test_flags_take_and_give_parameters_by_name(chosen: dict[str, bool]) -> None:
    config = small(**chosen, encoder_layers=3, decoder_layers=1)
    with torch.device("meta"):
        built = OfaNetwork(config)
    assert {name: list(t.shape) for name, t in built.state_dict().items()} == listed(config, (2, 2, 2))
    tied = built.decoder.output_projection.weight is built.encoder.embed_tokens.weight
    assert tied == config.share_decoder_input_output_embed
