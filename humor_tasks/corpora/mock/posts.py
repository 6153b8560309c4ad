"""Posts: MORE (Desai et al., AAAI 2022) and Cai et al. (ACL 2019) in their published formats.

MORE: `train_df.tsv`, `val_df.tsv`, `test_df.tsv` without a header: pid, caption, explanation; pictures `PID.jpg`. All
posts are sarcastic. Cai et al.: `text/train.txt`, `valid2.txt`, `test2.txt` with a Python list per line: [id, text,
label], in the latter two [id, text, label by hashtag, label by an annotator], of which the last is used; pictures
`dataset_image/ID.jpg`. Texts with a word of FILTERED are left out, as in the code released with the data, because they
reveal the label. Both corpora use the same tweets: equal ids mean equal pictures. In Cai et al., `<num>` replaces
numbers of posts with a hashtag of sarcasm only, which reveals the label. Here it replaces the numbers of all posts.
"""

from __future__ import annotations

import ast
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from humor_tasks.corpora.mock.items import Item, Media, Source, one_line, safe_id, split_files
from humor_tasks.data.media.picture import Picture
from humor_tasks.data.reading import lines_of, read_body
from humor_tasks.errors import BadInput

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
        for where, cells in _table(file):
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


def _table(file: Path) -> Iterator[tuple[str, list[str]]]:
    """(location, cells) of every row. Strict, so that an unclosed quotation mark does not swallow rows."""
    reader = csv.reader(io.StringIO(read_body(file), newline=""), delimiter="\t", strict=True)
    try:
        for cells in reader:
            if cells:
                yield f"{file}, line {reader.line_num}", cells
    except csv.Error as problem:
        raise BadInput(f"{file}, line {reader.line_num}: is not tab-separated values ({problem}).") from None


def _unquoted(caption: str) -> str:
    """The text of a caption that is written as a Python string literal.

    Most of MORE's captions are, with quotes and backslashes, because they were copied from files in Cai et al.'s
    format.
    """
    if caption[:1] not in ("'", '"') or len(caption) > MAX_LINE:
        return caption
    try:
        found = ast.literal_eval(caption)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return caption
    return found if isinstance(found, str) else caption


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
    shown = "; ".join(
        f"{when} {count['yes']:,} positive and {count['no']:,} negative" for when, count in numbers.items()
    )
    source.notes.append(f"Numbers are written <num> in all posts. Posts with <num>: {shown}.")
    return source


def _post(source: Source, kind: str, identity: str, split: str, picture: Picture | None, line: str) -> Item:
    """A post; its media id is the tweet's id in all sources."""
    media = {"": picture} if picture is not None else {}
    return Item(f"{kind}_{identity}", "post", source.name, f"tweet-{identity}", line, split=split, media=media)


def _cai_line(line: str, where: str, most: int) -> tuple[str, str, int]:
    """(id, text, label) of one line, parsed as a literal and never executed."""
    try:
        found: Any = ast.literal_eval(line.strip()) if len(line) <= MAX_LINE else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    if not isinstance(found, list) or not 2 <= len(found) <= most or not all(isinstance(x, str) for x in found[:2]):
        raise BadInput(f"{where}: must be a Python list of an id, a text and a label.")
    if len(found) == 2 or found[-1] not in (0, 1) or isinstance(found[-1], bool):
        label = "missing" if len(found) == 2 else f"{found[-1]!r:.60}"
        raise BadInput(f"{where}: the label is {label}; it must be 0 or 1.")
    return safe_id(found[0], where), found[1], found[-1]


def _picture_folder(path: Path, name: str) -> Path | None:
    """The folder of pictures at its location in the published archive."""
    places = [path / name, path.parent / name] if path.is_dir() else [path.parent / name]
    return next((place for place in places if place.is_dir()), None)
