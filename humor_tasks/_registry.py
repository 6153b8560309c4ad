"""Everything Inspect's entry point registers. Imported by every Inspect command: keep it light.

No torch, datasets, pandas or lm_eval may load here; model providers import theirs when used.
"""

from inspect_ai.model import ModelAPI, modelapi

from humor_tasks.on_inspect.judging.coverage import element_coverage, explanation_form
from humor_tasks.on_inspect.judging.graders import require_grader
from humor_tasks.on_inspect.judging.preference import (
    explanation_preference,
    left_to_judges,
    preference,
    preference_metrics,
    reference_preference,
)
from humor_tasks.on_inspect.judging.stories import mock_generation, story_ratings
from humor_tasks.on_inspect.outcomes import benchmark_metrics
from humor_tasks.on_inspect.scorers import judge_agreement, multiple_choice, reference_overlap
from humor_tasks.on_inspect.solvers.chain_of_task import chain_of_task
from humor_tasks.on_inspect.solvers.describe_first import describe_first
from humor_tasks.on_inspect.tasks.brainstorm import brainstorm, brainstormed
from humor_tasks.on_inspect.tasks.caption_contest import explanation, matching, ranking
from humor_tasks.on_inspect.tasks.humicroedit import (
    expected_answer,
    humicroedit_pairwise,
    humicroedit_rating,
    rating_error,
)
from humor_tasks.on_inspect.tasks.humorbench import humorbench, humorbench_autograder
from humor_tasks.on_inspect.tasks.mock import mock_detecting, mock_explaining, mock_matching

__all__ = [
    "baseline",
    "benchmark_metrics",
    "brainstorm",
    "brainstormed",
    "chain_of_task",
    "clip",
    "describe_first",
    "element_coverage",
    "embedding",
    "expected_answer",
    "explanation",
    "explanation_form",
    "explanation_preference",
    "humicroedit",
    "humicroedit_pairwise",
    "humicroedit_rating",
    "humorbench",
    "humorbench_autograder",
    "judge_agreement",
    "left_to_judges",
    "matching",
    "mock_detecting",
    "mock_explaining",
    "mock_generation",
    "mock_matching",
    "multiple_choice",
    "ofa",
    "preference",
    "preference_metrics",
    "ranking",
    "rating_error",
    "reference_overlap",
    "reference_preference",
    "require_grader",
    "story_ratings",
]


@modelapi(name="baseline")
def baseline() -> type[ModelAPI]:
    """`--model baseline/random|first|longest|overlap`."""
    from humor_tasks.on_inspect.providers.baseline import BaselineAPI

    return BaselineAPI


@modelapi(name="clip")
def clip() -> type[ModelAPI]:
    """`--model clip/<open_clip architecture>/<tag>` or `clip/<folder>`."""
    from humor_tasks.on_inspect.providers.clip import ClipAPI

    return ClipAPI


@modelapi(name="humicroedit")
def humicroedit() -> type[ModelAPI]:
    """`--model humicroedit/<run folder of humor-tasks train humicroedit>`."""
    from humor_tasks.on_inspect.providers.humicroedit import HumicroeditAPI

    return HumicroeditAPI


@modelapi(name="ofa")
def ofa() -> type[ModelAPI]:
    """`--model ofa/<checkpoint folder>` or `ofa/<owner>/<name on the hub>`."""
    from humor_tasks.on_inspect.providers.ofa import OfaAPI

    return OfaAPI


@modelapi(name="embedding")
def embedding() -> type[ModelAPI]:
    """`--model embedding/<sentence-transformers model or folder>`."""
    from humor_tasks.on_inspect.providers.embedding import EmbeddingAPI

    return EmbeddingAPI
