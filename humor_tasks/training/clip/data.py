"""The rows of a fold, as the benchmark defines them, and training rows with tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from humor_tasks.api import load
from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.records import Record
from humor_tasks.training.clip.config import ClipTrainConfig

if TYPE_CHECKING:
    from humor_tasks.models.clip import Clip


@dataclass(frozen=True)
class Splits:
    """One fold, or validation and test of all folds without `train`. Pictures are checked, and decoded when used."""

    train: Run | None
    validation: Run
    test: Run


def read_splits(config: ClipTrainConfig) -> Splits:
    """The splits of `config.fold`. Raises BadInput where a split, a picture or a label is missing."""

    def read(split: str) -> Run:
        where = {"dataset": config.dataset, "revision": config.revision, "fold": config.fold}
        return load(config.task, setting="pixels", split=split, **where)

    return Splits(None if config.fold == "all" else read("train"), read("validation"), read("test"))


class Rows:
    """Training rows; each distinct caption is tokenized once."""

    def __init__(self, run: Run, clip: Clip) -> None:
        self.records: tuple[Record, ...] = run.records
        texts = list(dict.fromkeys(text for record in self.records for text in record.choices))
        place = {text: i for i, text in enumerate(texts)}
        self._tokens = clip.tokenize(texts)
        self._own = [[place[text] for text in record.choices] for record in self.records]
        letters = run.form.labels
        self.targets = [letters.index(str(record.target)) for record in self.records]

    def __len__(self) -> int:
        return len(self.records)

    def captions(self, rows: list[int]) -> tuple[torch.Tensor, list[int]]:
        """Tokens [captions of all rows, length], and the number of captions of each row."""
        own = [self._own[row] for row in rows]
        return self._tokens[[place for places in own for place in places]], [len(places) for places in own]
