"""The call that every task's function makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai import Task
from inspect_ai.scorer import Scorer


def build(name: str, given: Mapping[str, Any], scorers: list[Scorer] | None = None) -> Task:
    """Open a benchmark and wrap it as a Task; see `humor_tasks.on_inspect.tasks.building.build`.

    What it needs is imported by the call, because every Inspect command imports the modules of tasks.
    """
    from humor_tasks.on_inspect.tasks import building

    return building.build(name, given, scorers)
