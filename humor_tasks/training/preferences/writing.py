"""Preference rows in TRL's formats, and their card.

Source: "Dataset formats and types" in TRL's documentation, preference with an explicit prompt. Standard rows hold
texts, conversational rows lists of messages. TRL's trainers ignore other columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.benchmarks.caption_contest.corpus import CaptionPrompt
from humor_tasks.benchmarks.prompts import templates_hash
from humor_tasks.data.writing import replacing
from humor_tasks.errors import BadInput

_NOTE = """\
A row has `prompt`, `chosen` and `rejected` in TRL's {format} preference format, with an explicit prompt. All other
columns say where the row comes from; trainers ignore them, and a model must not see votes and ratings.
No contest is in two splits.
"""
_LICENCE = """\
**Licences.** The crowd's ratings and the annotations of the cartoons are published under CC BY 4.0. Captions belong to
their writers: check both before you redistribute rows.
"""


@dataclass(frozen=True)
class Preference:
    """A scene as one text ("" for none), the better and the other caption, and columns that a model does not see."""

    context: str
    chosen: str
    rejected: str
    facts: Mapping[str, object]


@dataclass(frozen=True)
class Preferences:
    """Rows by split, where they come from, and what a reader of the card has to know.

    facts: name -> text. warnings: one sentence each, without a full stop. table: a header and rows, or none.
    """

    rows: Mapping[str, Sequence[Preference]]
    source: str
    facts: Mapping[str, str]
    warnings: Sequence[str] = ()
    table: Sequence[Sequence[str]] = field(default_factory=list)

    def only(self, splits: Sequence[str]) -> Preferences:
        """These splits; none named: all. Raises BadInput for one that has no row."""
        if lacking := [split for split in splits if not self.rows.get(split)]:
            raise BadInput(f"--split {lacking[0]}: there are no rows; there are: {', '.join(self.rows)}.")
        kept = {split: rows for split, rows in self.rows.items() if rows and (not splits or split in splits)}
        return Preferences(kept, self.source, self.facts, self.warnings, self.table)


def as_row(preference: Preference, prompt: CaptionPrompt, form: str) -> dict[str, Any]:
    """A row in TRL's format."""
    if form == "standard":
        texts: dict[str, Any] = {"prompt": prompt.text(preference.context)}
        texts |= {"chosen": f" {preference.chosen}", "rejected": f" {preference.rejected}"}
    else:
        texts = {"prompt": prompt.messages(preference.context)}
        for name in ("chosen", "rejected"):
            texts[name] = [{"role": "assistant", "content": getattr(preference, name)}]
    return texts | dict(preference.facts)


def check_place(output: Path, splits: Sequence[str]) -> None:
    """Raise BadInput for an output that cannot be written: a folder with files, or a file of several splits."""
    if output.suffix == ".jsonl":
        if len(set(splits)) != 1:
            raise BadInput(f"{output}: a file holds one split; name it by --split, or give a folder.")
        taken = [path for path in (output, output.with_suffix(".md")) if path.exists()]
    else:
        taken = [output] if output.exists() and not (output.is_dir() and not any(output.iterdir())) else []
    if taken:
        raise BadInput(f"{taken[0]}: exists already; name a new folder, or a new file that ends in .jsonl.")


def write_preferences(output: Path, made: Preferences, prompt: CaptionPrompt, form: str) -> None:
    """Write a folder with SPLIT.jsonl and README.md, or one file NAME.jsonl and its card NAME.md."""
    if output.suffix == ".jsonl":
        ((split, rows),) = made.rows.items()
        with replacing(output) as temporary:
            _write(temporary, rows, prompt, form)
        with replacing(output.with_suffix(".md")) as temporary:
            temporary.write_text(card(made, prompt, form, {split: output.name}), encoding="utf-8")
        return
    with replacing(output) as folder:
        folder.mkdir()
        for split, rows in made.rows.items():
            _write(folder / f"{split}.jsonl", rows, prompt, form)
        files = {split: f"{split}.jsonl" for split in made.rows}
        (folder / "README.md").write_text(card(made, prompt, form, files), encoding="utf-8")


def _write(path: Path, rows: Sequence[Preference], prompt: CaptionPrompt, form: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_lines(rows, prompt, form))


def _lines(rows: Sequence[Preference], prompt: CaptionPrompt, form: str) -> Iterator[str]:
    for row in rows:
        yield json.dumps(as_row(row, prompt, form), ensure_ascii=False, allow_nan=False) + "\n"


def card(made: Preferences, prompt: CaptionPrompt, form: str, files: Mapping[str, str]) -> str:
    """The card, which makes `datasets.load_dataset(folder)` find the splits."""
    head = ["---", "language:", "- en", "configs:", "- config_name: default", "  data_files:"]
    head += [f"  - {{split: {split}, path: {name}}}" for split, name in files.items()]
    sizes = ["| split | rows | contests |", "|---|---|---|"]
    for split, rows in made.rows.items():
        sizes.append(f"| {split} | {len(rows):,} | {len({row.facts['contest'] for row in rows}):,} |")
    facts = {"made by": f"humor-tasks export-preferences {__version__}", "format": form} | dict(made.facts)
    facts |= {"prompt templates": templates_hash(prompt.templates)}
    parts = [
        "\n".join([*head, "---"]),
        "# Preferences between captions",
        f"{made.source}.",
        _NOTE.format(format=form),
        "\n".join(sizes),
        "\n".join(f"- {name}: {text}" for name, text in facts.items()),
        "## To know\n\n" + "\n".join(f"- {each}." for each in made.warnings) if made.warnings else "",
        _markdown(made.table),
        _LICENCE,
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _markdown(table: Sequence[Sequence[str]]) -> str:
    if not table:
        return ""
    head, *rows = (f"| {' | '.join(cells)} |" for cells in table)
    return "\n".join(["## Contests", "", head, "|---" * len(table[0]) + "|", *rows])
