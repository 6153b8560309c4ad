"""What is measured of systems' captions beside a judge's verdicts: length, diversity, recitation and crowd_rank.

Zhang et al. 2024 (arXiv 2406.10522), section 5 and Table 6. Intervals are clustered by contest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tqdm import tqdm

from humor_tasks.benchmarks.crowd.corpus import Cartoon, Crowd
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.results.captions.files import CaptionGroup
from humor_tasks.results.captions.placing import Placement, crowds_own, human_captions
from humor_tasks.scorers.diversity import average_ead, embedding_diversity
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.recitation import matches


@dataclass(frozen=True)
class Written:
    """One caption of a system. percentile: None where it was not placed. entry: the contest's caption that it matches
    and that one's rank, from 0; None where it matches none.
    """

    system: str
    contest: int
    caption: str
    match: str = ""
    similarity: float = 0.0
    entry: str | None = None
    entry_rank: int | None = None
    percentile: float | None = None


@dataclass(frozen=True)
class System:
    """The figures of one system over the contests that the dataset has.

    not_whole: the groups without ten captions: contest, number of captions, and what is wrong. elsewhere: the system's
    contests that are not in the split, or left out of it. estimates: shares of captions lie in [0, 1], crowd_rank in
    [0, 100]; a figure that no group has is missing. matched: captions that repeat a rated one, exact and near. refused:
    the number of those not whole for which the system declined.
    """

    name: str
    contests: int
    captions: int
    not_whole: Sequence[Mapping[str, Any]]
    elsewhere: Sequence[int]
    estimates: Mapping[str, Estimate]
    matched: Mapping[str, int]
    refused: int = 0


def written(crowd: Crowd, groups: Sequence[CaptionGroup]) -> list[Written]:
    """Every caption of the groups, system by system in the order of the groups, with the entry that it repeats."""
    of: dict[int, list[CaptionGroup]] = {}
    for group in groups:
        of.setdefault(group.contest, []).append(group)
    found: dict[tuple[str, int], list[Written]] = {}
    for cartoon in tqdm(crowd.cartoons, "recitation", unit="contest"):
        for row in _recited(cartoon, of.get(cartoon.number, [])):
            found.setdefault((row.system, row.contest), []).append(row)
    return [row for group in groups for row in found.get((group.system, group.contest), ())]


def _recited(cartoon: Cartoon, groups: Sequence[CaptionGroup]) -> list[Written]:
    """The captions for one contest, each with the rated caption that it repeats."""
    contest = cartoon.contest
    texts = [(group.system, text) for group in groups for text in group.captions]
    found = []
    for (system, text), match in zip(texts, matches([text for _, text in texts], contest.caption), strict=True):
        row = Written(system, contest.number, text)
        if match.entry is not None:
            entry, rank = contest.caption[match.entry], contest.place[match.entry]
            row = replace(row, match=match.kind, similarity=match.similarity, entry=entry, entry_rank=rank)
        found.append(row)
    return found


def placed(rows: Sequence[Written], placement: Placement) -> list[Written]:
    """The captions with their percentiles."""
    return [replace(row, percentile=placement.percentile.get((row.contest, row.caption))) for row in rows]


def systems(
    crowd: Crowd, groups: Sequence[CaptionGroup], rows: Sequence[Written], encoder: Embedding | None = None
) -> list[System]:
    """The figures of each system. encoder: a sentence-embedding model, for the diversity by embeddings."""
    known = {cartoon.number for cartoon in crowd.cartoons}
    return [
        _system(name, known, [g for g in groups if g.system == name], [r for r in rows if r.system == name], encoder)
        for name in dict.fromkeys(group.system for group in groups)
    ]


def _system(
    name: str, known: set[int], groups: list[CaptionGroup], rows: list[Written], encoder: Embedding | None
) -> System:
    held = [group for group in groups if group.contest in known]
    estimates = _of_captions(rows) | _of_groups([group for group in held if group.whole], encoder)
    return System(
        name,
        len(held),
        len(rows),
        [{"contest": g.contest, "captions": len(g.captions), "note": g.note} for g in held if not g.whole],
        [group.contest for group in groups if group.contest not in known],
        {each: estimate for each, estimate in estimates.items() if estimate.n},
        {kind: sum(row.match == kind for row in rows) for kind in ("exact", "near")},
        sum(group.refused for group in held),
    )


def _of_captions(rows: Sequence[Written]) -> dict[str, Estimate]:
    contests = [row.contest for row in rows]
    ranked = [row for row in rows if row.percentile is not None]
    return {
        "characters": clustered_mean([len(row.caption) for row in rows], contests),
        "words": clustered_mean([len(row.caption.split()) for row in rows], contests),
        "recited_exactly": clustered_proportion([float(row.match == "exact") for row in rows], contests),
        "recited_nearly": clustered_proportion([float(row.match == "near") for row in rows], contests),
        "crowd_rank": in_percent([row.percentile or 0.0 for row in ranked], [row.contest for row in ranked]),
    }


def _of_groups(groups: Sequence[CaptionGroup], encoder: Embedding | None) -> dict[str, Estimate]:
    """The diversities, which depend on the number of captions: of whole groups alone."""
    contests = [group.contest for group in groups]
    found = {"average_ead": clustered_mean([average_ead(group.captions) for group in groups], contests)}
    if encoder:
        values = [embedding_diversity(encoder.embed(group.captions)) for group in tqdm(groups, "diversity")]
        found["embedding_diversity"] = clustered_mean(values, contests)
    return found


def in_percent(percentiles: Sequence[float], contests: Sequence[int]) -> Estimate:
    """The mean of percentiles, with the interval of a proportion."""
    e = clustered_proportion([value / 100 for value in percentiles], contests)
    return Estimate(100 * e.value, 100 * e.stderr, 100 * e.low, 100 * e.high, e.n, e.clusters)


@dataclass(frozen=True)
class Known:
    """A human group: where a model places it, and where the crowd's own ratings do."""

    name: str
    placed: Estimate
    crowd: Estimate


def human_groups(crowd: Crowd, placement: Placement) -> list[Known]:
    """The human groups, which show what a percentile by this model is worth."""
    found: dict[str, list[tuple[int, float, float]]] = {}
    for cartoon in crowd.cartoons:
        own = crowds_own(cartoon)
        for name, captions in human_captions(cartoon).items():
            for caption, true in zip(captions, own[name], strict=True):
                percentile = placement.percentile.get((cartoon.number, caption))
                if percentile is not None:
                    found.setdefault(name, []).append((cartoon.number, percentile, true))
    return [
        Known(
            name,
            in_percent([by_model for _, by_model, _ in rows], [number for number, *_ in rows]),
            in_percent([true for *_, true in rows], [number for number, *_ in rows]),
        )
        for name, rows in found.items()
    ]
