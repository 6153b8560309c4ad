"""Pairwise comparison of captions by any Inspect model, including models that only choose among options."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import EvalLog
from inspect_ai.model import CachePolicy, Model
from inspect_ai.solver import generate

from humor_tasks.benchmarks.caption_contest import corpus as contest
from humor_tasks.benchmarks.caption_contest import rows
from humor_tasks.benchmarks.caption_contest.explanation import EXPLANATION
from humor_tasks.benchmarks.caption_contest.ranking import RANKING
from humor_tasks.benchmarks.definition import Data, Run
from humor_tasks.benchmarks.prompts import check_shows, fill, read_templates, split_turns
from humor_tasks.data.logs.inspect_logs import from_log
from humor_tasks.data.records import Prompt, Record, Role, Turn
from humor_tasks.errors import BadInput, listed
from humor_tasks.on_inspect.client import policy, register_prices
from humor_tasks.on_inspect.parts import multiple_choice
from humor_tasks.on_inspect.tasks.building import sample, show_pictures
from humor_tasks.results.captions.captions import Caption, Pair
from humor_tasks.scorers.verdict import as_data


def compared(pairs: Sequence[Pair], log: EvalLog) -> list[Pair]:
    """The pairs with their answers. Raises BadInput where the run did not finish."""
    run = from_log(log)
    if run.status != "success":
        why = f": {run.error}" if run.error else ""
        raise BadInput(f"ranking ended with status {run.status}{why} Run the command again.")
    answers = {sample.id: sample.scores[0].answer if sample.scores else None for sample in run.samples}
    return [dataclasses.replace(pair, answers=(answers.get(_id(pair, 0)), answers.get(_id(pair, 1)))) for pair in pairs]


@dataclass(frozen=True)
class Cartoons:
    """The cartoons of contests as records without choices: contest -> record; where they are from."""

    records: Mapping[str, Record]
    options: contest.NyccOptions
    provenance: Mapping[str, Any]


@dataclass(frozen=True)
class Judge:
    """A model that compares captions, and how it is asked; see `ask`."""

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

        Raises BadInput where no answer could be read.
        """
        if all(pair.same for pair in pairs):
            return list(pairs), None
        log = ask(captions, pairs, self.model, cartoons, self.prompts, self.cache, self.log_dir)
        found = compared(pairs, log)
        if all(pair.worth is None or pair.same for pair in found):
            raise BadInput(f"no answer of {self.name} could be parsed; the log holds its replies: {log.location}")
        return found, log.location


def of_corpus(corpus: Mapping[str, Any]) -> Cartoons:
    """The cartoons of `explanation`; corpus: the parameters that locate them."""
    options = contest.NyccOptions(**corpus)
    data = rows.load(EXPLANATION, options)
    found: dict[str, Record] = {}
    for record in data.records:
        found.setdefault(record.cluster, record)
    return Cartoons(found, options, data.provenance)


def ask(
    captions: Sequence[Caption],
    pairs: Sequence[Pair],
    model: Model,
    cartoons: Cartoons,
    prompts: str | None = None,
    cache: bool = True,
    log_dir: str | None = None,
) -> EvalLog:
    """Ask a model to compare every pair in both orders. Returns the Inspect log."""
    comparison = task(captions, pairs, cartoons, prompts, policy(model) if cache else False)
    try:
        (log,) = eval(comparison, model=model, log_dir=log_dir)
    except OSError as problem:
        raise BadInput(f"the log cannot be written ({problem}): --log-dir.") from None
    return log


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
    register_prices()
    signature = run.signature("generate", bench="rank_captions", n=str(len(records)))
    return Task(
        name="rank_captions",
        dataset=MemoryDataset(
            [sample(run, each, signature) for each in records], name="captions", location=options.dataset
        ),
        setup=[show_pictures(run)] if options.setting == "pixels" else None,
        solver=generate(cache=cache),
        scorer=multiple_choice(),
        version=run.version,
        metadata={"signature": str(signature)},
    )


def _id(pair: Pair, turn: int) -> str:
    return f"{pair.first}-{pair.second}-{turn}"


def _record(cartoon: Record, pair: Pair, turn: int, captions: Sequence[Caption]) -> Record:
    shown = [captions[i].text for i in ((pair.first, pair.second) if turn == 0 else (pair.second, pair.first))]
    fields = {**cartoon.fields, "first": as_data(shown[0]), "second": as_data(shown[1])}
    return dataclasses.replace(cartoon, id=_id(pair, turn), fields=fields, choices=tuple(shown), target=None)


def _prompt(run: Run, record: Record) -> Prompt:
    scene = next(name for name in run.templates if name.startswith("scene."))
    fields = {**record.fields, "scene": fill(run.templates[scene], record.fields, scene)}
    show = partial(fill, fields=fields, name="rank.txt")
    turns = [Turn(_role(role), show(text)) for role, text in split_turns(run.templates["rank.txt"], "rank.txt")]
    return Prompt((*turns[:-1], dataclasses.replace(turns[-1], picture=record.picture)))


def _role(role: str) -> Role:
    return role  # type: ignore[return-value]
