"""How many functions of this package handle one row between the dataset and the report; the walk of a judged reply.

    python speed/stations.py [--show]

A station is a function of humor_tasks that takes or returns the row, as a record, prompt, sample, question, outcome,
logged sample or item, alone or in a sequence or mapping; a handover is a station that is called from another file, a
hook one that the harness calls. Models' own functions are counted apart, because each model has its own. The run is
matching on the packaged sample, limited to one row, with the baseline `overlap`; then the log is read and its report is
built. `--show` lists the stations in order, and which of them are handovers and hooks.

The judged reply is one of humorbench in Inspect. Its walk goes from the call of the scorer to the score. Here the state
of the sample is the row, too, and so is the reply's text. Each station is one step, when it is called. A stay is a
series of steps in one module. It climbs where the floor of its room (tools/rooms.py) is above that of the stay before,
and turns back where the walk was in its module before. The second line leaves out the pure functions of scorers/, which
read texts, and the stand-in for a judge. `--show` lists the stays.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import humor_tasks
from humor_tasks.api import load

HERE = str(Path(humor_tasks.__file__).resolve().parent)
SCORERS = str(Path(HERE).parent / "scorers")
ROW = load("matching", dataset="sample").records[0].id
TEXT = load("matching", dataset="sample").records[0].fields["description"]
NAMES = ("id", "instance_id", "sample_id")
JUDGED = load("humorbench", dataset="sample").records[0].id
REPLY = "The heron conducts, because every other player has flown south."


class Row(NamedTuple):
    """A row to look for. names: those under which values hold its id."""

    id: str
    text: str
    names: tuple[str, ...] = NAMES

    def within(self, value: Any, deep: int = 2) -> bool:
        """Whether a value is the row, or holds it."""
        if isinstance(value, str):
            return deep == 2 and len(value) > 40 and self.text in value
        if isinstance(value, Mapping):
            if any(value.get(name) == self.id for name in self.names if isinstance(value.get(name), str)):
                return True
            return deep > 0 and any(self.within(each, deep - 1) for each in list(value.values())[:80])
        if isinstance(value, list | tuple | set | frozenset):
            return deep > 0 and any(self.within(each, deep - 1) for each in list(value)[:80])
        held = getattr(value, "__dict__", None) or {}
        slots = getattr(type(value), "__slots__", ())
        return any(getattr(value, name, None) == self.id for name in self.names if name in held or name in slots)


def file_of(code: CodeType) -> str:
    """The file of a function of this package; "" for any other function, and for those without a name."""
    if not code.co_filename.startswith((HERE, SCORERS)) or "<" in code.co_name or code.co_name.startswith("__"):
        return ""
    return code.co_filename.removeprefix(str(Path(HERE).parent) + "/")


class Trace:
    """The stations in the order in which the row reaches them: (file, function) -> number of calls."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.found: dict[tuple[str, str], int] = {}
        self.handed: set[tuple[str, str]] = set()
        self.hooks: set[tuple[str, str]] = set()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not (file := file_of(code)):
            return
        name = getattr(code, "co_qualname", code.co_name)
        values = [arg] if event == "return" else [frame.f_locals[each] for each in code.co_varnames[: code.co_argcount]]
        if any(map(self.row.within, values)):
            key = (file, name)
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

    trace = Trace(Row(ROW, TEXT))
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


class Walk:
    """The steps of a judged reply, stations and others, from the call of its scorer to the score."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.steps: list[tuple[FrameType, tuple[str, str], bool]] = []  # with frames, which a coroutine enters again
        self._places: dict[FrameType, int] = {}
        self._judge: FrameType | None = None
        self._ended = False

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        is_judge = code.co_name == "__call__" and code.co_filename.endswith("judging/judge.py")
        self._judge = self._judge or (frame if is_judge else None)
        file = "humor_tasks/on_inspect/judging/judge.py" if is_judge else file_of(code)
        if event not in ("call", "return") or self._judge is None or self._ended or not file:
            return
        if event == "call" and frame not in self._places:
            self._places[frame] = len(self.steps)
            values = [frame.f_locals[each] for each in code.co_varnames[: code.co_argcount]]
            self.steps.append(
                (frame, (file, getattr(code, "co_qualname", code.co_name)), any(map(self._handed, values)))
            )
        elif event == "return" and frame in self._places and self._handed(arg):
            place = self._places[frame]
            self.steps[place] = (*self.steps[place][:2], True)
        self._ended = frame is self._judge and event == "return" and type(arg).__name__ == "Score"

    def _handed(self, value: Any) -> bool:
        return self.row.within(value) or self.row.within(getattr(value, "record", None))

    def stays(self, without: tuple[str, ...] = ()) -> list[tuple[str, list[str]]]:
        """Module and functions of each stay. without: the beginnings of files whose steps are left out."""
        stays: list[tuple[str, list[str]]] = []
        for _, (file, function), is_station in self.steps:
            if is_station and not file.startswith(without or ("/",)):
                if not stays or stays[-1][0] != file:
                    stays.append((file, []))
                stays[-1][1].append(function)
        return stays


def measured(stays: list[tuple[str, list[str]]]) -> str:
    """The number of stays, of climbs and of returns."""
    from rooms import floor

    modules = [file.removesuffix(".py").removesuffix("/__init__") for file, _ in stays]
    floors = [floor(module.removeprefix("humor_tasks/").replace("/", ".")) for module in modules]
    climbs = sum(later > earlier for earlier, later in itertools.pairwise(floors))
    returns = len(modules) - len(set(modules))
    return f"{len(stays)} stays in {len(set(modules))} modules; it climbs {climbs} times and turns back {returns} times"


def judged(folder: Path) -> Walk:
    """The walk of a reply of humorbench, with a judge that passes every point."""
    from inspect_ai import eval

    from humor_tasks.testing import ScriptedModel, scripted_judge

    walk = Walk(Row(JUDGED, REPLY, (*NAMES, "_sample_id")))
    model, judge = ScriptedModel("m", f"<explanation>{REPLY}</explanation>"), scripted_judge("judge", True)
    given = {"dataset": "sample", "cache": False}
    how = {"limit": 1, "log_dir": str(folder), "display": "none", "model_roles": {"grader": judge.model}}
    threading.setprofile(walk)
    sys.setprofile(walk)
    try:
        eval("humor_tasks/humorbench", task_args=given, model=model.model, **how)  # type: ignore[arg-type]
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return walk


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
    sys.path.append(str(Path(__file__).resolve().parent.parent / "tools"))
    with tempfile.TemporaryDirectory() as folder:
        walk = judged(Path(folder))
    print(f"A judged reply: {measured(walk.stays())}")
    stays = walk.stays(without=("scorers/", "humor_tasks/testing/"))
    print(f"  without scorers/ and the stand-in: {measured(stays)}")
    if show:
        print("\n".join(f"  {i:3} {file}: {', '.join(functions)}" for i, (file, functions) in enumerate(stays, 1)))


if __name__ == "__main__":
    main()
