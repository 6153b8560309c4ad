"""Scorers on logs of other benchmarks: refused in a sentence, because every reply would count as unreadable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from inspect_ai import Task, eval, score
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from standins import commands
from standins.judging import judging, longer, says

from humor_tasks import on_inspect
from humor_tasks.on_inspect.tasks.building import build

SCORED_BY = {
    "matching": ("multiple_choice",),
    "mock_detecting": ("multiple_choice",),
    "explanation": ("reference_overlap", "reference_preference", "preference"),
    "humicroedit_rating": ("rating_error",),
    "humorbench_autograder": ("judge_agreement",),
    "brainstorm": ("brainstormed",),
    "humor_writing": ("texts_written",),
    "recitation": ("recited",),
    "mock_generation": ("story_ratings",),
    "humorbench": ("element_coverage",),
}
SCORERS = sorted({name for names in SCORED_BY.values() for name in names})


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EvalLog]:
    """A log of each benchmark, with one reply that is not scored yet."""
    folder = str(tmp_path_factory.mktemp("logs"))
    tasks = [build(name, {"dataset": "sample"}) for name in SCORED_BY]
    roles = {"grader": judging("j", longer).model}
    found = eval(
        tasks, model=says("m", "A").model, model_roles=roles, limit=1, score=False, log_dir=folder, display="log"
    )
    return dict(zip(SCORED_BY, found, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORERS)
def test_a_scorer_scores_its_own_benchmarks_logs_and_refuses_others(name: str, logs: dict[str, EvalLog]) -> None:
    judge = judging("j", longer)
    for benchmark, log in logs.items():
        scorer = getattr(on_inspect, name)()
        if name in SCORED_BY[benchmark]:
            assert score(log, scorer, model_roles={"grader": judge.model}, display="log").status == "success"
        else:
            with pytest.raises(
                PrerequisiteError, match=f"is of {benchmark}, whose replies {name} does not score; use"
            ) as told:
                score(log, scorer, model_roles={"grader": judge.model}, display="log")
            assert set(re.findall(r"humor_tasks/(\w+)", str(told.value))) == set(SCORED_BY[benchmark])


def test_a_log_of_somebody_elses_task_is_scored_as_before() -> None:
    task = Task(dataset=[Sample(input="Why?", target="A", choices=["x", "y"])])
    (log,) = eval(task, model=says("m", "Answer: A").model, display="log")
    again = score(log, on_inspect.multiple_choice(), display="log")
    assert again.results
    assert again.results.scores[0].metrics["accuracy"].value == 1


@pytest.mark.slow
def test_inspect_score_refuses_and_leaves_the_log_alone(logs: dict[str, EvalLog], tmp_path: Path) -> None:
    before = Path(logs["matching"].location).read_bytes()
    command = ("score", logs["matching"].location, "--scorer", "humor_tasks/reference_overlap", "--overwrite")
    with pytest.raises((PrerequisiteError, AssertionError), match="whose replies reference_overlap does not score"):
        commands.inspect(*command, "--action", "append", cwd=tmp_path)
    assert Path(logs["matching"].location).read_bytes() == before
