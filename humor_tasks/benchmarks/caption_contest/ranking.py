"""Ranking: which of two captions for one cartoon was rated funnier?

Hessel et al., ACL 2023, arXiv 2209.06293, section 2. The better caption was chosen by the magazine's editors
(`official_winner`, NYAcc) or by readers (`crowd_winner`, CrowdAcc).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from humor_tasks.benchmarks.caption_contest import corpus, rows
from humor_tasks.benchmarks.caption_contest.corpus import OF_LETTERS, in_lm_eval
from humor_tasks.contract import card
from humor_tasks.contract.card import Level, TwoMetrics, guessed
from humor_tasks.contract.choice import outcome, rotate
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.metric import ACCURACY, FALLBACK, REPLY_RATES, share
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows.records import Record

BY_SOURCE = {"official_winner": "ny_accuracy", "crowd_winner": "crowd_accuracy"}
"""The winner's source -> the metric over its rows."""


def accuracies(record: Record) -> Sequence[str]:
    """The metrics of a row: `accuracy`, and the accuracy of the winner's source."""
    source = record.groups.get("winner_source")
    return ("accuracy", BY_SOURCE[source]) if source in BY_SOURCE else ("accuracy",)


PEOPLE_CHART = TwoMetrics(
    "ranking_people",
    "Ranking: the crowd's choices against the editors'",
    "Hessel et al. 2023, figure 13",
    x=("ny_accuracy", "accuracy over the editors' choices (NYAcc)"),
    y=("crowd_accuracy", "accuracy over the crowd's choices (CrowdAcc)"),
)

RANKING = Benchmark(
    name="ranking",
    card=corpus.card(
        title="New Yorker Caption Contest: quality ranking",
        considerations=considerations("newyorker_caption_contest", "ranking"),
        section="section 2",
        source=corpus.source("config `ranking` (fold 0) and `ranking_1` to `ranking_4`."),
        question="Ranking: which of two captions for one cartoon was rated funnier?",
        claim="Judging the quality of captions needs a sense of what people find funny.",
        prompt="As for `matching`.",
        metrics="Accuracy over all rows; NYAcc and CrowdAcc over the rows of each source. The better caption was "
        "chosen by the magazine's editors (`official_winner`, NYAcc) or by readers (`crowd_winner`, CrowdAcc).",
        splits={"train": 9_576, "validation": 507, "test": 513},
        chance=guessed(0.5, "one of two captions is right", "accuracy", *BY_SOURCE.values()),
        human=(
            Level(0.837, "crowd_accuracy", "Human estimate, pixels", "Hessel et al. 2023, Table 2, row Human estimate"),
            Level(0.646, "ny_accuracy", "Human estimate, pixels", "Hessel et al. 2023, Table 2, row Human estimate"),
        ),
        wordings="On the 507 validation rows of fold 0 in both orders, `baseline/overlap` has .51 and an "
        "`order_effect` of .76 [.70, .81], because ties go to A; MiniLM has .564 at either letter, and a "
        "quality model of 12 contests .544. A T5 of "
        "0.5 million parameters, trained here on captions alone, has .511 as asked, because it always answers "
        "A: in both orders it has .500 and `right_in_all` 0. No prompt set changes an answer of these models: "
        "`spread` 0 [0, .03].",
        differences=OF_LETTERS,
        related=("matching", "crowd_pairs"),
    ),
    corpus="newyorker",
    version="2-A",
    answer=corpus.letters("AB"),
    metrics=(
        ACCURACY,
        share(
            "ny_accuracy", "Accuracy over the pairs whose better caption was chosen by the editors (NYAcc).", "ny_acc"
        ),
        share(
            "crowd_accuracy",
            "Accuracy over the pairs whose better caption was chosen by readers (CrowdAcc).",
            "crowd_acc",
        ),
        *REPLY_RATES,
        FALLBACK,
    ),
    options=corpus.NyccOptions,
    templates=corpus.templates("ranking", "choices", "AB"),
    load=partial(rows.load, extra=("winner_source",)),
    prompt=corpus.prompt,
    outcome=partial(outcome, accuracies=accuracies),
    summary=corpus.summary,
    part=corpus.part,
    uses=card.Uses(trains=frozenset({"clip", "ofa", "text", "preferences"}), votes=card.RANKING),
    display=card.Display(charts=(PEOPLE_CHART,)),
    rotate=rotate,
    lm_eval=in_lm_eval("nyc_ranking", "multiple_choice"),
    suites={"text": {}, "pictures": {"setting": "pixels"}},
    ability="funnier",
)
