"""Video: what a clip is, and a few of its frames as pictures.

Files are not trusted. A file is opened here, not by its name in FFmpeg, and read as the container its first bytes show
(MP4 or MOV, WebM or Matroska, AVI) and as nothing else: no playlist, no second file, no network. What reading costs is
bounded (MAX_BYTES and MAX_DECODED in `video_file.py`, MAX_PIXELS in `images.py`), whatever a file says of itself.
PyAV, the extra `video`, is imported only when a video is read. Every function may be called from several threads at
once.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humor_tasks.data.media.picture import MAX_PIXELS, Picture
from humor_tasks.data.media.video_file import opened
from humor_tasks.errors import BadInput, check_choice

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_COUNT = 256
MAX_WIDTH = 512
"""Of the frames that `frame_pictures` keeps."""
TALLEST = 4
"""Times the width: a strip of one column's width would fill memory."""
SCENE_PLACES = 64
HOWS = ("even", "scene")

_THUMBNAIL = (32, 18)


@dataclass(frozen=True)
class Video:
    """What a video is."""

    seconds: float
    """From the first frame coming on screen to the last one leaving it, by time stamps and not by the header."""
    fps: float | None
    """Frames a second on average, as the container says; None where it does not."""
    frames: int | None
    """How many, as the container says; None where it does not (WebM, Matroska)."""
    width: int
    """In square pixels, upright."""
    height: int
    has_audio: bool


@dataclass(frozen=True)
class Frame:
    """One frame of a video."""

    seconds: float
    """When it comes on screen, after the first frame of the video."""
    image: Image
    """RGB, upright, in square pixels."""


def probe(source: str | Path | bytes, where: str | None = None) -> Video:
    """What the video is; its first frame is decoded, and its last packets are read.

    source: a file's path, or its bytes. where: what messages call it; the path, unless given. BadInput when the file is
    missing, empty, too large, cut short, damaged at either end, of another kind, or without pictures.
    """
    return _measured(source, where or _name(source)).video


def sample_frames(
    source: str | Path | bytes,
    count: int = 8,
    how: str = "even",
    width: int | None = None,
    where: str | None = None,
) -> list[Frame]:
    """Exactly `count` frames of a video, in order of time.

    how:
        even: those on screen in the middle of each of `count` equal parts of the video.
        scene: those after the largest changes. The video is looked at in the middle of max(64, 4 count) equal parts.
            The change at a place is the mean absolute difference of its frame from that of the place before, over the
            pixels and the three colours of both reduced to 32 x 18. Returned are the first place's frame, which opens
            the first scene, and those of the count - 1 largest changes; of equal ones, the earlier.
    width: wider frames are scaled down to it, after turning them upright and making their pixels square; so are frames
        taller than four times this.

    A frame on screen at several of these times is returned for each of them: a video of fewer frames than `count`
    shows some twice, and `Frame.seconds` tells. That is the only way in which a frame repeats. Decoding starts at the
    last key frame before each wanted one; in AVI, which has no times to search by, and where a file cannot be
    searched, at its beginning, once.

    BadInput as in `probe`, where the data between a key frame and a wanted frame are damaged as far as the codec
    notices, where more than MAX_DECODED frames would have to be decoded (key frames hours apart), and for a count
    outside 1 to 256.
    """
    check_choice("how", how, HOWS)
    if not 1 <= count <= MAX_COUNT or (width is not None and width < 1):
        raise BadInput(f"{count} frames of width {width}: take 1 to {MAX_COUNT} frames, of width 1 or more.")
    where = where or _name(source)
    whole = _measured(source, where)
    times = whole.middles(count)
    if how == "scene":
        times = _changes(source, where, whole, count)
    return [
        Frame(float((time - whole.start) * whole.tick), _picture(frame, whole.aspect, width, where))
        for time, frame in _shown_at(source, where, times)
    ]


def frame_pictures(
    path: str | Path, count: int = 8, how: str = "even", width: int | None = MAX_WIDTH, where: str | None = None
) -> tuple[Picture, ...]:
    """`sample_frames` of a file as JPEG pictures, for models that take images.

    The pictures of the last 64 different calls are kept (a few megabytes each at most, at the usual width), so that a
    clip in several samples is decoded once. A file that was written since is read anew.
    """
    try:
        now = os.stat(path)
    except OSError as problem:
        raise BadInput(f"Video {where or path}: cannot be read ({problem.strerror}). Restore the file.") from None
    return _kept(str(path), count, how, width, where, (now.st_mtime_ns, now.st_size, now.st_ino))


@lru_cache(maxsize=64)
def _kept(
    path: str, count: int, how: str, width: int | None, where: str | None, version: tuple[int, ...]
) -> tuple[Picture, ...]:
    def encoded(frame: Frame) -> Picture:
        out = io.BytesIO()
        frame.image.save(out, "JPEG", quality=90)
        return Picture(f"{where or path} at {frame.seconds:.2f} s", None, out.getvalue)

    return tuple(encoded(frame) for frame in sample_frames(path, count, how, width, where))


# ---------------------------------------------------------------------------------------------------------- one file


@dataclass(frozen=True)
class _Whole:
    """A video from end to end; times are counted in ticks."""

    video: Video
    start: int
    end: int
    tick: Any
    aspect: Any

    def middles(self, count: int) -> list[int]:
        """The middles of `count` equal parts."""
        return [self.start + (2 * i + 1) * (self.end - self.start) // (2 * count) for i in range(count)]


def _measured(source: str | Path | bytes, where: str) -> _Whole:
    """Decodes one frame at the beginning and reads the packets after the last key frame: a header may say anything."""
    with opened(source, where) as clip:
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
        return _Whole(video, start, end, stream.time_base, aspect)


def _changes(source: str | Path | bytes, where: str, whole: _Whole, count: int) -> list[int]:
    """The times of the `count` frames that `sample_frames` returns for scenes."""
    from PIL import ImageChops, ImageStat

    places = whole.middles(max(SCENE_PLACES, 4 * count))
    changes, before = list[float](), None
    for _, frame in _shown_at(source, where, places):
        seen = frame.to_image(width=_THUMBNAIL[0], height=_THUMBNAIL[1], interpolation="AREA")
        changes.append(sum(ImageStat.Stat(ImageChops.difference(before, seen)).mean) if before else 0.0)
        before = seen
    largest = sorted(range(1, len(places)), key=lambda place: (-changes[place], place))[: count - 1]
    return [places[place] for place in sorted([0, *largest])]


def _shown_at(source: str | Path | bytes, where: str, times: list[int]) -> Iterator[tuple[int, Any]]:
    """For each of the ascending times the frame on screen then, with its own time. Two frames are held, no more."""
    with opened(source, where) as clip:
        keys = [clip.key_before(time) for time in times]
    with opened(source, where) as clip:  # anew: where nothing can be searched, this is the beginning
        yield from clip.shown_at(times, keys)


def _name(source: str | Path | bytes) -> str:
    return f"of {len(source):,} bytes" if isinstance(source, bytes) else str(source)


def _size(frame: Any, aspect: Any, where: str) -> tuple[int, int]:
    """Width and height in square pixels, before turning; one of them is what is stored, the other no smaller."""
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


def _picture(frame: Any, aspect: Any, width: int | None, where: str) -> Image:
    """The frame as it is meant to be seen."""
    from PIL import Image

    across, down = _size(frame, aspect, where)
    quarters = round(frame.rotation / 90) % 4
    wide, tall = (down, across) if quarters % 2 else (across, down)
    shrink = 1.0 if width is None else min(1.0, width / wide, TALLEST * width / tall)
    across, down = max(1, round(across * shrink)), max(1, round(down * shrink))
    image: Image.Image = frame.to_image(width=across, height=down, interpolation="AREA" if shrink < 1 else "BICUBIC")
    turns = (None, Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_270)
    turn = turns[quarters]
    return image if turn is None else image.transpose(turn)
