"""Scorers and solvers for any Inspect task: `from humor_tasks.on_inspect import element_coverage`.

On the command line they are `humor_tasks/element_coverage` and so on. The tasks are in `humor_tasks.tasks`. `build`
makes a Task of any benchmark, also of another package.
"""

from humor_tasks.on_inspect.parts import (
    against_people,
    benchmark_metrics,
    brainstormed,
    element_coverage,
    judge_agreement,
    multiple_choice,
    multiple_choice_released_chat,
    multiple_choice_released_leaderboard,
    multiple_choice_strict,
    preference,
    preference_metrics,
    rating_error,
    recited,
    reference_overlap,
    reference_preference,
    story_ratings,
    texts_written,
)
from humor_tasks.on_inspect.solver_parts import (
    chain_of_task,
    describe_first,
    expected_answer,
    left_to_judges,
    require_grader,
)
from humor_tasks.on_inspect.tasks.late import build as build

__all__ = [
    "against_people",
    "benchmark_metrics",
    "brainstormed",
    "chain_of_task",
    "describe_first",
    "element_coverage",
    "expected_answer",
    "judge_agreement",
    "left_to_judges",
    "multiple_choice",
    "multiple_choice_released_chat",
    "multiple_choice_released_leaderboard",
    "multiple_choice_strict",
    "preference",
    "preference_metrics",
    "rating_error",
    "recited",
    "reference_overlap",
    "reference_preference",
    "require_grader",
    "story_ratings",
    "texts_written",
]
