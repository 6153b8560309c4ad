"""MOCK, explaining: why is the caption or the last utterance humorous or sarcastic?

Claim: whoever understands the joke can explain it. Automatic scores compare with one explanation by a person and say
little; published beside them are EXPAcc and HumanAcc, how often a judge model, or two people, prefer the generated
explanation to the person's: the scorer `reference_preference`, and `humor-tasks pairs` and `annotate`.
Source: the configs `cartoon_explaining`, `post_explaining` and `comedy_explaining` of a MOCK folder.
Metrics: corpus BLEU-4 (sacreBLEU, 0..100), mean ROUGE-L f-measure (0..1), clustered by medium.
"""

from __future__ import annotations

from functools import partial

from humor_tasks.benchmark import Benchmark
from humor_tasks.benchmarks import _mock, chain_of_task
from humor_tasks.benchmarks.explanation import EXPLANATION, answer_turn, outcome, over

MOCK_EXPLAINING = Benchmark(
    name="mock_explaining",
    title=_mock.TITLES["explaining"],
    paper=_mock.PAPER,
    version="1-A",
    card=_mock.CARD,
    letters="",
    metric_names=EXPLANATION.metric_names,
    options=_mock.MockOptions,
    templates=partial(_mock.templates, "mock_explaining"),
    load=_mock.load,
    prompt=partial(chain_of_task.prompt, answer=answer_turn),
    outcome=outcome,
    estimate=partial(_mock.estimate, over=over),
    part=_mock.part,
    signatures=lambda run: {**EXPLANATION.signatures(run), **_mock.worked(run)},
)
