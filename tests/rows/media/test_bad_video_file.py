"""What is no video, or a damaged, cut or too large one: named in one line, and nothing else is read."""

from __future__ import annotations

import contextlib
import io
import struct
import sys
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import av
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from standins.clips import KINDS, clip, number, numbered

from humor_tasks.errors import BadInput
from humor_tasks.rows.media import frames as video
from humor_tasks.rows.media import video_file
from humor_tasks.rows.media.frames import probe, sample_frames

made = lru_cache(maxsize=None)(clip)  # each video is encoded once


def png() -> bytes:
    out = io.BytesIO()
    numbered(1).save(out, "PNG")
    return out.getvalue()


def only_sound(kind: str) -> bytes:
    out = io.BytesIO()
    with av.open(out, "w", format=kind) as container:
        stream = container.add_stream("aac", rate=22050, layout="mono")
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        frame.planes[0].update(bytes(4096))
        frame.sample_rate, frame.pts = 22050, 0
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


def without_frames() -> bytes:
    """The header of a video that was about to be recorded."""
    data = clip(10, mux={"movflags": "frag_keyframe+empty_moov"})
    return data[: data.index(b"moof") - 4]


def cut(data: bytes, share: float) -> bytes:
    return data[: int(len(data) * share)]


FAST = {"mux": {"movflags": "+faststart"}}
NOISE = [Image.effect_noise((64, 64), 90).convert("RGB") for _ in range(40)]
BAD = {
    "no bytes": (lambda: b"", "there are no bytes"),
    "text": (lambda: b"This is a story about a cat.\n" * 9, r"not a video.*it begins b'This is a st'"),
    "a Git LFS pointer": (lambda: b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer; run `git lfs"),
    "a picture": (png, r"not a video.*PNG.*Use MP4 or MOV, WebM or Matroska, AVI\."),
    "a playlist": (lambda: b"#EXTM3U\n#EXT-X-VERSION:3\nfile:///etc/passwd\n", "not a video"),
    "only sound": (lambda: only_sound("mp4"), "it has no video stream, only audio"),
    "no frame": (without_frames, "there is no frame in it"),
    "header only": (lambda: b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", "cut short or damaged"),
    "half an mp4": (lambda: cut(clip(NOISE), 0.5), "cut short or damaged"),
    "half an mp4 with its index first": (lambda: cut(clip(NOISE, **FAST), 0.5), "cut short"),
    "half a Matroska": (lambda: cut(clip(NOISE, kind="matroska"), 0.5), "cut short"),
    "half an AVI": (lambda: cut(clip(NOISE, kind="avi", codec="mpeg4"), 0.5), "cut short"),
    "all but the last bytes": (lambda: cut(clip(NOISE, **FAST), 0.99), "cut short"),
    "three quarters, long groups": (lambda: cut(clip(NOISE, gop=250, **FAST), 0.75), "cut short"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_input(bad: str, tmp_path: Path) -> None:
    make, message = BAD[bad]
    file = tmp_path / "clip.mp4"
    file.write_bytes(make())
    for read in (probe, sample_frames, lambda source: sample_frames(source, 3, "scene")):
        with pytest.raises(BadInput, match=message) as said:
            read(file)
        assert f"Video {file}:" in str(said.value)
        with pytest.raises(BadInput, match=f"Video row 7: .*({message})"):
            sample_frames(file.read_bytes(), where="row 7")


@pytest.mark.parametrize("name", ["gone.mp4", ".", "http://127.0.0.1:9/clip.mp4", "concat:a.mp4|b.mp4", "/dev/zero"])
def test_what_is_no_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"there is no such file. Restore it, or correct the row"):
        probe(name)


@pytest.mark.parametrize(("codec", "kind"), [("libx264", "mp4"), ("mpeg4", "mp4"), ("mpeg4", "avi")])
def test_damage_in_the_middle_is_said(codec: str, kind: str) -> None:
    pictures = [Image.effect_noise((160, 120), 90).convert("RGB") for _ in range(40)]
    data = bytearray(clip(pictures, codec=codec, kind=kind, gop=10))
    middle = len(data) // 2
    data[middle : middle + len(data) // 20] = bytes(len(data) // 20)
    with pytest.raises(BadInput, match="damaged"):
        sample_frames(bytes(data), 40)


def elsewhere(data: bytes, path: Path) -> bytes:
    """A QuickTime film that says that its pictures are in another file, and holds none itself."""
    record = bytes(10) + b"\x01" + b"x".ljust(27, b"\0") + bytes(12) + b"\x01x".ljust(64, b"\0") + bytes(16)
    record += struct.pack(">hh16x", 0, 1) + struct.pack(">hh", 2, len(bytes(path))) + bytes(path)
    record += bytes(len(bytes(path)) % 2)  # texts of an alias record have an even length
    record += struct.pack(">hh", -1, 0)
    other, own = struct.pack(">I4sI", 12 + len(record), b"alis", 0) + record, struct.pack(">I4sI", 12, b"url ", 1)
    for name in (b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"):
        place = data.index(name) - 4
        (size,) = struct.unpack(">I", data[place : place + 4])
        data = data[:place] + struct.pack(">I", size + len(other) - len(own)) + data[place + 4 :]
    data = data.replace(own, other)
    at = data.index(b"mdat")
    (size,) = struct.unpack(">I", data[at - 4 : at])
    return data[: at + 4] + bytes(size - 8) + data[at + size - 4 :]


def test_a_reference_to_another_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other.mp4").write_bytes(clip(10))
    file = tmp_path / "clip.mov"
    file.write_bytes(elsewhere(clip(10), tmp_path / "other.mp4"))
    follow = {"enable_drefs": "1", "use_absolute_path": "1"}
    with av.open(str(file), options=follow) as container:  # the reference is one that can be followed
        assert [number(frame.to_image()) for frame in container.decode(video=0)] == list(range(10))
    with pytest.raises(BadInput, match=r"clip.mov: .*(no frame|damaged)"):
        sample_frames(file)


@settings(max_examples=25)
@given(
    st.sampled_from(KINDS),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=40),
    st.floats(0.1, 1),
)
def test_damage_anywhere_is_read_or_said(
    kind: tuple[str, str, int], damage: list[tuple[float, int]], share: float
) -> None:
    data = bytearray(made(31, kind=kind[0], codec=kind[1], gop=7, b_frames=kind[2]))
    for place, value in damage:
        data[int(place * len(data))] = value
    with contextlib.suppress(BadInput):
        frames = sample_frames(cut(bytes(data), share), 4, "scene")
        assert len(frames) == 4
        assert {frame.image.mode for frame in frames} == {"RGB"}


@pytest.mark.parametrize("how", ["random", "EVEN", ""])
def test_another_way_of_sampling(how: str) -> None:
    with pytest.raises(BadInput, match="how: there is no"):
        sample_frames(made(61), 8, how)


@pytest.mark.parametrize(("count", "width"), [(0, None), (-1, None), (257, None), (8, 0)])
def test_counts_and_widths_out_of_range(count: int, width: int | None) -> None:
    with pytest.raises(BadInput, match=r"take 1 to 256 frames, of width 1 or more"):
        sample_frames(made(61), count, width=width)


def test_pixels_too_many_once_they_are_square(monkeypatch: pytest.MonkeyPatch) -> None:
    data = clip(3, aspect=Fraction(2))
    monkeypatch.setattr(video, "MAX_PIXELS", 64 * 64)
    with pytest.raises(BadInput, match=r"Video row 7: frames of 128 x 64 pixels once pixels are square; at most 4,096"):
        sample_frames(data, where="row 7")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(BadInput, match=r"pip install 'humor-tasks\[video\]'"):
        probe(b"anything")


def test_a_file_too_large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "long.mp4"
    with file.open("wb") as sparse:
        sparse.truncate(video_file.MAX_BYTES + 1)
    with pytest.raises(BadInput, match=r"long.mp4: 4,294,967,297 bytes; at most 4,294,967,296 are read"):
        probe(file)
    monkeypatch.setattr(video_file, "MAX_PIXELS", 64 * 64 - 1)
    with pytest.raises(BadInput, match=r"frames of 64 x 64 pixels; at most 4,095 are read"):
        probe(made(61))
