"""HumorBench: does an explanation of a caption contain the element that makes it funny?

Narad et al. 2025, arXiv 2507.21476.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from humor_tasks.benchmarks.humorbench import corpus
from humor_tasks.contract import card
from humor_tasks.contract.answers import Answer, FreeText
from humor_tasks.contract.card import UNNAMED, BySubset, Card, guessed
from humor_tasks.contract.definition import Benchmark, Data, Options, Run
from humor_tasks.contract.judging.points import COVERAGE, UNDECIDED, by_points
from humor_tasks.contract.judging.rubrics import rubric_templates
from humor_tasks.contract.metric import REPLY_RATES, Metric, rate
from humor_tasks.contract.options import absent, parameter
from humor_tasks.contract.prompts import Template, filled_turns
from humor_tasks.contract.variants import variants
from humor_tasks.papers import papers
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows.records import Outcome, Point, Prompt, Record
from humor_tasks.scorers.own_turn import own_turn, unwrapped
from humor_tasks.scorers.tagged import count_words, read_tagged

COLUMNS = ("idx", "description", "caption", "element")
WORD_LIMIT = 200
Per = Literal["row", "caption"]


@dataclass(frozen=True)
class HumorBenchOptions(Options):
    """Parameters of HumorBench."""

    scored = (*Options.scored, "prompts", "one_explanation_per")  # `prompts` includes the grader's

    dataset: str = parameter(
        corpus.PUBLIC, "The public corpus (downloaded once, pinned), a CSV file, a folder with it, or `sample`."
    )
    revision: str | None = absent(None, "the public file is pinned by SHA-256; for another file use dataset=<file>.")
    split: Literal["test"] = "test"
    shots: int = absent(0, "HumorBench has no training rows and therefore no worked examples; leave shots out.")
    on_unparsed: Literal["wrong", "exclude"] = parameter(
        "wrong",
        "A reply without an explanation covers no element (`wrong`) or is left out (`exclude`).",
        never={"random": "explanations cannot be guessed; choose wrong or exclude."},
    )
    extraction: Literal["strict"] = "strict"
    seed: int = 1234  # has no effect
    subset: str = parameter(
        "all",
        "Rows to evaluate: `all`, `hard`, `wordplay`, `cultural_reference`, `toxic_or_shocking`, `visual_link`, "
        "`subverted_trope`, `multi_step`, or a file of keys.",
    )
    one_explanation_per: Per = parameter(
        "row",
        "One explanation per `row`, as published, or per `caption`, graded against all its elements (version "
        "1-A-caption).",
    )

    @property
    def variant(self) -> str:
        """`caption` for one explanation per caption."""
        return "caption" if self.one_explanation_per == "caption" else ""


def load(benchmark: Benchmark[HumorBenchOptions], o: HumorBenchOptions) -> Data:
    """One record per row, or per caption."""
    found, commit = corpus.open_csv(o.dataset, corpus.ELEMENTS, corpus.ELEMENTS, COLUMNS)
    where = [found.where(i) for i in range(len(found.rows))]
    rows = [corpus.cells(row, COLUMNS, place) for row, place in zip(found.rows, where, strict=True)]
    keys = [corpus.key(row["idx"], row["element"]) for row in rows]
    corpus.check_distinct(keys, where, "(idx, element)")
    wanted = corpus.subset_keys(o.subset, o.dataset)
    if wanted is not None:
        corpus.check_keys(wanted, keys, o.subset, o.dataset)
    records: dict[str, Record] = {}
    for k, row in zip(keys, rows, strict=True):
        if wanted is None or k in wanted:
            record = _record(k, row, o.one_explanation_per)
            first = records.setdefault(record.id, record)
            if first is not record:
                records[record.id] = replace(first, points=first.points + record.points)
    provenance: dict[str, Any] = {"dataset": o.dataset, "configs": [found.path.name], "split": o.split}
    provenance |= {"requested_revision": None, "revision": commit, "rows": len(records), "fingerprint": found.sha256}
    return Data(tuple(records.values()), provenance)


def _record(k: str, row: Mapping[str, str], per: str) -> Record:
    fields = {name: row[name] for name in ("description", "caption")}
    return Record(
        id=k if per == "row" else f"caption-{corpus.mark(*fields.values())}",
        cluster=corpus.cluster_of(row["description"]),
        fields=fields,
        context=row["description"],
        choices=(),
        target=None,
        groups={},
        points=(Point(k, row["element"]),),
    )


EXPLAIN = Template("humorbench", "explain.txt", required=("description", "caption"))
GRADED_FIELDS = ("description", "caption", "answer", "point")


def prompt(run: Run[HumorBenchOptions], record: Record) -> Prompt:
    """The prompt with description, caption and word limit."""
    fields = {**record.fields, "limit": str(WORD_LIMIT)}
    return Prompt(tuple(filled_turns(run.templates[EXPLAIN.name], fields, EXPLAIN.name)))


def read(reply: str, refused: bool) -> Answer:
    """The explanation in a reply, with the metrics of its format: length and tags."""
    reading = read_tagged(reply, "explanation")
    status = "refused" if refused and not reading.tagged else reading.status
    text = reading.text if status == "answered" else None
    words = count_words(text or "")
    values = {"over_limit": float(words >= WORD_LIMIT), "untagged": float(not reading.tagged)}
    return Answer(text, status, values | ({} if text is None else {"words": float(words)}))


def outcome(run: Run, record: Record, answer: Answer) -> Outcome:
    """The outcome before grading: status and format of the explanation."""
    return answer.outcome(replace(record, target=None))


def read_text(reply: str, refused: bool) -> Answer:
    """Of a task of another package: the model's own turn without its thinking."""
    visible = own_turn(reply).text
    text = unwrapped(visible or "").strip()
    return Answer(text, "answered") if text else Answer(None, "unparsed" if visible is None else "empty")


DISPLAY = card.Display(
    columns=(card.Column("element_coverage", "covered", scale=(0, 1)),),
    charts=(
        BySubset(
            "humorbench_categories",
            "HumorBench: coverage by category",
            "Narad et al. 2025",
            x="category",
            y="coverage",
            note="Elements without a verdict are left out.",
        ),
    ),
    subsets=card.Subsets(corpus.SUBSETS, corpus.subset_keys, corpus.subset_logs),
)

HUMORBENCH = Benchmark(
    name="humorbench",
    card=Card(
        title="HumorBench: coverage of what makes a caption funny",
        considerations=considerations("humorbench", "humorbench"),
        paper=papers.HUMORBENCH,
        source=corpus.source("499 (caption, element) rows, of 309 captions under 156 cartoons.", corpus.ELEMENTS),
        question="HumorBench: does an explanation of a caption contain the element that makes it funny?",
        claim="A model that understands the joke can name its element, which can be checked without asking how funny "
        "it is.",
        prompt="Description and caption; the answer is an explanation of fewer than 200 words in XML tags.",
        metrics="`coverage`, the share of elements that a grader finds in the explanation, clustered by cartoon; the "
        "shares of replies that are too long, without tags, unreadable or refusals.",
        sampling=UNNAMED,
        splits={"test": 499},
        dates=corpus.DATES,
        chance=guessed(0.0, "it contains no element", "coverage", "all_covered", by="an empty explanation"),
        differences=(
            "The prompts of explainer and grader are in this package's own words; `prompts=FOLDER` takes the paper's.",
            "In lm-eval a second command, `humor-tasks grade`, grades the logged replies.",
            "The list of `subset=hard` is the authors' of May 2025; that of the table of July 2025 was not found.",
            "The lists `visual_link`, `subverted_trope` and `multi_step` are this package's, by a language model that "
            "read the full caption, description and element once; its kappa with an earlier reading of shortened texts "
            "is 0.14, 0.43 and 0.47, and no person has checked them.",
        ),
        related=("humorbench_autograder", "explanation"),
        needs="one public file",
    ),
    corpus="humorbench",
    version="1-A",
    answer=FreeText(read),
    metrics=(
        *COVERAGE,
        rate("over_limit", "Share of explanations of 200 words or more."),
        rate("untagged", "Share of replies without tags, which are the explanation as a whole."),
        Metric("words", "lower", about="Length of the explanation in words.", neutral=True),
        *REPLY_RATES,
        *UNDECIDED,
    ),
    options=HumorBenchOptions,
    templates=(EXPLAIN, *rubric_templates("humorbench", fields=GRADED_FIELDS)),
    load=load,
    prompt=prompt,
    outcome=outcome,
    judging=by_points("humorbench"),
    display=DISPLAY,
    lm_eval=variants(
        "humorbench",
        "generate_until",
        settings={"": {}, "_hard": {"subset": "hard"}},
        about="Explanations, generated and logged (--log_samples); `humor-tasks grade` grades them.",
        wordings=True,
    ),
    typical=f"<explanation>{'The caption takes what is drawn for the most ordinary thing. ' * 7}</explanation>",
    suites={"judged": {}},
    ability="why",
)

ANY_TEXT = replace(
    HUMORBENCH,
    answer=FreeText(read_text),
    outcome=lambda run, record, answer: replace(outcome(run, record, answer), values={}),
    judging=by_points(),
)
"""How `element_coverage` reads and judges the replies in tasks of other packages."""
