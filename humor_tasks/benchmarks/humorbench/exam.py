"""Evaluation of HumorBench's autograder: does a judge model grade as people do?

Narad et al. 2025, arXiv 2507.21476.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from humor_tasks.benchmarks.humorbench import corpus
from humor_tasks.contract.answers import Answer, FreeText
from humor_tasks.contract.card import Card, Level, Uses
from humor_tasks.contract.definition import Benchmark, Data, Options, Run
from humor_tasks.contract.judging.missing import Verdicts
from humor_tasks.contract.judging.rubrics import JUDGE_FIRST, JudgeFirst, Rubric, rubric_templates
from humor_tasks.contract.metric import REPLY_RATES, Direction, Metric, has
from humor_tasks.contract.options import absent, parameter
from humor_tasks.contract.variants import variants
from humor_tasks.errors import BadInput
from humor_tasks.papers import papers
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows import join_fingerprints
from humor_tasks.rows.records import Outcome, Prompt, Record
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.judge import METRICS as JUDGE_METRICS
from humor_tasks.scorers.judge import PROPORTIONS, judge_exam
from humor_tasks.scorers.verdict import read_verdict

COLUMNS = (*corpus.RUBRIC, "label")
PUBLIC_RUBRICS = ("gpt_4o_rubric.csv", "gemini_2.5_pro_rubric.csv")
LABELS = ("PASS", "FAIL")


@dataclass(frozen=True)
class ExamOptions(Options):
    """Parameters of the evaluation of a judge; its prompt and settings are those of `element_coverage`."""

    scored = (*Options.scored, "structured")

    dataset: str = parameter(
        corpus.PUBLIC,
        "The public rubrics (downloaded once, pinned), a rubric CSV or several separated by commas, or `sample`.",
        also=list,
    )
    revision: str | None = absent(None, "the public files are pinned by SHA-256; for other files use dataset=<file>.")
    split: Literal["test"] = "test"
    shots: int = absent(0, "the judge's prompt has no worked examples; leave shots out.")
    on_unparsed: Literal["exclude"] = "exclude"
    extraction: Literal["strict"] = "strict"
    seed: int = parameter(1234, "Seed of the judge.")
    structured: bool = parameter(False, "Request a JSON verdict through the provider's structured output.")
    judge_first: JudgeFirst = parameter("none", JUDGE_FIRST)
    temperature: float | None = parameter(0.0, "Temperature of the judge; `none`: the provider's default.", least=0)

    def without_effect(self) -> set[str]:
        """See Options."""
        return super().without_effect() | ({"judge_first"} if self.judge_first == "none" else set())


def load(benchmark: Benchmark[ExamOptions], options: ExamOptions) -> Data:
    """One record per labelled explanation, file by file."""
    sources = [
        (dataset, name)
        for dataset in options.dataset.split(",")
        for name in (PUBLIC_RUBRICS if dataset == corpus.PUBLIC else (dataset,))
    ]
    records: list[Record] = []
    where: list[str] = []
    sums: list[str] = []
    commit = None
    for dataset, name in sources:
        table, commit = corpus.open_csv(dataset, name, corpus.SAMPLE_RUBRIC, corpus.RUBRIC)
        if "label" not in table.rows[0]:
            raise BadInput(f"{table.path}: has no column 'label'; it must hold a person's PASS or FAIL for each row.")
        for i, row in enumerate(table.rows):
            where.append(table.where(i))
            records.append(_record(row, where[-1]))
        sums.append(table.sha256)
    corpus.check_distinct([r.id for r in records], where, "(idx, element) by the same explainer")
    names = [name for _, name in sources]
    provenance: dict[str, Any] = {"dataset": options.dataset, "configs": names, "split": options.split}
    provenance |= {"requested_revision": None, "revision": commit, "rows": len(records)}
    return Data(tuple(records), provenance | {"fingerprint": join_fingerprints(sums)})


def _record(row: Mapping[str, str], where: str) -> Record:
    texts = corpus.cells(row, corpus.RUBRIC, where)
    label = row["label"].strip()
    if label not in LABELS:
        raise BadInput(f"{where}: label is {label!r}; it must be a person's PASS or FAIL.")
    fields = {name: texts[name] for name in ("description", "caption")}
    return Record(
        id=f"{corpus.key(texts['idx'], texts['element'])}-{texts['explainer_model']}",
        cluster=corpus.cluster_of(texts["description"]),
        fields=fields | {"answer": texts["explanation"], "point": texts["element"]},
        context=texts["explanation"],
        choices=(),
        target=label,
        groups={"explainer": texts["explainer_model"]},
    )


def prompt(run: Run[ExamOptions], record: Record) -> Prompt:
    """The grading prompt, after the judge's own view where `judge_first` asks for it."""
    return Rubric(run.templates).ask(record.fields, run.options.structured)


def read(structured: bool, reply: str, refused: bool) -> Answer:
    """The verdict, PASS or FAIL."""
    verdict = read_verdict(reply, "json" if structured else "tags")
    if verdict.passed is None:
        return Answer(None, "refused" if refused else verdict.status)
    return Answer(LABELS[not verdict.passed], verdict.status)


def outcome(run: Run[ExamOptions], record: Record, answer: Answer) -> Outcome:
    """Whether the verdict agrees with the label."""
    known = answer.value is not None and record.target is not None
    return answer.outcome(record, {"accuracy": float(answer.value == record.target)} if known else {})


_ABOUT = {
    "accuracy": "Share of verdicts that agree with the human label.",
    "false_pass_rate": "Share of the rows labelled FAIL that the judge passes.",
    "false_fail_rate": "Share of the rows labelled PASS that the judge fails.",
    "precision": "Share of the judge's passes that are labelled PASS.",
    "recall": "Share of the rows labelled PASS that the judge passes.",
    "f1": "Harmonic mean of precision and recall.",
    "cohen_kappa": "Cohen's kappa: agreement beyond chance, by how often each says PASS.",
    "gwet_ac1": "Gwet's AC1: agreement beyond chance, stable where nearly all labels are equal.",
}


def _agreement_metric(name: str) -> Metric:

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        labels, verdicts = [o.target == "PASS" for o in outcomes], [o.answer == "PASS" for o in outcomes]
        return judge_exam(labels, verdicts, [o.cluster for o in outcomes])[name]

    direction: Direction = "lower" if name.startswith("false_") else "higher"
    lm_eval_name = "acc" if name == "accuracy" else ""
    share = name in PROPORTIONS
    span = None if share else (-1, 1)
    return Metric(name, direction, estimate, lm_eval_name, has("accuracy"), share, _ABOUT[name], span=span)


def summary(run: Run[ExamOptions], metric: Metric, outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
    """A metric over all rows and, where there are several explainers, per explainer."""
    explainers: dict[str, list[Outcome]] = {}
    for o in outcomes:
        explainers.setdefault(o.groups["explainer"], []).append(o)
    by_explainer = {
        f"{metric.name}_{name}": metric.over(explainer_outcomes) for name, explainer_outcomes in explainers.items()
    }
    return {metric.name: metric.over(outcomes)} | (by_explainer if len(by_explainer) > 1 else {})


def part(run: Run[ExamOptions], groups: Mapping[str, str]) -> str | None:
    """The explainer, where there are several."""
    several = len({record.groups["explainer"] for record in run.records}) > 1
    return groups["explainer"] if several else None


def _filled(o: Outcome, agrees: bool) -> Outcome:
    if o.answer is not None or o.target is None:
        return o
    answer = LABELS[(o.target == LABELS[0]) != agrees]
    return replace(o, answer=answer, values={**o.values, "accuracy": float(agrees)})


VERDICTS = Verdicts(lambda o: 1.0, lambda o: float(o.answer is None), _filled, ("accuracy",))

PASSES_ALL = (0.765, 1.0, 0.0, 0.765, 1.0, 0.867, 0.0, 0.704)
"""JUDGE_METRICS of a judge that passes everything on the default rows."""

AUTOGRADER = Benchmark(
    name="humorbench_autograder",
    card=Card(
        title="HumorBench: agreement of an autograder with human labels",
        considerations=considerations("humorbench", "humorbench_autograder"),
        paper=papers.HUMORBENCH,
        source=corpus.source("rubric files: explanations, each labelled PASS or FAIL by a person.", *PUBLIC_RUBRICS),
        question="Evaluation of HumorBench's autograder: does a judge model grade as people do?",
        claim="A score from a judge is only as reliable as the judge.",
        prompt="The grading prompt of `element_coverage`.",
        metrics="Accuracy, rates of false passes and false fails, precision, recall, F1 (PASS is positive), Cohen's "
        "kappa, Gwet's AC1, clustered by cartoon, over all rows and per explainer. An unreadable verdict is excluded "
        "from the denominator and counted as `unparsed`.",
        sampling="the paper names none.",
        splits={"test": 200},
        dates=corpus.DATES,
        chance=tuple(
            Level(value, metric, "a judge that passes everything", "153 of the 200 labels are PASS")
            for metric, value in zip(JUDGE_METRICS, PASSES_ALL, strict=True)
        ),
        differences=(
            "The grader's prompt is in this package's own words; `prompts=FOLDER` takes the paper's.",
            "By default 200 of the paper's 400 labels are read, those of two of its four explainers; `dataset=FILE` "
            "takes another file.",
        ),
        related=("humorbench", "crowd_groups"),
        needs="one public file",
        usage="The model under test is the judge; its prompt and settings are those of a grader in `element_coverage`.",
    ),
    corpus="humorbench",
    version="1-A",
    answer=lambda o: FreeText(partial(read, o.structured), scorer="judge_agreement", whole=True),
    metrics=(*map(_agreement_metric, JUDGE_METRICS), *REPLY_RATES),
    options=ExamOptions,
    templates=lambda o: rubric_templates("humorbench", judge_first=o.judge_first),
    load=load,
    prompt=prompt,
    outcome=outcome,
    summary=summary,
    part=part,
    verdicts=VERDICTS,
    uses=Uses(examines_judges=True),
    lm_eval=variants("humorbench_autograder", "generate_until", wordings=True),
)
