"""Perplexity of reference texts from their log-likelihoods, per word, byte or model token.

All three are exp(-sum of log-likelihoods / sum of units) over the whole corpus (natural logarithm;
long texts weigh more than short ones), and differ only in the unit. The numbers published for the
Caption Contest (Hessel et al. 2023, tables 4 and 5) are per token of the model at hand, so they
compare models of one tokenizer only; per word and per byte compare across tokenizers.

Each function gives nan for no texts and for no units at all, inf where a text was impossible, and
raises BadInput on lists of different length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from humor_tasks.errors import BadInput

from .same_length import check_same_length


def word_perplexity(loglikelihoods: Sequence[float], texts: Sequence[str]) -> float:
    """Perplexity per whitespace-separated word. Comparable across models; not with the published numbers.

    Equal to lm-eval's `word_perplexity`, except that lm-eval counts the empty strings beside leading
    and trailing whitespace as words.
    """
    check_same_length(loglikelihoods=loglikelihoods, texts=texts)
    return _perplexity(loglikelihoods, sum(len(text.split()) for text in texts))


def byte_perplexity(loglikelihoods: Sequence[float], texts: Sequence[str]) -> float:
    """Perplexity per UTF-8 byte. Comparable across models and languages; not with the published numbers."""
    check_same_length(loglikelihoods=loglikelihoods, texts=texts)
    return _perplexity(loglikelihoods, sum(len(text.encode("utf-8", "surrogatepass")) for text in texts))


def token_perplexity(loglikelihoods: Sequence[float], token_counts: Sequence[int]) -> float:
    """Perplexity per token of the model that scored: the published unit, comparable within one tokenizer only.

    `token_counts` holds the tokens of each scored continuation, without its context. Raises
    BadInput on a negative count.
    """
    check_same_length(loglikelihoods=loglikelihoods, token_counts=token_counts)
    for i, count in enumerate(token_counts):
        if count < 0:
            raise BadInput(f"token_counts[{i}] is {count}; a text has no fewer than 0 tokens.")
    return _perplexity(loglikelihoods, sum(token_counts))


def _perplexity(loglikelihoods: Sequence[float], units: int) -> float:
    if units == 0:
        return math.nan
    try:
        return math.exp(-math.fsum(loglikelihoods) / units)
    except OverflowError:
        return math.inf
