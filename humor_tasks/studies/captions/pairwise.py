"""Pairwise comparison of captions of one cartoon by any Inspect model, including models that only choose among options.

Each pair is compared in both presentation orders. The caption preferred in both orders wins; different preferences are
a tie. A pair with an unparsed answer is left out of all figures and counted. `captions rank`, `captions pick` and
`captions score --place-by` compare by this module.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import EvalLog
from inspect_ai.model import CachePolicy, Model
from inspect_ai.solver import generate

from humor_tasks.benchmarks.caption_contest.corpus import NyccOptions
from humor_tasks.benchmarks.caption_contest.explanation import EXPLANATION
from humor_tasks.benchmarks.caption_contest.ranking import RANKING
from humor_tasks.benchmarks.caption_contest.rows import load
from humor_tasks.contract.definition import Data, Run
from humor_tasks.contract.prompts import check_shows, fill, filled_turns, read_templates
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.writing import write_json, write_table
from humor_tasks.logs.inspect_logs import from_log
from humor_tasks.models.choosers.chooser import Chooser
from humor_tasks.on_inspect.client import policy
from humor_tasks.on_inspect.parts import multiple_choice
from humor_tasks.on_inspect.running import finished
from humor_tasks.on_inspect.tasks.building import sample, show_pictures
from humor_tasks.rows.records import Prompt, Record
from humor_tasks.scorers.bradley_terry import Strength, bradley_terry
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.preference import win_rate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.verdict import as_data
from humor_tasks.studies.captions.files import Caption


@dataclass(frozen=True)
class Pair:
    """Two captions of one contest, by index, and the answer for each order: A or B as shown, or None."""

    first: int
    second: int
    answers: tuple[str | None, str | None] = (None, None)
    same: bool = False

    @classmethod
    def of(cls, captions: Sequence[Caption], first: int, second: int) -> Pair:
        """Two captions; the same but for case is equal without a question."""
        return cls(first, second, same=captions[first].text.casefold() == captions[second].text.casefold())

    @property
    def worth(self) -> float | None:
        """The result for the first caption: 1, .5 or 0; None where an answer is missing."""
        if self.same:
            return 0.5
        if None in self.answers:
            return None
        return ((self.answers[0] == "A") + (self.answers[1] == "B")) / 2  # in the second order the first caption is B


# ---- figures ------------------------------------------------------------------------------------

ENDINGS = (".csv", ".json")
COLUMNS = ("contest", "rank", "win_rate", "pairs", "system", "caption")


def pairs_of(captions: Sequence[Caption]) -> list[Pair]:
    """All pairs of captions of each contest. Raises BadInput where no pair differs."""
    contests: dict[str, list[int]] = {}
    for i, caption in enumerate(captions):
        contests.setdefault(caption.contest, []).append(i)
    pairs = [Pair.of(captions, i, j) for members in contests.values() for i, j in itertools.combinations(members, 2)]
    if all(pair.same for pair in pairs):
        raise BadInput("no contest has two different captions to compare.")
    return pairs


def ranked(captions: Sequence[Caption], pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """One row per caption, by contest, best first; captions with equal win rates share the better rank."""
    worths = _worths(len(captions), pairs)
    rates = win_rates(len(captions), pairs)
    rows = []
    for contest in dict.fromkeys(caption.contest for caption in captions):
        members = [i for i, caption in enumerate(captions) if caption.contest == contest]
        for i in sorted(members, key=lambda i: (rates[i] is None, -(rates[i] or 0))):
            rate = rates[i]
            better = sum((rates[j] or 0) > rate for j in members) if rate is not None else None
            rank = None if better is None else better + 1
            values = (contest, rank, rate, len(worths[i]), captions[i].system, captions[i].text)
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def win_rates(count: int, pairs: Sequence[Pair]) -> list[float | None]:
    """Each caption's win rate in its comparisons, from 0 to 1; None where no answer could be read."""
    return [sum(worths) / len(worths) if worths else None for worths in _worths(count, pairs)]


def _worths(count: int, pairs: Sequence[Pair]) -> list[list[float]]:
    worths: list[list[float]] = [[] for _ in range(count)]
    for pair in pairs:
        if pair.worth is not None:
            worths[pair.first].append(pair.worth)
            worths[pair.second].append(1 - pair.worth)
    return worths


def by_system(captions: Sequence[Caption], pairs: Sequence[Pair]) -> dict[str, Estimate]:
    """Each system's win rate against the others (ties count half), clustered by contest; best first."""
    rates = {}
    for system in dict.fromkeys(caption.system for caption in captions):
        rows = [row for row in _between(captions, pairs) if system in row[:2]]
        worths = [worth if first == system else 1 - worth for first, _, worth, _ in rows]
        rates[system] = win_rate(worths, [contest for *_, contest in rows])
    return dict(sorted(rates.items(), key=lambda item: -item[1].value if item[1].n else 2))


def strengths(captions: Sequence[Caption], pairs: Sequence[Pair]) -> dict[str, Strength]:
    """The systems' Bradley-Terry strengths. Raises BadInput where no two systems were compared."""
    rows = _between(captions, pairs)
    if not rows:
        raise BadInput("--bradley-terry: no two systems have captions of the same contest that were compared.")
    first, second, worths, contests = zip(*rows, strict=True)
    by_system: dict[str, Strength] = bradley_terry(first, second, worths, contests)
    return by_system


def _between(captions: Sequence[Caption], pairs: Sequence[Pair]) -> list[tuple[str, str, float, str]]:
    """(first system, second system, result for the first, contest) of each parsed pair of two systems."""
    rows = []
    for pair in pairs:
        first, second = captions[pair.first], captions[pair.second]
        if first.system != second.system and pair.worth is not None:
            rows.append((first.system, second.system, pair.worth, first.contest))
    return rows


def first_shown(captions: Sequence[Caption], pairs: Sequence[Pair]) -> Estimate:
    """The share of answers that prefer the caption shown first; .5 without position bias."""
    read = [(float(a == "A"), captions[pair.first].contest) for pair in pairs for a in pair.answers if a is not None]
    return clustered_proportion([value for value, _ in read], [contest for _, contest in read])


def check_ending(output: Path | None) -> None:
    """Raise BadInput where the file name's suffix is not supported."""
    if output is not None and output.suffix not in ENDINGS:
        raise BadInput(f"{output}: the name of a ranking must end in {' or '.join(ENDINGS)}.")


def write_ranking(output: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows as CSV or JSON."""
    if output.suffix == ".json":
        write_json(output, list(rows))
    else:
        write_table(output, COLUMNS, (["" if row[name] is None else row[name] for name in COLUMNS] for row in rows))


# ---- questions ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cartoons:
    """The cartoons of contests as records without choices: contest -> record; where they are from."""

    records: Mapping[str, Record]
    options: NyccOptions
    provenance: Mapping[str, Any]


@dataclass(frozen=True)
class PairwiseJudge:
    """A model that compares captions of one cartoon, and how it is asked."""

    model: Model
    prompts: str | None = None
    cache: bool = True
    log_dir: str | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self.model)

    def compare(
        self, captions: Sequence[Caption], pairs: Sequence[Pair], cartoons: Cartoons
    ) -> tuple[list[Pair], str | None]:
        """The pairs with this model's answers, and the log that holds them; None where there was nothing to ask.

        Raises BadInput where the run does not finish, and where no answer could be read.
        """
        if all(pair.same for pair in pairs):
            return list(pairs), None
        comparison = task(captions, pairs, cartoons, self.prompts, policy(self.model) if self.cache else False)
        log = finished(comparison, "the comparison of captions", model=self.model, log_dir=self.log_dir)
        answered = compared(pairs, log)
        if all(pair.worth is None or pair.same for pair in answered):
            raise BadInput(f"no answer of {self.name} could be parsed; the log holds its replies: {log.location}")
        return answered, log.location


def scorer_of(model: Model) -> Chooser | None:
    """What scores single captions in a model; None for a model that reads a prompt, which is a judge."""
    chooser: Chooser | None = getattr(model.api, "chooser", None)
    return None if chooser is None or chooser.reads_prompt else chooser


def of_corpus(corpus: Mapping[str, Any]) -> Cartoons:
    """The cartoons of `explanation`; corpus: the parameters that locate them."""
    options = NyccOptions(**corpus)
    data = load(EXPLANATION, options)
    first: dict[str, Record] = {}
    for record in data.records:
        first.setdefault(record.cluster, record)
    return Cartoons(first, options, data.provenance)


def compared(pairs: Sequence[Pair], log: EvalLog) -> list[Pair]:
    """The pairs with their answers."""
    answers = {sample.id: sample.scores[0].answer if sample.scores else None for sample in from_log(log).samples}
    return [dataclasses.replace(pair, answers=(answers.get(_id(pair, 0)), answers.get(_id(pair, 1)))) for pair in pairs]


def task(
    captions: Sequence[Caption],
    pairs: Sequence[Pair],
    cartoons: Cartoons,
    prompts: str | None,
    cache: CachePolicy | bool,
) -> Task:
    """The comparisons as a task of `ranking` with another prompt, in which captions are escaped as untrusted text."""
    options = cartoons.options
    unknown = dict.fromkeys(caption.contest for caption in captions if caption.contest not in cartoons.records)
    if unknown:
        place = f"split {options.split}, fold {options.fold} of {options.dataset}"
        raise BadInput(f"{place} has no cartoon of {listed('contest', unknown)}: --dataset, --split, --fold.")
    records = [
        _record(cartoons.records[captions[pair.first].contest], pair, turn, captions)
        for pair in pairs
        for turn in ((0, 1) if not pair.same else ())
    ]
    texts = read_templates("nycc", [f"scene.{options.setting}.txt"], None) | read_templates(
        "captions", ["rank.txt"], prompts
    )
    check_shows(texts["rank.txt"], "rank.txt", ("scene", "first", "second"))
    run = Run(dataclasses.replace(RANKING, prompt=_prompt), options, Data(tuple(records), cartoons.provenance), texts)
    run.check_media()
    signature = run.signature("generate", bench="rank_captions", n=str(len(records)))
    shown = [(record, run.prompt(record)) for record in records]
    return Task(
        name="rank_captions",
        dataset=MemoryDataset(
            [sample(run, *each, signature) for each in shown], name="captions", location=options.dataset
        ),
        setup=[show_pictures(run, shown)] if options.setting == "pixels" else None,
        solver=generate(cache=cache),
        scorer=multiple_choice(),
        version=run.version,
        metadata={"signature": str(signature)},
    )


def _id(pair: Pair, turn: int) -> str:
    return f"{pair.first}-{pair.second}-{turn}"


def _record(cartoon: Record, pair: Pair, turn: int, captions: Sequence[Caption]) -> Record:
    order = (pair.first, pair.second) if turn == 0 else (pair.second, pair.first)
    first, second = (captions[i].text for i in order)
    fields = {**cartoon.fields, "first": as_data(first), "second": as_data(second)}
    return dataclasses.replace(cartoon, id=_id(pair, turn), fields=fields, choices=(first, second), target=None)


def _prompt(run: Run, record: Record) -> Prompt:
    scene = next(name for name in run.templates if name.startswith("scene."))
    fields = {**record.fields, "scene": fill(run.templates[scene], record.fields, scene)}
    return Prompt(tuple(filled_turns(run.templates["rank.txt"], fields, "rank.txt"))).showing(record.picture)
