"""OFA's words and pixels: the published vocabulary's numbers, and what cannot be read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from standins.ofa_words import alphabet, vocabulary
from standins.tiny_clip import drawing, encoded
from standins.tiny_ofa import patch_images

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.preprocessing import BINS, CODES, FAIRSEQ, HUGGING_FACE, Tokenizer, clean, prompt, square
from humor_tasks.rows.media.picture import Picture


@pytest.fixture(scope="session")
def reference(real_data: Path) -> Path:
    """The published vocabulary, and what the published code makes of texts and a picture."""
    return real_data.parent / "ofa"


@pytest.fixture(scope="session")
def golden(reference: Path) -> Any:
    return json.loads((reference / "golden" / "tokenizer.json").read_text())


@pytest.fixture(scope="session", params=[HUGGING_FACE, FAIRSEQ], ids=["hugging_face", "fairseq"])
def published(request: pytest.FixtureRequest, reference: Path, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("published")
    for name in request.param:
        shutil.copy(reference / "tokenizer_files" / name, folder)
    return Tokenizer.load(folder)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Tokenizer.load(vocabulary(tmp_path_factory.mktemp("small"), ["a cat sat on the cat"]))


def test_the_published_numbers(published: Tokenizer, golden: Any) -> None:
    about = golden["vocab"]
    assert (published.size, published.mask) == (about["size"], about["mask"])
    assert (published.code, published.bin) == (about["code_0"], about["bin_0"])
    for case in golden["encode"]:
        text = case["text"]
        assert published.encode(text) == case["hf_ids"]
        assert published.decode(case["hf_ids"]) == case["hf_decode_noclean"]
        assert published.encode(text, marks=False) == case["fairseq_ids_bpe"]
        assert published.decode(case["fairseq_ids_bpe"]) == case["fairseq_decode_bpe"] == text


def test_the_published_batch_is_padded_on_the_right(published: Tokenizer, golden: Any) -> None:
    rows = [published.encode(text) for text in golden["batch"]["texts"]]
    assert published.pad(rows).tolist() == golden["batch"]["input_ids"]


def test_the_published_clean_up(golden: Any) -> None:
    for case in golden["pre_question"]:
        assert clean(case["in"], case["max_words"]) == case["out"]
    for case in golden["pre_caption"]:
        assert clean(case["in"], case["max_words"], caption=True) == case["out"]


def test_the_published_pixels(reference: Path) -> None:
    from safetensors.torch import load_file

    expected = load_file(reference / "golden" / "preprocess.safetensors")
    data = (reference / "golden" / "preprocess.png").read_bytes()
    for side in (64, 96):
        (made,) = patch_images([Picture("here", None, lambda: data)], square(side))
        assert torch.equal(made, expected[f"resized_{side}"])


@given(st.text())
@settings(deadline=None)
def test_a_text_comes_back(small: Tokenizer, text: str) -> None:
    ids = small.encode(text, marks=False)
    assert (ids[0], ids[-1]) == (0, 2)
    assert small.decode(ids) == text
    assert all(4 <= i < small.mask for i in ids[1:-1])


@given(st.lists(st.sampled_from(["a cat", " the", "<mask>", "<code_7>", "<bin_999>", "</s>", "é🙂", "\n"])))
@settings(deadline=None)
def test_marks_are_single_numbers_wherever_they_stand(small: Tokenizer, parts: list[str]) -> None:
    ids = small.encode("".join(parts))[1:-1]
    for name, number in (("<mask>", small.mask), ("<code_7>", small.code + 7), ("<bin_999>", small.bin + 999)):
        assert ids.count(number) == parts.count(name)
    assert ids.count(2) == parts.count("</s>")
    shown = small.decode(ids)
    assert "<mask>" not in shown
    assert shown.count("<code_7>") == parts.count("<code_7>")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a  <bin_1>  cat", "a <bin_1> cat"),
        ("<code_0><code_8191>", "<code_0> <code_8191>"),
        ("a <mask> cat", "a cat"),
        ("<code_8192>", "<code_8192>"),  # there is none: letters
        ("<s>a</s>", "a"),
        ("", ""),
    ],
)
def test_spaces_around_marks(small: Tokenizer, text: str, shown: str) -> None:
    assert small.decode(small.encode(text)) == shown


def test_pairs_are_joined_in_their_order(small: Tokenizer) -> None:
    words = {word: i for i, word in enumerate(alphabet(["a cat sat on the cat"]))}
    # Pairs by frequency: "c a" and "ca t" make "cat".
    assert words["cat"] in small.encode("cat")
    assert len(small.encode("cat")) == 3
    assert small.size == small.mask + 1 + CODES + BINS


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What entities are there?", " what entities are there?"),
        ("Describe this image.", " describe this image.?"),
        ("  What's unusual about this image?\n", " what's unusual about this image?"),
        ("Is it man-made/natural", " is it man made natural?"),
        ("A  B\n\nC ?", " a b c ?"),
        ("?", None),
        (" \n ", None),
        ("", None),
    ],
)
def test_questions_as_ofa_is_asked_them(question: str, asked: str | None) -> None:
    if asked is not None:
        assert prompt(question) == asked
        return
    with pytest.raises(BadInput, match="the question is empty"):
        prompt(question)


def test_a_number_outside_the_vocabulary_is_no_token(small: Tokenizer) -> None:
    for wrong in (-1, small.size):
        with pytest.raises(BadInput, match=f"token {wrong} is outside OFA's vocabulary"):
            small.decode([0, wrong])


def broken(folder: Path, name: str, change: Any) -> Path:
    vocabulary(folder, ["a cat"])
    path = folder / name
    path.write_text(change(path.read_text()), encoding="utf-8")
    return folder


def words_changed(**changes: int) -> Any:
    return lambda text: json.dumps({**json.loads(text), **changes})


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("vocab.json", lambda text: "{", r"vocab.json: is not JSON"),
        ("vocab.json", lambda text: "[1]", "must be an object that maps words to ids"),
        ("vocab.json", lambda text: '{"a": true}', "must be an object that maps words to ids"),
        ("vocab.json", words_changed(**{"<pad>": 7}), "<pad> is 7 and not 1; this is not OFA's vocabulary"),
        ("vocab.json", words_changed(**{"<mask>": 9999}), "<mask> is 9999 and not"),
        ("vocab.json", words_changed(a=3), r"numbers of its \d+ words do not run from 0"),
        ("vocab.json", lambda text: text.replace('"!"', '"!!"'), r"lacks 1 of the 256 bytes \(!\)"),
        ("merges.txt", lambda text: text + "q q\n", "lacks a word of the pair 'q q'"),
        ("merges.txt", lambda text: "", r"no merge produces \d words: .*is truncated; copy it again"),
        ("merges.txt", lambda text: text[: text.index("\n", len(text) // 2)], r"no merge produces \d+ words: "),
        ("merges.txt", lambda text: text + "qq\n", r"merges.txt, line \d+: 'qq' is not a pair"),
    ],
)
def test_a_vocabulary_that_is_not_ofas(tmp_path: Path, name: str, change: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Tokenizer.load(broken(tmp_path, name, change))


def test_a_missing_vocabulary_names_the_files_looked_for(tmp_path: Path) -> None:
    vocabulary(tmp_path, ["a cat"])
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(BadInput, match=r"vocab.json and merges.txt, and for dict.txt, encoder.json, vocab.bpe; copy"):
        Tokenizer.load(tmp_path)


def test_a_copy_that_names_codes_and_bins_reads_the_same(tmp_path: Path, small: Tokenizer) -> None:
    vocabulary(tmp_path, ["a cat sat on the cat"])
    words = json.loads((tmp_path / "vocab.json").read_text())
    named = words | {f"<code_{i}>": len(words) + i for i in range(CODES)}
    (tmp_path / "vocab.json").write_text(json.dumps(named))
    assert Tokenizer.load(tmp_path).encode(" the <code_3> cat") == small.encode(" the <code_3> cat")


# ---- pixels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "1", "CMYK"])
@pytest.mark.parametrize("size", [(64, 64), (200, 30), (7, 90)])
def test_every_picture_becomes_the_same_square(mode: str, size: tuple[int, int]) -> None:
    image = drawing(3).resize(size).convert(mode)
    (made,) = patch_images([image], square(48))
    plain = np.asarray(image.convert("RGB").resize((48, 48), Image.Resampling.BICUBIC), dtype=np.float32)
    expected = torch.from_numpy((plain / 255 - 0.5) / 0.5).permute(2, 0, 1)
    assert made.shape == (3, 48, 48)
    assert torch.allclose(made, expected, atol=2.1 / 255)  # grey is interpolated as grey


def test_a_batch_is_its_pictures() -> None:
    images = [drawing(i).resize((30 + i, 20)) for i in range(3)]
    together = patch_images(images, square(32))
    assert torch.equal(together, torch.cat([patch_images([image], square(32)) for image in images]))
    assert (together.min() >= -1, together.max() <= 1) == (True, True)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (None, "second: there is no image"),
        ("a.png", "second: is of type str"),
        (Image.new("F", (4, 4)), "second: has F samples"),
        (Picture("row 3 of x", None, lambda: encoded(drawing(0))[:300]), "Picture row 3 of x: the PNG data is trunc"),
    ],
)
def test_pictures_that_cannot_be_used_are_named(image: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        patch_images([drawing(0), image], square(32), ["first", "second"])


@pytest.mark.parametrize("size", [0, 15, 100, True, 32.0, "384"])
def test_sizes_are_whole_patches(size: Any) -> None:
    with pytest.raises(BadInput, match="must be a multiple of 16"):
        square(size)
