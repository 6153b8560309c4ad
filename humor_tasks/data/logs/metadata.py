"""The task metadata of a sample, under the key `humor_tasks`, in the same format for both harnesses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humor_tasks.data.logs import before
from humor_tasks.data.logs.record import About


def about(metadata: Mapping[str, Any]) -> About:
    """The task metadata of an Inspect sample; empty for a task of another package."""
    told = metadata.get("humor_tasks")
    if not isinstance(told, Mapping):
        return About()
    if before.is_old(metadata):
        return before.about(metadata)
    return _about(told, told.get("groups") or {})


def about_document(doc: Mapping[str, Any]) -> About:
    """The task metadata of a document of lm-eval."""
    if "humor_tasks" not in doc:
        return before.about_document(doc)
    return _about(doc["humor_tasks"], doc["groups"])


def _about(told: Mapping[str, Any], groups: Mapping[str, Any]) -> About:
    named = {name: str(value) for name, value in groups.items()}
    known = told.get("benchmark"), told.get("version"), told.get("signature")
    return About(*known, dict(told["options"]), named, told.get("place"))


def without_release(signature: str) -> str:
    """A signature without the release of this package: what was asked, whichever release asked it."""
    return "|".join(part for part in signature.split("|") if not part.startswith("humor_tasks:"))
