"""Puns: which of three endings makes the sentence a pun?"""

from pathlib import Path

from inspect_ai import Task, task

from humor_tasks import benchmarks as ht
from humor_tasks.on_inspect import build

DATA = Path(__file__).parent / "data"
COLUMNS = ("id", "topic", "start", "endings", "answer")


def record(row: dict) -> ht.Record:
    shown = "\n".join(f"{letter}) {ending}" for letter, ending in zip("ABC", row["endings"], strict=True))
    fields = {"start": row["start"], "choices": shown}
    return ht.Record(row["id"], row["topic"], fields, row["start"], tuple(row["endings"]), row["answer"], groups={})


def load(benchmark: ht.Benchmark, o: ht.Options) -> ht.Data:
    rows = ht.open_rows(o.dataset, hub=None, cards=DATA, config="puns", split=o.split, columns=COLUMNS)
    source = ht.provenance_of([rows], o.dataset, o.split, o.revision, len(rows.rows))
    return ht.Data(tuple(map(record, rows.rows)), source)


PUNS = ht.Benchmark(
    name="puns",
    card=ht.Card(title="Puns"),
    version="1-A",
    answer=ht.Choice("ABC"),
    metrics=(ht.ACCURACY, *ht.REPLY_RATES),
    options=ht.Options,
    templates=(ht.Template(str(DATA), "puns.txt"),),
    load=load,
    prompt=lambda run, r: ht.Prompt((ht.Turn("user", ht.fill(run.templates["puns.txt"], r.fields, "puns.txt")),)),
    outcome=ht.choice.outcome,
    suites={"text": {}},
    ability="meant",
)


@task
def puns(dataset: str = "sample") -> Task:
    return build("puns", {"dataset": dataset})
