"""`PYTHONPATH=tests python -m bad_inputs [WORD]`: how the bad inputs end, those whose name or room holds WORD."""

import collections
import os
import sys
import tempfile
from pathlib import Path

from bad_inputs import CASES
from bad_inputs.case import ended

os.environ |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}
counts: collections.Counter[str] = collections.Counter()
with tempfile.TemporaryDirectory() as home:
    os.environ["INSPECT_CACHE_DIR"] = f"{home}/cache"
    for i, (room, case) in enumerate(CASES):
        if any(word not in f"{room}: {case.name}" for word in sys.argv[2:]) or room not in sys.argv[1]:
            continue
        found = ended(case, Path(home) / str(i))
        counts[found.kind] += 1
        print(f"{found.kind:10} {room}: {case.name}")
        if found.kind != "clear" or "SHOW" in os.environ:
            print(f"    {' '.join(found.output[-1200:].split())}")
print(", ".join(f"{n} {kind}" for kind, n in counts.most_common()), "of", counts.total())
