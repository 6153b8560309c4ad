"""The items of an annotation: a JSON-lines file (or a JSON list) with one row per item.

Fields: id; options: a list of texts, or {"a": text, "b": text}; kind: one of VOTES (default: three or more options are
matching, two with a caption preference, two without ranking), or of FORMS, whose items have no options; description or
null; image: a file in this file's folder, or null; caption, for preference; said: a caption or dialogue, shown as it
is; headline, in which marked words are written <word/>; draft: {field: text}, with which a form begins; cluster, such
as a contest; answer: the correct option's label, which annotators do not see; systems and question: the authors of the
options and the comparison that a row belongs to, for `humor-tasks agreement`. Other fields are ignored.
"""

from __future__ import annotations

import json
import string
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.card import MATCHING, PREFERENCE, RANKING, VOTES
from humor_tasks.data.media.picture import Picture, picture_file
from humor_tasks.data.reading import check_text, missing, read_body
from humor_tasks.data.writing import write_text
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.people.forms import FORMS, MARK, Answers, Form
from humor_tasks.people.vote import TIE
from humor_tasks.people.votes import read_json_rows


@dataclass(frozen=True)
class Item:
    """One item to vote on, or to fill in. Its options are labelled A, B, ... in the order of the file."""

    id: str
    kind: str
    options: tuple[str, ...]
    description: str = ""
    caption: str = ""
    picture: Picture | None = None
    cluster: str = ""
    answer: str = ""
    headline: str = ""
    said: str = ""
    draft: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def form(self) -> Form | None:
        """The form to fill in; None for an item to vote on."""
        return FORMS.get(self.kind)

    @property
    def fixed(self) -> bool:
        """Whether the options keep their order and are the same for other items."""
        return self.form is None and VOTES[self.kind].option_kind == "scale"

    @property
    def repeats(self) -> bool:
        """Whether an annotator may see two items with a common option."""
        return self.form is not None or VOTES[self.kind].option_kind != "choices"

    @property
    def labels(self) -> str:
        """One letter per option."""
        return string.ascii_uppercase[: len(self.options)]


def read_pairs(path: Path) -> list[Item]:
    """The items of the file, in order. Raises BadInput naming the row and its error."""
    rows = read_json_rows(path, read_body(path))
    if not rows:
        raise BadInput(f"{path}: there are no items.")
    items: dict[str, Item] = {}
    locations: dict[str, str] = {}
    for where, row in rows:
        item = _item(row, where, path.parent)
        if item.id in items:
            raise BadInput(f"{where}: id '{item.id}' repeats that of {locations[item.id]}.")
        items[item.id], locations[item.id] = item, where
    return list(items.values())


def write_pairs(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines, atomically."""
    write_text(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def choices_of(items: Iterable[Item]) -> dict[str, Collection[str]]:
    """Item id -> the allowed choices, or the answers that its form takes."""
    return {
        item.id: Answers(item.form, len(MARK.findall(item.headline)))
        if item.form
        else (*item.labels, *([] if item.fixed else [TIE]))
        for item in items
    }


def same_text(text: str) -> str:
    """A text in a form that ignores case and whitespace, for comparison."""
    return " ".join(text.split()).casefold()


def _item(row: Mapping[str, Any], where: str, folder: Path) -> Item:
    identity = row.get("id")
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if not isinstance(identity, str) or missing(identity):
        raise BadInput(f"{where}: id is {identity!r}; an item needs one, as text.")
    form = FORMS.get(str(row.get("kind")))
    options = () if form else _options(row.get("options"), where)
    caption, headline = _text(row, "caption", where), _text(row, "headline", where)
    inferred = MATCHING if len(options) > 2 else PREFERENCE if caption else RANKING
    kind = check_choice(f"{where}: kind", row.get("kind") or inferred.kind, (*VOTES, *FORMS))
    if form is None and VOTES[kind].option_kind == "systems" and len(options) != 2:
        raise BadInput(f"{where}: a preference is between two options; there are {len(options)}.")
    answer = _text(row, "answer", where)
    if answer and answer not in tuple(string.ascii_uppercase[: len(options)]):
        raise BadInput(f"{where}: answer is '{answer}'; it must be the label of an option, such as A for the first.")
    if form and any(each.of_words for each in form.fields) and not MARK.search(headline):
        raise BadInput(f"{where}: headline is {headline!r:.60}; mark the words that may be replaced, written <word/>.")
    draft = row.get("draft") or {}
    if not isinstance(draft, dict) or not all(isinstance(text, str) for text in draft.values()):
        raise BadInput(f"{where}: draft is {draft!r:.60}; it must be an object of texts by field.")
    image = _text(row, "image", where)
    try:
        picture = picture_file(folder, image) if image else None
    except BadInput as problem:
        raise BadInput(f"{where}: {problem}") from None
    return Item(
        identity.strip(),
        kind,
        options,
        description=_text(row, "description", where),
        caption=caption,
        picture=picture,
        cluster=_text(row, "cluster", where),
        answer=answer,
        headline=headline,
        said=_text(row, "said", where),
        draft=draft,
    )


def _options(given: Any, where: str) -> tuple[str, ...]:
    if isinstance(given, dict) and set(given) == {"a", "b"}:
        given = [given["a"], given["b"]]
    if not isinstance(given, list) or not 2 <= len(given) <= len(string.ascii_uppercase):
        raise BadInput(f'{where}: options must be a list of 2 to 26 texts, or {{"a": text, "b": text}}.')
    for i, option in enumerate(given, 1):
        check_text(option, f"{where}: option {i}")
    if len({same_text(option) for option in given}) < len(given):
        raise BadInput(f"{where}: two options are the same text. Leave the item out.")
    return tuple(option.strip() for option in given)


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if name == "cluster" and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str | None):
        raise BadInput(f"{where}: {name} is {value!r}; it must be text or null.")
    return (value or "").strip()
