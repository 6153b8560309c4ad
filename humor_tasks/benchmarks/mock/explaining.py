"""MOCK, explaining: why is the caption or the last utterance humorous or sarcastic?

Claim: a model that understands the joke can explain it. Automatic scores compare with one human explanation and say
little about quality. Also published are EXPAcc and HumanAcc: how often a judge model, or two people, prefer the
generated explanation to the human one. They are measured by the scorer `reference_preference`, and with `humor-tasks
pairs` and `annotate`. Prompt: the item with its caption or dialogue.
Source: the configs `cartoon_explaining`, `post_explaining` and `comedy_explaining` of a MOCK folder.
Metrics: corpus BLEU-4 (sacreBLEU, 0..100), mean ROUGE-L f-measure (0..1), clustered by medium.
"""

from __future__ import annotations

from functools import partial

from humor_tasks.benchmarks.answers import BLANK_LINE, FreeText
from humor_tasks.benchmarks.caption_contest.explanation import EXPLANATION, OVERLAP, outcome, read
from humor_tasks.benchmarks.contract import UNNAMED, Benchmark
from humor_tasks.benchmarks.mock import chain_of_task, corpus, loading

MOCK_EXPLAINING = Benchmark(
    name="mock_explaining",
    corpus="mock",
    title=corpus.TITLES["explaining"],
    paper=corpus.PAPER,
    sampling=UNNAMED,
    version="1-A",
    answer=FreeText(read, reference=True, stop=BLANK_LINE),
    metrics=OVERLAP,
    options=corpus.MockOptions,
    templates=partial(corpus.templates, "mock_explaining"),
    load=loading.load,
    prompt=chain_of_task.prompt,
    outcome=outcome,
    part=corpus.part,
    signatures=lambda run: {**EXPLANATION.signatures(run), **corpus.worked(run)},
    repeated=True,
    lm_eval=corpus.in_lm_eval("mock_explaining", "loglikelihood"),
    question="why is it humorous or sarcastic?",
    needs=corpus.BUILT,
)
