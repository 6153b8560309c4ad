"""The scores of finished runs: one `Result` per run and scorer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from humor_tasks.contract.definition import Benchmark, Run
from humor_tasks.contract.metric import Metric
from humor_tasks.logs import FinishedRun
from humor_tasks.logs.signature import Signature
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate


@dataclass(frozen=True)
class Result:
    """One run, or the parts of one, as one scorer scored it.

    run: the run; an iteration over it reads prompts and replies from its files again.
    opened: the benchmark with the scoring options of the log, without data.
    scorer: the scorer's name without its package; "lm_eval" for lm-eval, "predictions" for a file of predictions.
    system: the model's name; with its arguments where two runs of one name differ in them.
    outcomes: one outcome per reply, epoch by epoch in the order of the rows, in which the harness computes metrics.
    epochs: the epoch of each.
    estimates: every metric by name, METRIC over all items and METRIC_PART over each part of the data.
    paths: the files of the run, several where it was run in parts.
    notes: on this run, one sentence each, such as that it is incomplete.
    judging: how the graders were asked, by name: verdict, temperature, seed, prompts; empty where there are none.
    complete: whether the run holds a score of every item of its data.
    judges: the models that gave its verdicts; known only after `points.with_verdicts`.
    unknown: of a task of another package, what its log does not say, one sentence each.
    parts: outcomes over further parts of the data by name, such as subsets of an explanation's points.
    """

    run: FinishedRun
    opened: Run
    scorer: str
    system: str
    outcomes: tuple[Outcome, ...] = field(repr=False)
    epochs: tuple[int, ...] = field(repr=False)
    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    complete: bool = True
    judging: Mapping[str, str] = field(default_factory=dict, repr=False)
    judges: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()
    parts: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict, repr=False)

    @property
    def foreign(self) -> bool:
        """Whether it is of a task of another package; see `results.foreign`."""
        return self.run.benchmark is None

    @property
    def benchmark(self) -> Benchmark:
        """The definition of the benchmark."""
        return self.opened.benchmark

    @cached_property
    def summaries(self) -> Mapping[str, Mapping[str, Estimate]]:
        """Metric -> its estimates by name, METRIC over all items and METRIC_PART over each part of the data."""
        summaries = self.opened.summaries(self.outcomes)
        for part, outcomes in self.parts.items():
            for metric, estimates in self.opened.summaries(outcomes).items():
                summaries[metric][f"{metric}_{part}"] = estimates[metric]
        return summaries

    @cached_property
    def estimates(self) -> Mapping[str, Estimate]:
        """Every metric with at least one outcome that counts; the primary metric first."""
        return {name: e for estimates in self.summaries.values() for name, e in estimates.items()}

    @property
    def key(self) -> tuple[Path, str]:
        """Its file and scorer: no two results of a report share both."""
        return self.run.path, self.scorer

    @property
    def primary(self) -> Metric | None:
        """The first metric of the benchmark that this result has; None where it has none."""
        return next((metric for metric in self.benchmark.metrics if metric.name in self.estimates), None)

    @cached_property
    def signature(self) -> Signature:
        """The signature by which results are compared; without entries for a run that records none.

        lm-eval's generating tasks send temperature 0 by themselves, where Inspect leaves sampling to the provider. So
        `generation` has it in lm-eval's results.
        """
        signed = self.run.signature
        generates = self.run.harness == "lm_eval" and signed.get("method") == "generate"
        return signed.sent_by_default(temperature=0.0) if generates else signed

    @cached_property
    def targets(self) -> Mapping[str, str | None]:
        """Item id -> its target; these are the rows of the result."""
        return {outcome.id: outcome.target for outcome in self.outcomes}

    def by_item(self, metric: str) -> dict[str, tuple[float, str]]:
        """Item id -> the mean value of a metric over its epochs, and its cluster; without items that have no value."""
        values: dict[str, list[float]] = {}
        clusters: dict[str, str] = {}
        for outcome in self.outcomes:
            if metric in outcome.values:
                values.setdefault(outcome.id, []).append(outcome.values[metric])
                clusters[outcome.id] = outcome.cluster
        return {identity: (sum(of_item) / len(of_item), clusters[identity]) for identity, of_item in values.items()}


@dataclass(frozen=True)
class LeftOut:
    """A file that no result was read from, and why."""

    path: Path
    why: str


@dataclass(frozen=True)
class Results:
    """The results of several files, and what was left out of them."""

    results: tuple[Result, ...]
    left_out: tuple[LeftOut, ...] = ()

    def of(self, benchmark: str) -> list[Result]:
        """The results of one benchmark."""
        return [result for result in self.results if result.benchmark.name == benchmark]

    @property
    def benchmarks(self) -> tuple[Benchmark, ...]:
        """The benchmarks that the results are of, each once, in order of appearance."""
        return tuple({result.benchmark.name: result.benchmark for result in self.results}.values())
