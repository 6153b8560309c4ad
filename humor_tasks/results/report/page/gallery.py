"""The gallery as data: an index of all items, and the replies in blocks that the page unpacks when they are opened."""

from __future__ import annotations

import base64
import hashlib
import io
import math
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from humor_tasks.contract.answers import Choice
from humor_tasks.contract.metric import Metric
from humor_tasks.errors import BadInput
from humor_tasks.files.pages import cut, packed, visible
from humor_tasks.logs import FinishedRun
from humor_tasks.results import Result
from humor_tasks.results.logged_rows import logged_rows
from humor_tasks.results.report.page.items import Collected, Item, Reply, categories, collect, difficulty, disagreement
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.picture import decode_picture

# ---- pictures ------------------------------------------------------------------------------------
# Those of the gallery's items, each once, small enough for one page.

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
            if sum(4 * len(data) // 3 for data in small) <= budget:
                break
            small = [_small(data, "of the page", *size) for data in self.encoded]
        sizes = (decode_picture(data, "of the page").image.size for data in small)
        return [Encoded(base64.b64encode(data).decode(), *size) for data, size in zip(small, sizes, strict=True)]


def _small(data: bytes, where: str, side: int, quality: int) -> bytes:
    image = decode_picture(data, where).image
    image.thumbnail((side, side))
    encoded = io.BytesIO()
    image.save(encoded, "WEBP", quality=quality, method=4)
    return encoded.getvalue()


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
                for identity, pictures in find(run, paths[number], lacking) if lacking else ():
                    numbers = [album.add(data, f"of {identity}") for data in pictures]
                    for item in lacking[identity]:
                        item.pictures = [n for n in numbers if n is not None]
            except BadInput as problem:
                album.problems.append(str(problem))
    return album


def _logged(run: FinishedRun, paths: Sequence[Path], ids: Collection[str]) -> Iterator[tuple[str, list[bytes]]]:
    from humor_tasks.logs.inspect_logs import logged_pictures

    for path in paths if run.harness == "inspect" else ():
        yield from logged_pictures(path, ids)


def _in_folder(run: FinishedRun, paths: Sequence[Path], ids: Collection[str]) -> Iterator[tuple[str, list[bytes]]]:
    try:
        records = logged_rows(run)
    except BadInput:
        return
    for record in records:
        if record.id in ids:
            try:
                pictures = _frames(record.clip) if record.clip else [record.picture] if record.picture else []
                yield record.id, [picture.fetch() for picture in pictures]
            except BadInput:
                continue


def _frames(clip: Clip) -> Sequence[Any]:
    return (clip if clip.frames else replace(clip, frames=FRAMES)).pictures()


# ---- the gallery ---------------------------------------------------------------------------------

MOST = 25_000_000
"""Characters of a page, more than which telephones do not open."""
OF_PICTURES = 9_000_000
RESERVED = 500_000
OF_AN_ELEMENT = 80  # characters of its tags, at most
PER_BLOCK = 50  # items
MOST_OF_A_CHOICE = 1000  # characters
CUTS = (10_000, 6000, 4000, 3000, 2000, 1400, 1000, 700, 500, 300, 200, 80)
"""Lengths to which replies are cut until the page is small enough."""


@dataclass(frozen=True)
class Gallery:
    """The gallery's data for the page.

    blocks: id of each element of data -> its base64. sizes: width and height of each picture. items: their number.
    notes: what could not be shown, one sentence each.
    """

    blocks: Mapping[str, str]
    sizes: Sequence[tuple[int, int]]
    items: int
    notes: tuple[str, ...]


EMPTY = Gallery({}, (), 0, ())


def gallery_of(results: Sequence[Result], names: Sequence[str], used: int) -> Gallery:
    """The gallery of these results. names: each result's name, all different. used: characters of the page without
    it.
    """
    collected = collect(results)
    paths = {id(result.run): result.paths for result in results}
    album = find_pictures(collected.items, collected.runs, [paths[id(run)] for run in collected.runs])
    pictures = album.within(OF_PICTURES)
    blocks = {"items": packed(_index(collected.items, results, names))}
    blocks |= {f"picture-{i}": picture.data for i, picture in enumerate(pictures)}
    replies, length = _replies(collected.items, MOST - RESERVED - used - _size_of(blocks))
    sizes = [(picture.width, picture.height) for picture in pictures]
    return Gallery(blocks | replies, sizes, len(collected.items), tuple(_notes(collected, album, length)))


def _size_of(blocks: Mapping[str, str]) -> int:
    """The characters that these blocks take on the page."""
    return sum(len(data) + OF_AN_ELEMENT for data in blocks.values())


def _notes(collected: Collected, album: Album, length: int | None) -> list[str]:
    lacking = sum(item.asked_pictures and not item.pictures for item in collected.items)
    notes = [f"A run could not be read again. {problem}" for problem in (*collected.problems, *album.problems)]
    if lacking:
        notes.append(
            f"The pictures of {lacking:,} items are missing: the logs hold none, and the dataset is not at hand."
        )
    if album.unreadable:
        notes.append(f"{album.unreadable:,} pictures are damaged and left out.")
    if collected.without_replies:
        notes.append(f"{collected.without_replies:,} replies are left out, which no page can hold; the logs hold them.")
    if length == 0:
        notes.append("The page has no room for the replies; the logs hold them.")
    elif length is not None:
        notes.append(f"Replies are cut at {length:,} characters to keep the page small; the logs hold them whole.")
    return notes


# ---- index --------------------------------------------------------------------------------------


def _index(items: Sequence[Item], results: Sequence[Result], names: Sequence[str]) -> dict[str, Any]:
    """What the page filters, sorts and searches by, and shows of every item.

    systems: one a result. benchmarks: one a benchmark. items: one an item; `answers` has a row for each system that
    answered: its number, its answers, the mean value of the primary metric, and its status where it gave no answer.
    """
    benchmarks = {result.benchmark.name: result for result in results}
    metrics = {name: _metric(name, results) for name in benchmarks}
    facets = {name: categories([item for item in items if item.benchmark == name]) for name in benchmarks}
    return {
        "perBlock": PER_BLOCK,
        "systems": [_system(result, name) for result, name in zip(results, names, strict=True)],
        "benchmarks": [_benchmark(result, metrics[name]) for name, result in benchmarks.items()],
        "items": [_item(item, metrics[item.benchmark], facets[item.benchmark], benchmarks) for item in items],
    }


def _metric(benchmark: str, results: Sequence[Result]) -> Metric | None:
    primary = (result.primary for result in results if result.benchmark.name == benchmark)
    return next((metric for metric in primary if metric is not None), None)


def _system(result: Result, name: str) -> dict[str, Any]:
    paths = [str(path) for path in result.paths]
    command = f"inspect view --log-dir {shlex.quote(str(result.paths[0].parent))}"
    viewer = {"viewer": visible(command)} if result.run.harness == "inspect" else {}
    return {"name": visible(cut(name, 300)), "files": [visible(path) for path in paths], **viewer}


def _benchmark(result: Result, metric: Metric | None) -> dict[str, Any]:
    about = {"name": result.benchmark.name, "title": result.benchmark.card.title}
    if metric is None:
        return about
    return about | {"metric": metric.name, "share": metric.proportion, "lower": metric.direction == "lower"}


def _item(item: Item, metric: Metric | None, facets: Sequence[str], benchmarks: Mapping[str, Result]) -> dict[str, Any]:
    form = benchmarks[item.benchmark].opened.form
    labels = form.labels if isinstance(form, Choice) else ()
    if len(labels) != len(item.choices):
        labels = tuple(str(i) for i in range(1, len(item.choices) + 1))
    return {
        "benchmark": list(benchmarks).index(item.benchmark),
        "id": visible(cut(item.id, 200)),
        "cluster": visible(cut(item.cluster, 200)) if item.cluster != item.id else "",
        "target": None if item.target is None else visible(cut(item.target, MOST_OF_A_CHOICE)),
        "groups": [visible(f"{name}: {item.groups[name]}") for name in facets if name in item.groups],
        "choices": [
            [label, visible(cut(text, MOST_OF_A_CHOICE))] for label, text in zip(labels, item.choices, strict=True)
        ],
        "fields": [[name, visible(text)] for name, text in _fields(item)],
        "points": [visible(cut(text, MOST_OF_A_CHOICE)) for text in item.points],
        "pictures": item.pictures,
        "missing": item.asked_pictures and not item.pictures,
        "difficulty": _rounded(difficulty(item, metric)),
        "disagreement": _rounded(disagreement(item)),
        "answers": [
            [
                number,
                [None if answer is None else visible(answer) for answer in answered.answers],
                _rounded(answered.value),
                next((status for status in answered.statuses if status != "answered"), ""),
            ]
            for number, answered in sorted(item.answered.items())
        ],
    }


def _fields(item: Item) -> list[tuple[str, str]]:
    """The fields worth showing: without those that repeat a part of another one, or the choices."""
    texts = {name: text for name, text in item.fields.items() if text.strip() and name != "choices"}
    if not texts and not item.choices and item.prompt:
        return [("prompt", item.prompt)]
    longer = [*texts.values(), *item.choices]
    return [(n, t) for n, t in texts.items() if not any(t in other and t != other for other in longer)]


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 4)


# ---- replies ------------------------------------------------------------------------------------


def _replies(items: Sequence[Item], most: int) -> tuple[dict[str, str], int | None]:
    """The blocks of replies, and the length that they are cut to so that they take at most `most` characters.

    Without room for any reply, there are no blocks and the length is 0.
    """
    replies = (reply for item in items for answered in item.answered.values() for reply in answered.replies)
    longest = max((len(text) for reply in replies for text in (reply.text, reply.reasons) if text), default=0)
    for length in (None, *(length for length in CUTS if length < longest)):
        blocks: dict[str, str] = {}
        for start in range(0, len(items), PER_BLOCK):
            answers = [_answers(item, length) for item in items[start : start + PER_BLOCK]]
            blocks[f"replies-{start // PER_BLOCK}"] = packed(answers)
            if _size_of(blocks) > most:
                break
        else:
            return blocks, length
    return {}, 0


def _answers(item: Item, length: int | None) -> dict[int, list[dict[str, Any]]]:
    """Number of the system -> its replies."""
    return {number: [_reply(reply, length) for reply in answered.replies] for number, answered in item.answered.items()}


def _reply(reply: Reply, length: int | None) -> dict[str, Any]:
    def shortened(text: str | None) -> str | None:
        return text if text is None or length is None else cut(text, length)

    stop = None if reply.stop == "stop" else reply.stop
    fields = {"epoch": reply.epoch, "text": shortened(reply.text), "reasons": shortened(reply.reasons), "stop": stop}
    return {name: value for name, value in fields.items() if value is not None}
