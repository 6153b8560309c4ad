"""Small videos whose every frame says its own number, as a bar code that survives compression."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image

KINDS = [
    ("mp4", "libx264", 3),
    ("mp4", "mpeg4", 2),
    ("mov", "libx264", 0),
    ("mov", "mjpeg", 0),
    ("matroska", "libx264", 3),
    ("webm", "libvpx-vp9", 0),
    ("webm", "libvpx", 0),
    ("avi", "mpeg4", 2),
    ("avi", "libx264", 3),
    ("avi", "mjpeg", 0),
]
"""Containers and codecs that are read, with the most B-frames of each."""
ROWS, COLUMNS = 4, 4  # 16 bits
SQUARE = 16


def numbered(number: int, size: tuple[int, int] = (COLUMNS * SQUARE, ROWS * SQUARE)) -> Image.Image:
    """A picture of `number`: its bits as white and black squares, the lowest bit first."""
    bits = [(number >> place) & 1 for place in range(ROWS * COLUMNS)]
    squares = np.array(bits, dtype=np.uint8).reshape(ROWS, COLUMNS) * 255
    return Image.fromarray(squares).resize(size, Image.Resampling.NEAREST).convert("RGB")


def number(image: Image.Image) -> int:
    """What `numbered` drew, from the middles of the squares."""
    width, height = image.size
    grey = image.convert("L")
    found = 0
    for place in range(ROWS * COLUMNS):
        row, column = divmod(place, COLUMNS)
        middle = (int((column + 0.5) * width / COLUMNS), int((row + 0.5) * height / ROWS))
        value = grey.getpixel(middle)
        assert isinstance(value, int)
        assert value < 90 or value > 165, f"a square of grey {value}"
        found |= (value > 127) << place
    return found


def clip(
    frames: int | Iterable[Image.Image],
    fps: int | Fraction = 10,
    *,
    times: Sequence[int] | None = None,
    kind: str = "mp4",
    codec: str = "libx264",
    gop: int = 12,
    b_frames: int = 0,
    tone: float = 0,
    rotation: int = 0,
    aspect: Fraction | None = None,
    mux: dict[str, str] | None = None,
    **options: str,
) -> bytes:
    """An encoded video of numbered frames, or of these pictures.

    times: when each frame is shown, in milliseconds, for a variable frame rate. tone: seconds of sound.
    """
    pictures = [numbered(i) for i in range(frames)] if isinstance(frames, int) else list(frames)
    # A file, not bytes: to put an MP4's index first, FFmpeg opens what it wrote once more.
    with tempfile.NamedTemporaryFile() as out, av.open(out.name, "w", format=kind, options=mux or {}) as container:
        stream: Any = container.add_stream(codec, rate=fps, options=_options(codec) | options)
        stream.width, stream.height = pictures[0].size if pictures else (64, 64)
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.codec_context.gop_size = gop
        stream.codec_context.max_b_frames = b_frames
        if aspect is not None:
            stream.sample_aspect_ratio = aspect
        if times is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        if rotation:
            stream.set_display_rotation(rotation)
        sound: Any = container.add_stream("aac", rate=22050, layout="mono") if tone else None
        for i, picture in enumerate(pictures):
            frame = av.VideoFrame.from_image(picture)
            frame.pts, frame.time_base = (times[i], Fraction(1, 1000)) if times is not None else (i, 1 / Fraction(fps))
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if sound is not None:
            _hum(container, sound, tone)
        container.close()
        return Path(out.name).read_bytes()


def _options(codec: str) -> dict[str, str]:
    # One thread and no scene cuts: the same bytes every time, and key frames where `gop` puts them.
    if codec == "libx264":
        return {"preset": "veryfast", "x264-params": "scenecut=0:threads=1:open-gop=0"}
    return {"cpu-used": "8", "deadline": "realtime"} if codec.startswith("libvpx") else {"threads": "1"}


def _hum(container: Any, stream: Any, seconds: float) -> None:
    rate, step = stream.codec_context.sample_rate, 1024
    for start in range(0, int(seconds * rate), step):
        wave = 0.1 * np.sin(2 * np.pi * 220 * np.arange(start, start + step) / rate)
        frame = av.AudioFrame.from_ndarray(wave[None].astype(np.float32), format="fltp", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = rate, start, Fraction(1, rate)
        container.mux(stream.encode(frame))
    container.mux(stream.encode(None))
