"""How many functions of this package handle one row between the dataset and the report, in each harness.

    python speed/stations.py [--show]

A station is a function of humor_tasks that takes or returns the row, as a record, prompt, sample, question, outcome,
logged sample or item, alone or in a sequence or mapping; a handover is a station that is called from another file, a
hook one that the harness calls. Models' own functions are counted apart, because each model has its own. The run is
matching on the packaged sample, limited to one row, with the baseline `overlap`; then the log is read and its report is
built. `--show` lists the stations in order, and which of them are handovers and hooks.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import humor_tasks
from humor_tasks.api import load

HERE = str(Path(humor_tasks.__file__).resolve().parent)
SCORERS = str(Path(HERE).parent / "scorers")
ROW = load("matching", dataset="sample").records[0].id
TEXT = load("matching", dataset="sample").records[0].fields["description"]
NAMES = ("id", "instance_id", "sample_id")


def is_row(value: Any, deep: int = 2) -> bool:
    """Whether a value is the row, or holds it."""
    if isinstance(value, str):
        return deep == 2 and len(value) > 40 and TEXT in value
    if isinstance(value, Mapping):
        if any(value.get(name) == ROW for name in NAMES if isinstance(value.get(name), str)):
            return True
        return deep > 0 and any(is_row(each, deep - 1) for each in list(value.values())[:80])
    if isinstance(value, list | tuple | set | frozenset):
        return deep > 0 and any(is_row(each, deep - 1) for each in list(value)[:80])
    held = getattr(value, "__dict__", None) or {}
    slots = getattr(type(value), "__slots__", ())
    return any(getattr(value, name, None) == ROW for name in NAMES if name in held or name in slots)


class Trace:
    """The stations in the order in which the row reaches them: (file, function) -> number of calls."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], int] = {}
        self.handed: set[tuple[str, str]] = set()
        self.hooks: set[tuple[str, str]] = set()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith((HERE, SCORERS)):
            return
        name = code.co_qualname if hasattr(code, "co_qualname") else code.co_name
        if "<" in code.co_name or code.co_name.startswith("__"):
            return
        values = [arg] if event == "return" else [frame.f_locals[each] for each in code.co_varnames[: code.co_argcount]]
        if any(map(is_row, values)):
            key = (code.co_filename.removeprefix(str(Path(HERE).parent) + "/"), name)
            self.found[key] = self.found.get(key, 0) + (event == "call" or key not in self.found)
            caller = frame.f_back.f_code.co_filename if frame.f_back else ""
            if caller != code.co_filename:
                self.handed.add(key)
            if not caller.startswith((HERE, SCORERS)):
                self.hooks.add(key)


def traced(run: Callable[[], Path]) -> Trace:
    """The trace of a run and of the report on its log."""
    from humor_tasks.results import read_results
    from humor_tasks.results.report.build import build_report

    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        build_report(read_results([run()]))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return trace


def in_inspect(folder: Path) -> Path:
    from inspect_ai import eval

    given = {"dataset": "sample"}
    how = {"model": "baseline/overlap", "limit": 1, "log_dir": str(folder), "display": "none"}
    eval("humor_tasks/matching", task_args=given, **how)  # type: ignore[arg-type]
    return folder


def in_lm_eval(folder: Path) -> Path:
    from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
    from humor_tasks.testing import run_lm_eval

    metadata = {"dataset": "sample"}
    run_lm_eval(BaselineLM("overlap"), "nyc_matching", metadata=metadata, output=folder, limit=1)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--show", action="store_true", help="list the stations")
    show = parser.parse_args().show
    os.environ["INSPECT_DISPLAY"] = "none"
    for name, run in (("Inspect", in_inspect), ("lm-eval", in_lm_eval)):
        with tempfile.TemporaryDirectory() as folder:
            trace = traced(lambda run=run, folder=folder: run(Path(folder)))  # type: ignore[misc]
        found = trace.found
        models = {key for key in found if any(part in key[0] for part in ("/models/", "/providers/"))}
        told = f"{len(found)} stations in {len({file for file, _ in found})} files, {len(models)} of them the model's"
        told += f"; {len(trace.handed)} handovers, {len(trace.hooks)} of them hooks"
        print(f"{name}: {told}, {sum(found.values())} calls")
        if show:
            for key, calls in found.items():
                how = "hook" if key in trace.hooks else "handover" if key in trace.handed else ""
                print(f"  {calls:3} {how:8} {key[0]}: {key[1]}")


if __name__ == "__main__":
    main()
