"""The work folder of a build, and running its units: in this process, in several, or on several machines.

A unit is a stage and a contest, or a stage of the whole corpus. Its folder is named by a key: the hash of everything
that decides its bytes, which is the stage's version and settings and the keys of the units that it reads. A unit whose
folder exists is therefore done, whatever was interrupted, and a changed setting or input makes folders beside the old.

Every unit computes on one thread, because the last bits of sums depend on the number of threads. So the files are the
same however many workers there are. Commands that share a work folder, also on several machines, share its units: each
takes those that are not done, in an order of its own, and whoever finishes one first keeps it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import resource
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import read_bytes
from humor_tasks.files.writing import moved_into_place, write_json

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Stage:
    """One step of a build.

    run: writes the unit's files into a folder (its second argument) and returns its counts; the contest is None where
    `whole`. needs: the stages whose files it reads, of the same contest, or of all contests of that stage where
    `whole`. settings: the names of the settings that its result depends on. trains: whether it is also done for
    contests that train the quality model and get no rows. version: changed with the result.
    """

    name: str
    run: Callable[[Work, Path, int | None], Mapping[str, Any]]
    needs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    whole: bool = False
    trains: bool = False
    version: int = 1


@dataclass(frozen=True)
class Work:
    """A build: its folder, input files, settings, and stages by name in order.

    crowd, finalists: contest number -> file of captions, official finalists. contests: those that get rows; training:
    those that only the quality model learns from. inputs: contest number -> the hash of its file and finalists.
    """

    folder: Path
    crowd: Mapping[int, Path]
    finalists: Mapping[int, Sequence[str]]
    settings: Settings
    stages: Mapping[str, Stage] = field(repr=False)
    contests: tuple[int, ...] = ()
    training: tuple[int, ...] = ()
    inputs: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def _keys(self) -> dict[tuple[str, int | None], str]:
        return {}

    def key(self, name: str, contest: int | None) -> str:
        """The key of a unit, 16 hexadecimal digits."""
        stage = self.stages[name]
        place = (name, None if stage.whole else contest)
        if place not in self._keys:
            parts: list[Any] = [name, stage.version, {setting: self.settings[setting] for setting in stage.settings}]
            if not stage.needs:
                parts.append(self.inputs[int(str(contest))])
            for need in stage.needs:
                read = self.units(need) if stage.whole else [contest]
                parts += [[number, self.key(need, number)] for number in read]
            self._keys[place] = digest(parts)[:16]
        return self._keys[place]

    def unit(self, name: str, contest: int | None = None) -> Path:
        """The folder with a unit's files."""
        stage = self.stages[name]
        label = "all" if stage.whole else str(contest)
        return self.folder / name / f"{label}-{self.key(name, contest)}"

    def units(self, name: str) -> list[int | None]:
        """The contests of a stage, or [None] for a stage of the whole corpus."""
        stage = self.stages[name]
        if stage.whole:
            return [None]
        return [*sorted({*self.contests, *(self.training if stage.trains else ())})]

    def missing(self, name: str) -> list[int | None]:
        """The units of a stage that are not done."""
        return [contest for contest in self.units(name) if not self._done(name, contest)]

    def _done(self, name: str, contest: int | None) -> bool:
        return (self.unit(name, contest) / "counts.json").is_file()

    def counts(self, name: str, contest: int | None = None) -> dict[str, Any]:
        """The counts of a finished unit."""
        return dict(read_json(self.unit(name, contest) / "counts.json"))

    def run(self, item: tuple[str, int | None]) -> float:
        """Do one unit, a stage's name and a contest: its folder is there as a whole, or not at all.

        Returns the most memory that this process has held so far, in MiB.
        """
        name, contest = item
        if not self._done(name, contest):  # by another command on the same work folder, since this one began the stage
            self._write(name, contest)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def _write(self, name: str, contest: int | None) -> None:
        stage, target = self.stages[name], self.unit(name, contest)
        try:
            if target.exists():
                shutil.rmtree(target)  # what somebody left of a unit
            with moved_into_place(target) as folder:
                folder.mkdir(parents=True)
                write_json(folder / "counts.json", stage.run(self, folder, contest))
        except OSError as problem:
            if not self._done(name, contest):  # else another command was faster
                raise BadInput(
                    f"{target}: cannot be written ({problem}). Make room and run the same command again."
                ) from None


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Reading of a unit's file. Raises BadInput, with the remedy, where it is missing or damaged."""
    try:
        yield
    except (OSError, ValueError, EOFError) as problem:
        raise BadInput(
            f"{path}: is missing or damaged ({problem!s:.100}). Remove the folder {path.parent} and run the same "
            "command again: it does that unit again."
        ) from None


def read_json(path: Path) -> Any:
    """The content of a unit's JSON file; see `reading`."""
    with reading(path):
        return json.loads(path.read_text(encoding="utf-8"))


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(read_bytes(path)).hexdigest()


def digest(parts: Any) -> str:
    """The SHA-256 of what JSON holds, in hexadecimal."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


Map = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


@contextlib.contextmanager
def processes(count: int = 1) -> Iterator[Map]:
    """A `map` over items in `count` processes, or in this one where there is one process or item.

    Raises BadInput where a process is killed; exceptions of the function stop the run. The function is sent with each
    item: a build of 705 contests in 11 ms.
    """
    # Spawned, because a fork of a process with torch's threads may hang. None is started before it has something to do.
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=one_thread)
    try:
        with one_thread():
            yield lambda run, items: (pool.map if count > 1 and len(items) > 1 else map)(run, items)
    except BrokenProcessPool:
        raise BadInput(
            "a worker process ended, most often for lack of memory; run the command again with fewer --workers."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def one_thread() -> contextlib.ExitStack:
    """A context in which torch and BLAS compute on one thread."""
    import torch
    from threadpoolctl import threadpool_limits

    stack = contextlib.ExitStack()
    stack.callback(torch.set_num_threads, torch.get_num_threads())
    torch.set_num_threads(1)
    stack.enter_context(threadpool_limits(1))
    return stack
