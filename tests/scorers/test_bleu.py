from __future__ import annotations

import math

import pytest
import sacrebleu

from humor_tasks import scorers
from humor_tasks.errors import BadInput

HYPOTHESES = ["the bear ordered salmon in the restaurant", "a cat, sitting.", ""]
REFERENCES = ["the bear ordered the salmon at a restaurant", "a cat, sitting there.", "nothing was said"]


def test_equals_sacrebleu_with_its_defaults() -> None:
    expected = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES])
    assert scorers.corpus_bleu(HYPOTHESES, REFERENCES).score == expected.score
    assert 0 < expected.score < 100


def test_the_signature_says_what_was_counted() -> None:
    expected = f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    assert scorers.corpus_bleu(HYPOTHESES, REFERENCES).signature == expected
    assert scorers.corpus_bleu([], []).signature == expected


def test_the_ends_of_the_scale() -> None:
    assert scorers.corpus_bleu(REFERENCES, REFERENCES).score == pytest.approx(100)
    assert scorers.corpus_bleu(["", ""], ["a b c d", "e"]).score == 0
    assert math.isnan(scorers.corpus_bleu([], []).score)


def test_lists_of_different_length() -> None:
    with pytest.raises(BadInput, match="hypotheses has 1, references has 2"):
        scorers.corpus_bleu(["a"], ["a", "b"])
