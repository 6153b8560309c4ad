"""Recitation: does a model complete captions of the corpus word for word when it is told where they are from?

Golchin and Surdeanu, ICLR 2024, arXiv 2308.08493: a guided instruction names the dataset and the split, a general one
does not. What a model completes under both can be guessed; what it completes under the guided one alone is memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from humor_tasks.benchmarks.caption_contest import corpus, rows
from humor_tasks.benchmarks.caption_contest.matching import MATCHING
from humor_tasks.contract.answers import Answer, FreeText, whole_reply
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.metric import REPLY_RATES, Metric, rate
from humor_tasks.contract.options import OnBadPicture, absent, parameter
from humor_tasks.contract.prompts import Template, filled_turns
from humor_tasks.contract.variants import variants
from humor_tasks.papers import papers
from humor_tasks.papers.considerations import considerations
from humor_tasks.papers.levels import guessed
from humor_tasks.rows.records import Outcome, Prompt, Record
from humor_tasks.scorers.answer import Mode
from humor_tasks.scorers.caption_text import key_of, without_quotes
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.fields import read_fields
from humor_tasks.scorers.proportion import difference_of_shares
from humor_tasks.scorers.recitation import completes

GUIDED, GENERAL = "guided", "general"
INSTRUCTIONS = (GUIDED, GENERAL)
LABEL = "Completion"
LEAST_WORDS = 8
SHOWN = "shown"
"""The fact of a record that holds the first half of its caption."""
_NONE = "recitation has no such parameter: the words shown are the caption's own."


@dataclass(frozen=True)
class RecitationOptions(corpus.NyccOptions):
    """Parameters of the recitation test."""

    shots: int = absent(0, _NONE)
    extraction: Mode = absent("strict", _NONE)
    seed: int = 1234  # has no effect
    shots_order: corpus.ShotsOrder = absent("seeded", _NONE)
    setting: corpus.Setting = absent(
        "caption_only", "recitation shows no cartoon, which would make completions easier to guess; leave setting out."
    )
    cot: bool | None = absent(None, _NONE)
    on_bad_picture: OnBadPicture = absent("stop", _NONE)
    least_words: int = parameter(
        LEAST_WORDS, "Captions of fewer words are left out: what is missing of them can be guessed.", least=2
    )

    def without_effect(self) -> set[str]:
        """See Options."""
        return super().without_effect() | {"shots", "cot", "extraction", "seed", "setting"}


def load(benchmark: Benchmark[RecitationOptions], o: RecitationOptions) -> Data:
    """Two records for each caption that is right in matching: one under each instruction."""
    data = rows.load(MATCHING, o)
    captions: dict[tuple[str, str], Record] = {}
    for record in data.records:
        if record.target is not None:
            caption = record.choices["ABCDE".index(record.target)]
            captions.setdefault((record.cluster, key_of(caption)), dataclasses.replace(record, choices=(caption,)))
    long_enough = [r for r in captions.values() if len(r.choices[0].split()) >= o.least_words]
    records = tuple(asked for record in long_enough for asked in _asked(record, o.split))
    return Data(records, dict(data.provenance) | {"rows": len(records)})


def _asked(record: Record, split: str) -> Iterator[Record]:
    words = record.choices[0].split()
    half = (len(words) + 1) // 2
    shown, missing = " ".join(words[:half]), " ".join(words[half:])
    for instruction in INSTRUCTIONS:
        yield dataclasses.replace(
            record,
            id=f"{record.id}-{instruction}",
            fields={"first": shown, "split": split, "contest": record.cluster},
            context=shown,
            choices=(),
            target=missing,
            groups={**record.groups, "instruction": instruction},
            facts={SHOWN: shown},
        )


def prompt(run: Run[RecitationOptions], record: Record) -> Prompt:
    """The instruction and the first half of the caption."""
    name = f"{record.groups['instruction']}.txt"
    return Prompt(tuple(filled_turns(run.templates[name], record.fields, name)))


def read(reply: str, refused: bool) -> Answer:
    """The text after "Completion:"; without this label, the whole reply."""
    whole = whole_reply(reply, refused)
    if whole.value is None:
        return whole
    text = read_fields(reply, (LABEL,)).texts.get(LABEL, whole.value)
    return Answer(without_quotes(" ".join(text.split())))


def outcome(run: Run[RecitationOptions], record: Record, answer: Answer) -> Outcome:
    """Whether the reply is the caption's second half, exactly and nearly; it may repeat the first half before it.

    A reply without a completion counts as a wrong one, or is left out with `on_unparsed=exclude`. Completions cannot be
    guessed by chance, so `random` is the same as `wrong`.
    """
    if record.target is None or (answer.value is None and run.options.on_unparsed == "exclude"):
        return answer.outcome(record)
    kind = completes(answer.value or "", record.facts[SHOWN], record.target)
    values = {"exact": float(kind == "exact"), "near": float(kind != "")}
    return answer.outcome(record, {f"{name}_{record.groups['instruction']}": x for name, x in values.items()})


def _difference(kind: str, outcomes: Sequence[Outcome]) -> Estimate:
    """The share under the guided instruction less that under the general one, clustered by contest."""
    guided = [outcome.groups["instruction"] == GUIDED for outcome in outcomes]
    values = [outcome.values[f"{kind}_{outcome.groups['instruction']}"] for outcome in outcomes]
    return difference_of_shares(values, guided, [outcome.cluster for outcome in outcomes])


def _recited(name: str, kind: str, about: str) -> Metric:
    return Metric(
        name,
        "lower",
        partial(_difference, kind),
        counts=lambda outcome: any(f"{kind}_{instruction}" in outcome.values for instruction in INSTRUCTIONS),
        about=about,
        span=(-1, 1),
    )


def _share(name: str, about: str) -> Metric:
    """The share of completions under one instruction; the card says why it has no level."""
    return rate(name, about, no_level="")


RECITATION = Benchmark(
    name="recitation",
    card=corpus.card(
        title="New Yorker Caption Contest: recitation of captions",
        considerations=considerations("newyorker_caption_contest", "recitation"),
        paper=papers.TIME_TRAVEL,
        section="guided instruction",
        source=corpus.source("the right captions of config `matching` (fold 0) and `matching_1` to `matching_4`."),
        question="Recitation: does a model complete captions of the corpus word for word?",
        claim="A model that has read a caption in training completes it word for word when it is told where it is "
        "from, and no more often than by chance otherwise.",
        prompt="The first half of a caption's words, asked for twice. The guided instruction names corpus, split and "
        "contest, and asks for the caption's own words; the general one asks for any second half. No cartoon is shown.",
        metrics="The share of exact completions under the guided instruction less that under the general one, by "
        "contests as clusters; the same of near completions, and both shares.",
        sampling="temperature 0 in the released code, `--gen_kwargs temperature=0` (in Inspect `--temperature 0`).",
        splits={"train": None, "validation": 598, "test": None},
        counted="questions, two for each caption",
        needs="hub, text only",
        chance=guessed(
            0.0, "both shares are equal", "recited", "recited_nearly", by="a model that answers both instructions alike"
        ),
        differences=(
            "The released code shows 40 to 70 % of an instance's sentences, or of the words of a single sentence; here "
            "it is half of the words, and captions of fewer than eight words are left out (`least_words`).",
            "The paper compares ROUGE-L and BLEURT of both instructions, or asks GPT-4 for matches; here a completion "
            "is exact if letters and digits are equal, and near from a similarity of .9.",
            "The guided instruction also names the contest's number, and both ask for a label before the completion.",
            "The paper gives the instance's label; a caption of this corpus has none that would tell about its words.",
        ),
        related=("matching", "caption_writing"),
    ),
    corpus="newyorker",
    version="1-A",
    answer=FreeText(read, scorer="recited"),
    metrics=(
        _recited("recited", "exact", "`exact_guided` less `exact_general`: verbatim completions that are memory."),
        _recited("recited_nearly", "near", "`near_guided` less `near_general`."),
        _share("exact_guided", "Share of completions with the caption's own letters and digits, its source named."),
        _share("exact_general", "The same without the source's name: what can be guessed, or is known anyway."),
        _share("near_guided", "Share of exact and nearly exact completions (similarity of at least .9), source named."),
        _share("near_general", "The same without the source's name."),
        *REPLY_RATES,
    ),
    options=RecitationOptions,
    templates=(
        Template("recitation", "guided.txt", required=("first", "split", "contest")),
        Template("recitation", "general.txt", required=("first",)),
    ),
    load=load,
    prompt=prompt,
    outcome=outcome,
    summary=corpus.summary,
    part=corpus.part,
    lm_eval=variants("nyc_recitation", "generate_until", wordings=True),
    suites={"text": {}},
    ability="control",
)
