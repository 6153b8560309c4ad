"""MOCK, matching: which of four captions or last utterances belongs to what is shown?

Claim: whoever understands the joke can tell its punchline from others. Humans: cartoon .931, post .923, comedy .919.
Source: the configs `cartoon_matching`, `post_matching` and `comedy_matching` of a MOCK folder. Published options: two
written by models, one of an unrelated item, weaker ones written by people in 15 % of the items.
Prompt: the item without its caption or last utterance, four whole options. Metric: accuracy, clustered by medium.
"""

from __future__ import annotations

from functools import partial

from humor_tasks.benchmark import Benchmark
from humor_tasks.benchmarks import _mock, chain_of_task
from humor_tasks.benchmarks._choice import answer_turn, outcome

MOCK_MATCHING = Benchmark(
    name="mock_matching",
    title=_mock.TITLES["matching"],
    paper=_mock.PAPER,
    version="1-A",
    card=_mock.CARD,
    letters="ABCD",
    metric_names=("accuracy", "unparsed", "refused"),
    options=_mock.MockOptions,
    templates=partial(_mock.templates, "mock_matching"),
    load=_mock.load,
    prompt=partial(chain_of_task.prompt, answer=answer_turn),
    outcome=outcome,
    estimate=_mock.estimate,
    part=_mock.part,
    signatures=_mock.worked,
)
