"""`--model baseline/overlap`: the shortcut baselines as an Inspect provider."""

from __future__ import annotations

from humor_tasks.models.choosers import grouped
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question
from humor_tasks.on_inspect.providers.chooser import ChooserAPI


class BaselineAPI(ChooserAPI):
    """`-M seed=N` seeds the random strategy."""

    trained = False

    def make(self, model_name: str, seed: int = 0) -> Baseline:
        """The baseline with the strategy `model_name`."""
        return Baseline(model_name, seed)

    def batch_size(self) -> int:
        """See LocalAPI; only Inspect's own work is concurrent."""
        return 32

    async def score(self, asked: Question) -> list[float]:
        """Scores of one question, without batching, because a thread would take longer than the computation."""
        return grouped.scores(self.chooser, [asked])[0]
