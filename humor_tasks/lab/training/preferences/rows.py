"""Preference rows of a benchmark of two captions, and of any source in TRL's formats with their card.

Source: "Dataset formats and types" in TRL's documentation, preference with an explicit prompt. Standard rows hold
texts, conversational rows lists of messages. TRL's trainers ignore other columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from humor_tasks._version import __version__
from humor_tasks.benchmarks.caption_contest.corpus import CaptionPrompt, NyccOptions
from humor_tasks.contract.definition import Run
from humor_tasks.contract.prompts import templates_hash
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.writing import is_vacant, replacing
from humor_tasks.lab.training.hosted import SPLITS
from humor_tasks.parameters import opened
from humor_tasks.rows.table import Absent
from humor_tasks.rows.trained_on import check_disjoint

_NOTE = """\
A row has `prompt`, `chosen` and `rejected` in TRL's {format} preference format, with an explicit prompt. All other
columns say where the row comes from; trainers ignore them, and a model must not see votes and ratings.
No contest is in two splits. The split `test` is for evaluation: train no model on it.
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
        chosen = {split: rows for split, rows in self.rows.items() if rows and (not splits or split in splits)}
        return Preferences(chosen, self.source, self.facts, self.warnings, self.table)


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
        taken = [] if is_vacant(output) else [output]
    if taken:
        raise BadInput(f"{taken[0]}: exists already; name a new folder, or a new file that ends in .jsonl.")


def write_preferences(output: Path, preferences: Preferences, prompt: CaptionPrompt, form: str) -> None:
    """Write a folder with SPLIT.jsonl and README.md, or one file NAME.jsonl and its card NAME.md."""
    if output.suffix == ".jsonl":
        ((split, rows),) = preferences.rows.items()
        with replacing(output) as temporary:
            _write(temporary, rows, prompt, form)
        with replacing(output.with_suffix(".md")) as temporary:
            temporary.write_text(card(preferences, prompt, form, {split: output.name}), encoding="utf-8")
        return
    with replacing(output) as folder:
        folder.mkdir()
        for split, rows in preferences.rows.items():
            _write(folder / f"{split}.jsonl", rows, prompt, form)
        files = {split: f"{split}.jsonl" for split in preferences.rows}
        (folder / "README.md").write_text(card(preferences, prompt, form, files), encoding="utf-8")


def _write(path: Path, rows: Sequence[Preference], prompt: CaptionPrompt, form: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(as_row(row, prompt, form), ensure_ascii=False, allow_nan=False) + "\n")


def card(preferences: Preferences, prompt: CaptionPrompt, form: str, files: Mapping[str, str]) -> str:
    """The card, which makes `datasets.load_dataset(folder)` find the splits."""
    head = ["---", "language:", "- en", "configs:", "- config_name: default", "  data_files:"]
    head += [f"  - {{split: {split}, path: {name}}}" for split, name in files.items()]
    sizes = ["| split | rows | contests |", "|---|---|---|"]
    for split, rows in preferences.rows.items():
        sizes.append(f"| {split} | {len(rows):,} | {len({row.facts['contest'] for row in rows}):,} |")
    facts = {"made by": f"humor-tasks export preferences {__version__}", "format": form} | dict(preferences.facts)
    facts |= {"prompt templates": templates_hash(prompt.templates)}
    warnings = "\n".join(f"- {warning}." for warning in preferences.warnings)
    parts = [
        "\n".join([*head, "---"]),
        "# Preferences between captions",
        f"{preferences.source}.",
        _NOTE.format(format=form),
        "\n".join(sizes),
        "\n".join(f"- {name}: {text}" for name, text in facts.items()),
        f"## To know\n\n{warnings}" if warnings else "",
        _markdown(preferences.table),
        _LICENCE,
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _markdown(table: Sequence[Sequence[str]]) -> str:
    if not table:
        return ""
    head, *rows = (f"| {' | '.join(cells)} |" for cells in table)
    return "\n".join(["## Contests", "", head, "|---" * len(table[0]) + "|", *rows])


# ---- rows of a benchmark -------------------------------------------------------------------------


def row_preferences(task: str, splits: Sequence[str], given: Sequence[str], **named: str | None) -> Preferences:
    """The rows of these splits, by default of all that the dataset has; `given` and `named` as in `opened`.

    Raises BadInput for rows without a label or with pictures, and where two splits share a contest.
    """
    if named.get("setting") == "pixels":
        raise BadInput("--setting pixels: only text can be exported; use description or caption_only.")
    if taken := [pair for pair in given if pair.partition("=")[0] in ("split", "shard")]:
        raise BadInput(f"-T {taken[0]}: leave it out; use --split.")
    runs: dict[str, Run] = {}
    missing = ""
    for split in dict.fromkeys(splits or SPLITS):
        try:
            runs[split] = opened(task, given, split=split, **named)
        except Absent as problem:
            if splits:
                raise
            missing = str(problem)
    if not runs:
        raise BadInput(missing)
    check_disjoint(task, {split: {record.cluster for record in run.records} for split, run in runs.items()})
    rows = {split: _rows(run, split) for split, run in runs.items()}
    some = next(iter(runs.values()))
    options = cast(NyccOptions, some.options)
    facts = {"dataset": options.dataset, "fold": options.fold, "setting": options.setting}
    for split, run in runs.items():
        source = run.data.provenance
        facts[f"revision and rows of {split}"] = f"{source['revision'] or '-'}, {source['fingerprint'][:12]}"
    differing = {split: [row for row in read if row.chosen != row.rejected] for split, read in rows.items()}
    doubled = {split: len(read) - len(differing[split]) for split, read in rows.items()}
    warnings = [f"{split}: {n} rows have the same caption twice and are left out" for split, n in doubled.items() if n]
    return Preferences(differing, f"Rows of the benchmark `{task}`", facts, warnings)


def _rows(run: Run, split: str) -> list[Preference]:
    if any(record.picture is not None for record in run.records):
        raise BadInput(f"{run.benchmark.name}: only text can be exported; use setting=description or caption_only.")
    if lacking := [record.id for record in run.records if record.target is None]:
        raise BadInput(f"{run.benchmark.name}, split {split}: {listed('row', lacking, most=3)}: they have no label.")
    rows = []
    for record in run.records:
        better = "AB".index(cast(str, record.target))
        facts: dict[str, object] = {"contest": record.cluster, "instance_id": record.id}
        if "winner_source" in record.groups:
            facts["winner_source"] = record.groups["winner_source"]
        rows.append(Preference(record.context, record.choices[better], record.choices[1 - better], facts))
    return rows
