"""Captions placed by a judge: any Inspect model that compares two captions of a cartoon.

A caption is compared, in both presentation orders, with ANCHORS of the contest's own captions, one in the middle of
each decile of the crowd's ranking. Its percentile is the share of anchors that it beats; different answers in the two
orders are half a win.
"""

from __future__ import annotations

from humor_tasks.benchmarks.crowd.corpus import Crowd, CrowdOptions
from humor_tasks.data.contests.contest_csv import Contest
from humor_tasks.data.records import Record
from humor_tasks.errors import BadInput, listed
from humor_tasks.results.captions.captions import Caption, Pair
from humor_tasks.results.captions.comparing import Cartoons, Judge
from humor_tasks.results.captions.placing import Placement, Texts, with_human
from humor_tasks.scorers.placement import rank_correlation_by_cluster

ANCHORS = 10


def anchors(contest: Contest) -> list[str]:
    """The captions in the middle of each decile of a contest's rated captions, the best one first."""
    count = len(contest.caption)
    return [contest.caption[(2 * k + 1) * count // (2 * ANCHORS)] for k in range(ANCHORS)]


def place(judge: Judge, crowd: Crowd, options: CrowdOptions, texts: Texts) -> Placement:
    """Place captions by a judge's comparisons.

    The human groups are placed as well. A comparison without a readable answer is left out and counted; a caption all
    of whose comparisons are has no percentile. Raises BadInput for a contest with fewer captions than anchors.
    """
    if short := [str(c.number) for c in crowd.cartoons if len(c.contest.caption) < ANCHORS]:
        raise BadInput(f"{listed('contest', short)}: fewer than {ANCHORS} rated captions; leave them out (--contests).")
    captions: list[Caption] = []
    pairs: list[Pair] = []
    placed: list[tuple[int, str, range]] = []  # the range of a caption's pairs
    for cartoon in crowd.cartoons:
        own = [Caption(str(cartoon.number), text, "anchor") for text in anchors(cartoon.contest)]
        first = len(captions)
        captions += own
        for text in with_human(cartoon, texts):
            start, i = len(pairs), len(captions)
            captions.append(Caption(str(cartoon.number), text, "placed"))
            pairs += [Pair(i, first + k, same=_same(text, each.text)) for k, each in enumerate(own)]
            placed.append((cartoon.number, text, range(start, len(pairs))))
    pairs, log = judge.compare(captions, pairs, of_crowd(crowd, options))
    found = {}
    for number, text, held in placed:
        worths = [worth for i in held if (worth := pairs[i].worth) is not None]
        if worths:
            found[number, text] = 100 * sum(worths) / len(worths)
    rows = [(found[key], mean, key[0]) for key, mean in _ratings(crowd).items() if key in found]
    agreement = rank_correlation_by_cluster(*([row[k] for row in rows] for k in range(3)))
    said = f"by the share that they beat, in both orders, of {ANCHORS} anchors, one of each decile of the contest"
    unread = sum(pair.worth is None for pair in pairs)
    return Placement(judge.name, said, found, agreement, "the human groups", unread, log)


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


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _ratings(crowd: Crowd) -> dict[tuple[int, str], float]:
    """Contest and caption of the human groups -> the crowd's rating."""
    found: dict[tuple[int, str], float] = {}
    for cartoon in crowd.cartoons:
        contest, wanted = cartoon.contest, set(with_human(cartoon, {}))
        for text, mean in zip(contest.caption, contest.mean, strict=True):
            if text in wanted:
                found.setdefault((cartoon.number, text), mean or 0.0)
    return found
