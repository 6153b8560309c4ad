"""Properties and sampled frames of video files.

Files are untrusted. They are opened here, not by FFmpeg by name, and parsed only as the container that their first
bytes show (MP4 or MOV, WebM or Matroska, AVI): no playlist, no second file, no network access. The cost of reading is
bounded (MAX_BYTES and MAX_DECODED in `video_file.py`, MAX_PIXELS in `picture.py`), whatever a file's header claims.
PyAV, the extra `video`, is imported only when a video is read. All functions are thread-safe.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.rows.media.picture import MAX_PIXELS, Picture
from humor_tasks.rows.media.pixels import shown
from humor_tasks.rows.media.video_file import open_video

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_COUNT = 256
MAX_WIDTH = 512
"""Default maximum width in pixels of the frames that `frame_pictures` returns."""
MAX_ASPECT = 4
"""Maximum height of a frame, in multiples of the maximum width; very narrow frames would otherwise fill memory."""
SCENE_TIMES = 64
"""Minimum number of times at which scene detection compares frames."""
SAMPLING = ("even", "scene")

_THUMBNAIL = (32, 18)


@dataclass(frozen=True)
class Video:
    """Properties of a video."""

    seconds: float
    """Duration from the start of the first frame to the end of the last one, by time stamps and not by the header."""
    fps: float | None
    """Mean frames per second from the container; None where it has none."""
    frames: int | None
    """Number of frames from the container; None where it has none (WebM, Matroska)."""
    width: int
    """In pixels, after rotation and with square pixels; so is the height."""
    height: int
    has_audio: bool


@dataclass(frozen=True)
class Frame:
    """One frame of a video."""

    seconds: float
    """Display time, from the first frame of the video."""
    image: Image
    """RGB, rotated upright, with square pixels, and transparent parts on white."""


def probe(source: str | Path | bytes, where: str | None = None) -> Video:
    """A video's properties. Decodes its first frame and reads its last packets.

    `source` is a file's path or its bytes; `where` is its name in messages (default: the path). Raises BadInput when
    the file is missing, empty, too large, truncated, damaged at either end, of another format, or without a video
    stream.
    """
    return _measure(source, where or _name(source)).video


def check_header(source: str | Path | bytes, where: str) -> None:
    """Raise BadInput where a video does not open, has no video stream, or is empty by its header.

    Nothing is decoded. A header without a duration, as of a stream, is accepted.
    """
    with open_video(source, where) as clip:
        durations = (clip.container.duration, clip.stream.duration)
        if any(duration is not None and duration <= 0 for duration in durations):
            raise BadInput(f"Video {where}: its duration is 0. Restore the file, or leave its row out.")


def sample_frames(
    source: str | Path | bytes,
    count: int = 8,
    how: str = "even",
    width: int | None = None,
    where: str | None = None,
) -> list[Frame]:
    """Exactly `count` frames of a video, in order of time.

    how:
        even: the frames displayed at the midpoints of `count` equal parts of the video.
        scene: the frames after the largest changes, with frames compared at the midpoints of max(64, 4 count) parts.
            The change at a time is the mean absolute difference from the frame at the previous time, over pixels and
            the three colour channels, both scaled to 32 x 18. Returned are the first frame, which begins the first
            scene, and those of the count - 1 largest changes; of equal changes, the earlier.
    width: wider frames are scaled down to it, after rotation and with square pixels; so are frames
        taller than four times this.

    A frame displayed at several of these times is returned for each of them: a video with fewer frames than `count` has
    repeated frames, visible by `Frame.seconds`. Frames repeat for no other reason. Decoding starts at the last key
    frame before each wanted frame. In AVI, which has no time index, and in files that cannot be seeked, decoding starts
    once at the beginning.

    Raises BadInput as `probe` does, where the codec detects damage between a key frame and a wanted frame, where more
    than MAX_DECODED frames would have to be decoded (key frames hours apart), and for a count outside 1 to 256.
    """
    check_choice("how", how, SAMPLING)
    if not 1 <= count <= MAX_COUNT or (width is not None and width < 1):
        raise BadInput(f"{count} frames of width {width}: take 1 to {MAX_COUNT} frames, of width 1 or more.")
    where = where or _name(source)
    measured = _measure(source, where)
    times = measured.midpoints(count)
    if how == "scene":
        times = _scene_times(source, where, measured, count)
    return [
        Frame(float((time - measured.start) * measured.tick), _picture(frame, measured, width, where))
        for time, frame in _frames_at(source, where, times)
    ]


def frame_pictures(
    path: str | Path, count: int = 8, how: str = "even", width: int | None = MAX_WIDTH, where: str | None = None
) -> tuple[Picture, ...]:
    """`sample_frames` of a file as JPEG pictures, for models that take images.

    The pictures of the last 64 different calls are cached (a few megabytes each at most, at the default width), so that
    a clip in several samples is decoded once. A file that has changed since is read again.
    """
    try:
        now = os.stat(path)
    except OSError as problem:
        raise BadInput(f"Video {where or path}: cannot be read ({problem.strerror}). Restore the file.") from None
    return _cached_pictures(str(path), count, how, width, where, (now.st_mtime_ns, now.st_size, now.st_ino))


@lru_cache(maxsize=64)
def _cached_pictures(
    path: str, count: int, how: str, width: int | None, where: str | None, version: tuple[int, ...]
) -> tuple[Picture, ...]:
    def encoded(frame: Frame) -> Picture:
        out = io.BytesIO()
        frame.image.save(out, "JPEG", quality=90)
        return Picture(f"{where or path} at {frame.seconds:.2f} s", None, out.getvalue)

    return tuple(encoded(frame) for frame in sample_frames(path, count, how, width, where))


# ---------------------------------------------------------------------------------------------------------- one file


@dataclass(frozen=True)
class _Measured:
    """A video's properties and its start and end time in ticks of `tick` seconds."""

    video: Video
    start: int
    end: int
    tick: Any
    aspect: Any
    clear: bool
    """Whether frames may have transparent parts. The fourth byte of AVI's raw pixels has no meaning."""

    def midpoints(self, count: int) -> list[int]:
        """The midpoints of `count` equal parts, in ticks."""
        return [self.start + (2 * i + 1) * (self.end - self.start) // (2 * count) for i in range(count)]


def _measure(source: str | Path | bytes, where: str) -> _Measured:
    """Decode the first frame and read the packets after the last key frame, because the header may be wrong."""
    with open_video(source, where) as clip:
        start, first = next(clip.frames(), (0, None))
        if first is None:
            raise BadInput(f"Video {where}: there is no frame in it. Restore the file, or leave its row out.")
        end = clip.end()
        stream, aspect = clip.stream, clip.stream.sample_aspect_ratio
        seconds = float((end - start) * stream.time_base)
        width, height = _size(first, aspect, where)
        if round(first.rotation / 90) % 2:  # as `_picture` turns it
            width, height = height, width
        rate = float(stream.average_rate) if stream.average_rate else None
        video = Video(seconds, rate, stream.frames or None, width, height, bool(clip.container.streams.audio))
        clear = clip.stream.codec_context.name != "rawvideo" and any(c.is_alpha for c in first.format.components)
        return _Measured(video, start, end, stream.time_base, aspect, clear)


def _scene_times(source: str | Path | bytes, where: str, measured: _Measured, count: int) -> list[int]:
    """The times of the `count` frames that `sample_frames` returns for "scene"."""
    from PIL import ImageChops, ImageStat

    times = measured.midpoints(max(SCENE_TIMES, 4 * count))
    changes, before = list[float](), None
    for _, frame in _frames_at(source, where, times):
        thumbnail = frame.to_image(width=_THUMBNAIL[0], height=_THUMBNAIL[1], interpolation="AREA")
        changes.append(sum(ImageStat.Stat(ImageChops.difference(before, thumbnail)).mean) if before else 0.0)
        before = thumbnail
    largest = sorted(range(1, len(times)), key=lambda place: (-changes[place], place))[: count - 1]
    return [times[place] for place in sorted([0, *largest])]


def _frames_at(source: str | Path | bytes, where: str, times: list[int]) -> Iterator[tuple[int, Any]]:
    """For each of the ascending times, the frame displayed then and its time. At most two frames are in memory."""
    with open_video(source, where) as clip:
        keys = [clip.key_before(time) for time in times]
    with open_video(source, where) as clip:  # reopened: a file that cannot be seeked is then at its beginning
        yield from clip.frames_at(times, keys)


def _name(source: str | Path | bytes) -> str:
    return f"of {len(source):,} bytes" if isinstance(source, bytes) else str(source)


def _size(frame: Any, aspect: Any, where: str) -> tuple[int, int]:
    """Width and height with square pixels, before rotation; one is the stored size, the other is not smaller than
    stored.
    """
    width, height, wide = frame.width, frame.height, float(aspect or 1)
    if wide >= 1:
        width = round(width * wide)
    else:
        height = round(height / wide)
    if width * height > MAX_PIXELS:
        raise BadInput(
            f"Video {where}: frames of {width} x {height} pixels once pixels are square; at most {MAX_PIXELS:,} are "
            "read. Scale it down."
        )
    return width, height


def _picture(frame: Any, measured: _Measured, width: int | None, where: str) -> Image:
    from PIL import Image

    across, down = _size(frame, measured.aspect, where)
    quarters = round(frame.rotation / 90) % 4
    wide, tall = (down, across) if quarters % 2 else (across, down)
    shrink = 1.0 if width is None else min(1.0, width / wide, MAX_ASPECT * width / tall)
    across, down = max(1, round(across * shrink)), max(1, round(down * shrink))
    how = {"width": across, "height": down, "interpolation": "AREA" if shrink < 1 else "BICUBIC"}
    image: Image.Image = _on_white(frame.reformat(format="rgba", **how)) if measured.clear else frame.to_image(**how)
    turns = (None, Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_270)
    turn = turns[quarters]
    return image if turn is None else image.transpose(turn)


def _on_white(frame: Any) -> Image:
    """An RGBA frame, as pictures are shown."""
    from PIL import Image

    plane = frame.planes[0]
    upside_down = -1 if plane.line_size < 0 else 1
    how = ("raw", "RGBA", abs(plane.line_size), upside_down)
    return shown(Image.frombytes("RGBA", (plane.width, plane.height), bytes(plane), *how)).image
