"""A module as a program in a process that first writes its number into a file: `killable.py FILE MODULE ARGUMENTS`."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(str(os.getpid()), encoding="utf-8")
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__")
