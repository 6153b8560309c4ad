"""Every form that a CLIP's weights come in gives the same model: files, folders, tags, the hub, and transformers."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import save_file
from standins import tiny_clip
from standins.clip_weights import CAPTIONS, PICTURES, State, difference, edited, load, scored
from standins.tiny_clip import TINY

from humor_tasks.errors import BadInput
from humor_tasks.models.clip.config import ZERO_SHOT_PREFIX


@pytest.fixture(scope="module")
def expected(state: State, tmp_path_factory: pytest.TempPathFactory) -> list[list[float]]:
    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_file(state, path)
    return scored(path, architecture=TINY)


# ---- files and folders --------------------------------------------------------------------------

FILES: dict[str, Callable[[State, Path], Any]] = {
    "a.safetensors": save_file,
    "openai.pt": lambda state, path: torch.jit.trace_module(
        tiny_clip.network(state),
        {"encode_image": torch.zeros(1, 3, 32, 32), "encode_text": torch.zeros(1, 77, dtype=torch.int64)},
        check_trace=False,
    ).save(str(path)),
    "list of one.pt": lambda state, path: torch.save(state | {"logit_scale": state["logit_scale"].view(1)}, path),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::torch.jit.TracerWarning")
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
        (lambda f: (f / "config.json").write_text("{"), r"config\.json, line 1.*not JSON"),
        (lambda f: (f / "preprocessor_config.json").write_text("[]"), r"preprocessor_config\.json cannot be read"),
    ],
)
def test_hugging_face_folders_that_cannot_be_used(spoil: Any, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "hf"
    hugging_face("quick_gelu").save_pretrained(folder)
    spoil(folder)
    with pytest.raises(BadInput, match=said):
        load(folder)
