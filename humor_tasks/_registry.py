"""Everything Inspect's entry point registers. Imported by every Inspect command: keep it light.

No torch, datasets, pandas or lm_eval may load here; model providers import theirs when used.
"""

from inspect_ai.model import ModelAPI, modelapi

from humor_tasks.on_inspect.scorers import benchmark_metrics, multiple_choice, reference_overlap
from humor_tasks.on_inspect.tasks import explanation, matching, ranking

__all__ = [
    "baseline",
    "benchmark_metrics",
    "embedding",
    "explanation",
    "matching",
    "multiple_choice",
    "ranking",
    "reference_overlap",
]


@modelapi(name="baseline")
def baseline() -> type[ModelAPI]:
    """`--model baseline/random|first|longest|overlap`."""
    from humor_tasks.on_inspect.baseline import BaselineAPI

    return BaselineAPI


@modelapi(name="embedding")
def embedding() -> type[ModelAPI]:
    """`--model embedding/<sentence-transformers model or folder>`."""
    from humor_tasks.on_inspect.embedding import EmbeddingAPI

    return EmbeddingAPI
