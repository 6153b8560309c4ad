"""`humor-tasks` in a process that first writes its number into a file: `killable.py FILE ARGUMENTS`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from humor_tasks.cli import main

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(str(os.getpid()), encoding="utf-8")
    main(sys.argv[2:])
