"""The pictures of the gallery's items, each once, small enough for one page."""

from __future__ import annotations

import base64
import hashlib
import io
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.options import declared, read_parameters
from humor_tasks.data.logs import FinishedRun
from humor_tasks.data.media.clip import Clip
from humor_tasks.data.media.picture import decode_picture
from humor_tasks.data.records import Record
from humor_tasks.errors import BadInput
from humor_tasks.studies.report.page.items import Item

SIZES = ((560, 70), (440, 60), (340, 50), (260, 40), (180, 30))
"""Longest side in pixels and quality, the best first."""
FRAMES = 4  # of a clip that systems saw whole


@dataclass(frozen=True)
class Encoded:
    """One picture as WebP in base64, and its size in pixels."""

    data: str
    width: int
    height: int


class Album:
    """Pictures by their content."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.encoded: list[bytes] = []
        self.unreadable = 0
        self.problems: list[str] = []

    def add(self, data: bytes, where: str) -> int | None:
        """The number of the picture with these bytes; None where they are no picture."""
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self.numbers:
            try:
                self.encoded.append(_small(data, where, *SIZES[0]))
            except BadInput:
                self.unreadable += 1
                return None
            self.numbers[digest] = len(self.encoded) - 1
        return self.numbers[digest]

    def within(self, budget: int) -> list[Encoded]:
        """All pictures, in the best of SIZES with which they take at most `budget` characters, else in the smallest."""
        small = self.encoded
        for size in SIZES[1:]:
            if sum(4 * len(each) // 3 for each in small) <= budget:
                break
            small = [_small(each, "of the page", *size) for each in self.encoded]
        return [Encoded(base64.b64encode(each).decode(), *_size(each)) for each in small]


def _small(data: bytes, where: str, side: int, quality: int) -> bytes:
    image = decode_picture(data, where)
    if image.mode not in ("RGB", "L"):
        image = image.convert("RGBA")
        white = image.copy()
        white.paste((255, 255, 255, 255), (0, 0, *image.size))
        white.alpha_composite(image)
        image = white.convert("RGB")
    image.thumbnail((side, side))
    encoded = io.BytesIO()
    image.save(encoded, "WEBP", quality=quality, method=4)
    return encoded.getvalue()


def _size(data: bytes) -> tuple[int, int]:
    image = decode_picture(data, "of the page")
    return image.width, image.height


# ---- where pictures are -------------------------------------------------------------------------


def find_pictures(items: Sequence[Item], runs: Sequence[FinishedRun], paths: Sequence[Sequence[Path]]) -> Album:
    """Give the items their pictures, from the logs that hold them, else from dataset folders on this machine.

    paths: the files of each run. An item without pictures afterwards, whose systems saw some, keeps `asked_pictures`.
    """
    album = Album()
    for find in (_logged, _in_folder):
        for number, run in enumerate(runs):
            lacking: dict[str, list[Item]] = {}
            for item in items:
                if item.asked_pictures and not item.pictures and number in item.in_runs:
                    lacking.setdefault(item.id, []).append(item)
            try:
                for identity, found in find(run, paths[number], lacking) if lacking else ():
                    numbers = [album.add(data, f"of {identity}") for data in found]
                    for item in lacking[identity]:
                        item.pictures = [each for each in numbers if each is not None]
            except BadInput as problem:
                album.problems.append(str(problem))
    return album


def _logged(
    run: FinishedRun, paths: Sequence[Path], wanted: dict[str, list[Item]]
) -> Iterator[tuple[str, list[bytes]]]:
    from humor_tasks.data.logs.inspect_logs import logged_pictures

    for path in paths if run.harness == "inspect" else ():
        yield from logged_pictures(path, wanted)


def _in_folder(
    run: FinishedRun, paths: Sequence[Path], wanted: dict[str, list[Item]]
) -> Iterator[tuple[str, list[bytes]]]:
    for record in _records(run):
        if record.id in wanted:
            try:
                shown = _frames(record.clip) if record.clip else [record.picture] if record.picture else []
                yield record.id, [picture.fetch() for picture in shown]
            except BadInput:
                continue


def _frames(clip: Clip) -> Sequence[Any]:
    return (clip if clip.frames else replace(clip, frames=FRAMES)).pictures()


def _records(run: FinishedRun) -> Sequence[Record]:
    """The rows of a run, opened again with the parameters in its signature; none where the data is not on this machine.

    Rows that have changed since are not used: their fingerprint is another one.
    """
    dataset = str(run.source.get("dataset", ""))
    if run.benchmark is None or (dataset != "sample" and not Path(dataset).is_dir()):
        return ()
    benchmark = find_benchmark(run.benchmark)
    known = {each.name for each in declared(benchmark.options)}
    signed = dict(run.signature)
    if signed.get("setting") == "described":  # by the solver describe_first; the rows are those with pictures
        signed["setting"] = "pixels"
    given = {**{name: signed[name] for name in signed if name in known - {"prompts", "cot"}}, "dataset": dataset}
    try:
        with warnings.catch_warnings(action="ignore"):
            opened = benchmark.open(**read_parameters(benchmark.options, benchmark.name, list(given.items())))
    except BadInput:
        return ()
    return opened.records if opened.data.provenance.get("fingerprint") == run.source.get("fingerprint") else ()
