"""The check of many pictures and clips before the first request of a run is paid for."""

from __future__ import annotations

import hashlib
import os
import warnings
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, Protocol

from humor_tasks.errors import BadInput
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.picture import Facts, Picture, decode_picture

if TYPE_CHECKING:
    from PIL.Image import Image

THREADS = min(8, (os.cpu_count() or 1) + 1)  # each holds one decoded picture; decoding runs without the GIL


class Taker(Protocol):
    """A network of this process that needs the pictures of a run decoded, as the check does."""

    def take(self, identity: str, image: Image, where: str) -> None:
        """Take a decoded picture, with its `Facts.identity`; called by threads. It must not change the picture."""
        ...


_takers: weakref.WeakSet[Taker] = weakref.WeakSet()


def hand_to(taker: Taker) -> None:
    """Let `taker` have every picture that is checked from now on, as long as it exists."""
    _takers.add(taker)


class _Read(NamedTuple):
    """What was read of one file: the bytes of a picture with their SHA-256, or the problem."""

    data: bytes = b""
    digest: str = ""
    problem: str = ""


def check_media(media: Mapping[int, Picture | Clip], what: str) -> dict[int, str]:
    """Number -> problem of each picture and clip that cannot be used.

    A picture must be readable, complete and not too large; a clip must open, with a video stream and a duration above
    0 in its header. Every distinct file is read once, each distinct picture is decoded once and handed to the networks
    that take it (`hand_to`), and of clips only the header is read, in threads, with a progress bar titled `what` after
    the first second. Pictures inside tables are distinct by their bytes. A warning counts animated pictures, whose
    first frame is what is shown.
    """
    from tqdm import tqdm

    files: dict[str, list[int]] = {}
    for number, medium in media.items():
        files.setdefault(medium.path or f"\0{number}", []).append(number)
    groups = list(files.values())
    problems: dict[int, str] = {}
    known: dict[str, tuple[Facts | None, str]] = {}  # SHA-256 -> facts and problem
    animated: list[str] = []
    takers = list(_takers)
    with (
        ThreadPoolExecutor(THREADS) as threads,
        tqdm(desc=what, total=len(groups), unit=" files", delay=1, disable=None) as bar,
    ):
        for start in range(0, len(groups), 2 * THREADS):  # in parts, because the bytes of a part are in memory
            part = groups[start : start + 2 * THREADS]
            read = list(threads.map(lambda numbers: _read(media[numbers[0]]), part))
            new = {r.digest: (r, media[n[0]].where) for r, n in zip(reversed(read), reversed(part), strict=True)}
            new = {digest: given for digest, given in new.items() if digest and digest not in known}
            known |= zip(
                new, threads.map(lambda given: _decoded(given[0], given[1], takers), new.values()), strict=True
            )
            for numbers, found in zip(part, read, strict=True):
                facts, problem = known.get(found.digest, (None, found.problem))
                animated += [media[numbers[0]].where] if facts and facts.animated else []
                for number in numbers:
                    medium = media[number]
                    if problem:
                        problems[number] = problem
                    elif isinstance(medium, Picture) and facts:
                        medium.accept(facts)
            bar.update(len(part))
    if animated:
        warnings.warn(
            f"{what}: {len(animated)} of {len(groups)} files are animated, such as {animated[0]}; every model and page "
            "shows their first frame.",
            stacklevel=2,
        )
    return dict(sorted(problems.items()))


def _read(medium: Picture | Clip) -> _Read:
    try:
        if isinstance(medium, Clip):
            medium.check()
            return _Read()
        data = medium.fetch() or b""
        return _Read(data, hashlib.sha256(data).hexdigest())
    except BadInput as problem:
        return _Read(problem=str(problem))


def _decoded(read: _Read, where: str, takers: Sequence[Taker]) -> tuple[Facts | None, str]:
    """The facts of a picture, which the takers get, and the problem of decoding it."""
    try:
        decoded = decode_picture(read.data, where)
    except BadInput as problem:
        return None, str(problem)
    facts = decoded.facts(read.digest)
    for taker in takers:
        taker.take(facts.identity, decoded.image, where)
    return facts, ""


def check_rows(shown: Sequence[Sequence[Picture | Clip]], place: str, of: int) -> None:
    """Raise one BadInput for all rows of `place` with a picture or clip that cannot be used.

    shown: the pictures and clips of each row to check. of: the number of rows of `place`.
    """
    media = dict(enumerate(medium for row in shown for medium in row))
    rows = [i for i, row in enumerate(shown) for _ in row]
    problems: dict[int, str] = {}
    for number, problem in check_media(media, f"checking pictures of {place}").items():
        problems.setdefault(rows[number], problem)
    if problems:
        remedy = "Restore them, or leave such rows out with on_bad_picture=skip, which counts them."
        raise BadInput(f"{summary(problems, len(shown), place)} {NONE_LEFT if len(problems) == of else remedy}")


NONE_LEFT = "No row is left. Restore the pictures."


def summary(problems: Mapping[int, str], of: int, place: str, most: int = 5) -> str:
    """The number of rows without a usable picture or clip, and the first distinct problems."""
    distinct = list(dict.fromkeys(problems[i] for i in sorted(problems)))
    more = f" And {len(distinct) - most} more." if len(distinct) > most else ""
    what = "picture or clip" if any(text.startswith("Video ") for text in distinct) else "picture"
    return f"{len(problems)} of {of} rows of {place} have no usable {what}: {' '.join(distinct[:most])}{more}"
