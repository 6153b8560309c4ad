"""The contract between benchmarks and harness adapters: each benchmark is defined once, for every harness.

Data flows one way: rows -> Record -> Prompt -> reply -> Outcome -> Estimates. A benchmark provides the functions of
`Benchmark`. An adapter opens a benchmark with parameters and works only with the resulting `Run`. This module imports
no harness and no torch.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic

from typing_extensions import TypeVar

from humor_tasks._version import __version__
from humor_tasks.contract import prompts, replies, variations
from humor_tasks.contract.answers import ANSWER_TOKENS, ENDED, Answer, AnswerForm, Choice
from humor_tasks.contract.answers import LETTER_METRICS as LETTER_METRICS
from humor_tasks.contract.card import Card, Display, Uses
from humor_tasks.contract.judging.missing import Verdicts
from humor_tasks.contract.judging.questions import JUDGED_UNDER, Judging
from humor_tasks.contract.loaded import PROTOCOL_PARAMETERS
from humor_tasks.contract.loaded import Data as Data
from humor_tasks.contract.metric import Metric
from humor_tasks.contract.options import ALL, ROTATED, check_name
from humor_tasks.contract.options import Options as Options
from humor_tasks.contract.prompts import Template, by_set, check_set, prompt_sets, read_all
from humor_tasks.contract.prompts.layout import form_of
from humor_tasks.contract.suites import ABILITIES
from humor_tasks.contract.variants import Variant
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.logs.signature import Signature
from humor_tasks.rows.media.checking import check_rows
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.picture import Picture, pillow_version
from humor_tasks.rows.records import Outcome, Prompt, Record, ReplyLength, read_shard
from humor_tasks.scorers.estimate import Estimate

O_co = TypeVar("O_co", bound=Options, covariant=True, default=Options)
"""The options of a benchmark. What takes a run with some options takes one with more specific options, too.

A plain `Benchmark` or `Run` has any options.
"""


def whole_and_parts(run: Run, metric: Metric, outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
    """A metric over all outcomes, and over each part of the data that the benchmark distinguishes."""
    parts: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        parts.setdefault(run.benchmark.part(run, outcome.groups) or "", []).append(outcome)
    by_part = {f"{metric.name}_{part}": metric.over(part_outcomes) for part, part_outcomes in parts.items() if part}
    return {metric.name: metric.over(outcomes)} | by_part


@dataclass(frozen=True)
class Benchmark(Generic[O_co]):
    """The definition of one benchmark.

    card: its description; see `contract.card`.
    version: protocol and prompt set, "1-A" for protocol 1 with prompt set A; it is independent of the package's
    version. Scores of different versions must not be compared.
    answer: the answer form, or a function that returns it for the options.
    metrics: the primary metric first.
    templates: the prompt templates, or a function that returns them for the options.
    outcome: scores an answer.
    part: returns the part of the data that an item belongs to from its groups, or None.
    summary: turns the outcomes that count towards a metric into estimates by name. By default these are METRIC over all
    outcomes and METRIC_PART over each part.
    signatures: returns additional entries of a score's signature.
    judging: how judges score the answers (`contract.judging.questions`); None if no judge is needed.
    verdicts: how to read the replies as verdicts, if the model under test is itself a judge. Like those of `judging`,
    they add metrics of missing verdicts (`contract.judging.missing`).
    letter_metrics: the kinds of per-letter numbers, from LETTER_METRICS, that a multiple-choice outcome keeps in its
    values.
    corpus: what the records' clusters belong to. Benchmarks of one corpus share clusters; a benchmark without one has
    clusters of its own.
    uses: what its rows and replies can be used for beyond a run; see `contract.card`.
    display: how the viewer and reports show its scores; see `contract.card`.
    rotate: returns a record with its choices moved k places up, the first ones to the end, and the target moved with
    them. None where the answer is not a letter of such choices, or where both orders are asked already.
    lm_eval: its tasks in lm-eval, the main one first. Its task in Inspect has the benchmark's name.
    suites: suite -> the parameters that it has there. ability: what its score shows, from `contract.suites.ABILITIES`;
    "" where a profile has no place for it. typical: a reply of usual form and length, by which a plan counts tokens and
    what judges are asked; "" where any text of 80 words is one.
    """

    name: str
    card: Card
    version: str
    answer: AnswerForm | Callable[[O_co], AnswerForm]
    metrics: tuple[Metric, ...]
    options: type[O_co]
    templates: Sequence[Template] | Callable[[O_co], Sequence[Template]]
    load: Callable[[Benchmark[O_co], O_co], Data]
    prompt: Callable[[Run[O_co], Record], Prompt]
    outcome: Callable[[Run[O_co], Record, Answer], Outcome]
    summary: Callable[[Run[O_co], Metric, Sequence[Outcome]], dict[str, Estimate]] = whole_and_parts
    part: Callable[[Run[O_co], Mapping[str, str]], str | None] = lambda run, groups: None
    signatures: Callable[[Run[O_co]], Mapping[str, str]] = lambda run: {}
    judging: Judging[Run[O_co]] | None = None
    verdicts: Verdicts | None = None
    letter_metrics: frozenset[str] = frozenset()
    corpus: str = ""
    uses: Uses = field(default_factory=Uses)
    display: Display = field(default_factory=Display)
    rotate: Callable[[Record, int], Record] | None = None
    lm_eval: tuple[Variant, ...] = ()
    suites: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ability: str = ""
    typical: str = ""

    def __post_init__(self) -> None:
        for name, kind in (("card", Card), ("judging", Judging | None), ("uses", Uses), ("display", Display)):
            if not isinstance(value := getattr(self, name), kind):
                raise ValueError(f"benchmark {self.name}: {name} is {value!r:.60}; give a {name.title()}.")
        for name in ("metrics", "templates", "lm_eval"):
            if isinstance(getattr(self, name), (Metric, Template, Variant)):
                raise ValueError(f"benchmark {self.name}: {name} is one value; give a tuple.")
        for variant in self.lm_eval:
            for name in (*variant.fixed, *variant.metadata):
                check_name(self.options, f"{self.name}, fixed by {variant.name}", name)
        for suite, given in self.suites.items():
            for name in given:
                check_name(self.options, f"{self.name}, in suite {suite}", name)
        if self.ability:
            check_choice(f"ability of {self.name}", self.ability, ABILITIES)
        if unknown := self.letter_metrics - LETTER_METRICS.keys():
            known = ", ".join(LETTER_METRICS)
            raise ValueError(f"benchmark {self.name}: letter_metrics is {sorted(unknown)}; choose from {known}.")

    @property
    def reported(self) -> tuple[Metric, ...]:
        """The metrics, and where the scores rest on verdicts those of missing verdicts."""
        verdicts = self.judging.verdicts if self.judging else self.verdicts
        return (*self.metrics, *(verdicts.metrics(self.metrics) if verdicts else ()))

    def unit(self, cluster: str) -> str:
        """The cluster by a name that differs between corpora; see `rows.trained_on`."""
        # MOCK's cartoons from the contest are named so already.
        return cluster if cluster.startswith("newyorker-") else f"{self.corpus or self.name}-{cluster}"

    def form(self, options: Any) -> AnswerForm:
        """The answer form under these options."""
        return self.answer if isinstance(self.answer, AnswerForm) else self.answer(options)

    def texts(self, options: Any) -> dict[str, str]:
        """The prompt templates under these options, by name; with prompts=all by SET/NAME.

        Raises BadInput as `prompts.read_all` does, and for a prompt set that there is not.
        """
        templates = self._templates(options)
        check_set(templates, options.prompts, self.name)
        if options.prompts != ALL:
            return read_all(templates, options)
        return by_set({s: read_all(templates, dataclasses.replace(options, prompts=s)) for s in prompt_sets(templates)})

    def variations(self, options: Any) -> variations.Variations:
        """How often and how each item is asked under these options."""
        form = self.form(options)
        letters = form.letters if options.order == ROTATED and isinstance(form, Choice) else ""
        return variations.Variations(prompt_sets(self._templates(options)) if options.prompts == ALL else (), letters)

    def _templates(self, options: Any) -> Sequence[Template]:
        return self.templates(options) if callable(self.templates) else self.templates

    def open(self, **parameters: Any) -> Run[O_co]:
        """Load data and templates for these parameters, which `self.options` declares.

        Raises BadInput for unknown or invalid parameters and for data without a row to evaluate.
        """
        for name in parameters:
            check_name(self.options, self.name, name)
        options = self.options(**parameters)
        self._check_order(options)
        data = self.load(self, options)
        where = f"{self.name}: split {options.split} of {options.dataset}"
        if not data.records:
            dropped = f"; {len(data.dropped)} rows without an answer were dropped" if data.dropped else ""
            raise BadInput(f"{where} has no row to evaluate{dropped}.")
        if not any(record.points or record.target is not None for record in data.records):
            warnings.warn(f"{where} has no labels: replies are logged for a submission but not scored.", stacklevel=3)
        if options.budget is not None:
            data = data.budgeted(options.budget, self.unit)
        if options.shard is not None:
            data = data.part(read_shard(options.shard), where)
        return Run(self, options, data, self.texts(options))

    def _check_order(self, options: Any) -> None:
        if options.order == ROTATED and (self.rotate is None or not isinstance(self.form(options), Choice)):
            needs = "the answer must be one letter of several choices, and the definition have `rotate`; leave it out."
            raise BadInput(f"{self.name}: order={ROTATED}: {needs}")

    def reopen(self, version: str | None, settings: Mapping[str, Any]) -> Run[O_co]:
        """A run without data and templates, from the version and the scoring options that a log records.

        It reads and scores replies and computes metrics. Raises BadInput as `check_version` does, and for options that
        this definition does not have.
        """
        self.check_version(version)
        options = self.options(**{name: value for name, value in settings.items() if name != JUDGED_UNDER})
        return Run(self, options, Data((), {}), {}, tuple(settings.get(JUDGED_UNDER, ())))

    def check_version(self, version: str | None) -> None:
        """Raise BadInput for a version whose scores do not compare with this definition's."""
        if version and _number(version) != _number(self.version):
            raise BadInput(
                f"{self.name}: the log is of version {version}, and this humor-tasks scores version {self.version}; "
                "their scores do not compare. Run the task again, or score the log with the release that wrote it."
            )


def _number(version: str) -> str:
    """The part of a version that changes when scores no longer compare; see CHANGELOG.md."""
    return version.split("-")[0]


@dataclass(frozen=True)
class Run(Generic[O_co]):
    """A benchmark opened with parameters: the object that adapters work with.

    judged_under: the prompt sets of judges under all of which each of its replies was judged; usually none.
    """

    benchmark: Benchmark[O_co]
    options: O_co
    data: Data
    templates: Mapping[str, str] = field(repr=False)
    judged_under: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.options.shots and self.data.pool is None:
            raise BadInput(
                f"{self.benchmark.name}: shots={self.options.shots}: there are no training rows to draw worked "
                "examples from. Leave shots (lm-eval: --num_fewshot) at 0."
            )

    @property
    def reply_length(self) -> ReplyLength:
        """The length of a reply: the one that the protocol prescribes under these options, else ANSWER_TOKENS."""
        prescribed = self.options.generation().get("max_tokens")
        return ReplyLength(prescribed or ANSWER_TOKENS, prescribed is not None)

    @functools.cached_property
    def variations(self) -> variations.Variations:
        """How often and how each item is asked, or its reply judged."""
        return (
            variations.Variations(self.judged_under) if self.judged_under else self.benchmark.variations(self.options)
        )

    @functools.cached_property
    def records(self) -> tuple[Record, ...]:
        """The records to evaluate, in the order of the data; an item that is asked several times has several."""
        once = self.variations.number == 1
        return self.data.records if once else self.variations.of(self.data.records, self.benchmark.rotate)

    @functools.cached_property
    def shows_media(self) -> bool:
        """Whether any record has a picture or a clip."""
        return any(record.picture or record.clip for record in self.data.records)

    @functools.cached_property
    def _under(self) -> Mapping[str, Run[O_co]]:
        """The run under each of several prompt sets."""
        under = {}
        for letter in self.variations.sets:
            texts = {name[2:]: text for name, text in self.templates.items() if name.startswith(f"{letter}/")}
            under[letter] = dataclasses.replace(self, templates=texts)
        return under

    def with_options(self, **changes: Any) -> Run[O_co]:
        """The same data with other parameters of PROTOCOL_PARAMETERS.

        Raises BadInput for any other, which may select the rows or what is read of them: the signature would name rows
        that are not there.
        """
        options = dataclasses.replace(self.options, **changes)
        for name, value in changes.items():
            rows = name not in PROTOCOL_PARAMETERS or (name == "seed" and options.rows_by_seed)
            if rows and value != getattr(self.options, name):
                raise BadInput(
                    f"{self.benchmark.name}: {name}={value} changes what is read; open the benchmark with it."
                )
        return Run(self.benchmark, options, self.data, self.benchmark.texts(options))

    def pool(self, *part: str) -> Mapping[str, Sequence[Record]]:
        """The training records of a fold by cluster; none where there are no training rows."""
        return self.data.pool(*part) if self.data.pool else {}

    @property
    def units(self) -> list[str]:
        """The unit of each record; see `Benchmark.unit`."""
        return [self.benchmark.unit(record.cluster) for record in self.records]

    def prompt(self, record: Record) -> Prompt:
        """The chat turns for one record."""
        if self.variations.number == 1:
            return self.benchmark.prompt(self, record)
        asking = variations.variation_of(record)  # worked examples are drawn by the item: the same in every asking
        return self.benchmark.prompt(self._under.get(asking.prompts, self), dataclasses.replace(record, id=asking.item))

    def check_media(self, records: Sequence[Record] | None = None) -> None:
        """Check what the prompts of these records (default: all) show, before a model is asked.

        Raises one BadInput for all pictures and clips that are missing, damaged or too large. With on_bad_picture=skip
        they were checked when the rows were read.
        """
        if getattr(self.options, "on_bad_picture", "") != "stop" or not self.shows_media:
            return
        checked = self.records if records is None else records
        place = f"{self.benchmark.name}: split {self.options.split} of {self.options.dataset}"
        check_rows([self._media(record) for record in checked], place, len(self.records))

    def _media(self, record: Record) -> Sequence[Picture | Clip]:
        """What the prompt shows; for a record without a prompt, which is an error when it is asked, its own."""
        try:
            return self.prompt(record).media
        except BadInput:
            return record.media

    @functools.cached_property
    def form(self) -> AnswerForm:
        """The answer form, as the templates in use write an answer."""
        return form_of(self.benchmark.form(self.options), self.templates)

    def outcome(
        self,
        record: Record,
        reply: str,
        refused: bool = False,
        letter_values: Mapping[str, float] = MappingProxyType({}),
        cut_off: bool = False,
    ) -> Outcome:
        """Parse a reply and score it.

        refused, cut_off: whether the provider flagged a refusal, and whether the reply ended at a limit of its length.
        letter_values: as in `scored`.
        """
        if ENDED in record.facts:  # of an earlier reading
            facts = {name: value for name, value in record.facts.items() if name != ENDED}
            record = dataclasses.replace(record, facts=facts)
        return self.scored(record, self.form.answer(reply, self.options.thinking, refused, cut_off), letter_values)

    def scored(
        self, record: Record, answer: Answer, letter_values: Mapping[str, float] = MappingProxyType({})
    ) -> Outcome:
        """Score an answer, which need not come from a reply: one from log-likelihoods does not.

        letter_values: the model's numbers by the names of LETTER_METRICS. Those that `Benchmark.letter_metrics` asks
        for and that are finite become values of the outcome.
        """
        outcome = self.benchmark.outcome(self, record, answer)
        prefixes = tuple(LETTER_METRICS[kind] for kind in self.benchmark.letter_metrics)
        finite = {
            name: value for name, value in letter_values.items() if name.startswith(prefixes) and math.isfinite(value)
        }
        return dataclasses.replace(outcome, values={**outcome.values, **finite}) if finite else outcome

    def metrics(self, outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
        """Every metric with at least one outcome that counts towards it, the primary metric first."""
        return {name: e for estimates in self.summaries(outcomes).values() for name, e in estimates.items()}

    def summaries(self, outcomes: Sequence[Outcome]) -> dict[str, dict[str, Estimate]]:
        """`metrics` by the metric's name: METRIC and, for each part of the data, METRIC_PART.

        Items that lack some of their askings do not count: their share is the metric `incomplete`.
        """
        lacking: Estimate | None = None
        if self.variations.number > 1:
            outcomes, lacking = variations.whole_items(outcomes, self.variations.number)
        counts = ((metric, metric.counted(outcomes)) for metric in self.reported)
        found = {metric.name: self.summary(metric, counted) for metric, counted in counts if counted}
        incomplete = variations.INCOMPLETE.name
        return found | replies.endings(outcomes) | ({incomplete: {incomplete: lacking}} if lacking else {})

    def summary(self, metric: Metric, outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
        """A metric over the outcomes that count towards it, and over each part of the data."""
        return {metric.name: metric.over(outcomes)} if metric.whole else self.benchmark.summary(self, metric, outcomes)

    @functools.cached_property
    def reported(self) -> tuple[Metric, ...]:
        """The benchmark's metrics, and those of several askings."""
        primary = self.benchmark.metrics[0]

        def value(outcomes: Sequence[Outcome]) -> float:
            if primary.estimate is None and outcomes and self.benchmark.part(self, outcomes[0].groups) is None:
                return math.fsum(o.values[primary.name] for o in outcomes) / len(outcomes)  # without an interval
            return float(self.benchmark.summary(self, primary, outcomes)[primary.name].value)

        several = variations.metrics(primary, self.form, self.variations, value)
        return (*self.benchmark.reported, *several)

    @property
    def version(self) -> str:
        """The benchmark's version, with the prompt set and the protocol variant that the options select."""
        named = self.options.prompts if prompts.names_sets(self.options.prompts) else None
        version = f"{_number(self.benchmark.version)}-{named}" if named else self.benchmark.version
        return "-".join(part for part in (version, self.options.variant) if part)

    @property
    def prompts_hash(self) -> str:
        """First 8 hex digits of the SHA-256 over the templates in use, sorted by name."""
        return prompts.templates_hash(self.templates)

    def signature(self, method: str, **changes: str) -> Signature:
        """The signature of a score: data, protocol, prompts and versions.

        method: how answers were obtained: `generate`, `loglikelihood`, or `predictions` from a file.
        changes: replacements of entries that do not apply.
        Readers of logs add what the harness changes (solvers, a system message, a chat template, sampling). Pillow is
        named where pictures are shown: models in this process see the pixels that it decodes and resizes.
        """
        source = self.data.provenance
        entries = {"bench": self.benchmark.name, "v": self.version, "method": method}
        entries |= {"data": source["dataset"], "rev": source["revision"] or "-", "n": source["rows"]}
        entries |= {"rows": source["fingerprint"][:12]}
        entries |= {"skipped": source["skipped"]} if "skipped" in source else {}
        entries |= {**self.options.signature_entries(), **self.benchmark.signatures(self)}
        entries |= {"prompts": self.prompts_hash}
        entries |= {"pillow": pillow_version()} if self.shows_media else {}
        return Signature(entries | {"humor_tasks": __version__} | changes)
