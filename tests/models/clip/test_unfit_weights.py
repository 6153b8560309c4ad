"""CLIP weights and settings that cannot be used: what does not fit is named, and nothing is executed."""

from __future__ import annotations

import json
import logging
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from safetensors.torch import load_file, save_file
from standins.clip_weights import State, difference, edited, load, scored
from standins.tiny_clip import TINY

from humor_tasks.errors import BadInput
from humor_tasks.models.clip import Clip, ClipConfig, model
from humor_tasks.models.clip.architectures import fitting
from humor_tasks.models.clip.config import ZERO_SHOT_PREFIX
from humor_tasks.models.devices import default_precision


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that nobody changes."""
    folder = tmp_path_factory.mktemp("saved")
    load(f"{TINY}/random").save(folder)
    return folder


# ---- settings of a weight file ------------------------------------------------------------------

NAME = "task=matching~split=5~valacc=0.64962~pad={pad}~model=ViT-L*14@336px{prefix}~lr=5e-06.pt"


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        (NAME.format(pad=1, prefix=""), ("crop", "")),  # their code crops where pad is 1
        (NAME.format(pad=0, prefix=""), ("pad", "")),
        (NAME.format(pad=1, prefix="prefix=a+cartoon:"), ("crop", "a cartoon: ")),
        ("a.pt", ("pad", ZERO_SHOT_PREFIX)),
    ],
)
def test_a_released_checkpoint_names_its_settings(
    name: str, settings: tuple[str, str], state: State, tmp_path: Path, caplog: Any
) -> None:
    torch.save({"model_state_dict": state}, tmp_path / name)
    clip = load(tmp_path / name, architecture=TINY)
    assert (clip.fit, clip.prefix) == settings
    assert ("does not say with which prefix and fit" in caplog.text) == (name == "a.pt")
    caplog.clear()
    chosen = load(tmp_path / name, architecture=TINY, prefix="so: ", fit="pad")
    assert (chosen.fit, chosen.prefix, caplog.text) == ("pad", "so: ", "")


# ---- what does not fit --------------------------------------------------------------------------


SPOILT: dict[str, tuple[Any, str]] = {
    "missing": (lambda s: {k: v for k, v in s.items() if k != "visual.proj"}, "1 missing key: visual.proj"),
    "unexpected": (lambda s: s | {"head.weight": s["visual.proj"]}, "1 unexpected key: head.weight"),
    "shape": (
        lambda s: s | {"visual.positional_embedding": torch.zeros(10, 64)},
        r"1 wrong shape: visual.positional_embedding \[10, 64\] instead of \[5, 64\]",
    ),
    "all": (lambda s: {"a": torch.zeros(1)}, r"missing keys: .* and \d+ more; 1 unexpected key: a\."),
    "type": (
        lambda s: s | {"visual.proj": s["visual.proj"].to(torch.int8)},
        r"1 wrong type: visual.proj torch.int8\.",
    ),
    "no data": (
        lambda s: s | {"visual.proj": s["visual.proj"].to("meta")},
        "more than weights: 1 non-tensor: visual.proj",
    ),
    "scale": (lambda s: s | {"logit_scale": torch.tensor(200.0)}, "is damaged: its logit scale is inf"),
}


@pytest.mark.parametrize(
    ("chosen", "saved", "device", "expected"),
    [
        (None, "fp32", "cpu", "fp32"),
        (None, "fp32", "cuda", "bf16"),  # nothing was chosen: recorded on a CPU, it does not hold on a GPU
        (None, "bf16", "cpu", "bf16"),
        (None, "fp16", "cuda", "fp16"),
        ("fp32", "bf16", "cuda", "fp32"),
        ("bf16", "fp32", "cpu", "bf16"),
    ],
)
def test_the_precision_without_a_choice_follows_the_device(
    chosen: str | None, saved: str, device: str, expected: str, state: State, tmp_path: Path, monkeypatch: Any
) -> None:
    torch.save(state, tmp_path / "a.pt")
    folder = tmp_path / "run"
    load(tmp_path / "a.pt", architecture=TINY, precision=saved).save(folder)
    monkeypatch.setattr(model, "default_precision", lambda _: default_precision(torch.device(device)))
    clip = load(folder, precision=chosen)
    assert clip.precision == expected
    clip.save(tmp_path / "again")
    recorded = json.loads((tmp_path / "again" / "config.json").read_text())["precision"]
    assert recorded == (chosen or saved)


def test_default_precision() -> None:
    found = {name: default_precision(torch.device(name)) for name in ("cpu", "mps", "cuda", "cuda:1")}
    assert found == {"cpu": "fp32", "mps": "fp32", "cuda": "bf16", "cuda:1": "bf16"}


@pytest.fixture
def twins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two architectures that differ in the activation, as ViT-B-32 and ViT-B-32-quickgelu do."""
    known = dict(open_clip.factory._MODEL_CONFIGS)
    for name, more in (("Twin", {}), ("Twin-quickgelu", {"quick_gelu": True})):
        monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, name, known[TINY] | more)
    return "Twin", "Twin-quickgelu"


@pytest.mark.slow
def test_a_weight_file_with_two_possible_activations_is_asked_about(
    state: State, twins: tuple[str, str], tmp_path: Path
) -> None:
    plain, quick = twins
    torch.save(state, tmp_path / "own.pt")
    torch.save(state | {"input_resolution": torch.tensor(32)}, tmp_path / "openai.pt")
    own, openai = tmp_path / "own.pt", tmp_path / "openai.pt"
    gelu = scored(own, architecture=TINY)  # without a twin there is no question
    quick_gelu = scored(own, architecture=quick)
    assert difference(gelu, quick_gelu) > 1e-3
    for given, expected in (
        ({"architecture": plain, "activation": "gelu"}, gelu),
        ({"architecture": plain, "activation": "quick_gelu"}, quick_gelu),
        ({"architecture": quick, "activation": "quick_gelu"}, quick_gelu),
    ):
        assert scored(own, **given) == expected
    # OpenAI's own files tell; all of them need QuickGELU.
    assert scored(openai, architecture=plain) == scored(openai, architecture=quick) == quick_gelu
    assert scored(openai, architecture=TINY) == quick_gelu
    with pytest.raises(BadInput, match=r"does not say .*=Twin-quickgelu .*=Twin with activation=gelu"):
        load(own, architecture=plain)
    for path, name, who in ((own, quick, "the architecture has"), (openai, plain, "these weights of OpenAI need")):
        with pytest.raises(BadInput, match=rf"activation is gelu, and {who} quick_gelu"):
            load(path, architecture=name, activation="gelu")
    with pytest.raises(BadInput, match="clip: activation: there is no 'relu'"):
        load(own, architecture=plain, activation="relu")
    with pytest.raises(BadInput, match="activation is for a weight file"):
        load(f"{TINY}/random", activation="gelu")


@pytest.mark.slow
def test_a_folder_whose_configuration_contradicts_openais_weights(state: State, tmp_path: Path) -> None:
    torch.save(state, tmp_path / "own.pt")
    load(tmp_path / "own.pt", architecture=TINY).save(tmp_path / "run")
    (tmp_path / "run" / "model.safetensors").unlink()
    torch.save(state | {"vocab_size": 49408}, tmp_path / "run" / "open_clip_pytorch_model.bin")
    with pytest.raises(BadInput, match=r'the weights are OpenAI.*"quick_gelu": true in the model_cfg'):
        load(tmp_path / "run")
    path = tmp_path / "run" / "open_clip_config.json"
    about = json.loads(path.read_text())
    about["model_cfg"]["quick_gelu"] = True
    path.write_text(json.dumps(about))
    assert load(tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILT)
def test_checkpoints_that_do_not_fit_say_why(
    name: str, state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil, said = SPOILT[name]
    monkeypatch.chdir(tmp_path)
    torch.save(spoil(state), tmp_path / "a.pt")
    with pytest.raises(BadInput, match=said):
        load(tmp_path / "a.pt", architecture=TINY)
    assert not (tmp_path / "trapped").exists()


@pytest.mark.slow
def test_weight_files_need_their_architecture(state: State, tmp_path: Path) -> None:
    torch.save(state, tmp_path / "c.pt")
    with pytest.raises(BadInput, match="is a weight file; give its architecture"):
        load(tmp_path / "c.pt")
    with pytest.raises(BadInput, match=rf"no architecture 'Tiny-16-23'\. The nearest are {TINY}"):
        load(tmp_path / "c.pt", architecture="Tiny-16-23")
    with pytest.raises(BadInput, match=r"does not fit ViT-B-32: .*wrong shapes"):
        load(tmp_path / "c.pt", architecture="ViT-B-32")


def test_the_architectures_of_other_sizes_are_named(state: State, tmp_path: Path) -> None:
    torch.save(state, tmp_path / "a.pt")
    with pytest.raises(BadInput, match=rf"instead of \[.*\. Its sizes are those of {TINY}( and Twin.*)?\.$"):
        load(tmp_path / "a.pt", architecture="RN50")
    with pytest.raises(BadInput, match=rf"give its architecture, .*\. Its sizes are those of {TINY}"):
        load(tmp_path / "a.pt")
    torch.save(state | {"text_decoder.x": torch.zeros(1)}, tmp_path / "coca.pt")
    with pytest.raises(BadInput, match=r"1 unexpected key: text_decoder\.x\.$"):  # of another kind of model
        load(tmp_path / "coca.pt", architecture=TINY)


@pytest.mark.parametrize("name", ["ViT-B-32", "RN50"])
def test_published_architectures_are_told_by_their_sizes(name: str) -> None:
    with torch.device("meta"):
        network = open_clip.CLIP(**open_clip.get_model_config(name))
    assert fitting(network.state_dict()) == [name, f"{name}-quickgelu"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda f: edited(f, "config.json", fit="stretch"), r"config\.json: fit: there is no 'stretch'"),
        (lambda f: edited(f, "config.json", prefix=None), r"config\.json: prefix is None"),
        (lambda f: edited(f, "config.json", precision="int8"), r"config\.json: precision: there is no 'int8'"),
        (lambda f: (f / "model.safetensors").unlink(), "holds no weights"),
        (lambda f: (f / "open_clip_config.json").unlink(), r"is not a CLIP folder.*written by transformers\)\.$"),
        (lambda f: ((f / "open_clip_config.json").unlink(), (f / "model").mkdir()), "its model is .*/model"),
        (lambda f: (f / "open_clip_config.json").write_text("{}"), "cannot be built"),
        (lambda f: edited(f, "open_clip_config.json", model_cfg__embed_dim="x"), "cannot be built"),
        (lambda f: edited(f, "open_clip_config.json", model_cfg__embed_dim=25), "wrong shapes"),
        (lambda f: edited(f, "open_clip_config.json", model_cfg__vision_cfg__image_size=[32, 16]), "wrong shape"),
        (
            lambda f: edited(f, "open_clip_config.json", preprocess_cfg__mean=[1, 2]),
            "mean is .*it must be three numbers",
        ),
        (lambda f: edited(f, "open_clip_config.json", preprocess_cfg__std=[1, 0, 1]), "std is .*are divided by it"),
        (lambda f: edited(f, "open_clip_config.json", preprocess_cfg__interpolation="box"), "there is no 'box'"),
    ],
)
def test_folders_that_cannot_be_used(spoil: Any, said: str, saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "run")
    spoil(folder)
    with pytest.raises(BadInput, match=said):
        load(folder)


def test_only_square_pictures(tmp_path: Path) -> None:
    load(f"{TINY}/random").save(tmp_path)
    edited(tmp_path, "open_clip_config.json", model_cfg__vision_cfg__image_size=[32, 16])
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["visual.positional_embedding"] = tensors["visual.positional_embedding"][:3].clone()
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(BadInput, match="only squares are supported"):
        load(tmp_path)


def test_a_save_that_fails_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    clip = load(f"{TINY}/random")
    clip.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))  # the disk is full
    try:
        with pytest.raises(BadInput, match=r"model\.safetensors: cannot be written \("):
            clip.save(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_loading_leaves_the_programs_logs_alone(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A program whose root logger has no handler has none afterwards: open_clip's own messages would add one."""
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    load(f"{TINY}/random")
    assert (root.handlers, root.filters) == ([], [])
    assert "randomly" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"pretrained": ""}, "pretrained is empty"),
        ({"pretrained": 2024}, "pretrained is 2024; .*prepend ./ to it"),
        ({"fit": "stretch"}, "there is no 'stretch'; choose from pad, crop"),
        ({"precision": "int8"}, "there is no 'int8'"),
        ({"batch_size": -1}, "batch_size is -1"),
        ({"workers": "2"}, "workers is '2'"),
        ({"device": "gpu"}, "device is 'gpu'; choose from auto, cuda"),
        ({"device": "cuda"}, r"device 'cuda' is not available: .*finds 1 x cpu"),
        ({"device": "cuda:1"}, "device 'cuda:1' is not available"),
        ({"pretrained": "ViT-L-41-336/openai"}, "no architecture 'ViT-L-41-336'. The nearest are .*ViT-L-14-336"),
        ({"pretrained": "vit-b-32"}, "no architecture 'vit-b-32'. The nearest are ViT-B-32"),
        ({"pretrained": "qqqqqq/x"}, r"no architecture 'qqqqqq'\. open_clip.list_models"),
        ({"pretrained": "ViT-L-14-336"}, "has no weights ''; there are openai, random. Write ViT-L-14-336/TAG"),
        ({"pretrained": "ViT-L-14-336/laion"}, "has no weights 'laion'; there are openai, random"),
        ({"pretrained": "./nowhere"}, "no such file or folder"),
        ({"pretrained": "nowhere.safetensors"}, "no such file or folder"),
        ({"pretrained": "ViT-B-32/openai", "architecture": "ViT-B-32"}, "architecture is for a weight file"),
    ],
)
def test_configurations_that_cannot_be_used(config: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(BadInput, match=said):
        Clip.load(ClipConfig(**config))


def test_auto_takes_the_best_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert model.pick_device("auto").type == "cuda"
    assert model.pick_device("cuda:1").index == 1
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert model.pick_device("auto").type == "mps"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert model.pick_device("auto").type == "cpu"


def test_the_package_loads_no_torch_and_names_the_extra() -> None:
    code = (
        "import sys, humor_tasks.models.clip as c\n"
        "print([m for m in ('torch', 'open_clip', 'PIL') if m in sys.modules])\n"
        "sys.modules['open_clip'] = None\n"
        "try: c.Clip\n"
        "except ValueError as problem: print(problem)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert said.stdout.startswith("[]\nCLIP needs the extra 'clip'")
