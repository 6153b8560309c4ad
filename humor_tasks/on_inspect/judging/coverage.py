"""Element coverage: which reference points an answer contains, as judged by grader models."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from humor_tasks.benchmarks.contract import Run
from humor_tasks.benchmarks.humorbench.coverage import graded, panel_verdicts
from humor_tasks.data.records import Outcome, Point
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.judging.graders import Graded, ask, prepared, resolve, rubric_of
from humor_tasks.on_inspect.outcomes import read_reply, run_scored_by, score_of
from humor_tasks.scorers.thinking import without_thinking

GRADED = ("coverage", "all_covered", "graded_points", "grader_failed", "undecided", "asked_points")
"""The values that graders' verdicts give; `explanation_form` reports the others."""


def coverage_scorer(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """See `humor_tasks.on_inspect.parts.element_coverage`."""
    how = prepared(structured, temperature, seed, cache, retries)

    async def score(state: TaskState, target: Target) -> Score:
        run = run_scored_by("element_coverage", state)
        points = _points(state, target)
        outcome = _answer(run, state, target)
        family = run.benchmark.rubric if _is_ours(state) else "coverage"
        rubric = rubric_of(family, prompts or run.options.prompts)
        judges = resolve(grader)
        signature = f"graders:{','.join(str(judge) for judge in judges)}|{how.shown()}|prompts:{rubric.hash}"
        if outcome.answer is None:  # no answer, so no grader is called
            none = [None if run.options.on_unparsed == "exclude" else False] * len(points)
            return _score(graded(run, outcome, none), points, [()] * len(points), none, signature)
        material = {"context": _context(state), "answer": outcome.answer}
        material |= state.metadata["fields"] if _is_ours(state) else {}
        asked = [ask(judge, rubric, material | {"point": p.text}, how) for p in points for judge in judges]
        replies = await collect(*asked)
        panels = [replies[i : i + len(judges)] for i in range(0, len(replies), len(judges))]
        verdicts, tied = panel_verdicts([[reply.word for reply in panel] for panel in panels])
        return _score(graded(run, outcome, verdicts, tied), points, panels, verdicts, signature)

    return score


def form_scorer() -> Scorer:
    """See `humor_tasks.on_inspect.parts.explanation_form`."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_scored_by("explanation_form", state), state, target)
        return score_of(outcome, outcome.values.get("words", 0.0))

    return score


def _points(state: TaskState, target: Target) -> list[Point]:
    if _is_ours(state):
        return [Point(point["id"], point["text"]) for point in state.metadata["points"]]
    points = [Point(f"{state.sample_id}-{i}", text) for i, text in enumerate(target, 1) if text.strip()]
    if not points:
        cannot_run(f"sample {state.sample_id}: the target has no reference point to look for.")
    return points


def _answer(run: Run, state: TaskState, target: Target) -> Outcome:
    outcome = read_reply(run, state, target)
    if _is_ours(state):
        return outcome
    text = (without_thinking(state.output.completion) or "").strip()
    status = "answered" if text else "empty"
    return dataclasses.replace(outcome, answer=text or None, status=status, values={})


def _is_ours(state: TaskState) -> bool:
    """Whether the sample is of a benchmark with points; in other tasks, metadata of the same names can differ."""
    return "humor_tasks" in state.metadata and "points" in state.metadata


def _context(state: TaskState) -> str:
    return str(state.metadata.get("context") or state.input_text)


def _score(
    outcome: Outcome,
    points: Sequence[Point],
    panels: Sequence[Sequence[Graded]],
    verdicts: Sequence[bool | None],
    signature: str,
) -> Score:
    """The score with the verdict and reasons of every grader; N where no point has a verdict.

    It is unscored where no verdict is wanted, because replies without an explanation are left out.
    """
    found: list[dict[str, Any]] = []
    lines: list[str] = []
    for point, verdict, panel in zip(points, verdicts, panels, strict=True):
        verdicts_of_panel = [_as_dict(each) for each in panel]
        found.append({"id": point.id, "point": point.text, "passed": verdict, "verdicts": verdicts_of_panel})
        lines.append(f"{_word(verdict)}: {point.text}")
        lines += [f"- {each.grader}, {_word(each.word)}: {each.reasons}" for each in panel]
    values = {name: value for name, value in outcome.values.items() if name in GRADED}
    share: float | str = values.get("coverage", "N")
    score = score_of(
        dataclasses.replace(outcome, values=values), share, "\n".join(lines), points=found, signature=signature
    )
    if outcome.answer is None:
        return score if share != "N" else _left_out(score)
    if share == "N":
        score.reason = "undecided" if values["undecided"] == 1 else "grader_failed"
    return score


def _left_out(score: Score) -> Score:
    return Score.unscored(
        reason=score.reason, answer=score.answer, explanation=score.explanation, metadata=score.metadata
    )


def _as_dict(graded: Graded) -> dict[str, Any]:
    about = {name: value for name, value in dataclasses.asdict(graded).items() if value is not None and name != "word"}
    return {"passed": graded.word, **about}


def _word(passed: bool | None) -> str:
    return "no verdict" if passed is None else "PASS" if passed else "FAIL"
