"""The forms that annotators fill in, beside the items that they vote on.

An answer is the object {field: text} as JSON, in the column `choice` of a file of votes. The fields of `description`
and `links` have the names of Hessel et al. (ACL 2023), Appendix A, where the location belongs to the links; those of
`editing` are the columns of Humicroedit (SemEval-2020 Task 7, Figure 1).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from humor_tasks.errors import BadInput

MARK = re.compile(r"<(\s*[^<>\s][^<>]*)/>")
"""A marked word of a headline, as in Humicroedit's files."""
MAX_TEXT = 1000  # characters


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
    """A kind of item with fields. title: the page's heading; about: the instructions, one paragraph each."""

    kind: str
    title: str
    about: tuple[str, ...]
    fields: tuple[Field, ...]

    def written(self, texts: Mapping[str, str]) -> str:
        """The answer with these texts, as JSON. Raises BadInput for texts that a field does not take."""
        kept = {field.name: plain(str(texts.get(field.name, ""))) for field in self.fields}
        for field in self.fields:
            if len(kept[field.name]) > MAX_TEXT:
                raise BadInput(f"'{field.label}' has {len(kept[field.name]):,} characters; at most {MAX_TEXT:,} fit.")
            field.check(kept[field.name])
        return json.dumps(kept, ensure_ascii=False)

    def read(self, answer: str) -> dict[str, str]:
        """The texts of an answer. Raises BadInput where it is none of this form."""
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
FORMS = {form.kind: form for form in (DESCRIPTION, LINKS, LITERAL, EDITING)}
"""Kind of item -> its form."""


@dataclass(frozen=True)
class Answers(Collection[str]):
    """The answers that an item takes, which cannot be listed: `answer in answers` says if one is among them."""

    form: Form
    words: int
    """The number of marked words of the item's headline."""

    def written(self, texts: Mapping[str, str]) -> str:
        """See `Form.written`; also refuses a word that is not there."""
        answer = self.form.written(texts)
        for field in self.form.fields:
            if field.of_words and int(json.loads(answer)[field.name]) >= self.words:
                raise BadInput(f"'{field.label}' must be {field.wants}.")
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
