"""Ranking: which of two captions for one cartoon was rated funnier?

Claim: judging the quality of captions needs a sense of what people find funny (Hessel et al., ACL
2023, arXiv 2209.06293, section 2). The better caption was chosen by the magazine's editors
(`official_winner`, NYAcc) or by readers (`crowd_winner`, CrowdAcc). Humans: 64.6 and 83.7 %.
Source: jmhessel/newyorker_caption_contest, config `ranking` (fold 0) and `ranking_1`.. `_4`.
Prompt: as for matching. Metrics: accuracy over all rows; NYAcc and CrowdAcc over the rows of each source.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from humor_tasks.benchmarks.caption_contest import corpus
from humor_tasks.benchmarks.caption_contest.variants import in_lm_eval
from humor_tasks.benchmarks.choice import outcome
from humor_tasks.benchmarks.contract import Benchmark
from humor_tasks.benchmarks.metric import ACCURACY, FALLBACK, REPLY_RATES, Metric
from humor_tasks.data.records import Record

_ACCURACY = {"official_winner": "ny_accuracy", "crowd_winner": "crowd_accuracy"}


def accuracies(record: Record) -> Sequence[str]:
    """The metrics of a row: `accuracy`, and the accuracy of the winner's source."""
    source = record.groups.get("winner_source")
    return ("accuracy", _ACCURACY[source]) if source in _ACCURACY else ("accuracy",)


RANKING = Benchmark(
    name="ranking",
    corpus="newyorker",
    title="New Yorker Caption Contest: quality ranking",
    paper=corpus.PAPER,
    sampling=corpus.SAMPLING,
    version="2-A",
    answer=corpus.letters("AB"),
    metrics=(
        ACCURACY,
        Metric(
            "ny_accuracy",
            lm_eval_name="ny_acc",
            proportion=True,
            about="Accuracy over the pairs whose better caption was chosen by the editors (NYAcc).",
        ),
        Metric(
            "crowd_accuracy",
            lm_eval_name="crowd_acc",
            proportion=True,
            about="Accuracy over the pairs whose better caption was chosen by readers (CrowdAcc).",
        ),
        *REPLY_RATES,
        FALLBACK,
    ),
    options=corpus.NyccOptions,
    templates=partial(corpus.templates, "ranking"),
    load=partial(corpus.load, extra=("winner_source",)),
    prompt=corpus.prompt,
    outcome=partial(outcome, accuracies=accuracies),
    summary=corpus.summary,
    part=corpus.part,
    lm_eval=in_lm_eval("nyc_ranking", "multiple_choice"),
    question="which of two captions is the funnier?",
    needs=corpus.NEEDS,
)
