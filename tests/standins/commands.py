"""The command lines of both harnesses and ours as functions: a process of its own costs seconds of imports each time.

`lm_eval` also leaves out what lm-eval's own command reads first: the 14,000 files of its own tasks, 10 to 20 s. One
test of every command starts it as a user does; see tests/packaging/.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from contextvars import copy_context
from pathlib import Path
from unittest.mock import patch

from click import Group
from click.testing import CliRunner, Result


@contextmanager
def without_lm_evals_own_tasks() -> Iterator[None]:
    """Every `TaskManager` knows the tasks of the folders it is given and ours, and none of lm-eval's."""
    import lm_eval.tasks
    from lm_eval.tasks._index import TaskIndex

    own, files = Path(lm_eval.tasks.__file__).parent, TaskIndex._iter_yaml_files
    with patch.object(TaskIndex, "_iter_yaml_files", lambda root: [] if root == own else files(root)):
        yield


def run_lm_eval(arguments: list[str]) -> None:
    """As `lm_eval ARGUMENTS`, but for lm-eval's own tasks and the handler of its log, which a process sets up once."""
    from lm_eval._cli import HarnessCLI

    with patch.object(sys, "argv", ["lm_eval", *arguments]), without_lm_evals_own_tasks():
        from humor_tasks.testing.lm_eval_runs import undescribed  # looks for the name of the program

        with undescribed():
            command = HarnessCLI()
            command.execute(command.parse_args())


def lm_eval(*arguments: str | Path, cwd: Path) -> str:
    """What `lm_eval ARGUMENTS` prints; whatever it raises is raised."""
    said = io.StringIO()
    with chdir(cwd), redirect_stdout(said), redirect_stderr(said), patch.dict(os.environ):
        run_lm_eval([str(argument) for argument in arguments])
    return said.getvalue()


def launch(module: str, *arguments: str | Path, cwd: Path) -> None:
    """`python -m MODULE ARGUMENTS`, without CUDA."""
    from standins.waiting import LIMIT  # here, because launchers run this file as a script

    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=os.environ | {"CUDA_VISIBLE_DEVICES": ""}, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def inspect(*arguments: str | Path, cwd: Path) -> str:
    """What `inspect ARGUMENTS` prints; whatever it raises is raised."""
    from inspect_ai._cli.main import inspect as command
    from inspect_ai.model._model import _models

    _models.clear()  # kept by name: the test before may have had another server behind it
    with chdir(cwd):  # in a context of its own: eval-set leaves its last model and roles behind
        invoked = copy_context().run(_invoked, command, arguments, auto_envvar_prefix="INSPECT")
    return _succeeded(invoked)


def uv(*arguments: str | Path) -> None:
    """`uv ARGUMENTS`, which installs in a tenth of pip's time."""
    from standins.waiting import LIMIT
    from uv import find_uv_bin

    done = subprocess.run([find_uv_bin(), *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr


def humor_tasks(*arguments: str | Path) -> str:
    """What `humor-tasks ARGUMENTS` prints."""
    from humor_tasks.cli import main

    return _succeeded(_invoked(main, arguments))


def refused(*arguments: str | Path) -> str:
    """What `humor-tasks ARGUMENTS` prints, in one line, when it ends with 2 for bad input."""
    from humor_tasks.cli import main

    done = _invoked(main, arguments)
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output, done.output
    return " ".join(done.output.split())


def _invoked(command: Group, arguments: tuple[str | Path, ...], **more: str) -> Result:
    with patch.dict(os.environ):
        given = [str(argument) for argument in arguments]
        return CliRunner().invoke(command, given, catch_exceptions=False, **more)


def _succeeded(done: Result) -> str:
    assert done.exit_code == 0, done.output
    return done.output


if __name__ == "__main__":  # for launchers of several processes
    run_lm_eval(sys.argv[1:])
