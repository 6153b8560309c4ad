"""Scorers: pure functions on plain data, independent of the evaluation harness.

| module | contents |
|---|---|
| `answer` | `read_answer`: the letter in a reply, by extraction mode; `statement` finds it |
| `yes_no` | `read_yes_no`: yes or no in a reply |
| `explanation` | `read_explanation`: the explanation in a reply |
| `tagged` | `read_tagged`: the text between tags in a reply; `count_words` |
| `fields` | `read_fields`: a reply in labelled lines |
| `refusal` | `is_refusal`: whether a reply declines the task |
| `caption_list` | `read_captions`: the captions that a reply lists, as many as wanted or none |
| `caption_columns` | `without_columns`: captions of objects in JSON and of tables |
| `caption_text` | `key_of`, `without_quotes`: a caption's key for comparison, its outer quotation marks |
| `diversity` | `average_ead`, `embedding_diversity` of one contest's captions |
| `own_turn` | `own_turn`: the model's own turn in a reply, without thinking; `unwrapped` |
| `markers` | the markers of thinking and of turns, by model |
| `given_markers` | `read_markers`, `with_known_markers`: markers of thinking that a user gives |
| `channels` | `final_channel`: the final message in the channels of gpt-oss |
| `guess` | `seeded_guess`: an opt-in random letter for replies without a readable one |
| `estimate` | `Estimate`, `clustered_mean`, `clustered_ratio`, `linearised`, `mean_of_folds` |
| `proportion` | `clustered_proportion`, `clustered_share`, `proportion_of_folds`, `difference_of_shares` |
| `bounded_mean` | `bounded_mean`, `bounded_mean_of_folds`: means of ratings, on a scale with two ends |
| `bleu` | `bleu_estimate`, `sentence_bleu`, `bleu_signature` |
| `rouge` | `rouge_l` |
| `verdict` | `read_verdict`: a grader's PASS or FAIL; `as_data`, `majority`, `covered`; `panel_rating` |
| `preferred` | `read_preferred`: a judge's A, B or TIE; `panel_choice` of several judges |
| `judge` | `judge_exam`: JUDGE_METRICS of a judge's verdicts against human labels |
| `panel` | `panel_errors`: how alike the errors of several judges are, and what a majority of them gains |
| `agreement` | `agreement`: all coefficients; `raw_agreement`, `gwet_ac1`, `fleiss_kappa` |
| `krippendorff` | `krippendorff_alpha`: agreement of nominal, ordinal, interval or ratio ratings |
| `kappa` | `cohen_kappa`: agreement of two raters, optionally weighted |
| `rating_table` | tables of ratings as integer codes, shared by the coefficients |
| `annotators` | `majority_vote`, `dawid_skene`: consensus labels, annotator quality; `human_ceiling` |
| `correction` | `prediction_powered`, `rogan_gladen`: judged pass rates corrected by a labelled subset |
| `win_correction` | `corrected_win_rate`: a win rate corrected by the judge's accuracy on pairs with a known answer |
| `recalibration` | `fit_threshold`, `recalibrated`: a judge's preference for the first text, taken out |
| `placement` | `percentile`, `percentiles` among a contest's scores; `rank_correlation_by_cluster` |
| `recitation` | `matches`: equal and nearly equal entries; `completes` a caption; `repeated_shares` |
| `rating` | `read_rating`: the number in a reply; `expected_rating` under a model's probabilities |
| `regression` | `rating_metrics`: `rmse`, `rmse_at`, `mae_by_bin`, `pearson`, `spearman` |
| `pairwise` | `pair_accuracy`, `pair_reward`: which of two is funnier; `pair_labels` |
| `preference` | `win_rate`, `length_controlled_win_rate`; `paired_difference`, `needed_items` |
| `paired` | `paired_tests`: two systems on the same items; `permutation_items`, `mcnemar`, `holm` |
| `jackknife` | `pseudo_values`, `swap_values`: one system and two by any statistic, without one cluster at a time |
| `spread` | `spread`: the highest less the lowest score of several settings, such as wordings of a prompt |
| `bradley_terry` | `bradley_terry`: strengths of systems from pairwise comparisons |
| `davidson` | `davidson`: strengths from single verdicts with ties, presentation order and a covariate |
| `davidson_likelihood` | the penalised likelihood of `davidson` |
| `rank_sets` | `rank_sets`: the ranks that each player may have; `apart`, `spent`: which are apart, look after look |
| `powered_strengths` | `powered_strengths`: by people on part of the battles and a judge on all of them |
| `battle_design` | `opening`, `next_battles`: which battles of an arena to ask for |
| `association` | `association` of a grouping with values; `right_when_wrong`, `independent_difference` |
| `noise_ceiling` | `against_judges`, `noise_ceiling`: ratings against single judges |
| `arrays` | types of arrays, for annotations |
| `perplexity` | `perplexity_estimate`; UNITS: the units of a text, by the metric's name |

At import the modules need only the standard library. numpy, scipy, sacrebleu, rouge_score, evalica and crowd-kit are
imported by the functions that need them, because both harnesses import this package at every start.
"""

from .agreement import agreement, fleiss_kappa, gwet_ac1, raw_agreement
from .annotators import DawidSkene, RaterQuality, dawid_skene, human_ceiling, majority_vote
from .answer import MODES, Reading, Status, read_answer
from .association import Association, Conditional, association, independent_difference, right_when_wrong
from .bleu import bleu_estimate, bleu_signature, sentence_bleu
from .bounded_mean import bounded_mean, bounded_mean_of_folds
from .bradley_terry import Strength, bradley_terry
from .caption_list import CaptionList, read_captions
from .caption_text import key_of, without_quotes
from .correction import prediction_powered, rogan_gladen
from .davidson import davidson
from .diversity import average_ead, embedding_diversity
from .estimate import Estimate, clustered_mean, clustered_ratio, linearised, mean_of_folds
from .explanation import Explanation, read_explanation
from .fields import Fields, read_fields
from .guess import seeded_guess
from .jackknife import pseudo_values, swap_values
from .judge import METRICS as JUDGE_METRICS
from .judge import judge_exam
from .kappa import cohen_kappa
from .krippendorff import krippendorff_alpha
from .noise_ceiling import AgainstJudges, NoiseCeiling, against_judges, noise_ceiling
from .own_turn import OwnTurn, own_turn, unwrapped
from .paired import PairedTest, holm, mcnemar, paired_tests, permutation_items
from .pairwise import pair_accuracy, pair_labels, pair_reward
from .panel import MajorityGain, PanelErrors, panel_errors
from .perplexity import perplexity_estimate
from .placement import percentile, percentiles, rank_correlation_by_cluster, rank_correlations
from .powered_strengths import Powered, powered_strengths
from .preference import (
    LengthControlled,
    length_controlled_win_rate,
    needed_items,
    paired_difference,
    win_rate,
)
from .preferred import Preferred, panel_choice, read_preferred
from .proportion import clustered_proportion, clustered_share, difference_of_shares, proportion_of_folds
from .rank_sets import rank_sets
from .rating import Expected, Rating, expected_rating, read_rating
from .recalibration import Threshold, fit_threshold, recalibrated
from .recitation import Match, completes, matches, repeated_shares
from .refusal import is_refusal
from .regression import Bin, mae_by_bin, pearson, rating_metrics, rmse, rmse_at, spearman, spearman_p
from .rouge import rouge_l
from .spread import spread
from .tagged import Tagged, count_words, read_tagged
from .verdict import Verdict, as_data, covered, majority, panel_rating, read_verdict
from .win_correction import corrected_win_rate
from .yes_no import read_yes_no

__all__ = [
    "JUDGE_METRICS",
    "MODES",
    "AgainstJudges",
    "Association",
    "Bin",
    "CaptionList",
    "Conditional",
    "DawidSkene",
    "Estimate",
    "Expected",
    "Explanation",
    "Fields",
    "LengthControlled",
    "MajorityGain",
    "Match",
    "NoiseCeiling",
    "OwnTurn",
    "PairedTest",
    "PanelErrors",
    "Powered",
    "Preferred",
    "RaterQuality",
    "Rating",
    "Reading",
    "Status",
    "Strength",
    "Tagged",
    "Threshold",
    "Verdict",
    "against_judges",
    "agreement",
    "as_data",
    "association",
    "average_ead",
    "bleu_estimate",
    "bleu_signature",
    "bounded_mean",
    "bounded_mean_of_folds",
    "bradley_terry",
    "clustered_mean",
    "clustered_proportion",
    "clustered_ratio",
    "clustered_share",
    "cohen_kappa",
    "completes",
    "corrected_win_rate",
    "count_words",
    "covered",
    "davidson",
    "dawid_skene",
    "difference_of_shares",
    "embedding_diversity",
    "expected_rating",
    "fit_threshold",
    "fleiss_kappa",
    "gwet_ac1",
    "holm",
    "human_ceiling",
    "independent_difference",
    "is_refusal",
    "judge_exam",
    "key_of",
    "krippendorff_alpha",
    "length_controlled_win_rate",
    "linearised",
    "mae_by_bin",
    "majority",
    "majority_vote",
    "matches",
    "mcnemar",
    "mean_of_folds",
    "needed_items",
    "noise_ceiling",
    "own_turn",
    "pair_accuracy",
    "pair_labels",
    "pair_reward",
    "paired_difference",
    "paired_tests",
    "panel_choice",
    "panel_errors",
    "panel_rating",
    "pearson",
    "percentile",
    "percentiles",
    "permutation_items",
    "perplexity_estimate",
    "powered_strengths",
    "prediction_powered",
    "proportion_of_folds",
    "pseudo_values",
    "rank_correlation_by_cluster",
    "rank_correlations",
    "rank_sets",
    "rating_metrics",
    "raw_agreement",
    "read_answer",
    "read_captions",
    "read_explanation",
    "read_fields",
    "read_preferred",
    "read_rating",
    "read_tagged",
    "read_verdict",
    "read_yes_no",
    "recalibrated",
    "repeated_shares",
    "right_when_wrong",
    "rmse",
    "rmse_at",
    "rogan_gladen",
    "rouge_l",
    "seeded_guess",
    "sentence_bleu",
    "spearman",
    "spearman_p",
    "spread",
    "swap_values",
    "unwrapped",
    "win_rate",
    "without_quotes",
]
