"""Cartoons: the New Yorker Caption Contest corpus (Hessel et al., ACL 2023) in its own schema, fold 0.

A `matching` row has a caption that was entered for the cartoon and four that were entered for others; three of the four
are kept, sampled with the seed. An `explanation` row says why a caption is funny. Pictures are those of
`matching_from_pixels`. The literal description is `image_description`. Cartoon Movement and CartoonStock, MOCK's other
sources of cartoons, have no public files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.caption_contest.corpus import CARD, HUB
from humor_tasks.corpora.mock.items import SPLITS, Item, Media, Source, one_line, safe_id
from humor_tasks.data.media.picture import Picture
from humor_tasks.data.rows import Absent, Rows, open_rows
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput

COLUMNS = ["contest_number", "caption_choices", "label", "instance_id", "image_description"]


def read_newyorker(dataset: str, media: Media, revision: str | None = None) -> Source:
    """The captions of `matching` and `explanation` in every split. Raises BadInput where the dataset has none."""
    source = Source("New Yorker")
    absent = []
    for split in SPLITS:
        pictures = _pictures(dataset, split, revision)
        for config in ("matching", "explanation"):
            try:
                rows = _open(dataset, config, split, COLUMNS, revision)
            except Absent:
                absent.append(f"{config}/{split}")
                continue
            for i, row in enumerate(rows.rows):
                source.rows += 1
                contest = safe_id(str(row["contest_number"]), rows.where(i))
                picture = pictures.get(contest)
                if picture is None and media.missing != "keep":
                    media.problems.append(f"{rows.where(i)}: the picture of contest {contest}")
                    if media.missing == "drop":
                        source.dropped["no picture of its contest in matching_from_pixels"] += 1
                        continue
                source.items.append(_item(row, config, split, contest, picture, rows.where(i)))
    if not source.rows:
        raise BadInput(f"{dataset}: has neither {' nor '.join(absent)}.")
    return source


def _item(row: Mapping[str, Any], config: str, split: str, contest: str, picture: Picture | None, where: str) -> Item:
    identity = safe_id(str(row["instance_id"]), where)
    others: tuple[str, ...] = ()
    if config == "matching":
        choices, letter = row["caption_choices"], row["label"]
        if not isinstance(choices, list) or len(choices) != 5 or letter not in tuple("ABCDE"):
            raise BadInput(f"{where}: must have five captions and a label of A to E.")
        line = one_line(choices["ABCDE".index(letter)], "the caption", where)
        others = tuple(one_line(other, "a caption", where) for i, other in enumerate(choices) if "ABCDE"[i] != letter)
    else:
        line = one_line(row["caption_choices"], "caption_choices", where)
    return Item(
        id=f"newyorker_{identity}",
        scene="cartoon",
        source="New Yorker",
        media_id=f"newyorker-{contest}",
        line=line,
        split=split,
        funny=config == "matching",
        explanation=one_line(row["label"], "label", where) if config == "explanation" else None,
        description=one_line(row["image_description"], "image_description", where),
        others=others,
        media={"": picture} if picture is not None else {},
    )


def _pictures(dataset: str, split: str, revision: str | None) -> dict[str, Picture]:
    """Contest -> picture; empty where the dataset has no pictures of this split."""
    try:
        rows = _open(dataset, "matching_from_pixels", split, ["contest_number"], revision, pictures=True)
    except Absent:
        return {}
    return {str(row["contest_number"]): row["image"] for row in rows.rows}


def _open(
    dataset: str, config: str, split: str, columns: list[str], revision: str | None, pictures: bool = False
) -> Rows:
    return open_rows(
        dataset,
        hub=HUB,
        cards=Path(folder(CARD)),
        config=config,
        split=split,
        columns=columns,
        pictures=pictures,
        revision=revision,
    )
