"""Literal descriptions as rows to train a describer on (section 3.3); no benchmark of the paper, and not registered."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from humor_tasks.benchmarks.answers import Answer, FreeText
from humor_tasks.benchmarks.contract import Benchmark, Data, Run
from humor_tasks.benchmarks.metric import REPLY_RATES
from humor_tasks.benchmarks.mock import corpus
from humor_tasks.benchmarks.mock.described import pictures
from humor_tasks.data.descriptions import QUESTIONS
from humor_tasks.data.records import Outcome, Prompt, Record, Turn
from humor_tasks.data.rows import fingerprint
from humor_tasks.errors import BadInput


def load(benchmark: Benchmark[corpus.MockOptions], o: corpus.MockOptions) -> Data:
    """One record per described picture of a split of a local folder."""
    folder = Path(o.dataset).expanduser()
    if not folder.is_dir():
        raise BadInput(f"dataset={o.dataset}: descriptions are read from a folder of humor-tasks build mock.")
    described = [each for each in pictures(folder, o.scene, o.split).values() if each.description]
    if not described:
        raise BadInput(f"{folder}: no picture of {o.scene}, split {o.split}, has a description (docs/mock.md).")
    records = tuple(
        Record(
            id=f"{each.media_id}_describing",
            cluster=each.media_id,
            fields={},
            context="",
            choices=(),
            target=each.description,
            groups={"scene": each.scene},
            picture=each.picture,
        )
        for each in described
    )
    mark = fingerprint([{"media_id": each.media_id, "description": each.description} for each in described])
    facts = {"dataset": o.dataset, "split": o.split, "fingerprint": mark, "rows": len(records), "revision": None}
    return Data(records, facts, lambda scene, task: {})


def prompt(run: Run[corpus.MockOptions], record: Record) -> Prompt:
    """The question that `humor-tasks describe` asks, about the picture."""
    return Prompt((Turn("user", QUESTIONS["description"], record.picture),))


def outcome(run: Run[corpus.MockOptions], record: Record, answer: Answer) -> Outcome:
    """The outcome without a score."""
    return answer.outcome(dataclasses.replace(record, target=None))


DESCRIBING = Benchmark(
    name="describing",
    card=corpus.card(title="MOCK: a literal description"),
    corpus="mock",
    version="1-A",
    answer=FreeText(),
    metrics=REPLY_RATES,
    options=corpus.MockOptions,
    templates=(),
    load=load,
    prompt=prompt,
    outcome=outcome,
)
