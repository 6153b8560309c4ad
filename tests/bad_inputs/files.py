"""Bad files of predictions, votes, items, labels, prices, and bad logs of finished runs."""

from __future__ import annotations

import functools
import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from bad_inputs.case import Bad, bad
from humor_tasks import evaluate, load

Made = str | bytes | Callable[[Path], object]
SCORE = "humor-tasks score p.json --task ranking --dataset sample"
AGREE = "humor-tasks people agreement v.csv --items p.jsonl"


@functools.cache
def replies() -> dict[str, str]:
    return {record.id: "Answer: A" for record in load("ranking", dataset="sample").records}


def replies_but(change: Callable[[dict[str, object]], object]) -> str:
    held: dict[str, object] = dict(replies())
    change(held)
    return json.dumps(held)


def scored(**changes: object) -> Callable[[], None]:
    """`evaluate` with replies of which some are changed."""
    return lambda: print(evaluate("ranking", {**replies(), **changes}, dataset="sample"))  # type: ignore[dict-item]


@functools.cache
def log(ending: str = ".eval") -> bytes:
    """A log of matching on the sample by a baseline."""
    from inspect_ai import eval
    from inspect_ai.log import write_eval_log

    from humor_tasks.tasks import matching

    with tempfile.TemporaryDirectory() as home:
        (made,) = eval(matching(dataset="sample"), model="baseline/first", log_dir=home, display="log")
        path = Path(home) / f"log{ending}"
        write_eval_log(made, str(path))
        return path.read_bytes()


def log_with(member: str, content: bytes | None) -> Callable[[Path], None]:
    """The log with one member of its archive replaced, or left out."""

    def make(path: Path) -> None:
        with zipfile.ZipFile(io.BytesIO(log())) as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                if not name.startswith(member):
                    new.writestr(name, old.read(name))
                elif content is not None:
                    new.writestr(name, content)

    return make


def header_with(**changes: object) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(io.BytesIO(log())) as old:
            header = json.loads(old.read("header.json"))
        log_with("header.json", json.dumps(header | changes).encode())(path)

    return make


def logged(change: Callable[[bytes], bytes] = bytes) -> Callable[[Path], int]:
    return lambda path: path.write_bytes(change(log()))


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "no log")


ITEMS = '{"id": "i1", "options": ["a", "b"], "caption": "c"}\n'
VOTES = "item,rater,choice,time\ni1,ann,A,2024-01-01T00:00:00+00:00\n"
LETTER_METRICS = {"benchmark": "explanation", "version": "1-A", "options": {}, "groups": {}, "facts": {}}
LINE = json.dumps({"doc": {"id": "a", "choices": [], "humor_tasks": LETTER_METRICS}, "filtered_resps": ["x"]}) + "\n"


def damaged(path: Path) -> None:
    """The log with other bytes in the middle of its first sample."""
    data = log()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        member = next(each for each in archive.infolist() if each.filename.startswith("samples/"))
    start = member.header_offset + member.compress_size // 2
    path.write_bytes(data[:start] + bytes(byte ^ 255 for byte in data[start : start + 50]) + data[start + 50 :])


def predicted(name: str, content: Made, *says: str, file: str = "p.json", task: str = "ranking") -> Bad:
    return bad(name, f"humor-tasks score {file} --task {task} --dataset sample", *says, files={file: content})


def to_report(name: str, content: Made, *says: str, file: str = "l.eval") -> Bad:
    return bad(name, f"humor-tasks report {file}", *says, files={file: content})


def to_submit(name: str, content: Made, *says: str, file: str = "l.eval") -> Bad:
    return bad(name, f"humor-tasks export submission {file} -o s.json", *says, files={file: content})


def given_log(name: str, command: str, *says: str) -> Bad:
    """A good log for a command that needs another one, or that is asked for what there is not."""
    return bad(name, command, *says, files={"l.eval": logged()})


def voted(name: str, votes: Made, *says: str) -> Bad:
    return bad(name, AGREE, *says, files={"v.csv": votes, "p.jsonl": ITEMS})


def on_page(name: str, items: Made, *says: str) -> Bad:
    return bad(name, "humor-tasks people page p.jsonl", *says, files={"p.jsonl": items})


PREDICTIONS: list[Bad] = [
    bad("no such file", SCORE, "p.json: there is no such file"),
    bad("no such CSV", SCORE.replace("p.json", "p.csv"), "p.csv: there is no such file"),
    predicted("a folder", Path.mkdir, "p.json: is a folder"),
    predicted("a link to itself", lambda path: path.symlink_to("p.json"), "p.json", "link"),
    predicted("an empty file", "", "p.json: is empty"),
    predicted("null", "null", "p.json", "must be an object"),
    predicted("a number", "3", "p.json", "must be an object"),
    predicted("an empty list", "[]", "10 missing ids"),
    predicted("half a file", '{"a": "A", ', "p.json, line 1", "not JSON"),
    predicted("a CSV where JSON is wanted", "id,pred\na,A\n", "p.json", "CSV"),
    predicted(
        "JSON lines where JSON is wanted",
        '{"id": "a", "text": "A"}\n{"id": "b", "text": "A"}\n',
        "p.json",
        "JSON lines",
        ".jsonl",
    ),
    predicted("JSON where a CSV is wanted", '{"a": "A"}', "p.csv", "JSON", file="p.csv"),
    predicted(
        "a list where lines are wanted",
        '[\n{"id": "a", "text": "A"}\n]',
        "p.jsonl, line 1",
        "one object a line",
        file="p.jsonl",
    ),
    predicted("UTF-16", json.dumps({"a": "A"}).encode("utf-16"), "p.json", "UTF-16"),
    predicted("gzip", gzip.compress(b"{}"), "p.json", "gzip"),
    predicted("a zip archive", zipped, "p.json", "zip"),
    predicted("deep nesting", "[" * 200000, "p.json", "not JSON"),
    predicted(
        "a reply that is a number",
        replies_but(lambda held: held.update({next(iter(held)): 1})),
        "p.json, id",
        "the prediction is 1; it must be text",
    ),
    predicted(
        "a reply that is NaN",
        replies_but(lambda held: held.update({next(iter(held)): float("nan")})),
        "the prediction is nan; it must be text",
    ),
    predicted(
        "an unknown id", replies_but(lambda held: held.update(extra="A")), "1 unknown id: extra", "Nothing was scored"
    ),
    predicted("a missing id", replies_but(lambda held: held.popitem()), "1 missing id", "Nothing was scored"),
    predicted("a record twice", '[{"id": "a", "text": "A"}, {"id": "a", "text": "A"}]', "1 repeated id: a"),
    predicted("a record without an id", '[{"text": "A"}]', "p.json, record 1: has no instance_id or id"),
    predicted("a record without a text", '[{"id": "a", "txt": "A"}]', "p.json, record 1: has no prediction or text"),
    predicted("a record that is a list", '[["a", "A"]]', "p.json, record 1: must be an object"),
    predicted("an id that is null", '[{"id": null, "text": "A"}]', "p.json, record 1", "id"),
    predicted("an id that is a list", '[{"id": ["a"], "text": "A"}]', "p.json, record 1: the id is ['a']"),
    predicted("a CSV without pred", "id,answer\na,1\n", "p.csv: there is no column 'pred'", file="p.csv"),
    predicted(
        "a pred of 3",
        "id,pred\na,3\n",
        "p.csv, line 2",
        "Nothing was scored",
        file="p.csv",
        task="humicroedit_pairwise",
    ),
    predicted("a rating of nan", "id,pred\na,nan\n", "p.csv, line 2", "nan", file="p.csv", task="humicroedit_rating"),
    predicted("a rating of inf", "id,pred\na,inf\n", "p.csv, line 2", "inf", file="p.csv", task="humicroedit_rating"),
    predicted("a CSV of bars", "id|pred\na|1\n", "p.csv: there is no column 'id'", "id|pred", file="p.csv"),
    bad("a reply that is None, in Python", scored(**{"x": None}), "unknown id: x"),
    bad(
        "a reply of bytes, in Python",
        lambda: evaluate("ranking", dict.fromkeys(replies(), b"A"), dataset="sample"),
        "it must be text",
    ),  # type: ignore[arg-type]
    bad(
        "a list in place of predictions, in Python",
        lambda: evaluate("ranking", ["A"], dataset="sample"),
        "predictions",
        "{instance_id: reply}",
    ),  # type: ignore[arg-type]
    bad(
        "None in place of predictions, in Python",
        lambda: evaluate("ranking", None, dataset="sample"),
        "predictions",
        "{instance_id: reply}",
    ),  # type: ignore[arg-type]
]

LOGS: list[Bad] = [
    to_report("a folder of no logs", Path.mkdir, "l.eval: holds no"),
    bad(
        "a folder for a log",
        "humor-tasks analyse hard-subset l.eval -o h.json",
        "l.eval: holds no log of humorbench",
        files={"l.eval": Path.mkdir},
    ),
    to_report("a zip that is no log", zipped, "l.eval: cannot be read as an Inspect log"),
    to_submit("a log with damage", damaged, "l.eval"),
    to_submit("a sample that is not JSON", log_with("samples/", b"{"), "l.eval"),
    to_submit("a log without samples", log_with("samples/", None), "l.eval", "samples"),
    bad(
        "an unfinished log",
        "humor-tasks analyse hard-subset l.eval -o h.json",
        "l.eval: ended with status started",
        "eval-retry",
        files={"l.eval": header_with(status="started")},
    ),
    given_log(
        "a log of another task", "humor-tasks analyse hard-subset l.eval -o h.json", "l.eval", "element_coverage"
    ),
    bad(
        "a log of another task as a judge",
        f"{AGREE} --judge l.eval",
        "l.eval",
        "explanation_preference",
        files={"l.eval": logged(), "v.csv": VOTES, "p.jsonl": ITEMS},
    ),
    given_log("a log given twice", "humor-tasks analyse hard-subset l.eval l.eval -o s.json", "a log is given twice"),
    to_report("a JSON log that is a list", "[]", "l.json: cannot be read as an Inspect log", file="l.json"),
    to_report("a log of another ending", "x", "l.txt", ".eval", file="l.txt"),
    to_submit("samples that are numbers", "3\n", "s.jsonl, line 1", file="s.jsonl"),
    to_submit("samples in UTF-16", LINE.encode("utf-16"), "s.jsonl", "UTF-16", file="s.jsonl"),
    to_submit(
        "samples of free text as a submission", LINE, "s.jsonl", "matching (five choices) or ranking", file="s.jsonl"
    ),
    *(
        bad(
            f"grading at a temperature of {heat}",
            f"humor-tasks grade s.jsonl --grader baseline/first --temperature {heat}",
            "temperature must be a number of at least 0 or none",
            files={"s.jsonl": LINE},
        )
        for heat in ("hot", "nan")
    ),
]

VOTED: list[Bad] = [
    voted("votes that are empty", "", "v.csv", "is empty"),
    voted("an invisible rater", VOTES.replace("ann", "\u200b"), "v.csv, line 2", "rater"),
    bad("items that are empty", AGREE, "p.jsonl", "there are no items", files={"v.csv": VOTES, "p.jsonl": "\n"}),
    bad("items that are a CSV", AGREE, "p.jsonl", "CSV", files={"v.csv": VOTES, "p.jsonl": "id,a,b\ni1,x,y\n"}),
    on_page(
        "an item with an invisible option", ITEMS.replace('"b"', '"\\u200b"'), "p.jsonl, row 1: option 2 is invisible"
    ),
    bad(
        "a host that is not",
        "humor-tasks people page p.jsonl --host 203.0.113.9",
        "203.0.113.9",
        files={"p.jsonl": ITEMS},
        leaves=("votes.csv",),
    ),
    bad("an export that is nothing", "humor-tasks people votes x.json -o v.csv", "x.json", files={"x.json": "{}"}),
    given_log(
        "prices that are missing", "humor-tasks report l.eval --prices gone.toml", "prices: gone.toml", "no such file"
    ),
]

CASES = [*PREDICTIONS, *LOGS, *VOTED]
