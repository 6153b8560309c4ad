"""crowd_rank: where a model places captions among a contest's own rated captions.

A model that scores single captions places them by their scores: percentile 80 is a higher score than 80 % of the
contest's captions have. Any other model is a judge (`judging`). A placement says as much as the model's taste agrees
with the crowd's. That is measured beside it: the rank correlation of its scores and the crowd's ratings, and where it
places the captions whose places are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tqdm import tqdm

from humor_tasks.benchmarks.crowd.corpus import Cartoon
from humor_tasks.benchmarks.crowd.groups import human_groups
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import Chooser, Question
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.placement import percentiles, rank_correlation_by_cluster

Texts = Mapping[int, Sequence[str]]
"""Contest number -> captions."""


@dataclass(frozen=True)
class Placement:
    """Percentiles from 0 to 100 by contest and caption, and the model's agreement with the crowd.

    how: how the model places, in words. agreement: Spearman's correlation with the crowd's ratings in each contest.
    correlated: what it is over, in words. unread: comparisons without a readable answer.
    """

    model: str
    how: str
    percentile: Mapping[tuple[int, str], float] = field(repr=False)
    agreement: Estimate
    correlated: str
    unread: int = 0
    log: str | None = None


def place(chooser: Chooser, cartoons: Sequence[Cartoon], texts: Texts) -> Placement:
    """Place captions, and the human groups, by the scores of a model. Each distinct caption is scored once a contest.

    Raises BadInput for a model that does not score single captions.
    """
    check_scores_captions(chooser)
    found: dict[tuple[int, str], float] = {}
    scores: list[float] = []
    ratings: list[float] = []
    contests: list[int] = []
    for cartoon in tqdm(cartoons, chooser.name, unit="contest"):
        own, number = cartoon.contest.caption, cartoon.number
        wanted = with_human(cartoon, texts)
        by_text = scores_of(chooser, cartoon, [*own, *wanted])
        among = [by_text[text] for text in own]
        placed = percentiles([by_text[text] for text in wanted], among)
        found |= {(number, text): float(value) for text, value in zip(wanted, placed, strict=True)}
        scores += among
        ratings += [mean or 0.0 for mean in cartoon.contest.mean]
        contests += [number] * len(own)
    agreement = rank_correlation_by_cluster(scores, ratings, contests)
    how = "by its scores of single captions"
    return Placement(chooser.name, how, found, agreement, "all rated captions")


def scores_of(chooser: Chooser, cartoon: Cartoon | None, texts: Sequence[str], number: int = 0) -> dict[str, float]:
    """Caption -> score; cartoon: None where the model is to see none, and then the contest's `number`."""
    distinct = tuple(dict.fromkeys(texts))
    contest = str(cartoon.number if cartoon else number)
    context, picture = (cartoon.context, cartoon.picture) if cartoon else ("", None)
    question = Question(contest, context, distinct, picture=picture, cluster=contest)
    if len(distinct) > 1:
        chooser.check(question)
    (scores,) = chooser.score([question])
    return dict(zip(distinct, scores, strict=True))


def check_scores_captions(chooser: Chooser) -> None:
    """Raise BadInput for a baseline that scores the places of captions."""
    if chooser.name == "first":
        raise BadInput("baseline/first scores the places of captions and not captions; choose another model.")


def with_human(cartoon: Cartoon, texts: Texts) -> list[str]:
    """The distinct captions to place in a contest: the given ones and those of the human groups."""
    human = (text for captions in human_captions(cartoon).values() for text in captions)
    return list(dict.fromkeys([*texts.get(cartoon.number, ()), *human]))


def human_captions(cartoon: Cartoon) -> dict[str, tuple[str, ...]]:
    """The human groups of a contest, as far as it has all their ranks: group -> captions."""
    return {name: group.captions for name, group in human_groups(cartoon.contest).items()}


def crowds_own(cartoon: Cartoon) -> dict[str, list[float]]:
    """Group -> the percentiles of its captions among the contest's by the crowd's ratings."""
    mean = [each or 0.0 for each in cartoon.contest.mean]
    at = {text: i for i, text in reversed(list(enumerate(cartoon.contest.caption)))}
    return {
        name: [float(value) for value in percentiles([mean[at[text]] for text in captions], mean)]
        for name, captions in human_captions(cartoon).items()
    }
