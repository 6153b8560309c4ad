"""Run folders: who writes them, and that one holds one run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from humor_tasks import __version__
from humor_tasks.data.writing import write_json
from humor_tasks.errors import BadInput
from humor_tasks.models.folders import CONFIG, METRICS, read_object

Read = TypeVar("Read")

CURVES = "curves.csv"
# Of the processes that `accelerate launch` started, the main one writes.
IS_MAIN, PROCESSES = os.environ.get("RANK", "0") == "0", int(os.environ.get("WORLD_SIZE", "1"))


def run_in(
    output: Path, settings: dict[str, Any], read: Callable[[], Read], run: Callable[[Read], dict[str, Any] | None]
) -> dict[str, Any]:
    """The metrics of the run in `output`: as they are there, or what `run` makes of what `read` read.

    run: in all of the processes; the main one's metrics are written, with the seconds they took and this version.
    None means that other processes will go on with the run: {}. Raises BadInput where the folder holds another run;
    what `read` refuses leaves no trace in it.
    """
    wanted = json.loads(json.dumps(settings))
    check_folder(output, wanted)
    if (output / METRICS).is_file():
        return read_object(output / METRICS)
    data = read()
    if IS_MAIN:
        write_json(output / CONFIG, wanted)
    start = time.perf_counter()
    metrics = run(data)
    if metrics is None:
        return {}
    if IS_MAIN:
        write_json(
            output / METRICS, metrics | {"seconds": round(time.perf_counter() - start, 1), "version": __version__}
        )
    wait_for_everyone()
    return read_object(output / METRICS)


def check_folder(output: Path, wanted: dict[str, Any]) -> None:
    """BadInput unless `output` is empty, or holds a run of these settings or one that never began."""
    if output.exists() and not output.is_dir():
        raise BadInput(f"{output}: is no folder.")
    if (output / CONFIG).is_file():
        held = read_object(output / CONFIG)
        other = sorted(name for name in wanted.keys() | held.keys() if held.get(name) != wanted.get(name))
        if other and not _never_began(output):
            said = ", ".join(f"{name}={held.get(name)} there, {wanted.get(name)} here" for name in other)
            raise BadInput(f"{output}: holds a run with other settings ({said}); choose another folder.")
    elif output.exists() and not all(map(_unfinished, output.iterdir())) and IS_MAIN:
        raise BadInput(f"{output}: is not empty and holds no run; choose another folder.")


def wait_for_everyone() -> None:
    """Until all processes that `accelerate launch` started are here."""
    if PROCESSES > 1:
        from accelerate import PartialState

        PartialState().wait_for_everyone()


def _never_began(output: Path) -> bool:
    """What was refused for bad data or an unknown model left settings and nothing else."""
    return all(path.name == CONFIG or _unfinished(path) for path in output.rglob("*") if path.is_file())


def _unfinished(path: Path) -> bool:
    """Settings that a kill kept from their name; see humor_tasks.data.writing."""
    return path.name.startswith(f".{CONFIG}.")
