"""Cartoons and posts: the public sources in their published formats, and the user's own pictures.

New Yorker Caption Contest (Hessel et al., ACL 2023): its own schema, fold 0. A `matching` row has a caption that was
entered for the cartoon and four that were entered for others; three of the four are kept, sampled with the seed. An
`explanation` row says why a caption is funny. Pictures are those of `matching_from_pixels`. The literal description is
`image_description`.

MORE (Desai et al., AAAI 2022): `train_df.tsv`, `val_df.tsv`, `test_df.tsv` without a header: pid, caption, explanation;
pictures `PID.jpg`. All posts are sarcastic. Cai et al. (ACL 2019): `text/train.txt`, `valid2.txt`, `test2.txt` with a
Python list per line: [id, text, label], in the latter two [id, text, label by hashtag, label by an annotator], of which
the last is used; pictures `dataset_image/ID.jpg`. Texts with a word of FILTERED are left out, as in the code released
with the data, because they reveal the label. Both corpora use the same tweets: equal ids mean equal pictures. In Cai et
al., `<num>` replaces numbers of posts with a hashtag of sarcasm only, which reveals the label. Here it replaces the
numbers of all posts.

MOCK took more from the web (Cartoon Movement, CartoonStock, Twitter), which nobody publishes. Whoever has the rights to
use some gives a folder with `items.csv` and its pictures. Columns: image, a path in the folder, and caption; optional
are label (yes or no: is it humorous or sarcastic?), explanation, description, split (train, validation or test) and id.
Rows of one image stay in one split. A row without a label is taken to be humorous or sarcastic, and is not asked about
in detecting. The id of a tweet is Twitter's, by which posts of MORE and Cai et al. are recognised.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from humor_tasks.benchmarks.caption_contest.corpus import CARD, HUB
from humor_tasks.benchmarks.caption_contest.rows import contest_name
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.files.csv_files import claim, read_csv, split_cells
from humor_tasks.files.reading import lines_of, missing, read_body
from humor_tasks.lab.corpora.mock.items import SPLITS, Item, Media, Source, one_line, safe_id, split_files
from humor_tasks.rows import Absent, Rows, open_rows
from humor_tasks.rows.media.picture import Picture

# ---- New Yorker ---------------------------------------------------------------------------------

COLUMNS = ["contest_number", "caption_choices", "label", "instance_id", "image_description"]


def read_newyorker(dataset: str, media: Media, revision: str | None = None) -> Source:
    """The captions of `matching` and `explanation` in every split. Raises BadInput where the dataset has none."""
    source = Source("New Yorker")
    absent = []
    for split in SPLITS:
        pictures = _pictures(dataset, split, revision)
        for config in ("matching", "explanation"):
            try:
                rows = _open(dataset, config, split, COLUMNS, revision)
            except Absent:
                absent.append(f"{config}/{split}")
                continue
            for i, row in enumerate(rows.rows):
                source.rows += 1
                contest = safe_id(contest_name(row["contest_number"], rows.where(i)), rows.where(i))
                picture = pictures.get(contest)
                if picture is None and media.missing != "keep":
                    media.problems.append(f"{rows.where(i)}: the picture of contest {contest}")
                    if media.missing == "drop":
                        source.dropped["no picture of its contest in matching_from_pixels"] += 1
                        continue
                source.items.append(_newyorker_item(row, config, split, contest, picture, rows.where(i)))
    if not source.rows:
        raise BadInput(f"{dataset}: has neither {' nor '.join(absent)}.")
    return source


def _newyorker_item(
    row: Mapping[str, Any], config: str, split: str, contest: str, picture: Picture | None, where: str
) -> Item:
    identity = safe_id(str(row["instance_id"]), where)
    others: tuple[str, ...] = ()
    if config == "matching":
        choices, letter = row["caption_choices"], row["label"]
        if not isinstance(choices, list) or len(choices) != 5 or letter not in tuple("ABCDE"):
            raise BadInput(f"{where}: must have five captions and a label of A to E.")
        line = one_line(choices["ABCDE".index(letter)], "the caption", where)
        others = tuple(one_line(other, "a caption", where) for i, other in enumerate(choices) if "ABCDE"[i] != letter)
    else:
        line = one_line(row["caption_choices"], "caption_choices", where)
    return Item(
        id=f"newyorker_{identity}",
        scene="cartoon",
        source="New Yorker",
        media_id=f"newyorker-{contest}",
        line=line,
        split=split,
        funny=config == "matching",
        explanation=one_line(row["label"], "label", where) if config == "explanation" else None,
        description=one_line(row["image_description"], "image_description", where),
        others=others,
        media={"": picture} if picture is not None else {},
    )


def _pictures(dataset: str, split: str, revision: str | None) -> dict[str, Picture]:
    """Contest -> picture; empty where the dataset has no pictures of this split."""
    try:
        rows = _open(dataset, "matching_from_pixels", split, ["contest_number"], revision, pictures=True)
    except Absent:
        return {}
    return {contest_name(row["contest_number"], rows.where(i)): row["image"] for i, row in enumerate(rows.rows)}


def _open(
    dataset: str, config: str, split: str, columns: list[str], revision: str | None, pictures: bool = False
) -> Rows:
    return open_rows(
        dataset,
        hub=HUB,
        cards=Path(folder(CARD)),
        config=config,
        split=split,
        columns=columns,
        pictures=pictures,
        revision=revision,
    )


# ---- MORE and Cai et al. ------------------------------------------------------------------------

MORE_FILES = {"train": ("train_df.tsv",), "validation": ("val_df.tsv",), "test": ("test_df.tsv",)}
CAI_FILES = {"train": ("train.txt",), "validation": ("valid2.txt", "valid.txt"), "test": ("test2.txt", "test.txt")}
FILTERED = frozenset("sarcasm sarcastic reposting <url> joke jokes humour humor irony ironic exgag".split())
NUMBER = re.compile(r"(?<!\S)\d+(?:[.,:/-]\d+)*(?!\S)")
"""A number that stands alone, as tokenised."""
REVEALS_LABEL = "a word that reveals the label, as published"
MAX_LINE = 100_000  # characters


def read_more(path: Path, images: Path | None, media: Media) -> Source:
    """The explained posts of MORE, with its splits."""
    source = Source("MORE")
    folder = images or _picture_folder(path, "images")
    for split, file in split_files(path, MORE_FILES).items():
        for where, cells in _tab_separated(file):
            source.rows += 1
            if len(cells) != 3:
                raise BadInput(f"{where}: has {len(cells)} fields; there must be pid, caption and explanation.")
            identity = safe_id(cells[0], where)
            picture = media.find(source, folder, f"{identity}.jpg", where)
            if picture is None and media.missing == "drop":
                continue
            item = _post(source, "more", identity, split, picture, one_line(_unquoted(cells[1]), "caption", where))
            why = one_line(cells[2], "explanation", where)
            source.items.append(replace(item, funny=True, explanation=why))
    return source


def _tab_separated(file: Path) -> Iterator[tuple[str, list[str]]]:
    """(location, cells) of every row. Strict, so that an unclosed quotation mark does not swallow rows."""
    return ((f"{file}, line {line}", cells) for line, cells in split_cells(file, read_body(file), "\t") if cells)


def _unquoted(caption: str) -> str:
    """The text of a caption that is written as a Python string literal.

    Most of MORE's captions are, with quotes and backslashes, because they were copied from files in Cai et al.'s
    format.
    """
    if caption[:1] not in ("'", '"') or len(caption) > MAX_LINE:
        return caption
    try:
        literal = ast.literal_eval(caption)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return caption
    return literal if isinstance(literal, str) else caption


def read_cai(path: Path, images: Path | None, media: Media) -> Source:
    """The labelled posts of Cai et al., with their splits."""
    source = Source("Cai et al. 2019")
    folder = images or _picture_folder(path, "dataset_image")
    texts = path / "text" if (path / "text").is_dir() else path
    numbers: dict[str, Counter[str]] = {"as published": Counter(), "here": Counter()}
    for split, file in split_files(texts, CAI_FILES).items():
        for where, line in lines_of(file):
            source.rows += 1
            identity, text, label = _cai_line(line, where, 3 if split == "train" else 4)
            if FILTERED & set(text.split()):
                source.dropped[REVEALS_LABEL] += 1
                continue
            picture = media.find(source, folder, f"{identity}.jpg", where)
            if picture is None and media.missing == "drop":
                continue
            line, answer = one_line(NUMBER.sub("<num>", text), "text", where), "yes" if label else "no"
            numbers["as published"][answer] += "<num>" in text.split()
            numbers["here"][answer] += "<num>" in line.split()
            item = _post(source, "cai", identity, split, picture, line)
            source.items.append(replace(item, label=answer, funny=bool(label)))
    counts_told = "; ".join(
        f"{when} {count['yes']:,} positive and {count['no']:,} negative" for when, count in numbers.items()
    )
    source.notes.append(f"Numbers are written <num> in all posts. Posts with <num>: {counts_told}.")
    return source


def _post(source: Source, kind: str, identity: str, split: str, picture: Picture | None, line: str) -> Item:
    """A post; its media id is the tweet's id in all sources."""
    media = {"": picture} if picture is not None else {}
    return Item(f"{kind}_{identity}", "post", source.name, f"tweet-{identity}", line, split=split, media=media)


def _cai_line(line: str, where: str, most: int) -> tuple[str, str, int]:
    """(id, text, label) of one line, parsed as a literal and never executed."""
    try:
        literal: Any = ast.literal_eval(line.strip()) if len(line) <= MAX_LINE else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        literal = None
    if (
        not isinstance(literal, list)
        or not 2 <= len(literal) <= most
        or not all(isinstance(x, str) for x in literal[:2])
    ):
        raise BadInput(f"{where}: must be a Python list of an id, a text and a label.")
    if len(literal) == 2 or literal[-1] not in (0, 1) or isinstance(literal[-1], bool):
        label = "missing" if len(literal) == 2 else f"{literal[-1]!r:.60}"
        raise BadInput(f"{where}: the label is {label}; it must be 0 or 1.")
    return safe_id(literal[0], where), literal[1], literal[-1]


def _picture_folder(path: Path, name: str) -> Path | None:
    """The folder of pictures at its location in the published archive."""
    places = [path / name, path.parent / name] if path.is_dir() else [path.parent / name]
    return next((place for place in places if place.is_dir()), None)


# ---- the user's own -----------------------------------------------------------------------------

FILE = "items.csv"
LABELS = ("", "yes", "no")
OWN = {
    "cartoon_movement": ("Cartoon Movement", "cartoon"),
    "cartoonstock": ("CartoonStock", "cartoon"),
    "tweets": ("further tweets", "post"),
}
"""Option of `build mock` -> the source's name and its scene."""


def read_table(option: str, folder: Path, media: Media) -> Source:
    """The items of `items.csv` in a folder. Raises BadInput naming file and line."""
    name, scene = OWN[option]
    source = Source(name)
    others = ("id", "label", "split", "explanation", "description")
    table = read_csv(folder / FILE, ("image", "caption"), known=others, ids=("id",))
    places: dict[str, str] = {}
    for i, row in enumerate(table.rows):
        where = table.where(i)
        source.rows += 1
        if missing(row["image"]):
            raise BadInput(f"{where}: image is empty; it must be the path of a picture in {folder}.")
        image = str(PurePosixPath(row["image"].strip()))  # ./a.png is a.png
        picture = media.find(source, folder, image, where)
        if picture is None and media.missing == "drop":
            continue
        label = _choice(row, "label", LABELS, where)
        identity = row.get("id", "").strip()
        medium = f"{option}-{hashlib.sha256(image.encode()).hexdigest()[:12]}"
        name_of = f"{option}_{safe_id(identity, where) if identity else i + 1}"
        claim(places, identity or str(i + 1), where, "Give every row an id, or none.")
        source.items.append(
            Item(
                id=name_of,
                scene=scene,
                source=name,
                media_id=f"tweet-{identity}" if scene == "post" and identity else medium,
                line=one_line(row["caption"], "caption", where),
                split=_choice(row, "split", ("", *SPLITS), where) or None,
                label=label or None,
                funny=label != "no",
                explanation=_optional(row, "explanation", where) if label != "no" else None,
                description=_optional(row, "description", where),
                media={"": picture} if picture is not None else {},
            )
        )
    return source


def _choice(row: Mapping[str, str], column: str, known: tuple[str, ...], where: str) -> str:
    value = row.get(column, "").strip()
    if value not in known:
        raise BadInput(f"{where}: {column} is {value!r:.60}; it must be {', '.join(known[1:])}, or empty.")
    return value


def _optional(row: Mapping[str, str], column: str, where: str) -> str | None:
    text = row.get(column, "")
    return one_line(text, column, where) if text.strip() else None
