"""Bad datasets: folders, rows, captions and pictures, by the Python interface and by both harnesses."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from standins import mock_rows
from standins.bad_rows import row

from bad_inputs.case import Bad, bad
from humor_tasks import load

Made = str | bytes | Callable[[Path], object]
INSPECT = "inspect eval humor_tasks/{} --model baseline/first -T dataset=d {}"
LM_EVAL = "lm_eval --tasks {} --model humor-baseline --model_args strategy=first --metadata dataset=d {}"


def card(task: str = "matching", file: str = "matching.jsonl", split: str = "test") -> str:
    where = f"  - split: {split}\n    path: {file}\n"
    return f"---\nconfigs:\n- config_name: {task}\n  data_files:\n{where}---\n"


def holding(content: Made, task: str = "matching", file: str = "") -> dict[str, Made]:
    """A dataset folder whose one file has this content."""
    name = file or f"{task}.jsonl"
    return {"d/README.md": card(task, name), f"d/{name}": content}


def rows(*given: dict[str, Any], task: str = "matching") -> dict[str, Made]:
    return holding("".join(f"{json.dumps(each)}\n" for each in given), task)


def changed(task: str = "matching", **changes: Any) -> dict[str, Made]:
    return rows(row(task, instance_id="m0"), row(task, **changes), task=task)


def opens(task: str = "matching", **parameters: Any) -> Callable[[], None]:
    """`load(TASK, dataset="d", ...)` and every prompt."""

    def run() -> None:
        found = load(task, **{"dataset": "d"} | parameters)
        for record in found.records:
            for medium in found.prompt(record).media:
                medium.read()

    return run


def parquet(write: Callable[[], Any]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        import pyarrow.parquet as pq

        pq.write_table(write(), path)

    return make


def empty_table() -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array([], pa.string()) for name in row()})


def picture(mode: str = "RGB", kind: str = "PNG", size: tuple[int, int] = (4, 4), **more: Any) -> bytes:
    from PIL import Image

    made = io.BytesIO()
    Image.new(mode, size).save(made, kind, **more)
    return made.getvalue()


def seen(content: Made | None, name: str = "x.png") -> dict[str, Made]:
    """A dataset whose one picture is this."""
    files = rows(row(image=name), task="matching_from_pixels")
    return files if content is None else files | {f"d/{name}": content}


def mock(scene: str = "cartoon", task: str = "detecting", **changes: Any) -> dict[str, Made]:
    given = [mock_rows.row(scene, task, **changes)]
    return {"d": lambda path: mock_rows.mock_folder(path, scene, task, given)}


PX = {"setting": "pixels"}
ZERO = "\u200b\u2060\ufeff"
BIG = (8000, 8000)
TEXT = json.dumps(row()) + "\n"

FOLDERS: list[Bad] = [
    bad("no such folder", opens(dataset="/no/where"), "dataset=/no/where", "nor a folder that exists"),
    bad("no such folder, inspect", INSPECT.format("matching", "").replace("=d", "=/no/where"), "dataset=/no/where"),
    bad("no such folder, lm-eval", LM_EVAL.format("nyc_matching", "").replace("=d", "=/no/where"), "/no/where"),
    bad("misspelt sample", opens(dataset="smaple"), "dataset=smaple", "Did you mean 'sample'?"),
    bad("an empty name of a dataset folder", opens(dataset=" "), "dataset="),
    bad("dataset is a number", opens(dataset=3), "dataset must be text, not 3"),
    bad("dataset is a list", opens(dataset=["d"]), "dataset must be text, not ['d']"),
    bad("dataset is a file", opens(dataset="d.csv"), "d.csv is a file", files={"d.csv": "a,b\n1,2\n"}),
    bad("a folder without files", opens(), "doesn't contain any data files", files={"d": Path.mkdir}),
    bad("a link to itself", opens(), "dataset=d", files={"d": lambda path: path.symlink_to("d")}),
    bad("a card that is not YAML", opens(), "d", "README.md", files={"d/README.md": "---\nconfigs: [\n---\n"}),
    bad(
        "a card that is UTF-16", opens(), "d", "README.md", files=rows(row()) | {"d/README.md": card().encode("utf-16")}
    ),
    bad("a card that names no file", opens(), "matching.jsonl", files={"d/README.md": card()}),
    bad(
        "a card without this config", opens("ranking"), "no config 'ranking'", "there are: matching", files=rows(row())
    ),
    bad("no such split", opens(split="validation"), "no split 'validation'", "there are: test", files=rows(row())),
    bad("no such split, lm-eval", LM_EVAL.format("nyc_matching", "split=train"), "no split 'train'", files=rows(row())),
    bad("no such fold", opens(fold="3"), "no config 'matching_3'", files=rows(row())),
    bad(
        "a config outside the folder",
        opens(),
        "o.jsonl is not in the folder",
        files={"d/README.md": card(file="../o.jsonl"), "o.jsonl": TEXT},
    ),
    bad("a folder in place of the file", opens(), "matching.jsonl", files=rows() | {"d/matching.jsonl": Path.mkdir}),
    bad("a revision of a folder", opens(revision="main"), "revision=main", "leave revision out", files=rows(row())),
]

FILES: list[Bad] = [
    bad("an empty file", opens(), "matching.jsonl", "there are no rows", files=holding("")),
    bad("a file of blank lines", opens(), "matching.jsonl", "there are no rows", files=holding("\n \n\n")),
    bad(
        "an empty parquet",
        opens(),
        "matching.parquet",
        "there are no rows",
        files=holding(parquet(empty_table), file="matching.parquet"),
    ),
    bad(
        "an empty parquet, inspect",
        INSPECT.format("matching", ""),
        "matching.parquet",
        "there are no rows",
        files=holding(parquet(empty_table), file="matching.parquet"),
    ),
    bad(
        "a parquet of no bytes",
        opens(),
        "matching.parquet",
        "there are no rows",
        files=holding(b"", file="matching.parquet"),
    ),
    bad(
        "a parquet that is text",
        opens(),
        "matching.parquet",
        "not a parquet file",
        files=holding(TEXT, file="matching.parquet"),
    ),
    bad(
        "half a parquet",
        opens(),
        "matching.parquet",
        files=holding(
            lambda p: (parquet(empty_table)(p), p.write_bytes(p.read_bytes()[:-20])), file="matching.parquet"
        ),
    ),
    bad("an empty CSV", opens(), "matching.csv", "there are no rows", files=holding("", file="matching.csv")),
    bad(
        "a CSV where JSON lines are wanted",
        opens(),
        "matching.jsonl, line 1",
        "CSV",
        files=holding("instance_id,label\nm1,B\n"),
    ),
    bad(
        "a JSON array where lines are wanted",
        opens(),
        "matching.jsonl, line 1",
        "one object a line",
        files=holding(json.dumps([row()], indent=1)),
    ),
    bad("half a line", opens(), "matching.jsonl, line 2: not JSON", files=holding(TEXT + '{"instance_id": "m2", ')),
    bad(
        "half a line, inspect",
        INSPECT.format("matching", ""),
        "matching.jsonl, line 2: not JSON",
        files=holding(TEXT + '{"instance_id":'),
    ),
    bad(
        "half a line, lm-eval",
        LM_EVAL.format("nyc_matching", ""),
        "matching.jsonl, line 2: not JSON",
        files=holding(TEXT + '{"instance_id":'),
    ),
    bad(
        "a line that is a number",
        opens(),
        "matching.jsonl, line 2: is int; each line must be an object",
        files=holding(TEXT + "3\n"),
    ),
    bad(
        "a line that is a list",
        opens(),
        "matching.jsonl, line 2: is list; each line must be an object",
        files=holding(TEXT + "[1]\n"),
    ),
    bad("a line of Python", opens(), "matching.jsonl, line 1: not JSON", files=holding(str(row()) + "\n")),
    bad("UTF-16", opens(), "matching.jsonl", "UTF-16", files=holding(TEXT.encode("utf-16"))),
    bad(
        "Latin-1",
        opens(),
        "matching.jsonl",
        "UTF-8",
        files=holding(TEXT.replace("one", "\\").replace('"\\', '"caf\xe9').encode("latin-1")),
    ),
    bad("gzip under another name", opens(), "matching.jsonl", "gzip", files=holding(gzip.compress(TEXT.encode()))),
    bad("deep nesting", opens(), "matching.jsonl, line 1", files=holding("[" * 100_000 + "]" * 100_000)),
    bad("null bytes", opens(), "matching.jsonl, line 1", files=holding(b"\0" * 64)),
    bad("NaN in a label", opens(), "row 0", "label is", files=holding(TEXT.replace('"B"', "NaN"))),
    bad(
        "a huge number",
        opens(),
        "matching.jsonl",
        "Number too big",
        "row 0",
        files=holding(TEXT.replace('"contest_number": 1', '"contest_number": 1e999')),
    ),
    bad(
        "a repeated key",
        opens(),
        "matching.jsonl",
        "(/label) was specified twice in row 0",
        files=holding(TEXT.replace('{"contest', '{"label": "A", "contest')),
    ),
    bad(
        "a device in place of the file",
        opens(),
        "Unable to find",
        "matching.jsonl",
        files=holding(lambda path: path.symlink_to("/dev/null")),
    ),
    bad("a broken link", opens(), "matching.jsonl", files=holding(lambda path: path.symlink_to("gone.jsonl"))),
]

ROWS: list[Bad] = [
    bad("a missing column", opens(), "no column 'label'", files=rows(row(label=...))),
    bad(
        "a misspelt column",
        opens(),
        "no column 'label'",
        "Did you mean 'labels'?",
        files=rows(row(label=..., labels="B")),
    ),
    bad(
        "a missing column, lm-eval", LM_EVAL.format("nyc_matching", ""), "no column 'label'", files=rows(row(label=...))
    ),
    bad("a field missing in one row", opens(), "row 1 (instance_id m1)", "label is empty", files=changed(label=...)),
    bad("a null label", opens(), "row 1 (instance_id m1)", "label is empty", files=changed(label=None)),
    bad(
        "a label that is no letter",
        opens(),
        "row 1",
        "label is 'F'; it must be one of A, B, C, D, E",
        files=changed(label="F"),
    ),
    bad("a label with a blank", opens(), "row 1", "label is 'B '", files=changed(label="B ")),
    bad("a label in lower case", opens(), "row 1", "label is 'b'", files=changed(label="b")),
    bad(
        "a label that is a number",
        opens(),
        "row 0",
        "label is 0; it must be text",
        files=rows(row(instance_id="m0", label=0), row(label=1)),
    ),
    bad("a repeated id", opens(), "row 1", "instance_id m1 is also that of row 0", files=rows(row(), row())),
    bad("an id of blanks", opens(), "row 1", "instance_id is", files=changed(instance_id="  ")),
    bad("an invisible id", opens(), "row 1", "instance_id", files=changed(instance_id=ZERO)),
    bad("a null id", opens(), "row 1", "instance_id is empty", files=changed(instance_id=None)),
    bad(
        "four captions",
        opens(),
        "row 1",
        "caption_choices has 4 captions; this benchmark needs 5",
        files=changed(caption_choices=["a", "b", "c", "d"]),
    ),
    bad("captions in one text", opens(), "row 0", "caption_choices", files=rows(row(caption_choices="one two"))),
    bad("captions by letter", opens(), "row 0", "caption_choices", files=rows(row(caption_choices={"A": "one"}))),
    bad(
        "a caption that is null",
        opens(),
        "row 1",
        "caption C is empty",
        files=changed(caption_choices=["a", "b", None, "d", "e"]),
    ),
    bad(
        "a caption of blanks",
        opens(),
        "row 1",
        "caption C is empty",
        files=changed(caption_choices=["a", "b", " \t", "d", "e"]),
    ),
    bad(
        "an invisible caption",
        opens(),
        "row 1",
        "caption C is invisible",
        files=changed(caption_choices=["a", "b", ZERO, "d", "e"]),
    ),
    bad(
        "an invisible caption, inspect",
        INSPECT.format("matching", ""),
        "caption C is invisible",
        files=changed(caption_choices=["a", "b", "\u3164\u2800", "d", "e"]),
    ),
    bad(
        "an invisible caption to explain",
        opens("explanation"),
        "row 1",
        "caption_choices is invisible",
        files=changed("explanation", caption_choices=ZERO),
    ),
    bad(
        "an invisible explanation",
        opens("explanation"),
        "row 1",
        "label is invisible",
        files=changed("explanation", label="\u00ad\u200d"),
    ),
    bad("a blank description", opens(), "row 1", "image_description is", files=changed(image_description=" ")),
    bad(
        "an invisible description",
        opens(),
        "row 1",
        "image_description is invisible",
        files=changed(image_description=ZERO),
    ),
    bad("entities that are a text", opens(), "row 0", "entities is", files=rows(row(entities="a whale"))),
    bad(
        "another source of the winner",
        opens("ranking"),
        "row 1",
        "winner_source is 'me'",
        files=changed("ranking", winner_source="me"),
    ),
    bad("a contest that is a list", opens(), "row 0", "contest_number is [1]", files=rows(row(contest_number=[1]))),
    bad("a contest that is null", opens(), "row 1", "contest_number is None", files=changed(contest_number=None)),
    bad("a contest that is NaN", opens(), "contest_number is nan", files=rows(row(contest_number=float("nan")))),
    bad(
        "a contest that is a fraction",
        opens(),
        "contest_number is 1.5; it must be a whole number",
        files=rows(row(contest_number=1.5)),
    ),
    bad(
        "half a character in a caption",
        opens(),
        "matching.jsonl",
        "surrogate pair",
        "row 1",
        files=changed(caption_choices=["\ud800", "b", "c", "d", "e"]),
    ),
    bad(
        "the same caption twice",
        opens(),
        "row 1",
        "caption_choices contains the same caption twice",
        files=changed(caption_choices=["a", "a", "c", "d", "e"]),
        warns=True,
    ),
]

PICTURES: list[Bad] = [
    bad("a missing picture", opens(**PX), "x.png", "row 0 (instance_id m1)", files=seen(None)),
    bad("a picture of no bytes", opens(**PX), "x.png", "there are no bytes", files=seen(b"")),
    bad(
        "a picture of no bytes, inspect",
        INSPECT.format("matching", "-T setting=pixels"),
        "x.png, row 0",
        "there are no bytes",
        files=seen(b""),
    ),
    bad(
        "a picture of no bytes, lm-eval",
        LM_EVAL.format("nyc_matching_pixels", ""),
        "x.png, row 0",
        "there are no bytes",
        files=seen(b""),
    ),
    bad("half a picture", opens(**PX), "x.png", "truncated or damaged", files=seen(picture(size=(900, 900))[:900])),
    bad(
        "half a picture, inspect",
        INSPECT.format("matching", "-T setting=pixels"),
        "x.png",
        "truncated or damaged",
        files=seen(picture(size=(900, 900))[:900]),
    ),
    bad("a page in place of a picture", opens(**PX), "x.png", "a web page", files=seen("<!DOCTYPE html>")),
    bad("a drawing", opens(**PX), "x.png", "an SVG drawing", files=seen("<svg/>")),
    bad("a TIFF", opens(**PX), "x.png", "a TIFF picture", files=seen(picture(kind="TIFF"))),
    bad(
        "a pointer of Git LFS",
        opens(**PX),
        "x.png",
        "git lfs pull",
        files=seen("version https://git-lfs.github.com/spec/v1\n"),
    ),
    bad("too many pixels", opens(**PX), "x.png", "Scale it down", files=seen(picture("1", size=BIG))),
    bad("a folder in place of a picture", opens(**PX), "x.png", files=seen(Path.mkdir)),
    bad("a picture outside the folder", opens(**PX), "row 0", "../x.png", files=seen(picture(), "../x.png")),
    bad(
        "a picture by a link outside",
        opens(**PX),
        "row 0",
        "x.png",
        files=seen(lambda path: path.symlink_to("/etc/hostname")),
    ),
    bad(
        "a picture by an absolute path",
        opens(**PX),
        "row 0",
        "/etc/hostname",
        "absolute path",
        files=seen(None, "/etc/hostname"),
    ),
    bad(
        "a picture that links to itself",
        opens(**PX),
        "row 0",
        "x.png",
        files=seen(lambda path: path.symlink_to("x.png")),
    ),
    bad(
        "a picture that is null",
        opens(**PX),
        "row 0",
        "image is null",
        files=rows(row(image=None), task="matching_from_pixels"),
    ),
    bad(
        "a picture that is a number",
        opens(**PX),
        "matching_from_pixels",
        "must hold pictures",
        files=rows(row(image=3), task="matching_from_pixels"),
    ),
    bad(
        "instances.json that is a CSV",
        opens(**PX),
        "instances.json",
        "CSV",
        files={"d/instances.json": "instance_id,image\nm1,x.png\n"},
    ),
    bad(
        "instances.json of a number",
        opens(**PX),
        "instances.json",
        "must be a list of instances",
        files={"d/instances.json": "3"},
    ),
    bad(
        "an instance with an invisible caption",
        opens(**PX),
        "instance",
        "caption B is invisible",
        files={
            "d/x.png": picture(),
            "d/instances.json": json.dumps(
                [
                    {
                        "instance_id": "m1",
                        "image": "x.png",
                        "choices": dict(zip("ABCDE", ["a", ZERO, "c", "d", "e"], strict=True)),
                    }
                ]
            ),
        },
    ),
]

OTHERS: list[Bad] = [
    bad("MOCK without a dataset", opens("mock_detecting", dataset=""), "dataset: run `humor-tasks build mock"),
    bad(
        "MOCK without a dataset, inspect",
        "inspect eval humor_tasks/mock_detecting --model baseline/first",
        "humor_tasks/mock_detecting: dataset: run `humor-tasks build mock",
    ),
    bad(
        "MOCK: a label that is a number",
        opens("mock_detecting", scene="cartoon", input="description"),
        "row 0",
        "label",
        files=mock(label=1),
    ),
    bad(
        "MOCK: an invisible caption",
        opens("mock_detecting", scene="cartoon", input="description"),
        "row 0",
        "caption",
        "invisible",
        files=mock(caption=ZERO),
    ),
    bad(
        "MOCK: an invisible option",
        opens("mock_matching", scene="cartoon", input="description"),
        "row 0",
        "options",
        files=mock(task="matching", options=["One.", ZERO, "How lovely.", "Four."]),
    ),
    bad(
        "MOCK: no description",
        opens("mock_detecting", scene="cartoon", input="description"),
        "row 0",
        "description",
        files=mock(description=None),
    ),
    bad("MOCK: a missing clip", opens("mock_detecting", scene="comedy"), "row 0", "media/m1.mp4", files=mock("comedy")),
    bad(
        "MOCK: a dialogue that is a text",
        opens("mock_detecting", scene="comedy", input="description"),
        "row 0",
        "dialogue",
        files=mock("comedy", dialogue="ANN: no"),
    ),
    bad(
        "Humicroedit: no such folder",
        opens("humicroedit_rating", dataset="gone"),
        "gone/task-1/test.csv",
        "semeval-2020-task-7",
    ),
    bad(
        "Humicroedit: no marked word",
        opens("humicroedit_rating"),
        "task-1/test.csv, line 2",
        "original has 0 marked words",
        files={"d/task-1/test.csv": "id,original,edit\n1,no mark,dog\n"},
    ),
    bad(
        "Humicroedit: a grade of 9",
        opens("humicroedit_rating"),
        "line 2",
        "meanGrade is '9'",
        files={"d/task-1/test.csv": "id,original,edit,meanGrade\n1,a <b/>,dog,9\n"},
    ),
    bad(
        "Humicroedit: a grade of nan",
        opens("humicroedit_rating"),
        "line 2",
        "meanGrade is 'nan'",
        files={"d/task-1/test.csv": "id,original,edit,meanGrade\n1,a <b/>,dog,nan\n"},
    ),
    bad(
        "Humicroedit: an invisible edit",
        opens("humicroedit_rating"),
        "line 2",
        "edit is invisible",
        files={"d/task-1/test.csv": f"id,original,edit\n1,a <b/>,{ZERO}\n"},
    ),
    bad(
        "Humicroedit: JSON where a CSV is wanted",
        opens("humicroedit_rating"),
        "task-1/test.csv",
        "JSON",
        files={"d/task-1/test.csv": '[{"id": 1}]'},
    ),
    bad(
        "Humicroedit: UTF-16",
        opens("humicroedit_rating"),
        "task-1/test.csv",
        "UTF-16",
        files={"d/task-1/test.csv": "id,original,edit\n".encode("utf-16")},
    ),
    bad(
        "Humicroedit: an empty file",
        opens("humicroedit_rating"),
        "task-1/test.csv",
        "is empty",
        files={"d/task-1/test.csv": ""},
    ),
    bad(
        "Humicroedit: a short row",
        opens("humicroedit_rating"),
        "line 2: has 2 fields, the header has 3",
        files={"d/task-1/test.csv": "id,original,edit\n1,a\n"},
    ),
    bad("HumorBench: no such file", opens("humorbench", dataset="gone.csv"), "gone.csv"),
    bad(
        "HumorBench: an empty element",
        opens("humorbench", dataset="h.csv"),
        "h.csv, line 2",
        "element is empty",
        files={"h.csv": "idx,contest_number,description,caption,element\n1,2,a,b, \n"},
    ),
    bad(
        "HumorBench: an invisible element",
        opens("humorbench", dataset="h.csv"),
        "h.csv, line 2",
        "element is invisible",
        files={"h.csv": f"idx,contest_number,description,caption,element\n1,2,a,b,{ZERO}\n"},
    ),
    bad(
        "HumorBench: a quote that never ends",
        opens("humorbench", dataset="h.csv"),
        "h.csv, line",
        "is not CSV",
        files={"h.csv": 'idx,contest_number,description,caption,element\n1,2,"a,b,c\n'},
    ),
]

CASES = [*FOLDERS, *FILES, *ROWS, *PICTURES, *OTHERS]
