"""How wide the interval of a run will be, before anything is asked: from simulated answers to its own rows."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from typing import Any

from humor_tasks.contract.answers import Answer
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.questions import Judging, Panel, Verdict
from humor_tasks.contract.judging.rubrics import Rubric
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.suites.typical import questions_about, typical_reply

DRAWS = 5
WITHIN = 0.1
"""Correlation of two items of one cluster: ability is drawn for each cluster from a Beta distribution around .5."""


def half_width(run: Run[Any], seed: int = 0) -> float | None:
    """Half of the width of the main metric's 95 % interval, the median of DRAWS simulations; None where it is unknown.

    A simulated system answers half of the items right, more in some clusters than in others: for a share this is the
    widest interval. Where answers are no labels, the items' values are the ends of the metric's scale instead. Unknown
    where the metric has no such scale.
    """
    stream, judging = random.Random(seed), run.benchmark.judging
    rubrics = judging.open() if judging else ()
    widths = [width for _ in range(DRAWS) if (width := _width(run, rubrics, stream)) is not None]
    return statistics.median(widths) if len(widths) == DRAWS else None


def _width(run: Run[Any], rubrics: Sequence[Rubric], stream: random.Random) -> float | None:
    shape = (1 / WITHIN - 1) / 2
    ability = {cluster: stream.betavariate(shape, shape) for cluster in sorted({r.cluster for r in run.records})}
    metric = run.benchmark.metrics[0]
    outcomes = []
    for record in run.records:
        outcome = _answered(run, record, stream.random() < ability[record.cluster], rubrics, stream)
        if outcome is None:
            return None
        outcomes.append(outcome)
    counted = metric.counted(outcomes)
    if not counted:
        return None
    estimate = run.summary(metric, counted)[metric.name]
    width = (estimate.high - estimate.low) / 2
    return width if math.isfinite(width) else None


def _answered(
    run: Run[Any], record: Record, right: bool, rubrics: Sequence[Rubric], stream: random.Random
) -> Outcome | None:
    """The outcome of a simulated answer; None where none can be simulated."""
    metric, labels, judging = run.benchmark.metrics[0], run.form.labels, run.benchmark.judging
    if labels and not run.form.needs_likelihoods and judging is None:
        others = [label for label in labels if label != record.target]
        value = record.target if right and record.target in labels else stream.choice(others)
        return run.scored(record, Answer(value))
    if metric.estimate is None and (metric.proportion or metric.scale):
        low, high = metric.scale or (0.0, 1.0)
        values = {metric.values: high if right else low}
        return Outcome(record.id, record.cluster, record.groups, "answered", None, record.target, values, record.facts)
    if judging is not None and rubrics:
        return _judged(run, record, right, judging, rubrics)
    if metric.proportion and record.target is not None:
        return run.scored(record, Answer(record.target if right else "-"))
    return None


def _judged(run: Run[Any], record: Record, right: bool, judging: Judging[Any], rubrics: Sequence[Rubric]) -> Outcome:
    """The outcome of a reply of which judges give the best verdict to every question, or the worst."""
    words = rubrics[0].judgement.words.values()
    verdict = Verdict("-", max(words) if right else min(words), "answered")
    panels = [Panel(question.about, (verdict,)) for question in questions_about(run, record, rubrics)]
    return judging.outcome(run, run.outcome(record, typical_reply(run, record)), panels)
