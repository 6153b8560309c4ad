"""CLIPs from files and folders of weights, what they are asked to score, and how far two tables of scores are apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from standins.tiny_clip import TINY, drawing

from humor_tasks.models.clip import Clip, ClipConfig

PICTURES = [drawing(i, (50 + i, 44)) for i in range(3)]
CAPTIONS = [["one caption", "another", "a third, longer one"], ["first", "second"], ["this", "that"]]
State = dict[str, torch.Tensor]


def load(path: Any, **more: Any) -> Clip:
    return Clip.load(ClipConfig(**{"pretrained": str(path), "device": "cpu"} | more))


def of_file(file: str, **more: Any) -> Clip:
    """The tiny CLIP with the weights of a file."""
    return load(file, **{"architecture": TINY} | more)


def scored(path: Any, **more: Any) -> list[list[float]]:
    return load(path, **more).score(PICTURES, CAPTIONS)


def difference(ours: Sequence[Sequence[float]], other: Sequence[Any]) -> float:
    assert [len(row) for row in ours] == [len(row) for row in other]
    return max(abs(a - float(b)) for mine, row in zip(ours, other, strict=True) for a, b in zip(mine, row, strict=True))


def edited(folder: Path, name: str, **changes: Any) -> None:
    about = json.loads((folder / name).read_text())
    for key, value in changes.items():
        *path, last = key.split("__")
        inner = about
        for part in path:
            inner = inner[part]
        inner[last] = value
    (folder / name).write_text(json.dumps(about))
