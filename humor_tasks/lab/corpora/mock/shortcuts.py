"""Shortcut baselines of a MOCK folder: how often rules that understand nothing are right, for its card.

Every rule scores the options of an item, and the first of the best is its answer. `first`, `longest` and `overlap` are
those of the baseline models.

always: the answer that is most frequent in the sub-task. rarest: the option that occurs least often in the split.
source: in matching, the first option that is no line of another source only; in detecting, the label that is most
frequent in the item's source. TF-IDF: in matching, the option with the highest TF-IDF cosine with the text that is
shown; in detecting, logistic regression over TF-IDF of one and two words of the caption or last utterance,
cross-validated in five folds that keep a medium together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import as_seen, json_lines
from humor_tasks.files.tables import interval
from humor_tasks.models.choosers.chooser import YES_NO, best
from humor_tasks.models.choosers.shortcuts import RULES as SCORES
from humor_tasks.models.choosers.shortcuts import classified, yes_no_overlap
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

CHANCE = {"detecting": 0.5, "matching": 0.25}
MARGIN = 0.10
"""A rule that is right more often than chance by more than this is warned about."""
RULES = ("always", "first", "longest", "overlap", "rarest", "source", "TF-IDF")

Row = Mapping[str, Any]
Cell = tuple[str, str, str]
"""Scene, sub-task, split."""
Estimates = dict[Cell, dict[str, Estimate]]
"""Cell -> rule -> share of items that it gets right, clustered by medium."""


def shortcuts(cells: Mapping[Cell, Sequence[Row]]) -> Estimates:
    """The baselines of each cell of a sub-task with choices.

    cells: their rows. A rule is absent where it does not apply: `longest` and `rarest` in detecting, rules that compare
    with a text where no row shows one, and a classifier without five media of each label.
    """
    estimates: Estimates = {}
    for scene, subtask in dict.fromkeys(cell[:2] for cell in cells if cell[1] in CHANCE):
        splits = {cell: rows for cell, rows in cells.items() if cell[:2] == (scene, subtask)}
        all_splits = [row for rows in splits.values() for row in rows]
        learnt = _classified(all_splits) if subtask == "detecting" else None
        for cell, rows in splits.items():
            hits = _in_matching(rows, all_splits) if subtask == "matching" else _in_detecting(rows, learnt)
            media = [row["media_id"] for row in rows]
            estimates[cell] = {rule: clustered_proportion(hits[rule], media) for rule in RULES if rule in hits}
    return estimates


def shortcuts_of(rows: Sequence[Row], subtask: str) -> Estimates:
    """The baselines of one split whose rows may be of several scenes."""
    return shortcuts({(s, subtask, "all"): [r for r in rows if r["scene"] == s] for s in {r["scene"] for r in rows}})


def shortcuts_in(folder: Path) -> Estimates:
    """The baselines of a folder of SCENE_SUBTASK/SPLIT.jsonl. Raises BadInput where rows are not in its schema."""
    files = [file for subtask in CHANCE for file in sorted(folder.glob(f"*_{subtask}/*.jsonl"))]
    cells = {}
    for file in files:
        scene, _, subtask = file.parent.name.rpartition("_")
        cells[scene, subtask, file.stem] = [row for _, row in json_lines(file)]
    try:
        return shortcuts(cells)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
        names = ", ".join(f"{file.parent.name}/{file.name}" for file in files)
        raise BadInput(f"{folder}: a row of {names} is not in the schema of a MOCK folder ({problem!r}).") from None


def scene_of(row: Row) -> str:
    """The text that is shown with a row's options: its description, and the dialogue but for the last utterance."""
    before = [turn["text"] for turn in (row.get("dialogue") or [])[:-1]]
    return "\n".join([*([row["description"]] if row.get("description") else []), *before])


def line_of(row: Row) -> str:
    """The caption, or the last utterance."""
    return str(row["dialogue"][-1]["text"] if row.get("dialogue") else row["caption"])


# ---- rules --------------------------------------------------------------------------------------


def _in_matching(rows: Sequence[Row], all_splits: Sequence[Row]) -> dict[str, list[float]]:
    """Rule -> 1 for each row of a split where it is right, else 0."""
    right = ["ABCD".index(row["answer"]) for row in rows]
    options, scenes = [row["options"] for row in rows], [scene_of(row) for row in rows]
    rules = ("first", "longest", "rarest", *(("overlap", "TF-IDF") if any(scenes) else ()))
    picks = {rule: [best(scores) for scores in SCORES[rule](options, scenes)] for rule in rules}
    picks |= {"always": [_commonest(right)] * len(rows), "source": _of_own_source(rows, all_splits)}
    return {rule: _hits(picked, right) for rule, picked in picks.items()}


def _in_detecting(rows: Sequence[Row], learnt: Mapping[str, str] | None) -> dict[str, list[float]]:
    """The same for detecting; `learnt` are the classifier's labels by id."""
    labels = [row["label"] for row in rows]
    scenes = [scene_of(row) for row in rows]
    of_source = {
        source: _commonest(row["label"] for row in rows if row.get("source") == source)
        for source in {row.get("source") for row in rows}
    }
    picks = {
        "always": [_commonest(labels)] * len(rows),
        "first": [YES_NO[0]] * len(rows),
        "source": [of_source[row.get("source")] for row in rows],
    }
    if any(scenes):
        scores = (yes_no_overlap(line_of(row), scene) for row, scene in zip(rows, scenes, strict=True))
        picks["overlap"] = [YES_NO[best(both)] for both in scores]
    if learnt is not None:
        picks["TF-IDF"] = [learnt[row["id"]] for row in rows]
    return {rule: _hits(picked, labels) for rule, picked in picks.items()}


def _hits(picks: Sequence[Any], right: Sequence[Any]) -> list[float]:
    return [float(a == b) for a, b in zip(picks, right, strict=True)]


def _commonest(values: Iterable[Any]) -> Any:
    return Counter(values).most_common(1)[0][0]


def _of_own_source(rows: Sequence[Row], all_splits: Sequence[Row]) -> list[int]:
    sources: dict[str, set[Any]] = {}
    for row in all_splits:
        sources.setdefault(as_seen(line_of(row)), set()).add(row.get("source"))

    def score(row: Row, option: str) -> float:
        of_option = sources.get(as_seen(option))
        return float(of_option is None or row.get("source") in of_option)

    return [best([score(row, option) for option in row["options"]]) for row in rows]


def _classified(rows: Sequence[Row]) -> dict[str, str] | None:
    """Id -> label by a classifier that was trained on other media; None where there are too few."""
    labels = [row["label"] for row in rows]
    if len(set(labels)) < len(YES_NO):
        return None
    predicted = classified([line_of(row) for row in rows], labels, [row["media_id"] for row in rows])
    return None if predicted is None else {row["id"]: label for row, label in zip(rows, predicted, strict=True)}


# ---- words --------------------------------------------------------------------------------------


def section(estimates: Estimates) -> str:
    """The card's section on shortcuts: a table, and the warnings."""
    lines = [
        HEADING,
        "",
        "The share of items that a rule without understanding gets right, with a 95 % interval "
        f"clustered by medium. Chance is {CHANCE['matching']} in matching and {CHANCE['detecting']} in detecting.",
        "",
        "| scene, sub-task, split | items | " + " | ".join(RULES) + " |",
        "|---|---|" + "---|" * len(RULES),
    ]
    for cell, rules in sorted(estimates.items()):
        n = next(iter(rules.values())).n
        cells = [interval(rules.get(rule)) for rule in RULES]
        lines.append(f"| {', '.join(cell)} | {n:,} | {' | '.join(cells)} |")
    warnings = warnings_of(estimates)
    return "\n".join([*lines, *([""] if warnings else []), *(f"- {warning}" for warning in warnings)])


HEADING = "## Shortcuts"


def warnings_of(estimates: Estimates) -> list[str]:
    """A sentence for each rule that is right more often than chance + MARGIN, and more often than chance at all.

    The second condition is that of the interval; without it, a split of few items is warned about by accident.
    """
    return [
        f"{', '.join(cell)}: the shortcut {rule} is right in {interval(estimate)} of the items; chance is {chance}."
        for cell, rules in sorted(estimates.items())
        for rule, estimate in rules.items()
        if estimate.value > (chance := CHANCE[cell[1]]) + MARGIN and not estimate.low <= chance
    ]
