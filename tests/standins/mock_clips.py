"""The MOCK sample's clips: the script that draws them, and the number in a frame's corner."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from types import ModuleType

from PIL import Image
from standins.paths import REPOSITORY

FOLDER = REPOSITORY / "datasets_cards" / "mock"
SCRIPT = REPOSITORY / "tools" / "samples" / "mock" / "make_clips.py"
ABOUT = json.loads((FOLDER / "clips.json").read_text(encoding="utf-8"))
CLIPS = {clip["file"]: clip for clip in ABOUT["clips"]}


@cache
def script() -> ModuleType:
    """`make_clips.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("make_clips", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_number(image: Image.Image) -> int:
    """The digits in the corner of a frame; every one of them must be one of ten."""
    drawn = script()
    left, top = drawn.NUMBER_AT
    grey, found = image.convert("L"), ""
    for place in range(3):
        rows = ""
        for y in range(5):
            at = [left + (4 * place + x) * drawn.DOT + 1 for x in range(3)]
            dots = [grey.getpixel((x, top + y * drawn.DOT + 1)) > 127 for x in at]
            rows += str(dots[0] * 4 + dots[1] * 2 + dots[2])
        found += str(drawn.DIGITS.index(rows))
    return int(found)


def middles(file: str, count: int) -> list[int]:
    """The numbers of the frames in the middle of `count` equal parts."""
    total = CLIPS[file]["seconds"] * ABOUT["fps"]
    return [(2 * i + 1) * total // (2 * count) for i in range(count)]
