"""`bleu`: sacrebleu's value and signature, its seeded interval, and the ends of the scale."""

from __future__ import annotations

import math

import pytest
import sacrebleu
import scipy.stats

from humor_tasks import scorers
from humor_tasks.errors import BadInput

HYPOTHESES = ["the bear ordered salmon in the restaurant", "a cat, sitting.", "", "the dog told a joke at work"]
REFERENCES = ["the bear ordered the salmon at a restaurant", "a cat, sitting there.", "nothing", "the dog told a joke"]


def test_the_value_is_sacrebleus() -> None:
    estimate = scorers.bleu_estimate(HYPOTHESES, REFERENCES, "aabc")
    assert estimate.value == pytest.approx(sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score)
    assert (estimate.n, estimate.clusters) == (4, 3)
    assert estimate.stderr > 0
    assert 0 < estimate.low <= estimate.value <= estimate.high <= 100
    t = scipy.stats.t.ppf(0.975, 2)  # three clusters
    assert estimate.low == pytest.approx(estimate.value * math.exp(-t * estimate.stderr / estimate.value))


def test_the_same_seed_gives_the_same_interval() -> None:
    first, again, other = (scorers.bleu_estimate(HYPOTHESES, REFERENCES, "aabc", seed) for seed in (1, 1, 2))
    assert first == again
    assert first.stderr != other.stderr


def test_the_unknown_is_not_zero() -> None:
    assert math.isnan(scorers.bleu_estimate([], [], []).value)
    single = scorers.bleu_estimate(HYPOTHESES, REFERENCES, "aaaa")
    assert single.value > 0
    assert math.isnan(single.stderr)
    assert math.isnan(single.low)


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="clusters has 1"):
        scorers.bleu_estimate(["a", "b"], ["a", "b"], ["x"])
    with pytest.raises(BadInput, match=r"clusters\[0\] is None"):
        scorers.bleu_estimate(["a"], ["a"], [None])


def test_the_ends_of_the_scale() -> None:
    assert scorers.bleu_estimate(REFERENCES, REFERENCES, "abcd").value == pytest.approx(100)
    assert scorers.bleu_estimate(["", ""], ["a b c d", "e"], "ab").value == 0


def test_sentences_and_the_signature() -> None:
    assert scorers.sentence_bleu(REFERENCES[0], REFERENCES[0]) == pytest.approx(100)
    assert scorers.sentence_bleu("", "a bear") == 0
    expected = f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    assert scorers.bleu_signature() == expected
