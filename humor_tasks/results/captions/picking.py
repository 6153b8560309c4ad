"""The best k of n captions of each contest and system, by a model (best-of-n, Zhang et al. 2024, section 5)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tqdm import tqdm

from humor_tasks.benchmarks.crowd.corpus import Cartoon
from humor_tasks.models.choosers.chooser import Chooser
from humor_tasks.results.captions.captions import Caption, Pair, win_rates
from humor_tasks.results.captions.comparing import Cartoons, Judge
from humor_tasks.results.captions.files import CaptionGroup
from humor_tasks.results.captions.placing import check_scores_captions, scores_of


def best(scores: Sequence[float], k: int) -> list[int]:
    """The indices of the k highest scores, ascending; of equal scores the earlier ones."""
    return sorted(sorted(range(len(scores)), key=lambda i: -scores[i])[:k])


def kept(group: CaptionGroup, scores: Sequence[float], k: int) -> CaptionGroup:
    """The group's best k captions, in their order."""
    return replace(group, captions=tuple(group.captions[i] for i in best(scores, k)))


def pick(
    chooser: Chooser, groups: Sequence[CaptionGroup], k: int, cartoons: Mapping[int, Cartoon]
) -> list[CaptionGroup]:
    """The groups with their best k captions by a model that scores single captions. cartoons: none to show none."""
    check_scores_captions(chooser)
    found = []
    for group in tqdm(groups, chooser.name, unit="group"):
        if len(group.captions) <= k:
            found.append(group)
            continue
        by_text = scores_of(chooser, cartoons.get(group.contest), group.captions, group.contest)
        found.append(kept(group, [by_text[text] for text in group.captions], k))
    return found


def pick_by_comparing(
    judge: Judge, groups: Sequence[CaptionGroup], k: int, cartoons: Cartoons
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
            keys = [text.casefold() for text in group.captions]
            pairs += [
                Pair(starts[g] + i, starts[g] + j, same=keys[i] == keys[j])
                for i, j in itertools.combinations(range(len(keys)), 2)
            ]
    if not starts:
        return list(groups), 0
    pairs, _ = judge.compare(captions, pairs, cartoons)
    unread = sum(pair.worth is None for pair in pairs)
    rates = [-1.0 if rate is None else rate for rate in win_rates(len(captions), pairs)]
    return [
        kept(group, rates[starts[g] : starts[g] + len(group.captions)], k) if g in starts else group
        for g, group in enumerate(groups)
    ], unread
