"""`humor-tasks describe`: a model's descriptions of a dataset's pictures, as a dataset for from-description tasks.

The caption contest: a folder in the from-description format, with a model's answers to four questions instead of the
annotators' descriptions. MOCK: literal descriptions, a part by people, the others by a model, all checked by a person.
The paper (section 3.3) annotates a part of the pictures, fine-tunes LLaVA on it, lets that describe the others, and has
one person correct the result. `humor-tasks train image-text --task describing` is the fine-tuning.
"""

from __future__ import annotations

import glob
import hashlib
import json
import random
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from humor_tasks._version import __version__
from humor_tasks.benchmarks.caption_contest.rows import Part, described_row
from humor_tasks.benchmarks.mock import describing
from humor_tasks.benchmarks.mock.describing import DescribedPicture
from humor_tasks.errors import BadInput, check_choice, listed
from humor_tasks.files.append_log import ReplyStore
from humor_tasks.files.reading import read_body
from humor_tasks.files.writing import is_vacant, replacing, write_json_lines, write_text
from humor_tasks.lab.corpora.croissant import EVALUATION, renew, write_croissant
from humor_tasks.lab.corpora.mock.options import copy_folder, with_section
from humor_tasks.rows import canary, described_by, join_fingerprints
from humor_tasks.rows.descriptions import QUESTIONS, UNUSABLE, Description, Said, unusable
from humor_tasks.rows.media.picture import Picture
from humor_tasks.scorers.own_turn import own_turn, unwrapped

# ---- the answers file ----------------------------------------------------------------------------


class Answers:
    """The answers of one model with one set of settings; answers of others in the same file are ignored.

    asked: the model and everything that its answers depend on, as JSON. A line of the file has picture (its
    identity, `Facts.identity`), question, answer and asked, and for an answer that cannot be used why (`Said`).
    again: whether unusable answers count as missing, so that they are asked for again.
    """

    def __init__(self, path: Path, asked: Mapping[str, Any], again: bool = True) -> None:
        self.again = again
        self.asked = json.loads(json.dumps(dict(asked), sort_keys=True))
        self._store = ReplyStore(path)
        self._store.open_records("picture", self._read, "Remove the line; its question will be asked again.")

    def get(self, picture: str, question: str) -> Said | None:
        """The answer, or None if it is still missing."""
        said: Said | None = self._store.replies.get((picture, question))
        return None if said and self.again and said.lacks(question) else said

    def keep(self, picture: str, question: str, said: Said) -> None:
        """Append an answer; it is in the file when this returns."""
        record = {"picture": picture, "question": question, "answer": said.text, "asked": self.asked}
        self._store.keep((picture, question), said, record | ({"why": said.why} if said.why else {}))

    def _read(self, record: Mapping[str, Any]) -> tuple[tuple[str, str], Said] | None:
        picture, question, answer, asked = (record[name] for name in ("picture", "question", "answer", "asked"))
        if not all(isinstance(text, str) for text in (picture, question, answer)):
            raise TypeError("picture, question and answer must be text")
        why = record.get("why")
        said = Said(answer, check_choice("why", why, UNUSABLE)) if why else _whole(answer)
        return ((picture, question), said) if asked == self.asked else None


def _whole(answer: str) -> Said:
    """An answer of a line without `why`, as also releases wrote that kept all."""
    visible = own_turn(answer, explains=True).text
    return Said("", "only thinking") if visible is None else Said.of(unwrapped(visible).strip())


FOLD = "{fold}"
"""In the name of a model: the fold of the rows that it describes."""

# ---- the folder ----------------------------------------------------------------------------------

_README = """---
{front}---

Cartoons put into words by a model: the rows of {dataset}, with the answers of {model} to four questions
in the place of what people wrote about each cartoon. Every other column is the source's own, and so is its licence.
Entities have the form of Wikipedia links but were spelled from the answer, not looked up.

{note}

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

    asked: the model and its settings (`DescriberSettings.of`); of several models the common name, and each by name.
    """

    dataset: str
    requested_revision: str | None
    parts: Sequence[Part]
    asked: Mapping[str, Any]
    unanswered: str | None = None

    def provenance(self) -> dict[str, Any]:
        """The provenance of rows and descriptions, as recorded in the folder's card and a run's log."""
        rows = [part.rows for part in self.parts]
        digest = hashlib.sha256("".join(sha for part in self.parts for sha in part.pictures).encode()).hexdigest()
        source = {
            "dataset": self.dataset,
            "requested_revision": self.requested_revision,
            "revision": rows[0].revision,
            "splits": [f"{part.config}/{part.split}" for part in self.parts],
            "fingerprint": join_fingerprints([r.fingerprint for r in rows]),
            "pictures": digest,
        }
        section = {"source": source, "asked": dict(self.asked), "questions": dict(QUESTIONS)}
        return section | {"unanswered": self.unanswered, "humor_tasks": __version__}


def is_made(output: Path, plan: Plan) -> bool:
    """Whether the folder exists and was made from the same rows and settings. Raises BadInput where it is another."""
    if is_vacant(output):
        return False
    made = described_by(str(output)) if output.is_dir() else None
    if made is None:
        raise BadInput(f"{output}: already exists and was not made by humor-tasks describe; give another -o.")
    wanted = _comparable(json.loads(json.dumps(plan.provenance())))
    existing = _comparable(made)
    if different := [name for name in wanted if existing.get(name) != wanted[name]]:
        raise BadInput(
            f"{output}: already exists with other settings ({', '.join(different)}); give another -o, or remove it."
        )
    return True


def _comparable(section: Mapping[str, Any]) -> dict[str, Any]:
    """The provenance without values that may differ for the same rows and descriptions: path, branch name, version."""
    source = dict(section.get("source") or {})
    return {**section, "humor_tasks": None, "source": [source.get(n) for n in ("splits", "fingerprint", "pictures")]}


def answers_file(output: Path) -> Path:
    """The answers file, next to the folder, so that it remains when the folder is made again."""
    return output.with_name(f"{output.name}.answers.jsonl")


def by_model(name: str, parts: Sequence[Part]) -> dict[str, list[Part]]:
    """The parts by the name of their model: `FOLD` in `name` is replaced by each part's fold."""
    by_name: dict[str, list[Part]] = {}
    for part in parts:
        by_name.setdefault(name.replace(FOLD, part.fold), []).append(part)
    return by_name


def descriptions(
    pictures: Mapping[str, Picture], answers: Mapping[str, Mapping[str, Said]], unanswered: str | None
) -> tuple[dict[str, Description], str]:
    """Each picture's description; and the answers that `unanswered` replaces, counted and named.

    In the place of entities there are none. Raises BadInput for unusable answers without `unanswered`.
    """
    asked = [(sha256, name, question) for sha256 in answers for name, question in QUESTIONS.items()]
    lacking = [
        (answers[sha256][q], f"'{q}' about {pictures[sha256].where}")
        for sha256, _, q in asked
        if answers[sha256][q].lacks(q)
    ]
    told = _replaced(lacking, unanswered)
    by_picture = {}
    for sha256, by_question in answers.items():
        words = {name: by_question[question].description for name, question in QUESTIONS.items()}
        words |= {name: text or unanswered or "" for name, text in words.items() if name != "entities"}
        by_picture[sha256] = Description.of(words, pictures[sha256].where)
    return by_picture, told


def _replaced(lacking: Sequence[tuple[Said, str]], unanswered: str | None) -> str:
    """The unusable answers, counted and named. Raises BadInput for any that nothing replaces."""
    told = unusable(lacking)
    if told and not unanswered:
        longer = (
            " a higher --max-tokens," if any(said.why in ("cut off", "only thinking") for said, _ in lacking) else ""
        )
        raise BadInput(
            f"{told}. The same command asks again. Or give{longer} a replacement with --unanswered TEXT, or another "
            "model."
        )
    return told


def write_folder(
    output: Path, plan: Plan, pictures: Mapping[str, Picture], words: Mapping[str, Mapping[str, Description]]
) -> None:
    """Write the folder atomically; `words` holds the descriptions by fold. Raises BadInput where that fails."""
    with replacing(output) as folder:
        (folder / "images").mkdir(parents=True)
        files = {sha256: f"images/{sha256[:20]}.{picture.mime()[6:]}" for sha256, picture in pictures.items()}
        for sha256, name in files.items():
            (folder / name).write_bytes(pictures[sha256].read())
        for part in plan.parts:
            _write_part(folder, part, files, words[part.fold])
        (folder / "README.md").write_text(_card(plan), encoding="utf-8")
        write_croissant(folder, {"machineAnnotationTools": str(plan.asked["model"]), "dataUseCases": EVALUATION})
    for leftover in output.parent.glob(f".{glob.escape(output.name)}.{'[0-9a-f]' * 32}"):  # of interrupted processes
        shutil.rmtree(leftover, ignore_errors=True)


def _write_part(folder: Path, part: Part, files: Mapping[str, str], words: Mapping[str, Description]) -> None:
    path = folder / part.config / f"{part.split}.jsonl"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for i, (row, sha256) in enumerate(zip(part.rows.rows, part.pictures, strict=True)):
            made = canary.marked(described_row(row, files[sha256], words[sha256]))
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
        note=canary.NOTE,
        dataset=plan.dataset,
        model=plan.asked["model"],
        questions="\n".join(f"| {question} | `{columns[name]}` |" for name, question in QUESTIONS.items()),
    )


# ---- MOCK ----------------------------------------------------------------------------------------

QUESTION = QUESTIONS["description"]
HEADING = "## Descriptions"
Ask = Callable[[Mapping[str, Picture]], Mapping[str, Said]]


def texts_of(pictures: Mapping[str, DescribedPicture], known: Mapping[str, str]) -> dict[str, str]:
    """media_id -> description: of `known`, else of the rows. Raises BadInput for an id that is not there."""
    unknown = [name for name in known if name not in pictures]
    if unknown:
        raise BadInput(f"--known: {listed('media_id', unknown)} of no picture here.")
    from_rows = {name: picture.description for name, picture in pictures.items() if picture.description}
    return from_rows | dict(known)


def to_ask(pictures: Collection[str], texts: Mapping[str, str], size: int | None, seed: int) -> list[str]:
    """The media ids without a text: all, or a random sample of `size`, which does not depend on their order."""
    missing = sorted(name for name in pictures if name not in texts)
    return missing if size is None or size >= len(missing) else sorted(random.Random(seed).sample(missing, size))


def answered(
    pictures: Mapping[str, DescribedPicture], texts: Mapping[str, str], ask: Ask, unanswered: str | None
) -> tuple[dict[str, str], str]:
    """media_id -> description, of all pictures: those of `texts`, and the model's for the others; and the answers that
    `unanswered` replaces, counted and named.

    Raises BadInput for unusable answers without `unanswered`.
    """
    missing = {name: picture.picture for name, picture in pictures.items() if name not in texts}
    answers = ask(missing) if missing else {}
    told = _replaced([(said, name) for name, said in answers.items() if said.why], unanswered)
    return {
        **texts,
        **{name: " ".join((said.description or unanswered or "").split()) for name, said in answers.items()},
    }, told


def write_described(folder: Path, out: Path, texts: Mapping[str, str], note: str) -> int:
    """Write the folder with these descriptions, atomically; media are linked where possible. Returns the number of
    rows with one.
    """
    count = 0
    with replacing(out) as made:
        copy_folder(folder, made)
        for path in describing.files(folder):
            rows = describing.described_rows(path, texts)
            count += sum(bool(row["description"]) for row in rows)
            write_json_lines(made / path.relative_to(folder), rows)
        card = made / "README.md"
        write_text(card, with_section(read_body(card) if card.exists() else "", HEADING, f"{HEADING}\n\n{note}"))
        renew(made)
    return count
