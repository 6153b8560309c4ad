"""What the metric modules share: columns that are checked before they are stored, and the form of the results."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Hashable, Mapping, Sequence, Set
from typing import Any, ClassVar

import evaluate
from datasets import Features

from humor_tasks.errors import BadInput
from humor_tasks.papers.papers import Paper
from humor_tasks.scorers.estimate import Estimate, check_level
from humor_tasks.scorers.validation import check_same_length

from .entries import CLUSTER, Entry


class TypedMetric(evaluate.Metric):
    """A metric of `predictions`, `references` and, optionally, `clusters`, one entry a row.

    A subclass is documented by its docstring, `paper` and `inputs_text`. `prediction` and `reference` say what
    an entry is. An entry of another kind raises BadInput with field and row, and nothing of its batch is stored.
    """

    prediction: ClassVar[Entry]
    reference: ClassVar[Entry]
    paper: ClassVar[Paper]
    inputs_text: ClassVar[str]
    _clustered = False

    def estimates(
        self, predictions: list[Any], references: list[Any], clusters: Sequence[Hashable], level: float
    ) -> Mapping[str, Estimate | float]:
        """The results by name, computed by `humor_tasks.scorers`; the first is an Estimate that counts the rows."""
        raise NotImplementedError

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=inspect.getdoc(type(self)) or "",
            citation=self.paper.bibtex,
            inputs_description=inspect.cleandoc(self.inputs_text),
            features=Features({name: entry.feature for name, entry in self._entries().items()}),
            reference_urls=[self.paper.address],
            license="MIT",
        )

    def _entries(self) -> dict[str, Entry]:
        return {"predictions": self.prediction, "references": self.reference, "clusters": CLUSTER}

    def compute(
        self, *, predictions: Any = None, references: Any = None, clusters: Any = None, level: float = 0.95
    ) -> dict[str, Any] | None:
        """The results of the rows added so far and of the columns given here.

        Raises BadInput as `add_batch` does, and on a level outside (0, 1).

        """
        check_level(level)
        columns = {"predictions": predictions, "references": references, "clusters": clusters}
        results: dict[str, Any] | None = super().compute(**columns, level=level)
        return results

    def add_batch(
        self, *, predictions: Any = None, references: Any = None, clusters: Any = None, **others: Any
    ) -> None:
        """Add rows.

        Raises BadInput on a column that is missing or no list, on columns of different length, on an entry of another
        kind, and where some batches have clusters and some have none. No row of the batch is added then.

        """
        columns = {"predictions": predictions, "references": references}
        columns |= {} if clusters is None else {"clusters": clusters}
        for name, column in columns.items():
            _check_column(name, column)
        rows = check_same_length(**columns)
        if len(self) and self._clustered != (clusters is not None):
            had = "clusters" if self._clustered else "none"
            raise BadInput(
                f"clusters: the {len(self)} rows added before have {had}; give them for all rows or for none."
            )
        read = {name: self._read(name, column) for name, column in columns.items()}
        super().add_batch(**{"clusters": [""] * rows} | read, **others)
        self._clustered = clusters is not None

    def add(self, *, prediction: Any = None, reference: Any = None, clusters: Any = None, **row: Any) -> None:
        """Add one row; `clusters` is the id of its cluster.

        Raises BadInput as `add_batch` does.

        """
        # evaluate.combine gives the entries under the names of the columns.
        row = {"predictions": prediction, "references": reference, **row}
        self.add_batch(clusters=None if clusters is None else [clusters], **{name: [row[name]] for name in row})

    def _read(self, name: str, column: Sequence[Any]) -> list[Any]:
        """The column as it is stored."""
        entry, read = self._entries()[name], []
        for row, value in enumerate(column, start=len(self)):
            try:
                read.append(entry.read(value))
            except (TypeError, ValueError):
                raise BadInput(f"{name}[{row}] is {reprlib.repr(value)}; it must be {entry.wanted}.") from None
        return read

    def _compute(
        self, *, predictions: list[Any], references: list[Any], clusters: list[str], level: float
    ) -> dict[str, Any]:
        clustered = any(clusters)
        if clustered and not all(clusters):
            raise BadInput("clusters: some processes gave them and some did not; give them in all or in none.")
        ids = clusters if clustered else range(len(clusters))
        estimates = self.estimates(predictions, references, ids, level)
        results: dict[str, Any] = {}
        for name, result in estimates.items():
            if not isinstance(result, Estimate):
                results[name] = result
                continue
            results[name] = result.value
            if clustered:
                results |= {f"{name}_{part}": getattr(result, part) for part in ("stderr", "low", "high")}
        first = next(e for e in estimates.values() if isinstance(e, Estimate))
        return results | {"n": first.n} | ({"clusters": first.clusters} if clustered else {})


def _check_column(name: str, column: object) -> None:
    if column is None:
        raise BadInput(f"{name} is missing; give one entry a row.")
    ordered = hasattr(column, "__len__") and hasattr(column, "__iter__") and getattr(column, "ndim", 1) > 0
    if not ordered or isinstance(column, (str, bytes, Mapping, Set)):
        raise BadInput(f"{name} is {reprlib.repr(column)}, a {type(column).__name__}; give a list of one entry a row.")
