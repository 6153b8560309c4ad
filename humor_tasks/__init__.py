"""humor-tasks: benchmarks of humour understanding for Inspect AI and lm-evaluation-harness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from humor_tasks._version import __version__

# In a source checkout scorers/ and datasets_cards/ are next to this package; in a wheel they are inside it. With the
# repository root in the package's search path, `humor_tasks.scorers` can be imported in both, and no top-level name
# `scorers` is taken.
_ROOT = Path(__file__).resolve().parent.parent
if (_ROOT / "scorers" / "__init__.py").is_file() and not (Path(__file__).parent / "scorers").exists():
    __path__.append(str(_ROOT))

if TYPE_CHECKING:
    from humor_tasks.api import clip_predict, evaluate, load
    from humor_tasks.tasks import *  # noqa: F403

# tasks: written by tools/generate.py

__all__ = [
    "__version__",
    "bbeh_nycc",
    "brainstorm",
    "caption_writing",
    "clip_predict",
    "crowd_groups",
    "crowd_pairs",
    "evaluate",
    "explanation",
    "explanation_preference",
    "humicroedit_pairwise",
    "humicroedit_rating",
    "humor_writing",
    "humorbench",
    "humorbench_autograder",
    "load",
    "matching",
    "mock_detecting",
    "mock_explaining",
    "mock_generation",
    "mock_matching",
    "ranking",
    "recitation",
]

# end of tasks


def __getattr__(name: str) -> Any:
    # Both harnesses import this package at startup, so heavy modules are imported only when used.
    if name in ("load", "evaluate", "clip_predict"):
        from humor_tasks import api

        return getattr(api, name)
    if name in __all__:
        from humor_tasks import tasks

        return getattr(tasks, name)
    raise AttributeError(f"module 'humor_tasks' has no attribute '{name}'")
