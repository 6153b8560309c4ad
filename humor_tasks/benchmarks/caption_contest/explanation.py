"""Explanation: why are the caption and the cartoon funny together?

Hessel et al., ACL 2023, arXiv 2209.06293, section 2.
"""

from __future__ import annotations

from collections.abc import Sequence

from humor_tasks.benchmarks.caption_contest import corpus, rows
from humor_tasks.benchmarks.caption_contest.corpus import DIFFERENCES, in_lm_eval
from humor_tasks.contract import card
from humor_tasks.contract.answers import Answer, FreeText
from humor_tasks.contract.card import Level
from humor_tasks.contract.definition import Benchmark, Run
from humor_tasks.contract.metric import REPLY_RATES, Metric
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.scorers.bleu import bleu_estimate, bleu_signature, sentence_bleu
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.explanation import read_explanation
from humor_tasks.scorers.rouge import rouge_l


def read(reply: str, refused: bool) -> Answer:
    """The text after "Explanation:", as in the released code, or the whole reply."""
    reading = read_explanation(reply)
    status = "refused" if refused and reading.status != "answered" else reading.status
    return Answer(reading.text if status == "answered" else None, status)


def outcome(run: Run, record: Record, answer: Answer) -> Outcome:
    """Overlap with the reference.

    A reply without an explanation counts as an empty text, or is left out with `on_unparsed=exclude`. Explanations
    cannot be guessed, so `random` is the same as `wrong`.
    """
    values: dict[str, float] = {}
    if record.target is not None and (answer.value is not None or run.options.on_unparsed != "exclude"):
        values["bleu"] = sentence_bleu(answer.value or "", record.target)
        values["rouge_l"] = rouge_l([answer.value or ""], [record.target])[0]
    return answer.outcome(record, values)


def corpus_bleu(outcomes: Sequence[Outcome]) -> Estimate:
    """Corpus BLEU, which is not the mean of sentence BLEU."""
    written, references = [o.answer or "" for o in outcomes], [o.target or "" for o in outcomes]
    return bleu_estimate(written, references, [o.cluster for o in outcomes])


OVERLAP = (
    Metric(
        "bleu",
        estimate=corpus_bleu,
        about="Corpus BLEU-4 of sacreBLEU against the reference, from 0 to 100.",
        span=(0, 100),
    ),
    Metric("rouge_l", about="Mean ROUGE-L F-measure against the reference, from 0 to 1.", span=(0, 1)),
    *REPLY_RATES,
)
"""Metrics of the comparison of explanations with a reference."""


def bleu_used(run: Run) -> dict[str, str]:
    """For a signature: how BLEU is computed."""
    return {"bleu": bleu_signature().replace("|", ",")}


EXPLANATION = Benchmark(
    name="explanation",
    card=corpus.card(
        title="New Yorker Caption Contest: explanation",
        considerations=considerations("newyorker_caption_contest", "explanation"),
        section="section 2",
        source=corpus.source("config `explanation` (fold 0) and `explanation_1` to `explanation_4`."),
        question="Explanation: why are the caption and the cartoon funny together?",
        claim="A model that understands the joke can explain it.",
        prompt="The scene and the caption.",
        metrics="Corpus BLEU-4 (sacreBLEU, 0..100) and mean ROUGE-L f-measure (0..1); where a harness provides "
        "log-likelihoods of the reference, its perplexity per word, as published (`word_perplexity`).",
        splits={"train": None, "validation": 130, "test": 131},
        chance=tuple(
            Level(value, name, "T5-11B, caption only", "Hessel et al. 2023, Table 5, row Caption only (T5-11B)")
            for name, value in (("bleu", 3.61), ("rouge_l", 0.178))
        ),
        differences=(
            *DIFFERENCES,
            "The published perplexity is per word (section 2.1) of the released count `n_expl_toks`, which has one "
            "more than whitespace separates in both printed examples. `word_perplexity` is per word, separated by "
            "whitespace, as `n_tokens_label` counts in the hub's rows: of one text it is higher, by 5 to 8 % where it "
            "is 20 to 110. `humor-tasks reproduce` converts it.",
            "The paper does not give the prompt of OFA fine-tuned to explain; here it is the last turn of the "
            "benchmark's own prompt.",
        ),
        related=("explanation_preference", "mock_explaining", "humorbench"),
    ),
    corpus="newyorker",
    version="1-A",
    answer=lambda o: FreeText(read, reference=True, stop=o.stop),
    metrics=OVERLAP,
    options=corpus.NyccOptions,
    templates=corpus.templates("explanation", "caption"),
    load=rows.load,
    prompt=corpus.prompt,
    outcome=outcome,
    summary=corpus.summary,
    part=corpus.part,
    signatures=bleu_used,
    uses=card.Uses(
        trains=frozenset({"ofa", "text"}), votes=card.PREFERENCE, chain=card.Chain("explaining", scene="cartoon")
    ),
    display=card.Display(columns=(card.OVERLAP,)),
    lm_eval=in_lm_eval("nyc_explanation", "loglikelihood"),
    suites={"writing": {}},
    ability="why",
)
