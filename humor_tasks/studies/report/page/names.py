"""A name for every result, by which readers tell the results of one system apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from humor_tasks.studies.report.scorecard import Scorecard
from humor_tasks.studies.results import Result


def names_of(results: Sequence[Result], card: Scorecard) -> list[str]:
    """The system's name, with group, setting and label of its cell in the scorecard; else with the name of its file."""
    told: dict[int, str] = {}
    for column in card.columns:
        for cell in column.cells:
            apart = (column.group and f"group {column.group}", column.setting, cell.label)
            told.setdefault(id(cell.result), ", ".join(each for each in apart if each))
    named = [_named(result.system, told.get(id(result), result.scorer)) for result in results]
    repeated = Counter(zip((result.benchmark.name for result in results), named, strict=True))
    return [
        f"{each}, {result.paths[0].name}" if repeated[result.benchmark.name, each] > 1 else each
        for result, each in zip(results, named, strict=True)
    ]


def _named(system: str, apart: str) -> str:
    return f"{system} ({apart})" if apart else system
