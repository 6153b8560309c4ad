"""What Inspect's entry point costs every Inspect command: importing our registry over inspect_ai alone."""

from __future__ import annotations

import statistics
import subprocess
import sys

RUNS = 15
TIMED = "import time; import inspect_ai, inspect_ai.model, inspect_ai.scorer, inspect_ai.solver, inspect_ai.dataset;"
CODE = TIMED + "t = time.perf_counter(); import humor_tasks._registry; print(time.perf_counter() - t)"
ALONE = "import time; t = time.perf_counter(); import inspect_ai; print(time.perf_counter() - t)"


def seconds(code: str) -> list[float]:
    command = [sys.executable, "-c", code]
    return [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(RUNS)]


def main() -> None:
    seconds(CODE)[:1]  # byte-compile and warm the file cache
    alone, extra = seconds(ALONE), seconds(CODE)
    print(f"import inspect_ai             median {statistics.median(alone):.3f} s, best {min(alone):.3f} s")
    print(f"then humor_tasks._registry    median {statistics.median(extra):.3f} s, best {min(extra):.3f} s")


if __name__ == "__main__":
    main()
