"""ROUGE-L (Lin 2004): the F-measure that `rouge_score` computes without stemming."""

from __future__ import annotations

from collections.abc import Sequence

from .validation import check_same_length


def rouge_l(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """ROUGE-L F-measure of each hypothesis against its reference, in 0..1; 0 where either has no word.

    Equal to `RougeScorer(["rougeL"])` of rouge_score, with its tokenizer and its F-measure. The longest common
    subsequence is rapidfuzz's, which is bit-parallel and not a table. English only: the tokenizer keeps a-z and 0-9.

    The tables of Hessel et al. 2023 (x100) hold the median of bootstrapped means that `evaluate` reports; this project
    reports the mean with its clustered interval (`clustered_mean`). The two differ in the fourth digit. Raises BadInput
    on lists of different length.
    """
    check_same_length(hypotheses=hypotheses, references=references)
    # rouge_score's from the submodules, because rouge_score.rouge_scorer imports nltk, which takes seconds.
    from rapidfuzz.distance import LCSseq
    from rouge_score.scoring import fmeasure
    from rouge_score.tokenize import tokenize

    scores = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        hypothesis_tokens, reference_tokens = tokenize(hypothesis, None), tokenize(reference, None)
        common = LCSseq.similarity(reference_tokens, hypothesis_tokens)
        scores.append(
            float(fmeasure(common / len(hypothesis_tokens), common / len(reference_tokens))) if common else 0.0
        )
    return scores
