"""A process that imports the annotation page once, and forks a server of it for each command line that it reads.

Importing Gradio takes three seconds of CPU, and the tests start a dozen servers. It reads lines of JSON, either
{"run": the arguments of `humor-tasks`, "output": a FIFO for what is printed} or {"kill": the number of a process}, and
answers each with the number of the process. Servers that run when its input ends are killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from humor_tasks.cli import main
from humor_tasks.studies.people import page


def fork(run: list[str], output: str) -> int:
    """The number of the process that runs a command."""
    if child := os.fork():
        return child
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    told = os.open(output, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(told, stream)
    sys.stdout = os.fdopen(1, "w", buffering=1)  # what the old one still holds was said to the tests
    main(run)
    raise SystemExit


def kill(process: int) -> int:
    """SIGKILL: nothing is put in order."""
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return process


if __name__ == "__main__":
    assert page
    running: set[int] = set()
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        number = kill(order["kill"]) if "kill" in order else fork(**order)
        running ^= {number}
        print(number, flush=True)
    for number in running:
        kill(number)
