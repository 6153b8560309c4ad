"""Data augmentation of training pictures: random crop, mirroring, greyscale, brightness and hue.

Random numbers are seeded by seed, epoch and row, so that threads, devices and interruptions do not change a picture.
torchvision's random transforms use one generator for the whole process, which threads cannot share.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
from torchvision.transforms.v2 import functional as change

from humor_tasks.models.pictures import Pixels
from humor_tasks.training.clip.config import ClipTrainConfig

if TYPE_CHECKING:
    from PIL.Image import Image


def augmented(image: Image, pixels: Pixels, config: ClipTrainConfig, seed: str, where: str) -> np.ndarray[Any, Any]:
    """The augmented picture, uint8 [size, size, 3], by `seed` and the probabilities of `config`.

    Order and ranges are those of the released code: crop, resize, mirror, greyscale, then brightness and hue in random
    order. `where` names the picture in messages.
    """
    generator = random.Random(seed)
    # All random numbers are drawn, even if unused, so that disabling one change does not affect the others.
    crop_place, mirrored, grey = (
        generator.random(),
        generator.random() < config.flip,
        generator.random() < config.grayscale,
    )
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
