"""`humor-tasks audit`: what it reads, what it writes, how it ends, and what it says of bad input."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from standins.browser import PHONE, browser
from standins.commands import refused
from standins.corpus import make_folder, write_lines

from humor_tasks import load
from humor_tasks.cli import main

MARKUP = "<script>window.hacked = 1</script><img src=x onerror='window.hacked=2'>"
BIDI = "left \u202eright \x1b[2J end"


def audit_command(*arguments: object) -> Result:
    done = CliRunner().invoke(main, ["audit", *map(str, arguments)], catch_exceptions=False)
    assert "Traceback" not in done.output
    return done


def choices_row(i: int, **more: Any) -> dict[str, Any]:
    choices = [f"caption {i * 7919 + k * 104729} of its own kind" for k in range(4)]
    return {"id": f"r{i}", "contest": i // 2, "options": choices, "label": "ABCD"[i % 4], **more}


def csv_file(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


# ---- reading ------------------------------------------------------------------------------------


def audit_json(*arguments: object) -> Any:
    done = CliRunner().invoke(main, ["audit", *map(str, arguments), "--json"], catch_exceptions=False)
    return json.loads(done.stdout)


def test_columns_are_recognised_and_it_says_which(tmp_path: Path) -> None:
    found = audit_json(write_lines(tmp_path / "x.jsonl", [choices_row(i) for i in range(8)]))
    assert found["answers"] == "choice"
    assert found["read_as"] == [
        "Read as multiple choice: letters.",
        "Columns: choices from options (recognised by its name); answer from label (recognised by its name); "
        "group from contest (recognised by its name); id from id (recognised by its name).",
    ]
    assert found["parts"] == [{"part": "x", "rows": 8, "groups": 4, "labelled": 8}]


def test_counts_and_lengths_stand_beside_the_papers() -> None:
    """By hand from the sample's rows; descriptions and the order of choices make no other instance."""
    for task, words in (("explanation", lambda r: [r.target]), ("matching", lambda r: r.choices)):
        folds = [load(task, dataset="sample", fold=k, split="test").records for k in range(5)]
        records = [record for fold in folds for record in fold]
        lengths = sorted(len(str(text).split()) for record in records for text in words(record))
        found = {each["quantity"]: each for each in audit_json("sample", "--task", task)["statistics"]}
        assert found["instances"]["here"] == len(records)
        assert found["groups"]["here"] == len({record.cluster for record in records})
        assert (found["instances_test"]["least"], found["instances_test"]["most"]) == (len(folds[0]), len(folds[0]))
        assert found["words"]["here"] == sum(lengths)
        assert found["words_median"]["here"] == (lengths[len(lengths) // 2] + lengths[~(len(lengths) // 2)]) / 2
    assert (found["instances_train"]["published"], found["instances_train"]["source"]) == (
        1600,
        "Hessel et al. 2023, Table 1",
    )
    assert found["words"]["published"] is None


ANSWERS = [
    (["A", "D", "b"], "letters"),
    ([0, 3, 1], "answers counted from 0"),
    ([1, 4, 2], "answers counted from 1"),
    (["p0", "s1", "q2"], "answers as text"),
]


@pytest.mark.parametrize(("answers", "said"), ANSWERS)
def test_answers_of_choices_are_read_alike(tmp_path: Path, answers: list[Any], said: str) -> None:
    rows = [{"choices": [f"{letter}{i}" for letter in "pqrs"], "answer": each} for i, each in enumerate(answers)]
    found = audit_json(write_lines(tmp_path / "x.jsonl", rows))
    assert found["read_as"][0] == f"Read as multiple choice: {said}."
    shares = {label: share["value"] for label, share in found["labels"][0]["shares"].items()}
    assert shares == pytest.approx({"A": 1 / 3, "B": 1 / 3, "C": 0, "D": 1 / 3})


def test_csv_with_a_list_or_with_a_column_for_each_choice(tmp_path: Path) -> None:
    listed = csv_file(
        tmp_path / "x.csv", [["options", "label"], *([json.dumps(choices_row(i)["options"]), "B"] for i in range(3))]
    )
    apart = csv_file(tmp_path / "y.csv", [["a", "b", "right"], ["one", "two", "0"], ["three", "four", "1"]])
    assert audit_json(listed)["labels"][0]["shares"]["B"]["value"] == 1
    found = audit_json(apart, "--choices", "a, b", "--answer", "right")
    assert "choices from a, b (given); answer from right (given)" in found["read_as"][1]


def test_yes_and_no_and_ratings_and_rows_by_id(tmp_path: Path) -> None:
    said = {
        f"s{i}": {"utterance": f"line number {i}", "context": ["before", "it"], "sarcasm": i % 2 == 0} for i in range(6)
    }
    (tmp_path / "x.json").write_text(json.dumps(said))
    assert audit_json(tmp_path / "x.json")["labels"][0]["shares"]["yes"]["value"] == 0.5
    rated = csv_file(tmp_path / "y.csv", [["joke", "score"], *([f"joke number {i}", i / 4] for i in range(9))])
    assert audit_json(rated)["labels"][0]["shares"]["greatest"]["value"] == 2


def test_a_folder_has_splits_and_configs(tmp_path: Path) -> None:
    for config in ("easy", "hard"):
        write_lines(tmp_path / config / "train.jsonl", [choices_row(i) for i in range(8)])
        write_lines(tmp_path / config / "test-00000-of-00001.jsonl", [choices_row(i) for i in range(8, 12)])
    every = audit_json(tmp_path)
    assert [part["part"] for part in every["parts"]] == ["easy/test", "easy/train", "hard/test", "hard/train"]
    assert [each["kind"] for each in every["findings"] if "splits" in each["kind"]] == []
    one = audit_json(tmp_path, "--config", "easy", "--split", "train")
    assert [part["part"] for part in one["parts"]] == ["train"]
    write_lines(tmp_path / "other" / "test.jsonl", [{"text": "a", "label": 1}])
    said = refused("audit", tmp_path)
    assert "configs with other columns: easy, hard, other. Choose among them with --config." in said
    assert "not found; available: easy, hard, other. Did you mean 'easy'?" in refused(
        "audit", tmp_path, "--config", "eazy"
    )


def test_a_benchmark_is_read_by_its_loader() -> None:
    found = audit_json("sample", "--task", "ranking", "-T", "fold=0")
    assert [part["part"] for part in found["parts"]] == ["train", "validation", "test"]
    assert found["findings"] == [each for each in found["findings"] if each["severity"] != "error"]
    rated = audit_json("sample", "--task", "humicroedit_rating", "--split", "dev")
    assert (rated["answers"], [part["part"] for part in rated["parts"]]) == ("rating", ["dev"])
    asked = audit_json("sample", "--task", "mock_detecting", "-T", "input=description")
    assert asked["answers"] == "yes/no"


def test_a_hub_dataset_is_read_by_its_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same two functions that read a hub, of which tests/data/rows/test_hub.py is, on a folder in its place."""
    from humor_tasks import rows

    home = make_folder(tmp_path / "data")
    on_hub, there = rows.catalogue, rows.open_rows
    monkeypatch.setattr(rows, "catalogue", lambda dataset, **how: on_hub(str(home), **how))
    monkeypatch.setattr(rows, "open_rows", lambda dataset, **how: there(str(home), **how))
    found = audit_json("some/captions", "--config", "matching")
    assert [(part["part"], part["rows"]) for part in found["parts"]] == [("train", 3), ("test", 3)]
    assert "choices from caption_choices (recognised by its name)" in found["read_as"][1]
    assert "Did you mean 'matching'?" in refused("audit", "some/captions", "--config", "matchin")
    assert not [told for told in found["told"] if "No pictures were read" in told]


def test_texts_of_other_datasets(tmp_path: Path) -> None:
    taken = load("ranking", dataset="sample").records[0].choices[0]
    own = [choices_row(i) for i in range(6)]
    own[2]["options"][1] = f"  {taken.upper()} "
    found = audit_json(write_lines(tmp_path / "x.jsonl", own))
    (one,) = [each for each in found["findings"] if each["kind"] == "text_elsewhere"]
    assert one["what"] == "1 text also in the packaged sample newyorker_caption_contest."
    assert "(r2)" in one["rows"][0]
    other = write_lines(tmp_path / "other.jsonl", [{"said": [{"text": own[0]["options"][0]}]}])
    found = audit_json(tmp_path / "x.jsonl", "--against", other)
    assert [each["count"] for each in found["findings"] if each["kind"] == "text_elsewhere"] == [1, 1]
    same = audit_json(tmp_path / "x.jsonl", "--against", tmp_path / "x.jsonl")
    assert any("it is taken for the same dataset" in each for each in same["told"])


# ---- how it ends --------------------------------------------------------------------------------


def test_the_status_is_for_ci(tmp_path: Path) -> None:
    good = write_lines(tmp_path / "good.jsonl", [choices_row(i) for i in range(8)])
    rows = [choices_row(i) for i in range(8)]
    rows[3]["options"][2] = rows[3]["options"][0] + "!"
    bad = write_lines(tmp_path / "bad.jsonl", rows)
    assert audit_command(good).exit_code == 0
    done = audit_command(bad)
    assert done.exit_code == 1
    said = done.output.replace("\\", "")
    assert "error: duplicate_choice: 1 row with two choices that differ only in case, punctuation or spaces." in said
    assert f"{bad.name}, line 4 (r3): A and C: caption" in said
    assert audit_command(bad, "--fail-on", "imbalance").exit_code == 0
    assert audit_command(bad, "--fail-on", "none").exit_code == 0
    assert audit_command(bad, "--fail-on", "imbalance", "--fail-on", "duplicate_choice").exit_code == 1
    assert "Did you mean 'duplicate_choice'?" in refused("audit", bad, "--fail-on", "duplicate_choise")


def test_page_and_json_are_written_and_replaced(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "x.jsonl", [choices_row(i) for i in range(8)])
    for _ in range(2):
        assert audit_command(file, "-o", tmp_path / "audit").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "audit").iterdir()) == ["audit.json", "index.html"]
    found = json.loads((tmp_path / "audit" / "audit.json").read_text())
    assert found == json.loads(json.dumps(audit_json(file)))
    (tmp_path / "full" / "audit.json").mkdir(parents=True)
    assert "is not a file that can be replaced" in refused("audit", file, "-o", tmp_path / "full")
    assert not (tmp_path / "full" / "index.html").exists()
    assert "is a file; -o takes a folder" in refused("audit", file, "-o", file)


# ---- bad input ----------------------------------------------------------------------------------

CSV = "id,contest,options,label\n"
ROW = json.dumps(choices_row(1)).encode()
LIST = '"[""one"", ""two""]"'
BAD = {
    "an empty file": ("x.csv", b"", "x.csv: there are no rows; the file is empty"),
    "an empty JSONL": ("x.jsonl", b"\n", "x.jsonl: there are no rows; the file is empty"),
    "only a header": ("x.csv", CSV.encode(), "x.csv: there are no rows"),
    "no header": ("x.csv", f"1,7,{LIST},A\n2,8,{LIST},B\n".encode(), "the file has no header: add one"),
    "shifted columns": ("x.csv", f"{CSV}1,7,{LIST},A\n2,7,A,{LIST}\n".encode(), "line 3: options is 'A'; it"),
    "a cell too many": ("x.csv", f"{CSV}1,7,{LIST},A,x\n".encode(), "line 2: has 5 fields, the header has 4"),
    "a label that is none": ("x.csv", f"{CSV}1,7,{LIST},A\n2,7,{LIST},C\n".encode(), "line 3: label is 'C'"),
    "a row without choices": ("x.jsonl", ROW + b'\n{"label": "A"}', "line 2: options is None"),
    "a list of one": ("x.jsonl", b'{"options": ["one"], "label": "A"}', "line 1: options is ['one']; it must"),
    "a choice that is no text": ("x.jsonl", b'{"options": ["one", 2], "label": "A"}', "line 1: options: choice B is 2"),
    "a group that is none": ("x.jsonl", b'{"options": ["a", "b"], "label": "A", "contest": null}', "contest is None"),
    "no labels": ("x.jsonl", b'{"options": ["a", "b"], "label": null}', "label is empty in every row"),
    "ratings with a word": ("x.csv", b"text,score\na,1.5\nb,funny\n", "line 3: score is 'funny'; the first row"),
    "words": ("x.csv", b"text,score\na,funny\n", "line 2: score is 'funny'; without choices it must be yes or no"),
    "a rated text that is none": ("x.jsonl", b'{"text": 3, "score": 1.5}', "line 1: text is 3; it must be text"),
    "a list": ("x.jsonl", b'["one"]', "line 1: is list; each row must be an object"),
    "Latin-1": ("x.csv", "text,score\ncafé,1\n".encode("latin-1"), "x.csv, line 2, column 4: cannot be read"),
    "UTF-16": ("x.csv", "text,score\na,1\n".encode("utf-16"), "it is UTF-16; save it as UTF-8"),
    "no parquet": ("x.parquet", b"PAR1 nothing", "x.parquet: cannot be read as parquet"),
    "another ending": ("x.txt", b"a", "x.txt: the ending must be one of .jsonl"),
    "JSON of another shape": ("x.json", b'"text"', "x.json: is str; it must be a list of rows"),
    "half a line": ("x.jsonl", b'{"options": ["a"', "line 1: not JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    file, data, said = BAD[name]
    (tmp_path / file).write_bytes(data)
    found = refused("audit", tmp_path / file, "-o", tmp_path / "audit")
    assert said in found
    assert not (tmp_path / "audit").exists()


WRONG = [
    (["nowhere.jsonl"], "neither"),
    (["sample"], "'sample' and -T belong to a benchmark: name it with --task"),
    (["sample", "--task", "rankin"], "Did you mean 'ranking'?"),
    (["sample", "--task", "brainstorm"], "brainstorm has free-text answers"),
    (["sample", "--task", "ranking", "--choices", "x"], "--choices: the benchmark ranking knows its columns"),
    (["sample", "--task", "ranking", "-T", "split=test"], "choose the splits with --split"),
    (["sample", "--task", "ranking", "--split", "dev"], "there is no 'dev'"),
    (["x.jsonl", "--answer", "labl"], "Did you mean 'label'?"),
    (["x.jsonl", "--split", "test"], "is a file; --config and --split choose among the files of a folder"),
    (["x.jsonl", "--against", "nowhere"], "--against nowhere: there is no such file or folder"),
    (["x.jsonl", "--embedding", "/no/where"], "no such folder"),
    (["x.jsonl", "--quality", "/no/where"], "/no/where"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_options_that_do_not_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    write_lines(tmp_path / "x.jsonl", [choices_row(i) for i in range(4)])
    assert said in refused("audit", *arguments)


def test_one_row_long_texts_and_control_characters_are_no_bad_input(tmp_path: Path) -> None:
    one = audit_json(write_lines(tmp_path / "one.jsonl", [choices_row(1)]))
    assert {each["estimate"]["low"] for each in one["shortcuts"]} == {None}
    odd = [choices_row(i) for i in range(6)]
    odd[0]["options"][0], odd[1]["options"][0], odd[2]["options"][1] = "word " * 20_000, BIDI, "\ud800 half a pair"
    done = audit_command(write_lines(tmp_path / "odd.jsonl", odd), "-o", tmp_path / "audit")
    assert done.exit_code == 0
    assert "control\\_character: 2 rows with control characters in a text." in done.output
    assert not {"\x1b", "\u202e"} & set(done.output + (tmp_path / "audit" / "index.html").read_text())


# ---- the page -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_page_fits_and_what_it_shows_is_escaped(tmp_path: Path) -> None:
    rows = [choices_row(i) for i in range(12)]
    for i, text in enumerate((MARKUP, BIDI, "long" * 300)):
        rows[i]["options"][0] = rows[i]["options"][2] = text
    assert audit_command(write_lines(tmp_path / f"{MARKUP[:8]}.jsonl", rows), "-o", tmp_path / "audit").exit_code == 1
    asked, problems = list[str](), list[str]()
    with browser() as program:
        page = program.new_context(**PHONE).new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: problems.append(message.text))
        page.goto((tmp_path / "audit" / "index.html").as_uri())
        assert page.locator("h1").inner_text() == f"Audit of {tmp_path}/<script>.jsonl"
        page.locator("details summary").first.click()
        assert MARKUP in page.locator("#findings").inner_text()
        for width in (1280, PHONE["viewport"]["width"]):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.evaluate("window.hacked") is None
        assert (page.locator("script").count(), len(asked), problems) == (0, 1, [])
