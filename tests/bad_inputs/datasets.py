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
    bad("dataset is a number", opens(dataset=3), "dataset must be text, not 3"),
    bad("dataset is a list", opens(dataset=["d"]), "dataset must be text, not ['d']"),
    bad("a folder without files", opens(), "doesn't contain any data files", files={"d": Path.mkdir}),
    bad("a link to itself", opens(), "dataset=d", files={"d": lambda path: path.symlink_to("d")}),
    bad(
        "a card that is UTF-16", opens(), "d", "README.md", files=rows(row()) | {"d/README.md": card().encode("utf-16")}
    ),
    bad("a card that names no file", opens(), "matching.jsonl", files={"d/README.md": card()}),
    bad(
        "a config outside the folder",
        opens(),
        "o.jsonl is not in the folder",
        files={"d/README.md": card(file="../o.jsonl"), "o.jsonl": TEXT},
    ),
    bad("a folder in place of the file", opens(), "matching.jsonl", files=rows() | {"d/matching.jsonl": Path.mkdir}),
]

FILES: list[Bad] = [
    in_file("an empty file", "", "there are no rows"),
    in_file("a file of blank lines", "\n \n\n", "there are no rows"),
    in_file("an empty parquet", parquet(empty_table), "there are no rows", file="matching.parquet"),
    in_file("a parquet of no bytes", b"", "there are no rows", file="matching.parquet"),
    in_file(
        "half a parquet",
        lambda p: (parquet(empty_table)(p), p.write_bytes(p.read_bytes()[:-20])),
        file="matching.parquet",
    ),
    in_line("a CSV where JSON lines are wanted", 1, "instance_id,label\nm1,B\n", "CSV"),
    in_line("a JSON array where lines are wanted", 1, json.dumps([row()], indent=1), "one object a line"),
    in_line("half a line", 2, TEXT + '{"instance_id": "m2", ', "not JSON"),
    in_line("a line that is a number", 2, TEXT + "3\n", "is int; each line must be an object"),
    in_line("a line that is a list", 2, TEXT + "[1]\n", "is list; each line must be an object"),
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
    bad(
        "a missing column, lm-eval", LM_EVAL.format("nyc_matching", ""), "no column 'label'", files=rows(row(label=...))
    ),
    bad(
        "a label that is a number",
        opens(),
        "row 0",
        "label is 0; it must be text",
        files=rows(row(instance_id="m0", label=0), row(label=1)),
    ),
    in_row_1("an invisible id", "instance_id", instance_id=ZERO),
    bad("captions in one text", opens(), "row 0", "caption_choices", files=rows(row(caption_choices="one two"))),
    bad("captions by letter", opens(), "row 0", "caption_choices", files=rows(row(caption_choices={"A": "one"}))),
    in_row_1("an invisible caption", "caption C is invisible", caption_choices=["a", "b", ZERO, "d", "e"]),
    in_row_1(
        "an invisible caption to explain", "caption_choices is invisible", task="explanation", caption_choices=ZERO
    ),
    in_row_1("an invisible explanation", "label is invisible", task="explanation", label="\xad\u200d"),
    in_row_1("an invisible description", "image_description is invisible", image_description=ZERO),
    bad("entities that are a text", opens(), "row 0", "entities is", files=rows(row(entities="a whale"))),
    bad("a contest that is a list", opens(), "row 0", "contest_number is [1]", files=rows(row(contest_number=[1]))),
    bad("a contest that is NaN", opens(), "contest_number is nan", files=rows(row(contest_number=float("nan")))),
    bad(
        "half a character in a caption",
        opens(),
        "matching.jsonl",
        "surrogate pair",
        "row 1",
        files=changed(caption_choices=["\ud800", "b", "c", "d", "e"]),
    ),
]

PICTURES: list[Bad] = [
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
    as_picture("a folder in place of a picture", Path.mkdir, "x.png"),
    as_picture("a picture that links to itself", lambda path: path.symlink_to("x.png"), "row 0", "x.png"),
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
    bad(
        "MOCK without a dataset, inspect",
        "inspect eval humor_tasks/mock_detecting --model baseline/first",
        "humor_tasks/mock_detecting: dataset: run `humor-tasks build mock",
    ),
    in_mock("a label that is a number", "label", label=1),
    in_mock("an invisible caption", "caption", "invisible", caption=ZERO),
    in_mock("an invisible option", "options", task="matching", options=["One.", ZERO, "How lovely.", "Four."]),
    bad("MOCK: a missing clip", opens("mock_detecting", scene="comedy"), "row 0", "media/m1.mp4", files=mock("comedy")),
    bad(
        "Humicroedit: no such folder",
        opens("humicroedit_rating", dataset="gone"),
        "gone/task-1/test.csv",
        "semeval-2020-task-7",
    ),
    headlines("an invisible edit", f"id,original,edit\n1,a <b/>,{ZERO}\n", "line 2", "edit is invisible"),
    headlines("JSON where a CSV is wanted", '[{"id": 1}]', "JSON"),
    headlines("an empty file", "", "is empty"),
    bad("HumorBench: no such file", opens("humorbench", dataset="gone.csv"), "gone.csv"),
    elements("an invisible element", f"1,2,a,b,{ZERO}", "line 2", "element is invisible"),
]

CASES = [*FOLDERS, *FILES, *ROWS, *PICTURES, *OTHERS]
