"""Every training in the processes of one launch: `main.py FOLDER COMMANDS`, COMMANDS those of `humor-tasks train`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from standins.tiny_training import trained

from humor_tasks.cli.train import train

if __name__ == "__main__":
    trained(Path(sys.argv[1]), dropout=0.0)
    for arguments in json.loads(sys.argv[2]):
        train(arguments, standalone_mode=False)
