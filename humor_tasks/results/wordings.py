"""Systems that were asked under several prompt sets: compared under each set, and differences within the wordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from humor_tasks.results.pairing import Comparison, PlannedComparison, planned
from humor_tasks.results.result import Result

MOST_TOLD = 10
"""At most this many are listed; beyond it, their count."""


def drafts_by_set(results: Sequence[Result], draft: PlannedComparison) -> list[PlannedComparison]:
    """The pairs of a benchmark's results under each prompt set, its systems in the order of `draft`.

    results: all of the benchmark. None for another metric than the main one, and for runs under one prompt set.
    """
    letters = dict.fromkeys(letter for system in draft.systems for letter in system.result.opened.variations.sets)
    names = [f"{draft.name}_set_{letter}" for letter in letters]
    known = {name for system in draft.systems for name in system.result.estimates}
    order = [system.label for system in draft.systems]
    drafts = [planned(results, name, [], order) for name in names if name in known]
    return [of_set for of_set in drafts if of_set is not None and of_set.pairs]


def set_of(name: str) -> str:
    """The prompt set in the name of a metric under one prompt set."""
    return name.rsplit("_", 1)[-1]


def told_of_askings(draft: PlannedComparison) -> Iterator[str]:
    """How often each item is asked, where that is more than once; runs that are asked in other ways do not compare."""
    ways: dict[str, list[str]] = {}
    for system in draft.systems:
        ways.setdefault(system.result.opened.variations.description, []).append(system.label)
    for told, labels in ways.items():
        by = f" by {', '.join(labels)}" if len(ways) > 1 else ""
        if told != "once":
            yield f"Each item is asked {told}{by}. Items, wins, ties and needed items count every asking."


def within_wordings(comparisons: Sequence[Comparison], metric: str) -> Iterator[str]:
    """Which differences of the main metric are smaller than the spread of either system's prompt sets."""
    texts = []
    for c in comparisons:
        if metric != c.first.result.benchmark.metrics[0].name:
            return
        spreads = {s.label: e.value for s in (c.first, c.second) if (e := s.result.estimates.get("spread"))}
        size = abs(c.test.difference.value)
        if wider := [f"{label} ({value:.3f})" for label, value in spreads.items() if size < value]:
            both = f"{c.first.label} and {c.second.label}"
            texts.append(
                f"{both}: the difference {size:.3f} is smaller than the spread of wordings of {' and '.join(wider)}."
            )
    if len(comparisons) <= MOST_TOLD:
        yield from texts
    elif texts:
        these = f"{len(texts)} of {len(comparisons)} differences"
        yield f"{these} are smaller than the spread of wordings of one of their systems."
