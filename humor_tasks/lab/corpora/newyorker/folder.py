"""The dataset folder of a built corpus: Parquet files by block, pictures, and the configurations of the hub's corpus.

    CONFIG/blockK.parquet        the instances of block K, with the annotation tuple of validation and test
    CONFIG/blockK_all.parquet    the same with all annotation tuples, for training; not for _from_pixels
    images/CONTEST.jpg           the cartoons, which rows name by relative path
    quality/                     the quality model, for quality/FOLDER/quality
    README.md, provenance.json, croissant.json

Fold k tests on block k, validates on block k + 1 (block 0 after the last) and trains on the rest. Parquet, because it
keeps the hub's types (contest_number and n_tokens_label are int32; JSON lines give int64) and is smaller: training rows
repeat their texts six times.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from humor_tasks.errors import BadInput
from humor_tasks.files.writing import is_vacant, link_or_copy, replacing, write_json, write_parquet, write_text
from humor_tasks.lab.corpora.croissant import EVALUATION, write_croissant
from humor_tasks.lab.corpora.newyorker.matching import generator
from humor_tasks.lab.corpora.newyorker.rows import BLOCKS, TASKS, Instance, Instances, row_of, rows_of
from humor_tasks.rows.contests.annotations import Annotated
from humor_tasks.rows.media.checking import check_media
from humor_tasks.rows.media.picture import Picture

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
T = TypeVar("T")
PIXELS = "_from_pixels"
RAI = {
    "dataCollection": "Captions are entries to a magazine's weekly contest, rated by visitors of its site; "
    "descriptions and explanations, where there are any, are annotations of the input files.",
    "dataPreprocessingProtocol": "Stages and counts are in README.md and provenance.json.",
    "dataLimitations": "The humour of one American magazine's readers and editors, in English.",
    "dataUseCases": EVALUATION,
}
"""What the vocabulary for responsible AI asks, where it is known."""


@dataclass(frozen=True)
class Config:
    """A task with or without words about the cartoons: its rows by block. every: all annotation tuples, the training
    rows; None where there are none to repeat.
    """

    task: str
    name: str
    fixed: Sequence[Sequence[Row]]
    every: Sequence[Sequence[Row]] | None

    def sizes(self) -> list[dict[str, int]]:
        """The number of rows of each split, by fold."""
        return [
            {split: sum(len(rows[b]) for b in blocks) for split, (rows, blocks) in self._splits(fold).items()}
            for fold in range(BLOCKS)
        ]

    def files(self, fold: int) -> dict[str, list[str]]:
        """The files of each split of a fold."""
        return {
            split: [f"{self.name}/block{b}{'_all' if rows is self.every else ''}.parquet" for b in blocks]
            for split, (rows, blocks) in self._splits(fold).items()
        }

    def _splits(self, fold: int) -> dict[str, tuple[Sequence[Sequence[Row]], list[int]]]:
        validation = (fold + 1) % BLOCKS
        train = [b for b in range(BLOCKS) if b not in (fold, validation)]
        every = self.fixed if self.every is None else self.every
        return {"train": (every, train), "validation": (self.fixed, [validation]), "test": (self.fixed, [fold])}


@dataclass(frozen=True)
class Contents:
    """What a folder holds. left_out: the configurations without rows in some block, and instances, with the reason."""

    instances: Instances
    configs: Sequence[Config]
    left_out: Sequence[str] = field(default_factory=tuple)


def contents_of(
    instances: Instances, annotated: Mapping[int, Annotated], pictures: Mapping[int, Path], seed: str
) -> Contents:
    """The configurations that can be made. Rows are in random order within a block.

    annotated: contest -> annotations; text configurations hold the contests with any. pictures: contest -> file;
    _from_pixels configurations hold the contests with one. Raises BadInput where nothing can be made.
    """
    images = {contest: image_name(contest, pictures[contest]) for contest in instances.blocks if contest in pictures}
    scenes = {c: one for c, one in annotated.items() if one.fixed is not None and c in instances.blocks}
    configs, left_out = [], [f"{count:,} {what}" for what, count in instances.left_out.items()]
    for task in TASKS:
        blocks = instances.tasks[task]
        total = sum(map(len, blocks))
        for name, sources, lacking in ((task, scenes, "a description"), (task + PIXELS, images, "a picture")):
            chosen = [
                _shuffled([one for one in block if one.contest in sources], f"{seed}:order:{task}:{k}")
                for k, block in enumerate(blocks)
            ]
            missing = total - sum(map(len, chosen))
            if empty := [str(k) for k, block in enumerate(chosen) if not block]:
                why = f"block {', '.join(empty)} would have no rows" if total > missing else "no rows"
                left_out.append(f"{name}: {why}")
                continue
            if missing:
                left_out.append(f"{name}: {missing:,} of {total:,} instances, whose contests lack {lacking}")
            if name == task:
                configs.append(Config(task, name, *_with_words(chosen, scenes, images, f"{seed}:{task}")))
            else:
                fixed = [[row_of(one, None, images[one.contest]) for one in block] for block in chosen]
                configs.append(Config(task, name, fixed, None))
    if not configs:
        raise BadInput("no configuration has rows in every block: give more contests with descriptions or pictures.")
    return Contents(instances, configs, left_out)


def _shuffled(items: Sequence[T], seed: str) -> list[T]:
    return [items[i] for i in generator(seed).permutation(len(items)).tolist()]


def _with_words(
    blocks: Sequence[Sequence[Instance]], scenes: Mapping[int, Annotated], images: Mapping[int, str], seed: str
) -> tuple[list[list[Row]], list[list[Row]]]:
    """The rows of all blocks with the fixed annotation tuple, and with all. A column is in all rows or in none."""
    pictured = all(instance.contest in images for block in blocks for instance in block)
    fixed: list[list[Row]] = []
    repeated: list[list[Row]] = []
    for k, block in enumerate(blocks):
        fixed.append([])
        with_all: list[Row] = []
        for instance in block:
            annotated, image = scenes[instance.contest], images[instance.contest] if pictured else None
            assert annotated.fixed is not None
            fixed[-1].append(row_of(instance, annotated.fixed, image))
            with_all += rows_of(instance, annotated.scenes, annotated.fixed, image)
        repeated.append(_shuffled(with_all, f"{seed}:{k}"))
    return fixed, repeated


def image_name(contest: int, path: Path) -> str:
    """The path of a contest's picture in the folder."""
    return f"images/{contest}{path.suffix.lower()}"


# ---- writing ------------------------------------------------------------------------------------


def write_folder(
    out: Path,
    contents: Contents,
    pictures: Mapping[int, Path],
    card: str,
    provenance: Mapping[str, Any],
    quality: Path | None = None,
) -> None:
    """Write the folder, which is there as a whole or not at all.

    pictures: contest -> file; those of contests with rows are linked, or copied to another file system. quality: the
    folder of the quality model, which is copied to quality/. Raises BadInput where the folder is not empty or cannot be
    written, and where a picture cannot be read.
    """
    if not is_vacant(out):
        raise BadInput(f"{out}: is there and not empty; name another folder, or remove it.")
    used = {contest: path for contest, path in sorted(pictures.items()) if contest in contents.instances.blocks}
    media = {contest: Picture(str(path), str(path), path.read_bytes) for contest, path in used.items()}
    if problems := check_media(media, "checking pictures of contests"):
        raise BadInput(
            f"{len(problems)} of {len(used)} pictures of contests cannot be used: "
            f"{' '.join(list(problems.values())[:5])} Restore them, or remove the files to leave out their contests."
        )
    with replacing(out) as folder:
        folder.mkdir()
        for contest, path in used.items():
            link_or_copy(path, folder / image_name(contest, path))
        for config in contents.configs:
            for kind, blocks in {"": config.fixed, "_all": config.every or ()}.items():
                for k, rows in enumerate(blocks):
                    write_parquet(folder / config.name / f"block{k}{kind}.parquet", rows, types_of(rows[0]))
        if quality:
            shutil.copytree(quality, folder / "quality")
        write_json(folder / "provenance.json", provenance)
        write_text(folder / "README.md", card)
        write_croissant(folder, RAI)


def types_of(row: Row) -> dict[str, pa.DataType]:
    """Column -> the hub's type, of rows like this one; a picture is the path of its file."""
    import pyarrow as pa

    types = {str: pa.string(), int: pa.int32(), list: pa.list_(pa.field("element", pa.string()))}
    return {name: types[type(value)] for name, value in row.items()}
