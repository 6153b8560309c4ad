"""Texts that a model has written, as an answer: one text, or a list of as many as were asked for."""

from __future__ import annotations

from collections.abc import Sequence

from humor_tasks.contract.answers import Answer, whole_reply
from humor_tasks.rows.contests.captions import key_of
from humor_tasks.scorers.caption_list import read_captions
from humor_tasks.scorers.diversity import average_ead
from humor_tasks.scorers.tagged import count_words


def read_texts(count: int, reply: str, refused: bool) -> Answer:
    """The texts of a reply, a line each; no answer where a list does not have exactly `count`.

    A single text is the whole reply, without its reasoning.
    """
    if count == 1:
        whole = whole_reply(reply, refused)
        return whole if whole.value is None else given([" ".join(whole.value.split())])
    reading = read_captions(reply, count)
    if reading.status != "answered":
        return Answer(None, "refused" if refused else reading.status, {"found": float(reading.found)})
    return given([" ".join(text.split()) for text in reading.texts])


def given(texts: Sequence[str]) -> Answer:
    """Texts as an answer, with the measures of their words; those of diversity need several texts."""
    values = {
        "characters": sum(map(len, texts)) / len(texts),
        "words": sum(map(count_words, texts)) / len(texts),
    }
    if len(texts) > 1:
        values |= {"ead": average_ead(texts), "distinct": len(set(map(key_of, texts))) / len(texts)}
    values["found"] = float(len(texts))
    return Answer("\n".join(texts), "answered", values, {"captions": list(texts)})
