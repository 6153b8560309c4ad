"""Figures of systems' captions and their report: length, diversity, recitation, crowd_rank, and graders' verdicts.

Zhang et al. 2024 (arXiv 2406.10522), section 5 and Table 6. Intervals are clustered by contest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tqdm import tqdm

from humor_tasks.benchmarks.crowd.corpus import Crowd
from humor_tasks.errors import listed
from humor_tasks.files.tables import interval, short, table, to_json
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.scorers.diversity import average_ead, embedding_diversity
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.recitation import matches
from humor_tasks.studies.captions.against import Against
from humor_tasks.studies.captions.against import as_markdown as of_judges
from humor_tasks.studies.captions.files import WANTED, CaptionGroup
from humor_tasks.studies.captions.placing import Placement, human_captions, percentiles_by_crowd


@dataclass(frozen=True)
class WritingReport:
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

    not_whole: the groups without ten captions: contest, number of captions, and a note. elsewhere: the system's
    contests that are not in the split, or left out of it. estimates: shares of captions lie in [0, 1], crowd_rank in
    [0, 100]; a figure that no group has is missing. matched: captions that repeat a rated one, exact and near. refused:
    the number of those not whole for which the system declined.
    """

    name: str
    contests: int
    captions: int
    not_whole: Sequence[Mapping[str, Any]]
    elsewhere: Sequence[int | str]
    estimates: Mapping[str, Estimate]
    matched: Mapping[str, int]
    refused: int = 0


def written(crowd: Crowd, groups: Sequence[CaptionGroup]) -> list[WritingReport]:
    """Every caption of the groups, system by system in the order of the groups, with the entry that it repeats."""
    rows = []
    for cartoon in tqdm(crowd.cartoons, "recited captions", unit="contest"):
        contest = cartoon.contest
        texts = [(g.system, text) for g in groups if g.contest == cartoon.number for text in g.captions]
        for (system, text), match in zip(texts, matches([text for _, text in texts], contest.caption), strict=True):
            row = WritingReport(system, contest.number, text)
            if match.entry is not None:
                entry, rank = contest.caption[match.entry], contest.place[match.entry]
                row = replace(row, match=match.kind, similarity=match.similarity, entry=entry, entry_rank=rank)
            rows.append(row)
    order = {(group.system, group.contest): i for i, group in enumerate(groups)}
    return sorted(rows, key=lambda row: order[row.system, row.contest])


def placed(rows: Sequence[WritingReport], placement: Placement) -> list[WritingReport]:
    """The captions with their percentiles."""
    return [replace(row, percentile=placement.percentile.get((row.contest, row.caption))) for row in rows]


def systems(
    crowd: Crowd, groups: Sequence[CaptionGroup], rows: Sequence[WritingReport], encoder: Embedding | None = None
) -> list[System]:
    """The figures of each system. encoder: a sentence-embedding model, for the diversity by embeddings."""
    known = {cartoon.number for cartoon in crowd.cartoons}
    return [
        _system(name, known, [g for g in groups if g.system == name], [r for r in rows if r.system == name], encoder)
        for name in dict.fromkeys(group.system for group in groups)
    ]


def _system(
    name: str, known: set[int], groups: list[CaptionGroup], rows: list[WritingReport], encoder: Embedding | None
) -> System:
    here = [group for group in groups if group.contest in known]
    estimates = _of_captions(rows) | _of_groups([group for group in here if group.whole], encoder)
    return System(
        name,
        len(here),
        len(rows),
        [{"contest": g.contest, "captions": len(g.captions), "note": g.note} for g in here if not g.whole],
        [group.contest for group in groups if group.contest not in known],
        {figure: estimate for figure, estimate in estimates.items() if estimate.n},
        {kind: sum(row.match == kind for row in rows) for kind in ("exact", "near")},
        sum(group.refused for group in here),
    )


def _of_captions(rows: Sequence[WritingReport]) -> dict[str, Estimate]:
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
    estimates = {"average_ead": clustered_mean([average_ead(group.captions) for group in groups], contests)}
    if encoder:
        values = [embedding_diversity(encoder.embed(group.captions)) for group in tqdm(groups, "diversity")]
        estimates["embedding_diversity"] = clustered_mean(values, contests)
    return estimates


def in_percent(percentiles: Sequence[float], contests: Sequence[int]) -> Estimate:
    """The mean of percentiles, with the interval of a proportion."""
    e = clustered_proportion([value / 100 for value in percentiles], contests)
    return Estimate(100 * e.value, 100 * e.stderr, 100 * e.low, 100 * e.high, e.n, e.clusters)


@dataclass(frozen=True)
class HumanGroup:
    """A human group: where a model places it, and where the crowd's own ratings do."""

    name: str
    placed: Estimate
    crowd: Estimate


def human_groups(crowd: Crowd, placement: Placement) -> list[HumanGroup]:
    """The human groups, which show what a percentile by this model is worth."""
    rows: dict[str, list[tuple[int, float, float]]] = {}
    for cartoon in crowd.cartoons:
        by_crowd = percentiles_by_crowd(cartoon)
        for name, captions in human_captions(cartoon).items():
            for caption, true in zip(captions, by_crowd[name], strict=True):
                percentile = placement.percentile.get((cartoon.number, caption))
                if percentile is not None:
                    rows.setdefault(name, []).append((cartoon.number, percentile, true))
    groups = []
    for name, of_group in rows.items():
        numbers, by_model, true_ones = zip(*of_group, strict=True)
        groups.append(HumanGroup(name, in_percent(by_model, numbers), in_percent(true_ones, numbers)))
    return groups


# ---- report -------------------------------------------------------------------------------------

EXAMPLES = 10
"""Recited captions that the table shows."""
_COLUMNS = {
    "characters": ("characters", 1, 1),
    "words": ("words", 1, 1),
    "average_ead": ("average EAD", 4, 1),
    "embedding_diversity": ("embedding diversity", 4, 1),
    "recited_exactly": ("recited, %", 1, 100),
    "recited_nearly": ("nearly, %", 1, 100),
    "crowd_rank": ("crowd_rank", 1, 1),
}
"""Figure -> (name, digits, factor)."""


@dataclass(frozen=True)
class Report:
    """Everything that `humor-tasks captions score` measures.

    provenance: of the contests. lacking: the dataset's contests for which no system has captions. placement, human:
    None and () without a model that places. against: by graders.
    """

    provenance: Mapping[str, Any]
    systems: Sequence[System]
    rows: Sequence[WritingReport] = field(repr=False)
    lacking: Sequence[int]
    encoder: str | None = None
    placement: Placement | None = None
    human: Sequence[HumanGroup] = ()
    against: Sequence[Against] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        data: dict[str, Any] = {"provenance": self.provenance, "without_captions": list(self.lacking)}
        data |= {"encoder": self.encoder, "place_by": None}
        if p := self.placement:
            data["place_by"] = {
                "model": p.model,
                "how": p.how,
                "spearman": p.agreement,
                "spearman_over": p.correlated,
                "unread": p.unread,
                "log": p.log,
                "human_groups": {group.name: {"placed": group.placed, "crowd": group.crowd} for group in self.human},
            }
        data |= {"against_people": self.against, "systems": self.systems, "rows": self.rows}
        done: dict[str, Any] = to_json(data)
        return done


def as_markdown(report: Report) -> str:
    """The report as Markdown."""
    parts = [_systems(report.systems), _notes(report)]
    if report.placement:
        parts.append(_placement(report.placement, report.human))
    if report.against:
        parts.append(of_judges(report.against))
    if recited := [row for row in report.rows if row.match]:
        parts.append(_recitations(recited))
    return "\n\n".join(part for part in parts if part) + "\n"


def _systems(systems: Sequence[System]) -> str:
    columns = [name for name in _COLUMNS if any(name in system.estimates for system in systems)]
    head = ["system", "contests", "captions", f"not {WANTED}", "refused", *(_COLUMNS[name][0] for name in columns)]
    rows = [
        [
            short(system.name),
            system.contests,
            system.captions,
            len(system.not_whole) - system.refused,
            system.refused,
            *(interval(system.estimates.get(name), *_COLUMNS[name][1:]) for name in columns),
        ]
        for system in systems
    ]
    return table(head, rows)


def _notes(report: Report) -> str:
    lines = []
    for system in report.systems:
        if system.elsewhere:
            contests = listed("contest", map(str, system.elsewhere), most=5)
            lines.append(f"- {short(system.name)}: not in the split, or left out of it: {contests}.")
        if system.not_whole:
            groups = "; ".join(map(_short, system.not_whole[:5]))
            more = len(system.not_whole) - 5
            lines.append(f"- {short(system.name)}: not {WANTED} captions: {groups}{f'; {more} more' * (more > 0)}.")
    if report.lacking:
        lines.append(f"- no captions for {listed('contest', map(str, report.lacking), most=5)} of the dataset.")
    return "\n".join(lines)


def _short(group: Mapping[str, Any]) -> str:
    note = f" ({group['note']})" if group["note"] else ""
    return f"contest {group['contest']}: {group['captions']}{note}"


def _placement(placement: Placement, human: Sequence[HumanGroup]) -> str:
    agreement = interval(placement.agreement, 3)
    lines = [
        f"crowd_rank: {short(placement.model)} places captions {placement.how}; a percentile from 0 to 100.",
        f"Its Spearman correlation with the crowd's ratings, mean over contests, {placement.correlated}: {agreement}.",
    ]
    if placement.unread:
        lines.append(f"{placement.unread} comparisons have no readable answer and are left out.")
    parts = ["\n".join(lines)]
    if human:
        rows = [(group.name, interval(group.placed, 1), interval(group.crowd, 1)) for group in human]
        parts.append(table(["captions of the crowd", "crowd_rank by this model", "by the ratings"], rows))
    return "\n\n".join(parts)


def _recitations(rows: Sequence[WritingReport]) -> str:
    best = sorted(rows, key=lambda row: (row.entry_rank or 0, row.contest, row.system))
    head = ["system", "contest", "match", "caption", "entry", "its rank, from 0"]
    cells = [
        (short(row.system), row.contest, row.match, short(row.caption), short(row.entry or ""), row.entry_rank)
        for row in best[:EXAMPLES]
    ]
    title = f"Captions that repeat one of the contest's, {len(cells)} of {len(rows)}, best entry first:"
    return f"{title}\n\n{table(head, cells)}"
