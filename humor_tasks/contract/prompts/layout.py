"""Layouts of prompts with worked examples: turns of a chat, or one text that a model goes on with.

A template of a task with worked examples may have sections beside the turns, each under a line of its own:

- `== first ==`: the user turn of the first worked example, where it is not as the item's.
- `== answer ==`: the assistant's turn of a worked example, with `$answer`; by default the answer form's prefix, a space
  and the answer.
- `== text ==`, then `== item ==`, and no turns: one text, which begins with the first section. The second is a worked
  example, with its answer at `$answer`; of the item itself stands what precedes `$answer`, and nothing follows.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from humor_tasks.contract.answers import AnswerForm
from humor_tasks.contract.prompts import SECTION, fill, split_turns
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Record, Role, Turn

_LINE = re.compile(r"^== (?:system|user|assistant|first|answer|text|item) ==[ \t]*$", re.M)
_LACKS = "lacks $answer; a worked example would show no answer"

Form = TypeVar("Form", bound=AnswerForm)


@dataclass(frozen=True)
class Layout:
    """A template, read. name: of its file. item: the user turn, or the text, of the item and of a worked example.

    first, answer: the sections, or "". one_text: whether it is one text, which begins with `opening`'s only text.
    """

    name: str
    opening: tuple[tuple[Role, str], ...]
    item: str
    first: str = ""
    answer: str = ""
    one_text: bool = False

    @property
    def shown(self) -> tuple[str, ...]:
        """The texts each of which must show an item."""
        return (self.item, self.first) if self.first else (self.item,)

    def turns(self, items: Sequence[tuple[Record, Mapping[str, str]]], form: AnswerForm) -> tuple[Turn, ...]:
        """The turns for worked examples and, last, the item, each with its fields; `form`: as `form_of` returns it.

        Raises BadInput as `fill` does, and for one text with worked examples that it cannot show.
        """
        opening = [Turn(role, fill(text, {}, self.name)) for role, text in self.opening]
        if self.one_text:
            return (self._text([turn.text for turn in opening], items),)
        turns = opening
        for i, (item, fields) in enumerate(items, 1):
            body = self.first if i == 1 < len(items) and self.first else self.item
            turns.append(Turn("user", fill(body, fields, self.name), item.picture))
            turns += [Turn("assistant", form.written(item.target))] if i < len(items) else []
        return tuple(turns)

    def _text(self, opening: Sequence[str], items: Sequence[tuple[Record, Mapping[str, str]]]) -> Turn:
        *examples, (item, fields) = items
        before, after = _around_answer(self.item)
        if examples and after is None:
            raise BadInput(f"template {self.name}: == item == {_LACKS}. Write $answer where it stands.")
        if any(example.picture for example, _ in examples):
            raise BadInput(f"template {self.name}: one text has no place for examples' pictures; write == user ==.")
        shown = [fill(self.item, {**of, "answer": str(example.target)}, self.name) for example, of in examples]
        asked = fill(before.rstrip(), fields, self.name)
        return Turn("user", "\n".join([*opening, *shown, asked]), item.picture)

    def form(self, form: Form) -> Form:
        """The answer form as this template writes an answer."""
        if self.one_text:
            ends = (_around_answer(self.item)[1] or "").strip().split("\n", 1)[0]
            stop = (fill(ends, {}, self.name),) if ends else form.stop
            return replace(form, prefix="", gap="", worked="$answer", stop=stop)
        if not self.answer:
            return form
        prefix = fill(_around_answer(self.answer)[0], {}, self.name).rstrip()
        return replace(form, prefix=prefix, worked=self.answer)


@cache
def read_layout(template: str, name: str) -> Layout:
    """The layout of a template. Raises BadInput for a section that is misplaced, repeated or incomplete."""
    chat, *parts = SECTION.split(template)
    sections = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    if len(sections) < len(parts) // 2:
        raise BadInput(f"template {name}: the lines == {', '.join(parts[::2])} == repeat a section; write each once.")
    if lines := [line for text in sections.values() for line in _LINE.findall(text)]:
        raise BadInput(f"template {name}: {lines[0]} stands after == {parts[-2]} ==; turns come first.")
    if "text" in sections or "item" in sections:
        if chat.strip() or list(sections) != ["text", "item"] or not sections["item"]:
            raise BadInput(
                f"template {name}: one text has the lines == text == and then == item ==, and no other; for turns of a "
                "chat write == user ==."
            )
        opening: tuple[tuple[Role, str], ...] = (("user", sections["text"]),) if sections["text"] else ()
        _around_answer(sections["item"], name)
        return Layout(name, opening, sections["item"], one_text=True)
    *opening_turns, (_, item) = split_turns(chat, name)
    layout = Layout(name, tuple(opening_turns), item, sections.get("first", ""), sections.get("answer", ""))
    if "first" in sections and not layout.first:
        raise BadInput(f"template {name}: == first == is empty; write the first worked example, or leave the line out.")
    if "answer" in sections and _around_answer(layout.answer, name)[1] is None:
        raise BadInput(f"template {name}: == answer == {_LACKS}. Write $answer where it stands.")
    fill(layout.answer, {"answer": ""}, name)
    return layout


def form_of(form: Form, templates: Mapping[str, str]) -> Form:
    """The answer form as these templates, by name, write an answer; as it is where none has such a section."""
    for name, text in templates.items():
        if SECTION.search(text):
            return read_layout(text, name).form(form)
    return form


def _around_answer(text: str, name: str = "") -> tuple[str, str | None]:
    """The text before and after `$answer`; all of it and None where it has none. Raises BadInput for several."""
    found = [m for m in string.Template.pattern.finditer(text) if "answer" in (m["named"], m["braced"])]
    if len(found) > 1 and name:
        raise BadInput(f"template {name}: shows $answer {len(found)} times; write it once.")
    return (text[: found[0].start()], text[found[0].end() :]) if found else (text, None)
