"""Perplexity of reference texts from their log-likelihoods. Without another word it is per word, as published.

It is exp(-sum of log-likelihoods / sum of units) over the whole corpus (natural logarithm; long texts weigh more than
short ones). The unit of `word_perplexity` is the word. Hessel et al. 2023 report that one for the Caption Contest:
"word-level perplexity" (section 2.1), the column PPL of tables 4 and 5. Here whitespace separates words. Theirs have a
token more a text (`n_expl_toks` of their release): `humor-tasks reproduce` converts. `byte_perplexity` and
`token_perplexity` have other units, and do not compare with the published values.

The estimate is nan for no texts or no units, inf where a text has probability 0, and raises BadInput on lists of
different length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence

from .estimate import Estimate, clustered_mean
from .validation import check_same_length

UNITS: Mapping[str, Callable[[str, int | None], int | None]] = {
    "word_perplexity": lambda text, tokens: len(text.split()),
    "byte_perplexity": lambda text, tokens: len(text.encode("utf-8", "surrogatepass")),
    "token_perplexity": lambda text, tokens: tokens,
}
"""Perplexity -> the number of its units in a text that has `tokens` tokens of the model; None where it is not known.

`word_perplexity` is that of lm-eval, except that lm-eval counts the empty strings next to leading and trailing
whitespace as words. `byte_perplexity` compares between models and languages, `token_perplexity` only where the
tokenizer is the same.
"""


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
