"""The task metadata of a sample, under the key `humor_tasks`, in the same format for both harnesses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from humor_tasks.data.logs.record import About
from humor_tasks.data.records import Record


def about(held: Mapping[str, Any]) -> About:
    """What the metadata of an Inspect sample or a document of lm-eval says; empty for a task of another package."""
    told = held.get("humor_tasks")
    if not isinstance(told, Mapping):
        return About()
    groups = {name: str(value) for name, value in told["groups"].items()}
    known = told.get("benchmark"), told.get("version"), told.get("signature")
    return About(*known, dict(told["options"]), groups, dict(told["facts"]), told.get("place"))


def held_of(record: Record) -> dict[str, Any]:
    """What a log keeps of a record for `about`."""
    return {"groups": dict(record.groups), "facts": dict(record.facts)}


def without_release(signature: str) -> str:
    """A signature without the release of this package: what was asked, whichever release asked it."""
    return "|".join(part for part in signature.split("|") if not part.startswith("humor_tasks:"))


def entries_of(signature: str) -> dict[str, str]:
    """The entries of a signature by name; empty for "-", the signature of a run that records none."""
    return {} if signature in ("", "-") else dict(part.partition(":")[::2] for part in signature.split("|"))


def with_entries(signature: str, entries: Mapping[str, str]) -> str:
    """The signature with these entries, in the place of those of the same name, the others before the prompts' hash."""
    if not entries:
        return signature
    known = {name: value.replace("|", "/") for name, value in entries.items()}
    replaced = [(name, known.pop(name, value)) for name, value in entries_of(signature).items()]
    place = next((i for i, (name, _) in enumerate(replaced) if name == "prompts"), len(replaced))
    return "|".join(f"{name}:{value}" for name, value in (*replaced[:place], *known.items(), *replaced[place:]))


def digest(what: Any) -> str:
    """First 8 hex digits of the SHA-256 of a text, or of the JSON of anything else."""
    text = what if isinstance(what, str) else json.dumps(what, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def settings_shown(settings: Mapping[str, Any]) -> str:
    """Settings for a signature, by name."""
    return ",".join(f"{name}={setting_shown(settings[name])}" for name in sorted(settings))


def setting_shown(value: Any) -> str:
    """A setting for a signature: a number or word as it is, of anything else the digest."""
    if isinstance(value, bool | int | float):
        return str(value)
    return value if isinstance(value, str) and value.isalnum() else digest(value)
