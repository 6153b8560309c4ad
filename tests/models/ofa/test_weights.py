"""Where an OFA comes from: checkpoints in each form they have, what is in them and should not be, the hub, devices."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file, save_file
from standins.ofa import SMALL, formula_weights, network, pictures, small, texts

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa import Ofa, OfaConfig
from humor_tasks.models.ofa.config import SIZES

State = dict[str, torch.Tensor]
TABLE, COPY, OUT = "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "decoder.output_projection.weight"


WEIGHTS = formula_weights(small())


def checkpoint(folder: Path, state: State | None = None, **more: Any) -> Path:
    """A folder as transformers writes it, with fields that change nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"model_type": "ofa", "dropout": 0.1, "use_cache": True, "torch_dtype": "float32", "pad_token_id": 1}
    (folder / "config.json").write_text(json.dumps(about | SMALL | more))
    state = dict(WEIGHTS) if state is None else state
    save_file({name: tensor.clone() for name, tensor in state.items()}, folder / "model.safetensors")
    return folder


def load(folder: Path, **more: Any) -> Ofa:
    return Ofa.load(folder, device="cpu", **more)


@torch.inference_mode()
def same(a: Ofa, b: Ofa | None = None) -> bool:
    """Weight by weight, and in use."""
    other = network() if b is None else b.network
    inputs = texts([3, 6]), pictures(2), torch.arange(8).view(2, 4)
    mine, theirs = a.network.state_dict(), other.state_dict()
    alike = mine.keys() == theirs.keys() and all(torch.equal(t, theirs[name]) for name, t in mine.items())
    return alike and torch.allclose(a.network(*inputs), other(*inputs), atol=1e-4)


# -- forms ---------------------------------------------------------------------------------------


def test_a_folder_of_safetensors(tmp_path: Path) -> None:
    model = load(checkpoint(tmp_path))
    assert same(model)
    assert (model.folder, model.revision, str(model.device), model.dtype) == (tmp_path, None, "cpu", torch.float32)
    assert model.config == small()


def test_a_torch_file_and_pieces_with_an_index(tmp_path: Path) -> None:
    state = dict(WEIGHTS)
    torch.save(state, checkpoint(tmp_path / "torch") / "pytorch_model.bin")
    (tmp_path / "torch" / "model.safetensors").unlink()
    pieces = checkpoint(tmp_path / "pieces")
    (pieces / "model.safetensors").unlink()
    names = sorted(state)
    for i, part in enumerate((names[::2], names[1::2])):
        save_file({name: state[name].clone() for name in part}, pieces / f"model-{i}.safetensors")
    places = {name: f"model-{i % 2}.safetensors" for i, name in enumerate(names)}
    (pieces / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    assert same(load(tmp_path / "torch"))
    assert same(load(pieces))
    places[names[0]] = "../torch/pytorch_model.bin"
    (pieces / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    with pytest.raises(BadInput, match=r"names '\.\./torch/pytorch_model\.bin'; weights must be in the same folder"):
        load(pieces)
    (pieces / "model.safetensors.index.json").write_text("[" * 200_000)
    with pytest.raises(BadInput, match=r"index\.json cannot be read"):
        load(pieces)


@pytest.mark.parametrize("left", [[TABLE], [COPY], [OUT], [TABLE, OUT], [TABLE, COPY, OUT]])
def test_the_shared_table_under_any_of_its_names(left: list[str], tmp_path: Path) -> None:
    state = dict(WEIGHTS)
    for name in {TABLE, COPY, OUT} - set(left):
        del state[name]
    model = load(checkpoint(tmp_path, state))
    assert same(model)
    assert model.network.decoder.output_projection.weight is model.network.encoder.embed_tokens.weight


def test_index_buffers_and_counters_are_made_anew(tmp_path: Path) -> None:
    state = dict(WEIGHTS)
    for side in ("encoder", "decoder"):
        state[f"{side}.token_rp_bucket"] = torch.zeros(1024, 1024, dtype=torch.long)
        state[f"{side}.image_rp_bucket"] = torch.zeros(26, 26, dtype=torch.long)
    state["decoder.image_position_idx"] = torch.zeros(5, dtype=torch.long)
    state = {name: t for name, t in state.items() if not name.endswith("num_batches_tracked")}
    assert same(load(checkpoint(tmp_path, state)))


def test_the_row_of_padding_is_as_the_file_has_it(tmp_path: Path) -> None:
    state = dict(WEIGHTS)
    table = state[TABLE].clone()
    table[1] = 3.0
    model = load(checkpoint(tmp_path, state | dict.fromkeys((TABLE, COPY, OUT), table)))
    assert model.network.decoder.output_projection.weight[1].tolist() == [3.0] * 24


def test_what_is_saved_is_what_was_loaded(tmp_path: Path) -> None:
    for name, flags in (("tied", {}), ("own", {"share_decoder_input_output_embed": False, "normformer": False})):
        state = formula_weights(small(**flags))
        first = load(checkpoint(tmp_path / name, state, **flags))
        first.save(tmp_path / f"{name} again")
        second = load(tmp_path / f"{name} again")
        assert same(second, first)
        assert second.config == first.config
        assert (OUT in load_file(tmp_path / f"{name} again" / "model.safetensors")) == bool(flags)


def test_half_precision_and_half_files(tmp_path: Path) -> None:
    state = {name: t.half() if t.is_floating_point() else t for name, t in formula_weights(small()).items()}
    checkpoint(tmp_path, state)
    assert load(tmp_path).dtype == torch.float32
    half = load(tmp_path, precision="bf16").network
    assert {t.dtype for t in half.state_dict().values() if t.is_floating_point()} == {torch.bfloat16}
    assert not half.training


@pytest.mark.slow
def test_random_weights_are_the_same_each_time() -> None:
    a, b = Ofa.load("random/tiny", device="cpu"), Ofa.load("random/tiny", device="cpu")
    assert a.folder is None
    assert all(torch.equal(x, y) for x, y in zip(a.network.parameters(), b.network.parameters(), strict=True))


# -- what does not fit -----------------------------------------------------------------------------


def drop(state: State, *names: str) -> State:
    return {name: t for name, t in state.items() if name not in names}


LAYER = "encoder.layers.0"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda s: drop(s, f"{LAYER}.fc1.weight"), f"fit its config.json: 1 missing key: {LAYER}.fc1.weight"),
        (lambda s: drop(s, TABLE, COPY, OUT), f"3 missing keys: {TABLE}, {COPY}, {OUT}"),
        (lambda s: s | {"encoder.w_resid": torch.ones(3)}, "1 unexpected key: encoder.w_resid"),
        (
            lambda s: {f"other.{k}": v for k, v in s.items()},
            r"missing keys: .* more; \d+ unexpected keys: other\.",
        ),
        (
            lambda s: s | {f"{LAYER}.fc1.bias": torch.ones(41)},
            rf"wrong shape: {LAYER}.fc1.bias \[41\] instead of \[40\]\. The checkpoint has another size",
        ),
        (lambda s: formula_weights(small(encoder_layers=3)), "23 unexpected keys: .*encoder.layers.2"),
        (lambda s: formula_weights(small(d_model=32)), "wrong shapes: .* checkpoint has another size"),
        (lambda s: s | {"decoder.layers.0.encoder_attn.q_proj.weight": torch.ones(2)}, "fairseq's names"),
        (lambda s: s | {OUT: s[OUT] + 1}, f"{TABLE} and {OUT} differ, but its config.json ties them"),
        (lambda s: s | {f"{LAYER}.fc1.bias": torch.ones(40, dtype=torch.int8)}, r"wrong type: .*torch\.int8"),
        (lambda s: {k: v.to(torch.float8_e4m3fn) for k, v in s.items()}, r"wrong types: .*torch\.float8_e4m3fn"),
    ],
)
def test_weights_that_do_not_fit_are_named(spoil: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        load(checkpoint(tmp_path, spoil(dict(WEIGHTS))))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"entangle_position_embedding": True}, "entangle_position_embedding is True; only False is supported"),
        ({"activation_function": "gelu_new"}, "activation_function is 'gelu_new'; only 'gelu'"),
        ({"model_type": "bart"}, "model_type is 'bart'; only 'ofa'"),
        ({"eos_token_id": 3}, "eos_token_id is 3; only 2"),
        ({"resnet_type": "resnet26"}, "resnet_type: there is no 'resnet26'.*Did you mean"),
        ({"encoder_attention_heads": 5}, "d_model 24 is not divisible by 5 encoder_attention_heads"),
        ({"d_model": "24"}, r"config.json: d_model is '24'; it must be a whole number"),
        ({"decoder_layers": 0}, "decoder_layers is 0; it must be a whole number"),
        ({"encoder_ffn_dim": 10**30}, "encoder_ffn_dim is 10+; it must be a whole number from 1 to 1000000"),
        ({"attn_scale_factor": float("inf")}, "attn_scale_factor is inf; it must be a number above 0"),
        ({"_test_only": "x"}, "config.json: _test_only is 'x'; it must be an object"),
        ({"normformer": "yes"}, "normformer is 'yes'; it must be true or false"),
        ({"normformer": None}, "normformer is None"),
        ({"token_bucket_size": 1}, "token_bucket_size is 1"),
        ({"vocab_size": 2}, "vocab_size is 2"),
    ],
)
def test_configurations_of_another_network_are_refused(fields: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        load(checkpoint(tmp_path, **fields))


def test_configurations_that_say_too_little_or_nothing(tmp_path: Path) -> None:
    checkpoint(tmp_path)
    for text, said in (
        ('{"model_type": "ofa", "d_model": 24}', "encoder_layers, decoder_layers, .*resnet_type missing"),
        ("[]", "holds no JSON object"),
        ("{", "cannot be read"),
        ("[" * 200_000, "cannot be read"),
    ):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(BadInput, match=said):
            load(tmp_path)


def test_fields_that_are_not_said_are_the_published_ones() -> None:
    sizes = {name: value for name, value in vars(OfaConfig.named("huge")).items() if "layers" in name or "dim" in name}
    sizes |= {"d_model": 1280, "encoder_attention_heads": 16, "decoder_attention_heads": 16, "resnet_type": "resnet152"}
    assert OfaConfig.from_values(sizes) == OfaConfig.named("huge")
    assert OfaConfig.from_values(OfaConfig.named("tiny").to_values()) == OfaConfig.named("tiny")
    with pytest.raises(BadInput, match=r"there is no 'hugo'; choose from tiny, .*Did you mean 'huge'"):
        OfaConfig.named("hugo")


def test_a_narrow_backbone_is_a_field_of_ours() -> None:
    said = SMALL | {"_test_only": {"resnet_base_width": 16, "note": ""}}
    del said["resnet_base_width"]
    assert OfaConfig.from_values(said).resnet_base_width == 16


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("./nowhere", "there is no such folder. Give a checkpoint's folder, OWNER/NAME of the hub, or random/SIZE"),
        ("nowhere", "there is no such folder"),
        ("", "ofa: : there is no such folder"),
        ("~nobody-at-all/m", "there is no such folder"),
        ("/" + "x" * 300, "there is no such folder"),
        ("random/gigantic", f"there is no 'gigantic'; choose from {', '.join(SIZES)}"),
    ],
)
def test_names_that_lead_nowhere(name: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Ofa.load(name, device="cpu")


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"not an OFA folder: it has no config.json"):
        load(tmp_path)
    with pytest.raises(BadInput, match="is a file; give the folder"):
        load(checkpoint(tmp_path) / "model.safetensors")
    with pytest.raises(BadInput, match="revision is for a model of the hub"):
        load(tmp_path, revision="main")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(BadInput, match=r"holds no weights; there should be model.safetensors, .* or pytorch_model.bin"):
        load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(BadInput, match="cannot be read as weights"):
        load(tmp_path)


@pytest.mark.parametrize(("what", "said"), [("device", "ofa: device is 'gpu'"), ("precision", "there is no 'gpu'")])
def test_devices_and_precisions_are_checked_before_anything_is_read(what: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Ofa.load("./nowhere", **{what: "gpu"})


# -- the hub -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "weights"),
    [
        (["model.safetensors", "pytorch_model.bin"], ["model.safetensors"]),
        (["model.safetensors.index.json", "pytorch_model.bin"], ["model-*.safetensors"]),
        (["pytorch_model.bin"], ["pytorch_model.bin"]),
        (None, ["model.safetensors", "model-*.safetensors", "pytorch_model.bin"]),  # no network
    ],
)
def test_the_hub_is_asked_for_what_is_needed(
    files: list[str] | None, weights: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, asked = tmp_path / "snapshots" / "abc123", []
    checkpoint(home)

    class Api:
        def model_info(self, name: str, revision: str | None) -> Any:
            if files is None:
                raise ConnectionError("no route")
            return SimpleNamespace(sha="abc123", siblings=[SimpleNamespace(rfilename=name) for name in files])

    def download(name: str, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append((name, revision, allow_patterns))
        return str(home)

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    model = Ofa.load("someone/small", device="cpu", revision="v1")
    assert (model.revision, model.folder) == ("abc123", home)
    [(name, revision, patterns)] = asked
    assert (name, revision) == ("someone/small", "v1" if files is None else "abc123")
    assert patterns == ["*.json", "merges.txt", "dict.txt", "vocab.bpe", *weights]
    shutil.rmtree(home)
    with pytest.raises(BadInput, match=r"someone/small on the hub is not an OFA model: it has no config.json"):
        Ofa.load("someone/small", device="cpu")


def test_a_hub_that_says_no_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*names: Any, **more: Any) -> Any:
        raise OSError("401 Unauthorized\nand more")

    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: SimpleNamespace(model_info=refuse))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(BadInput, match=r"someone/secret cannot be loaded from the hub \(OSError: 401 Unauthorized\)"):
        Ofa.load("someone/secret", device="cpu")


def test_the_package_loads_no_torch_and_names_the_extra() -> None:
    code = (
        "import sys, humor_tasks.models.ofa as o\n"
        "o.GenerationSettings(beams=2), o.OfaConfig.named('base')\n"
        "print([m for m in ('torch', 'safetensors', 'PIL') if m in sys.modules])\n"
        "sys.modules['torch'] = None\n"
        "try: o.Ofa\n"
        "except ValueError as problem: print(problem)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert said.stdout.startswith("[]\nOFA needs the extra 'ofa'")
