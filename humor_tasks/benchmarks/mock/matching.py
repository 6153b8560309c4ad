"""MOCK, matching: which of four captions or last utterances belongs to what is shown?

Claim: a model that understands the joke can tell its punchline from others. Humans: cartoon .931, post .923,
comedy .919. Source: the configs `cartoon_matching`, `post_matching` and `comedy_matching` of a MOCK folder. Published
distractors: two written by models and one from an unrelated item; in 15 % of the items weaker ones written by people.
Prompt: the item without its caption or last utterance, and the four options in full. Metric: accuracy, clustered by
medium.
"""

from __future__ import annotations

from functools import partial

from humor_tasks.benchmarks.answers import BLANK_LINE, Choice
from humor_tasks.benchmarks.choice import outcome
from humor_tasks.benchmarks.contract import UNNAMED, Benchmark
from humor_tasks.benchmarks.metric import ACCURACY, REPLY_RATES
from humor_tasks.benchmarks.mock import chain_of_task, corpus, loading

MOCK_MATCHING = Benchmark(
    name="mock_matching",
    corpus="mock",
    title=corpus.TITLES["matching"],
    paper=corpus.PAPER,
    sampling=UNNAMED,
    version="2-A",
    answer=Choice("ABCD", stop=BLANK_LINE),
    metrics=(ACCURACY, *REPLY_RATES),
    options=corpus.MockOptions,
    templates=partial(corpus.templates, "mock_matching"),
    load=loading.load,
    prompt=chain_of_task.prompt,
    outcome=outcome,
    part=corpus.part,
    signatures=corpus.worked,
    repeated=True,
    lm_eval=corpus.in_lm_eval("mock_matching", "multiple_choice"),
    question="which of four lines belongs here?",
    needs=corpus.BUILT,
)
