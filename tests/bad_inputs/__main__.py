"""`PYTHONPATH=tests python -m bad_inputs [PATTERN]`: how the bad inputs end, those whose room and name match."""

import collections
import os
import re
import sys
import tempfile
from pathlib import Path

from bad_inputs import CASES
from bad_inputs.case import ended

os.environ |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}
pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
counts: collections.Counter[str] = collections.Counter()
with tempfile.TemporaryDirectory() as home:
    os.environ["INSPECT_CACHE_DIR"] = f"{home}/cache"
    for i, (room, case) in enumerate(CASES):
        if not pattern.search(f"{room}: {case.name}"):
            continue
        found = ended(case, Path(home) / str(i))
        counts[found.kind] += 1
        print(f"{found.kind:10} {room}: {case.name}", flush=True)
        if found.kind != "clear":
            print(f"    {' '.join(found.output[-1200:].split())}")
print(", ".join(f"{n} {kind}" for kind, n in counts.most_common()), "of", counts.total())
