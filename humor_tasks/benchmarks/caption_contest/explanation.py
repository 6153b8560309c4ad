"""Explanation: say why the caption and the cartoon are funny together.

Claim: a model that understands the joke can explain it (Hessel et al., ACL 2023, arXiv 2209.06293,
section 2). Automatic scores compare with one human explanation and say little about its quality;
the paper's main evidence is human preference (Table 3).
Source: jmhessel/newyorker_caption_contest, config `explanation` (fold 0) and `explanation_1`.. `_4`.
Metrics: corpus BLEU-4 (sacreBLEU, 0..100) and mean ROUGE-L f-measure (0..1); where a harness gives
log-likelihoods of the reference, its word and byte perplexity (published PPL is per model token).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from humor_tasks.benchmarks.caption_contest import corpus
from humor_tasks.benchmarks.contract import Benchmark, Run
from humor_tasks.data.records import Outcome, Record
from humor_tasks.scorers.bleu import bleu_estimate, bleu_signature, sentence_bleu
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.explanation import read_explanation
from humor_tasks.scorers.rouge import rouge_l


def answer_turn(record: Record) -> str:
    """How a worked example is answered."""
    return f"Explanation: {record.target}"


def outcome(run: Run, record: Record, reply: str, refused: bool) -> Outcome:
    """Take the text after "Explanation:", as released, or the whole reply.

    A reply without an explanation counts as an empty text, or is left out with
    `on_unparsed=exclude`; there is no text to guess, so `random` is the same as `wrong`.
    """
    said = read_explanation(reply)
    status = said.status
    if refused and status != "answered":
        status = "refused"
    answer = said.text if status == "answered" else None
    values = corpus.reply_rates(status)
    if record.target is not None and (answer is not None or run.options.on_unparsed != "exclude"):
        # An item's `bleu` is its sentence BLEU, to look at; the metric is over the corpus.
        values["bleu"] = sentence_bleu(answer or "", record.target)
        values["rouge_l"] = rouge_l([answer or ""], [record.target])[0]
    return Outcome(record.id, record.cluster, record.groups, status, answer, record.target, values)


def over(name: str, outcomes: Sequence[Outcome]) -> Estimate:
    """BLEU over the corpus; every other metric is a mean of items."""
    if name != "bleu":
        return corpus.mean_estimate(name, outcomes)
    written, references = [o.answer or "" for o in outcomes], [o.target or "" for o in outcomes]
    return bleu_estimate(written, references, [o.cluster for o in outcomes])


EXPLANATION = Benchmark(
    name="explanation",
    title="New Yorker Caption Contest: explanation",
    paper=corpus.PAPER,
    version="1-A",
    card=corpus.CARD,
    letters="",
    metric_names=("bleu", "rouge_l", "unparsed", "refused"),
    options=corpus.NyccOptions,
    templates=partial(corpus.templates, "explanation"),
    load=corpus.load,
    prompt=partial(corpus.prompt, answer=answer_turn),
    outcome=outcome,
    estimate=partial(corpus.estimate, over=over),
    part=corpus.part,
    signatures=lambda run: {"bleu": bleu_signature().replace("|", ",")},
)
