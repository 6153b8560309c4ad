"""CLIP's captions and pictures: cut, padded and batched without a change, and what cannot be used is named."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from standins import tiny_clip
from standins.clip_weights import of_file
from standins.tiny_clip import TINY, drawing, encoded

from humor_tasks.errors import BadInput
from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.clip.model import can_be_trimmed
from humor_tasks.models.pictures import Pixels
from humor_tasks.rows.media import picture as images
from humor_tasks.rows.media.picture import Picture, pillow_version

# ---- captions -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_long_captions_are_cut_as_open_clip_cuts_them_and_counted(file: str) -> None:
    clip, tokenizer = of_file(file, prefix=""), open_clip.get_tokenizer(TINY)
    letters = "".join(random.Random(0).choices(string.ascii_lowercase, k=4000))
    texts = ["short", "", "a " * 75, "a " * 76, "word " * 2000, "é😀" * 60, letters, "  spaces  " * 400]
    assert torch.equal(clip.tokenize(texts), tokenizer(texts))
    assert clip.summary()["captions_cut"] == 5
    clip.embed_texts([*texts, "x" * 10_000, "x" * 10_000])
    assert clip.summary()["captions_cut"] == 6  # distinct ones


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_passes_are_as_short_as_their_captions_and_change_nothing(file: str, precision: str) -> None:
    clip = of_file(file, precision=precision, batch_size=1)  # four captions a pass
    texts = ["word " * n for n in (70, 1, 30, 2, 1, 200, 0, 9)]
    encode, passes = clip._encode_text, []
    clip._encode_text = lambda tokens: (passes.append(tuple(tokens.shape)), encode(tokens))[1]
    ours = clip.embed_texts(texts)
    with torch.no_grad():
        full = torch.nn.functional.normalize(clip.model.encode_text(clip.tokenize(texts)).float(), dim=-1)
    assert (ours - full).abs().max() < (1e-6 if precision == "fp32" else 1e-2)
    # Seven distinct ones, by length: 0, 1, 2 and 9 words after the prefix's 8 tokens, between start and end.
    assert passes == [(4, 1 + 8 + 9 + 1), (3, 77)]
    assert clip.model.positional_embedding.shape == (77, 32)  # as it was


def test_only_passes_of_causal_models_are_shortened(file: str) -> None:
    network = of_file(file).model
    assert can_be_trimmed(network)
    network.attn_mask = torch.zeros(77, 77)
    assert not can_be_trimmed(network)
    for change in ({"no_causal_mask": True}, {"pool_type": "last"}):
        config = json.loads(json.dumps(tiny_clip.CONFIG))
        config["text_cfg"] |= change
        assert not can_be_trimmed(open_clip.CLIP(**config))
    assert not can_be_trimmed(open_clip.CustomTextCLIP(**json.loads(json.dumps(tiny_clip.CONFIG))))


def test_spaces_alone_do_not_make_a_caption_long(file: str) -> None:
    clip = of_file(file, prefix="")
    assert torch.equal(clip.tokenize([" " * 9_000 + "two words"]), clip.tokenize(["two words"]))
    assert clip.summary()["captions_cut"] == 0


def test_the_prefix_is_the_papers_unless_another_is_given(file: str) -> None:
    plain = of_file(file, prefix="")
    assert torch.equal(
        of_file(file).embed_texts(["x"]), plain.embed_texts(["a new yorker cartoon with winning caption: x"])
    )
    assert not torch.equal(of_file(file).embed_texts(["x"]), plain.embed_texts(["x"]))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(st.characters(), max_size=12), min_size=1, max_size=4))
def test_any_text_is_embedded(texts: list[str]) -> None:
    vectors = shared().embed_texts(texts)
    assert vectors.shape == (len(texts), 24)
    assert torch.isfinite(vectors).all()


def shared(kept: list[Clip] = []) -> Clip:  # noqa: B006
    """One random model for examples that hypothesis draws."""
    if not kept:
        kept.append(Clip.load(ClipConfig(f"{TINY}/random", device="cpu")))
    return kept[0]


# ---- what cannot be used ------------------------------------------------------------------------


PICTURES = [drawing(i) for i in range(3)]


def at(data: bytes, where: str = "row 7 of matching/test") -> Picture:
    return Picture(where, None, lambda: data)


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (None, r"image 2 of 2: there is no image"),
        ("a.png", r"image 2 of 2: is of type str; give a PIL image or a Picture"),
        (at(b""), r"Picture row 7 of matching/test: there are no bytes"),
        (at(encoded(PICTURES[0])[:600]), r"Picture row 7 of matching/test: .*truncated or damaged"),
        (at(b"GIF89a"), r"Picture row 7 of matching/test: "),
        (Image.new("L", (9, 0)), r"image 2 of 2: has no pixels"),
        (Image.new("F", (9, 9)), r"image 2 of 2: has F samples, whose colours are not known"),
        (Image.new("1", (8_000, 8_000)), r"image 2 of 2: 8000 x 8000 pixels; at most 50,000,000"),
        (Image.new("1", (1, 20_000)), r"image 2 of 2: 1 x 20000 pixels are too narrow for fit=pad"),
    ],
    ids=["none", "path", "empty", "truncated", "broken", "no pixels", "no colours", "huge", "strip"],
)
def test_images_that_cannot_be_used_are_named(image: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        shared().embed_images([PICTURES[0], image])


def test_an_image_file_cut_short_is_named(tmp_path: Path) -> None:
    (tmp_path / "cut.jpg").write_bytes(encoded(drawing(1, (200, 200)), "JPEG")[:-700])
    with pytest.raises(BadInput, match="image 1 of 1: is truncated"):
        shared().embed_images([Image.open(tmp_path / "cut.jpg")])


@pytest.mark.slow
def test_a_strip_is_too_narrow_for_crop_as_well(file: str) -> None:
    with pytest.raises(BadInput, match="too narrow for fit=crop"):
        of_file(file, fit="crop").embed_images([Image.new("1", (1, 20_000_000))])
    assert of_file(file, fit="crop").embed_images([Image.new("1", (1, 2_000))]).shape == (1, 24)


@pytest.mark.parametrize(
    ("shown", "texts", "said"),
    [
        (PICTURES[:2], [["one"]], "2 images and 1 lists of captions"),
        (PICTURES[:2], [["one"], []], "image 2 of 2: has no captions"),
        (PICTURES[:1], ["one"], "image 1 of 1: has no captions"),
        (PICTURES[:1], [["one", None]], "caption 2 of 2: is of type NoneType"),
    ],
)
def test_captions_that_cannot_be_used_are_named(shown: Any, texts: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        shared().score(shown, texts)


def test_numbers_that_are_not_finite_are_refused(file: str) -> None:
    clip = of_file(file)
    clip.model.visual.proj.data[0, 0] = float("nan")
    with pytest.raises(BadInput, match="not finite"):
        clip.embed_images(PICTURES)


def test_a_huge_file_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_PIXELS", 1_000)
    with pytest.raises(BadInput, match="60 x 44 pixels; at most 1,000"):
        shared().embed_images([at(encoded(PICTURES[0]))])


def test_pillows_version_is_part_of_what_pixels_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    how = Pixels(32, "pad", (0.5,) * 3, (0.5,) * 3)
    key = how.key("content")
    assert how.key("content") == key != how.key("other")
    monkeypatch.setattr("PIL.__version__", "99.0")
    assert how.key("content") != key
    assert pillow_version() == "99.0"
