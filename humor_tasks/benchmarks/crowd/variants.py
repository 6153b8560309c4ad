"""The crowd benchmarks' tasks in lm-eval."""

from __future__ import annotations

from humor_tasks.benchmarks.options import variants

SHOWN = {"": {}, "_pixels": {"setting": "pixels"}}
"""What the tasks fix, by the ends of their names."""
BEST_PICK = {suffix: {"mode": "best_pick", **fixed} for suffix, fixed in SHOWN.items()}

PAIRS = variants("crowd_pairs", "multiple_choice", "generate_until", settings=SHOWN)
GROUPS = (
    *variants("crowd_groups", "multiple_choice", "generate_until", settings=SHOWN),
    *variants("crowd_groups_best_pick", "generate_until", settings=BEST_PICK),
)
WRITING = variants("caption_writing", "generate_until", settings=SHOWN)
