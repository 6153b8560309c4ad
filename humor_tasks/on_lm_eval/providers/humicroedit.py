"""`--model humor-humicroedit --model_args run=<folder>`: a trained Humicroedit rating model in lm-eval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.models.humicroedit import load
from humor_tasks.models.humicroedit.texts import answer, edits_in
from humor_tasks.on_lm_eval.harness import Instance
from humor_tasks.on_lm_eval.providers.local import LocalLM, check_arguments


class HumicroeditLM(LocalLM):
    """Rates the headlines of each document; `_log_probability` defines the log-likelihood of a label."""

    def __init__(self, run: str, **harness: Any) -> None:
        super().__init__()
        check_arguments("humor-humicroedit", harness, ("run",))
        self.rater, self.weights = load(Path(run)), run

    def _ratings(self, requests: Sequence[Instance]) -> list[list[float]]:
        self.check_unseen(requests)
        edits = [edits_in((request.doc or {}).get("fields", {})) for request in requests]
        if not all(edits):
            raise BadInput("humor-humicroedit can only answer the Humicroedit tasks.")
        return self.rater.rate_groups(edits)

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """See LM.loglikelihood."""
        rated = zip(requests, self._ratings(requests), strict=True)
        likelihoods = [_log_probability(str(request.args[1]).strip(), ratings) for request, ratings in rated]
        return [(likelihood, likelihood > math.log(0.5)) for likelihood in likelihoods]

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """ "Rating: x" for one headline, "Answer: A" or "Answer: B" for two."""
        return [answer(ratings) for ratings in self._ratings(requests)]

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Not supported."""
        raise NotImplementedError("humor-humicroedit has no log-likelihoods of texts.")


def _log_probability(label: str, ratings: Sequence[float]) -> float:
    """The log-probability of a label.

    For one headline, the two digits next to the rating share the probability so that the expected value is the rating.
    For two headlines, the probability of a letter is the logistic function of the difference in ratings.
    """
    if len(ratings) == 1:
        rating = min(max(ratings[0], 0.0), 3.0)
        share = max(0.0, 1 - abs(rating - float(label)))
        return math.log(share) if share else -math.inf
    lead = (ratings[0] - ratings[1]) * (1 if label == "A" else -1)
    return -math.log1p(math.exp(-lead))
