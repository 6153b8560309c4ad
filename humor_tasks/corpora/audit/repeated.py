"""What stands twice: choices in a row, ids, rows, questions with another answer; and what two splits share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial

from humor_tasks.corpora.audit.findings import Finding, Severity, counted, found
from humor_tasks.corpora.audit.items import Item, Items, key, one_line, unseen
from humor_tasks.data.reading import is_visible
from humor_tasks.models.choosers.chooser import LETTERS

SHORTEST = 8
"""Letters and digits of the shortest text that is told when two splits share it; "Nice try." is no leak."""


def in_rows(items: Sequence[Item]) -> list[Finding]:
    """Choices that stand twice in a row, texts that nobody sees, and control characters."""
    exact, seen, empty, control = [], [], [], []
    for item in items:
        if len(set(map(one_line, item.choices))) < len(item.choices):
            exact.append(f"{item.where}: {_twice(item, one_line)}")
        elif len(set(map(key, item.choices))) < len(item.choices):
            seen.append(f"{item.where}: {_twice(item, key)}")
        if not all(map(is_visible, item.texts)):
            empty.append(item.where)
        if odd := [point for text in (*item.texts, item.context) for point in unseen(text)]:
            control.append(f"{item.where}: {', '.join(dict.fromkeys(odd))}")
    rows = len(exact), len(seen)
    return [
        *found("duplicate_choice", "error", f"{counted(rows[0], 'row')} with the same choice twice.", exact),
        *found(
            "duplicate_choice",
            "error",
            f"{counted(rows[1], 'row')} with two choices that differ only in case, punctuation or spaces.",
            seen,
        ),
        *found("empty_text", "error", f"{counted(len(empty), 'row')} with a text that nobody sees.", empty),
        *found(
            "control_character",
            "warning",
            f"{counted(len(control), 'row')} with control characters in a text.",
            control,
        ),
    ]


def _twice(item: Item, same: Callable[[str], str]) -> str:
    places: dict[str, list[str]] = defaultdict(list)
    for letter, choice in zip(LETTERS, item.choices, strict=False):
        places[same(choice)].append(letter)
    by_letter = dict(zip(LETTERS, item.choices, strict=False))
    twice = [f"{' and '.join(own)}: {by_letter[own[0]]:.80}" for own in places.values() if len(own) > 1]
    return "; ".join(twice) + f" (answer {item.label or 'unknown'})"


# ---- rows ---------------------------------------------------------------------------------------


def across_rows(data: Items) -> list[Finding]:
    """Ids, rows and questions that repeat within a fold."""
    return [each for check in (_ids, _rows, _contradictions) for each in check(data)]


def _ids(data: Items) -> list[Finding]:
    told = [
        f"{first.id}: {first.where} and {other.where}"
        for parts in data.folds().values()
        for first, other in _repeats([i for part in parts for i in data.of(part.name)], lambda item: item.id)
    ]
    return found("duplicate_id", "error", f"{counted(len(told), 'row')} with the id of another row.", told)


def _question(item: Item, grouped: bool) -> Hashable:
    """What is asked, whatever the order of the choices; the scene counts by its group where there are groups."""
    scene: Hashable = item.group if grouped else key(item.context)
    return scene, tuple(sorted(map(key, item.texts)))


def _row(item: Item, grouped: bool) -> Hashable:
    return _question(item, grouped), one_line(item.context)


def _rows(data: Items) -> list[Finding]:
    within: list[str] = []
    between: list[str] = []
    for parts in data.folds().values():
        items = [item for part in parts for item in data.of(part.name)]
        for first, other in _repeats(items, lambda item: _row(item, data.grouped)):
            pair = f"{other.where} is {first.where}"
            (within if first.part == other.part else between).append(pair)
    return [
        *found("row_in_two_splits", "error", f"{counted(len(between), 'row')} also in another split.", between),
        *found(
            "duplicate_row", "warning", f"{counted(len(within), 'row')} that repeat another of their split.", within
        ),
    ]


def _contradictions(data: Items) -> list[Finding]:
    told: dict[str, None] = {}
    for item, other in _repeats(
        [item for item in data.items if item.target is not None],
        lambda item: _question(item, data.grouped),
        lambda a, b: key(a.answer) != key(b.answer) if data.kind != "rating" else a.target != b.target,
    ):
        told[f"{item.where} ({item.answer:.60}) and {other.where} ({other.answer:.60})"] = None
    severity: Severity = "warning" if data.kind == "rating" else "error"
    what = f"{counted(len(told), 'pair')} of rows with the same question and another answer."
    return found("contradiction", severity, what, told)


def _repeats(
    items: Iterable[Item],
    same: Callable[[Item], Hashable],
    counts: Callable[[Item, Item], bool] = lambda first, other: True,
) -> list[tuple[Item, Item]]:
    """Each row with the first row that is the same, where `counts` says that it counts."""
    firsts: dict[Hashable, Item] = {}
    pairs = []
    for item in items:
        first = firsts.setdefault(same(item), item)
        if first is not item and counts(first, item):
            pairs.append((first, item))
    return pairs


# ---- splits -------------------------------------------------------------------------------------


def across_splits(data: Items) -> list[Finding]:
    """Groups and texts that two splits of one fold share, and groups that folds share."""
    findings: list[Finding] = []
    if data.grouped:
        findings += _groups(data)
    for what, texts in (("text", _asked), ("scene", _scene)):
        told = [
            f"{first.where} and {other.where}: {_shown(texts(first), own)}"
            for own, first, other in shared_in_folds(data, partial(_long_keys, texts))
        ]
        findings += found(
            "text_in_two_splits", "warning", f"{counted(len(told), what)} in two splits of one fold.", told
        )
    return findings


def _long_keys(texts: Callable[[Item], tuple[str, ...]], item: Item) -> list[str]:
    return [own for text in texts(item) if len(own := key(text)) >= SHORTEST]


def _asked(item: Item) -> tuple[str, ...]:
    return item.texts


def _scene(item: Item) -> tuple[str, ...]:
    return (item.context,)


def _shown(texts: Sequence[str], wanted: Hashable) -> str:
    return next((f"{text:.80}" for text in texts if key(text) == wanted), "")


def _groups(data: Items) -> list[Finding]:
    told = [
        f"{group}: {first.where} and {other.where}"
        for group, first, other in shared_in_folds(data, lambda item: [item.group])
    ]
    parts: dict[Hashable, dict[str, str]] = defaultdict(dict)
    for item in data.items:
        parts[item.group].setdefault(data.parts[item.part].fold, item.part)
    between = [f"{group}: {', '.join(own.values())}" for group, own in parts.items() if len(own) > 1]
    expected = "as in cross-validation, where a fold is trained on what another one evaluates"
    return [
        *found("group_in_two_splits", "error", f"{counted(len(told), 'group')} in two splits of one fold.", told),
        *found(
            "shared_between_folds",
            "note",
            f"{counted(len(between), 'group')} in more than one fold, {expected}.",
            between,
        ),
    ]


def shared_in_folds(data: Items, keys: Callable[[Item], Iterable[Hashable]]) -> list[tuple[Hashable, Item, Item]]:
    """Each key that two splits of a fold share, with the first row of each of the two; a key is told once a fold."""
    shared = []
    for parts in data.folds().values():
        if len(parts) < 2:
            continue
        firsts: dict[Hashable, Item] = {}
        done: set[Hashable] = set()
        for part in parts:
            for item in data.of(part.name):
                for each in keys(item):
                    first = firsts.setdefault(each, item)
                    if first.part != item.part and each not in done:
                        done.add(each)
                        shared.append((each, first, item))
    return shared
