"""The items of the gallery: what was asked, once, and what every system answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from humor_tasks.contract.metric import Metric
from humor_tasks.contract.variations import variation_of
from humor_tasks.errors import BadInput
from humor_tasks.files.pages import cut, visible
from humor_tasks.logs import FinishedRun, LoggedSample
from humor_tasks.logs.signature import Signature
from humor_tasks.results import Result
from humor_tasks.rows.records import VARIATION, Outcome

MOST_OF_A_FIELD = 4000  # characters
MOST_OF_AN_ANSWER = 200
MOST_OF_A_REPLY = 20_000
LEAST_OF_A_REPLY = 200
MOST_REPLIES = 100_000
TEXTS = 60_000_000
"""Characters of replies held in memory, of all systems together."""


@dataclass
class Reply:
    """One reply to an item. reasons: what the judges said of it."""

    epoch: int
    text: str | None
    reasons: str | None
    stop: str | None


@dataclass
class Answered:
    """The answers of one result to an item, over its epochs. value: their mean value of the primary metric."""

    answers: list[str | None] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    @property
    def value(self) -> float | None:
        """The mean over the epochs that have a value."""
        return sum(self.values) / len(self.values) if self.values else None

    def add(self, outcome: Outcome, result: Result) -> None:
        """Add one epoch."""
        self.answers.append(None if outcome.answer is None else cut(outcome.answer, MOST_OF_AN_ANSWER))
        self.statuses.append(outcome.status)
        if result.primary is not None and result.primary.name in outcome.values:
            self.values.append(outcome.values[result.primary.name])


@dataclass
class Item:
    """One item. pictures: the numbers of its pictures on the page; asked_pictures: whether systems saw any."""

    benchmark: str
    id: str
    cluster: str
    target: str | None
    groups: Mapping[str, str]
    choices: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    points: tuple[str, ...] = ()
    prompt: str = ""
    asked_pictures: bool = False
    pictures: list[int] = field(default_factory=list)
    answered: dict[int, Answered] = field(default_factory=dict)
    in_runs: list[int] = field(default_factory=list)

    def is_of(self, sample: LoggedSample, target: str | None) -> bool:
        """Whether a sample of the same benchmark and id asks this; runs may show different parts of one item."""
        if self.target != target or (self.choices and sample.choices and self.choices != sample.choices):
            return False
        common = self.fields.keys() & sample.fields.keys()
        return all(self.fields[name] == cut(sample.fields[name], MOST_OF_A_FIELD) for name in common)

    def take(self, sample: LoggedSample) -> None:
        """Add what this sample shows of the item."""
        self.choices = self.choices or sample.choices
        self.fields = {name: cut(text, MOST_OF_A_FIELD) for name, text in sample.fields.items()} | dict(self.fields)
        self.points = self.points or tuple(point.text for point in sample.points)
        self.asked_pictures |= bool(sample.media_names)
        if not self.fields and not self.choices:
            self.prompt = self.prompt or cut(sample.prompt, MOST_OF_A_FIELD)


@dataclass
class Collected:
    """All items in the order of the runs, the runs that they are of, and what could not be read.

    without_replies: the number of replies that were not read again.
    """

    items: list[Item]
    runs: list[FinishedRun]
    problems: list[str]
    without_replies: int = 0


def collect(results: Sequence[Result]) -> Collected:
    """The items of these results; reads runs once more for the texts, which results do not hold.

    Of more than MOST_REPLIES replies, a page could show a line of each at most: only the first run of each signature is
    read again then, which has the texts of the items.
    """
    number = sum(len(result.outcomes) for result in results)
    limit = max(LEAST_OF_A_REPLY, min(MOST_OF_A_REPLY, TEXTS // max(1, number)))
    by_run: dict[int, list[tuple[int, Result]]] = {}
    for i, result in enumerate(results):
        by_run.setdefault(id(result.run), []).append((i, result))
    variants: Variants = {}
    collected = Collected([], [], [])
    signatures: set[Signature] = set()
    for numbered in by_run.values():
        run = numbered[0][1].run
        collected.runs.append(run)
        if number > MOST_REPLIES and run.signature in signatures and _all_known(variants, numbered):
            collected.without_replies += _take_outcomes(variants, numbered)
            continue
        signatures |= {run.signature} if run.signature else set()
        try:
            _read_again(variants, run, len(collected.runs) - 1, numbered, limit)
        except BadInput as problem:
            collected.problems.append(str(problem))
    collected.items = [item for same_id in variants.values() for item in same_id]
    return collected


Variants = dict[tuple[str, str], list[Item]]
"""Benchmark and id -> the items with this id, which differ where runs of other rows have the same id."""


def _read_again(
    variants: Variants, run: FinishedRun, place: int, numbered: Sequence[tuple[int, Result]], limit: int
) -> None:
    """Add the samples of a run. place: the run's number. numbered: its results; several where several scorers did."""
    outcomes = {
        i: {(outcome.id, epoch): outcome for outcome, epoch in zip(result.outcomes, result.epochs, strict=True)}
        for i, result in numbered
    }
    for sample in run:
        for i, result in numbered:
            outcome = outcomes[i].get((sample.id, sample.epoch))
            if outcome is None:
                continue
            item = _item(variants, result.benchmark.name, sample, outcome)
            if place not in item.in_runs:
                item.in_runs.append(place)
            scored = sample.scored_by(result.scorer)
            texts = (sample.reply, scored.explanation if scored else None)
            reply, reasons = (None if text is None else cut(visible(text), limit) for text in texts)
            answered = item.answered.setdefault(i, Answered())
            answered.add(outcome, result)
            answered.replies.append(Reply(sample.epoch, reply, reasons, sample.stop))


def _all_known(variants: Variants, numbered: Sequence[tuple[int, Result]]) -> bool:
    return all((result.benchmark.name, o.id) in variants for _, result in numbered for o in result.outcomes)


def _take_outcomes(variants: Variants, numbered: Sequence[tuple[int, Result]]) -> int:
    """Add the answers of a run without its replies, to items that another run of its signature has shown."""
    taken = 0
    for i, result in numbered:
        for outcome in result.outcomes:
            same_id = variants.get((result.benchmark.name, outcome.id), [])
            item = next((item for item in same_id if item.target == outcome.target), None)
            if item is not None:
                item.answered.setdefault(i, Answered()).add(outcome, result)
                taken += 1
    return taken


def _item(variants: Variants, benchmark: str, sample: LoggedSample, outcome: Outcome) -> Item:
    same_id = variants.setdefault((benchmark, sample.id), [])
    item = next((item for item in same_id if item.is_of(sample, outcome.target)), None)
    if item is None:
        item = Item(benchmark, sample.id, outcome.cluster, outcome.target, {**outcome.groups, **_asked(outcome)})
        same_id.append(item)
    item.take(sample)
    return item


def _asked(outcome: Outcome) -> dict[str, str]:
    """Which asking of an item this is, by which readers can filter."""
    asking = variation_of(outcome)
    return {"prompt set": asking.prompts, "rotation": str(asking.rotation)} if VARIATION in outcome.facts else {}


# ---- order --------------------------------------------------------------------------------------


def difficulty(item: Item, metric: Metric | None) -> float:
    """How badly systems do on an item: 1 - the mean value of a metric where higher is better, else the mean value."""
    values = [answered.value for answered in item.answered.values() if answered.value is not None]
    if not values or metric is None:
        return 0.0
    mean = sum(values) / len(values)
    return mean if metric.direction == "lower" else 1 - mean


def disagreement(item: Item) -> float:
    """How far systems differ on an item, over all pairs of systems.

    Of labels the share of pairs with different answers, where an answer that cannot be read differs from all others;
    of other answers the mean difference in the metric's value.
    """
    n = len(item.answered)
    if n >= 2 and item.choices:
        counts = Counter(tuple(answered.answers) for answered in item.answered.values())
        equal = sum(count * (count - 1) for answers, count in counts.items() if None not in answers)
        return 1 - equal / (n * (n - 1))
    values = sorted(answered.value for answered in item.answered.values() if answered.value is not None)
    n = len(values)
    if n < 2:
        return 0.0
    # The sum over pairs of their difference, with each value as often the larger as it has values before it.
    return sum((2 * i - n + 1) * value for i, value in enumerate(values)) / (n * (n - 1) / 2)


def categories(items: Sequence[Item]) -> list[str]:
    """The groups by which items can be told apart: those with 2 to 20 different values."""
    values: dict[str, set[str]] = {}
    for item in items:
        for name, value in item.groups.items():
            values.setdefault(name, set()).add(value)
    return [name for name, different in values.items() if 2 <= len(different) <= 20]
