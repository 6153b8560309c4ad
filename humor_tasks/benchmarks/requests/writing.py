"""Humor writing: what does a model write for the requests in a file?

The requests are the user's, such as those of MWAHAHA, SemEval-2026 Task 1 (Castro et al. 2026). There are no texts of
people and no judges: the run has the model write, and describes the words. Which model is the funnier writer is asked
afterwards, of judges or people, about the texts in the logs.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from humor_tasks.contract.answers import Answer, FreeText
from humor_tasks.contract.card import Card, Source, Uses
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.metric import REPLY_RATES, Metric, share
from humor_tasks.contract.options import OnUnparsed, WithPictures, absent, parameter
from humor_tasks.contract.prompts import Template, filled_turns
from humor_tasks.contract.texts import read_texts
from humor_tasks.contract.variants import variants
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput, nearest
from humor_tasks.papers import papers
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows import provenance_of
from humor_tasks.rows.media.picture import pillow_version
from humor_tasks.rows.records import VARIATION, Outcome, Prompt, Record, Turn
from humor_tasks.rows.requests import open_requests
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.recitation import repeated_shares

CARD, SAMPLE = "writing_requests", "requests.jsonl"
ONE = Template("requests", "write.one.txt", required=("text",))
SEVERAL = Template("requests", "write.several.txt", required=("text", "count"))


@dataclass(frozen=True)
class RequestOptions(WithPictures):
    """Parameters of humor writing."""

    scored = (*WithPictures.scored, "count")  # which says how a reply is read

    dataset: str = parameter(
        "",
        "File of requests: .jsonl of {id, text, picture, system}, .csv or .tsv with these columns or with those of "
        "MWAHAHA and Humor Transfer Bench (docs/requests.md); or `sample` (packaged, invented).",
    )
    revision: str | None = absent(None, "a file has no revisions; leave revision out.")
    split: Literal["test"] = "test"
    shots: int = absent(0, "there are no worked examples; leave shots out.")
    on_unparsed: OnUnparsed = absent("wrong", "a reply that cannot be read has no text to measure; leave it out.")
    extraction: Literal["strict"] = "strict"
    seed: int = 1234  # has no effect
    images: str | None = parameter(None, "Folder of the pictures, in the place of the folder of the file.")
    count: int = parameter(1, "Number of texts to write for each request.", least=1)

    def without_effect(self) -> set[str]:
        """Also the folder of the pictures."""
        return super().without_effect() | {"shots", "on_unparsed", "extraction", "seed", "images"}


def load(benchmark: Benchmark[RequestOptions], o: RequestOptions) -> Data:
    """One record per request; its text is a fact too, so that every log has it."""
    path = Path(folder(CARD)) / SAMPLE if o.dataset == "sample" else Path(o.dataset).expanduser()
    if not path.is_file():
        told = f"dataset={o.dataset} is neither 'sample' nor a file" if o.dataset else "dataset is missing"
        remedy = "give the file of requests (.jsonl, .csv or .tsv) as dataset=FILE."
        raise BadInput(f"{told}; {remedy}{nearest(o.dataset, ['sample'])}")
    rows = open_requests(path, Path(o.images).expanduser() if o.images else None, o.on_bad_picture)
    records = []
    for row in rows.rows:
        identity, text = row["id"], row["text"]
        shown, facts = {"text": text, "system": row["system"]}, {"request": text}
        records.append(Record(identity, identity, shown, text, (), "", {}, row["picture"], facts=facts))
    source = provenance_of([rows], o.dataset, o.split, None, len(records))
    pictures = sum(record.picture is not None for record in records)
    return Data(tuple(records), source | ({"pictures": pictures} if pictures else {}))


def prompt(run: Run[RequestOptions], record: Record) -> Prompt:
    """The request; a system message of its own takes the place of the template's."""
    ((name, template),) = run.templates.items()
    turns = filled_turns(template, {**record.fields, "count": str(run.options.count)}, name)
    if system := record.fields["system"]:
        turns = [Turn("system", system), *(turn for turn in turns if turn.role != "system")]
    return Prompt(tuple(turns)).showing(record.picture)


def outcome(run: Run[RequestOptions], record: Record, answer: Answer) -> Outcome:
    """The measures of the texts' words."""
    facts = {name: fact for name, fact in record.facts.items() if name == VARIATION}
    written = {"written": float(answer.value is not None)}
    return answer.outcome(dataclasses.replace(record, target=None, facts=facts), written)


def repeated(outcomes: Sequence[Outcome]) -> Estimate:
    """The share of texts that are also written for another request."""
    clusters = [o.cluster for o in outcomes]
    return clustered_proportion(repeated_shares([o.facts["captions"] for o in outcomes], clusters), clusters)


HUMOR_WRITING = Benchmark(
    name="humor_writing",
    card=Card(
        title="Humor writing: requests in a file",
        paper=papers.MWAHAHA,
        section="abstract",
        source=Source(
            pin="The requests are your file: give -T dataset=FILE; -T dataset=sample is a packaged, invented sample.",
            licence="That of your file. Humor Transfer Bench is CC BY 4.0; no licence of MWAHAHA's inputs was found.",
            rows="Every line of the file.",
        ),
        question="Humor writing: what does a model write for the requests in a file?",
        claim="The texts that models write for the same requests show which of them is the funnier writer.",
        prompt="The request, with its picture and its system message where it has them. The reply is the text alone; "
        "with `count` above 1, a numbered list.",
        metrics="The share of requests with the texts that were asked for, their length, repetition and diversity.",
        sampling="nothing, because the requests are the user's.",
        splits={"test": None},
        counted="requests in the file",
        dates="Those of your file.",
        languages=("en", "es", "zh"),
        considerations=considerations("writing_requests", "humor_writing"),
        differences=(
            "Any file of requests is read; MWAHAHA's columns are put into this package's words.",
            "The prompt is this package's own; `prompts=FOLDER` takes another, such as the organisers'.",
            "Nobody votes in the run; MWAHAHA ranks systems by votes of people on pairs of texts.",
        ),
        related=("caption_writing", "brainstorm"),
        needs="a file of requests",
    ),
    version="1-A",
    answer=lambda o: FreeText(partial(read_texts, o.count), scorer="texts_written"),
    metrics=(
        share("written", "Share of requests for which the reply has as many texts as were asked for."),
        *REPLY_RATES,
        Metric("characters", about="Mean length of a text in characters.", neutral=True),
        Metric("words", about="Mean length of a text in words.", neutral=True),
        Metric(
            "repeated",
            "lower",
            repeated,
            counts=lambda o: "captions" in o.facts,
            proportion=True,
            about="Share of texts that the model also wrote for another request: equal letters and digits.",
        ),
        Metric(
            "ead",
            about="Diversity of the texts of one request, with `count` above 1, by distinct n-grams.",
            span=(0, math.inf),
        ),
        share("distinct", "Share of different texts among those of one request, with `count` above 1."),
    ),
    options=RequestOptions,
    templates=lambda o: (ONE if o.count == 1 else SEVERAL,),
    load=load,
    prompt=prompt,
    outcome=outcome,
    # Pillow where the file has pictures: a part without any has the signature of the whole.
    signatures=lambda run: {"pillow": pillow_version()} if run.data.provenance.get("pictures") else {},
    uses=Uses(writes="captions"),
    lm_eval=variants("humor_writing", "generate_until", wordings=True),
    suites={"writing": {}},
    ability="writing",
)
