"""Conversion of the caption contest's from-pixels rows to the from-description layout."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.caption_contest.corpus import CARD, FOLDS, HUB, SPLITS, link_of
from humor_tasks.benchmarks.caption_contest.matching import MATCHING
from humor_tasks.data.descriptions import Description
from humor_tasks.data.media.picture import Picture
from humor_tasks.data.rows import Rows, catalogue, is_leaderboard, open_rows
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput, check_choice

TASKS = ("matching", "ranking", "explanation")


@dataclass(frozen=True)
class Part:
    """One split of one config: `config` is the name in the from-description layout, `rows` are from-pixels rows."""

    config: str
    split: str
    rows: Rows
    pictures: tuple[str, ...]
    """SHA-256 of each row's picture."""

    @property
    def fold(self) -> str:
        """The fold of the config."""
        end = self.config.rpartition("_")[2]
        return end if end in FOLDS else "0"

    @property
    def units(self) -> set[str]:
        """The contests of the rows; see `Benchmark.unit`."""
        return {MATCHING.unit(str(row["contest_number"])) for row in self.rows.rows if "contest_number" in row}


def read_parts(
    dataset: str = HUB,
    revision: str | None = None,
    tasks: Sequence[str] = (),
    folds: Sequence[str] = (),
    splits: Sequence[str] = (),
) -> list[Part]:
    """The dataset's from-pixels splits of these tasks, folds and splits (empty: all).

    Raises BadInput for unknown names, for rows without a picture, and where no split matches.
    """
    for what, chosen, known in (("task", tasks, TASKS), ("fold", folds, FOLDS), ("split", splits, SPLITS)):
        for name in chosen:
            check_choice(what, name, known)
    if dataset != "sample" and is_leaderboard(dataset):
        raise BadInput(f"{dataset} is in the leaderboard's format, which has no from-description layout.")
    asked = [f"{t}_from_pixels" + (f"_{f}" if f != "0" else "") for t in tasks or TASKS for f in folds or FOLDS]
    home: Any = {"hub": HUB, "cards": Path(folder(CARD))}
    offered = catalogue(dataset, **home, revision=revision, wanted=asked.__contains__)
    parts = []
    for source in filter(offered.offers.__contains__, asked):
        for split in offered.offers[source].splits:
            if splits and split not in splits:
                continue
            columns = offered.offers[source].columns
            how: Any = {"config": source, "split": split, "columns": columns, "revision": offered.revision}
            rows = open_rows(dataset, pictures=True, **home, **how)
            pictures = tuple(content(row["image"]) for row in rows.rows)
            parts.append(Part(source.replace("_from_pixels", ""), split, rows, pictures))
    if not parts:
        chosen = f" with split {' or '.join(splits)}" if splits else ""
        raise BadInput(
            f"{dataset}: there are no rows with pictures{chosen}. They are expected in the configs {', '.join(asked)}; "
            f"the dataset's configs are {', '.join(offered.configs) or 'none'}."
        )
    return parts


def content(picture: Picture) -> str:
    """SHA-256 of the picture's encoded bytes; a corpus has few distinct pictures, so most are never decoded."""
    return hashlib.sha256(picture.fetch() or b"").hexdigest()


def distinct(parts: Sequence[Part]) -> dict[str, Picture]:
    """The distinct pictures by SHA-256, each decoded as a check; BadInput for a damaged one."""
    found: dict[str, Picture] = {}
    for part in parts:
        for sha256, row in zip(part.pictures, part.rows.rows, strict=True):
            if sha256 not in found:
                row["image"].read()
                found[sha256] = row["image"]
    return found


def described_row(row: Mapping[str, Any], image: str, description: Description) -> dict[str, Any]:
    """The row with the description in place of the annotators' texts and the other columns unchanged.

    The column `questions`, which people asked about the cartoon, has no prediction and is left out.
    """
    links = [link_of(name) for name in description.entities]
    scene = {
        "image_location": description.location,
        "image_description": description.description,
        "image_uncanny_description": description.uncanny,
        "entities": links,
    }
    others = {name: value for name, value in row.items() if name not in {"image", "contest_number", *scene}}
    first = {"image": image} | ({"contest_number": row["contest_number"]} if "contest_number" in row else {})
    return {**first, **scene, **others, "from_description": from_description(scene, row.get("caption_choices"))}


def from_description(scene: Mapping[str, Any], choices: Any) -> str:
    """The column `from_description` in the corpus's format, the input of systems such as T5."""
    names = ", ".join(link.split("/wiki/", 1)[-1] for link in scene["entities"])
    text = (
        f"scene: {scene['image_location']} description: {scene['image_description']} "
        f"uncanny: {scene['image_uncanny_description']} entities: {names}."
    )
    if isinstance(choices, str):
        return f"{text} caption: {choices}"
    return f"{text} choices {' '.join(f'{a}: {c}' for a, c in zip('ABCDEFGHIJ', choices or (), strict=False))}"
