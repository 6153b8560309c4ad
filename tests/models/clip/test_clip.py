"""CLIP: open_clip's own numbers, whatever the checkpoint's form; each picture and caption once; what cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
import torchvision.transforms.functional as tv
from hypothesis import given, settings
from hypothesis import strategies as st
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from safetensors.torch import save_file
from standins import tiny_clip
from standins.clip_weights import State, difference, of_file
from standins.tiny_clip import TINY, drawing, encoded

from humor_tasks.errors import BadInput
from humor_tasks.models.caches import Vectors
from humor_tasks.models.clip import model
from humor_tasks.models.clip.config import ZERO_SHOT_PREFIX
from humor_tasks.models.pictures import Pixels, ahead
from humor_tasks.rows.media.picture import Picture

SIZES = ((60, 44), (44, 60), (32, 32), (90, 33), (20, 13), (200, 31))
PICTURES = [drawing(i, size) for i, size in enumerate(SIZES)]
CAPTIONS = [[f"caption {i} {j}: it's a living" for j in range(5 if i % 2 else 2)] for i in range(len(PICTURES))]


def theirs(
    state: State, pictures: Sequence[Any], captions: Sequence[Sequence[str]], **config: Any
) -> list[list[float]]:
    """open_clip's own pipeline, one picture at a time."""
    network = open_clip.CLIP(**json.loads(json.dumps(tiny_clip.CONFIG)), **config).eval()
    network.load_state_dict(state)
    transform = image_transform_v2(PreprocessCfg(size=32), is_train=False)
    tokenizer = open_clip.get_tokenizer(TINY)
    with torch.no_grad():
        return [
            network.get_logits(transform(picture)[None], tokenizer([ZERO_SHOT_PREFIX + text for text in texts]))[0][0]
            for picture, texts in zip(pictures, captions, strict=True)
        ]


# ---- the same numbers ---------------------------------------------------------------------------


def test_logits_are_open_clips(file: str, state: State) -> None:
    ours = of_file(file, fit="crop").score(PICTURES, CAPTIONS)
    assert difference(ours, theirs(state, PICTURES, CAPTIONS)) < 1e-5
    assert np.std(np.concatenate(ours)) > 0.1  # the tiny model tells them apart


def naive(image: Any, fit: str, size: int) -> torch.Tensor:
    """Bars around, or the middle out of the resized picture, in plain words."""
    pixels = np.array(image.convert("RGB"))
    height, width = pixels.shape[:2]
    if fit == "pad":
        side = max(width, height)
        left, top = (side - width) // 2, (side - height) // 2
        square = np.zeros((side, side, 3), np.uint8)
        square[top : top + height, left : left + width] = pixels
        done = np.array(Image.fromarray(square).resize((size, size), Image.Resampling.BICUBIC))
    else:
        resized = tv.resize(Image.fromarray(pixels), size, tv.InterpolationMode.BICUBIC)
        done = np.array(tv.center_crop(resized, [size, size]))
    values = done.astype(np.float32).transpose(2, 0, 1) / np.float32(255)
    mean, std = (np.array(x, np.float32)[:, None, None] for x in (MEAN, STD))
    return torch.from_numpy((values - mean) / std)


MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


@settings(deadline=None)
@given(st.integers(1, 90), st.integers(1, 90), st.integers(8, 40), st.sampled_from(["RGB", "L"]), st.booleans())
def test_fits_are_the_naive_ones(width: int, height: int, size: int, mode: str, pad: bool) -> None:
    image, fit = drawing(width + height, (width, height), mode), "pad" if pad else "crop"
    pixels = Pixels(size, fit, MEAN, STD)
    ours = pixels.normalised(torch.from_numpy(np.array(pixels.fitted(image, "here")))[None])[0]
    assert torch.equal(ours, naive(image, fit, size))


def test_pad_shows_what_crop_cuts_off() -> None:
    wide = Image.new("RGB", (90, 30))
    wide.paste((255, 255, 255), (0, 0, 20, 30))
    shown = {fit: np.array(Pixels(30, fit, MEAN, STD).fitted(wide, "here")) for fit in ("pad", "crop")}
    assert shown["crop"].max() == 0
    assert shown["pad"][15, 2].min() == 255
    assert shown["pad"][:9].max() == 0  # black bars


@pytest.mark.parametrize("mode", ["1", "LA", "P", "RGBA", "CMYK"])
def test_modes_become_rgb_before_they_are_resized(file: str, mode: str) -> None:
    image = drawing(3).convert(mode)
    clip = of_file(file)
    assert torch.equal(clip.embed_images([image]), clip.embed_images([image.convert("RGB")]))


@pytest.mark.parametrize("more", [{"batch_size": 1}, {"batch_size": 3}, {"workers": 1}, {"workers": 7}])
def test_batches_and_threads_change_nothing(file: str, more: dict[str, Any]) -> None:
    expected = of_file(file).score(PICTURES, CAPTIONS)
    assert difference(of_file(file, **more).score(PICTURES, CAPTIONS), expected) < 1e-5


def test_one_by_one_is_all_at_once(file: str) -> None:
    clip, expected = of_file(file), of_file(file).score(PICTURES, CAPTIONS)
    ours = [clip.score([picture], [texts])[0] for picture, texts in zip(PICTURES, CAPTIONS, strict=True)]
    assert difference(ours, expected) < 1e-5
    assert clip.score([], []) == []
    assert clip.embed_images([]).shape == clip.embed_texts([]).shape == (0, 24)


@pytest.mark.parametrize(("precision", "near"), [("fp16", 2e-3), ("bf16", 2e-2)])
def test_half_precision_is_near(file: str, precision: str, near: float) -> None:
    full, half = of_file(file), of_file(file, precision=precision)
    flat = [text for texts in CAPTIONS for text in texts]
    assert (full.embed_images(PICTURES) - half.embed_images(PICTURES)).abs().max() < near
    assert (full.embed_texts(flat) - half.embed_texts(flat)).abs().max() < near
    assert half.model.visual.conv1.weight.dtype == model.DTYPES[precision]
    assert torch.equal(half.model.logit_scale, full.model.logit_scale)  # 4.6052 in bf16 would be 4.59375


def test_vectors_are_units(file: str) -> None:
    clip = of_file(file)
    for vectors in (clip.embed_images(PICTURES), clip.embed_texts(CAPTIONS[1])):
        assert torch.allclose(vectors.norm(dim=-1), torch.ones(len(vectors)))
        assert vectors.dtype == torch.float32


def test_compile_runs_both_encoders_compiled(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    monkeypatch.setattr(torch, "compile", lambda function: (compiled.append(function.__name__), function)[1])
    expected = of_file(file).score(PICTURES, CAPTIONS)
    assert not compiled
    assert difference(of_file(file, compile=True).score(PICTURES, CAPTIONS), expected) < 1e-5
    assert compiled == ["encode_image", "encode_text"]


# ---- each once ----------------------------------------------------------------------------------


def test_each_distinct_picture_and_caption_is_embedded_once(file: str) -> None:
    clip = of_file(file, batch_size=2)
    data = encoded(PICTURES[0])
    same = [Picture(f"row {i}", None, lambda: data) for i in range(3)]  # three rows, one content
    shown = [*same, PICTURES[0], PICTURES[0], PICTURES[0].copy()]
    first = clip.score(shown, [["one", "two"]] * len(shown))
    # A file is known by its bytes and a decoded image by its pixels: two contents.
    assert first[0] == first[1] == first[2]
    assert first[3] == first[4] == first[5]
    assert difference(first[:1], first[3:4]) < 1e-5
    assert clip.summary() == {"pictures_embedded": 2, "captions_embedded": 2, "captions_cut": 0}
    assert clip.score(shown[:1], [["two", "three"]])[0][0] == first[0][1]
    assert clip.summary()["captions_embedded"] == 3
    clip.forget()
    clip.embed_images(shown)
    assert clip.summary()["pictures_embedded"] == 4


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("the model was asked")


def test_a_folder_of_embeddings_spares_the_model(file: str, tmp_path: Path) -> None:
    long = "word " * 100
    texts = [[*row, long] for row in CAPTIONS]
    expected = of_file(file).score(PICTURES, texts)
    kept = of_file(file, cache_dir=str(tmp_path))
    assert kept.score(PICTURES, texts) == expected
    again = of_file(file, cache_dir=str(tmp_path))
    again._encode_image = again._encode_text = refuse
    assert again.score(PICTURES, texts) == expected
    assert again.summary() == {"pictures_embedded": 0, "captions_embedded": 0, "captions_cut": 1}
    for path in tmp_path.rglob("*.npy"):
        path.write_bytes(path.read_bytes()[:-30] if path.name < "8" else b"")
        if path.name < "4":
            np.save(path, np.full(24, np.nan, np.float32))
    assert of_file(file, cache_dir=str(tmp_path)).score(PICTURES, texts) == expected
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"fit": "crop"}, {"prefix": ""}, {"precision": "bf16"}, {"pretrained": "other"}])
def test_a_folder_of_embeddings_is_for_one_model_and_preprocessing(
    file: str, tmp_path: Path, change: dict[str, Any]
) -> None:
    of_file(file, cache_dir=str(tmp_path)).score(PICTURES, CAPTIONS)
    if "pretrained" in change:
        change = {"pretrained": str(tmp_path / "other.safetensors")}
        save_file(tiny_clip.state(seed=1), change["pretrained"])
    other = of_file(file, cache_dir=str(tmp_path), **change)
    assert other.score(PICTURES, CAPTIONS) == of_file(file, **change).score(PICTURES, CAPTIONS)
    assert other.summary()["pictures_embedded"] == (0 if "prefix" in change else len(PICTURES))
    assert other.summary()["captions_embedded"] == (0 if "fit" in change else sum(map(len, CAPTIONS)))


def test_memory_is_bounded_and_keeps_what_was_used_last() -> None:
    kept = Vectors(4, max_bytes=3 * 16)
    for name in ("a", "b", "c", "a", "d"):
        kept.put(name, np.full(4, ord(name), np.float32)) if kept.get(name) is None else None
    assert [kept.get(name) is not None for name in "abcd"] == [True, False, True, True]


def test_a_small_memory_loses_no_answer(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = of_file(file).score(PICTURES, CAPTIONS)
    monkeypatch.setattr(Vectors.__init__, "__defaults__", (None, 2 * 4 * 24))
    clip = of_file(file, batch_size=2)
    assert difference(clip.score(PICTURES, CAPTIONS), expected) < 1e-5
    assert len(clip._images.memory._values) == len(clip._texts.memory._values) == 2


WRITER = """
import sys, numpy as np
from pathlib import Path
from humor_tasks.models.caches import Vectors
for _ in range(20):
    kept = Vectors(500, Path(sys.argv[1]))
    for i in range(20):
        found, unit = kept._read(f"{i:02}"), np.eye(500, dtype=np.float32)[i]
        assert found is None or (found == unit).all()
        kept.put(f"{i:02}", unit)
"""


@pytest.mark.slow
def test_processes_share_a_folder(tmp_path: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    kept = Vectors(500, tmp_path)
    assert all(kept.get(f"{i:02}").argmax() == i for i in range(20))
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 20


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"PK\x03\x04" + data[4:],
        lambda data: data.replace(b"(32,), }", b"(10**12,), }")[: len(data)],
        lambda data: data[:-128] + bytes(128),
        lambda data: data[:-4] + np.float32(7).tobytes(),
        lambda data: data[:-4],
        lambda data: data + b"\0",
        lambda data: b"",
    ],
    ids=["zip", "header", "zeros", "noise", "short", "long", "empty"],
)
def test_a_damaged_embedding_counts_as_missing(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    Vectors(32, tmp_path).put("ab", np.eye(32, dtype=np.float32)[3])
    assert Vectors(32, tmp_path).get("ab").argmax() == 3
    (path,) = tmp_path.rglob("*.npy")
    before = path.read_bytes()
    path.write_bytes(damage(before))
    assert path.read_bytes() != before
    assert Vectors(32, tmp_path).get("ab") is None


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        Vectors(2, tmp_path / "file").put("ab", np.zeros(2, np.float32))


def test_threads_may_share_a_model(file: str) -> None:
    clip, expected, found = of_file(file, batch_size=2), of_file(file).score(PICTURES, CAPTIONS), {}
    threads = [threading.Thread(target=lambda i=i: found.update({i: clip.score(PICTURES, CAPTIONS)})) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(difference(found[i], expected) < 1e-5 for i in range(4))
    assert clip.summary()["pictures_embedded"] == len(PICTURES)


# ---- memory and threads -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem", [torch.OutOfMemoryError("CUDA out of memory."), RuntimeError("MPS backend out of memory (9 GB)")]
)
def test_batches_halve_until_they_fit(file: str, problem: Exception) -> None:
    expected, clip = of_file(file).score(PICTURES, CAPTIONS), of_file(file, batch_size=6)
    passes: list[int] = []

    def limited(real: Callable[[Any], Any], most: int) -> Callable[[Any], Any]:
        def encode(batch: Any) -> Any:
            passes.append(len(batch))
            if len(batch) > most:
                raise problem
            return real(batch)

        return encode

    clip._encode_image, clip._encode_text = limited(clip._encode_image, 2), limited(clip._encode_text, 10)
    assert difference(clip.score(PICTURES, CAPTIONS), expected) < 1e-5
    assert passes == [6, 3, 1, 1, 1, 1, 1, 1, 21, 10, 10, 1]
    clip.embed_images([drawing(i) for i in range(50, 52)])
    assert passes[-2:] == [1, 1]  # what fits is remembered
    clip._encode_image = limited(clip._encode_image, 0)
    with pytest.raises(BadInput, match="not even one picture fits the memory of cpu"):
        clip.embed_images([drawing(60)])


def test_other_errors_of_the_model_are_not_hidden(file: str) -> None:
    clip = of_file(file)
    clip._encode_image = lambda batch: batch.view(5, 5)
    with pytest.raises(RuntimeError, match="invalid for input of size"):
        clip.embed_images(PICTURES[:1])


def test_ahead_keeps_the_order_and_its_distance() -> None:
    started, read = [], []

    def work(i: int) -> int:
        started.append(i)
        return i * i

    for square in ahead(work, range(100), 4, 8):
        assert len(started) <= len(read) + 8
        read.append(square)
    assert read == [i * i for i in range(100)]


def test_ahead_stops_at_an_error() -> None:
    started = []

    def work(i: int) -> None:
        started.append(i)
        if i == 3:
            raise BadInput("here")

    with pytest.raises(BadInput, match="here"):
        list(ahead(work, range(1000), 2, 10))
    assert len(started) <= 3 + 10
