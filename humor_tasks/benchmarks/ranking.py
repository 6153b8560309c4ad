"""Ranking: which of two captions for one cartoon was rated the funnier?

Claim: judging the quality of captions needs a sense of what people find funny (Hessel et al., ACL
2023, arXiv 2209.06293, section 2). The better caption was chosen by the magazine's editors
(`official_winner`, NYAcc) or by readers (`crowd_winner`, CrowdAcc). Humans: 64.6 and 83.7 %.
Source: jmhessel/newyorker_caption_contest, config `ranking` (fold 0) and `ranking_1`.. `_4`.
Prompt: as for matching. Metrics: accuracy over all rows, NYAcc and CrowdAcc each over its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from humor_tasks.benchmark import Benchmark, Record
from humor_tasks.benchmarks import _nycc
from humor_tasks.benchmarks._choice import answer_turn, outcome

_ACCURACY = {"official_winner": "ny_accuracy", "crowd_winner": "crowd_accuracy"}


def accuracies(record: Record) -> Sequence[str]:
    """All rows count towards `accuracy`, each also towards that of its winner's source."""
    source = record.groups.get("winner_source")
    return ("accuracy", _ACCURACY[source]) if source in _ACCURACY else ("accuracy",)


RANKING = Benchmark(
    name="ranking",
    title="New Yorker Caption Contest: quality ranking",
    paper=_nycc.PAPER,
    version="1-A",
    card=_nycc.CARD,
    letters="AB",
    metric_names=("accuracy", "ny_accuracy", "crowd_accuracy", "unparsed", "refused"),
    options=_nycc.NyccOptions,
    templates=partial(_nycc.templates, "ranking"),
    load=partial(_nycc.load, extra=("winner_source",)),
    prompt=partial(_nycc.prompt, answer=answer_turn),
    outcome=partial(outcome, accuracies=accuracies),
    estimate=_nycc.estimate,
    part=_nycc.part,
)
