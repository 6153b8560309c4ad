"""MOCK's sub-tasks as a dataset folder, built from the public sources that are available, and the folder's card.

Labels and texts are those of the sources. Decisions of MOCK that no source records are not reconstructed; the card
lists them. Seeded choices of this project are the splits of a source without splits, and the options of `matching`,
which are lines of other items (`block_design`) until `humor-tasks build options` replaces them.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.benchmarks.mock.corpus import PUBLISHED
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import as_seen
from humor_tasks.files.writing import new_folder, replacing, write_bytes, write_json_lines, write_text
from humor_tasks.lab.corpora.croissant import EVALUATION, write_croissant
from humor_tasks.lab.corpora.mock.block_design import Line, distractors
from humor_tasks.lab.corpora.mock.items import SPLITS, Built, Item, Media, Source, balanced_letters
from humor_tasks.lab.corpora.mock.shortcuts import Cell, section, shortcuts
from humor_tasks.lab.corpora.mock.stills import OWN
from humor_tasks.papers.papers import MOCK
from humor_tasks.rows import canary
from humor_tasks.rows.media.picture import MIME

LICENCES = {
    "New Yorker": "annotations and explanations CC BY 4.0; cartoons belong to their artists",
    "Cai et al. 2019": "none stated; posts and pictures belong to their authors",
    "MORE": "MIT; posts and pictures belong to their authors",
    "MUStARD": "MIT; dialogues and clips belong to the producers of the series",
    "WITS": "none stated; dialogues belong to the producers of the series",
    **{name: "your own copy; pictures and captions belong to their authors" for name, _ in OWN.values()},
}
"""Source -> licence as stated in its publication."""
RAI = {
    "dataCollection": "Cartoons, posts, dialogues and clips of the sources that README.md names, with their labels.",
    "dataPreprocessingProtocol": "README.md lists rows kept and left out, and how splits and options are made.",
    "dataLimitations": "Not MOCK itself: README.md lists what the sources do not record. Tweets, magazines and series "
    "in English, and one series in Hindi mixed with English.",
    "dataUseCases": EVALUATION,
}
"""What the vocabulary for responsible AI asks, where it is known."""
_UNKNOWN = """\
## What the sources do not record, and what was done instead

- How MOCK made its distractors. Published: two by models, one from an unrelated item, weaker human-written ones in
  15 % of the items. Here all three are lines of other items of the same source and script. Four items of similar length
  share their four lines, each the answer of one, so that the options alone give nothing away. Lines that fit what the
  other items show are put together. `humor-tasks build options` makes the published kind.
- Which items MOCK uses for matching. Here: those that are humorous or sarcastic.
- Where MOCK's cartoons that are not humorous come from, and its comedy beyond MUStARD and WITS. They are missing here,
  except for cartoons of yours with the label no.
- How MOCK split sources without splits. Here 80:10:10, seeded, by footage: MUStARD's dialogues that share an utterance
  of five words or more are in the same split.
- Which part of a clip MOCK shows. Here: for detecting the utterance in question, for matching what was said before it.
- MORE and Cai et al. use the same tweets with different splits. A picture that is in two splits is kept in the later
  one (train < validation < test).
"""
POST_SPLITS = {
    "paper": "Splits of posts are the paper's (--post-splits paper): MORE's explained posts are split anew 80:10:10, "
    "seeded, by item, as 2,808, 351 and 351 of 3,510; the other sub-tasks have the sources' splits. Each sub-task is "
    "split by itself, so that a picture may be in train of one and in test of another: a model that is trained on "
    "several sub-tasks has then seen pictures of the test splits. --post-splits sources keeps them apart.",
    "sources": "Splits of posts are the sources' (--post-splits sources), and a picture is in one split of all "
    "sub-tasks, which costs posts: of MORE's 3,510 explained ones 2,305, 159 and 352 are left beside Cai et al. "
    "--post-splits paper has the paper's.",
}
"""Value of `post_splits` -> what it means, for the folder's card."""
RESPLIT = "MORE"  # the source of MOCK's explained posts, whose published splits MOCK did not keep


def card(built: Built) -> str:
    """The folder's README.md, with the front matter that `datasets` reads."""
    configs = []
    for scene, subtask in dict.fromkeys((scene, subtask) for scene, subtask, _ in sorted(built.rows)):
        configs += [f"- config_name: {scene}_{subtask}", "  data_files:"]
        splits = [split for split in ("train", "validation", "test") if (scene, subtask, split) in built.rows]
        configs += [f"  - {{split: {split}, path: {scene}_{subtask}/{split}.jsonl}}" for split in splits]
    header = ["---", "license: other", "configs:", *configs, "---"]
    title = ["", "# MOCK, built from public sources", ""]
    about = [
        f"Built by `humor-tasks build mock` {__version__} with seed {built.seed}. Rows belong to their sources, whose "
        "licences differ; check them before you redistribute anything:",
        "",
        *(f"- {source.name}: {LICENCES[source.name]}." for source in built.sources),
        "",
        canary.NOTE,
        "",
    ]
    posts = [POST_SPLITS[built.post_splits], ""] if any(scene == "post" for scene, _, _ in built.rows) else []
    parts = ["## Sizes", "", sizes(built), "", *posts, kept(built), "", section(built.shortcuts), "", _UNKNOWN]
    parts += ["## Citation", "", f"```bibtex\n{MOCK.bibtex}\n```", ""]
    return "\n".join([*header, *title, *about, *parts])


def sizes(built: Built) -> str:
    """A table of the number of rows of every cell, with MOCK's in parentheses."""
    lines = ["| scene, sub-task | " + " | ".join(f"{split} (MOCK)" for split in SPLITS) + " |", "|---|---|---|---|"]
    for scene, subtasks in PUBLISHED.items():
        for subtask, published in subtasks.items():
            rows = [len(built.rows.get((scene, subtask, split), ())) for split in SPLITS]
            cells = [f"{count:,} ({size:,})" for count, size in zip(rows, published, strict=True)]
            lines.append(f"| {scene}, {subtask} | {' | '.join(cells)} |")
    return "\n".join(lines)


def kept(built: Built) -> str:
    """The number of rows read and kept per source, and the reasons for leaving rows out."""
    lines = ["## Kept and left out", ""]
    for source in built.sources:
        lines.append(f"- {source.name}: {len(source.items):,} of {source.rows:,} rows kept.")
        lines += [f"  Left out: {count:,}, {reason}." for reason, count in source.dropped.items() if count]
        lines += [f"  {note}" for note in source.notes]
    for (scene, subtask, reason), count in sorted(built.left_out.items()):
        lines.append(f"- {scene}, {subtask}: left out {count:,}, {reason}.")
    if built.without_media:
        lines.append(f"- {built.without_media:,} rows have no picture or clip: use input=description.")
    if built.unseen:
        lines.append(
            f"- {built.unseen:,} of them have no description either, so nothing shows them: name their pictures "
            "(--more-images, --cai-images), or describe them (--descriptions)."
        )
    return "\n".join(lines)


SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}
NOTHING_BEFORE = "no utterance before the hidden one"
TOO_FEW = "fewer than three other lines of its source and script to choose from"
HELD_OUT = {split: i for i, split in enumerate(SPLITS)}
SUFFIXES = {mime: f".{kind.lower()}".replace("jpeg", "jpg") for kind, mime in MIME.items()}


def build_mock(
    sources: Sequence[Source],
    out: Path,
    media: Media,
    seed: int = 1234,
    descriptions: Mapping[str, str] | None = None,
    post_splits: str = "paper",
) -> Built:
    """Write the folder `out` atomically, and return a summary of its rows.

    descriptions: {media_id: literal description}, for sources without descriptions. post_splits: see POST_SPLITS.
    Raises BadInput where `out` is not empty, no source has a row, a description's media_id is unknown, or files are
    missing (see `Media`).
    """
    out = new_folder(out)
    media.check()
    texts = descriptions or {}
    items = [
        replace(item, description=item.description or texts.get(item.media_id))
        for source in sources
        for item in with_splits(source.items, seed)
    ]
    built = Built(sources, seed, post_splits)
    chosen = select(items, built)
    unknown = sorted(set(texts) - {item.media_id for item in items})
    if unknown:
        raise BadInput(f"descriptions: {len(unknown)} unknown media ids, such as {unknown[0]!r}.")
    if not chosen:
        reasons = [f"{source.name}: {n:,}, {reason}" for source in sources for reason, n in source.dropped.items() if n]
        left_out = f"Left out: {'; '.join(reasons)}. " if reasons else ""
        raise BadInput(
            f"the sources have no usable row. {left_out}--missing keep keeps rows without their file, and "
            "--keep-short-dialogues short dialogues."
        )
    with replacing(out) as folder:
        names = write_media(folder, chosen)
        for cell, members in chosen.items():
            if rows := rows_of(cell, members, names, built):
                built.rows[cell] = rows
        for (scene, subtask, split), rows in built.rows.items():
            write_json_lines(folder / f"{scene}_{subtask}" / f"{split}.jsonl", rows)
        built.shortcuts = shortcuts(built.rows)
        write_text(folder / "README.md", card(built))
        write_croissant(folder, RAI)
    return built


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


def with_posts_split(wanted: Sequence[tuple[Item, str]], seed: int) -> list[tuple[Item, str]]:
    """The same items and sub-tasks with the explained posts of RESPLIT split anew, 80:10:10 by item."""
    explained = [item for item, subtask in wanted if subtask == "explaining" and item.source == RESPLIT]
    splits = iter(with_splits([replace(item, split=None) for item in explained], seed))
    return [
        (next(splits) if subtask == "explaining" and item.source == RESPLIT else item, subtask)
        for item, subtask in wanted
    ]


def select(items: Iterable[Item], built: Built) -> dict[Cell, list[Item]]:
    """The items of each cell, with each medium in one split of a scene and without repeated captions.

    With the paper's splits of posts, a post is in one split of a sub-task. Raises BadInput for two different rows with
    the same id.
    """
    by_task = built.post_splits == "paper"  # a split of posts holds within a sub-task alone
    wanted = [(item, subtask) for item in items for subtask in item.subtasks]
    if by_task:
        wanted = with_posts_split(wanted, built.seed)

    def medium_of(item: Item, subtask: str) -> tuple[str, str, str]:
        return item.scene, subtask if by_task and item.scene == "post" else "", item.media_id

    latest: dict[tuple[str, str, str], str] = {}
    for item, subtask in wanted:
        medium = medium_of(item, subtask)
        latest[medium] = max(latest.get(medium, "train"), str(item.split), key=HELD_OUT.__getitem__)
    chosen: dict[Cell, list[Item]] = {}
    seen: set[tuple[str, str, str]] = set()
    ids: set[tuple[str, str]] = set()
    for item, subtask in wanted:
        split = str(item.split)
        # A post has one caption, which two sources may spell differently.
        key = (subtask, item.media_id, "" if item.scene == "post" else item.line.casefold())
        if latest[medium_of(item, subtask)] != split:
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
        medium = item.medium(subtask)
        name = names[id(medium)] if medium is not None else None
        built.without_media += name is None
        built.unseen += name is None and not item.turns and not item.description
        answers: dict[str, Any] = {
            "detecting": {"label": item.label},
            "matching": options.get(item.id),
            "explaining": {"explanation": item.explanation},
        }
        rows.append(
            canary.marked(
                {
                    "id": f"{item.id}_{subtask}",
                    "scene": scene,
                    "media_id": item.media_id,
                    "media": name,
                    "caption": None if item.turns else item.line,
                    "dialogue": [{"speaker": who, "text": text} for who, text in item.turns] or None,
                    "description": item.description,
                    **answers[subtask],
                    "source": item.source,
                }
            )
        )
    return rows


def with_options(items: Sequence[Item], seed: str) -> dict[str, dict[str, Any]]:
    """Item id -> four options and the answer's letter, balanced over the letters.

    The three distractors are those of the source, or lines of other items of the same source and script.
    """
    rng = random.Random(seed)
    lines = [Line(item.line, item.shown_with_options, item.media_id, item.source) for item in items]
    drawn = distractors(lines, seed)
    by_item = {}
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
        by_item[item.id] = {"options": options, "answer": letter, "options_from": kind}
    return by_item


# ---- media --------------------------------------------------------------------------------------


def write_media(out: Path, chosen: Mapping[Cell, Sequence[Item]]) -> dict[int, str]:
    """Copy every picture and clip once to `out`; returns id of the medium -> relative path. Pictures are validated."""
    names: dict[int, str] = {}
    for (scene, subtask, _), items in chosen.items():
        for item in items:
            medium = item.medium(subtask)
            if medium is None or id(medium) in names:
                continue
            if scene == "comedy" and medium.path:  # clips keep their file names
                name = f"media/{scene}/{Path(medium.path).name}"
                (out / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(medium.path), out / name)
            else:
                data = medium.read()
                name = f"media/{scene}/{item.media_id}{SUFFIXES[medium.mime()]}"
                write_bytes(out / name, data)
            names[id(medium)] = name
    return names
