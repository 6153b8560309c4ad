"""What Inspect's entry point costs every Inspect command: importing our registry over inspect_ai alone, in one process.

The number to report is the last line's: the entry point may cost .05 s.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

RUNS = 15
CODE = """
import json, sys, time
begin = time.perf_counter()
import inspect_ai, inspect_ai.model, inspect_ai.scorer, inspect_ai.solver, inspect_ai.dataset
alone, before = time.perf_counter() - begin, set(sys.modules)
begin = time.perf_counter()
import humor_tasks._registry
print(json.dumps([alone, time.perf_counter() - begin, sorted(set(sys.modules) - before)]))
"""


def measured() -> tuple[float, float, list[str]]:
    """Seconds for inspect_ai, seconds for the registry after it, and the modules that the registry imports."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    alone, extra, loaded = json.loads(done.stdout)
    return alone, extra, loaded


def main() -> None:
    measured()  # byte-compile and warm the file cache
    runs = [measured() for _ in range(RUNS)]
    alone, extra = [run[0] for run in runs], [run[1] for run in runs]
    own = [name for name in runs[0][2] if name.split(".")[0] == "humor_tasks"]
    other = sorted({name.split(".")[0] for name in runs[0][2]} - {"humor_tasks"})
    print(f"{len(own)} own modules: {', '.join(own)}")
    print(f"packages that inspect_ai does not import: {', '.join(other) or 'none'}")
    print(f"import inspect_ai             median {statistics.median(alone):.3f} s, best {min(alone):.3f} s")
    print(f"then humor_tasks._registry    median {statistics.median(extra):.3f} s, best {min(extra):.3f} s")
    ratio = statistics.median(both / first for first, both in zip(alone, extra, strict=True))
    print(f"the registry costs {ratio:.1%} of inspect_ai in the same process")


if __name__ == "__main__":
    main()
