"""Judging by points: which reference points an answer contains, and the metrics for it.

A benchmark whose records have `points` uses `judging=by_points()`, and the metrics COVERAGE and UNDECIDED.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.missing import Verdicts
from humor_tasks.contract.judging.questions import ByRubric, Judging, Panel, Question, Reply
from humor_tasks.contract.judging.rubrics import POINT, Rubric
from humor_tasks.contract.metric import OF_JUDGES, Direction, Metric
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_share
from humor_tasks.scorers.verdict import covered, majority


def by_points(family: str = "coverage") -> Judging[Run]:
    """Judges say of each point whether the answer contains it.

    family: the templates of the judges' question: a family of this package, or the absolute path of a folder. The
    default suits any explanation. The templates may show `context`, `answer`, `point` and the fields of the record.
    """
    return Judging(
        scorer="element_coverage",
        questions=questions,
        outcome=judged,
        value=lambda o: o.values.get("coverage"),
        panel=majority,
        verdicts=POINTS,
        missing_reason=lambda o: "undecided" if o.values.get("undecided") == 1 else "grader_failed",
        rubrics=((family, POINT),),
        shows_media=False,
    )


def questions(run: Run, reply: Reply, rubrics: Sequence[Rubric]) -> list[Question]:
    """One question per point. No judge is asked about a reply without an answer."""
    if not reply.record.points:
        raise BadInput("the target has no reference point to look for.")
    answer = reply.outcome.answer
    material = {"context": reply.record.context or reply.input, "answer": answer or "", **reply.record.fields}
    return [
        Question(
            {"id": point.id, "point": point.text},
            None if answer is None else ByRubric(rubrics[0], {**material, "point": point.text}),
            point.text,
        )
        for point in reply.record.points
    ]


def judged(run: Run, o: Outcome, panels: Sequence[Panel]) -> Outcome:
    """See `graded`."""
    votes = [panel.words for panel in panels]
    verdicts = [majority(votes_on_point) for votes_on_point in votes]
    return graded(
        run,
        o,
        verdicts,
        [v is None and None not in votes_on_point for v, votes_on_point in zip(verdicts, votes, strict=True)],
    )


def over_points(run: Run, o: Outcome, panels: Sequence[Panel]) -> Outcome:
    """A judged outcome over some of its points alone; panels: those of these points."""
    return judged(run, replace(o, values={n: v for n, v in o.values.items() if n not in JUDGED}), panels)


def graded(run: Run, o: Outcome, verdicts: Sequence[bool | None], tied: Sequence[bool] = ()) -> Outcome:
    """The outcome with the graders' verdicts.

    verdicts: one per point, None where there is none.
    tied: one per point, whether all judges voted but had no majority.

    A reply without an explanation covers no point, or is left out with `on_unparsed=exclude`. No grader is needed then.
    A point without a verdict is excluded from the denominator.
    """
    values = dict(o.values)
    if o.answer is None:
        if run.options.on_unparsed == "exclude":
            return o
        verdicts = [False] * len(verdicts)
    share, everything = covered(verdicts)
    missing = sum(verdict is None for verdict in verdicts)
    if o.answer is not None:
        asked = len(verdicts)
        values |= {"grader_failed": (missing - sum(tied)) / asked, "undecided": sum(tied) / asked}
        values["asked_points"] = float(asked)
    if share is not None:
        values |= {"coverage": share, "graded_points": float(len(verdicts) - missing)}
    if everything is not None:
        values["all_covered"] = everything
    return replace(o, values=values)


JUDGED = ("coverage", "all_covered", "graded_points", "grader_failed", "undecided", "asked_points")
"""The values of an outcome that come from verdicts."""


# ---- metrics --------------------------------------------------------------------------------------


def _point_share(name: str, direction: Direction, of: str, about: str, no_level: str = "") -> Metric:
    """A share of points: a ratio of sums, clustered; `of` names the outcome's value with their number."""

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        points = [o.values[of] for o in outcomes]
        counts = [o.values[name] * n for o, n in zip(outcomes, points, strict=True)]
        return clustered_share(counts, points, [o.cluster for o in outcomes])

    return Metric(name, direction, estimate, proportion=True, about=about, no_level=no_level)


COVERAGE = (
    _point_share("coverage", "higher", "graded_points", "Share of the graded elements that the explanation contains."),
    Metric("all_covered", proportion=True, about="Share of explanations that contain all of their elements."),
)
UNDECIDED = (
    _point_share(
        "grader_failed",
        "lower",
        "asked_points",
        "Share of elements with an unreadable verdict or a failed grader.",
        OF_JUDGES,
    ),
    _point_share(
        "undecided", "lower", "asked_points", "Share of elements on which a panel has no majority.", OF_JUDGES
    ),
)


# ---- missing verdicts -----------------------------------------------------------------------------


def _missing(o: Outcome) -> float:
    without = o.values.get("grader_failed", 0.0) + o.values.get("undecided", 0.0)
    return without * o.values["asked_points"]


def _filled(o: Outcome, passed: bool) -> Outcome:
    asked = o.values.get("asked_points")
    if asked is None:
        return o
    covered_points = o.values.get("coverage", 0.0) * o.values.get("graded_points", 0.0)
    return replace(
        o, values={**o.values, "coverage": (covered_points + passed * _missing(o)) / asked, "graded_points": asked}
    )


POINTS = Verdicts(lambda o: o.values.get("asked_points", 0.0), _missing, _filled, ("coverage",))
"""The verdicts on the points of an explanation, for every benchmark with points."""
