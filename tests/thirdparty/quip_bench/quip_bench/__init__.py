"""Quips: does an explanation of the quip make the points that explain it?"""

from pathlib import Path

from inspect_ai import Task, task

from humor_tasks import benchmarks as ht
from humor_tasks.on_inspect import build

DATA = Path(__file__).parent / "data"
COLUMNS = ("id", "topic", "quip", "points")


def record(row: dict) -> ht.Record:
    points = tuple(ht.Point(f"{row['id']}-{i}", text) for i, text in enumerate(row["points"], 1))
    return ht.Record(row["id"], row["topic"], {"quip": row["quip"]}, row["quip"], (), None, groups={}, points=points)


def load(benchmark: ht.Benchmark, o: ht.Options) -> ht.Data:
    rows = ht.open_rows(o.dataset, hub=None, cards=DATA, config="quips", split=o.split, columns=COLUMNS)
    source = ht.provenance_of([rows], o.dataset, o.split, o.revision, len(rows.rows))
    return ht.Data(tuple(map(record, rows.rows)), source)


QUIPS = ht.Benchmark(
    name="quips",
    card=ht.Card(title="Quips"),
    version="1-A",
    answer=ht.FreeText(),
    metrics=(*ht.COVERAGE, *ht.REPLY_RATES, *ht.UNDECIDED),
    options=ht.Options,
    templates=(ht.Template(str(DATA), "quips.txt"),),
    load=load,
    prompt=lambda run, r: ht.Prompt((ht.Turn("user", ht.fill(run.templates["quips.txt"], r.fields, "quips.txt")),)),
    outcome=lambda run, r, answer: answer.outcome(r),
    judging=ht.by_points(),
)


@task
def quips(dataset: str = "sample") -> Task:
    return build("quips", {"dataset": dataset})
