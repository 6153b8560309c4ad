"""Matching: which of five captions was entered for this cartoon?

Claim: a model that understands the joke can tell the cartoon's own caption from four captions of
other cartoons (Hessel et al., ACL 2023, arXiv 2209.06293, section 2). Humans: 94.0 % from pixels.
Source: jmhessel/newyorker_caption_contest, config `matching` (fold 0) and `matching_1`.. `_4`.
Prompt: the turns of the released chat protocol, reworded. Metric: accuracy, clustered by contest.
"""

from __future__ import annotations

from functools import partial

from humor_tasks.benchmarks.caption_contest import corpus
from humor_tasks.benchmarks.caption_contest.variants import in_lm_eval
from humor_tasks.benchmarks.choice import outcome
from humor_tasks.benchmarks.contract import Benchmark
from humor_tasks.benchmarks.metric import ACCURACY, FALLBACK, REPLY_RATES

MATCHING = Benchmark(
    name="matching",
    corpus="newyorker",
    title="New Yorker Caption Contest: matching",
    paper=corpus.PAPER,
    sampling=corpus.SAMPLING,
    version="2-A",
    answer=corpus.letters("ABCDE"),
    metrics=(ACCURACY, *REPLY_RATES, FALLBACK),
    options=corpus.NyccOptions,
    templates=partial(corpus.templates, "matching"),
    load=corpus.load,
    prompt=corpus.prompt,
    outcome=outcome,
    summary=corpus.summary,
    part=corpus.part,
    lm_eval=in_lm_eval("nyc_matching", "multiple_choice"),
    question="which of five captions belongs to this cartoon?",
    needs=corpus.NEEDS,
)
