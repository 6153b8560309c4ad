"""Scorers: pure functions on plain data, for every harness and for none.

| module | what it offers |
|---|---|
| `answer` | `read_answer`: the letter in a reply, by extraction mode; `statement` finds it |
| `explanation` | `read_explanation`: the explanation in a reply |
| `refusal` | `is_refusal`: whether a reply declines |
| `thinking` | `without_thinking`: a reply without its <think> passages |
| `guess` | `seeded_guess`: a letter where none was read, for whoever asks |
| `estimate` | `Estimate`, `clustered_mean`, `mean_of_folds` |
| `bleu` | `bleu_estimate`, `sentence_bleu`, `bleu_signature` |
| `rouge` | `rouge_l`, `bootstrap_median` |
| `perplexity` | `perplexity_estimate`; `word_perplexity`, `byte_perplexity`, `token_perplexity` |

The modules import the standard library alone; numpy, scipy, sacrebleu and rouge_score load when a
function needs them, because both harnesses import this package at every start.
"""

from .answer import MODES, Reading, Status, read_answer
from .bleu import bleu_estimate, bleu_signature, sentence_bleu
from .estimate import Estimate, clustered_mean, mean_of_folds
from .explanation import Explanation, read_explanation
from .guess import seeded_guess
from .perplexity import byte_perplexity, perplexity_estimate, token_perplexity, word_perplexity
from .refusal import is_refusal
from .rouge import bootstrap_median, rouge_l
from .thinking import without_thinking

__all__ = [
    "MODES",
    "Estimate",
    "Explanation",
    "Reading",
    "Status",
    "bleu_estimate",
    "bleu_signature",
    "bootstrap_median",
    "byte_perplexity",
    "clustered_mean",
    "is_refusal",
    "mean_of_folds",
    "perplexity_estimate",
    "read_answer",
    "read_explanation",
    "rouge_l",
    "seeded_guess",
    "sentence_bleu",
    "token_perplexity",
    "without_thinking",
    "word_perplexity",
]
