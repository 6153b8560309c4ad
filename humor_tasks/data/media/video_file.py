"""A video file that is not trusted: opened, searched and decoded at a bounded cost. `video.py` says what it is for."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from humor_tasks.data.media.picture import MAX_PIXELS
from humor_tasks.errors import BadInput

MAX_BYTES = 4 * 2**30
MAX_DECODED = 30_000
"""Frames decoded for one call, and once more to find the scenes. Eight frames of a usual film need about 1,000."""

_KINDS = {
    "mov": "MP4 or MOV",
    "matroska": "WebM or Matroska",
    "avi": "AVI",
}
_MOV_ATOMS = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
_SLACK = 0.5, 0.02  # seconds, and share of the length, by which a whole file may end before its header says
_NEVER, _LATEST = 2**63, 2**62


def check_installed() -> None:
    """BadInput where the extra `video` is not there."""
    try:
        import av  # noqa: F401
    except ImportError as problem:
        raise BadInput(f"video needs the extra 'video': pip install 'humor-tasks[video]' ({problem}).") from None


@contextlib.contextmanager
def opened(source: str | Path | bytes, where: str) -> Iterator[Clip]:
    """The video, open; BadInput where that fails, now or while it is read. `where` is what messages call it."""
    check_installed()
    import av

    try:
        with contextlib.ExitStack() as open_now:
            file = open_now.enter_context(_file(source, where))
            kind = _kind(file, where)
            container = av.open(file, "r", format=kind, io_open=_no_second_file, metadata_errors="replace")
            yield Clip(open_now.enter_context(container), kind, where)
    except (av.FFmpegError, OSError) as problem:
        raise BadInput(
            f"Video {where}: cut short or damaged ({problem.strerror or problem}). Restore the file."
        ) from problem


def _file(source: str | Path | bytes, where: str) -> Any:
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise BadInput(f"Video {where}: there is no such file. Restore it, or correct the row.")
    size = len(source) if isinstance(source, bytes) else Path(source).stat().st_size
    if not size:
        raise BadInput(f"Video {where}: there are no bytes. Restore the file, or leave its row out.")
    if size > MAX_BYTES:
        raise BadInput(f"Video {where}: {size:,} bytes; at most {MAX_BYTES:,} are read. Cut it or scale it down.")
    return io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb")


def _kind(file: Any, where: str) -> str:
    """FFmpeg's name of the container, from the first bytes."""
    head = file.read(32)
    file.seek(0)
    if head[4:8] in _MOV_ATOMS:
        return "mov"
    if head.startswith(b"\x1aE\xdf\xa3"):
        return "matroska"
    if head.startswith(b"RIFF") and head[8:12] == b"AVI ":
        return "avi"
    found = f"it begins {head[:12]!r}"
    if head.startswith(b"version https://git-lfs"):
        found = "it is a Git LFS pointer; run `git lfs pull` in the folder"
    raise BadInput(f"Video {where}: not a video this package reads; {found}. Use {', '.join(_KINDS.values())}.")


def _no_second_file(name: str, *_: Any) -> Any:
    raise OSError(f"it names another file, {name!r}")


class Clip:
    """An open video."""

    def __init__(self, container: Any, kind: str, where: str) -> None:
        import av

        self.container, self.where, self.avi, self.decoded = container, where, kind == "avi", 0
        self.lag, self.last = 0, -1  # see `counted`
        self.over, self.any_over, self.gap, self.before = 0, 0.0, 0, _NEVER  # see `note`
        self.broken_off = False
        stream = container.streams.best("video")
        if stream is None or stream.disposition & av.stream.Disposition.attached_pic:  # the cover of a song
            only = "only sound" if container.streams.audio else "nothing"
            raise BadInput(f"Video {where}: there are no moving pictures in it, {only}. Name a video.")
        if stream.codec_context is None:
            raise BadInput(f"Video {where}: its pictures are in a format that cannot be decoded. Convert it to H.264.")
        self.check_pixels(stream.codec_context.width, stream.codec_context.height)
        stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
        stream.thread_type = "AUTO"
        self.stream = stream

    def check_pixels(self, width: int, height: int) -> None:
        """BadInput for frames too large to decode."""
        if width * height > MAX_PIXELS:
            raise BadInput(
                f"Video {self.where}: frames of {width} x {height} pixels; at most {MAX_PIXELS:,} are read. "
                "Scale it down."
            )

    def when(self, packet: Any) -> int | None:
        """When a packet's frame comes on screen; in AVI, when it is decoded: nothing else is stored."""
        time = packet.dts if self.avi else packet.pts
        return None if time is None else int(time)

    def seek(self, time: int) -> bool:
        """To a key frame at or before `time`; False where the file cannot be searched."""
        import av

        if self.avi:
            return False
        self.before = _NEVER
        try:
            self.container.seek(time, stream=self.stream)
        except av.FFmpegError:
            return False
        return True

    def note(self, packet: Any) -> None:
        """Keeps when the last frame seen so far leaves the screen, and the longest time between two packets."""
        time = self.when(packet) if packet.stream is self.stream else packet.pts
        if not packet.size or time is None:
            return
        over = time + (packet.duration or 0)
        self.broken_off |= packet.is_corrupt
        self.any_over = max(self.any_over, float(over * packet.time_base))
        if packet.stream is self.stream:
            self.over, self.gap, self.before = max(self.over, over), max(self.gap, time - self.before), time

    def end(self) -> int:
        """When the last frame leaves the screen; BadInput where the file ends much before its header says."""
        claimed = self.container.duration and float((self.container.start_time or 0) + self.container.duration) / 1e6
        if self.avi:  # its length is FFmpeg's guess by the size of the file; the number of frames is the header's
            claimed = float(self.stream.frames * self.stream.time_base)
        if claimed:
            self.seek(min(int(claimed / self.stream.time_base), _LATEST))
        for packet in self.container.demux():
            self.note(packet)
        slack = max(_SLACK[0], _SLACK[1] * (claimed or 0), float(self.gap * self.stream.time_base))
        if self.broken_off or (claimed and self.any_over < claimed - slack):
            header = f"; its header says {claimed:.1f} s" if claimed else ""
            raise BadInput(f"Video {self.where}: cut short{header}. Restore the file.")
        return self.over

    def key_before(self, time: int) -> tuple[int, int] | None:
        """What to seek so that decoding starts at the last key frame up to `time`, and that key frame's time.

        None: on from wherever decoding stands, since nothing can be searched, or the first frame comes later.
        """
        ask = time
        for _ in range(8):  # a container looks for the time of decoding, which may be some frames earlier
            if not self.seek(ask):
                return None
            packet = next((p for p in self.container.demux(self.stream) if p.size and p.is_keyframe), None)
            if packet is None:
                raise BadInput(f"Video {self.where}: cut short, or without key frames. Restore the file.")
            key = self.when(packet)
            if key is None or key <= time:
                return None if key is None else (ask, key)
            ask = min(ask, key if packet.dts is None else packet.dts) - 1
        return None

    def frames(self) -> Iterator[tuple[int, Any]]:
        """The frames in order of display from where the container stands, each with its time."""
        first, key = None, None
        for packet in self.container.demux(self.stream):
            time = self.when(packet)
            self.note(packet)
            if packet.size:
                first = time if first is None else first
                key = time if key is None and packet.is_keyframe else key
            elif time is not None:
                continue  # an empty packet repeats a frame; the decoder would take it for the end
            for frame in packet.decode():
                self.decoded += 1
                if self.decoded > MAX_DECODED:
                    raise BadInput(
                        f"Video {self.where}: more than {MAX_DECODED:,} frames would have to be decoded, for its key "
                        "frames are too far apart or cannot be found. Make an MP4 of it with one every 10 seconds."
                    )
                self.check_pixels(frame.width, frame.height)
                shown = self.counted(frame.dts, first or 0) if self.avi else frame.pts
                if shown is None or (frame.is_corrupt and key is not None and shown >= key):
                    raise BadInput(f"Video {self.where}: damaged{self._at(shown)}. Restore the file.")
                yield shown, frame

    def counted(self, dts: int | None, first: int) -> int:
        """The time of AVI's next frame: that of decoding, less the decoder's lag; `first` is that of the first packet.

        While the decoder is drained nothing is decoded, and each frame takes one tick, as everywhere in AVI.
        """
        if self.last < 0:
            self.lag = 0 if dts is None else dts - first
            self.last = first - 1
        self.last = self.last + 1 if dts is None else dts - self.lag
        return self.last

    def _at(self, time: int | None) -> str:
        return "" if time is None else f" at about {float(time * self.stream.time_base):.1f} s"

    def shown_at(self, times: Iterable[int], keys: Iterable[tuple[int, int] | None]) -> Iterator[tuple[int, Any]]:
        """For each time the frame on screen then; `keys` as `key_before` gives them."""
        frames = self.frames()
        shown: tuple[int, Any] | None = None
        coming: tuple[int, Any] | None = None
        for time, key in zip(times, keys, strict=True):
            reached = coming or shown
            if key is not None and (reached is None or key[1] > reached[0]):
                self.seek(key[0])
                frames, shown, coming = self.frames(), None, None
            ended = False
            while not ended and (coming is None or coming[0] <= time):
                shown = coming or shown
                coming = next(frames, None)
                ended = coming is None
            found = shown or (coming if key is None else None)  # before the first frame of all, that one
            if found is None:
                raise BadInput(f"Video {self.where}: no frame can be decoded{self._at(time)}. Restore the file.")
            yield found
