"""The results of one benchmark in groups of results that compare."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from humor_tasks.contract.definition import Benchmark
from humor_tasks.results.comparable import reasons_apart, settings
from humor_tasks.results.result import Result

IN_HEADINGS = {
    "data": "dataset",
    "split": "split",
    "fold": "fold",
    "subset": "subset",
    "n": "items",
    "rows": "fingerprint of the rows",
    "v": "version",
    "arguments": "task arguments",
    "on_unparsed": "unreadable replies",
    "prompts": "prompt set",
    "solver": "solver",
    "describer": "describer",
    "system_message": "system message",
}
"""Entries of a signature that say what a group is of -> their names in headings."""


@dataclass(frozen=True)
class Group:
    """Results of one benchmark that compare.

    name: a letter; "" where all results of the benchmark compare. apart: why this group does not compare with the
    first one of the benchmark, one phrase each. about: what its results have in common, by name. differences: what
    differs between its results, and does not keep them from comparison.
    """

    name: str
    benchmark: Benchmark
    results: tuple[Result, ...]
    apart: tuple[str, ...]
    about: Mapping[str, str]
    differences: tuple[str, ...]


def groups_of(benchmark: Benchmark, results: Iterable[Result]) -> list[Group]:
    """The results in groups, the group with most finished runs first.

    An unfinished run is in the group whose protocol and rows it has. Two results are in one group only where each
    compares with every other of the group.
    """
    groups: list[list[Result]] = []
    for result in sorted(results, key=lambda each: not each.complete):
        home = next((group for group in groups if all(not reasons_apart(result, other) for other in group)), None)
        if home is None:
            groups.append(home := [])
        home.append(result)
    groups.sort(key=lambda group: -sum(result.complete for result in group))
    several = len(groups) > 1
    return [
        Group(
            name=_letters(i) if several else "",
            benchmark=benchmark,
            results=tuple(group),
            apart=tuple(reasons_apart(groups[0][0], group[0])) if i else (),
            about=_about(group),
            differences=tuple(_differences(group)),
        )
        for i, group in enumerate(groups)
    ]


def _letters(i: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    return (_letters(i // 26 - 1) if i >= 26 else "") + string.ascii_uppercase[i % 26]


def _about(group: Sequence[Result]) -> dict[str, str]:
    signed = [result.signature for result in group if result.signature]
    shared = {heading: {signature.get(name, "-") for signature in signed} for name, heading in IN_HEADINGS.items()}
    about = {heading: values.pop() for heading, values in shared.items() if len(values) == 1 and values != {"-"}}
    about |= (
        {"each item asked": group[0].opened.variations.description} if group[0].opened.variations.number > 1 else {}
    )
    graders = {", ".join(result.run.graders) for result in group} - {""}
    return about | ({"graders": graders.pop()} if len(graders) == 1 else {})


def _differences(group: Sequence[Result]) -> list[str]:
    return [f"{name}: {', '.join(dict.fromkeys(values))}" for name, values in settings(group).items()]
