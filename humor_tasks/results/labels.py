"""Names of results that tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from humor_tasks.results.result import Result


def labels(results: Sequence[Result]) -> list[str]:
    """A unique name per result: its system, and where that is shared what else differs.

    That is, in this order and as far as needed: the entries of the signature that differ, the harness, the scorer, and
    the file.
    """
    names = [result.system for result in results]
    for more in (_settings(results, names), _harness, _scorer, _file, _path):
        shared = {name for name, times in Counter(names).items() if times > 1}
        if not shared:
            break
        told = [more(result) if name in shared else "" for result, name in zip(results, names, strict=True)]
        several = {name: len({t for t, n in zip(told, names, strict=True) if n == name}) > 1 for name in shared}
        names = [f"{name}, {t}" if t and several[name] else name for name, t in zip(names, told, strict=True)]
    return names


def _settings(results: Sequence[Result], names: Sequence[str]) -> Callable[[Result], str]:
    """A function that gives the entries of the signature in which results of one name differ."""
    alike: dict[str, list[Result]] = {}
    for result, name in zip(results, names, strict=True):
        alike.setdefault(name, []).append(result)

    def told(result: Result) -> str:
        group = [each.signature for each in alike[result.system]]
        entries = dict.fromkeys(name for each in group for name in each)
        differing = [name for name in entries if len({each.get(name) for each in group}) > 1]
        return ", ".join(f"{name}={result.signature[name]}" for name in differing if name in result.signature)

    return told


def _harness(result: Result) -> str:
    return result.run.harness


def _scorer(result: Result) -> str:
    return result.scorer


def _file(result: Result) -> str:
    return result.paths[0].name


def _path(result: Result) -> str:
    return str(result.paths[0])
