"""The task metadata of a sample, under the key `humor_tasks`, in the same format for both harnesses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humor_tasks.data.logs.record import About
from humor_tasks.data.records import Record
from humor_tasks.data.signature import Signature
from humor_tasks.errors import BadInput


def about(held: Mapping[str, Any], where: str = "a sample") -> About:
    """What the metadata of an Inspect sample or a document of lm-eval says; empty for a task of another package.

    Raises BadInput, with `where` in the message, for metadata of another shape.
    """
    told = held.get("humor_tasks")
    if not isinstance(told, Mapping):
        return About()
    try:
        groups = {name: str(value) for name, value in told["groups"].items()}
        signature = Signature.parse(told.get("signature") or "")
        known = told.get("benchmark"), told.get("version"), signature
        return About(*known, dict(told["options"]), groups, dict(told["facts"]), told.get("place"))
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise BadInput(
            f"{where}: its metadata under 'humor_tasks' cannot be read ({problem!r}). It was edited, or written by "
            "another version of humor-tasks; run the task again."
        ) from None


def held_of(record: Record) -> dict[str, Any]:
    """What a log keeps of a record for `about`."""
    return {"groups": dict(record.groups), "facts": dict(record.facts)}
