"""Shortcut baselines: scores that need no understanding. They need no API key and no GPU.

random: seeded by the question's id. first: always the first choice (yes for yes-no questions). longest: the choice with
the most characters. overlap: the choice with the largest share of its words in the scene; for yes-no questions, yes if
the text in question shares a word with the scene.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.choosers.chooser import YES_NO, Chooser, Question, check_words
from humor_tasks.models.choosers.shortcuts import RULES, yes_no_overlap

STRATEGIES = ("random", "first", "longest", "overlap")


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
        if self.name == "random":
            return [[self._drawn(question.id, i) for i in range(len(question.choices))] for question in questions]
        scores = RULES[self.name]([question.choices for question in questions], [q.context for q in questions])
        if self.name == "overlap":
            for row, question in zip(scores, questions, strict=True):
                if question.choices == YES_NO:
                    row[:] = yes_no_overlap(question.about, question.context)
        return scores

    def _drawn(self, identity: str, i: int) -> float:
        digest = hashlib.sha256(f"{self.seed}:{identity}:{i}".encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64
