"""Matching: which of five captions was entered for this cartoon?

Claim: a model that understands the joke can tell the cartoon's own caption from four captions of
other cartoons (Hessel et al., ACL 2023, arXiv 2209.06293, section 2). Humans: 94.0 % from pixels.
Source: jmhessel/newyorker_caption_contest, config `matching` (fold 0) and `matching_1`.. `_4`.
Prompt: the turns of the released chat protocol, reworded. Metric: accuracy, clustered by contest.
"""

from __future__ import annotations

from humor_tasks.benchmarks import uses
from humor_tasks.benchmarks.caption_contest import corpus
from humor_tasks.benchmarks.charts import ByShots
from humor_tasks.benchmarks.choice import outcome
from humor_tasks.benchmarks.contract import Benchmark
from humor_tasks.benchmarks.metric import ACCURACY, FALLBACK, REPLY_RATES
from humor_tasks.benchmarks.prompts import Template

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
    templates=(corpus.SCENE, Template("nycc", "matching.{o.style}.txt", shows=("scene", "choices"))),
    load=corpus.load,
    prompt=corpus.prompt,
    outcome=outcome,
    summary=corpus.summary,
    part=corpus.part,
    charts=(ByShots("matching_by_shots", "Matching: accuracy by system and shots", y="accuracy"),),
    trains=frozenset({"clip", "ofa", "text"}),
    votes=uses.MATCHING,
    chain=uses.Chain("matching", scene="cartoon"),
)
