"""The signature of a sample whose question a solver of this package changed."""

from __future__ import annotations

from collections.abc import Mapping

from inspect_ai.solver import TaskState

from humor_tasks.data.logs.record import task_metadata


def sign(state: TaskState, entries: Mapping[str, str]) -> None:
    """Write entries into the signature in a sample's metadata; a task of another package has none.

    The reader of logs takes the run's signature from its samples where such a solver was in the plan.
    """
    signature = task_metadata(state.metadata).signature
    if signature:
        known = state.metadata["humor_tasks"]
        state.metadata["humor_tasks"] = {**known, "signature": str(signature.with_entries(entries))}
