"""Python programs without the seconds that their imports take: each is a fork of one process that has imported much.

`Forks` is that process, which imports nothing of humor_tasks. A program may start others in the same way:
`forks.py ADDRESS PROGRAM ARGUMENTS` is one.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

ON_THE_CPU = {"DS_ACCELERATOR": "cpu", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


class Forks:
    """A context manager. modules: what is imported before the programs begin."""

    def __init__(self, modules: list[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="forks")
        self.address = str(Path(self._folder.name) / "address")
        self._command = [sys.executable, __file__, self.address, "--serve", *modules]

    def __enter__(self) -> Forks:
        pipe = subprocess.PIPE
        self._server = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, text=True, env=os.environ | ON_THE_CPU)
        assert self._server.stdout is not None
        assert self._server.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.communicate()  # the end of its input is its sign to end
        self._folder.cleanup()

    def run(self, program: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """A program is a module's name or a script's path, then its arguments."""
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8") as out,
            tempfile.TemporaryFile("w+", encoding="utf-8") as err,
        ):
            code = forked(self.address, program, environment, out.fileno(), err.fileno())
            texts = [file.seek(0) or file.read() for file in (out, err)]
        return subprocess.CompletedProcess(program, code, *texts)


def forked(address: str, program: list[str], environment: dict[str, str], *outputs: int) -> int:
    """Runs a program in a fork of the process at the address; its exit status, which is -1 where it was killed."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"\0"], list(outputs))
        connection.sendall(json.dumps([program, environment]).encode() + b"\n")
        return int(connection.makefile().read() or -1)


def serve(address: str, modules: list[str]) -> None:
    """Forks at every request until the standard input ends, and then ends what still runs."""
    for name in modules:
        importlib.import_module(name)
    running: set[int] = set()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while server in select.select([server, sys.stdin], [], [])[0]:
            connection = server.accept()[0]
            if child := os.fork():
                running.add(child)
                connection.close()
            else:
                server.close()
                answer(connection)
            running -= {each for each in running if os.waitpid(each, os.WNOHANG)[0]}
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def answer(connection: socket.socket) -> None:
    """Runs the program that is asked for, says how it ended, and ends."""
    outputs = socket.recv_fds(connection, 1, 2)[1]
    program, environment = json.loads(connection.makefile().readline())
    os.environ.clear()
    os.environ.update(environment)
    for own, theirs in enumerate(outputs, 1):
        os.dup2(theirs, own)
    code = ended(program)
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(str(code).encode())
    os._exit(code)


def ended(program: list[str]) -> int:
    """The exit status of a program that is run here."""
    run: Any = runpy.run_path if program[0].endswith(".py") else runpy.run_module
    sys.argv = program
    try:
        run(program[0], run_name="__main__")
        atexit._run_exitfuncs()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])  # the tests: theirs are the programs
    if sys.argv[2] == "--serve":
        serve(sys.argv[1], sys.argv[3:])
    else:
        sys.exit(forked(sys.argv[1], sys.argv[2:], dict(os.environ), 1, 2))
