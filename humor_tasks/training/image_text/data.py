"""The rows of all sub-tasks, as the benchmarks define them, and what a model is shown of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.media.frames import sample_frames
from humor_tasks.data.records import Turn
from humor_tasks.data.trained_on import check_disjoint
from humor_tasks.models.image_text import Seen
from humor_tasks.training.image_text.config import ImageTextTrainConfig, benchmark_of


@dataclass(frozen=True)
class Rows:
    """The runs of all sub-tasks for each split."""

    train: tuple[Run, ...]
    validation: tuple[Run, ...]

    @property
    def units(self) -> dict[str, list[str]]:
        """Split -> the units of its rows."""
        return {
            split: [unit for run in getattr(self, split) for unit in run.units] for split in ("train", "validation")
        }


def read_rows(config: ImageTextTrainConfig) -> Rows:
    """The rows. Raises BadInput where a split is missing or damaged, or shares a picture or clip with the other."""
    splits = [
        [benchmark_of(task).open(**config.parameters(split)) for task in config.task]
        for split in ("train", "validation")
    ]
    for task, *runs in zip(config.task, *splits, strict=True):
        clusters = {run.options.split: {record.cluster for record in run.records} for run in runs}
        check_disjoint(f"{config.dataset}, {task}", clusters, "picture or clip")
        for run in runs:
            run.check_media(run.records)
    return Rows(*map(tuple, splits))


def unread(turns: Sequence[Turn]) -> list[Seen]:
    """The turns with pictures and clips that are not yet read, for their text."""
    return [
        Seen(turn.role, turn.text, turn.pictures, (turn.clip,) if turn.clip and not turn.clip.frames else ())
        for turn in turns
    ]


def read(turns: Sequence[Seen], frames: int) -> list[Seen]:
    """The same turns with decoded pictures, and of each clip so many frames."""
    return [
        turn._replace(
            pictures=tuple(picture.open().convert("RGB") for picture in turn.pictures),
            videos=tuple(
                [frame.image for frame in sample_frames(clip.read(), frames, where=clip.where)] for clip in turn.videos
            ),
        )
        for turn in turns
    ]
