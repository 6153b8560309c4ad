"""The task metadata of a sample, under the key `humor_tasks`, in the same format for both harnesses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humor_tasks.data.logs.record import About
from humor_tasks.data.records import Record
from humor_tasks.data.signature import Signature


def about(held: Mapping[str, Any]) -> About:
    """What the metadata of an Inspect sample or a document of lm-eval says; empty for a task of another package."""
    told = held.get("humor_tasks")
    if not isinstance(told, Mapping):
        return About()
    groups = {name: str(value) for name, value in told["groups"].items()}
    signature = Signature.parse(told.get("signature") or "")
    known = told.get("benchmark"), told.get("version"), signature
    return About(*known, dict(told["options"]), groups, dict(told["facts"]), told.get("place"))


def held_of(record: Record) -> dict[str, Any]:
    """What a log keeps of a record for `about`."""
    return {"groups": dict(record.groups), "facts": dict(record.facts)}
