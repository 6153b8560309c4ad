"""All figures of a GPU by one command, in under ten minutes on one H100: CLIP and OFA beside plain loops and the peak.

    python speed/gpu.py [--only clip]

Each part is a script of this folder that ends by itself. One that takes longer than its limit is stopped, and named.
Without a GPU nothing is measured and the command fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import torch

# Name -> limit in seconds, and the command.
PARTS = {
    "clip": (200, ["clip_speed.py", "--device", "cuda", "--pictures", "4096", "--instances", "500"]),
    "ofa-huge": (
        200,
        ["ofa_generation.py", "--size", "huge", "--image", "480", "--batch", "1", "8", "32", "--uncached", "8"],
    ),
    "ofa-reading": (120, ["ofa_reading.py", "--size", "huge", "--image", "480", "--rows", "8"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=tuple(PARTS), action="append", help="repeat it for several parts")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("torch finds no CUDA device; nothing was measured.")
    failed = [name for name in given.only or PARTS if not run(name, *PARTS[name])]
    if failed:
        sys.exit(f"not measured: {', '.join(failed)}.")


def run(name: str, limit: int, command: list[str]) -> bool:
    """Run one part; whether it ended by itself and well."""
    print(f"== {name}: {' '.join(command)}", flush=True)
    start = time.perf_counter()
    try:
        done = subprocess.run([sys.executable, *command], cwd=Path(__file__).parent, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        print(f"== {name}: stopped after {limit} s", flush=True)
        return False
    print(f"== {name}: {time.perf_counter() - start:.0f} s, exit {done.returncode}", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    main()
