"""MOCK, detecting: is the caption or the last utterance humorous or sarcastic?

Claim: a model that understands a joke notices that there is one. Humans: cartoon .981, post .993, comedy .984.
Source: the configs `cartoon_detecting`, `post_detecting` and `comedy_detecting` of a MOCK folder.
Prompt: the picture, clip, frames or description with the caption or dialogue; the answer is yes or no.
Metric: accuracy, clustered by medium;
published figures are means of five replicates (`replicates=5`).
"""

from __future__ import annotations

from functools import partial

from humor_tasks.benchmarks.answers import BLANK_LINE, YesNo
from humor_tasks.benchmarks.choice import outcome
from humor_tasks.benchmarks.contract import UNNAMED, Benchmark
from humor_tasks.benchmarks.metric import ACCURACY, REPLY_RATES
from humor_tasks.benchmarks.mock import chain_of_task, corpus, loading

MOCK_DETECTING = Benchmark(
    name="mock_detecting",
    corpus="mock",
    title=corpus.TITLES["detecting"],
    paper=corpus.PAPER,
    sampling=UNNAMED,
    version="2-A",
    answer=YesNo(stop=BLANK_LINE),
    metrics=(ACCURACY, *REPLY_RATES),
    options=corpus.MockOptions,
    templates=partial(corpus.templates, "mock_detecting"),
    load=loading.load,
    prompt=chain_of_task.prompt,
    outcome=outcome,
    part=corpus.part,
    signatures=corpus.worked,
    repeated=True,
    lm_eval=corpus.in_lm_eval("mock_detecting", "multiple_choice"),
    question="is this caption, post or scene meant to be funny?",
    needs=corpus.BUILT,
)
