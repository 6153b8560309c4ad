"""A dataset folder in the from-description format, with a model's answers instead of the annotators' descriptions."""

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

from humor_tasks._version import __version__
from humor_tasks.benchmarks.caption_contest.rows import Part, described_row
from humor_tasks.data.append_log import JsonLog
from humor_tasks.data.descriptions import QUESTIONS, Description
from humor_tasks.data.media.picture import Picture
from humor_tasks.data.reading import is_visible
from humor_tasks.data.rows import described_by, join_fingerprints
from humor_tasks.errors import BadInput, listed

# ---- the answers file ----------------------------------------------------------------------------
# An interrupted run resumes from it without asking answered questions again.
# One JSON object per line, appended as answers arrive: picture (SHA-256), question, answer, and `asked` (the model and
# its settings).


class Answers:
    """The answers of one model with one set of settings; answers of others in the same file are ignored."""

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """`asked` holds the model and everything that its answers depend on, as JSON."""
        self.path = path
        self.asked = json.loads(json.dumps(dict(asked), sort_keys=True))
        self._known: dict[tuple[str, str], str] = {}
        self._file = JsonLog(path)
        self._file.open_records("picture", self._read, "Remove the line; its question will be asked again.")

    def get(self, picture: str, question: str) -> str | None:
        """The answer, or None where there is none yet."""
        return self._known.get((picture, question))

    def keep(self, picture: str, question: str, answer: str) -> None:
        """Append an answer; it is in the file when this returns."""
        self._file.add({"picture": picture, "question": question, "answer": answer, "asked": self.asked})
        self._known[picture, question] = answer

    def _read(self, found: Mapping[str, Any]) -> None:
        picture, question, answer, asked = (found[name] for name in ("picture", "question", "answer", "asked"))
        if not all(isinstance(text, str) for text in (picture, question, answer)):
            raise TypeError("picture, question and answer must be text")
        if asked == self.asked:
            self._known[picture, question] = answer


FOLD = "{fold}"
"""In the name of a model: the fold of the rows that it describes."""

# ---- the folder ----------------------------------------------------------------------------------

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
    """The rows to describe and the settings.

    asked: the model and its settings, see `Asking.of`; of several models their common name, and these by name.
    """

    dataset: str
    requested_revision: str | None
    parts: Sequence[Part]
    asked: Mapping[str, Any]
    unanswered: str | None = None

    def provenance(self) -> dict[str, Any]:
        """The provenance of rows and descriptions, as recorded in the folder's card and a run's log."""
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
        section = {"source": source, "asked": dict(self.asked), "questions": dict(QUESTIONS)}
        return section | {"unanswered": self.unanswered, "humor_tasks": __version__}


def is_made(output: Path, plan: Plan) -> bool:
    """Whether the folder exists and was made from the same rows and settings. Raises BadInput where it is another."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return False
    made = described_by(str(output)) if output.is_dir() else None
    if made is None:
        raise BadInput(f"{output}: already exists and was not made by humor-tasks describe; give another -o.")
    wanted = _comparable(json.loads(json.dumps(plan.provenance())))
    found = _comparable(made)
    if different := [name for name in wanted if found.get(name) != wanted[name]]:
        raise BadInput(
            f"{output}: already exists with other settings ({', '.join(different)}); give another -o, or remove it."
        )
    return True


def _comparable(section: Mapping[str, Any]) -> dict[str, Any]:
    """The provenance without values that may differ for the same rows and descriptions: path, branch name, version."""
    source = dict(section.get("source") or {})
    return {
        **section,
        "humor_tasks": None,
        "source": [source.get(name) for name in ("splits", "fingerprint", "pictures")],
    }


def answers_file(output: Path) -> Path:
    """The answers file, next to the folder, so that it remains when the folder is made again."""
    return output.with_name(f"{output.name}.answers.jsonl")


def by_model(name: str, parts: Sequence[Part]) -> dict[str, list[Part]]:
    """The parts by the name of their model: `FOLD` in `name` is replaced by each part's fold."""
    found: dict[str, list[Part]] = {}
    for part in parts:
        found.setdefault(name.replace(FOLD, part.fold), []).append(part)
    return found


def descriptions(
    pictures: Mapping[str, Picture], answers: Mapping[str, Mapping[str, str]], unanswered: str | None
) -> dict[str, Description]:
    """Each picture's description. Raises BadInput listing answers without text unless `unanswered` replaces them."""
    found: dict[str, Description] = {}
    empty = []
    for sha256, given in answers.items():
        words = {name: given[question] for name, question in QUESTIONS.items()}
        for name in ("location", "description", "uncanny"):
            if not is_visible(words[name]):  # the folder would be refused when it is read
                words[name] = unanswered or ""
                empty.append(f"'{QUESTIONS[name]}' about {pictures[sha256].where}")
        if unanswered or not empty:
            found[sha256] = Description.of(words, pictures[sha256].where)
    if empty and not unanswered:
        raise BadInput(
            f"{listed('empty answer', empty, 3)}. Give a replacement with --unanswered TEXT, or use another model."
        )
    return found


def write_folder(
    output: Path, plan: Plan, pictures: Mapping[str, Picture], words: Mapping[str, Mapping[str, Description]]
) -> None:
    """Write the folder atomically; `words` holds the descriptions by fold. Raises BadInput where that fails."""
    start = f".{output.name}.part"
    temporary = output.with_name(f"{start}-{uuid4().hex}")  # unique, because another process may write the same folder
    try:
        (temporary / "images").mkdir(parents=True)
        files = {sha256: f"images/{sha256[:20]}.{picture.mime()[6:]}" for sha256, picture in pictures.items()}
        for sha256, name in files.items():
            (temporary / name).write_bytes(pictures[sha256].read())
        for part in plan.parts:
            _write_part(temporary, part, files, words[part.fold])
        (temporary / "README.md").write_text(_card(plan), encoding="utf-8")
        if output.is_dir():
            output.rmdir()  # empty, see `is_made`
        temporary.replace(output)
        for leftover in output.parent.glob(f"{glob.escape(start)}*"):  # left by interrupted processes
            shutil.rmtree(leftover, ignore_errors=True)
    except OSError as problem:
        raise BadInput(f"{output}: cannot be written ({problem}).") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


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
