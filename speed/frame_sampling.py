"""Eight frames of a ten-minute clip, against decoding all of it; and the memory it takes, against that of ten seconds.

The clip is made first: 640 x 360, 25 frames a second, H.264 with two B frames and a key frame every ten seconds, as
x264 does when nobody asks it otherwise. Each memory is the largest of a process of its own that does nothing else.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from humor_tasks.rows.media.frames import probe, sample_frames

WIDTH, HEIGHT, FPS, COUNT, RUNS = 640, 360, 25, 8, 5
BITS, SQUARE = 16, 40


def make(path: Path, seconds: int) -> None:
    """Moving stripes; each frame's number is written along the top in black and white squares. Minutes repeat."""
    across, down = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    with av.open(str(path), "w", format="mp4") as container:
        options = {"preset": "veryfast", "g": "250", "bf": "2", "x264-params": "scenecut=0"}
        stream: Any = container.add_stream("libx264", rate=FPS, options=options)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        packets: list[Any] = []
        for i in range(min(seconds, 60) * FPS):
            grey = ((across + down // 2 + 3 * i) % 256).astype(np.uint8)
            for bit in range(BITS):
                grey[:SQUARE, bit * SQUARE : (bit + 1) * SQUARE] = 255 * (i >> bit & 1)
            frame = av.VideoFrame.from_ndarray(grey, format="gray")
            frame.pts, frame.time_base = i, Fraction(1, FPS)
            packets += stream.encode(frame)
        packets += stream.encode(None)
        later = min(seconds, 60) / packets[0].time_base
        for minute in range(max(1, seconds // 60)):
            for packet in packets:
                copy = av.Packet(bytes(packet))
                copy.stream, copy.time_base, copy.is_keyframe = stream, packet.time_base, packet.is_keyframe
                copy.pts, copy.dts = (int(time + minute * later) for time in (packet.pts, packet.dts))
                copy.duration = packet.duration
                container.mux(copy)


def number(image: Any) -> int:
    grey = image.convert("L")
    return sum((grey.getpixel((bit * SQUARE + SQUARE // 2, SQUARE // 2)) > 127) << bit for bit in range(BITS))


def sampled(path: Path, how: str = "even") -> list[int]:
    return [number(frame.image) for frame in sample_frames(path, COUNT, how)]


def everything(path: Path) -> list[int]:
    """The plainest form: decode all, keep those in the middles."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        wanted = {(2 * i + 1) * stream.frames // (2 * COUNT) for i in range(COUNT)}
        return [number(frame.to_image()) for i, frame in enumerate(container.decode(stream)) if i in wanted]


def seconds(work: Any, *arguments: Any) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def megabytes(path: Path, how: str) -> float:
    """The largest resident memory of a process that samples once."""
    command = [sys.executable, __file__, "child", str(path), how]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        long, short = Path(folder) / "long.mp4", Path(folder) / "short.mp4"
        print(f"making the clip         {seconds(make, long, 600):7.2f} s")
        make(short, 10)
        print(f"{probe(long)}, {long.stat().st_size / 2**20:.1f} MiB")
        assert sampled(long) == everything(long)
        times: dict[str, list[float]] = {"even": [], "scene": [], "all": []}
        for _ in range(RUNS):  # side by side, so that a busy machine is busy for each
            times["even"].append(seconds(sampled, long))
            times["scene"].append(seconds(sampled, long, "scene"))
            times["all"].append(seconds(everything, long))
        even, scene, every = (statistics.median(times[name]) for name in ("even", "scene", "all"))
        print(f"decoding everything     {every:7.3f} s")
        print(f"{COUNT} frames, even          {even:7.3f} s   {every / even:5.1f} times as fast")
        print(f"{COUNT} frames, scene         {scene:7.3f} s   {every / scene:5.1f} times as fast")
        for how in ("even", "scene"):
            of_long, of_short = megabytes(long, how), megabytes(short, how)
            print(f"memory, {how:5}  ten minutes {of_long:6.1f} MiB, ten seconds {of_short:6.1f} MiB")
        print(f"memory, nothing sampled {megabytes(short, 'none'):6.1f} MiB")


def child(path: str, how: str) -> None:
    if how != "none":
        sample_frames(path, COUNT, how)
    # ru_maxrss would do, were it not handed down from the parent on Linux.
    status = Path("/proc/self/status")
    if status.is_file():
        print(int(status.read_text(encoding="utf-8").split("VmHWM:")[1].split()[0]) / 2**10)
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["child"] else main()
