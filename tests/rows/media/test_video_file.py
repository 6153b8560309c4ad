"""Video: the right frames of every kind of file, at a bounded cost, and a clear word about the others."""

from __future__ import annotations

import io
import struct
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import av
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageStat
from standins.clips import KINDS, clip, number, numbered

from humor_tasks.errors import BadInput
from humor_tasks.rows.media import video_file
from humor_tasks.rows.media.frames import Frame, Video, frame_pictures, probe, sample_frames

made = lru_cache(maxsize=None)(clip)  # each video is encoded once


def numbers_of(frames: list[Frame]) -> list[int]:
    return [number(frame.image) for frame in frames]


def shown_naively(data: bytes, times: list[Fraction]) -> list[int]:
    """Decodes everything: the number of the last frame whose time, from the first one's, is not after each time."""
    with av.open(io.BytesIO(data)) as container:
        stream = container.streams.video[0]
        every = [(frame.pts * stream.time_base, number(frame.to_image())) for frame in container.decode(stream)]
    first = every[0][0]
    return [[n for at, n in every if at - first <= time][-1] for time in times]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "codec", "b_frames", "gop"),
    [(*kind, 7) for kind in KINDS]
    + [("mp4", "libx264", 0, 1), ("mp4", "libx264", 3, 250), ("webm", "libvpx-vp9", 0, 250), ("avi", "mpeg4", 2, 250)],
)
def test_the_frames_in_the_middle_of_equal_parts(kind: str, codec: str, b_frames: int, gop: int) -> None:
    data = made(31, kind=kind, codec=codec, gop=gop, b_frames=b_frames)
    for count in (1, 2, 8, 31, 50):
        frames = sample_frames(data, count)
        assert numbers_of(frames) == [(2 * i + 1) * 31 // (2 * count) for i in range(count)]
        assert [frame.seconds for frame in frames] == pytest.approx([n / 10 for n in numbers_of(frames)], abs=1e-3)


@settings(max_examples=12)
@given(
    total=st.integers(1, 50),
    count=st.integers(1, 12),
    fps=st.sampled_from([1, 10, 24, Fraction(30000, 1001), 60]),
    gop=st.sampled_from([1, 5, 12, 250]),
    b_frames=st.integers(0, 3),
)
def test_any_length_count_and_rate(total: int, count: int, fps: int | Fraction, gop: int, b_frames: int) -> None:
    data = clip(total, fps, gop=gop, b_frames=b_frames)
    length = total / Fraction(fps)
    middles = [Fraction(2 * i + 1, 2 * count) * length for i in range(count)]
    # A middle between two frames' times is not the header's rounding to decide.
    tick = Fraction(1, 9000)
    lows, highs = (shown_naively(data, [max(Fraction(0), m + shift) for m in middles]) for shift in (-tick, tick))
    found = numbers_of(sample_frames(data, count))
    assert all(low <= n <= high for low, n, high in zip(lows, found, highs, strict=True))
    assert probe(data).seconds == pytest.approx(float(length), abs=1e-3)


@pytest.mark.parametrize("kind", ["mp4", "matroska"])
@pytest.mark.parametrize("b_frames", [0, 2])
def test_a_variable_frame_rate(kind: str, b_frames: int) -> None:
    # Five frames: two at once, a pause, two at once, a long pause. The last is on screen for one tenth.
    data = clip(5, kind=kind, times=[0, 100, 1000, 1100, 5000], b_frames=b_frames)
    assert probe(data).seconds == pytest.approx(5.1, abs=0.01)
    frames = sample_frames(data, 6)  # middles at 0.425, 1.275, 2.125, 2.975, 3.825, 4.675 seconds
    assert numbers_of(frames) == [1, 3, 3, 3, 3, 3]
    assert [frame.seconds for frame in frames] == pytest.approx([0.1, *[1.1] * 5], abs=0.001)
    assert set(numbers_of(sample_frames(data, 60))) == {0, 1, 2, 3, 4}


def test_scenes() -> None:
    cuts = [0, 13, 20, 47, 52]
    colours = ["black", "white", "navy", "yellow", "black"]
    shades = [colours[sum(cut <= i for cut in cuts) - 1] for i in range(60)]
    pictures = [shaded(i, shade) for i, shade in enumerate(shades)]
    frames = sample_frames(clip(pictures, gop=250, b_frames=2), 5, "scene")
    assert [read_mark(frame.image) for frame in frames] == cuts
    # The largest change first: from white to navy it is 0.84 of the whole, from yellow to black 0.67.
    two = sample_frames(clip(pictures), 2, "scene")
    assert [read_mark(frame.image) for frame in two] == [0, 13]


def shaded(i: int, shade: str) -> Image.Image:
    """A picture in one colour with a small bar code in its corner."""
    picture = Image.new("RGB", (256, 144), shade)
    picture.paste(numbered(i, (32, 32)), (0, 0))
    return picture


def read_mark(image: Image.Image) -> int:
    return number(image.crop((0, 0, 32, 32)))


def test_scenes_are_chosen_as_said() -> None:
    data = made(64, gop=250)  # as many frames as places to look at: every frame is one
    thumbnails = [numbered(i).resize((32, 18), Image.Resampling.BOX) for i in range(64)]
    change = [0.0] + [sum(ImageStat.Stat(ImageChops.difference(a, b)).mean) for a, b in pairwise(thumbnails)]
    # Bit patterns differ by 1 to 6 squares of equal size: ties, which go to the earlier.
    steps = [bin(i ^ (i - 1)).count("1") if i else 0 for i in range(64)]
    assert sorted(range(64), key=lambda i: -steps[i])[:4] == [32, 16, 48, 8]
    assert change.index(max(change)) == 32
    assert numbers_of(sample_frames(data, 4, "scene")) == [0, 16, 32, 48]
    assert sample_frames(data, 4, "scene")[1].seconds == pytest.approx(1.6)


def test_what_a_video_is(tmp_path: Path) -> None:
    file = tmp_path / "clip.mp4"
    file.write_bytes(clip(25, 25, tone=1))
    assert probe(file) == Video(pytest.approx(1.0), 25.0, 25, 64, 64, True)  # type: ignore[arg-type]
    assert probe(str(file)) == probe(file.read_bytes()) == probe(file)
    assert probe(made(10, kind="matroska")) == Video(1.0, 10.0, None, 64, 64, False)


@pytest.mark.parametrize("rotation", [0, 90, 180, -90])
@pytest.mark.parametrize("width", [None, 40, 500])
def test_frames_are_upright(rotation: int, width: int | None) -> None:
    picture = Image.new("RGB", (80, 48), "white")
    picture.paste("red", (0, 0, 40, 24))  # top left, as stored
    data = clip([picture] * 3, rotation=rotation)
    (frame,) = sample_frames(data, 1, width=width)
    # The rotation says how far to turn the stored picture anticlockwise.
    expected = picture.rotate(rotation, expand=True)
    facts = probe(data)
    assert (facts.width, facts.height) == expected.size
    if width == 40:
        expected = expected.resize((40, 40 * expected.height // expected.width))
    assert frame.image.size == pytest.approx(expected.size, abs=1)
    across, down = frame.image.size
    for x, y in ((0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)):
        seen = frame.image.getpixel((int(x * across), int(y * down)))
        want = expected.getpixel((int(x * expected.width), int(y * expected.height)))
        assert seen == pytest.approx(want, abs=25)


@pytest.mark.parametrize(
    ("kind", "codec", "stored"), [("mov", "qtrle", "argb"), ("mov", "png", "rgba"), ("avi", "rawvideo", "bgra")]
)
def test_transparent_parts_are_on_white(kind: str, codec: str, stored: str) -> None:
    picture = Image.new("RGBA", (64, 48))
    picture.paste((200, 30, 30, 255), (10, 10, 40, 40))
    out = io.BytesIO()
    with av.open(out, "w", format=kind) as container:
        stream = container.add_stream(codec, rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 48, stored
        frame = av.VideoFrame.from_bytes(picture.tobytes(), 64, 48, "rgba")
        container.mux([*stream.encode(frame.reformat(format=stored)), *stream.encode(None)])
    image = sample_frames(out.getvalue(), 1)[0].image
    clear = (0, 0, 0) if kind == "avi" else (255, 255, 255)  # the fourth byte of AVI's raw pixels has no meaning
    assert (image.mode, image.getpixel((20, 20)), image.getpixel((2, 2))) == ("RGB", (200, 30, 30), clear)


@pytest.mark.parametrize(("a", "b"), [(0xF000, 0x3000), (0x3000, 0xF000)])  # the first row of the matrix, in 65,536ths
def test_a_slant_is_the_nearest_quarter(a: int, b: int) -> None:
    data = bytearray(clip([Image.new("RGB", (80, 48))] * 3))
    struct.pack_into(">iiiii", data, data.index(b"tkhd") + 44, a, b, 0, -b, a)
    facts, (frame,) = probe(bytes(data)), sample_frames(bytes(data), 1)
    assert (facts.width > facts.height) == (frame.image.width > frame.image.height) == (a > b)


@pytest.mark.parametrize(("aspect", "size"), [(Fraction(2), (128, 64)), (Fraction(1, 2), (64, 128)), (None, (64, 64))])
def test_pixels_are_made_square(aspect: Fraction | None, size: tuple[int, int]) -> None:
    data = clip(5, aspect=aspect)
    (frame,) = sample_frames(data, 1)
    assert frame.image.size == (probe(data).width, probe(data).height) == size
    assert number(frame.image) == 2
    (small,) = sample_frames(data, 1, width=size[0] // 2)
    assert small.image.size == (size[0] // 2, size[1] // 2)


def test_sound_longer_than_the_pictures_is_no_length_of_theirs() -> None:
    for kind in ("mp4", "matroska"):
        data = clip(10, kind=kind, tone=4)
        assert probe(data).seconds == pytest.approx(1.0, abs=0.01)
        assert numbers_of(sample_frames(data, 5)) == [1, 3, 5, 7, 9]


@pytest.mark.parametrize(
    ("kind", "mux"),
    [
        ("webm", {"live": "1"}),  # as a browser records: no length, no index
        ("matroska", {"live": "1"}),
        ("mp4", {"movflags": "frag_keyframe+empty_moov"}),
        ("mp4", {"movflags": "+faststart"}),
    ],
)
def test_files_written_while_recording(kind: str, mux: dict[str, str]) -> None:
    codec = "libvpx" if kind == "webm" else "libx264"
    data = clip(60, kind=kind, codec=codec, mux=mux)
    assert probe(data).seconds == pytest.approx(6.0)
    assert numbers_of(sample_frames(data, 8)) == [(2 * i + 1) * 60 // 16 for i in range(8)]


def test_open_groups_of_pictures() -> None:
    """Frames shown before a key frame but decoded after it need the group before."""
    data = clip(97, gop=24, b_frames=3, **{"x264-params": "scenecut=0:threads=1:open-gop=1:b-adapt=0"})
    assert numbers_of(sample_frames(data, 97)) == list(range(97))
    for count in (7, 8, 9, 10, 11):
        assert numbers_of(sample_frames(data, count)) == [(2 * i + 1) * 97 // (2 * count) for i in range(count)]


# ------------------------------------------------------------------------------------------------------ bounded work


def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many frames each opening of a file decoded, filled in while frames are sampled."""
    counts: list[int] = []
    frames = video_file.OpenVideo.frames

    def counted(self: video_file.OpenVideo):  # type: ignore[no-untyped-def]
        counts.append(0)
        mine = len(counts) - 1
        for found in frames(self):
            counts[mine] += 1
            yield found

    monkeypatch.setattr(video_file.OpenVideo, "frames", counted)
    return counts


@pytest.mark.slow
def test_twenty_minutes_of_video(monkeypatch: pytest.MonkeyPatch) -> None:
    long = clip((numbered(i, (64, 64)) for i in range(1200)), 1, gop=40, preset="ultrafast")
    counts = decoded(monkeypatch)
    assert probe(long).seconds == 1200
    assert sum(counts) == 1
    counts.clear()
    assert numbers_of(sample_frames(long, 8)) == [75 + 150 * i for i in range(8)]
    # At most the group of pictures of each wanted frame, the frame after it, and the first frame of all.
    assert sum(counts) <= 8 * 41 + 1
    counts.clear()
    assert len(sample_frames(long, 8, "scene")) == 8
    assert sum(counts) <= (64 + 8) * 41 + 1
    monkeypatch.setattr(video_file, "MAX_DECODED", 50)
    with pytest.raises(BadInput, match=r"more than 50 frames would have to be decoded.*one every 10 seconds"):
        sample_frames(long, 8)


def test_frames_of_one_group_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = decoded(monkeypatch)
    sample_frames(made(61, gop=250), 8)
    assert sum(counts) <= 1 + 61


def test_memory_is_that_of_the_wanted_frames() -> None:
    """Python's memory, which holds the pictures; what the decoder holds does not grow with the length."""
    data = clip((numbered(i, (320, 240)) for i in range(300)), gop=50)
    sample_frames(data, 2)
    tracemalloc.start()
    frames = sample_frames(data, 4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    one = 320 * 240 * 3
    assert numbers_of(frames) == [37, 112, 187, 262]
    assert peak < (4 + 3) * one + len(data)


def test_two_threads_at_once(tmp_path: Path) -> None:
    file = tmp_path / "clip.mp4"
    file.write_bytes(made(61, gop=7, b_frames=3))
    with ThreadPoolExecutor(8) as pool:
        counts = [1, 5, 8, 13] * 8
        found = list(pool.map(lambda count: numbers_of(sample_frames(file, count)), counts))
    assert found == [[(2 * i + 1) * 61 // (2 * count) for i in range(count)] for count in counts]


# -------------------------------------------------------------------------------------------------- pictures, kept


def test_pictures_of_a_clip_are_kept_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "clip.mp4"
    file.write_bytes(clip(20))
    counts = decoded(monkeypatch)
    first = frame_pictures(file, 4)
    assert [number(one.open().convert("RGB")) for one in first] == [2, 7, 12, 17]
    assert [one.mime() for one in first] == ["image/jpeg"] * 4
    assert first[1].where == f"{file} at 0.70 s"
    spent = list(counts)
    assert frame_pictures(str(file), 4) is first
    assert counts == spent
    assert [number(one.open().convert("RGB")) for one in frame_pictures(file, 2, where="c.mp4")] == [5, 15]
    file.write_bytes(clip(40))
    assert [number(one.open().convert("RGB")) for one in frame_pictures(file, 4)] == [5, 15, 25, 35]


def test_pictures_are_no_wider_than_asked(tmp_path: Path) -> None:
    file = tmp_path / "wide.mp4"
    file.write_bytes(clip([numbered(1, (640, 320))] * 3))
    assert frame_pictures(file, 1)[0].open().size == (512, 256)
    assert frame_pictures(file, 1, width=None)[0].open().size == (640, 320)
    assert frame_pictures(file, 1, width=100)[0].open().size == (100, 50)
    file.write_bytes(clip([numbered(1, (64, 640))] * 3))
    assert frame_pictures(file, 1, width=80)[0].open().size == (32, 320)
    assert frame_pictures(file, 1, width=160)[0].open().size == (64, 640)


def test_no_kept_pictures_of_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gone.mp4: cannot be read \(No such file or directory\)"):
        frame_pictures(tmp_path / "gone.mp4")
