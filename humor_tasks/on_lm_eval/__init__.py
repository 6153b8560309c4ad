"""The adapter to lm-evaluation-harness: a task class, YAML files of tasks, and models.

In lm-eval's command, which shows an error as a traceback, an uncaught BadInput is shown as its message alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType

from humor_tasks.errors import BadInput

COMMANDS = ("lm_eval", "lm-eval")


def install() -> None:
    """In lm-eval's command, show an uncaught BadInput as its message alone; in any other program change nothing."""
    program = Path(sys.argv[0] if sys.argv else "")
    if program.stem not in COMMANDS and (program.parent.name, program.name) != ("lm_eval", "__main__.py"):
        return
    others = sys.excepthook

    def hook(kind: type[BaseException], problem: BaseException, frames: TracebackType | None) -> None:
        if isinstance(problem, BadInput):
            sys.stderr.write(f"humor-tasks: {problem}\n")
        else:
            others(kind, problem, frames)

    sys.excepthook = hook


install()
