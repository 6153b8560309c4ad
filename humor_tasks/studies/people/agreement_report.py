"""Reports on human votes, and on judges compared with them, as Markdown, CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humor_tasks._version import __version__
from humor_tasks.contract.judging.missing import MISSING
from humor_tasks.errors import BadInput
from humor_tasks.files.tables import csv_text, interval, json_text, percent, safe, table
from humor_tasks.files.writing import write_text
from humor_tasks.scorers.bradley_terry import Strength
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.studies.people.agreement import PREFERENCE, Agreed, Question, Rater, agreed, raters, systems

if TYPE_CHECKING:  # judges need Inspect, which takes seconds to import
    from humor_tasks.studies.people.judge import Comparison

REPORTS = (".md", ".csv", ".json")
METRICS = (
    *("win_rate", "win_rate_of_votes", "accuracy", "accuracy_of_votes", "human_acc", "human_acc_by_majority"),
    *("crowd_accuracy", "ny_accuracy"),
    *("gwet_ac1", "raw_agreement"),
    *("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "human_ceiling", "first_shown"),
)
_ABOUT_JUDGES = (
    "- A, B: the systems whose texts are options A and B; of its family: the side whose author is of the judge's "
    "family; pairs: those with a verdict and votes, over which all lines are but unread, the win rates, prediction "
    "powered and those of missing verdicts."
)
LEGEND = {
    "accuracy": "how often the judge agrees with the majority of the annotators, over pairs without a tie of either",
    "gwet_ac1": "Gwet's AC1 of judge and majority as two raters, with ties as a category",
    "raw_agreement": "the share of pairs on which judge and majority say the same, with ties as a category",
    "human_ceiling": "the expected accuracy of one annotator against the majority of the others",
    "first_shown": "the share of the judge's verdicts for a side that prefer the text shown first; .5 without bias",
    "people_first_shown": "the same of the votes",
    "inconsistent": "the share of pairs on which the judge's verdicts in the two orders differ",
    "length_effect": "the effect of a text's length on the judge's preference, in log odds; 0 without bias",
    "people_length_effect": "the same of the majority",
    "longer": "how often the judge prefers the longer text",
    "people_longer": "the same of the majority",
    "self_preference": "the judge's win rate of its family's side minus the annotators' win rate of that side",
    "unread": "the share of pairs with votes on which the judge has no readable verdict",
    "judge_win_rate": "A's win rate by the judge, over all pairs with a verdict",
    "people_win_rate": "A's win rate by the majority, over all pairs with votes",
    "prediction_powered": "A's win rate by annotators over all pairs with a verdict, estimated from both",
    MISSING: "the share of the judge's questions without a verdict (unread, refused or failed)",
    "accuracy_missing_failed": "accuracy with a pair without a verdict counted as disagreement",
    "accuracy_missing_passed": "the same, counted as agreement",
    "judge_win_rate_missing_failed": "A's win rate by the judge with each missing verdict counted as lost by A",
    "judge_win_rate_missing_passed": "the same, counted as won by A",
}
"""Label of a judge's row -> its meaning; see `judge.Comparison`."""
HOW = "Intervals are 95 %, clustered by contest where PAIRS or the log tell it, else by item."


@dataclass(frozen=True)
class Analysis:
    """All results from the votes and, if given, from judges' logs."""

    questions: Sequence[Agreed]
    raters: Sequence[Rater]
    systems: Mapping[str, Strength]
    judges: Sequence[Comparison]
    notes: Sequence[str]


def analyse(
    questions: Sequence[Question], logs: Sequence[Path] = (), explainers: Mapping[str, str] | None = None
) -> Analysis:
    """Analyse the votes on these questions; with `logs`, also compare judges with them.

    Raises BadInput for `logs` without the questions' items.
    """
    if logs and not all(question.items for question in questions):
        raise BadInput(
            "--judge needs --items: without them nothing tells whose text A is and which two texts were compared, "
            "and a judge of other texts, or with A and B exchanged, would go unnoticed."
        )
    questions_agreed = [agreed(question) for question in questions]
    strengths, why = systems(questions_agreed)
    people = raters(questions)
    notes = [note for result in questions_agreed for note in result.notes] + _alike(people) + ([why] if why else [])
    judges: list[Comparison] = []
    if logs:
        from humor_tasks.studies.people.judge import against_people, read_judge_log

        judges = against_people(questions_agreed, [read_judge_log(path) for path in logs], explainers)
        notes += [note for comparison in judges for note in comparison.notes]
    return Analysis(questions_agreed, people, strengths, judges, notes)


def _alike(people: Sequence[Rater]) -> list[str]:
    """A note on raters who may be the same person, if any."""
    names: dict[str, list[str]] = {}
    for one in people:
        names.setdefault(one.name.casefold(), []).append(one.name)
    alike = [" and ".join(same) for same in names.values() if len(same) > 1]
    return [f"raters whose names differ in case only count as different raters: {'; '.join(alike)}."] * bool(alike)


def check_ending(path: Path | None) -> None:
    """Raise BadInput for an unsupported file extension, before anything is computed."""
    if path and path.suffix not in REPORTS:
        raise BadInput(f"{path}: a report ends in {', '.join(REPORTS)}.")


def write_report(path: Path, analysis: Analysis, texts: str = "") -> None:
    """Write Markdown (texts: see `as_markdown`), CSV (only the questions) or JSON, by the file's extension."""
    check_ending(path)
    makers: dict[str, Callable[[Analysis], str]] = {
        ".md": partial(as_markdown, texts=texts),
        ".csv": as_csv,
        ".json": as_json,
    }
    write_text(path, makers[path.suffix](analysis))


# ---- JSON and CSV -------------------------------------------------------------------------------


def as_json(analysis: Analysis) -> str:
    """The whole analysis as JSON; unknown (nan) and infinite values are null."""
    report = {
        "questions": [
            _about(result)
            | {"unanimous": result.sides(result.unanimous), "metrics": result.estimates, "shares": result.shares}
            for result in analysis.questions
        ],
        "raters": analysis.raters,
        "systems": analysis.systems,
        "judges": analysis.judges,
        "notes": analysis.notes,
        "humor_tasks": __version__,
    }
    return json_text(report)


def as_csv(analysis: Analysis) -> str:
    """One row per question; an empty cell is unknown or does not apply."""
    rows = []
    for result in analysis.questions:
        cells = list(_about(result).values())
        for name in METRICS:
            e = result.estimates.get(name)
            values = [e.value, e.low, e.high] if e else [None] * 3
            cells += [None if v is None or math.isnan(v) else v for v in values]
        rows.append(cells)
    names = [f"{name}{part}" for name in METRICS for part in ("", "_low", "_high")]
    return csv_text(["question", "kind", "a", "b", "generated", "ratings", "items", "ties", *names], rows)


def _about(result: Agreed) -> dict[str, Any]:
    a, b = _names(result)
    q = result.question
    facts = {"question": q.name, "kind": q.kind, "a": a, "b": b, "generated": result.generated}
    return facts | {"ratings": len(q.votes), "items": len(result.majority), "ties": result.ties}


def _names(result: Agreed) -> tuple[str, str]:
    """The names of A and B; the letters without PAIRS, empty where the options are not systems."""
    return result.question.systems or (("A", "B") if result.question.kind == PREFERENCE else ("", ""))


# ---- Markdown -----------------------------------------------------------------------------------


def as_markdown(analysis: Analysis, texts: str = "") -> str:
    """The tables as Markdown; tables without data are left out.

    texts: also the texts of the items that most raters chose this option of, A or B.
    """
    preferences = [result for result in analysis.questions if result.question.kind == PREFERENCE]
    scales = [result for result in analysis.questions if result.shares]
    choices = [r for r in analysis.questions if r.question.kind != PREFERENCE and not r.shares]
    parts = ["# Human votes"]
    if preferences:
        rows = [_line(result, "win_rate", *_names(result)) for result in preferences]
        parts.append(table(("question", "A", "B", "% A wins", *_HEAD), rows))
    if choices:
        rows = [_line(result, "accuracy", result.question.kind) for result in choices]
        parts.append(table(("question", "task", "% right", *_HEAD), rows))
    if scales:
        rows = [row for result in scales for row in _shares(result)]
        parts.append(table(("question", "task", "label", "% of votes", "items by majority", "of items"), rows))
    parts += [HOW, "## Agreement", _agreement(analysis.questions)]
    if unanimous := _unanimous(analysis.questions):
        parts += ["## Items by majority, and unanimous ones", table(_UNANIMOUS, unanimous)]
    parts += ["## Raters", _raters(analysis.raters)]
    if texts:
        parts += [text for result in preferences for text in _texts(result, texts)]
    if analysis.systems:
        parts += ["## Systems", _systems(analysis.systems)]
    if analysis.judges:
        parts += ["## Judges against human votes", _judges(analysis.judges)]
    if analysis.notes:
        parts += ["## Notes", "\n".join(f"- {safe(note)}" for note in analysis.notes)]
    return "\n\n".join(parts) + "\n"


_HEAD = ("ratings", "AC1 x100", "items", "ties", "% by single votes")


def _line(result: Agreed, metric: str, *names: str) -> tuple[object, ...]:
    """A row with the columns of Table 3 of Hessel et al. (2023), then the additional columns."""
    by = result.estimates
    first = (result.question.name, *names, percent(by[metric]), len(result.question.votes), percent(by["gwet_ac1"]))
    return (*first, len(result.majority), result.ties, percent(by[f"{metric}_of_votes"]))


def _shares(result: Agreed) -> list[tuple[object, ...]]:
    """One row per label of a scale."""
    by_majority, q = result.sides(result.majority), result.question
    return [
        (q.name, q.kind, label, percent(share), len(by_majority[label]), len(result.majority))
        for label, share in result.shares.items()
    ]


def _texts(result: Agreed, side: str) -> list[str]:
    """A section with the texts of the items whose majority chose a side, those with the most such votes first.

    So Hessel et al. (2023) show in figures 14 and 15 the explanations by models that people preferred to people's.
    """
    q, held = result.question, result.sides(result.majority)[side]
    votes = {i: [vote.choice for vote in q.votes if vote.item == i] for i in held}
    a, b = _names(result)
    parts = [f"## {safe(q.name)}: items of which most raters chose {safe(a if side == 'A' else b)}"]
    for i in sorted((i for i in held if i in q.items), key=lambda i: -votes[i].count(side)):
        item = q.items[i]
        said = zip(("scene", "caption", a, b), (item.description, item.caption, *item.options), strict=True)
        lines = [f"- {safe(name)}: {safe(text)}" for name, text in said if text]
        parts += [f"### {safe(i)} ({votes[i].count(side)} of {len(votes[i])} votes)", "\n".join(lines)]
    return parts


def _agreement(questions: Sequence[Agreed]) -> str:
    """One row per metric, one column per question."""
    rows = []
    for name in METRICS:
        cells = [interval(result.estimates.get(name)) for result in questions]
        if set(cells) != {"-"}:
            rows.append((_words(name), *cells))
    return table(("", *(result.question.name for result in questions)), rows)


_UNANIMOUS = ("choice", "question", "by majority", "unanimous", "of items", "the unanimous items")


def _unanimous(questions: Sequence[Agreed]) -> list[tuple[object, ...]]:
    """One row per question and side: the items that its majority chose, and those that all of its raters chose."""
    rows: list[tuple[object, ...]] = []
    for result in questions:
        by_majority = result.sides(result.majority)
        for side, items in result.sides(result.unanimous).items():
            counts = len(by_majority[side]), len(items), len(result.majority)
            rows.append((side, result.question.name, *counts, ", ".join(items) or "-"))
    return rows


def _words(name: str) -> str:
    return name.replace("_", " ")


def _raters(people: Sequence[Rater]) -> str:
    rows = []
    for one in people:
        seconds = "-" if math.isnan(one.seconds) else f"{one.seconds:.1f}"
        shares = (percent(one.share_a), percent(one.first_shown), percent(one.accuracy))
        labels = [f"{label} {percent(e)}" for of_question in one.shares.values() for label, e in of_question.items()]
        rows.append((one.name, one.votes, *shares, seconds, ", ".join(labels)))
    head = ("rater", "votes", "% A", "% first shown", "% right", "median seconds", "% of labels")
    shown = len(head) if any(row[-1] for row in rows) else -1
    return table(head[:shown], [row[:shown] for row in rows])


def _systems(strengths: Mapping[str, Strength]) -> str:
    rows = [
        (name, interval(one.estimate), interval(one.elo, 0), f"{one.best} to {one.worst}", one.estimate.n)
        for name, one in strengths.items()
    ]
    return table(("system", "log odds (Bradley-Terry)", "in Elo points", "rank", "items"), rows)


def _judges(judges: Sequence[Comparison]) -> str:
    """One row per metric, one column per judge and question."""
    rows: list[tuple[object, ...]] = [
        ("question", *(comparison.question for comparison in judges)),
        ("A", *(comparison.systems[0] for comparison in judges)),
        ("B", *(comparison.systems[1] for comparison in judges)),
        ("of its family", *(comparison.own or "-" for comparison in judges)),
        ("pairs", *(comparison.pairs for comparison in judges)),
    ]
    for name in dict.fromkeys(name for comparison in judges for name in comparison.estimates):
        cells: list[Estimate | None] = [comparison.estimates.get(name) for comparison in judges]
        rows.append((_words(name), *(interval(cell) for cell in cells)))
    meant = [
        f"- {_words(name)}: {meaning}." for name, meaning in LEGEND.items() if any(name in j.estimates for j in judges)
    ]
    return "\n\n".join(
        [table(("", *(comparison.judge for comparison in judges)), rows), "\n".join([_ABOUT_JUDGES, *meant])]
    )
