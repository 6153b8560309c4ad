"""A benchmark's tasks in lm-eval: their names, the parameters that each fixes, and how a model answers.

`tools/generate.py` writes the YAML files that lm-eval reads from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

OutputType = Literal["multiple_choice", "loglikelihood", "generate_until"]
"""By the log-likelihoods of the labels, by the log-likelihood of the reference, or by a written reply."""

Settings = Mapping[str, Mapping[str, str]]
"""Suffix of the tasks' names -> the parameters that they fix."""


@dataclass(frozen=True)
class Group:
    """Tasks that lm-eval runs by one name; `about` says what they have in common."""

    name: str
    about: str


@dataclass(frozen=True)
class Variant:
    """One task of lm-eval.

    fixed: parameters that the user cannot change. metadata: parameters that `--metadata` overrides.
    about: a comment in its file.
    """

    name: str
    output_type: OutputType
    fixed: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    group: Group | None = None
    about: str = ""


def variants(
    base: str,
    *ways: OutputType,
    settings: Settings | None = None,
    metadata: Mapping[str, str] | None = None,
    groups: Mapping[str, Group] | None = None,
    about: str = "",
) -> tuple[Variant, ...]:
    """A task for each of the settings and each way of answering; the first is the main one.

    With several ways, the tasks that generate a reply have `_gen` at the end of their names.

    settings: by default one task of the name `base`, which fixes nothing.
    groups: what follows `base` in a task's name -> the group that the task belongs to.
    about: a comment in the file of the main task.
    """
    found: list[Variant] = []
    for suffix, fixed in (settings or {"": {}}).items():
        for way in ways:
            end = suffix + ("_gen" if way == "generate_until" and len(ways) > 1 else "")
            group = (groups or {}).get(end)
            found.append(Variant(base + end, way, fixed, metadata or {}, group, "" if found else about))
    return tuple(found)
