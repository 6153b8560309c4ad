"""MOCK, detecting: is the caption or the last utterance humorous or sarcastic?

Claim: whoever understands a joke notices that there is one. Humans: cartoon .981, post .993, comedy .984.
Source: the configs `cartoon_detecting`, `post_detecting` and `comedy_detecting` of a MOCK folder.
Prompt: the picture, clip, frames or description with what is said; yes or no. Metric: accuracy, clustered by medium;
published figures are means of five replicates (`replicates=5`).
"""

from __future__ import annotations

from functools import partial

from humor_tasks.benchmark import Benchmark
from humor_tasks.benchmarks import _mock, chain_of_task
from humor_tasks.benchmarks._choice import answer_turn, outcome
from humor_tasks.scorers.yes_no import WORDS

MOCK_DETECTING = Benchmark(
    name="mock_detecting",
    title=_mock.TITLES["detecting"],
    paper=_mock.PAPER,
    version="1-A",
    card=_mock.CARD,
    letters="YN",
    words=WORDS,
    metric_names=("accuracy", "unparsed", "refused"),
    options=_mock.MockOptions,
    templates=partial(_mock.templates, "mock_detecting"),
    load=_mock.load,
    prompt=partial(chain_of_task.prompt, answer=answer_turn),
    outcome=outcome,
    estimate=_mock.estimate,
    part=_mock.part,
    signatures=_mock.worked,
)
