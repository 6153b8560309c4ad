"""What a model thinks of single captions: crowd_rank, and the best k of n captions (Zhang et al. 2024, section 5).

crowd_rank is where a model places captions among a contest's own rated captions. A model that scores single captions
places them by their scores: percentile 80 is a higher score than 80 % of the contest's captions have. Any other model
is a judge. It compares a caption, in both presentation orders, with ANCHORS of the contest's own captions, one in the
middle of each decile of the crowd's ranking. The percentile is the share of anchors that the caption beats; different
answers in the two orders are half a win.

A placement says as much as the model's taste agrees with the crowd's. That is measured beside it: the rank correlation
of its scores and the crowd's ratings, and where it places the captions whose places are known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tqdm import tqdm

from humor_tasks.benchmarks.crowd.corpus import Cartoon, Crowd, CrowdOptions
from humor_tasks.benchmarks.crowd.groups import human_groups
from humor_tasks.errors import BadInput, listed
from humor_tasks.models.choosers.chooser import Chooser, Question
from humor_tasks.rows.contests.contest_csv import Contest
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import Record
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.placement import percentiles, rank_correlation_by_cluster
from humor_tasks.studies.captions.files import Caption, CaptionGroup
from humor_tasks.studies.captions.pairwise import Cartoons, Pair, PairwiseJudge, win_rates

ANCHORS = 10
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
    percentile: dict[tuple[int, str], float] = {}
    scores: list[float] = []
    ratings: list[float] = []
    contests: list[int] = []
    for cartoon in tqdm(cartoons, chooser.name, unit="contest"):
        rated, number = cartoon.contest.caption, cartoon.number
        to_place = with_human(cartoon, texts)
        by_text = scores_of(chooser, _shown(cartoon, number, [*rated, *to_place]))
        among = [by_text[text] for text in rated]
        placed = percentiles([by_text[text] for text in to_place], among)
        percentile |= {(number, text): float(value) for text, value in zip(to_place, placed, strict=True)}
        scores += among
        ratings += [mean or 0.0 for mean in cartoon.contest.mean]
        contests += [number] * len(rated)
    agreement = rank_correlation_by_cluster(scores, ratings, contests)
    how = "by its scores of single captions"
    return Placement(chooser.name, how, percentile, agreement, "all rated captions")


def anchors(contest: Contest) -> list[str]:
    """The captions in the middle of each decile of a contest's rated captions, the best one first."""
    count = len(contest.caption)
    return [contest.caption[(2 * k + 1) * count // (2 * ANCHORS)] for k in range(ANCHORS)]


def place_by_comparing(judge: PairwiseJudge, crowd: Crowd, options: CrowdOptions, texts: Texts) -> Placement:
    """Place captions by a judge's comparisons.

    The human groups are placed as well. A comparison without a readable answer is left out and counted; a caption
    without any readable answer has no percentile. Raises BadInput for a contest with fewer captions than anchors.
    """
    if short := [str(c.number) for c in crowd.cartoons if len(c.contest.caption) < ANCHORS]:
        raise BadInput(f"{listed('contest', short)}: fewer than {ANCHORS} rated captions; leave them out (--contests).")
    captions: list[Caption] = []
    pairs: list[Pair] = []
    placed: list[tuple[int, str, range]] = []  # the range of a caption's pairs
    for cartoon in crowd.cartoons:
        number = str(cartoon.number)
        of_contest = range(len(captions), len(captions) + ANCHORS)
        captions += [Caption(number, text, "anchor") for text in anchors(cartoon.contest)]
        for text in with_human(cartoon, texts):
            captions.append(Caption(number, text, "placed"))
            pairs += [Pair.of(captions, len(captions) - 1, anchor) for anchor in of_contest]
            placed.append((cartoon.number, text, range(len(pairs) - ANCHORS, len(pairs))))
    pairs, log = judge.compare(captions, pairs, of_crowd(crowd, options))
    percentile = {}
    for contest, text, compared in placed:
        worths = [worth for i in compared if (worth := pairs[i].worth) is not None]
        if worths:
            percentile[contest, text] = 100 * sum(worths) / len(worths)
    rows = [(percentile[key], mean, key[0]) for key, mean in _ratings(crowd).items() if key in percentile]
    agreement = rank_correlation_by_cluster(*([row[k] for row in rows] for k in range(3)))
    how = f"by the share that they beat, in both orders, of {ANCHORS} anchors, one of each decile of the contest"
    unread = sum(pair.worth is None for pair in pairs)
    return Placement(judge.name, how, percentile, agreement, "the human groups", unread, log)


def of_crowd(crowd: Crowd, options: CrowdOptions) -> Cartoons:
    """The cartoons of the contests, for comparisons."""
    records = {
        str(cartoon.number): Record(
            id=str(cartoon.number),
            cluster=str(cartoon.number),
            fields=cartoon.fields,
            context=cartoon.context,
            choices=(),
            target=None,
            groups={"fold": "0"},
            picture=cartoon.picture,
        )
        for cartoon in crowd.cartoons
    }
    return Cartoons(records, options, crowd.provenance(len(records)))


def _ratings(crowd: Crowd) -> dict[tuple[int, str], float]:
    """Contest and caption of the human groups -> the crowd's rating."""
    ratings: dict[tuple[int, str], float] = {}
    for cartoon in crowd.cartoons:
        contest, human = cartoon.contest, set(with_human(cartoon, {}))
        for text, mean in zip(contest.caption, contest.mean, strict=True):
            if text in human:
                ratings.setdefault((cartoon.number, text), mean or 0.0)
    return ratings


def _shown(cartoon: Cartoon | None, number: int, texts: Iterable[str]) -> Question:
    """The captions of a contest; cartoon: None where the model is to see none."""
    return question_of(str(number), texts, *((cartoon.context, cartoon.picture) if cartoon else ()))


def question_of(contest: str, texts: Iterable[str], words: str = "", picture: Picture | None = None) -> Question:
    """The distinct captions of a contest, with what the model is to see of its cartoon."""
    return Question(contest, words, tuple(dict.fromkeys(texts)), picture=picture, cluster=contest)


def scores_of(chooser: Chooser, question: Question) -> dict[str, float]:
    """Caption -> score. Raises BadInput where the model cannot score them."""
    check_scores(chooser, question)
    (scores,) = chooser.score([question])
    return dict(zip(question.choices, scores, strict=True))


def check_scores(chooser: Chooser, question: Question) -> None:
    """Raise BadInput where the model cannot score the captions of a question."""
    if len(question.choices) > 1:
        chooser.check(question)


def check_scores_captions(chooser: Chooser) -> None:
    """Raise BadInput for a baseline that scores the places of captions instead of the captions."""
    if chooser.name == "first":
        raise BadInput("baseline/first scores the places of captions and not captions; choose another model.")


def with_human(cartoon: Cartoon, texts: Texts) -> list[str]:
    """The distinct captions to place in a contest: of `texts` and of the human groups."""
    human = (text for captions in human_captions(cartoon).values() for text in captions)
    return list(dict.fromkeys([*texts.get(cartoon.number, ()), *human]))


def human_captions(cartoon: Cartoon) -> dict[str, tuple[str, ...]]:
    """The human groups of a contest, as far as it has all their ranks: group -> captions."""
    return {name: group.captions for name, group in human_groups(cartoon.contest).items()}


def percentiles_by_crowd(cartoon: Cartoon) -> dict[str, list[float]]:
    """Group -> the percentiles of its captions among the contest's by the crowd's ratings."""
    mean = [rating or 0.0 for rating in cartoon.contest.mean]
    at = {text: i for i, text in reversed(list(enumerate(cartoon.contest.caption)))}
    return {
        name: [float(value) for value in percentiles([mean[at[text]] for text in captions], mean)]
        for name, captions in human_captions(cartoon).items()
    }


# ---- the best k of n ----------------------------------------------------------------------------


def best(scores: Sequence[float], k: int) -> list[int]:
    """The indices of the k highest scores, ascending; of equal scores the earlier ones."""
    return sorted(sorted(range(len(scores)), key=lambda i: -scores[i])[:k])


def _picked(group: CaptionGroup, scores: Sequence[float], k: int) -> CaptionGroup:
    """The group's best k captions, in their order."""
    return replace(group, captions=tuple(group.captions[i] for i in best(scores, k)))


def pick(
    chooser: Chooser, groups: Sequence[CaptionGroup], k: int, cartoons: Mapping[int, Cartoon]
) -> list[CaptionGroup]:
    """The groups with their best k captions by a model that scores single captions. cartoons: none to show none."""
    check_scores_captions(chooser)
    picked = []
    for group in tqdm(groups, chooser.name, unit="group"):
        if len(group.captions) <= k:
            picked.append(group)
            continue
        by_text = scores_of(chooser, _shown(cartoons.get(group.contest), group.contest, group.captions))
        picked.append(_picked(group, [by_text[text] for text in group.captions], k))
    return picked


def best_of(
    model: Chooser | PairwiseJudge, groups: Sequence[CaptionGroup], crowd: Crowd, options: CrowdOptions
) -> tuple[list[CaptionGroup], int]:
    """The crowd's contests' groups with their best caption by any model, and the comparisons without an answer."""
    known = {cartoon.number: cartoon for cartoon in crowd.cartoons}
    groups = [group for group in groups if group.contest in known]
    if isinstance(model, PairwiseJudge):
        return pick_by_comparing(model, groups, 1, of_crowd(crowd, options))
    return pick(model, groups, 1, known), 0


def pick_by_comparing(
    judge: PairwiseJudge, groups: Sequence[CaptionGroup], k: int, cartoons: Cartoons
) -> tuple[list[CaptionGroup], int]:
    """The groups with the k captions that win most comparisons with all others of the group, in both orders.

    Different answers in the two orders are half a win. Also returns the number of comparisons without a readable
    answer, which count for neither caption. A caption without any readable answer comes last.
    """
    captions: list[Caption] = []
    pairs: list[Pair] = []
    starts: dict[int, int] = {}
    for g, group in enumerate(groups):
        if len(group.captions) > k:
            starts[g] = len(captions)
            captions += [Caption(str(group.contest), text, group.system) for text in group.captions]
            pairs += [Pair.of(captions, i, j) for i, j in itertools.combinations(range(starts[g], len(captions)), 2)]
    if not starts:
        return list(groups), 0
    pairs, _ = judge.compare(captions, pairs, cartoons)
    unread = sum(pair.worth is None for pair in pairs)
    rates = [-1.0 if rate is None else rate for rate in win_rates(len(captions), pairs)]
    return [
        _picked(group, rates[starts[g] : starts[g] + len(group.captions)], k) if g in starts else group
        for g, group in enumerate(groups)
    ], unread
