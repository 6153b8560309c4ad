"""The clips of the MOCK sample: what `clips.json` says, drawn; and the frames taken of them are the right ones."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image, ImageChops, ImageStat
from standins.mock_clips import ABOUT, CLIPS, FOLDER, middles, read_number, script

from humor_tasks.rows.media.frames import frame_pictures, probe, sample_frames


@pytest.mark.parametrize("file", CLIPS)
def test_a_clip_is_as_long_as_it_says_and_small(file: str) -> None:
    path, facts = FOLDER / "clips" / file, probe(FOLDER / "clips" / file)
    assert (facts.seconds, facts.fps) == (CLIPS[file]["seconds"], ABOUT["fps"])
    assert (facts.width, facts.height, facts.has_audio) == (ABOUT["width"], ABOUT["height"], True)
    data = path.read_bytes()
    assert len(data) < 150_000
    assert data.index(b"moov") < data.index(b"mdat")  # it plays before it is all there


def test_every_clip_is_there_and_no_other() -> None:
    assert sorted(path.name for path in (FOLDER / "clips").glob("*.mp4")) == sorted(CLIPS)


@pytest.mark.slow
@pytest.mark.parametrize("file", CLIPS)
def test_frames_are_the_numbered_ones(file: str) -> None:
    expected = middles(file, 8)
    even = sample_frames(FOLDER / "clips" / file, 8)
    assert [read_number(frame.image) for frame in even] == expected
    assert [frame.seconds for frame in even] == pytest.approx([n / ABOUT["fps"] for n in expected])
    pictures = frame_pictures(FOLDER / "clips" / file, 8)
    assert [read_number(picture.open()) for picture in pictures] == expected


@pytest.mark.slow
@pytest.mark.parametrize("file", CLIPS)
def test_scenes_show_every_turn(file: str) -> None:
    """The largest changes are those of who speaks: the subtitle and the bubble."""
    turns = CLIPS[file]["turns"]
    frames = sample_frames(FOLDER / "clips" / file, len(turns), "scene")
    shown = [next(i for i, turn in enumerate(turns) if turn["start"] <= f.seconds < turn["end"]) for f in frames]
    assert shown == list(range(len(turns)))


@pytest.mark.parametrize("file", CLIPS)
def test_clips_are_what_the_script_draws(file: str) -> None:
    with av.open(str(FOLDER / "clips" / file)) as container:
        for i, frame in enumerate(container.decode(video=0)):
            if i % 7 == 0:
                assert far(frame.to_image(), script().frame(ABOUT, CLIPS[file], i)) < 7


def far(a: Image.Image, b: Image.Image) -> float:
    """The root mean square difference, of 255."""
    return max(ImageStat.Stat(ImageChops.difference(a, b)).rms)


def test_the_punchline_is_not_told() -> None:
    for clip in CLIPS.values():
        told: list[Any] = [turn["text"] for turn in clip["turns"]]
        assert told[-1] is None
        assert all(told[:-1])
        last = script().frame(ABOUT, clip, int(clip["turns"][-1]["start"] * ABOUT["fps"]) + 3)
        foot = last.crop((0, ABOUT["height"] - 20, ABOUT["width"], ABOUT["height"]))
        assert foot.getcolors() is not None
        assert len(foot.getcolors()) <= 3  # the floor, and no letters


@pytest.mark.slow
def test_the_same_versions_draw_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.mp4", "b.mp4"):
        script().encode(ABOUT, ABOUT["clips"][1], tmp_path / name)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()
    assert b"Lavf" not in (tmp_path / "a.mp4").read_bytes()
    with av.open(io.BytesIO((tmp_path / "a.mp4").read_bytes())) as container:
        assert container.streams.video[0].codec_context.pix_fmt == "yuv420p"
