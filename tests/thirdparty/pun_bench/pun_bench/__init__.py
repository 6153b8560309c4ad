"""Puns: which of three endings makes the sentence a pun?"""

from pathlib import Path

from inspect_ai import Task, task

from humor_tasks.benchmarks.answers import Choice
from humor_tasks.benchmarks.choice import outcome
from humor_tasks.benchmarks.contract import Benchmark, Data, Options, Run
from humor_tasks.benchmarks.metric import ACCURACY, REPLY_RATES
from humor_tasks.benchmarks.prompts import fill, read_templates
from humor_tasks.data.records import Prompt, Record, Turn
from humor_tasks.data.rows import open_rows, provenance_of
from humor_tasks.on_inspect.tasks.building import build

HERE = Path(__file__).parent
COLUMNS = ("id", "topic", "start", "endings", "answer")


def load(benchmark: Benchmark, o: Options) -> Data:
    rows = open_rows(o.dataset, hub=None, cards=HERE / "data", config="puns", split=o.split, columns=COLUMNS)
    records = []
    for row in rows.rows:
        choices = "\n".join(f"{letter}) {ending}" for letter, ending in zip("ABC", row["endings"], strict=True))
        fields, endings = {"start": row["start"], "choices": choices}, tuple(row["endings"])
        records.append(Record(row["id"], row["topic"], fields, row["start"], endings, row["answer"], groups={}))
    source = provenance_of([rows], o.dataset, o.split, o.revision, len(records))
    return Data(tuple(records), source, pool=lambda fold: {})


def prompt(run: Run, record: Record) -> Prompt:
    return Prompt((Turn("user", fill(run.templates["puns.txt"], record.fields, "puns.txt")),))


def templates(o: Options) -> dict[str, str]:
    return read_templates(str(HERE / "prompts"), ["puns.txt"], o.prompts)


PUNS = Benchmark(
    name="puns",
    title="Puns",
    paper="none: an example",
    version="1-A",
    card="README.md",
    answer=Choice("ABC"),
    metrics=(ACCURACY, *REPLY_RATES),
    options=Options,
    templates=templates,
    load=load,
    prompt=prompt,
    outcome=outcome,
)


@task
def puns(dataset: str = "sample", on_unparsed: str = "wrong") -> Task:
    return build("puns", {"dataset": dataset, "on_unparsed": on_unparsed})
