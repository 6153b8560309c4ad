"""Training examples: each distinct cartoon, question and answer of a fold, and the same as tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.descriptions import QUESTIONS
from humor_tasks.data.media.picture import Picture
from humor_tasks.data.records import Record
from humor_tasks.data.trained_on import check_disjoint
from humor_tasks.errors import BadInput, listed
from humor_tasks.models.pictures import decoded, stacked, threads
from humor_tasks.training.ofa.config import OfaTrainConfig
from humor_tasks.training.ofa.features import Features

if TYPE_CHECKING:
    from humor_tasks.models.ofa import Describer

EVALUATED = ("validation", "test")


@dataclass(frozen=True)
class Row:
    """The answer to a question about the cartoon of `contest`.

    question: the name of one of `QUESTIONS`, whose answer is an annotation, or of a task, whose prompt is `prompt`.
    """

    contest: str
    question: str
    answer: str
    picture: Picture
    prompt: str = ""

    @property
    def asked(self) -> str:
        """The question in words."""
        return self.prompt or QUESTIONS[self.question]


@dataclass(frozen=True)
class Splits:
    """The rows of a fold. Pictures of `test` are checked; the others are not read before `Batches` decodes them.

    source: the provenance of train. runs: the splits to answer after the training, of a task that is learned itself.
    """

    train: Sequence[Row]
    validation: Sequence[Row]
    test: Sequence[Row]
    source: Mapping[str, Any] = field(default_factory=dict)
    runs: Mapping[str, Run] = field(default_factory=dict)

    def units(self, task: str) -> dict[str, set[str]]:
        """The contests of each split; see `Benchmark.unit`."""
        unit = find_benchmark(task).unit
        rows = {"train": self.train, "validation": self.validation, "test": self.test}
        return {split: {unit(row.contest) for row in found} for split, found in rows.items()}


def read_splits(config: OfaTrainConfig) -> Splits:
    """The splits of `config.fold`. Raises BadInput where one is missing or shares a contest with another."""
    runs = {}
    if config.is_open:
        runs = {split: opened(config, split, "pixels") for split in ("train", *EVALUATED)}
        found = {split: [answered(run, record) for record in run.records] for split, run in runs.items()}
    else:
        found = {split: read_rows(config, split) for split in ("train", *EVALUATED)}
    contests = {split: {row.contest for row in rows} for split, rows in found.items()}
    check_disjoint(f"{config.dataset}, fold {config.fold}", contests)
    train = runs.pop("train", None) or opened(config, "train", "description")
    return Splits(**found, source=train.data.provenance, runs=runs)


def answered(run: Run, record: Record) -> Row:
    """A record with its own answer. The question is what OFA reads of the prompt in both harnesses: the last turn."""
    assert record.picture is not None
    prompt = run.prompt(record).turns[-1].text
    return Row(record.cluster, run.benchmark.name, str(record.target), record.picture, prompt)


def read_rows(config: OfaTrainConfig, split: str) -> list[Row]:
    """The distinct annotations of a split's from-description rows, with their contest's from-pixels picture.

    A contest has one cartoon; its rows repeat the annotations, and the contest number joins the two configs. Entities
    are their readable names separated by ", ", the format of prompts and of `descriptions.entity_names`; a cartoon
    without entities has no such row. Raises BadInput for a contest without a picture.
    """
    words, shown = (opened(config, split, setting).records for setting in ("description", "pixels"))
    pictures: dict[str, Picture] = {}
    for record in shown:
        assert record.picture is not None
        pictures.setdefault(record.cluster, record.picture)
    if lacking := [contest for contest in dict.fromkeys(r.cluster for r in words) if contest not in pictures]:
        raise BadInput(
            f"{config.dataset}: {listed('contest', lacking, most=5)} of {config.task}/{split}, fold {config.fold}, "
            f"without a picture: {config.task}_from_pixels has no row of the same contest_number."
        )
    asked = dict.fromkeys((r.cluster, name, r.fields[name]) for r in words for name in QUESTIONS if r.fields[name])
    return [Row(contest, name, answer, pictures[contest]) for contest, name, answer in asked]


def opened(config: OfaTrainConfig, split: str, setting: str) -> Run:
    """A split of the task; pictures of the test split are checked."""
    run = find_benchmark(config.task).open(**config.parameters(split, setting))
    if split == "test":  # `Batches` decodes the others before training, and these after it
        run.check_media()
    return run


class Batches:
    """Rows as tensors for the network; each picture is decoded once and kept in memory as bytes.

    700 cartoons at 480 pixels take half a gigabyte. Raises BadInput, before any training, for a picture that cannot be
    used and an annotation with more tokens than OFA has positions.

    features: keeps a frozen backbone's features; a picture's bytes are then dropped once it has been read.
    """

    def __init__(
        self, rows: Sequence[Row], describer: Describer, workers: int = 0, features: Features | None = None
    ) -> None:
        self.features = features
        self.rows, self._tokenizer = rows, describer.tokenizer
        asked = {row.asked: f"contest {row.contest}" for row in rows}
        self._read = {question: describer.tokens(question, where) for question, where in asked.items()}
        self._written = [self._answer(row, describer.ofa.config.most_tokens) for row in rows]
        pictures = {row.contest: row.picture for row in rows}
        wheres = [picture.where for picture in pictures.values()]
        arrays = decoded(list(pictures.values()), describer.pixels, wheres, threads(workers))
        self._shown = dict(zip(pictures, arrays, strict=True))

    def __len__(self) -> int:
        return len(self.rows)

    def tokens(self, places: Sequence[int]) -> int:
        """The number of tokens to predict, including end tokens."""
        return sum(len(self._written[place]) - 1 for place in places)

    def parts(self, places: Sequence[int], most: int) -> list[list[int]]:
        """The places in parts of at most `most` rows (0: no limit), each with questions of equal length.

        Questions without padding need no attention bias per row, which would take most of the training memory.
        """
        lengths = {place: (len(self._read[self.rows[place].asked]), len(self._written[place])) for place in places}
        found: list[list[int]] = []
        for place in sorted(places, key=lengths.__getitem__):
            full = not found or len(found[-1]) == (most or len(places))
            if full or lengths[found[-1][0]][0] != lengths[place][0]:
                found.append([])
            found[-1].append(place)
        return found

    def tensors(self, places: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Pictures, uint8 [n, size, size, 3], or [n, C, h, w] where `features` are kept; questions [n, T];
        answers [n, L + 1] from begin to end token.
        """
        rows = [self.rows[place] for place in places]
        return (
            self._pictures([row.contest for row in rows]),
            self._tokenizer.pad([self._read[row.asked] for row in rows]),
            self._tokenizer.pad([self._written[place] for place in places]),
        )

    def _pictures(self, contests: Sequence[str]) -> torch.Tensor:
        kept = self.features
        if kept is None:
            return stacked([self._shown[contest] for contest in contests], pinned=False)
        for contest in dict.fromkeys(contests):
            if contest not in kept:
                kept.add(contest, torch.from_numpy(self._shown.pop(contest)))
        return torch.stack([kept[contest] for contest in contests])

    def _answer(self, row: Row, most: int) -> list[int]:
        """The annotation after one space, otherwise unchanged: the format of OFA's captions and answers in training."""
        ids = self._tokenizer.encode(f" {row.answer}", marks=False)
        if len(ids) - 1 > most:
            raise BadInput(
                f"contest {row.contest}: the answer to '{row.asked}' has {len(ids) - 2} tokens; this OFA "
                f"has positions for {most - 1}. Shorten it."
            )
        return ids
