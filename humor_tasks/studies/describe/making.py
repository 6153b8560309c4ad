"""A dataset folder in the from-description layout, a model's answers in the place of the annotators' words."""

from __future__ import annotations

import glob
import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml

from humor_tasks import __version__
from humor_tasks.benchmarks.caption_contest.described import Part, described_row
from humor_tasks.data.media.picture import Picture
from humor_tasks.data.rows import described_by, join_fingerprints
from humor_tasks.errors import BadInput, listed
from humor_tasks.models.descriptions import QUESTIONS, Description
from humor_tasks.studies.describe.answers import Answers

_README = """---
{front}---

Cartoons put into words by a model: the rows of {dataset}, with the answers of {model} to four questions
in the place of what people wrote about each cartoon. Every other column is the source's own, and so is its licence.
Entities have the form of Wikipedia links but were spelled from the answer, not looked up.

| question | column |
|---|---|
{questions}

Made by `humor-tasks describe`; `described` in the front matter says from what, by whom and how. Run
`inspect eval humor_tasks/matching -T dataset=<this folder>`, or any other from-description task of the contest.
"""
_COLUMNS = {"description": "image_description", "location": "image_location", "uncanny": "image_uncanny_description"}


@dataclass(frozen=True)
class Plan:
    """What is to be made of which rows. `asked` says which model answers, and how, see `Asking.of`."""

    dataset: str
    requested_revision: str | None
    parts: Sequence[Part]
    asked: Mapping[str, Any]
    unanswered: str | None = None

    def provenance(self) -> dict[str, Any]:
        """Where the rows and the words come from, as the folder's card and a run's log say it."""
        rows = [part.rows for part in self.parts]
        shown = hashlib.sha256("".join(sha for part in self.parts for sha in part.pictures).encode()).hexdigest()
        source = {
            "dataset": self.dataset,
            "requested_revision": self.requested_revision,
            "revision": rows[0].revision,
            "splits": [f"{part.config}/{part.split}" for part in self.parts],
            "fingerprint": join_fingerprints([r.fingerprint for r in rows]),
            "pictures": shown,
        }
        told = {"source": source, "asked": dict(self.asked), "questions": dict(QUESTIONS)}
        return told | {"unanswered": self.unanswered, "humor_tasks": __version__}


def is_made(output: Path, plan: Plan) -> bool:
    """Whether the folder is there already, made of the same rows in the same way; BadInput where it is another."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return False
    made = described_by(str(output)) if output.is_dir() else None
    if made is None:
        raise BadInput(f"{output}: is there already and was not made by humor-tasks describe; give another -o.")
    wanted = _compared(json.loads(json.dumps(plan.provenance())))
    found = _compared(made)
    if different := [name for name in wanted if found.get(name) != wanted[name]]:
        raise BadInput(
            f"{output}: is finished, and was made otherwise ({', '.join(different)}); give another -o, or remove it."
        )
    return True


def _compared(told: Mapping[str, Any]) -> dict[str, Any]:
    """Without what may differ for the same rows and words: a path, a branch's name, the version."""
    source = dict(told.get("source") or {})
    return {**told, "humor_tasks": None, "source": [source.get(name) for name in ("splits", "fingerprint", "pictures")]}


def answers_file(output: Path) -> Path:
    """Beside the folder, so that it outlives a folder that is made again."""
    return output.with_name(f"{output.name}.answers.jsonl")


def open_answers(output: Path, plan: Plan) -> Answers:
    """The answers there are already."""
    return Answers(answers_file(output), plan.asked)


def descriptions(
    pictures: Mapping[str, Picture], answers: Mapping[str, Mapping[str, str]], unanswered: str | None
) -> dict[str, Description]:
    """Each picture's description; BadInput lists questions without an answer unless `unanswered` answers them."""
    found: dict[str, Description] = {}
    empty = []
    for sha256, said in answers.items():
        words = {name: said[question] for name, question in QUESTIONS.items()}
        for name in ("location", "description", "uncanny"):
            if not words[name].strip():
                words[name] = unanswered or ""
                empty.append(f"'{QUESTIONS[name]}' about {pictures[sha256].where}")
        if unanswered or not empty:
            found[sha256] = Description.of(words, pictures[sha256].where)
    if empty and not unanswered:
        raise BadInput(
            f"{listed('empty answer', empty, 3)}. Give the text for such with --unanswered TEXT, or another model."
        )
    return found


def write_folder(output: Path, plan: Plan, pictures: Mapping[str, Picture], words: Mapping[str, Description]) -> None:
    """The folder, complete or not at all."""
    start = f".{output.name}.part"
    beside = output.with_name(f"{start}-{uuid4().hex}")  # another process may be at the same
    try:
        (beside / "images").mkdir(parents=True)
        files = {sha256: f"images/{sha256[:20]}.{picture.mime()[6:]}" for sha256, picture in pictures.items()}
        for sha256, name in files.items():
            (beside / name).write_bytes(pictures[sha256].read())
        for part in plan.parts:
            _write_part(beside, part, files, words)
        (beside / "README.md").write_text(_card(plan), encoding="utf-8")
        if output.is_dir():
            output.rmdir()  # empty, see `is_made`
        beside.replace(output)
        for left in output.parent.glob(f"{glob.escape(start)}*"):  # by processes that were killed
            shutil.rmtree(left, ignore_errors=True)
    except OSError as problem:
        raise BadInput(f"{output}: cannot be written ({problem}).") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write_part(folder: Path, part: Part, files: Mapping[str, str], words: Mapping[str, Description]) -> None:
    path = folder / part.config / f"{part.split}.jsonl"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for i, (row, sha256) in enumerate(zip(part.rows.rows, part.pictures, strict=True)):
            made = described_row(row, files[sha256], words[sha256])
            try:
                file.write(json.dumps(made, ensure_ascii=False) + "\n")
            except (TypeError, ValueError) as problem:
                raise BadInput(f"{part.rows.where(i)}: a column cannot be written as JSON ({problem}).") from None


def _card(plan: Plan) -> str:
    configs: dict[str, list[dict[str, str]]] = {}
    for part in plan.parts:
        files = configs.setdefault(part.config, [])
        files.append({"split": part.split, "path": f"{part.config}/{part.split}.jsonl"})
    front = {
        "pretty_name": "New Yorker Caption Contest, described by a model",
        "configs": [{"config_name": name, "data_files": files} for name, files in configs.items()],
        "described": plan.provenance(),
    }
    columns = _COLUMNS | {"entities": "entities"}
    return _README.format(
        front=yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=120),
        dataset=plan.dataset,
        model=plan.asked["model"],
        questions="\n".join(f"| {question} | `{columns[name]}` |" for name, question in QUESTIONS.items()),
    )
