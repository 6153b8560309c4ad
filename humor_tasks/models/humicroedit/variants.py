"""Variants of a headline's text that teams of SemEval-2020 Task 7 trained on (section 5.6)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.humicroedit.texts import Edit

EXTENSIONS = frozenset(
    "report|reports|poll|study|survey|sources|source|live|live updates|live video|video|cnn video|bbc news|world news|"
    "us news|cbc news|fox news|npr|cnn|cnnpolitics.com|reuters|vox|nyt|the new york times|new york times|the guardian|"
    "business insider|the huffington post|technology|environment|opinion|analysis".split("|")
)
"""What news sites append to a headline after a dash, a bar or a colon."""
_SEPARATORS = frozenset(("-", "–", "—", "|", ":"))


def _lower(text: str) -> str:
    return text.lower()


def _no_symbols(text: str) -> str:
    kept = " ".join("".join(c for c in word if c.isalnum() or c in "'’-") for word in text.split())
    return " ".join(word for word in kept.split() if any(map(str.isalnum, word)))


def _segmented(text: str) -> str:
    return " ".join(_segments(word) for word in text.split())


@lru_cache(maxsize=100_000)
def _segments(word: str) -> str:
    """The words that an unknown word, such as a hashtag, is written of; other words as they are."""
    bare = "".join(filter(str.isalnum, word)).lower()
    return word if not bare.isalpha() or bare in english().unigrams else " ".join(english().segment(bare))


@cache
def english() -> Any:
    """wordsegment's counts of English words and word pairs on the web. Raises BadInput where it is not installed."""
    try:
        from wordsegment import Segmenter
    except ModuleNotFoundError as problem:
        raise missing_extra(problem) from None
    segmenter = Segmenter()
    segmenter.load()
    return segmenter


def missing_extra(problem: Exception) -> BadInput:
    """The error for a missing library of the extra."""
    return BadInput(f"this needs the extra 'semeval': pip install 'humor-tasks[semeval]' ({problem}).")


_CHANGES: dict[str, Callable[[str], str]] = {"segmented": _segmented, "lower": _lower, "no-symbols": _no_symbols}
VARIANTS = (*_CHANGES, "no-extensions")


def check_text(text: str) -> None:
    """Raise BadInput for a name in `text`, such as "lower+segmented", that is no variant."""
    for name in text.split("+") if text else ():
        check_choice("text", name, VARIANTS)


def prepared(edit: Edit, text: str) -> Edit:
    """The headline in the variants that `text` names; a word that would become empty stays as it is."""
    names = text.split("+")
    if "no-extensions" in names:
        edit = edit._replace(after=_without_extension(edit.after))
    for name, change in _CHANGES.items():
        if name in names:
            edit = Edit(
                change(edit.before), change(edit.word) or edit.word, change(edit.edit) or edit.edit, change(edit.after)
            )
    return edit


def _without_extension(after: str) -> str:
    words = after.split()
    at = next((i for i in range(len(words) - 1, -1, -1) if words[i] in _SEPARATORS), None)
    return after if at is None or " ".join(words[at + 1 :]).lower() not in EXTENSIONS else " ".join(words[:at])
