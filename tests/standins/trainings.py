"""Trainings that are killed, and what two of them have to have in common."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

_CODE = """
import os, signal
from humor_tasks.training.{system}.finetune import Trainer
epoch = Trainer._epoch
def killed(self, number, *rest):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return epoch(self, number, *rest)
Trainer._epoch = killed
from humor_tasks.cli import main
main()
"""


def kill_in_third_epoch(system: str, *flags: str) -> None:
    """`humor-tasks train SYSTEM FLAGS` on one thread, killed where its third epoch begins."""
    asked = [sys.executable, "-c", _CODE.format(system=system), "train", system, *flags]
    one = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(asked, capture_output=True, text=True, check=False, env=one)
    assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]


def but_time(metrics: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metrics.items() if name != "seconds"}
