"""Names of results that tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from humor_tasks.results.comparable import SETTINGS, UNTOLD
from humor_tasks.results.result import Result

BESIDE = ("generation", "chat_template")
"""Entries of a signature that stand beside a result wherever results of one column differ in them."""


def labels(results: Sequence[Result]) -> list[str]:
    """A unique name per result: its system, and where that is shared what else differs.

    That is, in this order and as far as needed: the entries of the signature that differ, the harness, the scorer, and
    the file.
    """
    names = [result.system for result in results]
    distinctions: tuple[Callable[[Result], str], ...] = (
        lambda result: _settings(result, results),
        lambda result: result.run.harness,
        lambda result: result.scorer,
        lambda result: result.paths[0].name,
        lambda result: str(result.paths[0]),
    )
    for distinction in distinctions:
        shared = {name for name, times in Counter(names).items() if times > 1}
        if not shared:
            break
        texts = [distinction(result) if name in shared else "" for result, name in zip(results, names, strict=True)]
        several = {name: len({t for t, n in zip(texts, names, strict=True) if n == name}) > 1 for name in shared}
        names = [f"{name}, {t}" if t and several[name] else name for name, t in zip(names, texts, strict=True)]
    return names


def _settings(result: Result, results: Sequence[Result]) -> str:
    """The entries of a signature in which results of one system differ."""
    alike = [other.signature for other in results if other.system == result.system]
    names = dict.fromkeys(name for signature in alike for name in signature)
    differing = [name for name in names if len({signature.get(name) for signature in alike}) > 1]
    return ", ".join(f"{name}={result.signature[name]}" for name in differing if name in result.signature)


def labels_in_column(results: Sequence[Result]) -> list[str]:
    """What tells each result apart from others of its system in one column: harness, settings, and else the file."""
    texts = []
    for result in results:
        alike = [other for other in results if other.system == result.system]
        names = dict.fromkeys((*SETTINGS, *(name for other in alike for name in other.signature)))
        entries = [n for n in names if n not in UNTOLD and len({other.signature.get(n, "-") for other in alike}) > 1]
        entries += [n for n in BESIDE if n not in entries and len({r.signature.get(n, "-") for r in results}) > 1]
        harness = [result.run.harness] if len({other.run.harness for other in alike}) > 1 else []
        texts.append(", ".join([*harness, *(f"{name} {result.signature.get(name, '-')}" for name in entries)]))
    repeated = Counter(zip((result.system for result in results), texts, strict=True))
    return [
        ", ".join(filter(None, (text, str(result.paths[0])))) if repeated[result.system, text] > 1 else text
        for result, text in zip(results, texts, strict=True)
    ]
