"""Run folders: creation, resuming, the check that a folder holds only one run, and what its model was trained on."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from humor_tasks._version import __version__
from humor_tasks.errors import BadInput
from humor_tasks.files.locks import LOCK, locked
from humor_tasks.files.reading import json_object
from humor_tasks.files.writing import write_json
from humor_tasks.models.folders import CONFIG, METRICS
from humor_tasks.rows import trained_on

Read = TypeVar("Read")
Units = Mapping[str, Collection[str]]

CURVES = "curves.csv"
# Only the main process of `accelerate launch` writes files.
IS_MAIN, PROCESSES = os.environ.get("RANK", "0") == "0", int(os.environ.get("WORLD_SIZE", "1"))


def run_in(
    output: Path,
    settings: dict[str, Any],
    read: Callable[[], Read],
    run: Callable[[Read], dict[str, Any] | None],
    shared: bool = False,
) -> dict[str, Any]:
    """The metrics of the run in `output`: those on disk if it is finished, or else the result of `run` on the data of
    `read`.

    `run` is called in all processes; the main process writes its metrics, with the seconds taken and the package
    version. If it returns None, other processes must finish the run; the result is then {}. Raises BadInput where the
    folder holds another run, and where another process is training in it unless the folder is `shared`, as by the parts
    of an ensemble. Data that `read` refuses, and a model that `run` refuses, leave no file.
    """
    values = json.loads(json.dumps(settings))
    check_folder(output, values)
    if (output / METRICS).is_file():
        return json_object(output / METRICS)
    data = read()
    new = not output.exists()
    with contextlib.nullcontext() if shared or not IS_MAIN else locked(output):
        return _run(output, values, data, run, new)


def _run(
    output: Path, settings: dict[str, Any], data: Read, run: Callable[[Read], dict[str, Any] | None], new: bool
) -> dict[str, Any]:
    check_folder(output, settings)  # again, because another process may have been here while the data were read
    if IS_MAIN and (output / METRICS).is_file():
        return json_object(output / METRICS)
    if IS_MAIN:
        write_json(output / CONFIG, settings)
    start = time.perf_counter()
    try:
        metrics = run(data)
    except BadInput:
        if IS_MAIN and new and _never_began(output):  # such as an unknown model
            shutil.rmtree(output, ignore_errors=True)
        raise
    if metrics is None:
        return {}
    if IS_MAIN:
        write_json(
            output / METRICS, metrics | {"seconds": round(time.perf_counter() - start, 1), "version": __version__}
        )
    wait_for_everyone()
    return json_object(output / METRICS)


def check_folder(output: Path, settings: dict[str, Any]) -> None:
    """Raise BadInput unless `output` is empty, or holds a run with these settings or nothing but settings."""
    if output.exists() and not output.is_dir():
        raise BadInput(f"{output}: is not a folder.")
    if (output / CONFIG).is_file():
        existing = json_object(output / CONFIG)
        # A setting that the folder lacks was added later: the run was made as it is when the setting is off.
        same = existing | {k: v for k, v in settings.items() if k not in existing and v in (None, False, "")}
        other = sorted(name for name in settings.keys() | same.keys() if same.get(name) != settings.get(name))
        if other and not _never_began(output):
            differences = ", ".join(f"{name}={existing.get(name)} there, {settings.get(name)} here" for name in other)
            raise BadInput(f"{output}: holds a run with other settings ({differences}); choose another folder.")
    elif output.exists() and not all(map(_unfinished, output.iterdir())) and IS_MAIN:
        raise BadInput(f"{output}: is not empty and holds no run; choose another folder.")


def wait_for_everyone() -> None:
    """Wait for all processes of `accelerate launch`."""
    if PROCESSES > 1:
        from accelerate import PartialState

        PartialState().wait_for_everyone()


def _never_began(output: Path) -> bool:
    """Whether the folder holds only settings, as after refused data or an unknown model."""
    return all(path.name == CONFIG or _unfinished(path) for path in output.rglob("*") if path.is_file())


def _unfinished(path: Path) -> bool:
    """Whether the file is the lock, or the temporary settings file of an interrupted process; see `write_json`."""
    return path.name == LOCK or path.name.startswith(f".{CONFIG}.")


# ---- what a run was trained on -------------------------------------------------------------------
# The record in the folder that the harnesses load; see `rows.trained_on`. Units: split -> the units of its rows.


def check_base(base: str, units: Units) -> None:
    """Raise BadInput where the model to begin from was trained on rows that this run evaluates."""
    for split, names in units.items():
        trained_on.check_unseen(base, [base], split, names, tells=False)


def record(folder: Path, task: str, source: Mapping[str, Any], fold: str, units: Units, base: str = "") -> None:
    """Write the record, in the main process. source: the provenance of train. base: the model to begin from."""
    if IS_MAIN:
        trained_on.write(folder, trained_on.training(task, source, fold, units), base)
