"""A picture is decoded once a run: the check before the first request hands its pixels to the networks."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from PIL import ImageFile
from safetensors.torch import save_file
from standins import commands, tiny_clip
from standins.tiny_clip import TINY, drawing, encoded
from standins.tiny_ofa import tiny_ofa

from humor_tasks import load
from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.pictures import CheckedPixels, Pixels
from humor_tasks.models.pictures import decoded as decoded_pixels
from humor_tasks.rows.media import checking
from humor_tasks.rows.media.checking import check_media
from humor_tasks.rows.media.picture import Picture

HOW = Pixels(16, "pad", (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
BYTES = 16 * 16 * 3


def picture_file(seed: int, size: tuple[int, int] = (60, 44)) -> bytes:
    return encoded(drawing(seed, size))


def picture_of(data: bytes, name: str = "row 0") -> Picture:
    return Picture(name, None, lambda: data)


@pytest.fixture
def distinct(decodes: list[int]) -> int:
    """How many pictures the sample has; looked at before anything is counted."""
    found = {r.picture.sha256() for r in load("matching", dataset="sample", setting="pixels").records if r.picture}
    decodes.clear()
    gc.collect()
    return len(found)


@pytest.fixture
def decodes() -> Iterator[list[int]]:
    """An entry for each decode of a picture file."""
    seen: list[int] = []
    real = ImageFile.ImageFile.load

    def load(image: Any) -> Any:
        if image.tile:
            seen.append(1)
        return real(image)

    with mock.patch.object(ImageFile.ImageFile, "load", load):
        yield seen


@pytest.fixture(autouse=True)
def no_other_networks() -> Iterator[None]:
    """Networks of other tests may still exist."""
    with mock.patch.object(checking, "_takers", type(checking._takers)()):
        yield


def checked(*files: bytes, most: int = 10 * BYTES) -> CheckedPixels:
    pixels = CheckedPixels(HOW, most)
    pixels.receive()
    assert not check_media({i: picture_of(data, f"row {i}") for i, data in enumerate(files)}, "")
    return pixels


def key_of(data: bytes) -> str:
    return HOW.key(picture_of(data).sha256())


def test_altered_pixels_are_kept_under_another_key_than_the_files_hash() -> None:
    """A cache that older code filled has the pixels of transparent files under their SHA-256: other ones."""
    clear = encoded(drawing(1, (60, 44), "RGBA"))
    pixels, picture = checked(clear), picture_of(clear)
    assert pixels.pop(key_of(clear)) is None
    kept = pixels.pop(HOW.key(picture.identity()))
    assert np.array_equal(kept, decoded_pixels([picture], HOW, [""], 1)[0])


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_pixels_from_the_check_equal_those_that_the_network_decodes(kind: str, mode: str) -> None:
    data = encoded(drawing(3, mode=mode), kind)
    mine = checked(data).pop(key_of(data))
    assert mine is not None
    np.testing.assert_array_equal(mine, decoded_pixels([picture_of(data)], HOW, ["a"], 1)[0])


def test_pixels_are_kept_until_they_are_asked_for_and_the_oldest_are_dropped() -> None:
    files = [picture_file(i) for i in range(4)]
    pixels = checked(*files, most=2 * BYTES)
    # Threads take them, so that the order of the first ones may differ.
    kept = [data for data in files if pixels.pop(key_of(data)) is not None]
    assert len(kept) == 2
    assert [pixels.pop(key_of(data)) for data in kept] == [None, None]
    assert not check_media({0: picture_of(files[0]), 1: picture_of(files[0])}, "")
    assert not check_media({0: picture_of(files[0])}, "")  # the same picture again takes the place of its first pixels
    assert not check_media({0: picture_of(files[1])}, "")
    assert pixels.pop(key_of(files[0])) is not None
    assert pixels.pop(key_of(files[1])) is not None


def test_a_picture_that_the_network_cannot_use_passes_the_check() -> None:
    """It is told where the network needs it, with its row."""
    narrow = encoded(drawing(0, (60_000, 1)))
    assert checked(narrow).pop(key_of(narrow)) is None


def test_a_network_that_is_gone_takes_nothing() -> None:
    pixels = checked(picture_file(0))
    assert list(checking._takers) == [pixels]
    del pixels
    assert not list(checking._takers)


def test_a_file_that_changes_after_the_check_is_decoded_again(tmp_path: Path, decodes: list[int]) -> None:
    place = tmp_path / "a.png"
    one = Picture("a.png", str(place), place.read_bytes)
    place.write_bytes(picture_file(0))
    tiny_clip.register(tmp_path)
    save_file(tiny_clip.state(), tmp_path / "tiny.safetensors")
    clip = Clip.load(ClipConfig(str(tmp_path / "tiny.safetensors"), architecture=TINY, device="cpu"))
    clip.checked.receive()
    assert not check_media({0: one}, "")
    place.write_bytes(picture_file(1))
    found = clip.embed_images([one])
    assert len(decodes) == 2
    assert found.tolist() == clip.embed_images([drawing(1)]).tolist()


# ---- the command lines of both harnesses ------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The folders of a tiny CLIP and a tiny OFA."""
    place = tmp_path_factory.mktemp("models")
    tiny_clip.register(place)
    save_file(tiny_clip.state(), place / "tiny.safetensors")
    Clip.load(ClipConfig(str(place / "tiny.safetensors"), architecture=TINY, device="cpu")).save(place / "clip")
    run = load("matching", dataset="sample")
    texts = [turn.text for turn in run.prompt(run.records[0]).turns]
    return {"clip": str(place / "clip"), "ofa": tiny_ofa(place / "ofa", texts, max_position_embeddings=1024)}


@pytest.mark.slow
def test_inspect_decodes_each_picture_once_for_clip(
    tmp_path: Path, models: dict[str, str], decodes: list[int], distinct: int
) -> None:
    asked = ["-T", "dataset=sample", "-T", "setting=pixels", "--display", "none", "-M", "device=cpu"]
    commands.inspect("eval", "humor_tasks/matching", "--model", f"clip/{models['clip']}", *asked, cwd=tmp_path)
    assert len(decodes) == distinct


@pytest.mark.slow
def test_lm_eval_decodes_each_picture_once_for_ofa(
    tmp_path: Path, models: dict[str, str], decodes: list[int], distinct: int
) -> None:
    asked = ["--tasks", "nyc_matching_pixels_gen", "--model", "humor-ofa", "--device", "cpu", "--apply_chat_template"]
    asked += ["--model_args", f"pretrained={models['ofa']},max_len=5", "--metadata", "dataset=sample"]
    commands.lm_eval(*asked, cwd=tmp_path)
    assert len(decodes) == distinct
