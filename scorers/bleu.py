"""BLEU-4 over a corpus (Papineni et al. 2002), as sacreBLEU computes it with its defaults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .same_length import check_same_length


class Bleu(NamedTuple):
    """A corpus score in 0..100 and sacreBLEU's signature: what was counted, how, which version."""

    score: float
    signature: str


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Bleu:
    """BLEU-4 of `hypotheses` against one reference each, as in Hessel et al. 2023, table 5.

    The score belongs to the corpus; it is not the mean of the items' scores. Two empty lists give
    nan, with the signature. Raises BadInput on lists of different length.
    """
    n = check_same_length(hypotheses=hypotheses, references=references)
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU()
    # sacreBLEU knows its signature only after scoring, so no items at all are scored as one empty pair.
    result = metric.corpus_score(list(hypotheses) or [""], [list(references) or [""]])
    return Bleu(float(result.score) if n else math.nan, str(metric.get_signature().format()))
