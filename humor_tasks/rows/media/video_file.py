"""Opening, seeking and decoding an untrusted video file at a bounded cost; `frames.py` describes the guarantees."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.rows.media.picture import MAX_PIXELS

MAX_BYTES = 4 * 2**30
MAX_DECODED = 30_000
"""Maximum number of frames decoded per pass (scene detection is a second pass). Eight frames of a typical film need
about 1,000."""

_KINDS = {
    "mov": "MP4 or MOV",
    "matroska": "WebM or Matroska",
    "avi": "AVI",
}
_MOV_ATOMS = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
_SLACK = 0.5, 0.02  # seconds, and fraction of the duration, by which a complete file may end before its header says
_NO_PACKET, _MAX_SEEK = 2**63, 2**62


def check_installed() -> None:
    """Raise BadInput if the extra `video` is not installed."""
    try:
        import av  # noqa: F401
    except ImportError as problem:
        raise BadInput(f"video needs the extra 'video': pip install 'humor-tasks[video]' ({problem}).") from None


@contextlib.contextmanager
def open_video(source: str | Path | bytes, where: str) -> Iterator[OpenVideo]:
    """An open video. Raises BadInput where opening or later reading fails. `where` is the file's name in messages."""
    check_installed()
    import av

    try:
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(_file(source, where))
            kind = _kind(file, where)
            container = av.open(file, "r", format=kind, io_open=_no_second_file, metadata_errors="replace")
            yield OpenVideo(stack.enter_context(container), kind, where)
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
    """FFmpeg's name of the container format, from the first bytes."""
    head = file.read(32)
    file.seek(0)
    if head[4:8] in _MOV_ATOMS:
        return "mov"
    if head.startswith(b"\x1aE\xdf\xa3"):
        return "matroska"
    if head.startswith(b"RIFF") and head[8:12] == b"AVI ":
        return "avi"
    beginning = f"it begins {head[:12]!r}"
    if head.startswith(b"version https://git-lfs"):
        beginning = "it is a Git LFS pointer; run `git lfs pull` in the folder"
    raise BadInput(f"Video {where}: not a video in a supported format; {beginning}. Use {', '.join(_KINDS.values())}.")


def _no_second_file(name: str, *_: Any) -> Any:
    raise OSError(f"it refers to another file, {name!r}")


class OpenVideo:
    """An open video.

    Times are in ticks of the stream's time base. `end_time` and `last_end` are the latest end of a packet of the video
    stream (ticks) and of any stream (seconds), `gap` is the longest time between two video packets.
    """

    def __init__(self, container: Any, kind: str, where: str) -> None:
        import av

        self.container, self.where, self.avi, self.decoded = container, where, kind == "avi", 0
        self.lag, self.last = 0, -1  # see `counted`
        self.end_time, self.last_end, self.gap, self.before = 0, 0.0, 0, _NO_PACKET  # see `note`
        self.broken_off = False
        stream = container.streams.best("video")
        if stream is None or stream.disposition & av.stream.Disposition.attached_pic:  # cover art of an audio file
            only = "only audio" if container.streams.audio else "no audio either"
            raise BadInput(f"Video {where}: it has no video stream, {only}. Name a video.")
        if stream.codec_context is None:
            raise BadInput(f"Video {where}: its codec is not supported. Convert it to H.264.")
        self.check_pixels(stream.codec_context.width, stream.codec_context.height)
        stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
        stream.thread_type = "AUTO"
        self.stream = stream

    def check_pixels(self, width: int, height: int) -> None:
        """Raise BadInput for frames that are too large to decode."""
        if width * height > MAX_PIXELS:
            raise BadInput(
                f"Video {self.where}: frames of {width} x {height} pixels; at most {MAX_PIXELS:,} are read. "
                "Scale it down."
            )

    def display_time(self, packet: Any) -> int | None:
        """The display time of a packet's frame; in AVI the decoding time, because no other is stored."""
        time = packet.dts if self.avi else packet.pts
        return None if time is None else int(time)

    def seek(self, time: int) -> bool:
        """Seek to a key frame at or before `time`; False where the file cannot be seeked."""
        import av

        if self.avi:
            return False
        self.before = _NO_PACKET
        try:
            self.container.seek(time, stream=self.stream)
        except av.FFmpegError:
            return False
        return True

    def track(self, packet: Any) -> None:
        """Update the end of the last frame seen so far and the longest time between two packets."""
        time = self.display_time(packet) if packet.stream is self.stream else packet.pts
        if not packet.size or time is None:
            return
        end_time = time + (packet.duration or 0)
        self.broken_off |= packet.is_corrupt
        self.last_end = max(self.last_end, float(end_time * packet.time_base))
        if packet.stream is self.stream:
            self.end_time, self.gap, self.before = max(self.end_time, end_time), max(self.gap, time - self.before), time

    def end(self) -> int:
        """The end time of the last frame. Raises BadInput where the file ends much earlier than its header says."""
        claimed = self.container.duration and float((self.container.start_time or 0) + self.container.duration) / 1e6
        if self.avi:  # FFmpeg estimates its duration from the file size; the number of frames is from the header
            claimed = float(self.stream.frames * self.stream.time_base)
        if claimed:
            self.seek(min(int(claimed / self.stream.time_base), _MAX_SEEK))
        for packet in self.container.demux():
            self.track(packet)
        slack = max(_SLACK[0], _SLACK[1] * (claimed or 0), float(self.gap * self.stream.time_base))
        if self.broken_off or (claimed and self.last_end < claimed - slack):
            header = f"; its header says {claimed:.1f} s" if claimed else ""
            raise BadInput(f"Video {self.where}: cut short{header}. Restore the file.")
        return self.end_time

    def key_before(self, time: int) -> tuple[int, int] | None:
        """The seek time at which decoding starts at the last key frame up to `time`, and that key frame's time.

        None means to continue decoding from the current position: the file cannot be seeked, or the first frame is
        later.
        """
        ask = time
        for _ in range(8):  # containers seek by decoding time, which may be some frames earlier
            if not self.seek(ask):
                return None
            packet = next((p for p in self.container.demux(self.stream) if p.size and p.is_keyframe), None)
            if packet is None:
                raise BadInput(f"Video {self.where}: cut short, or without key frames. Restore the file.")
            key = self.display_time(packet)
            if key is None or key <= time:
                return None if key is None else (ask, key)
            ask = min(ask, key if packet.dts is None else packet.dts) - 1
        return None

    def frames(self) -> Iterator[tuple[int, Any]]:
        """The frames with their times, in display order from the container's current position."""
        first, key = None, None
        for packet in self.container.demux(self.stream):
            time = self.display_time(packet)
            self.track(packet)
            if packet.size:
                first = time if first is None else first
                key = time if key is None and packet.is_keyframe else key
            elif time is not None:
                continue  # an empty packet repeats a frame; the decoder would treat it as the end of the stream
            for frame in packet.decode():
                self.decoded += 1
                if self.decoded > MAX_DECODED:
                    raise BadInput(
                        f"Video {self.where}: more than {MAX_DECODED:,} frames would have to be decoded, because its "
                        "key frames are too far apart or cannot be found. Convert it to MP4 with one every 10 seconds."
                    )
                self.check_pixels(frame.width, frame.height)
                time_shown = self.avi_time(frame.dts, first or 0) if self.avi else frame.pts
                if time_shown is None or (frame.is_corrupt and key is not None and time_shown >= key):
                    raise BadInput(f"Video {self.where}: damaged{self._at(time_shown)}. Restore the file.")
                yield time_shown, frame

    def avi_time(self, dts: int | None, first: int) -> int:
        """The display time of AVI's next frame: its decoding time less the decoder's delay; `first` is the first
        packet's time.

        While the decoder is drained it gets no packets, and each frame lasts one tick, as in all of AVI.
        """
        if self.last < 0:
            self.lag = 0 if dts is None else dts - first
            self.last = first - 1
        self.last = self.last + 1 if dts is None else dts - self.lag
        return self.last

    def _at(self, time: int | None) -> str:
        return "" if time is None else f" at about {float(time * self.stream.time_base):.1f} s"

    def frames_at(self, times: Iterable[int], keys: Iterable[tuple[int, int] | None]) -> Iterator[tuple[int, Any]]:
        """For each time, the frame displayed then; `keys` are the results of `key_before`."""
        frames = self.frames()
        current: tuple[int, Any] | None = None
        coming: tuple[int, Any] | None = None
        for time, key in zip(times, keys, strict=True):
            reached = coming or current
            if key is not None and (reached is None or key[1] > reached[0]):
                self.seek(key[0])
                frames, current, coming = self.frames(), None, None
            ended = False
            while not ended and (coming is None or coming[0] <= time):
                current = coming or current
                coming = next(frames, None)
                ended = coming is None
            frame = current or (coming if key is None else None)  # a time before the first frame gets the first frame
            if frame is None:
                raise BadInput(f"Video {self.where}: no frame can be decoded{self._at(time)}. Restore the file.")
            yield frame
