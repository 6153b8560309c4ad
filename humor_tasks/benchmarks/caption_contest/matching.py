"""Matching: which of five captions was entered for this cartoon?

Claim: a model that understands the joke can tell the cartoon's own caption from four captions of
other cartoons (Hessel et al., ACL 2023, arXiv 2209.06293, section 2). Humans: 94.0 % from pixels.
Source: jmhessel/newyorker_caption_contest, config `matching` (fold 0) and `matching_1`.. `_4`.
Prompt: the released chat protocol's turns in our own words. Metric: accuracy, clustered by contest.
"""

from __future__ import annotations

from functools import partial

from humor_tasks.benchmarks.caption_contest import corpus
from humor_tasks.benchmarks.choice import answer_turn, outcome
from humor_tasks.benchmarks.contract import Benchmark

MATCHING = Benchmark(
    name="matching",
    title="New Yorker Caption Contest: matching",
    paper=corpus.PAPER,
    version="1-A",
    card=corpus.CARD,
    letters="ABCDE",
    metric_names=("accuracy", "unparsed", "refused"),
    options=corpus.NyccOptions,
    templates=partial(corpus.templates, "matching"),
    load=corpus.load,
    prompt=partial(corpus.prompt, answer=answer_turn),
    outcome=outcome,
    estimate=corpus.estimate,
    part=corpus.part,
)
