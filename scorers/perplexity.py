"""Perplexity of reference texts from their log-likelihoods, per word, byte or model token.

All three are exp(-sum of log-likelihoods / sum of units) over the whole corpus (natural logarithm; long texts weigh
more than short ones) and differ only in the unit. The values published for the Caption Contest (Hessel et al. 2023,
tables 4 and 5) are per token of the evaluated model, so they are comparable only between models with the same
tokenizer. Values per word and per byte are comparable between tokenizers.

Each function returns nan for no texts or no units, inf where a text has probability 0, and raises BadInput on lists of
different length.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from humor_tasks.errors import BadInput

from .estimate import Estimate, clustered_mean
from .validation import check_same_length


def word_perplexity(loglikelihoods: Sequence[float], texts: Sequence[str]) -> float:
    """Perplexity per whitespace-separated word: comparable between models, not with the published values.

    Equal to lm-eval's `word_perplexity`, except that lm-eval counts the empty strings next to leading and trailing
    whitespace as words.
    """
    check_same_length(loglikelihoods=loglikelihoods, texts=texts)
    return _perplexity(loglikelihoods, sum(len(text.split()) for text in texts))


def byte_perplexity(loglikelihoods: Sequence[float], texts: Sequence[str]) -> float:
    """Perplexity per UTF-8 byte: comparable between models and languages, not with the published values."""
    check_same_length(loglikelihoods=loglikelihoods, texts=texts)
    return _perplexity(loglikelihoods, sum(len(text.encode("utf-8", "surrogatepass")) for text in texts))


def token_perplexity(loglikelihoods: Sequence[float], token_counts: Sequence[int]) -> float:
    """Perplexity per token of the evaluated model: the published unit, comparable only with the same tokenizer.

    `token_counts` holds the number of tokens of each scored continuation, without its context. Raises BadInput on a
    negative count.
    """
    check_same_length(loglikelihoods=loglikelihoods, token_counts=token_counts)
    for i, count in enumerate(token_counts):
        if count < 0:
            raise BadInput(f"token_counts[{i}] is {count}; a number of tokens is 0 or more.")
    return _perplexity(loglikelihoods, sum(token_counts))


def perplexity_estimate(
    loglikelihoods: Sequence[float], units: Sequence[int], clusters: Sequence[Hashable]
) -> Estimate:
    """exp(-sum of log-likelihoods / sum of units) with a standard error clustered by `clusters`.

    The exponent r is a ratio of sums. Its error is that of the linearised ratio estimator: the mean of (-loglikelihood
    - r * units) over the mean of units. The stderr of the perplexity is perplexity * se(r), its interval exp of r's
    interval. Error and interval are nan where r is undefined or infinite.
    """
    n = check_same_length(loglikelihoods=loglikelihoods, units=units, clusters=clusters)
    value = _perplexity(loglikelihoods, sum(units))
    if not math.isfinite(value):
        return Estimate(value, math.nan, math.nan, math.nan, n, len(set(clusters)))
    r, mean_units = math.log(value), sum(units) / n
    spread = clustered_mean([-ll - r * u for ll, u in zip(loglikelihoods, units, strict=True)], clusters)
    half, stderr = (spread.high - spread.value) / mean_units, value * spread.stderr / mean_units
    return Estimate(value, stderr, math.exp(r - half), math.exp(r + half), n, spread.clusters)


def _perplexity(loglikelihoods: Sequence[float], units: int) -> float:
    if units == 0:
        return math.nan
    try:
        return math.exp(-math.fsum(loglikelihoods) / units)
    except OverflowError:
        return math.inf
