"""The figures of systems' captions as tables and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from humor_tasks.data.tables import interval, plain, short, table
from humor_tasks.errors import listed
from humor_tasks.results.captions.against import Against
from humor_tasks.results.captions.against import as_markdown as of_judges
from humor_tasks.results.captions.figures import Known, System, Written
from humor_tasks.results.captions.files import WANTED
from humor_tasks.results.captions.placing import Placement

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
    """Everything that `humor-tasks captions score` found. provenance: of the contests. lacking: the dataset's contests
    for which no system has captions. placement, known: None and () without a model that places. against: by graders.
    """

    provenance: Mapping[str, Any]
    systems: Sequence[System]
    rows: Sequence[Written] = field(repr=False)
    lacking: Sequence[int]
    encoder: str | None = None
    placement: Placement | None = None
    known: Sequence[Known] = ()
    against: Sequence[Against] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"provenance": self.provenance, "without_captions": list(self.lacking)}
        found |= {"encoder": self.encoder, "place_by": None}
        if self.placement:
            p = self.placement
            found["place_by"] = {
                "model": p.model,
                "how": p.how,
                "spearman": p.agreement,
                "spearman_over": p.correlated,
                "unread": p.unread,
                "log": p.log,
                "human_groups": {each.name: {"placed": each.placed, "crowd": each.crowd} for each in self.known},
            }
        found["against_people"] = [dataclasses.asdict(each) for each in self.against]
        found["systems"] = [dataclasses.asdict(system) for system in self.systems]
        found["rows"] = [dataclasses.asdict(row) for row in self.rows]
        done: dict[str, Any] = plain(found)
        return done


def as_markdown(report: Report) -> str:
    """The report as Markdown."""
    parts = [_systems(report.systems), _notes(report)]
    if report.placement:
        parts.append(_placement(report.placement, report.known))
    if report.against:
        parts.append(of_judges(report.against))
    if recited := [row for row in report.rows if row.match]:
        parts.append(_recited(recited))
    return "\n\n".join(part for part in parts if part) + "\n"


def _systems(systems: Sequence[System]) -> str:
    shown = [name for name in _COLUMNS if any(name in system.estimates for system in systems)]
    head = ["system", "contests", "captions", f"not {WANTED}", "refused", *(_COLUMNS[name][0] for name in shown)]
    rows = [
        [
            short(system.name),
            system.contests,
            system.captions,
            len(system.not_whole) - system.refused,
            system.refused,
            *(interval(system.estimates.get(name), *_COLUMNS[name][1:]) for name in shown),
        ]
        for system in systems
    ]
    return table(head, rows)


def _notes(report: Report) -> str:
    lines = []
    for system in report.systems:
        if system.elsewhere:
            told = listed("contest", map(str, system.elsewhere), most=5)
            lines.append(f"- {short(system.name)}: not in the split, or left out of it: {told}.")
        if system.not_whole:
            told = "; ".join(_short(each) for each in system.not_whole[:5])
            more = len(system.not_whole) - 5
            lines.append(f"- {short(system.name)}: not {WANTED} captions: {told}{f'; {more} more' * (more > 0)}.")
    if report.lacking:
        lines.append(f"- no captions for {listed('contest', map(str, report.lacking), most=5)} of the dataset.")
    return "\n".join(lines)


def _short(group: Mapping[str, Any]) -> str:
    note = f" ({group['note']})" if group["note"] else ""
    return f"contest {group['contest']}: {group['captions']}{note}"


def _placement(placement: Placement, known: Sequence[Known]) -> str:
    agreement = interval(placement.agreement, 3)
    lines = [
        f"crowd_rank: {short(placement.model)} places captions {placement.how}; a percentile from 0 to 100.",
        f"Its Spearman correlation with the crowd's ratings, mean over contests, {placement.correlated}: {agreement}.",
    ]
    if placement.unread:
        lines.append(f"{placement.unread} comparisons have no readable answer and are left out.")
    rows = [(each.name, interval(each.placed, 1), interval(each.crowd, 1)) for each in known]
    shown = table(["captions of the crowd", "crowd_rank by this model", "by the ratings"], rows) if rows else ""
    return "\n".join(lines) + (f"\n\n{shown}" if shown else "")


def _recited(rows: Sequence[Written]) -> str:
    best = sorted(rows, key=lambda row: (row.entry_rank or 0, row.contest, row.system))
    head = ["system", "contest", "match", "caption", "entry", "its rank, from 0"]
    shown = [
        (short(row.system), row.contest, row.match, short(row.caption), short(row.entry or ""), row.entry_rank)
        for row in best[:EXAMPLES]
    ]
    return f"Captions that repeat one of the contest's, {len(shown)} of {len(rows)}, best entry first:\n\n" + table(
        head, shown
    )
