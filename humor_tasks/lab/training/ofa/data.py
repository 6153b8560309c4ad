"""Training examples: each distinct cartoon, question and answer of a fold, and the same as tensors.

The features of a frozen backbone are computed once per picture and kept for all epochs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import torch

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput, listed
from humor_tasks.lab.training.evaluation import SPLITS
from humor_tasks.lab.training.ofa.settings import OfaTrainConfig
from humor_tasks.models.pictures import decoded, stacked, threads
from humor_tasks.rows.descriptions import QUESTIONS
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import Record
from humor_tasks.rows.trained_on import check_disjoint

if TYPE_CHECKING:
    from humor_tasks.models.ofa import Describer


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
    def question_text(self) -> str:
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
        return {split: {unit(row.contest) for row in split_rows} for split, split_rows in rows.items()}


def read_splits(config: OfaTrainConfig) -> Splits:
    """The splits of `config.fold`. Raises BadInput where one is missing or shares a contest with another."""
    runs = {}
    if config.is_open:
        runs = {split: opened(config, split, "pixels") for split in ("train", *SPLITS)}
        rows = {split: [answered(run, record) for record in run.records] for split, run in runs.items()}
    else:
        rows = {split: read_rows(config, split) for split in ("train", *SPLITS)}
    contests = {split: {row.contest for row in split_rows} for split, split_rows in rows.items()}
    check_disjoint(f"{config.dataset}, fold {config.fold}", contests)
    train = runs.pop("train", None) or opened(config, "train", "description")
    return Splits(**rows, source=train.data.provenance, runs=runs)


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
    described, drawn = (opened(config, split, setting).records for setting in ("description", "pixels"))
    pictures: dict[str, Picture] = {}
    for record in drawn:
        assert record.picture is not None
        pictures.setdefault(record.cluster, record.picture)
    if lacking := [contest for contest in dict.fromkeys(r.cluster for r in described) if contest not in pictures]:
        raise BadInput(
            f"{config.dataset}: {listed('contest', lacking, most=5)} of {config.task}/{split}, fold {config.fold}, "
            f"without a picture: {config.task}_from_pixels has no row of the same contest_number."
        )
    annotations = dict.fromkeys(
        (record.cluster, name, record.fields[name]) for record in described for name in QUESTIONS if record.fields[name]
    )
    return [Row(contest, name, answer, pictures[contest]) for contest, name, answer in annotations]


def opened(config: OfaTrainConfig, split: str, setting: str) -> Run:
    """A split of the task; pictures of the test split are checked."""
    run = find_benchmark(config.task).open(**config.parameters(split, setting))
    if split == "test":  # `Batches` decodes the others before training, and these after it
        run.check_media()
    return run


# ---- features of a frozen backbone ---------------------------------------------------------------

MEMORY = 4 << 30
"""Bytes of features kept in memory, per process; 700 cartoons of 480 pixels take 2.6 GB in fp32, half in bf16."""


class Features:
    """Backbone features by contest, in the precision that computed them.

    Pictures go through the backbone one at a time: a picture's features then do not depend on the batch in which it
    first occurs, and an interrupted run resumes with identical values. What exceeds `MEMORY`
    is written to a nameless file in `folder`, which disappears with the process. Processes keep their own.
    """

    def __init__(self, compute: Callable[[torch.Tensor], torch.Tensor], folder: Path) -> None:
        self._compute, self._folder, self._memory = compute, folder, MEMORY
        self._in_memory: dict[str, torch.Tensor] = {}
        self._places: dict[str, int] = {}
        self._file: IO[bytes] | None = None
        self._like = torch.empty(0)

    def add(self, contest: str, pixels: torch.Tensor) -> None:
        """Compute and keep a contest's features from its pixels, uint8 [size, size, 3].

        Raises BadInput where the file cannot be written.
        """
        with torch.no_grad():
            features = self._compute(pixels[None])[0].cpu().contiguous()
        self._memory -= features.nbytes
        if self._memory >= 0:
            self._in_memory[contest] = features
        else:
            self._like = torch.empty_like(features, device="meta")
            self._write(contest, features)

    def __contains__(self, contest: str) -> bool:
        return contest in self._in_memory or contest in self._places

    def __getitem__(self, contest: str) -> torch.Tensor:
        """[C, h, w] on the CPU."""
        if contest in self._in_memory:
            return self._in_memory[contest]
        assert self._file is not None
        read = bytearray(self._like.nbytes)
        self._file.seek(self._places[contest])
        self._file.readinto(read)  # type: ignore[attr-defined]
        return torch.frombuffer(read, dtype=self._like.dtype).view(self._like.shape)

    def _write(self, contest: str, features: torch.Tensor) -> None:
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (open as long as this object)
            place = self._file.seek(0, 2)
            self._file.write(features.view(torch.uint8).numpy().tobytes())
            self._file.flush()
        except OSError as problem:  # mostly a full disk
            raise BadInput(
                f"{self._folder}: the features of the frozen backbone cannot be written ({problem}); free disk space, "
                "or train without freeze_resnet."
            ) from None
        self._places[contest] = place


def backbone(describer: Describer, autocast: Callable[[], object]) -> Callable[[torch.Tensor], torch.Tensor]:
    """uint8 pictures [B, size, size, 3] -> features [B, C, h, w], under the training's precision."""

    def compute(pictures: torch.Tensor) -> torch.Tensor:
        with autocast():  # type: ignore[attr-defined]
            images = describer.pixels.normalised(pictures.to(describer.ofa.device))
            return describer.ofa.network.encoder.features(images)

    return compute


# ---- tensors -------------------------------------------------------------------------------------


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
        questions = {row.question_text: f"contest {row.contest}" for row in rows}
        self._questions = {question: describer.tokens(question, where) for question, where in questions.items()}
        self._answers = [self._answer(row, describer.ofa.config.most_tokens) for row in rows]
        pictures = {row.contest: row.picture for row in rows}
        wheres = [picture.where for picture in pictures.values()]
        arrays = decoded(list(pictures.values()), describer.pixels, wheres, threads(workers))
        self._arrays = dict(zip(pictures, arrays, strict=True))

    def __len__(self) -> int:
        return len(self.rows)

    def tokens(self, places: Sequence[int]) -> int:
        """The number of tokens to predict, including end tokens."""
        return sum(len(self._answers[place]) - 1 for place in places)

    def parts(self, places: Sequence[int], most: int) -> list[list[int]]:
        """The places in parts of at most `most` rows (0: no limit), each with questions of equal length.

        Questions without padding need no attention bias per row, which would take most of the training memory.
        """
        lengths = {
            place: (len(self._questions[self.rows[place].question_text]), len(self._answers[place])) for place in places
        }
        parts: list[list[int]] = []
        for place in sorted(places, key=lengths.__getitem__):
            full = not parts or len(parts[-1]) == (most or len(places))
            if full or lengths[parts[-1][0]][0] != lengths[place][0]:
                parts.append([])
            parts[-1].append(place)
        return parts

    def tensors(self, places: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Pictures, uint8 [n, size, size, 3], or [n, C, h, w] where `features` are kept; questions [n, T];
        answers [n, L + 1] from begin to end token.
        """
        rows = [self.rows[place] for place in places]
        return (
            self._pictures([row.contest for row in rows]),
            self._tokenizer.pad([self._questions[row.question_text] for row in rows]),
            self._tokenizer.pad([self._answers[place] for place in places]),
        )

    def _pictures(self, contests: Sequence[str]) -> torch.Tensor:
        if self.features is None:
            return stacked([self._arrays[contest] for contest in contests], pinned=False)
        for contest in dict.fromkeys(contests):
            if contest not in self.features:
                self.features.add(contest, torch.from_numpy(self._arrays.pop(contest)))
        return torch.stack([self.features[contest] for contest in contests])

    def _answer(self, row: Row, most: int) -> list[int]:
        """The annotation after one space, otherwise unchanged: the format of OFA's captions and answers in training."""
        ids = self._tokenizer.encode(f" {row.answer}", marks=False)
        if len(ids) - 1 > most:
            raise BadInput(
                f"contest {row.contest}: the answer to '{row.question_text}' has {len(ids) - 2} tokens; this OFA "
                f"has positions for {most - 1}. Shorten it."
            )
        return ids
