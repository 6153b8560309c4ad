"""Shortcut baselines: scores that need no understanding. They need no API key and no GPU.

random: seeded by the question's id. first: always the first choice (yes for yes-no questions). longest: the choice with
the most characters. overlap: the choice with the largest share of its words in the scene; for yes-no questions, yes if
the text in question shares a word with the scene.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.choosers.chooser import YES_NO, Chooser, Question, check_words

STRATEGIES = ("random", "first", "longest", "overlap")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Function words, which carry no information about the scene; without this list overlap would count "the" and "a".
_STOP = frozenset(
    (
        "a an and are as at be but by can could did do does for from had has have he her him his how i i'm if in is it "
        "it's its just me my no not of on or our out she so than that that's the their them then there they this to "
        "up was we were what when where which who will with would you your you're"
    ).split()
)


class Baseline(Chooser):
    """A shortcut strategy as a Chooser. Raises BadInput for an unknown strategy and a seed that is no whole number."""

    def __init__(self, strategy: str, seed: int = 0) -> None:
        self.name = check_choice("baseline strategy", strategy, STRATEGIES)
        if isinstance(seed, bool) or not isinstance(seed, int | float) or seed % 1:  # lm-eval reads -3 as -3.0
            raise BadInput(f"the seed of a baseline must be a whole number, not {seed!r}.")
        self.seed = int(seed)

    def check(self, question: Question) -> None:
        """Raise BadInput where overlap has no words of the scene; it would answer A (or no) everywhere."""
        if self.name == "overlap":
            check_words(question, "the baseline overlap")

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """See `Chooser.score`."""
        return [[self._score(q, i) for i in range(len(q.choices))] for q in questions]

    def _score(self, question: Question, i: int) -> float:
        choice = question.choices[i]
        if self.name == "random":
            digest = hashlib.sha256(f"{self.seed}:{question.id}:{i}".encode()).digest()
            return int.from_bytes(digest[:8], "big") / 2**64
        if self.name == "first":
            return -float(i)
        if self.name == "longest":
            return float(len(choice))
        if question.choices == YES_NO:
            shares_word = not content_words(question.about).isdisjoint(content_words(question.context))
            return float(shares_word == (choice == "yes"))
        words = content_words(choice)
        return len(words & content_words(question.context)) / len(words) if words else 0.0


def content_words(text: str) -> set[str]:
    """The distinct words of a text in lower case, without function words."""
    return {word for word in _WORD.findall(text.lower().replace("’", "'")) if word not in _STOP}
