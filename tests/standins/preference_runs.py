"""Runs of pairwise preference over the sample's explanations, and reports of judges that answer by rule."""

from __future__ import annotations

from typing import Any

from standins.judging import verdict

from humor_tasks import evaluate, load
from humor_tasks.api import Report
from humor_tasks.contract.definition import Run

HUMAN = {record.id: record.target or "" for record in load("explanation", dataset="sample").records}
IDS = list(HUMAN)
OTHERS = dict(zip(IDS, [HUMAN[i] + " Ha!" for i in [*IDS[1:], IDS[0]]], strict=True))


def opened(system: str, **more: Any) -> Run:
    return load("explanation_preference", **{"dataset": "sample", "system": system} | more)


def scored(run: Run, judge: Any) -> Report:
    """What this judge of two texts finds."""
    return evaluate(run, {r.id: verdict(judge(r.fields["first"], r.fields["second"])) for r in run.records})


def value(report: Report, name: str) -> float:
    return report.metrics[name].value
