"""Exact repeats: within a row, between rows, splits and folds, and in other datasets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import is_visible
from humor_tasks.lab.corpora.audit.items import Finding, Item, Items, Part, finding, key, one_line, unseen
from humor_tasks.lab.corpora.audit.tables import read_file, row_files
from humor_tasks.models.choosers.chooser import LETTERS

SHORTEST = 8
"""Letters and digits of the shortest text that is told when two splits share it; "Nice try." is no leak."""
SHORTEST_ELSEWHERE = 20
"""The same for other datasets; shorter texts are alike by accident."""
SAME_DATASET = 0.9
"""A dataset that holds this share of the texts is the audited one."""


# ---- within a row -------------------------------------------------------------------------------


def in_rows(items: Sequence[Item]) -> list[Finding]:
    """Choices that stand twice in a row, texts that nobody sees, and control characters."""
    exact, alike, empty, control = [], [], [], []
    for item in items:
        if len(set(map(one_line, item.choices))) < len(item.choices):
            exact.append(f"{item.where}: {_twice(item, one_line)}")
        elif len(set(map(key, item.choices))) < len(item.choices):
            alike.append(f"{item.where}: {_twice(item, key)}")
        if not all(map(is_visible, item.texts)):
            empty.append(item.where)
        if points := [point for text in (*item.texts, item.context) for point in unseen(text)]:
            control.append(f"{item.where}: {', '.join(dict.fromkeys(points))}")
    differ = "with two choices that differ only in case, punctuation or spaces."
    return [
        *finding("duplicate_choice", "error", "row", "with the same choice twice.", exact),
        *finding("duplicate_choice", "error", "row", differ, alike),
        *finding("empty_text", "error", "row", "with a text that nobody sees.", empty),
        *finding("control_character", "warning", "row", "with control characters in a text.", control),
    ]


def _twice(item: Item, same: Callable[[str], str]) -> str:
    """The repeated choices with their letters."""
    choices: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for letter, choice in zip(LETTERS, item.choices, strict=False):
        choices[same(choice)].append((letter, choice))
    twice = [
        f"{' and '.join(letter for letter, _ in repeats)}: {repeats[0][1]:.80}"
        for repeats in choices.values()
        if len(repeats) > 1
    ]
    return "; ".join(twice) + f" (answer {item.label or 'unknown'})"


# ---- rows ---------------------------------------------------------------------------------------


def across_rows(data: Items) -> list[Finding]:
    """Ids, rows and questions that repeat within a fold."""
    same_id: list[str] = []
    within: list[str] = []
    between: list[str] = []
    for parts in data.folds().values():
        items = [item for part in parts for item in data.of(part.name)]
        for first, other in _repeats(items, lambda item: item.id):
            same_id.append(f"{first.id}: {first.where} and {other.where}")
        for first, other in _repeats(items, lambda item: (_question(item, data.grouped), one_line(item.context))):
            (within if first.part == other.part else between).append(f"{other.where} is {first.where}")
    return [
        *finding("duplicate_id", "error", "row", "with the id of another row.", same_id),
        *finding("row_in_two_splits", "error", "row", "also in another split.", between),
        *finding("duplicate_row", "warning", "row", "that repeat another of their split.", within),
        *_contradictions(data),
    ]


def _question(item: Item, grouped: bool) -> Hashable:
    """What is asked, whatever the order of the choices; the scene counts by its group where there are groups."""
    scene: Hashable = item.group if grouped else key(item.context)
    return scene, tuple(sorted(map(key, item.texts)))


def _contradictions(data: Items) -> list[Finding]:
    labelled = [item for item in data.items if item.target is not None]
    rated = data.kind == "rating"
    pairs = [
        f"{first.where} ({first.answer:.60}) and {other.where} ({other.answer:.60})"
        for first, other in _repeats(labelled, lambda item: _question(item, data.grouped))
        if (first.target != other.target if rated else key(first.answer) != key(other.answer))
    ]
    what = "of rows with the same question and another answer."
    return finding("contradiction", "warning" if rated else "error", "pair", what, dict.fromkeys(pairs))


def _repeats(items: Iterable[Item], same: Callable[[Item], Hashable]) -> list[tuple[Item, Item]]:
    """Each row that repeats another, after the first row that is the same."""
    firsts: dict[Hashable, Item] = {}
    pairs = [(firsts.setdefault(same(item), item), item) for item in items]
    return [(first, item) for first, item in pairs if first is not item]


# ---- splits -------------------------------------------------------------------------------------


def across_splits(data: Items) -> list[Finding]:
    """Groups and texts that two splits of one fold share, and groups that folds share."""
    findings = _groups(data) if data.grouped else []
    for what in ("text", "scene"):
        rows = [
            f"{first.where} and {other.where}: {text_with(text_key, first.compared(what))}"
            for text_key, first, other in shared_in_folds(data, partial(_long_keys, what))
        ]
        findings += finding("text_in_two_splits", "warning", what, "in two splits of one fold.", rows)
    return findings


def _long_keys(what: str, item: Item) -> list[str]:
    return [text_key for text in item.compared(what) if len(text_key := key(text)) >= SHORTEST]


def text_with(text_key: Hashable, texts: Sequence[str]) -> str:
    """The beginning of the text that has this key."""
    return next((f"{text:.80}" for text in texts if key(text) == text_key), "")


def _groups(data: Items) -> list[Finding]:
    in_splits = [
        f"{group}: {first.where} and {other.where}"
        for group, first, other in shared_in_folds(data, lambda item: [item.group])
    ]
    parts: dict[Hashable, dict[str, str]] = defaultdict(dict)
    for item in data.items:
        parts[item.group].setdefault(data.parts[item.part].fold, item.part)
    in_folds = [f"{group}: {', '.join(by_fold.values())}" for group, by_fold in parts.items() if len(by_fold) > 1]
    expected = "in more than one fold, as in cross-validation, where a fold is trained on what another one evaluates."
    return [
        *finding("group_in_two_splits", "error", "group", "in two splits of one fold.", in_splits),
        *finding("shared_between_folds", "note", "group", expected, in_folds),
    ]


def shared_in_folds(data: Items, keys: Callable[[Item], Iterable[Hashable]]) -> list[tuple[Hashable, Item, Item]]:
    """Each key that two splits of a fold share, with the first row of each of the two; a key is told once a fold."""
    shared = []
    for parts in data.folds().values():
        firsts: dict[Hashable, Item] = {}
        pairs: dict[Hashable, Item] = {}
        for part in parts:
            for item in data.of(part.name):
                for one in keys(item):
                    if firsts.setdefault(one, item).part != item.part:
                        pairs.setdefault(one, item)
        shared += [(one, firsts[one], other) for one, other in pairs.items()]
    return shared


# ---- other datasets -----------------------------------------------------------------------------


def elsewhere(data: Items, against: Sequence[str]) -> tuple[list[Finding], list[str]]:
    """Texts that stand in another dataset, too, and what was compared, one sentence for each dataset.

    Compared are the packaged samples and `against`: files and dataset folders. Raises BadInput for one that is neither,
    or that cannot be read.
    """
    rows_of: dict[str, str] = {}
    for item in data.items:
        for text in (*item.texts, item.context):
            if len(text_key := key(text)) >= SHORTEST_ELSEWHERE:
                rows_of.setdefault(text_key, f"{item.where}: {text:.80}")
    findings: list[Finding] = []
    compared = []
    for name, files in (*_samples(), *((name, _files(name)) for name in against)):
        keys = {text_key for file in files for text_key in _keys(file)}
        rows = [row for text_key, row in rows_of.items() if text_key in keys]
        if rows_of and len(rows) >= SAME_DATASET * len(rows_of):
            held = f"holds {len(rows):,} of the {len(rows_of):,} texts"
            compared.append(f"{name} {held}: it is taken for the same dataset.")
        else:
            compared.append(f"{name}: {len(keys):,} texts compared.")
            findings += finding("text_elsewhere", "warning", "text", f"also in {name}.", rows)
    return findings, compared


def _samples() -> list[tuple[str, list[Path]]]:
    """The packaged sample of each corpus and its files."""
    home = Path(folder("humicroedit")).parent
    samples = [path for path in sorted(home.iterdir()) if (path / "README.md").is_file()]
    return [(f"the packaged sample {path.name}", row_files(path)) for path in samples]


def _files(dataset: str) -> list[Path]:
    path = Path(dataset).expanduser()
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise BadInput(f"--against {dataset}: there is no such file or folder.")
    return row_files(path)


def _keys(file: Path) -> Iterator[str]:
    for row in read_file(file, Part(file.stem, "", file.stem)).rows:
        for text in _strings(list(row.values())):
            if len(text_key := key(text)) >= SHORTEST_ELSEWHERE:
                yield text_key


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)
