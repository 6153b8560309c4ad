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
from humor_tasks.benchmarks.options import Options as Options
from humor_tasks.benchmarks.options import check_name
from humor_tasks.data.records import Outcome, Prompt, Record
from humor_tasks.errors import BadInput
from humor_tasks.scorers.estimate import Estimate

LOWER_IS_BETTER = (
    *("unparsed", "refused", "untagged", "over_limit", "grader_failed", "undecided", "false_", "words"),
    *("inconsistent", "unread", "half_asked", "same_text", "empty", "tie_rate"),
    *("unrated", "grader_unparsed", "grader_refused"),
    *("rmse", "mae_", "judge_rmse", "one_judge", "other_judges", "true_mean", "tied"),
)


@dataclass(frozen=True)
class Data:
    """Records to evaluate, where they came from, and where worked examples are drawn from.

    `provenance` holds dataset, configs, split, requested and resolved revision, rows and the
    fingerprint of the rows. `pool` gives the training records of a fold by cluster, loaded when
    shots are asked for. `dropped` are the ids of rows that are not scored, which predictions may name.
    """

    records: tuple[Record, ...]
    provenance: Mapping[str, Any]
    pool: Callable[[str], Mapping[str, Sequence[Record]]]
    dropped: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Benchmark:
    """One benchmark, defined once.

    `letters` are those of the choices, `words` what is answered instead of a letter where that is a word
    (yes, no). `metric_names` has the headline metric first. `estimate` turns the outcomes that count towards
    one metric into an Estimate under its name, and may add others beside it (one a fold).
    `part` names the part of the data, from an item's groups, that gets metrics of its own beside
    those of the whole (None: no part). `scale` holds the labels of a rating, whose expected value is
    the answer where a harness gives their probabilities; `prediction` turns an entry of a submission
    file into a reply under these options, with BadInput where it cannot. `version` counts comparability
    apart from the package: "1-A" is protocol 1 with prompt set A; scores of different versions must not
    be compared.
    """

    name: str
    title: str
    paper: str
    version: str
    card: str
    letters: str
    metric_names: tuple[str, ...]
    options: type[Options]
    templates: Callable[[Options], Mapping[str, str]]
    load: Callable[[Benchmark, Options], Data]
    prompt: Callable[[Run, Record], Prompt]
    outcome: Callable[[Run, Record, str, bool], Outcome]
    estimate: Callable[[Run, str, Sequence[Outcome]], dict[str, Estimate]]
    words: tuple[str, ...] = ()
    scale: tuple[str, ...] = ()
    prediction: Callable[[Options, str], str] = lambda options, text: text
    signatures: Callable[[Run], Mapping[str, str]] = lambda run: {}
    part: Callable[[Run, Mapping[str, str]], str | None] = lambda run, groups: None

    def higher_is_better(self, metric: str) -> bool:
        """False for rates of what went wrong and for perplexities."""
        return not metric.startswith(LOWER_IS_BETTER) and "perplexity" not in metric

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

    @property
    def records(self) -> tuple[Record, ...]:
        """The records to evaluate, in the order of the data."""
        return self.data.records

    def with_options(self, **changes: Any) -> Run:
        """The same data under other prompt or scoring parameters (never another dataset)."""
        options = dataclasses.replace(self.options, **changes)
        return Run(self.benchmark, options, self.data, self.benchmark.templates(options))

    def prompt(self, record: Record) -> Prompt:
        """The chat turns for one record."""
        return self.benchmark.prompt(self, record)

    def outcome(self, record: Record, reply: str, refused: bool = False) -> Outcome:
        """Read one reply; `refused` is set where the provider itself flagged a refusal."""
        return self.benchmark.outcome(self, record, reply, refused)

    def metrics(self, outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
        """Every metric that at least one of these outcomes counts towards, the headline metric first."""
        result: dict[str, Estimate] = {}
        for name in self.benchmark.metric_names:
            counted = [o for o in outcomes if name in o.values]
            if counted:
                result |= self.benchmark.estimate(self, name, counted)
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
