"""The items of an annotation: to vote on, or forms to fill in; and their file.

The file is JSON lines (or a JSON list) with one row per item. Fields: id; options: a list of texts, or {"a": text, "b":
text}; kind: one of VOTES (default: three or more options are matching, two with a caption preference, two without
ranking), or of FORMS, whose items have no options; description or null; image: a file in this file's folder, or null;
caption, for preference, elements and weak; said: a caption or dialogue, shown as it is; headline, in which marked words
are written <word/>; draft: {field: text}, with which a form begins; cluster, such as a contest; answer: the correct
option's label, which annotators do not see; winner_source: official_winner or crowd_winner, whose choice the answer of
a ranking item is; systems and question: the authors of the options and the comparison that a row belongs to, for
`humor-tasks people agreement`. Other fields are ignored.

An answer to a form is the object {field: text} as JSON, in the column `choice` of a file of votes. The fields of
`description` and `links` have the names of Hessel et al. (ACL 2023), Appendix A, where the location belongs to the
links; those of `editing` are the columns of Humicroedit (SemEval-2020 Task 7, Figure 1). `elements` asks for those of
HumorBench (Narad et al. 2025, section 4.2), and `weak` for a distractor of MOCK (section 3.4).
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.caption_contest.ranking import BY_SOURCE
from humor_tasks.contract.card import MATCHING, PREFERENCE, RANKING, VOTES
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.reading import check_text, missing, read_body, words_in
from humor_tasks.rows.media.picture import Picture, picture_file
from humor_tasks.studies.people.vote_files import read_json_rows
from humor_tasks.studies.people.votes import TIE

MARK = re.compile(r"<(\s*[^<>\s][^<>]*)/>")
"""A marked word of a headline, as in Humicroedit's files."""
MAX_TEXT = 1000  # characters


# ---- forms --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """One text to write. pattern: a regular expression that the whole text matches, also in a browser; `wants` says
    what it is. of_words: the text is one of the marked words of the item's headline, by its number from 0.
    """

    name: str
    label: str
    required: bool = True
    lines: int = 1
    pattern: str = ""
    wants: str = ""
    of_words: bool = False

    def check(self, text: str) -> None:
        """Raise BadInput for a text that the field does not take."""
        if self.required and not text:
            raise BadInput(f"'{self.label}' is empty.")
        if text and self.pattern and not re.fullmatch(self.pattern, text):
            raise BadInput(f"'{self.label}' must be {self.wants}.")


@dataclass(frozen=True)
class Form:
    """A kind of item with fields. title: the page's heading; about: the instructions, one paragraph each.

    other_line: whether a text with the words of the item's caption is refused.
    """

    kind: str
    title: str
    about: tuple[str, ...]
    fields: tuple[Field, ...]
    other_line: bool = False

    def written(self, texts: Mapping[str, str]) -> str:
        """The answer with these texts, as JSON. Raises BadInput for texts that a field does not take."""
        cleaned = {field.name: plain(str(texts.get(field.name, ""))) for field in self.fields}
        for one in self.fields:
            if len(cleaned[one.name]) > MAX_TEXT:
                raise BadInput(f"'{one.label}' has {len(cleaned[one.name]):,} characters; at most {MAX_TEXT:,} fit.")
            one.check(cleaned[one.name])
        return json.dumps(cleaned, ensure_ascii=False)

    def read(self, answer: str) -> dict[str, str]:
        """The texts of an answer. Raises BadInput for an answer of another form."""
        try:
            texts = json.loads(answer)
        except (ValueError, RecursionError):
            texts = None
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise BadInput(f"{answer!r:.60} is not an object of texts.")
        if unknown := set(texts) - {field.name for field in self.fields}:
            raise BadInput(f"{self.kind} has no {', '.join(sorted(unknown))}.")
        return json.loads(self.written(texts))  # type: ignore[no-any-return]


_LINK = r"https://en\.(m\.)?wikipedia\.org/wiki/\S+"
_WIKIPEDIA = "the address of an article of the English Wikipedia, such as https://en.wikipedia.org/wiki/Moby-Dick"
DESCRIPTION = Form(
    "description",
    "Describe this cartoon",
    (
        "Write for somebody who does not see the cartoon. Say what is there, and not what might be funny: you are not "
        "asked for a caption.",
        "Example: “Two men sit on a small desert island with one palm tree. One of them is vacuuming the sand.” "
        "Unusual: “There is no electricity on a desert island, and no need to clean it.” "
        "Question: “Where is the vacuum cleaner plugged in?”",
    ),
    (
        Field("image_description", "What does the cartoon show? One to three sentences", lines=4),
        Field("image_uncanny_description", "What is unusual or out of place? One to three sentences", lines=4),
        Field("question_1", "A question that the cartoon leaves open (optional)", required=False, lines=2),
        Field("question_2", "Another question (optional)", required=False, lines=2),
    ),
)
LINKS = Form(
    "links",
    "Where is this, and what should one know?",
    (
        "Name the place, and find two or three articles of the English Wikipedia that help to understand the cartoon: "
        "things, people, stories or sayings that it shows or alludes to. Prefer what is special to this cartoon.",
        "Example: for two men on a desert island, one of them with a vacuum cleaner, the place is “a desert island”, "
        "and the articles are “Desert island”, “Vacuum cleaner” and “Castaway”.",
    ),
    (
        Field("image_location", "Where does this take place? A few words, such as “an office”"),
        Field("link_1", "First article", pattern=_LINK, wants=_WIKIPEDIA),
        Field("link_2", "Second article", pattern=_LINK, wants=_WIKIPEDIA),
        Field("link_3", "Third article (optional)", required=False, pattern=_LINK, wants=_WIKIPEDIA),
    ),
)
LITERAL = Form(
    "literal",
    "Does the text describe this picture?",
    (
        "Correct what is wrong in the description, and add what is missing; leave a good one as it is. Where there is "
        "none, write one. It says what the picture shows, for somebody who does not see it, and explains no joke.",
    ),
    (Field("description", "Description", lines=6),),
)
EDITING = Form(
    "editing",
    "Make this headline funny",
    ("Choose one of the underlined words, and replace it with a single word, so that most people laugh.",),
    (
        Field("place", "The word to replace", pattern=r"\d+", wants="one of the underlined words", of_words=True),
        Field("edit", "Your word", pattern=r"\S+", wants="a single word, without spaces"),
    ),
)
ELEMENTS = Form(
    "elements",
    "What makes this caption funny?",
    (
        "Name what one must understand to get the joke, such as a pun, things that do not go together, an allusion, or "
        "an expectation that is not met. Write one sentence for each element. It says what is meant, and not how funny "
        "it is, so that somebody else can check whether an explanation contains it.",
    ),
    (
        Field("element_1", "An element", lines=3),
        Field("element_2", "Another element (optional)", required=False, lines=3),
        Field("element_3", "Another element (optional)", required=False, lines=3),
    ),
)
WEAK = Form(
    "weak",
    "Write a weaker line",
    (
        "Write another caption, or another last line of the dialogue, that is humorous or sarcastic and fits here, but "
        "is less effective than the one shown.",
    ),
    (Field("text", "Your line", lines=2),),
    other_line=True,
)
FORMS = {form.kind: form for form in (DESCRIPTION, LINKS, LITERAL, EDITING, ELEMENTS, WEAK)}
"""Kind of item -> its form."""


@dataclass(frozen=True)
class Answers(Collection[str]):
    """The answers that an item takes, which cannot be listed: `answer in answers` says if one is among them."""

    form: Form
    words: int
    """The number of marked words of the item's headline."""
    caption: str = ""

    def written(self, texts: Mapping[str, str]) -> str:
        """See `Form.written`; also refuses a word that is not there, and the item's own line."""
        answer = self.form.written(texts)
        if self.form.other_line:
            written = {words_in(text) for text in json.loads(answer).values()}
            if written & {"", words_in(self.caption)}:
                raise BadInput("write other words than those of the line shown.")
        for one in self.form.fields:
            if one.of_words and int(json.loads(answer)[one.name]) >= self.words:
                raise BadInput(f"'{one.label}' must be {one.wants}.")
        return answer

    def __contains__(self, answer: object) -> bool:
        try:
            return bool(self.written(self.form.read(str(answer))))
        except BadInput:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def plain(text: str, most: int | None = None) -> str:
    """One line without control characters, so that a vote is one line of the file."""
    line = " ".join(text.split())
    return "".join(c for c in line if c.isprintable() or c == "\u200d")[:most].strip()


# ---- items --------------------------------------------------------------------------------------


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
    winner_source: str = ""
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


def choices_of(items: Iterable[Item]) -> dict[str, Collection[str]]:
    """Item id -> the allowed choices, or the answers that its form takes."""
    return {
        item.id: Answers(item.form, len(MARK.findall(item.headline)), item.caption)
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
    winner_source = _text(row, "winner_source", where)
    if winner_source:
        check_choice(f"{where}: winner_source", winner_source, BY_SOURCE)
    if form and any(one.of_words for one in form.fields) and not MARK.search(headline):
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
        winner_source=winner_source,
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
