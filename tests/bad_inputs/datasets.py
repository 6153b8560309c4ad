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


def in_file(name: str, content: Made, *says: str, file: str = "matching.jsonl") -> Bad:
    """A dataset of one file, which the message names."""
    return bad(name, opens(), file, *says, files=holding(content, file=file))


def in_line(name: str, line: int, content: Made, *says: str) -> Bad:
    return bad(name, opens(), f"matching.jsonl, line {line}", *says, files=holding(content))


def in_row_1(name: str, *says: str, task: str = "matching", **changes: Any) -> Bad:
    """The second row of two is changed."""
    return bad(name, opens(task), "row 1", *says, files=changed(task, **changes))


def as_picture(name: str, content: Made | None, *says: str) -> Bad:
    return bad(name, opens(**PX), *says, files=seen(content))


def in_mock(name: str, *says: str, scene: str = "cartoon", task: str = "detecting", **changes: Any) -> Bad:
    files = mock(scene, task, **changes)
    return bad(f"MOCK: {name}", opens(f"mock_{task}", scene=scene, input="description"), "row 0", *says, files=files)


def headlines(name: str, content: Made, *says: str) -> Bad:
    where = "task-1/test.csv"
    return bad(f"Humicroedit: {name}", opens("humicroedit_rating"), where, *says, files={f"d/{where}": content})


def elements(name: str, row: str, *says: str) -> Bad:
    text = f"idx,contest_number,description,caption,element\n{row}\n"
    return bad(f"HumorBench: {name}", opens("humorbench", dataset="h.csv"), "h.csv, line", *says, files={"h.csv": text})


PX = {"setting": "pixels"}
ZERO = "\u200b\u2060\ufeff"
BIG = (8000, 8000)
TEXT = json.dumps(row()) + "\n"

FOLDERS: list[Bad] = [
    bad("no such folder", opens(dataset="/no/where"), "dataset=/no/where", "nor a folder that exists"),
    bad("no such folder, inspect", INSPECT.format("matching", "").replace("=d", "=/no/[/where]"), "=/no/[/where]"),
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
    in_file("an empty file", "", "there are no rows"),
    in_file("a file of blank lines", "\n \n\n", "there are no rows"),
    in_file("an empty parquet", parquet(empty_table), "there are no rows", file="matching.parquet"),
    in_file("a parquet of no bytes", b"", "there are no rows", file="matching.parquet"),
    in_file("a parquet that is text", TEXT, "not a parquet file", file="matching.parquet"),
    in_file(
        "half a parquet",
        lambda p: (parquet(empty_table)(p), p.write_bytes(p.read_bytes()[:-20])),
        file="matching.parquet",
    ),
    in_file("an empty CSV", "", "there are no rows", file="matching.csv"),
    in_line("a CSV where JSON lines are wanted", 1, "instance_id,label\nm1,B\n", "CSV"),
    in_line("a JSON array where lines are wanted", 1, json.dumps([row()], indent=1), "one object a line"),
    in_line("half a line", 2, TEXT + '{"instance_id": "m2", ', "not JSON"),
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
    in_line("a line that is a number", 2, TEXT + "3\n", "is int; each line must be an object"),
    in_line("a line that is a list", 2, TEXT + "[1]\n", "is list; each line must be an object"),
    in_line("a line of Python", 1, str(row()) + "\n", "not JSON"),
    in_file("UTF-16", TEXT.encode("utf-16"), "UTF-16"),
    in_file("Latin-1", TEXT.replace("one", "\\").replace('"\\', '"café').encode("latin-1"), "UTF-8"),
    in_file("gzip under another name", gzip.compress(TEXT.encode()), "gzip"),
    in_line("deep nesting", 1, "[" * 100000 + "]" * 100000),
    in_line("null bytes", 1, b"\x00" * 64),
    bad("NaN in a label", opens(), "row 0", "label is", files=holding(TEXT.replace('"B"', "NaN"))),
    in_file("a huge number", TEXT.replace('"contest_number": 1', '"contest_number": 1e999'), "Number too big", "row 0"),
    in_file(
        "a repeated key",
        TEXT.replace('{"contest', '{"label": "A", "contest'),
        "line 1: not JSON ('label' is repeated in one object)",
    ),
    bad(
        "a device in place of the file",
        opens(),
        "Unable to find",
        "matching.jsonl",
        files=holding(lambda path: path.symlink_to("/dev/null")),
    ),
    in_file("a broken link", lambda path: path.symlink_to("gone.jsonl")),
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
    in_row_1("a label that is no letter", "label is 'F'; it must be one of A, B, C, D, E", label="F"),
    in_row_1("a label with a blank", "label is 'B '", label="B "),
    in_row_1("a label in lower case", "label is 'b'", label="b"),
    bad(
        "a label that is a number",
        opens(),
        "row 0",
        "label is 0; it must be text",
        files=rows(row(instance_id="m0", label=0), row(label=1)),
    ),
    bad("a repeated id", opens(), "row 1", "instance_id m1 is also that of row 0", files=rows(row(), row())),
    in_row_1("an id of blanks", "instance_id is", instance_id="  "),
    in_row_1("an invisible id", "instance_id", instance_id=ZERO),
    in_row_1("a null id", "instance_id is empty", instance_id=None),
    in_row_1(
        "four captions", "caption_choices has 4 captions; this benchmark needs 5", caption_choices=["a", "b", "c", "d"]
    ),
    bad("captions in one text", opens(), "row 0", "caption_choices", files=rows(row(caption_choices="one two"))),
    bad("captions by letter", opens(), "row 0", "caption_choices", files=rows(row(caption_choices={"A": "one"}))),
    in_row_1("a caption that is null", "caption C is empty", caption_choices=["a", "b", None, "d", "e"]),
    in_row_1("a caption of blanks", "caption C is empty", caption_choices=["a", "b", " \t", "d", "e"]),
    in_row_1("an invisible caption", "caption C is invisible", caption_choices=["a", "b", ZERO, "d", "e"]),
    in_row_1(
        "an invisible caption to explain", "caption_choices is invisible", task="explanation", caption_choices=ZERO
    ),
    in_row_1("an invisible explanation", "label is invisible", task="explanation", label="\xad\u200d"),
    in_row_1("a blank description", "image_description is", image_description=" "),
    in_row_1("an invisible description", "image_description is invisible", image_description=ZERO),
    bad("entities that are a text", opens(), "row 0", "entities is", files=rows(row(entities="a whale"))),
    in_row_1("another source of the winner", "winner_source is 'me'", task="ranking", winner_source="me"),
    bad("a contest that is a list", opens(), "row 0", "contest_number is [1]", files=rows(row(contest_number=[1]))),
    in_row_1("a contest that is null", "contest_number is None", contest_number=None),
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
    as_picture("a missing picture", None, "x.png", "row 0 (instance_id m1)"),
    as_picture("a picture of no bytes", b"", "x.png", "there are no bytes"),
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
    as_picture("half a picture", picture(size=(900, 900))[:900], "x.png", "truncated or damaged"),
    as_picture("a page in place of a picture", "<!DOCTYPE html>", "x.png", "a web page"),
    as_picture("a drawing", "<svg/>", "x.png", "an SVG drawing"),
    as_picture("a TIFF", picture(kind="TIFF"), "x.png", "a TIFF picture"),
    as_picture("a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\n", "x.png", "git lfs pull"),
    as_picture("too many pixels", picture("1", size=BIG), "x.png", "Scale it down"),
    as_picture("a folder in place of a picture", Path.mkdir, "x.png"),
    bad("a picture outside the folder", opens(**PX), "row 0", "../x.png", files=seen(picture(), "../x.png")),
    as_picture("a picture by a link outside", lambda path: path.symlink_to("/etc/hostname"), "row 0", "x.png"),
    bad(
        "a picture by an absolute path",
        opens(**PX),
        "row 0",
        "/etc/hostname",
        "absolute path",
        files=seen(None, "/etc/hostname"),
    ),
    as_picture("a picture that links to itself", lambda path: path.symlink_to("x.png"), "row 0", "x.png"),
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
    in_mock("a label that is a number", "label", label=1),
    in_mock("an invisible caption", "caption", "invisible", caption=ZERO),
    in_mock("an invisible option", "options", task="matching", options=["One.", ZERO, "How lovely.", "Four."]),
    in_mock("no description", "description", description=None),
    bad("MOCK: a missing clip", opens("mock_detecting", scene="comedy"), "row 0", "media/m1.mp4", files=mock("comedy")),
    in_mock("a dialogue that is a text", "dialogue", scene="comedy", dialogue="ANN: no"),
    bad(
        "Humicroedit: no such folder",
        opens("humicroedit_rating", dataset="gone"),
        "gone/task-1/test.csv",
        "semeval-2020-task-7",
    ),
    headlines("no marked word", "id,original,edit\n1,no mark,dog\n", "line 2", "original has 0 marked words"),
    headlines("a grade of 9", "id,original,edit,meanGrade\n1,a <b/>,dog,9\n", "line 2", "meanGrade is '9'"),
    headlines("a grade of nan", "id,original,edit,meanGrade\n1,a <b/>,dog,nan\n", "line 2", "meanGrade is 'nan'"),
    headlines("an invisible edit", f"id,original,edit\n1,a <b/>,{ZERO}\n", "line 2", "edit is invisible"),
    headlines("JSON where a CSV is wanted", '[{"id": 1}]', "JSON"),
    headlines("UTF-16", "id,original,edit\n".encode("utf-16"), "UTF-16"),
    headlines("an empty file", "", "is empty"),
    headlines("a short row", "id,original,edit\n1,a\n", "line 2: has 2 fields, the header has 3"),
    bad("HumorBench: no such file", opens("humorbench", dataset="gone.csv"), "gone.csv"),
    elements("an empty element", "1,2,a,b, ", "line 2", "element is empty"),
    elements("an invisible element", f"1,2,a,b,{ZERO}", "line 2", "element is invisible"),
    elements("a quote that never ends", '1,2,"a,b,c', "column 5: a quotation mark is opened here and never closed"),
]

CASES = [*FOLDERS, *FILES, *ROWS, *PICTURES, *OTHERS]
