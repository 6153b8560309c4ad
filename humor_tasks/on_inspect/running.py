"""Runs of Inspect that a command of this package starts, up to their end."""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, eval
from inspect_ai.log import EvalLog

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.client import register_prices


def finished(task: Task, what: str, **asked: Any) -> EvalLog:
    """The log of a run of `task` that has finished. what: the run in messages. asked: arguments of Inspect's `eval`.

    Raises BadInput where the log cannot be written, and where the run does not finish.
    """
    register_prices()
    try:
        logs = eval(task, **asked)
    except OSError as problem:
        raise BadInput(f"{what}: the log cannot be written ({problem}). Make room, or choose another folder.") from None
    if not logs:  # after Ctrl-C
        raise BadInput(f"{what} was interrupted. Run the command again.")
    log = logs[0]
    if log.status != "success":
        why = f": {' '.join(log.error.message.split())}" if log.error else ""
        raise BadInput(
            f"{what} ended with status {log.status}{why}. Once that is put right, run the command again; it asks only "
            "for what is missing."
        )
    return log
