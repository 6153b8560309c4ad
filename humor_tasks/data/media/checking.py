"""The check of many pictures before the first request of a run is paid for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from humor_tasks.data.media.picture import Picture
from humor_tasks.errors import BadInput

R = TypeVar("R")
THREADS = min(8, (os.cpu_count() or 1) + 1)  # each holds one decoded picture; decoding runs without the GIL


def check_pictures(pictures: Mapping[int, Picture], what: str) -> dict[int, str]:
    """Number -> problem of each picture that cannot be read, is no complete picture, or is too large.

    Every distinct file is read and decoded once, in threads, with a progress bar titled `what` after the first second.
    Pictures inside tables are distinct by their bytes.
    """
    from tqdm import tqdm

    files: dict[str, list[int]] = {}
    for number, picture in pictures.items():
        files.setdefault(picture.path or f"\0{number}", []).append(number)
    problems: dict[int, str] = {}
    with ThreadPoolExecutor(THREADS) as threads:
        contents: dict[str, list[int]] = {}
        for numbers, (digest, problem) in zip(files.values(), _each(threads, _digest, files, pictures), strict=True):
            problems |= dict.fromkeys(numbers, problem) if problem else {}
            if not problem:
                contents.setdefault(digest, []).extend(numbers)
        decoded = _each(threads, _decoded, contents, pictures)
        bar = tqdm(decoded, what, total=len(contents), unit=" pictures", delay=1, disable=None)
        for numbers, problem in zip(contents.values(), bar, strict=True):
            problems |= dict.fromkeys(numbers, problem) if problem else {}
    return dict(sorted(problems.items()))


def _each(
    threads: ThreadPoolExecutor, use: Callable[[Picture], R], groups: Mapping[str, list[int]], of: Mapping[int, Picture]
) -> Iterable[R]:
    """The result for the first picture of each group."""
    return threads.map(lambda numbers: use(of[numbers[0]]), groups.values())


def _digest(picture: Picture) -> tuple[str, str]:
    """The SHA-256 of the bytes, and the problem of reading them."""
    try:
        return hashlib.sha256(picture.fetch() or b"").hexdigest(), ""
    except BadInput as problem:
        return "", str(problem)


def _decoded(picture: Picture) -> str:
    """The problem of decoding."""
    try:
        picture.read()
    except BadInput as problem:
        return str(problem)
    return ""
