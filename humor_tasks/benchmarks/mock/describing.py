"""Literal descriptions as rows to train a describer on (section 3.3); no benchmark of the paper, and not registered."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.mock import corpus
from humor_tasks.benchmarks.mock.corpus import CHOICES, NEEDS, SCENES, text
from humor_tasks.contract.answers import Answer, FreeText
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.metric import REPLY_RATES
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import json_lines, missing
from humor_tasks.files.writing import LONE
from humor_tasks.rows import fingerprint
from humor_tasks.rows.descriptions import QUESTIONS
from humor_tasks.rows.media.picture import Picture, picture_file
from humor_tasks.rows.records import Outcome, Prompt, Record, Turn

STILLS = CHOICES["stills"]


@dataclass(frozen=True)
class DescribedPicture:
    """One picture of a folder, and the description of its rows; "" where no row has one."""

    media_id: str
    scene: str
    picture: Picture
    description: str


def is_mock(folder: Path) -> bool:
    """Whether it is a folder of this corpus, as `humor-tasks build mock` writes it."""
    return folder.is_dir() and any(files(folder, SCENES))


def files(folder: Path, scenes: tuple[str, ...] = STILLS, split: str = "*") -> list[Path]:
    """The files of these scenes' rows."""
    return [path for scene in scenes for task in NEEDS for path in sorted(folder.glob(f"{scene}_{task}/{split}.jsonl"))]


def rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(location, row) of every row of a file."""
    for where, row in json_lines(path):
        if not isinstance(row, dict) or not isinstance(row.get("media_id"), str):
            raise BadInput(f"{where}: must be an object with a media_id.")
        if missing(row["media_id"]) or row["media_id"] != row["media_id"].strip():
            raise BadInput(f"{where}: media_id is {row['media_id']!r:.60}; it must be text without outer spaces.")
        if LONE.search(f"{row['media_id']}{row.get('description')}"):
            raise BadInput(f"{where}: media_id or description has half of a character; correct it.")
        yield where, row


def pictures(folder: Path, scene: str = "stills", split: str = "*") -> dict[str, DescribedPicture]:
    """media_id -> picture, of the scenes without video, in one split or in all. Raises BadInput where there is none."""
    pictures_by_id: dict[str, DescribedPicture] = {}
    for path in files(folder, tuple(name for name in CHOICES[scene] if name in STILLS), split):
        for where, row in rows(path):
            description = text(row, "description", where) if row.get("description") else ""
            known = pictures_by_id.get(row["media_id"])
            if known is not None and (known.description or not description):
                continue
            if not isinstance(row.get("media"), str):
                continue  # built without pictures
            try:
                picture = picture_file(folder, row["media"])
            except BadInput as problem:
                raise BadInput(f"{where}: media: {problem}") from None
            pictures_by_id[row["media_id"]] = DescribedPicture(
                row["media_id"], str(row.get("scene")), picture, description
            )
    if not pictures_by_id:
        raise BadInput(f"{folder}: scene {scene} has no pictures; build the folder with them (docs/mock.md).")
    return pictures_by_id


def described_rows(path: Path, texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a file, each with the text of its picture; a row without one keeps its own."""
    return [row | {"description": texts.get(row["media_id"], row.get("description"))} for _, row in rows(path)]


def load(benchmark: Benchmark[corpus.MockOptions], o: corpus.MockOptions) -> Data:
    """One record per described picture of a split of a local folder."""
    folder = Path(o.dataset).expanduser()
    if not folder.is_dir():
        raise BadInput(f"dataset={o.dataset}: descriptions are read from a folder of humor-tasks build mock.")
    described = [picture for picture in pictures(folder, o.scene, o.split).values() if picture.description]
    if not described:
        raise BadInput(f"{folder}: no picture of {o.scene}, split {o.split}, has a description (docs/mock.md).")
    records = tuple(
        Record(
            id=f"{picture.media_id}_describing",
            cluster=picture.media_id,
            fields={},
            context="",
            choices=(),
            target=picture.description,
            groups={"scene": picture.scene},
            picture=picture.picture,
        )
        for picture in described
    )
    mark = fingerprint([{"media_id": picture.media_id, "description": picture.description} for picture in described])
    facts = {"dataset": o.dataset, "split": o.split, "fingerprint": mark, "rows": len(records), "revision": None}
    return Data(records, facts, lambda scene, task: {})


def prompt(run: Run[corpus.MockOptions], record: Record) -> Prompt:
    """The question that `humor-tasks describe` asks, about the picture."""
    return Prompt((Turn("user", QUESTIONS["description"], record.picture),))


def outcome(run: Run[corpus.MockOptions], record: Record, answer: Answer) -> Outcome:
    """The outcome without a score."""
    return answer.outcome(dataclasses.replace(record, target=None))


DESCRIBING = Benchmark(
    name="describing",
    card=corpus.card(title="MOCK: a literal description"),
    corpus="mock",
    version="1-A",
    answer=FreeText(),
    metrics=REPLY_RATES,
    options=corpus.MockOptions,
    templates=(),
    load=load,
    prompt=prompt,
    outcome=outcome,
)
