"""Corpus BLEU-4 (Papineni et al. 2002) as sacreBLEU computes it, with a cluster-bootstrap error.

Corpus BLEU is not a mean over items, so it has no closed-form standard error. Whole clusters (contests) are resampled
with replacement, as in Koehn 2004 ("Statistical Significance Tests for Machine Translation Evaluation"), but by contest
instead of by sentence, because items of a contest are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import lru_cache

from .estimate import Estimate, cluster_codes, on_log_scale
from .validation import check_same_length

DRAWS = 1000


def bleu_estimate(
    hypotheses: Sequence[str], references: Sequence[str], clusters: Sequence[Hashable], seed: int = 0
) -> Estimate:
    """BLEU-4 in 0..100 with sacreBLEU's defaults, as in tables 4 and 5 of Hessel et al. 2023.

    `stderr` is the standard deviation over DRAWS bootstrap draws. The interval is the t interval of log(BLEU), cut at
    100: it holds a low BLEU more often than the draws' percentiles do. The same seed gives the same interval. Fewer
    than two clusters: stderr and interval are nan. No items: the value is nan too. Raises BadInput on lists of
    different length.
    """
    n = check_same_length(hypotheses=hypotheses, references=references, clusters=clusters)
    codes, count = cluster_codes(clusters)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, math.nan, 0, 0)
    import numpy as np

    counted = np.array([_counts(h, r) for h, r in zip(hypotheses, references, strict=True)], dtype=np.int64)
    by_cluster = np.zeros((count, counted.shape[1]), dtype=np.int64)
    np.add.at(by_cluster, codes, counted)
    value = _score(by_cluster.sum(axis=0))
    if count < 2:
        return Estimate(value, math.nan, math.nan, math.nan, n, count)
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=DRAWS) @ by_cluster
    scores = np.array([_score(row) for row in draws])
    e = on_log_scale(Estimate(value, float(scores.std(ddof=1)), math.nan, math.nan, n, count), count - 1)
    return replace(e, high=100.0) if e.high > 100 else e


def sentence_bleu(hypothesis: str, reference: str) -> float:
    """One item's BLEU-4 in 0..100, for inspection; the corpus score is not the mean of these."""
    return _score(_counts(hypothesis, reference))


def bleu_signature() -> str:
    """sacreBLEU's signature of the metric: settings, tokenizer and version."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU()
    metric.corpus_score([""], [[""]])  # sacreBLEU can format its signature only after scoring
    return str(metric.get_signature().format())


@lru_cache(maxsize=10_000)  # a jackknife scores the same texts many times
def _counts(hypothesis: str, reference: str) -> tuple[int, ...]:
    """Sufficient statistics of BLEU: matches and totals of the n-grams of order 1..4, then both lengths (10 numbers
    that add up over items).
    """
    from sacrebleu.metrics.bleu import BLEU

    score = BLEU(effective_order=True).sentence_score(hypothesis, [reference])
    return (*score.counts, *score.totals, score.sys_len, score.ref_len)


def _score(counts: Sequence[int]) -> float:
    from sacrebleu.metrics.bleu import BLEU

    numbers = [int(c) for c in counts]
    return float(BLEU.compute_bleu(numbers[:4], numbers[4:8], numbers[8], numbers[9], smooth_method="exp").score)
