"""MOCK, matching: which of four captions or last utterances belongs to what is shown?"""

from __future__ import annotations

from humor_tasks.benchmarks.mock import chain_of_task, corpus, loading
from humor_tasks.contract import card
from humor_tasks.contract.answers import BLANK_LINE, Choice
from humor_tasks.contract.card import guessed
from humor_tasks.contract.choice import outcome, rotate
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.metric import ACCURACY, REPLY_RATES
from humor_tasks.papers.considerations import considerations

MOCK_MATCHING = Benchmark(
    name="mock_matching",
    card=corpus.card(
        title="MOCK: which caption or utterance belongs here?",
        considerations=considerations("mock", "mock_matching"),
        source=corpus.source("the configs `cartoon_matching`, `post_matching` and `comedy_matching` of a MOCK folder."),
        question="MOCK, matching: which of four captions or last utterances belongs to what is shown?",
        claim="A model that understands the joke can tell its punchline from others.",
        prompt="The item without its caption or last utterance, and the four options in full. Published distractors: "
        "two written by models and one from an unrelated item; in 15 % of the items weaker ones written by people.",
        metrics="Accuracy, clustered by medium.",
        splits=corpus.sizes("matching"),
        chance=guessed(0.25, "one of four options is right", "accuracy"),
        human=corpus.people("matching", 0.931, 0.923, 0.919),
        differences=(
            *loading.DIFFERENCES,
            "Distractors are lines of other items until `build options` writes those of the paper: two by a model, for "
            "comedy asked to be non-sarcastic, and one of an unrelated item.",
            "A judge that you name, not ChatGPT, rejects lines that mean the same, and the unrelated line is of the "
            "same source and script.",
        ),
        related=("mock_detecting", "mock_explaining", "matching"),
    ),
    corpus="mock",
    version="2-A",
    answer=Choice("ABCD", stop=BLANK_LINE),
    metrics=(ACCURACY, *REPLY_RATES),
    options=corpus.MockOptions,
    templates=corpus.templates("matching"),
    load=loading.load,
    prompt=chain_of_task.prompt,
    outcome=outcome,
    part=corpus.part,
    signatures=corpus.worked,
    uses=corpus.uses("matching", card.LINE),
    rotate=rotate,
    lm_eval=corpus.in_lm_eval("mock_matching", "multiple_choice"),
    suites={"pictures": {"input": "frames"}},
    ability="belonging",
)
