"""Matching: which of five captions was entered for this cartoon?

Hessel et al., ACL 2023, arXiv 2209.06293, section 2.
"""

from __future__ import annotations

from humor_tasks.benchmarks.caption_contest import corpus, rows
from humor_tasks.benchmarks.caption_contest.corpus import OF_LETTERS, in_lm_eval
from humor_tasks.contract import card
from humor_tasks.contract.card import ByShots, Level, guessed
from humor_tasks.contract.choice import outcome, rotate
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.metric import ACCURACY, FALLBACK, REPLY_RATES
from humor_tasks.papers.considerations import considerations

MATCHING = Benchmark(
    name="matching",
    card=corpus.card(
        title="New Yorker Caption Contest: matching",
        considerations=considerations("newyorker_caption_contest", "matching"),
        section="section 2",
        source=corpus.source("config `matching` (fold 0) and `matching_1` to `matching_4`."),
        question="Matching: which of five captions was entered for this cartoon?",
        claim="A model that understands the joke can tell the cartoon's own caption from four captions of other "
        "cartoons.",
        prompt="The turns of the released chat protocol, reworded.",
        metrics="Accuracy, clustered by contest.",
        splits={"train": None, "validation": 531, "test": None},
        chance=guessed(0.2, "one of five captions is right", "accuracy"),
        human=(Level(0.94, "accuracy", "Human estimate, pixels", "Hessel et al. 2023, Table 2, row Human estimate"),),
        wordings="Of the 531 validation rows of fold 0 in five orders, `baseline/overlap` answers .75 with A, because "
        "ties go to the first choice: its accuracy is .83 where A is right and .13 elsewhere (`order_effect` "
        ".69 [.63, .76], `right_in_all` .13). MiniLM (`embedding/`) has .444 at every letter. Neither reads "
        "the prompt, so that `spread` is 0 [0, .03].",
        differences=(
            *OF_LETTERS,
            "Section 3.3 names no predictors of a contest's difficulty; those of `humor-tasks analyse --predictors` "
            "are this package's.",
        ),
        related=("ranking", "explanation"),
    ),
    corpus="newyorker",
    version="2-A",
    answer=corpus.letters("ABCDE"),
    metrics=(ACCURACY, *REPLY_RATES, FALLBACK),
    options=corpus.NyccOptions,
    templates=corpus.templates("matching", "choices", "ABCDE"),
    load=rows.load,
    prompt=corpus.prompt,
    outcome=outcome,
    summary=corpus.summary,
    part=corpus.part,
    uses=card.Uses(
        trains=frozenset({"clip", "ofa", "text"}), votes=card.MATCHING, chain=card.Chain("matching", scene="cartoon")
    ),
    display=card.Display(
        charts=(
            ByShots(
                "matching_by_shots",
                "Matching: accuracy by system and shots",
                "Hessel et al. 2023, figure 12",
                y="accuracy",
            ),
        )
    ),
    rotate=rotate,
    lm_eval=in_lm_eval("nyc_matching", "multiple_choice"),
    suites={"text": {}, "pictures": {"setting": "pixels"}},
    ability="belonging",
)
