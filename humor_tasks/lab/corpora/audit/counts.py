"""Counts and lengths of a dataset, beside those that the paper of its benchmark prints."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from statistics import mean, median

from humor_tasks.lab.corpora.audit.items import Item, Items
from humor_tasks.papers.published import published

STUDY = "audit"  # of the figures in published.toml


@dataclass(frozen=True)
class Statistic:
    """One quantity. here: its value, the mean of the folds where a split is in several; least, most: of the folds.

    published: the paper's value, None where it prints none; source: where it stands.
    """

    quantity: str
    here: float
    least: float
    most: float
    published: float | None
    source: str


def statistics(data: Items, task: str | None = None) -> tuple[Statistic, ...]:
    """groups, instances, and the words of a text; instances_SPLIT of each split.

    An instance is a row but for its description of the scene and the order of its choices: training rows repeat it.
    Words are separated by white space. Texts are those of `Item.texts`, each counted once an instance: choices, what
    is rated, or references.
    """
    distinct = _instances(data.items)
    lengths = [len(text.split()) for item in distinct for text in item.texts]
    values: dict[str, list[float]] = {"groups": [len({item.group for item in distinct})]} if data.grouped else {}
    values |= {"instances": [len(distinct)]}
    for name, part in data.parts.items():
        values.setdefault(f"instances_{part.split}", []).append(len(_instances(data.of(name))))
    values |= {"words": [sum(lengths)], "words_mean": [mean(lengths)], "words_median": [median(lengths)]}
    figures = {f.estimate: f for f in published(task, STUDY)} if task else {}
    return tuple(
        Statistic(name, mean(found), min(found), max(found), *((f.value, f.source) if f else (None, "")))
        for name, found in values.items()
        for f in [figures.get(name)]
    )


def _instances(items: Iterable[Item]) -> list[Item]:
    """The first row of each instance."""
    first: dict[Hashable, Item] = {}
    for item in items:
        first.setdefault((item.group, tuple(sorted(item.texts)), item.answer), item)
    return list(first.values())
