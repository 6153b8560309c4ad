"""MOCK, detecting: is the caption or the last utterance humorous or sarcastic?"""

from __future__ import annotations

from humor_tasks.benchmarks.mock import chain_of_task, corpus, loading
from humor_tasks.contract import card
from humor_tasks.contract.answers import BLANK_LINE, YesNo
from humor_tasks.contract.card import guessed
from humor_tasks.contract.choice import outcome
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.metric import ACCURACY, REPLY_RATES
from humor_tasks.papers.considerations import considerations

MOCK_DETECTING = Benchmark(
    name="mock_detecting",
    card=corpus.card(
        title="MOCK: is it humorous or sarcastic?",
        considerations=considerations("mock", "mock_detecting"),
        source=corpus.source(
            "the configs `cartoon_detecting`, `post_detecting` and `comedy_detecting` of a MOCK folder."
        ),
        question="MOCK, detecting: is the caption or the last utterance humorous or sarcastic?",
        claim="A model that understands a joke notices that there is one.",
        prompt="The picture, clip, frames or description with the caption or dialogue; the answer is yes or no.",
        metrics="Accuracy, clustered by medium; published figures are means of five replicates (`replicates=5`).",
        splits=corpus.sizes("detecting"),
        chance=guessed(0.5, "the answer is yes or no", "accuracy"),
        human=corpus.people("detecting", 0.981, 0.993, 0.984),
        differences=(
            *loading.DIFFERENCES,
            "The New Yorker's cartoons are all humorous, and the other cartoons of MOCK are not public: cartoons are "
            "detected on pictures and labels of your own (`build mock --cartoon-movement`, `--cartoonstock`).",
            "Neutral dialogues that MOCK added to its comedy are not public: MUStARD has 552 dialogues of three "
            "utterances, and MOCK has 5,517.",
            "MOCK's 3,000 further posts from Twitter are not public: `build mock --tweets` reads yours.",
        ),
        related=("mock_matching", "mock_explaining"),
    ),
    corpus="mock",
    version="2-A",
    answer=YesNo(stop=BLANK_LINE),
    metrics=(ACCURACY, *REPLY_RATES),
    options=corpus.MockOptions,
    templates=corpus.templates("detecting"),
    load=loading.load,
    prompt=chain_of_task.prompt,
    outcome=outcome,
    part=corpus.part,
    signatures=corpus.worked,
    uses=corpus.uses("detecting", card.DETECTING),
    lm_eval=corpus.in_lm_eval("mock_detecting", "multiple_choice"),
    suites={"pictures": {"input": "frames"}},
    ability="meant",
)
