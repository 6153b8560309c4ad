"""Descriptions of a MOCK folder's pictures: a part by people, the others by a model, all checked by a person.

The paper (section 3.3) annotates a part of the pictures, fine-tunes LLaVA on it, lets that describe the others, and has
one person correct the result. `humor-tasks train image-text --task describing` is the fine-tuning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from humor_tasks.benchmarks.mock import describing
from humor_tasks.benchmarks.mock.describing import DescribedPicture
from humor_tasks.corpora.options.distractors import copy_folder, with_section
from humor_tasks.data.descriptions import QUESTIONS
from humor_tasks.data.media.picture import Picture
from humor_tasks.data.reading import is_visible, read_body
from humor_tasks.data.writing import replacing, write_text
from humor_tasks.errors import BadInput, listed

QUESTION = QUESTIONS["description"]
HEADING = "## Descriptions"
Ask = Callable[[Mapping[str, Picture]], Mapping[str, str]]


def texts_of(shown: Mapping[str, DescribedPicture], known: Mapping[str, str]) -> dict[str, str]:
    """media_id -> description: of `known`, else of the rows. Raises BadInput for an id that is not there."""
    unknown = [name for name in known if name not in shown]
    if unknown:
        raise BadInput(f"--known: {listed('media_id', unknown)} of no picture here.")
    own = {name: each.description for name, each in shown.items() if each.description}
    return own | dict(known)


def answered(
    shown: Mapping[str, DescribedPicture], texts: Mapping[str, str], ask: Ask, unanswered: str | None
) -> dict[str, str]:
    """media_id -> description, of all pictures: those of `texts`, and the model's for the others.

    Raises BadInput for an answer without text, unless `unanswered` replaces it.
    """
    missing = {name: each.picture for name, each in shown.items() if name not in texts}
    given = {name: " ".join(text.split()) for name, text in ask(missing).items()} if missing else {}
    empty = [name for name, text in given.items() if not is_visible(text)]
    if empty and not unanswered:
        raise BadInput(f"{listed('empty answer', empty, 3)}. Give a replacement with --unanswered TEXT.")
    return {**texts, **given, **dict.fromkeys(empty, unanswered or "")}


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
            lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            write_text(made / path.relative_to(folder), lines)
        card = made / "README.md"
        write_text(card, with_section(read_body(card) if card.exists() else "", HEADING, f"{HEADING}\n\n{note}"))
    return count
