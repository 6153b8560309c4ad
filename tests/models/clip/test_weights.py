"""Every form that a CLIP's weights come in gives the same model; what does not fit is named; nothing is executed."""

from __future__ import annotations

import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import load_file, save_file
from standins import tiny_clip
from standins.tiny_clip import TINY, drawing

from humor_tasks.errors import BadInput
from humor_tasks.models.clip import Clip, ClipConfig, model
from humor_tasks.models.clip.config import ZERO_SHOT_PREFIX
from humor_tasks.models.devices import default_precision

PICTURES = [drawing(i, (50 + i, 44)) for i in range(3)]
CAPTIONS = [["one caption", "another", "a third, longer one"], ["first", "second"], ["this", "that"]]
State = dict[str, torch.Tensor]


@pytest.fixture(scope="module", autouse=True)
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_clip.register(tmp_path_factory.mktemp("architecture"))


@pytest.fixture(scope="module")
def state() -> State:
    return tiny_clip.state()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that nobody changes."""
    folder = tmp_path_factory.mktemp("saved")
    load(f"{TINY}/random").save(folder)
    return folder


@pytest.fixture(scope="module")
def expected(state: State, tmp_path_factory: pytest.TempPathFactory) -> list[list[float]]:
    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_file(state, path)
    return scored(path, architecture=TINY)


def load(path: Any, **more: Any) -> Clip:
    return Clip.load(ClipConfig(**{"pretrained": str(path), "device": "cpu"} | more))


def scored(path: Any, **more: Any) -> list[list[float]]:
    return load(path, **more).score(PICTURES, CAPTIONS)


def difference(ours: list[list[float]], other: list[list[float]]) -> float:
    return max(abs(a - b) for mine, row in zip(ours, other, strict=True) for a, b in zip(mine, row, strict=True))


# ---- files and folders --------------------------------------------------------------------------

FILES: dict[str, Callable[[State, Path], Any]] = {
    "a.safetensors": save_file,
    "a.pt": torch.save,
    "a.bin": torch.save,
    "trained.pt": lambda state, path: torch.save(
        {"epoch": 3, "state_dict": {f"module.{name}": tensor for name, tensor in state.items()}}, path
    ),
    "released.pt": lambda state, path: torch.save({"model_state_dict": state, "best": 0.6}, path),
    "compiled.pt": lambda state, path: torch.save({f"_orig_mod.{k}": v for k, v in state.items()}, path),
    "list of one.pt": lambda state, path: torch.save(state | {"logit_scale": state["logit_scale"].view(1)}, path),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_files(name: str, state: State, expected: list[list[float]], tmp_path: Path) -> None:
    FILES[name](state, tmp_path / name)
    assert scored(tmp_path / name, architecture=TINY) == expected


def test_a_saved_folder_carries_its_settings(state: State, tmp_path: Path) -> None:
    torch.save(state, tmp_path / "a.pt")
    clip = load(tmp_path / "a.pt", architecture=TINY, fit="crop", prefix="")
    expected = clip.score(PICTURES, CAPTIONS)
    clip.save(tmp_path / "deep" / "run")
    again = load(tmp_path / "deep" / "run")
    assert again.score(PICTURES, CAPTIONS) == expected
    assert (again.fit, again.prefix, again.precision) == ("crop", "", "fp32")
    asked = load(tmp_path / "deep" / "run", fit="pad", prefix=ZERO_SHOT_PREFIX, precision="bf16")
    assert (asked.fit, asked.prefix, asked.precision) == ("pad", ZERO_SHOT_PREFIX, "bf16")
    again.save(tmp_path / "deep" / "run")  # in place
    assert scored(tmp_path / "deep" / "run") == expected
    assert json.loads((tmp_path / "deep" / "run" / "config.json").read_text())["architecture"] == TINY


def test_open_clip_reads_a_saved_folder(state: State, expected: list[list[float]], tmp_path: Path) -> None:
    torch.save(state, tmp_path / "a.pt")
    load(tmp_path / "a.pt", architecture=TINY).save(tmp_path / "run")
    network, _, transform = open_clip.create_model_and_transforms(f"local-dir:{tmp_path / 'run'}")
    assert all(torch.equal(tensor, state[name]) for name, tensor in network.state_dict().items())
    assert transform(PICTURES[0]).shape == (3, 32, 32)
    (tmp_path / "run" / "config.json").unlink()  # as open_clip writes it, without our settings
    assert scored(tmp_path / "run") == expected
    (tmp_path / "run" / "model.safetensors").unlink()
    torch.save(state, tmp_path / "run" / "open_clip_pytorch_model.bin")
    assert scored(tmp_path / "run") == expected


def test_random_weights_are_the_same_everywhere_and_draw_nothing(tmp_path: Path) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = load(f"{TINY}/random")
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    assert load(f"{TINY}/random").score(PICTURES, CAPTIONS) == first.score(PICTURES, CAPTIONS)
    first.save(tmp_path)
    assert scored(tmp_path) == first.score(PICTURES, CAPTIONS)


def test_models_with_a_bias_and_their_own_tokenizer(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = {word: i for i, word in enumerate(["<pad>", "one", "two", "<unk>", "</s>"])}
    inner = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", words["</s>"])])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    tokenizer.save_pretrained(tmp_path / "a")
    config = json.loads(json.dumps(tiny_clip.CONFIG)) | {"custom_text": True, "init_logit_bias": -3.0}
    config["text_cfg"] |= {"context_length": 6, "vocab_size": len(words), "hf_tokenizer_name": "not/on-any-hub"}
    (tmp_path / "a" / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": {}}))
    network = open_clip.create_model(f"local-dir:{tmp_path / 'a'}").eval()
    save_file(network.state_dict(), tmp_path / "a" / "model.safetensors")
    clip = load(tmp_path / "a", prefix="", fit="crop")
    texts = ["one", "one two one two one", "two " * 6]
    assert clip.tokenize(texts)[:, -1].tolist() == [0, 4, 4]
    ours = clip.score(PICTURES[:1], [texts])
    assert clip.summary()["captions_cut"] == 1
    transform = open_clip.image_transform(32, is_train=False)
    with torch.no_grad():
        theirs = network.get_logits(transform(PICTURES[0])[None], clip.tokenize(texts))[0].tolist()
    assert difference(ours, theirs) < 1e-5
    clip.save(tmp_path / "b")
    assert scored(tmp_path / "b")[0] == load(tmp_path / "a", prefix="", fit="crop").score(PICTURES, CAPTIONS)[0]


# ---- from the hub -------------------------------------------------------------------------------


@pytest.fixture
def tag(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[dict[str, Any]], None]:
    """Adds a tag of weights to open_clip's list; what it downloads goes below the test's folder."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def add(known: dict[str, Any]) -> None:
        monkeypatch.setitem(open_clip.pretrained._PRETRAINED, TINY, {"mine": known})

    return add


def with_quick_gelu(state: State, mean: Any) -> list[list[float]]:
    """open_clip's own answer for weights of that activation, with its own transform."""
    network, _, transform = open_clip.create_model_and_transforms(TINY, force_quick_gelu=True, image_mean=mean)
    network.load_state_dict(state)
    tokenizer = open_clip.get_tokenizer(TINY)
    with torch.no_grad():
        return [
            network.eval()
            .get_logits(transform(picture)[None], tokenizer([ZERO_SHOT_PREFIX + text for text in texts]))[0][0]
            .tolist()
            for picture, texts in zip(PICTURES, CAPTIONS, strict=True)
        ]


@pytest.mark.slow
def test_a_tag_is_downloaded_once_and_brings_its_activation_and_colours(
    state: State, expected: list[list[float]], tag: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save(state, tmp_path / "tiny.pt")
    tag({"url": (tmp_path / "tiny.pt").as_uri(), "quick_gelu": True, "mean": (0.1, 0.5, 0.9), "std": None})
    ours = scored(f"{TINY}/mine", fit="crop")
    assert (tmp_path / "home" / ".cache" / "clip" / "tiny.pt").is_file()
    assert difference(ours, with_quick_gelu(state, (0.1, 0.5, 0.9))) < 1e-5
    assert difference(scored(f"{TINY}/mine"), expected) > 1e-3
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_: pytest.fail("downloaded again"))
    clip = load(f"{TINY}/mine")
    clip.save(tmp_path / "run")
    assert scored(tmp_path / "run") == clip.score(PICTURES, CAPTIONS)  # with that activation and those colours


def test_tags_and_repositories_of_the_hub(
    state: State, expected: list[list[float]], tag: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_file(state, tmp_path / "open_clip_model.safetensors")
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": tiny_clip.CONFIG, "preprocess_cfg": {}}))
    asked: list[tuple[str, str]] = []

    def download(repo_id: str, filename: str, **_: Any) -> str:
        asked.append((repo_id, filename))
        if repo_id != "someone/tiny" or not (tmp_path / filename).is_file():
            raise FileNotFoundError(filename)
        return str(tmp_path / filename)

    monkeypatch.setattr(open_clip.pretrained, "hf_hub_download", download)
    tag({"hf_hub": "someone/tiny/"})
    assert scored(f"{TINY}/mine") == expected
    assert asked == [("someone/tiny", "open_clip_model.safetensors")]
    assert scored("hf-hub:someone/tiny") == expected
    with pytest.raises(BadInput, match=r"hf-hub:no/such"):
        load("hf-hub:no/such")
    tag({"hf_hub": "no/such/"})
    with pytest.raises(BadInput, match=rf"{TINY}/mine: its weights cannot be loaded from the hub"):
        load(f"{TINY}/mine")


def test_a_tag_for_another_size_is_resized_as_open_clip_does_it(state: State, tag: Any, tmp_path: Path) -> None:
    larger = state | {"visual.positional_embedding": torch.randn(10, 64), "positional_embedding": torch.randn(90, 32)}
    save_file(larger, tmp_path / "tiny.safetensors")
    tag({"url": (tmp_path / "tiny.safetensors").as_uri()})
    theirs = open_clip.create_model(TINY, pretrained="mine").state_dict()
    ours = load(f"{TINY}/mine").model.state_dict()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items())


@pytest.mark.parametrize("architecture", ["ViT-L-14-336", "ViT-B-32"])
def test_open_clips_list_says_that_openais_weights_need_quick_gelu(architecture: str) -> None:
    assert open_clip.get_pretrained_cfg(architecture, "openai")["quick_gelu"]
    assert not open_clip.get_model_config(architecture).get("quick_gelu")  # which is why the loader sets it


# ---- Hugging Face -------------------------------------------------------------------------------


def hugging_face(act: str) -> Any:
    from transformers import CLIPConfig, CLIPModel

    torch.manual_seed(1)
    shared = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_act": act}
    config = CLIPConfig(
        text_config={"hidden_size": 32, "intermediate_size": 64, **shared},
        vision_config={"hidden_size": 48, "intermediate_size": 97, "image_size": 32, "patch_size": 16, **shared},
        projection_dim=24,
    )
    network = CLIPModel(config).eval()
    for tensor in network.parameters():
        tensor.data += 0.05 * torch.randn_like(tensor)
    return network


def as_bin(network: Any, folder: Path) -> None:
    network.save_pretrained(folder)
    (folder / "model.safetensors").unlink()
    torch.save(network.state_dict(), folder / "pytorch_model.bin")


def as_links(network: Any, folder: Path) -> None:
    """As the hub's cache has it."""
    network.save_pretrained(folder.parent / "blobs", max_shard_size="100KB")
    folder.mkdir()
    for path in (folder.parent / "blobs").iterdir():
        (folder / path.name).symlink_to(Path("..") / "blobs" / path.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "save"),
    [
        ("quick_gelu", lambda network, folder: network.save_pretrained(folder)),
        ("gelu", lambda network, folder: network.save_pretrained(folder)),
        ("gelu", as_links),
        ("quick_gelu", as_bin),
    ],
    ids=["quick_gelu", "gelu", "shards", "bin"],
)
def test_a_hugging_face_folder_answers_as_transformers_does(act: str, save: Any, tmp_path: Path) -> None:
    network = hugging_face(act)
    save(network, tmp_path / "hf")
    clip = load(tmp_path / "hf")
    pixels = torch.stack([torch.from_numpy(np.array(clip.pixels.fitted(picture, "here"))) for picture in PICTURES])
    ids = clip.tokenize([text for texts in CAPTIONS for text in texts])
    ends = ids.argmax(dim=1, keepdim=True)  # the end-of-text token has the highest number
    with torch.no_grad():
        logits = network(
            input_ids=ids,
            attention_mask=(torch.arange(ids.shape[1]) <= ends).long(),
            pixel_values=clip.pixels.normalised(pixels),
        ).logits_per_image
    starts = [0, 3, 5, 7]
    theirs = [logits[i, starts[i] : starts[i + 1]].tolist() for i in range(3)]
    ours = clip.score(PICTURES, CAPTIONS)
    assert difference(ours, theirs) < 1e-5
    clip.save(tmp_path / "ours")
    assert scored(tmp_path / "ours") == ours


def test_a_hugging_face_folder_brings_its_colours(tmp_path: Path) -> None:
    hugging_face("gelu").save_pretrained(tmp_path)
    said = {"image_mean": [0.1, 0.2, 0.3], "image_std": [0.5, 0.5, 0.5], "resample": 2}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(said))
    pixels = load(tmp_path).pixels
    assert (pixels.mean, pixels.std, pixels.interpolation) == ((0.1, 0.2, 0.3), (0.5, 0.5, 0.5), "bilinear")


def edited(folder: Path, name: str, **changes: Any) -> None:
    about = json.loads((folder / name).read_text())
    for key, value in changes.items():
        *path, last = key.split("__")
        inner = about
        for part in path:
            inner = inner[part]
        inner[last] = value
    (folder / name).write_text(json.dumps(about))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda f: edited(f, "config.json", text_config__vocab_size=1000), "vocab_size is 1000; only 49408"),
        (lambda f: edited(f, "config.json", vision_config__layer_norm_eps=1e-6), "layer_norm_eps is 1e-06"),
        (lambda f: edited(f, "config.json", text_config__hidden_act="relu"), r"hidden_act \['quick_gelu', 'relu'\]"),
        (lambda f: edited(f, "config.json", model_type="siglip"), "is not a CLIP folder"),
        (lambda f: edited(f, "config.json", vision_config__hidden_size="x"), "does not define a valid model"),
        (lambda f: edited(f, "config.json", text_config__num_hidden_layers=3), "missing keys.*resblocks.2"),
        (lambda f: (f / "model.safetensors").unlink(), "holds no weights"),
        (lambda f: (f / "model.safetensors").write_bytes(b"no"), "cannot be read as weights"),
        (lambda f: (f / "config.json").write_text("{"), r"config\.json, line 1.*not JSON"),
        (lambda f: (f / "preprocessor_config.json").write_text("[]"), r"preprocessor_config\.json cannot be read"),
        (
            lambda f: (
                (f / "model.safetensors").rename(f.parent / "model.safetensors"),
                (f / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../model.safetensors"}}'),
            ),
            "names '../model.safetensors'; weights must be in the same folder",
        ),
    ],
)
def test_hugging_face_folders_that_cannot_be_used(spoil: Any, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "hf"
    hugging_face("quick_gelu").save_pretrained(folder)
    spoil(folder)
    with pytest.raises(BadInput, match=said):
        load(folder)


# ---- what does not fit --------------------------------------------------------------------------


class Trap:
    """What a pickle can do."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("trapped",)


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
    "a list": (lambda s: [1, 2], "holds a list instead of weights by name"),
    "a text": (lambda s: s | {"note": "hello"}, "holds more than weights: 1 non-tensor: note"),
    "code": (lambda s: s | {"note": Trap()}, r"it holds \S+\.mkdir besides tensors\)\. Only tensors are read"),
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
def test_files_that_hold_nothing_say_so(state: State, tmp_path: Path) -> None:
    for name, data in (("a.pt", b""), ("a.safetensors", b"\0" * 20), ("b.pt", b"not a checkpoint")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput, match=rf"{name} cannot be read as weights"):
            load(tmp_path / name, architecture=TINY)
    torch.save(state, tmp_path / "c.pt")
    with pytest.raises(BadInput, match="is a weight file; give its architecture"):
        load(tmp_path / "c.pt")
    with pytest.raises(BadInput, match=rf"no architecture 'Tiny-16-23'\. The nearest are {TINY}"):
        load(tmp_path / "c.pt", architecture="Tiny-16-23")
    with pytest.raises(BadInput, match=r"does not fit ViT-B-32: .*wrong shapes"):
        load(tmp_path / "c.pt", architecture="ViT-B-32")


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
