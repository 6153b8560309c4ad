"""Distractors for MOCK's matching: selection of items, random choices, and the rows that are written.

As in the publication, an item has two distractors by models and one from an unrelated item; in 15 % of the items a
weaker, human-written one is added, which here replaces the second by a model. `distractor_models` asks the models and
judges.
"""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.mock import corpus as mock
from humor_tasks.benchmarks.mock.loading import can_show
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import json_lines, read_body, words_in
from humor_tasks.files.writing import LONE, link_or_copy, replacing, write_json_lines, write_text
from humor_tasks.lab.corpora.croissant import renew
from humor_tasks.lab.corpora.mock.block_design import Line, distractors
from humor_tasks.lab.corpora.mock.items import balanced_letters
from humor_tasks.lab.corpora.mock.shortcuts import HEADING, Estimates, section, shortcuts_in, shortcuts_of
from humor_tasks.rows.media.picture import picture_file, resolve_inside
from humor_tasks.rows.records import Record

TASK = "matching"
OPTIONS = "## Options of matching"


@dataclass(frozen=True)
class Item:
    """A row without its options. `record` presents it with its line hidden; `cell` is the path of its file in the
    folder.
    """

    row: Mapping[str, Any]
    record: Record
    line: str
    cell: str
    where: str


@dataclass(frozen=True)
class Plan:
    """An item's settings before any model is asked: the answer's letter, and the human-written distractor, if any."""

    item: Item
    letter: str
    by_hand: str | None


@dataclass(frozen=True)
class Option:
    """A distractor and its source: `model`, `hand` or `unrelated`."""

    text: str
    source: str


# ---- reading ------------------------------------------------------------------------------------


def read_items(source: Path, o: mock.MockOptions, splits: Sequence[str] = ()) -> list[Item]:
    """The matching rows of a folder that `humor-tasks build mock` wrote, or of one JSONL file with the same schema.

    splits: restricts a folder to these splits. Raises BadInput naming file and line of an invalid row.
    """
    if source.is_dir():
        files = sorted(
            path
            for path in source.glob(f"*_{TASK}/*.jsonl")
            if path.parent.name.removesuffix(f"_{TASK}") in mock.CHOICES[o.scene]
            and (not splits or path.stem in splits)
        )
        if not files:
            held = sorted(path.relative_to(source).as_posix() for path in source.glob(f"*_{TASK}/*.jsonl"))
            if held:
                asked = " ".join([f"--scene {o.scene}", *(f"--split {split}" for split in splits)])
                raise BadInput(f"{source}: {asked}: there is no such file; there are: {', '.join(held)}.")
            raise BadInput(
                f"{source}: holds no SCENE_{TASK}/SPLIT.jsonl; `humor-tasks build mock` writes such a folder."
            )
    else:
        files = [source]
        if splits:
            raise BadInput(f"--split: {source} is one file; leave it out.")
    folder = source if source.is_dir() else source.parent
    rows = [(path, where, row) for path in files for where, row in _rows(path)]
    _check_shown([(where, row) for _, where, row in rows], o, scenes=source.is_dir())
    items = [_item(row, where, path, folder, o) for path, where, row in rows]
    repeated = [name for name, count in Counter(item.record.id for item in items).items() if count > 1]
    if repeated:
        raise BadInput(f"{source}: {listed('id', repeated)} repeated; ids must be unique.")
    if not items:
        raise BadInput(f"{source}: holds no rows.")
    return items


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(location, row) of a file."""
    for where, row in json_lines(path):
        if not isinstance(row, dict):
            raise BadInput(f"{where}: holds {type(row).__name__}; it must be a row of {TASK}.")
        row = {"caption": None, "dialogue": None, "description": None, "media": None} | row
        missing = [name for name in ("id", "scene", "media_id") if name not in row]
        if missing or row["scene"] not in mock.SCENES:
            problem = f"lacks {', '.join(missing)}" if missing else f"scene is {row['scene']!r}"
            raise BadInput(f"{where}: {problem}; a row has id, media_id and a scene: {', '.join(mock.SCENES)}.")
        yield where, row


def _check_shown(rows: Sequence[tuple[str, Mapping[str, Any]]], o: mock.MockOptions, scenes: bool) -> None:
    """Raise BadInput where `--input` cannot show a row, with options that can; `scenes`: --scene may restrict rows."""
    lacking = [where for where, row in rows if not can_show(o.input, row, row["scene"])]
    if not lacking:
        return
    what = "description" if o.input == "description" else "picture or clip"
    held = dict.fromkeys(row["scene"] for _, row in rows)
    fitting = []
    for medium in ("description", "media"):
        fits = [scene for scene in held if all(can_show(medium, r, scene) for _, r in rows if r["scene"] == scene)]
        if len(fits) == len(held):
            fitting.append(f"--input {medium}")
        elif scenes:
            fitting += [f"--input {medium} --scene {scene}" for scene in fits]
    remedy = f"Use {', or '.join(fitting)}." if fitting else f"Give each row a {what}, or take these rows out."
    raise BadInput(f"{lacking[0]}: has no {what}, as {len(lacking):,} of {len(rows):,} rows. {remedy}")


def _item(row: Mapping[str, Any], where: str, path: Path, folder: Path, o: mock.MockOptions) -> Item:
    scene = row["scene"]
    _, spoken = mock.said_in(row, scene, where)
    shown_row = dict(row, media=None if o.input == "description" else _medium(row["media"], folder, where))
    record = mock.record_of(o, shown_row, scene, where, hidden=True)
    return Item(row, record, spoken, path.relative_to(folder).as_posix(), where)


def _medium(name: Any, folder: Path, where: str) -> Any:
    if not isinstance(name, str):
        raise BadInput(f"{where}: media is {name!r:.60}; name its file.")
    try:
        return picture_file(folder, name)
    except BadInput as problem:
        raise BadInput(f"{where}: media: {problem}") from None


# ---- planning -----------------------------------------------------------------------------------


def plans(items: Sequence[Item], by_hand: Mapping[str, str], share: float, seed: int) -> list[Plan]:
    """Assign letters and human-written distractors: within each file, answers are balanced over the letters.

    by_hand: {id of the item: text}. A fraction `share` of a file's items gets one: a seeded sample where there are
    more, all where there are fewer. Raises BadInput for an unknown id, and for a text that is empty or equal to the
    item's line.
    """
    known = {item.record.id: item for item in items}
    unknown = [name for name in by_hand if name not in known]
    if unknown:
        raise BadInput(f"--handwritten: {listed('id', unknown)} of no item here.")
    for name, text in by_hand.items():
        own = words_in(text) == words_in(known[name].line)
        if not words_in(text) or LONE.search(text) or own:
            what = "the item's own line" if own else "empty, or a lone surrogate"
            raise BadInput(f"--handwritten: the text of {name} is {what}.")
    planned = []
    for cell in dict.fromkeys(item.cell for item in items):
        members = [item for item in items if item.cell == cell]
        rng = random.Random(f"{seed}:{cell}")
        letters = balanced_letters(len(members), rng)
        offered = [item.record.id for item in members if item.record.id in by_hand]
        chosen = set(rng.sample(offered, min(len(offered), round(share * len(members)))))
        for item, letter in zip(members, letters, strict=True):
            handwritten = " ".join(by_hand[item.record.id].split()) if item.record.id in chosen else None
            planned.append(Plan(item, letter, handwritten))
    return planned


def unrelated(items: Sequence[Item], seed: int) -> Mapping[str, Sequence[str]]:
    """Item id -> lines of items of the same file, source and script with another medium, those of its block first."""
    cells: dict[str, list[Item]] = {}
    for item in items:
        cells.setdefault(item.cell, []).append(item)
    by_item: dict[str, Sequence[str]] = {}
    for cell, members in cells.items():
        lines = [Line(one.line, one.record.context, one.record.cluster, str(one.row.get("source"))) for one in members]
        drawn = distractors(lines, f"{seed}:{cell}")
        by_item |= {one.record.id: others for one, others in zip(members, drawn, strict=True)}
    return by_item


# ---- writing ------------------------------------------------------------------------------------


def with_options(plan: Plan, others: Sequence[Option], seed: int) -> dict[str, Any]:
    """The item's row with four options, with the answer at its letter."""
    options = list(others)
    random.Random(f"{seed}:{plan.item.record.id}:order").shuffle(options)
    options.insert("ABCD".index(plan.letter), Option(plan.item.line, "answer"))
    answer_fields = {"options": [option.text for option in options], "answer": plan.letter}
    return {**plan.item.row, **answer_fields, "options_from": ", ".join(option.source for option in options)}


def check_output(source: Path, out: Path) -> None:
    """Raise BadInput where `out` already exists or is inside the source."""
    if out.exists():
        raise BadInput(f"{out}: exists already; name a new {'folder' if source.is_dir() else 'file'}.")
    if source.is_dir() and out.resolve().is_relative_to(source.resolve()):
        raise BadInput(f"{out}: is inside {source}; name a path outside of it.")


def write_options(source: Path, out: Path, items: Sequence[Item], rows: Mapping[str, Any], note: str) -> Estimates:
    """Write the source with these rows (by id) in place of the items, atomically: a file for a file, a folder for a
    folder. Returns the shortcut baselines of what was written.

    Everything else in a folder is copied; media are hard links where the file system allows it. Raises BadInput where a
    file has no row left.
    """
    by_cell: dict[str, list[Any]] = {item.cell: [] for item in items}
    for item in items:
        if item.record.id in rows:
            by_cell[item.cell].append(rows[item.record.id])
    if empty := [cell for cell, of_cell in by_cell.items() if not of_cell]:
        raise BadInput(f"{listed('file', empty)}: no item got its options.")
    if not source.is_dir():
        write_json_lines(out, [row for of_cell in by_cell.values() for row in of_cell])
        return shortcuts_of(list(rows.values()), TASK)
    with replacing(out) as folder:
        copy_folder(source, folder)
        for cell, of_cell in by_cell.items():
            write_json_lines(folder / cell, of_cell)
        card, estimates = folder / "README.md", shortcuts_in(folder)
        before = read_body(card) if card.exists() else ""
        with_baselines = with_section(before, HEADING, section(estimates))
        write_text(card, with_section(with_baselines, OPTIONS, f"{OPTIONS}\n\n{note}"))
        renew(folder)
    return estimates


def with_section(card: str, heading: str, body: str) -> str:
    """The card with this section in place of the one with the same heading, or at its end."""
    parts = re.split(r"(?m)^(?=## )", card)
    held = [i for i, part in enumerate(parts) if part.split("\n")[0].rstrip() == heading]
    parts[held[0] if held else len(parts) :] = [f"{body}\n", *(parts[held[0] + 1 :] if held else [])]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def copy_folder(source: Path, target: Path) -> None:
    """Copy a dataset folder; media are hard links where possible. Raises BadInput for a link that leaves the folder."""
    for path in source.rglob("*"):
        if path.is_symlink():
            resolve_inside(source, path.relative_to(source).as_posix())

    def copy(file: str, to: str) -> None:
        if file.endswith((".jsonl", ".json", ".md")):  # rows and cards, which users may edit
            shutil.copy2(file, to)
        else:
            link_or_copy(Path(file), Path(to))

    shutil.copytree(source, target, copy_function=copy)
