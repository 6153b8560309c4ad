"""The contract: what a benchmark is, once, for every harness.

Data flows one way: rows -> Record -> Prompt -> reply -> Outcome -> Estimates. A benchmark fills in
the functions of `Benchmark`; an adapter opens it with parameters and gets a `Run`, which is all
that an adapter ever sees. Imports no harness and no torch.
"""

from __future__ import annotations

import dataclasses
import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from humor_tasks import __version__
from humor_tasks.benchmarks.answers import Answer, AnswerForm
from humor_tasks.benchmarks.metric import Metric
from humor_tasks.benchmarks.options import Options as Options
from humor_tasks.benchmarks.options import check_name
from humor_tasks.data.records import Outcome, Prompt, Record
from humor_tasks.errors import BadInput
from humor_tasks.scorers.estimate import Estimate


@dataclass(frozen=True)
class Data:
    """Records to evaluate, where they came from, and where worked examples are drawn from.

    `provenance` holds dataset, configs, split, requested and resolved revision, rows and the
    fingerprint of the rows. `pool` gives the training records of a fold by cluster, loaded when
    shots are asked for; None where there are no training rows. `dropped` are the ids of rows that are not
    scored, which predictions may name.
    """

    records: tuple[Record, ...]
    provenance: Mapping[str, Any]
    pool: Callable[[str], Mapping[str, Sequence[Record]]] | None = None
    dropped: frozenset[str] = frozenset()


def whole_and_parts(run: Run, metric: Metric, outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
    """A metric over all outcomes, and beside it over each part that the benchmark names."""
    parts: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        parts.setdefault(run.benchmark.part(run, outcome.groups) or "", []).append(outcome)
    each = {f"{metric.name}_{part}": metric.over(held) for part, held in parts.items() if part}
    return {metric.name: metric.over(outcomes)} | each


@dataclass(frozen=True)
class Benchmark:
    """One benchmark, defined once.

    `answer` is the form of its answers, or gives it for the options. `metrics` has the headline metric first.
    `outcome` turns an answer into what it was worth. `summary` turns the outcomes that count towards one metric into
    estimates by name: that of the whole, and where `part` names the part of the data that an item belongs to (from its
    groups; None: no part), one of each part, named METRIC_PART. `signatures` adds to a score's signature. `judged` says
    that grader models are asked about its answers. `version` counts comparability apart from the package: "1-A" is
    protocol 1 with prompt set A; scores of different versions must not be compared.
    """

    name: str
    title: str
    paper: str
    version: str
    answer: AnswerForm | Callable[[Any], AnswerForm]
    metrics: tuple[Metric, ...]
    options: type[Options]
    templates: Callable[[Options], Mapping[str, str]]
    load: Callable[[Benchmark, Options], Data]
    prompt: Callable[[Run, Record], Prompt]
    outcome: Callable[[Run, Record, Answer], Outcome]
    summary: Callable[[Run, Metric, Sequence[Outcome]], dict[str, Estimate]] = whole_and_parts
    part: Callable[[Run, Mapping[str, str]], str | None] = lambda run, groups: None
    signatures: Callable[[Run], Mapping[str, str]] = lambda run: {}
    judged: bool = False

    def form(self, options: Options) -> AnswerForm:
        """The form of answers under these options."""
        return self.answer if isinstance(self.answer, AnswerForm) else self.answer(options)

    def open(self, **parameters: Any) -> Run:
        """Load data and templates for these parameters (names and meanings: `self.options`)."""
        for name in parameters:
            check_name(self.options, self.name, name)
        options = self.options(**parameters)
        data = self.load(self, options)
        where = f"{self.name}: split {options.split} of {options.dataset}"
        if not data.records:
            dropped = f"; {len(data.dropped)} rows are dropped, which have no answer" if data.dropped else ""
            raise BadInput(f"{where} holds no row to evaluate{dropped}.")
        if not any(record.points or record.target is not None for record in data.records):
            warnings.warn(f"{where} has no labels: replies are logged, as for a submission, not scored.", stacklevel=3)
        return Run(self, options, data, self.templates(options))


def templates_hash(templates: Mapping[str, str]) -> str:
    """First 8 hex digits of the SHA-256 over templates, by name."""
    text = "".join(f"{name}\0{body}\0" for name, body in sorted(templates.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Run:
    """A benchmark opened with parameters: what an adapter works with."""

    benchmark: Benchmark
    options: Options
    data: Data
    templates: Mapping[str, str] = field(repr=False)

    def __post_init__(self) -> None:
        if self.options.shots and self.data.pool is None:
            raise BadInput(
                f"{self.benchmark.name}: shots={self.options.shots}: there are no training rows to draw worked "
                "examples from. Leave shots (lm-eval: --num_fewshot) at 0."
            )

    @property
    def records(self) -> tuple[Record, ...]:
        """The records to evaluate, in the order of the data."""
        return self.data.records

    def with_options(self, **changes: Any) -> Run:
        """The same data under other prompt or scoring parameters (never another dataset)."""
        options = dataclasses.replace(self.options, **changes)
        return Run(self.benchmark, options, self.data, self.benchmark.templates(options))

    def pool(self, fold: str) -> Mapping[str, Sequence[Record]]:
        """The training records of a fold by cluster; none where there are no training rows."""
        return self.data.pool(fold) if self.data.pool else {}

    def prompt(self, record: Record) -> Prompt:
        """The chat turns for one record."""
        return self.benchmark.prompt(self, record)

    @property
    def form(self) -> AnswerForm:
        """The form of answers."""
        return self.benchmark.form(self.options)

    def outcome(self, record: Record, reply: str, refused: bool = False) -> Outcome:
        """Read one reply and score it; `refused` is set where the provider itself flagged a refusal."""
        return self.scored(record, self.form.read(reply, refused))

    def scored(self, record: Record, answer: Answer) -> Outcome:
        """Score an answer that was not read from a reply, such as one given by log-likelihoods."""
        return self.benchmark.outcome(self, record, answer)

    def metrics(self, outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
        """Every metric that at least one of these outcomes counts towards, the headline metric first."""
        result: dict[str, Estimate] = {}
        for metric in self.benchmark.metrics:
            if counted := metric.counted(outcomes):
                result |= self.benchmark.summary(self, metric, counted)
        return result

    @property
    def version(self) -> str:
        """The benchmark's version, with the variant of its protocol where one was asked for."""
        return "-".join(part for part in (self.benchmark.version, self.options.variant) if part)

    @property
    def prompts_hash(self) -> str:
        """First 8 hex digits of the SHA-256 over the templates in use, by name."""
        return templates_hash(self.templates)

    def signature(self, method: str, **changes: str) -> str:
        """What made a score, in the manner of sacreBLEU: data, protocol, prompts and versions.

        `method` says how replies came about: `generate`, `loglikelihood`, or `predictions` from
        outside. `changes` replaces parts that do not apply. What a harness adds (a limit, a chat
        template, a system instruction) is in the harness's own log.
        """
        source = self.data.provenance
        shown = {"bench": self.benchmark.name, "v": self.version, "method": method}
        shown |= {"data": source["dataset"], "rev": source["revision"] or "-", "n": source["rows"]}
        shown |= {"rows": source["fingerprint"][:12]}
        shown |= {**self.options.shown(), **self.benchmark.signatures(self)}
        shown |= {"prompts": self.prompts_hash, "humor_tasks": __version__} | changes
        return "|".join(f"{name}:{value}" for name, value in shown.items())
