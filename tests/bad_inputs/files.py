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

SCORE = "humor-tasks score p.json --task ranking --dataset sample"
AGREE = "humor-tasks agreement v.csv --pairs p.jsonl"


@functools.cache
def replies() -> dict[str, str]:
    return {record.id: "Answer: A" for record in load("ranking", dataset="sample").records}


def predicted(change: Callable[[dict[str, object]], object], name: str = "p.json") -> dict[str, str]:
    held: dict[str, object] = dict(replies())
    change(held)
    return {name: json.dumps(held)}


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
        (made,) = eval(matching(dataset="sample"), model="baseline/first", log_dir=home, display="none")
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


PREDICTIONS: list[Bad] = [
    bad("no such file", SCORE, "p.json: there is no such file"),
    bad("no such CSV", SCORE.replace("p.json", "p.csv"), "p.csv: there is no such file"),
    bad("a folder", SCORE, "p.json: is a folder", files={"p.json": Path.mkdir}),
    bad("a link to itself", SCORE, "p.json", "link", files={"p.json": lambda path: path.symlink_to("p.json")}),
    bad("an empty file", SCORE, "p.json: is empty", files={"p.json": ""}),
    bad("null", SCORE, "p.json", "must be an object", files={"p.json": "null"}),
    bad("a number", SCORE, "p.json", "must be an object", files={"p.json": "3"}),
    bad("an empty object", SCORE, "10 missing ids", files={"p.json": "{}"}),
    bad("an empty list", SCORE, "10 missing ids", files={"p.json": "[]"}),
    bad("half a file", SCORE, "p.json, line 1", "not JSON", files={"p.json": '{"a": "A", '}),
    bad("a CSV where JSON is wanted", SCORE, "p.json", "CSV", files={"p.json": "id,pred\na,A\n"}),
    bad(
        "JSON lines where JSON is wanted",
        SCORE,
        "p.json",
        "JSON lines",
        ".jsonl",
        files={"p.json": '{"id": "a", "text": "A"}\n{"id": "b", "text": "A"}\n'},
    ),
    bad("JSON where a CSV is wanted", SCORE.replace("p.json", "p.csv"), "p.csv", "JSON", files={"p.csv": '{"a": "A"}'}),
    bad(
        "a list where lines are wanted",
        SCORE.replace("p.json", "p.jsonl"),
        "p.jsonl, line 1",
        "one object a line",
        files={"p.jsonl": '[\n{"id": "a", "text": "A"}\n]'},
    ),
    bad("UTF-16", SCORE, "p.json", "UTF-16", files={"p.json": json.dumps({"a": "A"}).encode("utf-16")}),
    bad("gzip", SCORE, "p.json", "gzip", files={"p.json": gzip.compress(b"{}")}),
    bad("a zip archive", SCORE, "p.json", "zip", files={"p.json": zipped}),
    bad("deep nesting", SCORE, "p.json", "not JSON", files={"p.json": "[" * 200_000}),
    bad(
        "a reply that is a number",
        SCORE,
        "p.json, id",
        "the prediction is 1; it must be text",
        files=predicted(lambda held: held.update({next(iter(held)): 1})),
    ),
    bad(
        "a reply that is null",
        SCORE,
        "the prediction is None; it must be text",
        files=predicted(lambda held: held.update({next(iter(held)): None})),
    ),
    bad(
        "a reply that is NaN",
        SCORE,
        "the prediction is nan; it must be text",
        files=predicted(lambda held: held.update({next(iter(held)): float("nan")})),
    ),
    bad(
        "an unknown id",
        SCORE,
        "1 unknown id: extra",
        "Nothing was scored",
        files=predicted(lambda held: held.update(extra="A")),
    ),
    bad("a missing id", SCORE, "1 missing id", "Nothing was scored", files=predicted(lambda held: held.popitem())),
    bad(
        "an id with a blank at its end",
        SCORE,
        "1 unknown id",
        files=predicted(lambda held: held.update({f"{held.popitem()[0]} ": "A"})),
    ),
    bad("an id twice", SCORE, "1 repeated id: a", files={"p.json": '{"a": "A", "a": "B"}'}),
    bad(
        "a record twice",
        SCORE,
        "1 repeated id: a",
        files={"p.json": '[{"id": "a", "text": "A"}, {"id": "a", "text": "A"}]'},
    ),
    bad(
        "a record without an id",
        SCORE,
        "p.json, record 1: has no instance_id or id",
        files={"p.json": '[{"text": "A"}]'},
    ),
    bad(
        "a record without a text",
        SCORE,
        "p.json, record 1: has no prediction or text",
        files={"p.json": '[{"id": "a", "txt": "A"}]'},
    ),
    bad(
        "a record with two texts",
        SCORE,
        "has more than one prediction",
        files={"p.json": '[{"id": "a", "text": "A", "answer": "B"}]'},
    ),
    bad("a record that is a list", SCORE, "p.json, record 1: must be an object", files={"p.json": '[["a", "A"]]'}),
    bad("an id that is null", SCORE, "p.json, record 1", "id", files={"p.json": '[{"id": null, "text": "A"}]'}),
    bad(
        "an id that is a list",
        SCORE,
        "p.json, record 1: the id is ['a']",
        files={"p.json": '[{"id": ["a"], "text": "A"}]'},
    ),
    bad(
        "a CSV without pred",
        SCORE.replace("p.json", "p.csv"),
        "p.csv: there is no column 'pred'",
        files={"p.csv": "id,answer\na,1\n"},
    ),
    bad(
        "a pred of 3",
        "humor-tasks score p.csv --task humicroedit_pairwise --dataset sample",
        "p.csv, line 2",
        "Nothing was scored",
        files={"p.csv": "id,pred\na,3\n"},
    ),
    bad(
        "a rating of nan",
        "humor-tasks score p.csv --task humicroedit_rating --dataset sample",
        "p.csv, line 2",
        "nan",
        files={"p.csv": "id,pred\na,nan\n"},
    ),
    bad(
        "a rating of inf",
        "humor-tasks score p.csv --task humicroedit_rating --dataset sample",
        "p.csv, line 2",
        "inf",
        files={"p.csv": "id,pred\na,inf\n"},
    ),
    bad(
        "a CSV of semicolons",
        SCORE.replace("p.json", "p.csv"),
        "p.csv: there is no column 'id'",
        "id;pred",
        files={"p.csv": "id;pred\na;1\n"},
    ),
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
    bad("no such log", "humor-tasks report l.eval", "l.eval: there is no such file or folder"),
    bad("a folder of no logs", "humor-tasks report l.eval", "l.eval: holds no", files={"l.eval": Path.mkdir}),
    bad(
        "a folder for a log",
        "humor-tasks hard-subset l.eval -o h.json",
        "l.eval: is a folder",
        files={"l.eval": Path.mkdir},
    ),
    bad("an empty log", "humor-tasks report l.eval", "l.eval", "is empty", files={"l.eval": ""}),
    bad(
        "a log that is text",
        "humor-tasks report l.eval",
        "l.eval: cannot be read as an Inspect log (it is truncated",
        files={"l.eval": "no"},
    ),
    bad(
        "a zip that is no log",
        "humor-tasks report l.eval",
        "l.eval: cannot be read as an Inspect log",
        files={"l.eval": zipped},
    ),
    bad(
        "half a log",
        "humor-tasks submission l.eval -o s.json",
        "l.eval",
        "truncated",
        files={"l.eval": logged(lambda data: data[: len(data) // 2])},
    ),
    bad("a log with damage", "humor-tasks submission l.eval -o s.json", "l.eval", files={"l.eval": damaged}),
    bad(
        "a sample that is not JSON",
        "humor-tasks submission l.eval -o s.json",
        "l.eval",
        files={"l.eval": log_with("samples/", b"{")},
    ),
    bad(
        "a log without samples",
        "humor-tasks submission l.eval -o s.json",
        "l.eval",
        "samples",
        files={"l.eval": log_with("samples/", None)},
    ),
    bad(
        "an unfinished log",
        "humor-tasks hard-subset l.eval -o h.json",
        "l.eval: ended with status started",
        "eval-retry",
        files={"l.eval": header_with(status="started")},
    ),
    bad(
        "a failed log",
        "humor-tasks submission l.eval -o s.json",
        "status error",
        "eval-retry",
        files={"l.eval": header_with(status="error")},
    ),
    bad(
        "a log of another task",
        "humor-tasks hard-subset l.eval -o h.json",
        "l.eval",
        "element_coverage",
        files={"l.eval": logged()},
    ),
    bad(
        "a log of another task to grade",
        "humor-tasks grade l.eval --grader baseline/first",
        "not of humor_tasks/humorbench",
        files={"l.eval": logged()},
    ),
    bad(
        "a log of another task as a subset",
        "humor-tasks hard-subset l.eval -o s.json",
        "l.eval",
        "element_coverage",
        files={"l.eval": logged()},
    ),
    bad(
        "a log of another task to correct",
        "humor-tasks correct-for-judge l.eval --labels l.csv",
        "l.eval",
        "element_coverage",
        files={"l.eval": logged(), "l.csv": "id,label\n1,PASS\n"},
    ),
    bad(
        "a log of another task as a judge",
        f"{AGREE} --judge l.eval",
        "l.eval",
        "explanation_preference",
        files={"l.eval": logged(), "v.csv": VOTES, "p.jsonl": ITEMS},
    ),
    bad(
        "a log given twice",
        "humor-tasks hard-subset l.eval l.eval -o s.json",
        "a log is given twice",
        files={"l.eval": logged()},
    ),
    bad(
        "a JSON log that is a list",
        "humor-tasks report l.json",
        "l.json: cannot be read as an Inspect log",
        files={"l.json": "[]"},
    ),
    bad("a log of another ending", "humor-tasks report l.txt", "l.txt", ".eval", files={"l.txt": "x"}),
    bad(
        "samples that are empty",
        "humor-tasks submission s.jsonl -o s.json",
        "s.jsonl",
        "samples",
        files={"s.jsonl": ""},
    ),
    bad(
        "samples of another package",
        "humor-tasks submission s.jsonl -o s.json",
        "s.jsonl, line 1",
        "no sample of a humor-tasks task",
        files={"s.jsonl": '{"doc": {"q": 1}, "filtered_resps": ["x"]}\n'},
    ),
    bad(
        "samples that are numbers",
        "humor-tasks submission s.jsonl -o s.json",
        "s.jsonl, line 1",
        files={"s.jsonl": "3\n"},
    ),
    bad(
        "samples cut off",
        "humor-tasks submission s.jsonl -o s.json",
        "s.jsonl, line 2: not JSON",
        files={"s.jsonl": LINE + '{"doc": '},
    ),
    bad(
        "samples in UTF-16",
        "humor-tasks submission s.jsonl -o s.json",
        "s.jsonl",
        "UTF-16",
        files={"s.jsonl": LINE.encode("utf-16")},
    ),
    bad(
        "samples of free text as a submission",
        "humor-tasks submission s.jsonl -o s.json",
        "s.jsonl",
        "matching (five choices) or ranking",
        files={"s.jsonl": LINE},
    ),
    bad(
        "filling with a letter that is not",
        "humor-tasks submission l.eval -o s.json --fill F",
        "--fill F: choose random or one of A, B, C, D, E",
        files={"l.eval": logged()},
    ),
    bad(
        "grading at a temperature of words",
        "humor-tasks grade s.jsonl --grader baseline/first --temperature hot",
        "--temperature is 'hot'",
        files={"s.jsonl": LINE},
    ),
    bad(
        "grading at a temperature of NaN",
        "humor-tasks grade s.jsonl --grader baseline/first --temperature nan",
        "--temperature is 'nan'",
        files={"s.jsonl": LINE},
    ),
    bad(
        "a report to a picture",
        "humor-tasks report l.eval -o r.png",
        "r.png: a report ends in .md, .csv, .json",
        files={"l.eval": logged()},
    ),
    bad(
        "a plot to a table",
        "humor-tasks report l.eval --plot r.md",
        "r.md: a picture ends in .png, .svg, .pdf",
        files={"l.eval": logged()},
    ),
    bad(
        "an unknown hard list",
        "humor-tasks report l.eval --hard hrad",
        "Did you mean 'hard'?",
        files={"l.eval": logged()},
    ),
]

VOTED: list[Bad] = [
    bad("no such votes", AGREE, "v.csv: there is no such file", files={"p.jsonl": ITEMS}),
    bad("votes that are empty", AGREE, "v.csv", "is empty", files={"v.csv": "", "p.jsonl": ITEMS}),
    bad(
        "votes without a rater",
        AGREE,
        "no column 'rater'",
        files={"v.csv": "item,choice,time\ni1,A,\n", "p.jsonl": ITEMS},
    ),
    bad(
        "a vote for C", AGREE, "v.csv", "'C'", "line 2", files={"v.csv": VOTES.replace(",A,", ",C,"), "p.jsonl": ITEMS}
    ),
    bad(
        "a vote on an unknown item",
        AGREE,
        "unknown items",
        "'i9'",
        files={"v.csv": VOTES.replace("i1", "i9"), "p.jsonl": ITEMS},
    ),
    bad(
        "a vote twice", AGREE, "v.csv", "line 3", files={"v.csv": VOTES + VOTES.split("\n")[1] + "\n", "p.jsonl": ITEMS}
    ),
    bad(
        "a vote at no time",
        AGREE,
        "v.csv, line 2",
        "time",
        files={"v.csv": VOTES.replace("2024", "when"), "p.jsonl": ITEMS},
    ),
    bad(
        "an invisible rater",
        AGREE,
        "v.csv, line 2",
        "rater",
        files={"v.csv": VOTES.replace("ann", "\u200b"), "p.jsonl": ITEMS},
    ),
    bad("items that are empty", AGREE, "p.jsonl", "there are no items", files={"v.csv": VOTES, "p.jsonl": "\n"}),
    bad("items that are a CSV", AGREE, "p.jsonl", "CSV", files={"v.csv": VOTES, "p.jsonl": "id,a,b\ni1,x,y\n"}),
    bad(
        "an item with one option",
        "humor-tasks annotate p.jsonl",
        "p.jsonl, row 1",
        "options must be a list of 2 to 26",
        files={"p.jsonl": ITEMS.replace(', "b"', "")},
    ),
    bad(
        "an item with an invisible option",
        "humor-tasks annotate p.jsonl",
        "p.jsonl, row 1: option 2 is invisible",
        files={"p.jsonl": ITEMS.replace('"b"', '"\\u200b"')},
    ),
    bad(
        "an item twice",
        "humor-tasks annotate p.jsonl",
        "p.jsonl, line 2",
        "repeats that of",
        files={"p.jsonl": ITEMS * 2},
    ),
    bad(
        "an item with a missing picture",
        "humor-tasks annotate p.jsonl",
        "p.jsonl, row 1",
        "gone.png",
        files={"p.jsonl": ITEMS.replace("}", ', "image": "gone.png"}')},
    ),
    bad(
        "an item with a picture elsewhere",
        "humor-tasks annotate p.jsonl",
        "p.jsonl, row 1",
        "/etc/hostname",
        files={"p.jsonl": ITEMS.replace("}", ', "image": "/etc/hostname"}')},
    ),
    bad(
        "a file of votes that is a folder",
        "humor-tasks annotate p.jsonl --votes v.csv",
        "v.csv",
        files={"p.jsonl": ITEMS, "v.csv": Path.mkdir},
    ),
    bad(
        "a file of votes that is another CSV",
        "humor-tasks annotate p.jsonl --votes v.csv",
        "v.csv",
        files={"p.jsonl": ITEMS, "v.csv": "a,b\n1,2\n"},
    ),
    bad(
        "a host that is not",
        "humor-tasks annotate p.jsonl --host 203.0.113.9",
        "203.0.113.9",
        files={"p.jsonl": ITEMS},
        leaves=("votes.csv",),
    ),
    bad("an export that is nothing", "humor-tasks votes x.json -o v.csv", "x.json", files={"x.json": "{}"}),
    bad("an export of another tool", "humor-tasks votes x.json -o v.csv", "x.json", files={"x.json": '[{"a": 1}]'}),
    bad(
        "labels without a column",
        "humor-tasks correct-for-judge j.csv --labels l.csv",
        "no column 'label'",
        files={"j.csv": "id,verdict\n1,PASS\n", "l.csv": "id,lable\n1,PASS\n"},
    ),
    bad(
        "a label of yes",
        "humor-tasks correct-for-judge j.csv --labels l.csv",
        "l.csv, line 2: label is 'yes'",
        files={"j.csv": "id,verdict\n1,PASS\n", "l.csv": "id,label\n1,yes\n"},
    ),
    bad(
        "too few labels",
        "humor-tasks correct-for-judge j.csv --labels l.csv",
        "10",
        files={"j.csv": "id,verdict\n1,PASS\n2,FAIL\n", "l.csv": "id,label\n1,PASS\n"},
    ),
    bad(
        "labels of unknown rows",
        "humor-tasks correct-for-judge j.csv --labels l.csv",
        "1 labelled row: 9",
        files={"j.csv": "id,verdict\n1,PASS\n", "l.csv": "id,label\n9,PASS\n"},
    ),
    bad(
        "prices that are missing",
        "humor-tasks report l.eval --prices gone.toml",
        "prices: gone.toml",
        "no such file",
        files={"l.eval": logged()},
    ),
    bad(
        "prices that are no TOML",
        "humor-tasks report l.eval --prices x.toml",
        "prices: x.toml",
        "line 1",
        files={"l.eval": logged(), "x.toml": "{"},
    ),
    bad(
        "a price below zero",
        "humor-tasks report l.eval --prices x.toml",
        "x.toml, m/m: input is -1",
        files={"l.eval": logged(), "x.toml": '[models."m/m"]\ninput = -1\noutput = 1\n'},
    ),
    bad(
        "a price of nan",
        "humor-tasks report l.eval --prices x.toml",
        "x.toml, m/m: input is nan",
        files={"l.eval": logged(), "x.toml": '[models."m/m"]\ninput = nan\noutput = 1\n'},
    ),
    bad(
        "systems without names",
        "humor-tasks analyse humicroedit x.csv --dataset sample",
        "x.csv: name a system and its file",
        files={"x.csv": "id,pred\n"},
    ),
    bad(
        "a system that is missing",
        "humor-tasks analyse humicroedit a=x.csv --dataset sample",
        "x.csv",
        "no such",
        files={},
    ),
    bad(
        "a system of no row",
        "humor-tasks analyse humicroedit a=x.csv --dataset sample",
        "x.csv",
        files={"x.csv": "id,pred\n"},
    ),
]

CASES = [*PREDICTIONS, *LOGS, *VOTED]
