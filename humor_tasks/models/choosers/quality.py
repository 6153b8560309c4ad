"""The text-only quality model as a Chooser: the caption that is likeliest one of the crowd's best.

It sees captions alone, neither the scene nor the picture: the caption-only control of any ranking task.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import YES_NO, Chooser, Question
from humor_tasks.models.quality import load


class QualityChooser(Chooser):
    """Scores are log-odds. A contest that the model was trained on is judged by its half that has not seen it.

    folder: of `humor-tasks build newyorker`. encoder: the sentence-embedding model, where it is elsewhere than at
    training. Raises BadInput as `humor_tasks.models.quality.load` does.
    """

    def __init__(self, folder: str, encoder: str | None = None, device: str | None = None) -> None:
        self.quality = load(Path(folder), encoder, device)
        self.name = f"quality/{folder}"

    def check(self, question: Question) -> None:
        """Raise BadInput where there is no choice of captions."""
        if len(question.choices) < 2 or question.choices == YES_NO:
            raise BadInput(
                f"{question.id:.60}: {self.name} ranks captions, and this question has no choice of them; use matching "
                "or ranking."
            )

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """See `Chooser.score`."""
        captions = [choice for q in questions for choice in q.choices]
        if not captions:
            return []
        contests = [_number(q.cluster) for q in questions for _ in q.choices]
        scores = iter(self.quality.score(captions, contests).tolist())
        return [[next(scores) for _ in q.choices] for q in questions]


def _number(cluster: str) -> int | None:
    return int(cluster) if cluster.isdecimal() else None
