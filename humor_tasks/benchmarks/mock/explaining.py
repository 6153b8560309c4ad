"""MOCK, explaining: why is the caption or the last utterance humorous or sarcastic?"""

from __future__ import annotations

from humor_tasks.benchmarks.caption_contest.explanation import OVERLAP, bleu_used, outcome, read
from humor_tasks.benchmarks.mock import chain_of_task, corpus, loading
from humor_tasks.contract import card
from humor_tasks.contract.answers import BLANK_LINE, FreeText
from humor_tasks.contract.definition import Benchmark
from humor_tasks.papers.considerations import considerations

MOCK_EXPLAINING = Benchmark(
    name="mock_explaining",
    card=corpus.card(
        title="MOCK: why is it humorous or sarcastic?",
        considerations=considerations("mock", "mock_explaining"),
        source=corpus.source(
            "the configs `cartoon_explaining`, `post_explaining` and `comedy_explaining` of a MOCK folder."
        ),
        question="MOCK, explaining: why is the caption or the last utterance humorous or sarcastic?",
        claim="A model that understands the joke can explain it.",
        prompt="The item with its caption or dialogue.",
        metrics="Corpus BLEU-4 (sacreBLEU, 0..100), mean ROUGE-L f-measure (0..1), clustered by medium.",
        splits=corpus.sizes("explaining"),
        differences=(
            *loading.DIFFERENCES,
            "EXPAcc here asks the judge in both orders and allows ties; only an explanation that wins in both is "
            "preferred. The paper names no order and no ties.",
        ),
        related=("explanation_preference", "explanation", "mock_detecting", "mock_matching"),
    ),
    corpus="mock",
    version="1-A",
    answer=FreeText(read, reference=True, stop=BLANK_LINE),
    metrics=OVERLAP,
    options=corpus.MockOptions,
    templates=corpus.templates("explaining"),
    load=loading.load,
    prompt=chain_of_task.prompt,
    outcome=outcome,
    part=corpus.part,
    signatures=lambda run: {**bleu_used(run), **corpus.worked(run)},
    uses=corpus.uses("explaining", card.PREFERENCE),
    display=card.Display(columns=(card.OVERLAP,)),
    lm_eval=corpus.in_lm_eval("mock_explaining", "loglikelihood"),
    suites={"pictures": {"input": "frames"}},
    ability="why",
)
