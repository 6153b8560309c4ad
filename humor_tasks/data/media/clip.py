"""Clips of a dataset, read late: shown whole to models that take video, or as a few of their frames.

A `Clip` costs nothing until a sample runs. Frames are decoded by `frames`, which needs the extra `video`.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from humor_tasks.data.media.picture import Picture
from humor_tasks.errors import BadInput

MAX_BYTES = 256 * 2**20
"""Of a clip that is shown whole: it travels inside a request. Frames may be of longer ones."""
Format = Literal["mp4", "mov"]
MIME: dict[Format, str] = {"mp4": "video/mp4", "mov": "video/quicktime"}


@dataclass(frozen=True)
class Clip:
    """One clip: where it is, and how it is shown."""

    where: str
    """For messages and logs: a file's path relative to the dataset folder, and its row."""
    path: str | None
    """The file, when the clip is a file of its own."""
    read_bytes: Callable[[], bytes] = field(compare=False, repr=False)
    """The encoded bytes, unchecked."""
    frames: int = 0
    """How many frames stand for it; 0 shows it whole."""
    sampling: str = "even"
    """Which: see `humor_tasks.data.media.frames.sample_frames`."""

    def read(self) -> bytes:
        """The encoded bytes of a clip to be shown whole, looked into; BadInput names it and the remedy."""
        from humor_tasks.data.media.frames import probe

        try:
            size = os.path.getsize(self.path) if self.path is not None else 0
            if size > MAX_BYTES:
                raise BadInput(f"Video {self.where}: {size:,} bytes; at most {MAX_BYTES:,} are shown whole.{_INSTEAD}")
            data = self.read_bytes()
        except OSError as problem:
            raise BadInput(f"Video {self.where}: cannot be read ({problem}). Restore the file.") from None
        probe(self.path or data, self.where)
        return data

    def whole(self) -> tuple[str, Format]:
        """The clip as a `data:` URI, and what its bytes are, whatever the file is called."""
        data = self.read()
        kind = self._format(data)
        return f"data:{MIME[kind]};base64,{base64.b64encode(data).decode('ascii')}", kind

    def _format(self, data: bytes) -> Format:
        if data[4:8] == b"ftyp":
            return "mov" if data[8:10] == b"qt" else "mp4"
        raise BadInput(f"Video {self.where}: only {', '.join(MIME)} can be shown whole; convert it.{_INSTEAD}")

    def sha256(self) -> str:
        """The SHA-256 of the encoded bytes, in hex."""
        if self.path is None:
            return hashlib.sha256(self.read_bytes()).hexdigest()
        with open(self.path, "rb") as file:  # which may be much larger than what is shown of it
            return hashlib.file_digest(file, "sha256").hexdigest()

    def pictures(self) -> tuple[Picture, ...]:
        """Exactly `frames` frames, in order of time."""
        from humor_tasks.data.media.frames import frame_pictures

        if self.path is None:
            raise BadInput(f"Video {self.where}: frames are taken of files; store clips as files beside the rows.")
        return frame_pictures(self.path, self.frames, self.sampling, where=self.where)


_INSTEAD = " Or show frames of it: input=frames."
