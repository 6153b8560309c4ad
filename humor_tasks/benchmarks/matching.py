"""Matching: which of five captions was entered for this cartoon?

Claim: a model that understands the joke can tell the cartoon's own caption from four captions of
other cartoons (Hessel et al., ACL 2023, arXiv 2209.06293, section 2). Humans: 94.0 % from pixels.
Source: jmhessel/newyorker_caption_contest, config `matching` (fold 0) and `matching_1`.. `_4`.
Prompt: the released chat protocol's turns in our own words. Metric: accuracy, clustered by contest.
"""

from __future__ import annotations

from functools import partial

from humor_tasks.benchmark import Benchmark
from humor_tasks.benchmarks import _nycc
from humor_tasks.benchmarks._choice import answer_turn, outcome

MATCHING = Benchmark(
    name="matching",
    title="New Yorker Caption Contest: matching",
    paper=_nycc.PAPER,
    version="1-A",
    card=_nycc.CARD,
    letters="ABCDE",
    metric_names=("accuracy", "unparsed", "refused"),
    options=_nycc.NyccOptions,
    templates=partial(_nycc.templates, "matching"),
    load=_nycc.load,
    prompt=partial(_nycc.prompt, answer=answer_turn),
    outcome=outcome,
    estimate=_nycc.estimate,
    part=_nycc.part,
)
