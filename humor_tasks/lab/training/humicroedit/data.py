"""The rows of a Humicroedit folder as training data, and predictions in the organisers' format with their metrics."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from humor_tasks.benchmarks.humicroedit import corpus
from humor_tasks.benchmarks.humicroedit.corpus import Headline, Pair, pairs, read_split
from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_table
from humor_tasks.models.humicroedit.rater import Rater
from humor_tasks.models.humicroedit.texts import Edit, as_edit, prepared
from humor_tasks.scorers import regression
from humor_tasks.scorers.pairwise import pair_accuracy, pair_reward


@dataclass(frozen=True)
class Rows:
    """Edited headlines with their mean grades; `groups` identifies the original headline of each.

    judged: the judges' grades, highest first, as the files have them; empty where there are none.
    """

    ids: tuple[str, ...]
    edits: tuple[Edit, ...]
    means: tuple[float | None, ...]
    groups: tuple[str, ...]
    judged: tuple[tuple[int, ...], ...]

    @property
    def grades(self) -> list[float]:
        """The mean grades of a labelled split."""
        return [mean for mean in self.means if mean is not None]

    def targets(self, judge: int, judges: int) -> list[float]:
        """The mean grades, or with `judge` from 1 the grade at that place of `judges`, highest first.

        Of headlines with another number of grades it is the one at the same share of them; without grades, the mean.
        """
        if not judge:
            return self.grades
        return [
            float(min(marks[round((judge - 1) * (len(marks) - 1) / (judges - 1))], 3)) if marks else float(round(mean))
            for marks, mean in zip(self.judged, self.grades, strict=True)
        ]

    def prepared(self, text: str) -> Rows:
        """The rows in variants of the text; see `humor_tasks.models.humicroedit.variants`."""
        return replace(self, edits=tuple(prepared(edit, text) for edit in self.edits))

    def __len__(self) -> int:
        return len(self.ids)

    def only(self, places: Sequence[int]) -> Rows:
        """The rows at `places`."""
        columns = (getattr(self, field.name) for field in fields(self))
        return Rows(*(tuple(column[i] for i in places) for column in columns))

    def plus(self, other: Rows) -> Rows:
        """These rows, followed by those of `other`."""
        return Rows(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


@dataclass(frozen=True)
class Data:
    """The data of a run: `train` and `extra` for training, `dev` for early stopping, `pairs` of dev and test to
    predict.

    `extra` is FunLines: it is added to train, and never held out. Its players compete and grade higher than train's
    judges (1.27 against .94 on average). Their grades are therefore `matched`: shifted and scaled to train's mean and
    standard deviation. With unchanged grades, ridge regression is worse than with train alone.
    """

    train: Rows
    dev: Rows
    extra: Rows
    test: Rows | None
    labels: tuple[int, ...]
    pairs: dict[str, tuple[Pair, ...]]
    sha256: dict[str, str]

    @property
    def splits(self) -> dict[str, Rows]:
        """The rows that a training sees: all to train on, and dev."""
        return {"train": self.all(), "dev": self.dev}

    def prepared(self, text: str) -> Data:
        """The data in variants of the text; pairs as they are, because raters prepare what they rate."""
        if not text:
            return self
        splits = {name: getattr(self, name) for name in ("train", "dev", "extra", "test")}
        return replace(self, **{name: rows and rows.prepared(text) for name, rows in splits.items()})

    def all(self) -> Rows:
        """All rows to train on."""
        return self.train.plus(self.extra)


def read_data(dataset: str, funlines: bool = False, grades: str = "matched", share: float = 1.0, seed: int = 0) -> Data:
    """train and dev of both subtasks, and test if the folder has it; `share` is the fraction of train's headlines,
    sampled.

    Raises BadInput for missing files and missing grades, and for a share without headlines.
    """
    sha256: dict[str, str] = {}

    def rows(split: str) -> Rows:
        read = read_split(dataset, 1, split)
        sha256[f"task-1/{split}"] = read.sha256
        return _rows(corpus.headlines(read), split != "test", str(read.path))

    def pairs_of(split: str) -> tuple[Pair, ...]:
        read = read_split(dataset, 2, split)
        sha256[f"task-2/{split}"] = read.sha256
        return tuple(pairs(read))

    train = _share(rows("train"), share, seed)
    extra = rows("train_funlines") if funlines else train.only([])
    if grades == "matched":
        extra = _matched(extra, train)
    labels = tuple(pair.label for pair in pairs_of("train") if pair.label)
    split_pairs = {"dev": pairs_of("dev")}
    test = None
    if dataset != "sample" and (Path(dataset).expanduser() / "task-1" / "test.csv").is_file():
        test, split_pairs["test"] = rows("test"), pairs_of("test")
    return Data(train, rows("dev"), extra, test, labels, split_pairs, sha256)


def _rows(headlines: Sequence[Headline], labelled: bool, where: str) -> Rows:
    missing = [h.id for h in headlines if h.mean is None]
    if labelled and missing:
        raise BadInput(
            f"{where}: {len(missing)} of {len(headlines)} rows have no meanGrade (id {missing[0]} is the first)."
        )
    return Rows(
        tuple(h.id for h in headlines),
        tuple(as_edit(h) for h in headlines),
        tuple(h.mean for h in headlines),
        tuple(h.original for h in headlines),
        tuple(tuple(sorted(h.grades, reverse=True)) for h in headlines),
    )


def _matched(rows: Rows, to: Rows) -> Rows:
    """`rows` with grades shifted and scaled to the mean and standard deviation of those of `to`."""
    if not rows:
        return rows
    mean, spread = fmean(rows.grades), pstdev(rows.grades) or 1.0
    target, target_spread = fmean(to.grades), pstdev(to.grades)
    return replace(rows, means=tuple((grade - mean) / spread * target_spread + target for grade in rows.grades))


def _share(rows: Rows, share: float, seed: int) -> Rows:
    """A sample of whole headlines with all their edits, in file order; the same seed gives nested samples."""
    if share >= 1:
        return rows
    groups = sorted(set(rows.groups))
    random.Random(seed).shuffle(groups)
    sample = set(groups[: round(share * len(groups))])
    if not sample:
        raise BadInput(f"share={share}: leaves no headline of {len(groups)} to train on; use a larger share.")
    return rows.only([i for i, group in enumerate(rows.groups) if group in sample])


# ---- predictions ---------------------------------------------------------------------------------


def predictions(rater: Rater, data: Data, output: Path) -> dict[str, Any]:
    """Write predictions_SPLIT_task-N.csv in the organisers' format; returns the metrics of the labelled splits."""
    metrics: dict[str, Any] = {}
    for split, rows in (("dev", data.dev), ("test", data.test)):
        if rows is None:
            continue
        rated = rater.rate(rows.edits)
        pairs = data.pairs[split]
        preferred = rater.prefer([pair.first for pair in pairs], [pair.second for pair in pairs])
        write_predictions(output / f"predictions_{split}_task-1.csv", rows.ids, rated)
        write_predictions(output / f"predictions_{split}_task-2.csv", [pair.id for pair in pairs], preferred)
        if None not in rows.means:
            metrics[f"{split}_rmse"] = rmse(rated, rows.grades)
        labelled = [
            (predicted, pair.label, (pair.first.mean, pair.second.mean), pair.first.original)
            for predicted, pair in zip(preferred, pairs, strict=True)
            if pair.label and pair.first.mean is not None and pair.second.mean is not None
        ]
        if labelled:
            predicted, labels, means, originals = zip(*labelled, strict=True)
            metrics[f"{split}_accuracy"] = pair_accuracy(labels, predicted, originals).value
            metrics[f"{split}_reward"] = pair_reward(means, predicted, originals).value
    return metrics


def rmse(rated: Sequence[float], means: Sequence[float]) -> float:
    """The value of the RMSE, without its interval."""
    value: float = regression.rmse(rated, means, range(len(means))).value
    return value


def write_predictions(path: Path, ids: Sequence[str], values: Sequence[float]) -> None:
    """Write the organisers' submission format: id,pred."""
    write_table(path, ("id", "pred"), list(zip(ids, values, strict=True)), exact=True)
