"""Parsing of a reply in labelled lines, where each label occurs once and in order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from .answer import Status, unread
from .own_turn import own_turn

_NO_TEXTS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Fields:
    """The text of each label. `texts` is empty unless `status` is "answered"; it is otherwise "empty", "refused" or
    "unparsed".
    """

    texts: Mapping[str, str]
    status: Status


def read_fields(reply: str, labels: Sequence[str]) -> Fields:
    """The text after each of `labels` ("Caption: ..."), with whitespace collapsed.

    A label begins a line, in any case, optionally bold or as a heading or list item. Its text extends to the next
    label; that of the last label to the first blank line. Every label must occur once, in this order, with a text;
    otherwise the reply is unparsed. Only the model's own turn counts, without thinking (`own_turn`); a reply cut off
    while thinking is unparsed. Time is linear in the reply.
    """
    visible = own_turn(reply).text
    if visible is None:
        return Fields(_NO_TEXTS, "unparsed")
    matches = list(_labels(tuple(labels)).finditer(visible))
    if [match[1].lower() for match in matches] == [label.lower() for label in labels]:
        ends = [*(match.start() for match in matches[1:]), len(visible)]
        parts = [visible[match.end() : end] for match, end in zip(matches, ends, strict=True)]
        parts[-1] = re.split(r"\n[ \t]*\n", parts[-1].strip(), maxsplit=1)[0]
        texts = {label: _clean(part) for label, part in zip(labels, parts, strict=True)}
        if all(texts.values()):
            return Fields(texts, "answered")
    return Fields(_NO_TEXTS, unread(visible))


def items(text: str) -> list[str]:
    """The non-empty entries of a field that holds a list separated by semicolons."""
    return [part for piece in text.split(";") if (part := piece.strip(" \t.,"))]


@lru_cache
def _labels(labels: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(label) for label in labels)
    return re.compile(
        rf"(?m:^)[ \t]{{0,8}}(?>(?:[-*•#>_]|[0-9]{{1,2}}[.)]|[ \t]){{0,8}})({names})[*_]{{0,3}}[ \t]{{0,4}}:", re.I
    )


def _clean(part: str) -> str:
    """The text without the markup that its own label and the next one leave at its ends, and without bold around all of
    it.
    """
    text = " ".join(part.split())
    text = re.sub(r"\A[*_]{1,3}(?=\s|\Z)|\s[*_#>`-]{1,6}\Z", "", text).strip()
    bold = re.fullmatch(r"(\*{1,3})(?![\s*])([^*]+)(?<!\s)\1", text)
    text = bold[2] if bold else text
    return text[:-2].rstrip() if text.endswith("**") and text.count("**") % 2 else text
