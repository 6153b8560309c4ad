"""A benchmark's tasks in lm-eval: their names, how a model answers, and the parameters that they fix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from humor_tasks.contract.options import ALL

OutputType = Literal["multiple_choice", "loglikelihood", "generate_until"]
"""How a model answers: log-likelihoods of the labels, log-likelihood of the reference, or a generated reply."""

WORDINGS = "_wordings"
"""The end of the names of tasks with `prompts=all`."""

Settings = Mapping[str, Mapping[str, str]]
"""Suffix of the tasks' names -> the parameters that they fix."""


@dataclass(frozen=True)
class Group:
    """Tasks that lm-eval runs under one name; `about` says what they have in common."""

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
    wordings: bool = False,
) -> tuple[Variant, ...]:
    """One task for each setting and each output type in `ways`. The first is the main task.

    With several output types, the names of the tasks that generate a reply end in `_gen`.

    settings: by default one task named `base` that fixes no parameter.
    groups: the part of a task's name after `base` -> the group of the task.
    about: a comment in the file of the main task.
    wordings: whether there are tasks that ask each item under all prompt sets, in the first setting: BASE_wordings.
    """
    found: list[Variant] = []
    chosen = dict(settings or {"": {}})
    if wordings:
        chosen[WORDINGS] = {**next(iter(chosen.values())), "prompts": ALL}
    for suffix, fixed in chosen.items():
        for way in ways:
            end = suffix + ("_gen" if way == "generate_until" and len(ways) > 1 else "")
            group = (groups or {}).get(end)
            found.append(Variant(base + end, way, fixed, metadata or {}, group, "" if found else about))
    return tuple(found)
