"""The rows of a fold, as the benchmark defines them, training rows with tokens, and augmentation of their pictures.

Random numbers are seeded by seed, epoch and row, so that threads, devices and interruptions do not change a picture.
torchvision's random transforms use one generator for the whole process, which threads cannot share.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torchvision.transforms.v2 import functional as change

from humor_tasks.api import load
from humor_tasks.contract.definition import Run
from humor_tasks.lab.training.clip.settings import ClipTrainConfig
from humor_tasks.models.pictures import Pixels
from humor_tasks.rows.records import Record
from humor_tasks.rows.trained_on import check_disjoint

if TYPE_CHECKING:
    from PIL.Image import Image

    from humor_tasks.models.clip import Clip


@dataclass(frozen=True)
class Splits:
    """One fold, or validation and test of all folds without `train`. Pictures are checked, and decoded when used."""

    train: Run | None
    validation: Run
    test: Run

    @property
    def evaluated(self) -> dict[str, Run]:
        """The splits to predict."""
        return {"validation": self.validation, "test": self.test}

    @property
    def runs(self) -> dict[str, Run]:
        """Every split by name."""
        return ({} if self.train is None else {"train": self.train}) | self.evaluated


def read_splits(config: ClipTrainConfig) -> Splits:
    """The splits of `config.fold`. Raises BadInput where a split, a picture or a label is missing, and where
    splits share a contest.
    """

    def read(split: str) -> Run:
        where = {"dataset": config.dataset, "revision": config.revision, "fold": config.fold}
        return load(config.task, setting="pixels", split=split, **where)

    splits = Splits(None if config.fold == "all" else read("train"), read("validation"), read("test"))
    if splits.train is not None:
        contests = {split: {record.cluster for record in run.records} for split, run in splits.runs.items()}
        check_disjoint(f"{config.dataset}, {config.task}, fold {config.fold}", contests)
    return splits


class Rows:
    """Training rows; each distinct caption is tokenized once."""

    def __init__(self, run: Run, clip: Clip) -> None:
        self.records: tuple[Record, ...] = run.records
        texts = list(dict.fromkeys(text for record in self.records for text in record.choices))
        place = {text: i for i, text in enumerate(texts)}
        self._tokens = clip.tokenize(texts)
        self._places = [[place[text] for text in record.choices] for record in self.records]
        letters = run.form.labels
        self.targets = [letters.index(str(record.target)) for record in self.records]

    def __len__(self) -> int:
        return len(self.records)

    def captions(self, rows: list[int]) -> tuple[torch.Tensor, list[int]]:
        """Tokens [captions of all rows, length], and the number of captions of each row."""
        captions = [self._places[row] for row in rows]
        return self._tokens[[place for places in captions for place in places]], list(map(len, captions))


def augmented(image: Image, pixels: Pixels, config: ClipTrainConfig, seed: str, where: str) -> np.ndarray[Any, Any]:
    """The augmented picture, uint8 [size, size, 3], by `seed` and the probabilities of `config`.

    Order and ranges are those of the released code: crop, resize, mirror, greyscale, then brightness and hue in random
    order. `where` names the picture in messages.
    """
    generator = random.Random(seed)
    # All random numbers are drawn, even if unused, so that disabling one change does not affect the others.
    crop_place = generator.random()
    mirrored, grey = generator.random() < config.flip, generator.random() < config.grayscale
    factor = generator.uniform(1 - config.brightness, 1 + config.brightness)
    shift = generator.uniform(-config.hue, config.hue)
    hue_first = generator.random() < 0.5
    fitted = pixels.fitted(square(image, crop_place) if config.random_crop else image, where)
    if mirrored:
        fitted = change.horizontal_flip(fitted)
    if grey:
        fitted = change.rgb_to_grayscale(fitted, num_output_channels=3)
    for by_hue in (hue_first, not hue_first):
        if by_hue and config.hue:  # a hue shift of 0 would still round the pixels
            fitted = change.adjust_hue(fitted, shift)
        elif not by_hue and config.brightness:
            fitted = change.adjust_brightness(fitted, factor)
    return np.array(fitted)


def square(image: Image, place: float) -> Image:
    """The square crop with the picture's short side, at `place` along the long side, from 0 (start) to 1 (end)."""
    short = min(image.size)
    left, top = (int(place * (side - short + 1)) for side in image.size)
    return image.crop((left, top, left + short, top + short))
