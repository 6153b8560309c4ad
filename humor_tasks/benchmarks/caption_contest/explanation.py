"""Explanation: why are the caption and the cartoon funny together?

Claim: a model that understands the joke can explain it (Hessel et al., ACL 2023, arXiv 2209.06293,
section 2). Automatic scores compare with one human explanation and say little about quality;
the paper's main evidence is human preference (Table 3).
Source: jmhessel/newyorker_caption_contest, config `explanation` (fold 0) and `explanation_1`.. `_4`.
Prompt: the scene and the caption. Metrics: corpus BLEU-4 (sacreBLEU, 0..100) and mean ROUGE-L f-measure (0..1); where a
harness provides log-likelihoods of the reference, its perplexity per word, as published (`word_perplexity`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from humor_tasks.benchmarks.answers import Answer, FreeText
from humor_tasks.benchmarks.caption_contest import corpus
from humor_tasks.benchmarks.caption_contest.variants import in_lm_eval
from humor_tasks.benchmarks.contract import Benchmark, Run
from humor_tasks.benchmarks.metric import REPLY_RATES, Metric
from humor_tasks.data.records import Outcome, Record
from humor_tasks.scorers.bleu import bleu_estimate, bleu_signature, sentence_bleu
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.explanation import read_explanation
from humor_tasks.scorers.rouge import rouge_l


def read(reply: str, refused: bool) -> Answer:
    """The text after "Explanation:", as in the released code, or the whole reply."""
    found = read_explanation(reply)
    status = "refused" if refused and found.status != "answered" else found.status
    return Answer(found.text if status == "answered" else None, status)


def outcome(run: Run, record: Record, answer: Answer) -> Outcome:
    """Overlap with the reference.

    A reply without an explanation counts as an empty text, or is left out with `on_unparsed=exclude`. Explanations
    cannot be guessed, so `random` is the same as `wrong`.
    """
    values = answer.rates
    if record.target is not None and (answer.value is not None or run.options.on_unparsed != "exclude"):
        values["bleu"] = sentence_bleu(answer.value or "", record.target)
        values["rouge_l"] = rouge_l([answer.value or ""], [record.target])[0]
    return Outcome(record.id, record.cluster, record.groups, answer.status, answer.value, record.target, values)


def corpus_bleu(outcomes: Sequence[Outcome]) -> Estimate:
    """Corpus BLEU, which is not the mean of sentence BLEU."""
    written, references = [o.answer or "" for o in outcomes], [o.target or "" for o in outcomes]
    return bleu_estimate(written, references, [o.cluster for o in outcomes])


OVERLAP = (
    Metric("bleu", estimate=corpus_bleu, about="Corpus BLEU-4 of sacreBLEU against the reference, from 0 to 100."),
    Metric("rouge_l", about="Mean ROUGE-L F-measure against the reference, from 0 to 1."),
    *REPLY_RATES,
)
"""Metrics of the comparison of explanations with a reference."""

EXPLANATION = Benchmark(
    name="explanation",
    corpus="newyorker",
    title="New Yorker Caption Contest: explanation",
    paper=corpus.PAPER,
    sampling=corpus.SAMPLING,
    version="1-A",
    answer=lambda o: FreeText(read, reference=True, stop=o.stop),
    metrics=OVERLAP,
    options=corpus.NyccOptions,
    templates=partial(corpus.templates, "explanation"),
    load=corpus.load,
    prompt=corpus.prompt,
    outcome=outcome,
    summary=corpus.summary,
    part=corpus.part,
    signatures=lambda run: {"bleu": bleu_signature().replace("|", ",")},
    lm_eval=in_lm_eval("nyc_explanation", "loglikelihood"),
    question="why is this caption funny?",
    needs=corpus.NEEDS,
)
