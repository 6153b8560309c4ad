"""Items for people out of a benchmark: two systems' explanations, or what a model is asked, for human accuracy."""

from __future__ import annotations

import hashlib
import io
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from humor_tasks.benchmarks.contract import Run
from humor_tasks.benchmarks.systems import read_system
from humor_tasks.data.media.clip import Clip
from humor_tasks.data.media.picture import MIME, Picture
from humor_tasks.data.records import Record
from humor_tasks.data.writing import write_bytes
from humor_tasks.errors import BadInput, listed
from humor_tasks.studies.annotate.pairs import same_text

FRAMES = 9
Asked = list[tuple[Record, dict[str, Any]]]  # with the fields that its kind of item adds


def preferences(run: Run, systems: tuple[str, str]) -> tuple[Asked, Counter[str]]:
    """The records that both systems explain, A the first's; and how many were left out, by why.

    Explanations have single blanks: paragraphs would tell who wrote.
    """
    explained = [read_system(spec, run) for spec in systems]
    known = {record.id for record in run.records}
    for spec, one in zip(systems, explained, strict=True):
        unknown = [identity for identity in one.texts if identity not in known]
        if unknown:
            where = f"they are of {run.benchmark.name}, split {run.options.split} of {run.options.dataset}"
            raise BadInput(f"{spec}: {listed('unknown id', unknown)}; {where}.")
    asked, left_out = [], Counter[str]()
    for record in run.records:
        texts = [" ".join(one.texts.get(record.id, "").split()) for one in explained]
        if not all(texts):
            left_out["without both explanations"] += 1
        elif same_text(texts[0]) == same_text(texts[1]):
            left_out["explained in the same words"] += 1
        else:
            own = {"caption": record.fields["caption"], "options": texts, "systems": [one.model for one in explained]}
            asked.append((record, {"kind": "preference"} | own))
    return asked, left_out


def choices(run: Run) -> tuple[Asked, Counter[str]]:
    """The records of matching or ranking, with their answers; and how many were left out, by why."""
    asked, left_out = [], Counter[str]()
    for record in run.records:
        if len({same_text(choice) for choice in record.choices}) < len(record.choices):
            left_out["with the same caption twice"] += 1
        else:
            kind = run.benchmark.name.removeprefix("mock_")
            own = {"kind": kind, "options": list(record.choices), "answer": record.target}
            if record.fields.get("said"):  # the dialogue before an utterance
                own["description"] = "\n".join((record.fields.get("description", ""), record.fields["said"])).strip()
            asked.append((record, own))
    return asked, left_out


def drawn(asked: Asked, size: int | None, seed: int) -> Asked:
    """`size` of them at random by `seed` and id, in their order; all of them when there are fewer."""

    def draw(one: tuple[Record, dict[str, Any]]) -> bytes:
        return hashlib.sha256(f"{seed}\n{one[0].id}".encode()).digest()

    chosen = {record.id for record, _ in sorted(asked, key=draw)[:size]}
    return [one for one in asked if one[0].id in chosen]


def rows(asked: Asked, output: Path) -> list[dict[str, Any]]:
    """The rows of the file `output`, and the pictures beside it."""
    return [{"id": record.id, "cluster": record.cluster} | _scene(record, output) | own for record, own in asked]


def _scene(record: Record, output: Path) -> dict[str, str]:
    """The cartoon as a model is shown it, in words without the links."""
    fields = record.fields
    if record.picture is not None or record.clip is not None:
        return {"image": _copied(record.picture or in_one_picture(cast(Clip, record.clip)), output)}
    if not fields.get("description"):
        return {}
    if "location" not in fields:
        return {"description": fields["description"]}
    lines = (f"Place: {fields['location']}", fields["description"], f"Unusual: {fields['uncanny']}")
    return {"description": "\n".join(lines)}


def in_one_picture(clip: Clip) -> Picture:
    """Frames of a clip, left to right and line by line, as one picture: the page shows no video."""
    from PIL import Image

    frames = [frame.open() for frame in replace(clip, frames=clip.frames or FRAMES).pictures()]
    wide, high = frames[0].size
    columns = math.ceil(math.sqrt(len(frames)))
    sheet = Image.new("RGB", (wide * columns, high * math.ceil(len(frames) / columns)), "white")
    for i, frame in enumerate(frames):
        sheet.paste(frame, (i % columns * wide, i // columns * high))
    encoded = io.BytesIO()
    sheet.save(encoded, "JPEG", quality=85)
    return Picture(f"frames of {clip.where}", None, encoded.getvalue)


def _copied(picture: Picture, output: Path) -> str:
    """The picture's path relative to the folder of `output`, where it is written once."""
    data = picture.read()
    ending = {mime: name.lower() for name, mime in MIME.items()}[picture.mime()]
    name = f"{output.stem}_images/{picture.sha256()[:16]}.{ending}"
    if not (output.parent / name).is_file():
        write_bytes(output.parent / name, data)
    return name
