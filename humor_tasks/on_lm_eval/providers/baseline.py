"""`--model humor-baseline --model_args strategy=overlap`: the shortcut baselines in lm-eval."""

from __future__ import annotations

from typing import Any

from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM


class BaselineLM(ChooserLM):
    """`strategy` is random, first, longest or overlap; `baseline_seed` seeds random."""

    def __init__(self, strategy: str = "overlap", baseline_seed: int = 0, **harness: Any) -> None:
        super().__init__(Baseline(strategy, baseline_seed), harness, ("strategy", "baseline_seed"))
