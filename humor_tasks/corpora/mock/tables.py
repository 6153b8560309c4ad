"""Cartoons and posts of the user's own: CSV files with pictures, such as of Cartoon Movement, CartoonStock or Twitter.

MOCK took these from the web, and nobody publishes them. Whoever has the rights to use some gives a folder with
`items.csv` and its pictures. Columns: image, a path in the folder, and caption; optional are label (yes or no: is it
humorous or sarcastic?), explanation, description, split (train, validation or test) and id. Rows of one image stay in
one split. A row without a label is taken to be humorous or sarcastic, and is not asked about in detecting. The id of a
tweet is Twitter's, by which posts of MORE and Cai et al. are recognised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from humor_tasks.corpora.mock.items import SPLITS, Item, Media, Source, one_line, safe_id
from humor_tasks.data.reading import missing
from humor_tasks.data.rows import read_csv
from humor_tasks.errors import BadInput

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
    found = read_csv(folder / FILE, ("image", "caption"))
    known: dict[str, str] = {}
    for i, row in enumerate(found.rows):
        where = found.where(i)
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
        if name_of in known:
            raise BadInput(f"{where}: its id is also that of {known[name_of]}; give every row an id, or none.")
        known[name_of] = where
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
