"""MOCK's sub-tasks as a dataset folder, built from the public sources that are available.

Labels and texts are those of the sources. Decisions of MOCK that no source records are not reconstructed; the folder's
card lists them. Seeded choices of this project are the splits of a source without splits, and the options of
`matching`, which are lines of other items (`block_design`) until `humor-tasks build options` replaces them.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.mock.corpus import as_seen
from humor_tasks.corpora.mock.card import card
from humor_tasks.corpora.mock.items import SPLITS, Built, Item, Media, Source, balanced_letters
from humor_tasks.corpora.options.block_design import Line, distractors
from humor_tasks.corpora.options.shortcuts import Cell, shortcuts
from humor_tasks.data.media.picture import MIME, Picture
from humor_tasks.data.writing import replacing, write_bytes, write_text
from humor_tasks.errors import BadInput

SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}
NOTHING_BEFORE = "no utterance before the hidden one"
TOO_FEW = "fewer than three other lines of its source and script to choose from"
HELD_OUT = {split: i for i, split in enumerate(SPLITS)}
SUFFIXES = {mime: f".{kind.lower()}".replace("jpeg", "jpg") for kind, mime in MIME.items()}


def build_mock(
    sources: Sequence[Source], out: Path, media: Media, seed: int = 1234, descriptions: Mapping[str, str] | None = None
) -> Built:
    """Write the folder `out` atomically, and return a summary of its rows.

    descriptions: {media_id: literal description}, for sources without descriptions. Raises BadInput where `out` is not
    empty, no source has a row, a description's media_id is unknown, or files are missing (see `Media`).
    """
    out = _new_folder(out)
    media.check()
    texts = descriptions or {}
    items = [
        replace(item, description=item.description or texts.get(item.media_id))
        for source in sources
        for item in with_splits(source.items, seed)
    ]
    built = Built(sources, seed)
    chosen = select(items, built)
    unknown = sorted(set(texts) - {item.media_id for item in items})
    if unknown:
        raise BadInput(f"descriptions: {len(unknown)} unknown media ids, such as {unknown[0]!r}.")
    if not chosen:
        raise BadInput(_nothing_left(sources))
    with replacing(out) as folder:
        names = write_media(folder, chosen)
        for cell, members in chosen.items():
            if rows := rows_of(cell, members, names, built):
                built.rows[cell] = rows
        for (scene, subtask, split), rows in built.rows.items():
            lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            write_text(folder / f"{scene}_{subtask}" / f"{split}.jsonl", lines)
        built.shortcuts = shortcuts(built.rows)
        write_text(folder / "README.md", card(built))
    return built


def _nothing_left(sources: Sequence[Source]) -> str:
    reasons = [f"{source.name}: {n:,}, {reason}" for source in sources for reason, n in source.dropped.items() if n]
    shown = f"Left out: {'; '.join(reasons)}. " if reasons else ""
    return (
        f"the sources have no usable row. {shown}--missing keep keeps rows without their file, and "
        "--keep-short-dialogues short dialogues."
    )


def _new_folder(out: Path) -> Path:
    """The absolute path of the folder to write. Raises BadInput where it exists and is not empty."""
    try:
        whole = out.resolve()
        if not whole.exists() or (whole.is_dir() and not any(whole.iterdir())):
            return whole
    except (OSError, RuntimeError) as problem:
        raise BadInput(f"{out}: cannot be written ({problem}).") from None
    raise BadInput(f"{out}: exists already; name a new folder.")


# ---- splits -------------------------------------------------------------------------------------


def with_splits(items: Sequence[Item], seed: int) -> list[Item]:
    """Items with a split: that of the source, or a random one per medium, 80:10:10 of the items."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        if item.split is None:
            groups.setdefault(item.media_id, []).append(item)
    order = sorted(groups)
    random.Random(seed).shuffle(order)
    total = sum(len(groups[name]) for name in order)
    assigned: dict[str, str] = {}
    done = 0
    for name in order:
        share = (done + len(groups[name]) / 2) / total
        assigned[name] = "test" if share < SHARES["test"] else "validation" if share < 0.2 else "train"
        done += len(groups[name])
    return [item if item.split else replace(item, split=assigned[item.media_id]) for item in items]


def select(items: Iterable[Item], built: Built) -> dict[Cell, list[Item]]:
    """The items of each cell, with each medium in one split of a scene and without repeated captions.

    Raises BadInput for two different rows with the same id.
    """
    wanted = [(item, subtask) for item in items for subtask in subtasks_of(item)]
    latest: dict[tuple[str, str], str] = {}
    for item, _ in wanted:
        medium = (item.scene, item.media_id)
        latest[medium] = max(latest.get(medium, "train"), str(item.split), key=HELD_OUT.__getitem__)
    chosen: dict[Cell, list[Item]] = {}
    seen: set[tuple[str, str, str]] = set()
    ids: set[tuple[str, str]] = set()
    for item, subtask in wanted:
        split = str(item.split)
        # A post has one caption, which two sources may spell differently.
        key = (subtask, item.media_id, "" if item.scene == "post" else item.line.casefold())
        if latest[item.scene, item.media_id] != split:
            built.left_out[item.scene, subtask, f"in {split}, while its medium is also in a later split"] += 1
        elif key in seen:
            built.left_out[item.scene, subtask, "duplicate of another row or source"] += 1
        elif (subtask, item.id) in ids:
            raise BadInput(f"{item.source}: two different rows of {subtask} have the id {item.id}.")
        else:
            seen.add(key)
            ids.add((subtask, item.id))
            chosen.setdefault((item.scene, subtask, split), []).append(item)
    return chosen


def subtasks_of(item: Item) -> list[str]:
    """The sub-tasks that an item can be used for."""
    good = {"detecting": item.label is not None, "matching": item.funny, "explaining": item.explanation is not None}
    return [subtask for subtask, is_good in good.items() if is_good]


# ---- rows ---------------------------------------------------------------------------------------


def rows_of(cell: Cell, items: Sequence[Item], names: Mapping[int, str], built: Built) -> list[dict[str, Any]]:
    """The rows of one cell, in the schema of the card."""
    scene, subtask, split = cell
    whole = [item for item in items if len(item.turns) != 1] if subtask == "matching" else []
    options = with_options(whole, f"{built.seed}:{scene}:{split}")
    rows = []
    for item in items:
        if subtask == "matching" and item.id not in options:
            built.left_out[scene, subtask, NOTHING_BEFORE if len(item.turns) == 1 else TOO_FEW] += 1
            continue
        medium = medium_of(item, subtask)
        name = names[id(medium)] if medium is not None else None
        built.without_media += name is None
        built.unseen += name is None and not item.turns and not item.description
        answers: dict[str, Any] = {
            "detecting": {"label": item.label},
            "matching": options.get(item.id),
            "explaining": {"explanation": item.explanation},
        }
        said = {"caption": None if item.turns else item.line, "dialogue": None}
        if item.turns:
            said["dialogue"] = [{"speaker": who, "text": text} for who, text in item.turns]  # type: ignore[assignment]
        row = {"id": f"{item.id}_{subtask}", "scene": scene, "media_id": item.media_id, "media": name}
        row |= {**said, "description": item.description, **answers[subtask], "source": item.source}
        rows.append(row)
    return rows


def with_options(items: Sequence[Item], seed: str) -> dict[str, dict[str, Any]]:
    """Item id -> four options and the answer's letter, balanced over the letters.

    The three distractors are those of the source, or lines of other items of the same source and script.
    """
    rng = random.Random(seed)
    lines = [Line(item.line, _shown(item), item.media_id, item.source) for item in items]
    drawn = distractors(lines, seed)
    found = {}
    for item, others, letter in zip(items, drawn, balanced_letters(len(items), rng), strict=True):
        offered = rng.sample(item.others, len(item.others)) if item.others else others
        distinct = {as_seen(line): line for line in reversed(offered)}
        distinct.pop(as_seen(item.line), None)
        if len(distinct) < 3:
            continue
        options = list(distinct.values())[-3:]
        rng.shuffle(options)
        options.insert("ABCD".index(letter), item.line)
        kind = "other captions of the source" if item.others else "lines of other items"
        found[item.id] = {"options": options, "answer": letter, "options_from": kind}
    return found


def _shown(item: Item) -> str:
    """The text that is shown with an item's options."""
    return "\n".join([item.description or "", *(spoken for _, spoken in item.turns[:-1])]).strip()


# ---- media --------------------------------------------------------------------------------------


def medium_of(item: Item, subtask: str) -> Picture | None:
    """An item's picture or clip for a sub-task."""
    return item.media.get(subtask) or item.media.get("")


def write_media(out: Path, chosen: Mapping[Cell, Sequence[Item]]) -> dict[int, str]:
    """Copy every picture and clip once to `out`; returns id of the medium -> relative path. Pictures are validated."""
    names: dict[int, str] = {}
    for (scene, subtask, _), items in chosen.items():
        for item in items:
            medium = medium_of(item, subtask)
            if medium is None or id(medium) in names:
                continue
            name = f"media/{scene}/{stem(item, medium)}"
            if scene != "comedy":
                data = medium.read()
                name += SUFFIXES[medium.mime()]
                write_bytes(out / name, data)
            else:
                (out / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(medium.path), out / name)
            names[id(medium)] = name
    return names


def stem(item: Item, medium: Picture) -> str:
    """The file name of a medium's copy, without suffix for pictures: its original file name for clips, else its id."""
    return Path(medium.path).name if item.scene == "comedy" and medium.path else item.media_id
