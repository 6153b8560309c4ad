"""Video clips of a dataset, loaded lazily: sent whole to models that take video, or as a few frames.

A `Clip` reads nothing until it is checked or a sample uses it. Frames are decoded by `frames`, which needs the extra
`video`.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Literal

from humor_tasks.errors import BadInput
from humor_tasks.rows.media.picture import Picture

MAX_BYTES = 256 * 2**20
"""Limit for a clip that is sent whole, because it is part of a request. Frames may come from larger files."""
Format = Literal["mp4", "mov"]
MIME: dict[Format, str] = {"mp4": "video/mp4", "mov": "video/quicktime"}


@dataclass(frozen=True)
class Clip:
    """One clip: its location, and how it is presented to a model."""

    where: str
    """Its name in messages and logs: the file's path relative to the dataset folder, and the row."""
    path: str | None
    """The file; None where the clip is stored inside a table."""
    read_bytes: Callable[[], bytes] = field(compare=False, repr=False)
    """Returns the encoded bytes, not validated."""
    frames: int = 0
    """The number of frames to present; 0 presents the whole clip."""
    sampling: str = "even"
    """How frames are chosen, "even" or "scene": see `humor_tasks.rows.media.frames.sample_frames`."""

    def read(self) -> bytes:
        """The validated, encoded bytes of a clip sent whole. Raises BadInput naming the clip and the remedy."""
        from humor_tasks.rows.media.frames import probe

        try:
            size = os.path.getsize(self.path) if self.path is not None else 0
            if size > MAX_BYTES:
                raise BadInput(f"Video {self.where}: {size:,} bytes; at most {MAX_BYTES:,} are sent whole.{_INSTEAD}")
            data = self.read_bytes()
        except OSError as problem:
            raise BadInput(f"Video {self.where}: cannot be read ({problem}). Restore the file.") from None
        probe(self.path or data, self.where)
        return data

    def check(self) -> None:
        """Raise BadInput naming the clip where it does not open or holds no video, by its header alone.

        Without the extra `video` only its presence is checked; who reads the clip is told what to install.
        """
        from humor_tasks.rows.media.frames import check_header

        source = self.path or self.read_bytes()
        if find_spec("av") is not None:
            check_header(source, self.where)

    def whole(self) -> tuple[str, Format]:
        """The clip as a `data:` URI, and its format, determined from the bytes and not from the file name."""
        data = self.read()
        kind = self._format(data)
        return f"data:{MIME[kind]};base64,{base64.b64encode(data).decode('ascii')}", kind

    def _format(self, data: bytes) -> Format:
        if data[4:8] == b"ftyp":
            return "mov" if data[8:10] == b"qt" else "mp4"
        raise BadInput(f"Video {self.where}: only {', '.join(MIME)} can be sent whole; convert it.{_INSTEAD}")

    def sha256(self) -> str:
        """The SHA-256 of the encoded bytes, in hex."""
        if self.path is None:
            return hashlib.sha256(self.read_bytes()).hexdigest()
        with open(self.path, "rb") as file:  # in chunks, because the file may be large
            return hashlib.file_digest(file, "sha256").hexdigest()

    def identity(self) -> str:
        """What identifies it in caches: the SHA-256."""
        return self.sha256()

    def pictures(self) -> tuple[Picture, ...]:
        """Exactly `frames` frames, in order of time. Raises BadInput for a clip that is not a file."""
        from humor_tasks.rows.media.frames import frame_pictures

        if self.path is None:
            raise BadInput(f"Video {self.where}: frames need a file; store clips as files in the dataset folder.")
        return frame_pictures(self.path, self.frames, self.sampling, where=self.where)


_INSTEAD = " Or use frames: input=frames."
