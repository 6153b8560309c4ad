"""Reading predictions, writing results."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import load
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.tables import cell_text, csv_text
from humor_tasks.files.writing import write_json, write_table, write_text
from humor_tasks.logs.predictions import read_predictions
from humor_tasks.results.submission import Answers, complete, read_answers, write_predictions
from humor_tasks.rows import read_csv
from humor_tasks.studies.captions.pairwise import COLUMNS, write_ranking
from humor_tasks.testing import ScriptedLM, run_lm_eval

GOOD = {
    "object.json": '{"a": "A", "b": "Answer: B"}',
    "list.json": '[{"instance_id": "a", "prediction": "A"}, {"id": "b", "reply": "Answer: B"}]',
    "lines.jsonl": '{"instance_id": "a", "text": "A"}\n\n{"id": "b", "answer": "Answer: B"}\n',
    "mark.json": '\ufeff{"a": "A",\r\n "b": "Answer: B"}',
    "mark.jsonl": '\ufeff{"id": "a", "text": "A"}\r\n{"id": "b", "text": "Answer: B"}\r\n',
}
BAD = {
    "repeated.json": ('{"a": "A", "b": "B", "a": "B"}', "1 repeated id: a"),
    "repeated.jsonl": ('{"id": "a", "text": "A"}\n{"id": "a", "text": "A"}', "1 repeated id: a"),
    "broken.json": ('{"a": "A",\n "b" "B"}', "line 2, column 6"),
    "broken.jsonl": ('{"id": "a", "text": "A"}\n{"id": ', "line 2"),
    "number.json": ('{"a": 3}', "id a: the prediction is 3; it must be text"),
    "no_id.jsonl": ('{"name": "a", "text": "A"}', "line 1: has no instance_id or id; it has name, text"),
    "no_text.json": ('[{"id": "a"}]', "record 1: has no prediction or text or answer or reply"),
    "twice.jsonl": ('{"id": "a", "text": "A", "text": "B"}', "line 1: has more than one prediction"),
    "two.json": ('[{"id": "a", "text": "A", "answer": "B"}]', "record 1: has more than one prediction"),
    "deep.json": ("[" * 100_000, "not JSON"),
    "not_object.json": ('"A"', "holds str"),
    "not_record.jsonl": ("3", "line 1: must be an object"),
}


@pytest.mark.parametrize("name", GOOD)
def test_reads_every_form(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(GOOD[name])
    assert read_predictions(tmp_path / name) == {"a": "A", "b": "Answer: B"}


@pytest.mark.parametrize("name", BAD)
def test_names_what_is_wrong(tmp_path: Path, name: str) -> None:
    text, message = BAD[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput) as caught:
        read_predictions(tmp_path / name)
    assert message in str(caught.value)
    assert name in str(caught.value)


def test_line_separators_inside_a_text_end_no_line(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "a", "text": "one\u2028two\u0085three"}\n', encoding="utf-8")
    assert read_predictions(tmp_path / "p.jsonl") == {"a": "one\u2028two\u0085three"}


FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # OWASP, "CSV Injection"
TEXTS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "'", "''"]),
    st.sampled_from(["", "x", *FORMULAS]),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
)


@given(st.lists(st.tuples(TEXTS, st.floats(allow_nan=False), st.integers()), min_size=1))
def test_tables_hold_no_formula_and_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float, int]]
) -> None:
    path = tmp_path_factory.mktemp("table") / "table.csv"
    write_table(path, ("text", "float", "int"), rows)
    found = read_csv(path, ("text", "float", "int")).rows
    assert not any(row["text"].startswith(FORMULAS) for row in found if row["text"] != "-")
    assert [(cell_text(row["text"]), float(row["float"]), int(row["int"])) for row in found] == rows


def test_a_ranking_and_a_report_hold_no_formula(tmp_path: Path) -> None:
    caption = dict(zip(COLUMNS, ("510", 1, -0.5, 2, "@system", "=1+1"), strict=True))
    write_ranking(tmp_path / "r.csv", [caption])
    assert (tmp_path / "r.csv").read_text().splitlines()[1] == "510,1,-0.5,2,'@system,'=1+1"


def test_files_for_other_programs_stay_as_they_are(tmp_path: Path) -> None:
    write_predictions(tmp_path / "s.csv", {"-1": "-0.5"})
    assert (tmp_path / "s.csv").read_text() == "id,pred\n-1,-0.5\n"
    assert csv_text(("id",), [["=1"]], exact=True) == "id\n=1\n"
    assert csv_text(("version",), [["-"], ["--"]]) == "version\n-\n'--\n"
    assert csv_text(("text",), [["a\0b"]]) == "text\na\ufffdb\n"


def test_targets_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a file that can be replaced"):
        write_json(tmp_path, {})
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        write_json(tmp_path / "file" / "x.json", {})


def test_missing_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read_predictions(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="UTF-8"):
        read_predictions(tmp_path / "binary.json")


def test_writes_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out.json"
    write_json(target, {"ä": 1})
    assert json.loads(target.read_text()) == {"ä": 1}
    with pytest.raises(TypeError):
        write_json(target, {"x": object()})
    with pytest.raises(BadInput, match="half of a character"):
        write_text(target, "half \ud800")
    assert json.loads(target.read_text()) == {"ä": 1}
    assert [path.name for path in target.parent.iterdir()] == ["out.json"]
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_listed_cuts_long_lists() -> None:
    assert listed("missing id", ["a"]) == "1 missing id: a"
    assert listed("missing id", map(str, range(12)), most=3) == "12 missing ids: 0, 1, 2 and 9 more"


@pytest.mark.parametrize(
    ("answers", "fill", "expected"),
    [
        ({"a": "A", "b": "E"}, None, {"a": "A", "b": "E"}),
        ({"a": "A", "b": None}, "B", {"a": "A", "b": "B"}),
        ({"a": "C", "b": None}, "E", {"a": "C", "b": "E"}),
    ],
)
def test_submission_fills_gaps_only_as_told(
    answers: dict[str, str | None], fill: str | None, expected: dict[str, str]
) -> None:
    assert complete(answers, "ABCDE", fill, 0, "log") == expected


@pytest.mark.parametrize(
    ("answers", "fill", "message"),
    [({"a": "A", "b": None}, None, "1 instance: b without an answer"), ({"a": "A", "b": None}, "C", "--fill C")],
)
def test_submission_refuses(answers: dict[str, str | None], fill: str | None, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        complete(answers, "AB", fill, 0, "log")
    with pytest.raises(BadInput, match="needs a log of matching"):
        complete({"a": "a whole explanation"}, "", None, 0, "log")


def test_random_fill_is_seeded() -> None:
    gaps: dict[str, str | None] = {str(i): None for i in range(50)} | {"x": "D"}
    first, again, other = (complete(gaps, "ABCDE", "random", seed, "log") for seed in (1, 1, 2))
    assert first == again != other
    assert set(first.values()) == set("ABCDE")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.eval", None, "no such log"),
        ("bad.eval", "nothing", "cannot be read as an Inspect log"),
        ("empty.jsonl", "", "holds no samples"),
        ("other.jsonl", '{"doc": {}}', "line 1: is no sample"),
    ],
)
def test_logs_that_are_none(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=message):
        read_answers(tmp_path / name)


def test_lm_eval_samples(tmp_path: Path) -> None:
    replies = iter(["Answer: B", "So: **Answer:** A", *["hm"] * 100])
    run_lm_eval(
        ScriptedLM(lambda prompt, doc: next(replies)),
        "nyc_ranking_gen",
        metadata={"dataset": "sample"},
        output=tmp_path,
    )
    found = read_answers(next(tmp_path.rglob("samples_nyc_ranking_gen_*.jsonl")))
    ids = [record.id for record in load("ranking", dataset="sample").records]
    assert found == Answers(dict.fromkeys(ids) | {ids[0]: "B", ids[1]: "A"}, "AB")
