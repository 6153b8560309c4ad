"""One bad input, and how the command that is given it ends: `clear`, `unclear`, `traceback`, `silent` or `littered`."""

from __future__ import annotations

import io
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import rich
from click.testing import CliRunner
from rich.text import Text
from standins.commands import run_lm_eval

from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval import install

LONGEST = 2500  # characters of everything that a command prints about one bad input
WRITTEN_BY_HARNESSES = ("logs", "cache")


@dataclass(frozen=True)
class Bad:
    """A bad input.

    name: what is wrong. command: a command line, run in a folder that holds `files`, or a function for the Python
    interface. says: what the message must contain; white space counts as one blank. files: {path: text, bytes, or a
    function that makes it at that path}. warns: the input is used, and the message is a warning. within: entered around
    the command, such as a full disk. leaves: the files that the command writes all the same.
    """

    name: str
    command: str | Callable[[], Any]
    says: tuple[str, ...]
    files: Mapping[str, str | bytes | Callable[[Path], object]] = field(default_factory=dict)
    warns: bool = False
    within: Callable[[], Any] | None = None
    leaves: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    """What a command printed, and whether that helps."""

    kind: str
    output: str


def bad(name: str, command: str | Callable[[], Any], *says: str, **more: Any) -> Bad:
    """A `Bad`, with its messages in line."""
    return Bad(name, command, says, **more)


def ended(case: Bad, folder: Path) -> Ended:
    """Make the input in a new folder, run the command there, and classify how it ends."""
    folder.mkdir(parents=True)
    for name, content in case.files.items():
        _make(folder / name, content)
    before = _held(folder)
    with chdir(folder):
        status, output = _run(case)
    told = " ".join(output.replace("│", " ").split())
    left = {name for name in _changed(before, _held(folder)) if not name.startswith(case.leaves or ("\0",))}
    if "Traceback (most recent call last)" in told or ("╭─" in output and "Traceback" in output):
        return Ended("traceback", output)
    failed = status != 0 or "Task interrupted" in told  # Inspect's own status of a failed task is 0
    if not failed and not case.warns:
        return Ended("silent", output)
    if left:
        return Ended("littered", f"{output}\n{sorted(left)}")
    clear = all(" ".join(words.split()) in told for words in case.says) and len(told) < LONGEST
    return Ended("clear" if clear and failed != case.warns else "unclear", f"{status}: {output}")


def _make(path: Path, content: str | bytes | Callable[[Path], object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if callable(content):
        content(path)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_bytes(content.encode("utf-8", "surrogatepass"))


def _held(folder: Path) -> dict[str, bytes | None]:
    """Every path in the folder, with the content of files; what the harnesses write is left out."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.split("/")[0] not in WRITTEN_BY_HARNESSES:
            found[name] = path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else None
    return found


def _changed(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> set[str]:
    return {name for name in {**before, **after} if before.get(name, b"\0") != after.get(name, b"\0")}


# ---- running, as a terminal shows it ------------------------------------------------------------


def _run(case: Bad) -> tuple[int, str]:
    shown = io.StringIO()
    status = 0
    served = patch("humor_tasks.studies.people.page.serve")  # a page that is served is served for ever
    with served, patch.dict(os.environ, {"INSPECT_LOG_DIR": "logs", "INSPECT_DISPLAY": "plain"}):
        try:
            with warned(), redirect_stdout(shown), redirect_stderr(shown), (case.within or nullcontext)():
                if callable(case.command):
                    case.command()
                else:
                    status = _command(shlex.split(case.command), shown)
        except BadInput as problem:
            if not callable(case.command):
                raise
            return 1, str(problem)
        except Exception as problem:
            return 1, shown.getvalue() + "".join(traceback.format_exception(problem))
    return status, shown.getvalue()


@contextmanager
def warned() -> Iterator[None]:
    """Every warning to a user is printed, also under pytest, which keeps them for its summary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: print(f"Warning: {message}", file=sys.stderr)
        yield


def _command(words: list[str], shown: io.StringIO) -> int:
    program, *arguments = words
    if program == "lm_eval":
        return _lm_eval(arguments)
    if program == "humor-tasks":
        from humor_tasks.cli import main

        done = CliRunner().invoke(main, arguments)
    else:
        from inspect_ai._cli.main import inspect
        from inspect_ai.model._model import _models

        _models.clear()
        with _display_anew():
            done = CliRunner().invoke(inspect, arguments, auto_envvar_prefix="INSPECT")
    shown.write(done.output)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return _uncaught(done.exception, done.exc_info, shown)
    return done.exit_code


@contextmanager
def _display_anew() -> Iterator[None]:
    """Inspect keeps the display of its first evaluation: after a test with none, the console would stay quiet."""
    console = rich.get_console()
    kept = vars(console).copy()
    rich.reconfigure()
    try:
        with patch("inspect_ai._display.core.active._active_display", None):
            yield
    finally:
        vars(console).clear()
        vars(console).update(kept)


def _uncaught(problem: BaseException, about: Any, shown: io.StringIO) -> int:
    """What Inspect's and Python's handlers print of an exception that ends a command."""
    from inspect_ai._util.error import PrerequisiteError

    if isinstance(problem, PrerequisiteError):
        shown.write(Text.from_markup(str(problem.message)).plain)
    else:
        shown.write("".join(traceback.format_exception(*about)))
    return 1


def _lm_eval(arguments: list[str]) -> int:
    with patch.object(sys, "argv", ["lm_eval"]), patch.object(sys, "excepthook", sys.__excepthook__):
        install()  # as the import of the adapter does in lm-eval's own process
        try:
            run_lm_eval(arguments)
        except SystemExit as left:
            return int(left.code or 0) if isinstance(left.code, int | None) else 1
        except Exception as problem:
            sys.excepthook(type(problem), problem, problem.__traceback__)
            return 1
    return 0
