"""Instances of the three tasks, and their rows in the schema of the hub's corpus."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.caption_contest.released import from_description
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import check_text, json_lines, parse_json, read_body
from humor_tasks.lab.corpora.newyorker.matching import LETTERS, assign, folds, joined, letters
from humor_tasks.lab.corpora.newyorker.ranking import Pair
from humor_tasks.rows import canary
from humor_tasks.rows.contests.annotations import Scene

BLOCKS = 5
TASKS = ("matching", "ranking", "explanation")


@dataclass(frozen=True)
class Instance:
    """A row without its cartoon. caption: the right choice, or the one that is explained; it and the contest identify
    the instance. choices: all captions in order. label: the letter, or the explanation.
    """

    task: str
    contest: int
    caption: str
    choices: tuple[str, ...]
    label: str
    winner_source: str | None = None


@dataclass(frozen=True)
class Reference:
    """An explanation of a caption."""

    contest: int
    caption: str
    explanation: str


@dataclass(frozen=True)
class Instances:
    """blocks: contest -> block. tasks: task -> the instances of each block. left_out: reason -> count."""

    blocks: Mapping[int, int]
    tasks: Mapping[str, Sequence[Sequence[Instance]]]
    left_out: Mapping[str, int]


def make_instances(
    high: Mapping[int, Sequence[tuple[str, str]]],
    pairs: Mapping[int, Sequence[Pair]],
    references: Sequence[Reference],
    seed: str,
    twins: Iterable[Sequence[int]] = (),
) -> Instances:
    """The instances of all tasks in five blocks of whole contests.

    high: contest -> (caption, key) of each high-quality caption. twins: contests with the same captions; they share a
    block, and are one contest to matching, because a caption of the one fits the cartoon of the other. Raises BadInput
    where a contest has a caption twice and where matching is impossible in a block.
    """
    twins = [tuple(pair) for pair in twins]
    captions = [(contest, caption, key) for contest in sorted(high) for caption, key in high[contest]]
    counts = Counter((contest, key) for contest, _, key in captions)
    if repeated := [f"'{key}' of contest {contest}" for (contest, key), count in counts.items() if count > 1]:
        raise BadInput(f"{listed('high-quality caption', repeated)} given more than once; each is the answer once.")
    blocks = folds([contest for contest, *_ in captions], f"{seed}:folds", BLOCKS, twins)
    stands = joined(sorted(blocks), twins)
    explained = [reference for reference in references if reference.contest in blocks]
    tasks: dict[str, list[list[Instance]]] = {task: [] for task in TASKS}
    for block in range(BLOCKS):
        of_block = [caption for caption in captions if blocks[caption[0]] == block]
        tasks["matching"].append(_matching(of_block, stands, f"{seed}:{block}", block))
        pairs_of_block = {contest: pairs[contest] for contest in sorted(pairs) if blocks.get(contest) == block}
        tasks["ranking"].append(_ranking(pairs_of_block, f"{seed}:{block}"))
        tasks["explanation"].append([
            Instance("explanation", one.contest, one.caption, (one.caption,), one.explanation)
            for one in explained
            if blocks[one.contest] == block
        ])  # fmt: skip
    left_out = {"explanations of contests without rows": len(references) - len(explained)}
    return Instances(blocks, tasks, {what: count for what, count in left_out.items() if count})


def _matching(
    captions: Sequence[tuple[int, str, str]], stands: Mapping[int, int], seed: str, block: int
) -> list[Instance]:
    """Each caption of a block as the answer among four others of the block."""
    try:
        assignment = assign(
            [stands[contest] for contest, *_ in captions], [key for *_, key in captions], f"{seed}:matching"
        )
    except BadInput as problem:
        raise BadInput(f"block {block} of {BLOCKS}: {problem}") from None
    answers = letters(len(captions), 5, f"{seed}:matching letters")
    instances = []
    for (contest, caption, _), others, letter in zip(captions, assignment.tolist(), answers, strict=True):
        choices = [captions[i][1] for i in others]
        choices.insert(LETTERS.index(letter), caption)
        instances.append(Instance("matching", contest, caption, tuple(choices), letter))
    return instances


def _ranking(pairs: Mapping[int, Sequence[Pair]], seed: str) -> list[Instance]:
    """The pairs of a block; A and B are right equally often, for the editors' captions and for the crowd's."""
    flat = [(contest, pair) for contest, held in pairs.items() for pair in held]
    answers = letters(len(flat), 2, f"{seed}:ranking letters", [pair.winner_source for _, pair in flat])
    return [
        Instance(
            "ranking",
            contest,
            pair.high,
            (pair.high, pair.okay) if letter == "A" else (pair.okay, pair.high),
            letter,
            pair.winner_source,
        )
        for (contest, pair), letter in zip(flat, answers, strict=True)
    ]


# ---- rows ---------------------------------------------------------------------------------------


def row_of(instance: Instance, scene: Scene | None, image: str | None, variant: int = 0) -> dict[str, Any]:
    """The row of an instance, its columns in the hub's order, and the canary.

    scene: an annotation tuple, None for a row without words about the cartoon. image: the picture's path in the folder.
    variant: 0 for the tuple of validation and test rows, and for rows without; another number for each other tuple.
    """
    explains = instance.task == "explanation"
    row: dict[str, Any] = {"image": image} if image else {}
    row["contest_number"] = instance.contest
    if scene:
        row |= {
            "image_location": scene.location,
            "image_description": scene.description,
            "image_uncanny_description": scene.uncanny,
            "entities": list(scene.entities),
            "questions": list(scene.questions),
        }
    row["caption_choices"] = instance.caption if explains else list(instance.choices)
    if instance.winner_source:
        row["winner_source"] = instance.winner_source
    row["label"] = instance.label
    row["n_tokens_label"] = len(instance.label.split())
    row["instance_id"] = instance_id(instance.task, instance.contest, instance.caption, variant)
    if scene:
        row["from_description"] = from_description(row, row["caption_choices"])
    return canary.marked(row)


def rows_of(instance: Instance, scenes: Sequence[Scene], fixed: Scene, image: str | None) -> list[dict[str, Any]]:
    """The rows of an instance with all annotation tuples; the row of `fixed` is the same as in validation and test."""
    at = scenes.index(fixed)
    return [row_of(instance, scene, image, 0 if k == at else k + 1) for k, scene in enumerate(scenes)]


def instance_id(task: str, contest: int, caption: str, variant: int = 0) -> str:
    """32 hexadecimal digits, the same in every build, and with and without words about the cartoon."""
    text = f"{task}:{contest}:{caption}" + (f":{variant}" if variant else "")
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


# ---- explanations -------------------------------------------------------------------------------


def read_explanations(path: Path) -> list[Reference]:
    """The rows {contest_number, caption, explanation} of a JSON or JSONL file.

    Raises BadInput naming row and field of what has another form, and the captions that are explained twice.
    """
    if path.suffix in (".jsonl", ".ndjson"):
        rows = list(json_lines(path))
    else:
        body = parse_json(path, read_body(path))
        if not isinstance(body, list):
            raise BadInput(f"{path}: must be a list of rows with contest_number, caption and explanation.")
        rows = [(f"{path}, row {i}", row) for i, row in enumerate(body)]
    references: dict[tuple[int, str], Reference] = {}
    repeated = []
    for where, row in rows:
        if not isinstance(row, dict):
            raise BadInput(
                f"{where}: is {type(row).__name__}; it must be a row with contest_number, caption, explanation."
            )
        contest = row.get("contest_number")
        if not isinstance(contest, int) or isinstance(contest, bool):
            raise BadInput(f"{where}: contest_number is {contest!r}; it must be a whole number.")
        caption, text = (" ".join(check_text(row.get(n), f"{where}: {n}").split()) for n in ("caption", "explanation"))
        if (contest, caption) in references:
            repeated.append(f"'{caption}' of contest {contest}")
        references[contest, caption] = Reference(contest, caption, text)
    if repeated:
        raise BadInput(f"{path}: {listed('caption', repeated)} explained more than once; keep one explanation of each.")
    return list(references.values())
