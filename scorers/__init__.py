"""Scorers: pure functions on plain data, for every harness and for none.

| module | what it offers |
|---|---|
| `answer` | `read_answer`: the letter in a reply, by extraction mode; `statement` finds it |
| `explanation` | `read_explanation`: the explanation in a reply |
| `tagged` | `read_tagged`: the text between tags in a reply; `count_words` |
| `refusal` | `is_refusal`: whether a reply declines |
| `thinking` | `without_thinking`: a reply without its <think> passages |
| `guess` | `seeded_guess`: a letter where none was read, for whoever asks |
| `estimate` | `Estimate`, `clustered_mean`, `clustered_ratio`, `linearised`, `mean_of_folds` |
| `bleu` | `bleu_estimate`, `sentence_bleu`, `bleu_signature` |
| `rouge` | `rouge_l`, `bootstrap_median` |
| `verdict` | `read_verdict`: a grader's PASS or FAIL; `as_data`, `VERDICT_SCHEMA`, `majority`, `covered` |
| `judge` | `judge_exam`: JUDGE_METRICS of a judge's verdicts against human labels |
| `agreement` | `gwet_ac1`: agreement of any number of raters beyond chance |
| `correction` | `prediction_powered`, `rogan_gladen`: judged pass rates corrected by a labelled subset |
| `perplexity` | `perplexity_estimate`; `word_perplexity`, `byte_perplexity`, `token_perplexity` |

The modules import the standard library alone; numpy, scipy, sacrebleu, rouge_score and ppi_py load when
a function needs them, because both harnesses import this package at every start.
"""

from .agreement import gwet_ac1
from .answer import MODES, Reading, Status, read_answer
from .bleu import bleu_estimate, bleu_signature, sentence_bleu
from .correction import prediction_powered, rogan_gladen
from .estimate import Estimate, clustered_mean, clustered_ratio, linearised, mean_of_folds
from .explanation import Explanation, read_explanation
from .guess import seeded_guess
from .judge import METRICS as JUDGE_METRICS
from .judge import judge_exam
from .perplexity import byte_perplexity, perplexity_estimate, token_perplexity, word_perplexity
from .refusal import is_refusal
from .rouge import bootstrap_median, rouge_l
from .tagged import Tagged, count_words, read_tagged
from .thinking import without_thinking
from .verdict import VERDICT_SCHEMA, Verdict, as_data, covered, majority, read_verdict

__all__ = [
    "JUDGE_METRICS",
    "MODES",
    "VERDICT_SCHEMA",
    "Estimate",
    "Explanation",
    "Reading",
    "Status",
    "Tagged",
    "Verdict",
    "as_data",
    "bleu_estimate",
    "bleu_signature",
    "bootstrap_median",
    "byte_perplexity",
    "clustered_mean",
    "clustered_ratio",
    "count_words",
    "covered",
    "gwet_ac1",
    "is_refusal",
    "judge_exam",
    "linearised",
    "majority",
    "mean_of_folds",
    "perplexity_estimate",
    "prediction_powered",
    "read_answer",
    "read_explanation",
    "read_tagged",
    "read_verdict",
    "rogan_gladen",
    "rouge_l",
    "seeded_guess",
    "sentence_bleu",
    "token_perplexity",
    "without_thinking",
    "word_perplexity",
]
