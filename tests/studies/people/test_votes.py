"""Votes in and out: our own files, Label Studio's and Argilla's exports, and everything wrong with them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import is_visible
from humor_tasks.studies.people.agreement import read_questions
from humor_tasks.studies.people.vote_files import read_votes
from humor_tasks.studies.people.votes import Vote, Votes, votes_table, write_votes

HEADER = "item,rater,choice,time\n"
T1, T2 = "2026-01-31T12:00:00Z", "2026-01-31T12:00:01Z"


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(content: Any, name: str = "votes") -> Path:
        path = tmp_path / f"{name}{'.csv' if isinstance(content, str) else '.json'}"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


# ---- our own files ------------------------------------------------------------------------------


def test_a_csv_file_is_read_with_its_optional_columns(written: Any) -> None:
    path = written(
        "rater,item,choice,time,order,seconds,reason\n"
        f'ann,None,A,2026-01-31T13:00:00+01:00,BA,7,"says ""why"", too"\nbob,NA,tie,{T2},,8,\n'
    )
    assert read_votes(path).votes == (
        Vote("None", "ann", "A", T1, 'says "why", too', "BA"),
        Vote("NA", "bob", "tie", T2),
    )
    assert str(read_votes(path)) == "2 votes on 2 items by 2 annotators"


TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12).map(str.strip)
VOTES = st.builds(
    Vote,
    TEXT.filter(is_visible),
    TEXT.filter(is_visible).map(lambda text: normalize("NFC", text)),
    st.sampled_from(["A", "B", "tie"]),
    st.sampled_from(["", T1, T2]),
    TEXT,
    st.sampled_from(["", "AB", "BA"]),
)


@given(st.lists(VOTES, min_size=1, unique_by=lambda vote: (vote.item, vote.rater)), st.sampled_from([".csv", ".jsonl"]))
def test_what_was_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, votes: list[Vote], ending: str
) -> None:
    path = tmp_path_factory.mktemp("votes") / f"votes{ending}"
    write_votes(path, votes)
    assert read_votes(path) == Votes(tuple(votes))


RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # OWASP, "CSV Injection"


RESTS = ("", "1+1", 'HYPERLINK("http://127.0.0.2:9/","x, y")', "cmd|' /C calc'!A0")


@pytest.mark.parametrize("start", RUNS)
def test_a_spreadsheet_finds_no_formula_and_the_text_is_read_back(tmp_path: Path, start: str) -> None:
    """In every column: an item's id or an annotator's name of an export may be anything."""
    texts = [f"{before}{start}{rest}" for before in ("", "'", "''") for rest in RESTS]
    votes = tuple(Vote(f"x{i}", "ann", "A", T1, text, "BA") for i, text in enumerate(texts))
    votes += tuple(Vote(f"{text}.", f"{text}.", "B", T1, "plain's ' =, +, - and @") for text in texts)
    write_votes(tmp_path / "votes.csv", votes)
    with (tmp_path / "votes.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert [cell for cell in cells if cell.startswith(RUNS) and cell != "-"] == []  # a lone hyphen is no formula
    assert "plain's ' =, +, - and @" in cells
    assert read_votes(tmp_path / "votes.csv").votes == votes
    (question,) = read_questions([tmp_path / "votes.csv"])
    assert question.votes == votes


def test_other_apostrophes_stay(tmp_path: Path, written: Any) -> None:
    """A file of another program, and text that only looks like ours."""
    rows = [("'tis", "'tis"), ("=1+1", "=1+1"), ("'=1+1", "=1+1"), ("''", "''"), ("it's =", "it's =")]
    lines = "".join(f"{i},ann,A,,{cell}\n" for i, (cell, _) in enumerate(rows))
    found = read_votes(written(f"item,rater,choice,time,reason\n{lines}")).votes
    assert [vote.reason for vote in found] == [text for _, text in rows]
    json_rows = [{"item": "1", "rater": "ann", "choice": "A", "time": "", "reason": "'=1+1"}]
    assert read_votes(written(json_rows)).votes[0].reason == "'=1+1"


def test_votes_are_written_as_csv_or_json_lines_only(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"must end in \.csv or \.jsonl"):
        write_votes(tmp_path / "votes.json", [Vote("1", "ann", "A")])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("choice", "order", "fits", "fits_the_item"),
    [
        ("A", "", True, True),
        ("A", "BA", True, True),
        ("tie", "AB", True, True),
        ("C", "CAB", True, False),
        ("A", "ABC", True, False),  # of an item with two options
        ("A", "A", True, False),
        ("A", "AA", False, False),
        ("A", "BC", False, False),
        ("A", "ab", False, False),
        ("A", "B,A", False, False),
        ("A", "2", False, False),
    ],
)
def test_an_order_has_each_label_once(written: Any, choice: str, order: str, fits: bool, fits_the_item: bool) -> None:
    path = written(f'item,rater,choice,time,order\n1,ann,{choice},,"{order}"\n')
    for choices, good in ((["A", "B", "C", "tie"], fits), (None, fits), ({"1": ("A", "B", "tie")}, fits_the_item)):
        if good:
            assert [vote.order for vote in read_votes(path, choices=choices).votes] == [order]
        else:
            with pytest.raises(BadInput, match=r"orders that do not exist|choices that do not exist: 'C'"):
                read_votes(path, choices=choices)


def test_one_name_written_in_two_ways_of_unicode_is_one_rater(written: Any) -> None:
    path = written(HEADER + f"1,Zo\u00eb,A,{T1}\n2,Zoe\u0308,A,{T1}\n")
    assert {vote.rater for vote in read_votes(path).votes} == {"Zo\u00eb"}
    with pytest.raises(BadInput, match=r"voted more than once: .*Remove all but one, or read with --twice last\."):
        read_votes(written(HEADER + f"1,Zo\u00eb,A,{T1}\n1,Zoe\u0308,B,{T1}\n"))


def test_json_null_is_empty_and_the_text_none_is_text(written: Any) -> None:
    rows = [{"item": 3, "rater": "None", "choice": "A", "time": None, "reason": None}]
    assert read_votes(written(rows)).votes == (Vote("3", "None", "A"),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item,rater,time\n1,a,\n", "there is no column 'choice'"),
        (HEADER, "there are no rows"),
        (HEADER + f",a,A,{T1}\n", "line 2: item is empty"),
        (HEADER + f"1, ,A,{T1}\n", "line 2: rater is empty"),
        (HEADER + f"1,a,,{T1}\n", "line 2: choice is empty"),
        (HEADER + f"1,a,a,{T1}\n", r"'a' \(.*line 2\). A choice must be one of A, B, tie"),
        (HEADER + f"1,a,C,{T1}\n", r"'C' \(.*line 2\)"),
        (HEADER + f"1,1.2E+18,A,{T1}\n", "line 2: rater is '1.2E.18': .* digits are lost"),
        (HEADER + "1,a,A,yesterday\n", "line 2: time is 'yesterday'"),
        (HEADER + "1,a,A,2026-01-31 12:00:00\n", "line 2: time '2026-01-31 12:00:00' has no time zone"),
        (HEADER + f"1,a,A,{T1}\n2,a,A,{T1}\n1,a,B,{T2}\n", r"a on 1 \(.*line 2, .*line 4\)"),
        ([], "there are no rows"),
        ([1], "row 1: is int"),
        ([{"item": "1", "rater": "a"}], "row 1: has no choice, time"),
        ([{"item": None, "rater": "a", "choice": "A", "time": ""}], "row 1: item is empty"),
        ([{"item": ["1"], "rater": "a", "choice": "A", "time": ""}], r"row 1: item is \['1'\]"),
        ([{"item": True, "rater": "a", "choice": "A", "time": ""}], "row 1: item is True"),
        ([{"id": "1", "text": "x"}], "is neither votes .* nor an export .*: id, text"),
    ],
)
def test_bad_input_is_named(written: Any, content: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_votes(written(content))


def test_unknown_items_are_listed_with_their_rows(written: Any) -> None:
    path = written(HEADER + "".join(f"i{n},a,A,{T1}\n" for n in range(9)))
    with pytest.raises(BadInput, match=r"'i2' \(.*line 4\), .*'i6' \(.*line 8\) and 2 more. There are 2 known items"):
        read_votes(path, known_items={"i0", "i1"})
    assert len(read_votes(path, known_items=[f"i{n}" for n in range(9)]).votes) == 9


def test_choices_may_be_given_for_all_items_or_for_each(written: Any) -> None:
    path = written(HEADER + f"m,a,E,{T1}\np,a,tie,{T1}\n")
    assert len(read_votes(path, choices=["E", "tie"]).votes) == 2
    assert len(read_votes(path, choices=None).votes) == 2
    assert len(read_votes(path, choices={"m": "ABCDE", "p": ("A", "B", "tie")}).votes) == 2
    with pytest.raises(BadInput, match=r"'tie' \(.*line 3\). A choice must be an option's label"):
        read_votes(path, choices={"m": "ABCDE", "p": "AB"})


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ([("A", T1), ("B", T2)], "B"),
        ([("A", T2), ("B", T1)], "A"),
        ([("A", T1), ("B", T1)], "B"),
        ([("A", T2), ("B", "")], "B"),  # an unknown time: the row decides
        ([("A", "2026-01-31T13:00:00.5+01:00"), ("B", T1)], "A"),
        ([("A", T1), ("tie", T2), ("B", T1)], "tie"),
    ],
)
def test_twice_last_keeps_the_last_by_time_then_row(written: Any, rows: list[tuple[str, str]], kept: str) -> None:
    path = written(HEADER + f"0,a,A,{T1}\n" + "".join(f"1,a,{choice},{time}\n" for choice, time in rows))
    found = read_votes(path, twice="last")
    assert [vote.choice for vote in found.votes] == ["A", kept]
    assert found.left_out == {"replaced by a later vote": len(rows) - 1}
    with pytest.raises(BadInput, match="twice: there is no 'first'"):
        read_votes(path, twice="first")


def test_the_table_has_an_item_a_row_and_a_rater_a_column() -> None:
    votes = [Vote("2", "bob", "B"), Vote("1", "ann", "A"), Vote("2", "ann", "tie")]
    assert votes_table(votes) == (["2", "1"], ["bob", "ann"], [["B", "tie"], [None, "A"]])
    assert votes_table(Votes(())) == ([], [], [])
    with pytest.raises(BadInput, match="two votes on one item"):
        votes_table([*votes, Vote("1", "ann", "B")])


# ---- Label Studio -------------------------------------------------------------------------------

CREATED = "2026-01-31T12:00:00.000000Z"


def annotation(who: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An annotation as Label Studio's JSON export has it."""
    return {"id": 1, "completed_by": who, "result": list(results), "created_at": CREATED, "was_cancelled": False} | more


def reply(name: str, **value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": next(iter(value)), "value": value, "origin": "manual"}


def task(*annotations: dict[str, Any], data: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "data": data or {"item": "x", "text": "…"},
        "annotations": list(annotations),
        "predictions": [],
    } | more


def test_label_studio_choices_pairwise_and_reasons(written: Any) -> None:
    path = written(
        [
            task(
                annotation(3, reply("preference", choices=["A"]), reply("reason", text=["It is", "clearer."])),
                annotation({"id": 4, "email": "b@example.org"}, reply("preference", choices=["tie"])),
                annotation(5, reply("preference", choices=["B"]), was_cancelled=True),
                annotation(6),
                drafts=[{"id": 9, "user": "c"}],
            ),
            task(annotation(3, reply("preference", selected="right")), data={"instance_id": 12}),
            task(annotation(3, reply("preference", selected="left")), data={"id": "z"}),
        ]
    )
    found = read_votes(path)
    assert found.votes == (
        Vote("x", "3", "A", T1, "It is clearer."),
        Vote("x", "b@example.org", "tie", T1),
        Vote("12", "3", "B", T1),
        Vote("z", "3", "A", T1),
    )
    assert found.left_out == {"draft": 1, "cancelled": 1, "without an answer": 1}
    assert str(found).endswith("left out: 1 draft, 1 cancelled, 1 without an answer")


def test_label_studio_before_1_0_calls_annotations_completions(written: Any) -> None:
    old = {"id": 1, "data": {"item": "x"}, "completions": [annotation(1, reply("c", choices=["B"]))]}
    skipped = {"id": 2, "data": {"item": "y"}, "completions": [annotation(1, skipped=True)]}
    found = read_votes(written([old, skipped]))
    assert (found.votes, found.left_out) == ((Vote("x", "1", "B", T1),), {"cancelled": 1})


def test_label_studio_labels_are_mapped_and_questions_chosen(written: Any) -> None:
    both = (reply("clear", choices=["yes"]), reply("better", choices=["First"]), reply("side", selected="left"))
    path = written([task(annotation(1, *both), data={"key": "k", "id": "other"})])
    read = read_votes(path, item_field="key", question="better", labels={"First": "A"})
    assert read.votes == (Vote("k", "1", "A", T1),)
    swapped = read_votes(path, question="side", labels={"left": "B"})
    assert swapped.votes == (Vote("other", "1", "B", T1),)
    with pytest.raises(BadInput, match="no answer to 'best'; there are: clear, better, side"):
        read_votes(path, question="best")
    with pytest.raises(BadInput, match=r"'First' \(.*row 1, annotation 1\)"):
        read_votes(path, question="better")


def minimal(**more: Any) -> dict[str, Any]:
    """A row of JSON_MIN; its id is the task's."""
    row = {"id": 7, "item": "x", "text1": "…", "annotator": 3, "annotation_id": 1, "created_at": CREATED}
    return row | {"updated_at": CREATED, "lead_time": 4.2} | more


def test_label_studio_json_min(written: Any) -> None:
    rows = [
        minimal(choice="A", reason="Because."),
        minimal(item="y", choice="B", annotator="b@example.org"),
        minimal(item="z", annotation_id=None, annotator=None, created_at=None),
    ]
    found = read_votes(written(rows))
    assert found.votes == (Vote("x", "3", "A", T1, "Because."), Vote("y", "b@example.org", "B", T1))
    assert found.left_out == {"not annotated": 1}
    assert read_votes(written([minimal(pw=[{"selected": "right"}])])).votes == (Vote("x", "3", "B", T1),)
    assert read_votes(written([minimal(best="B")]), question="best").votes == (Vote("x", "3", "B", T1),)


# ---- Argilla ------------------------------------------------------------------------------------


def test_argilla_2_flat_rows(written: Any) -> None:
    row = {"id": "x", "status": "completed", "_server_id": "s", "first": "…", "second": "…"}
    row |= {
        "preference.responses": ["A", "B", None],
        "preference.responses.users": ["u1", "u2", "u3"],
        "preference.responses.status": ["submitted", "draft", "discarded"],
        "reason.responses": ["Clear."],
        "reason.responses.users": ["u1"],
        "reason.responses.status": ["submitted"],
        "preference.suggestion": "B",
    }
    empty = dict.fromkeys(row) | {"id": "y"}
    found = read_votes(written([row, empty]))
    assert found.votes == (Vote("x", "u1", "A", "", "Clear."),)
    assert found.left_out == {"draft": 1, "discarded": 1}
    columns = {name: [row[name], empty[name]] for name in row}
    assert read_votes(written(columns)) == found  # records.to_dict()
    assert read_votes(written({"x": row, "y": empty})) == found  # records.to_dict(orient="index")


def test_argilla_2_nested_rows_do_not_say_what_was_submitted(written: Any) -> None:
    answers = [{"value": "A", "user_id": "u1"}, {"value": "tie", "user_id": "u2"}]
    row = {"id": "r", "fields": {"item": "x"}, "metadata": {}, "suggestions": {}, "responses": {"q": answers}}
    path = written([row])
    with pytest.raises(BadInput, match=r"row 1: the export does not say .*flatten=True.*--without-status"):
        read_votes(path)
    assert read_votes(path, without_status=True).votes == (Vote("x", "u1", "A"), Vote("x", "u2", "tie"))
    for answer, status in zip(answers, ("submitted", "discarded"), strict=True):
        answer["status"] = status
    found = read_votes(written([row | {"fields": {}}]))
    assert (found.votes, found.left_out) == ((Vote("r", "u1", "A"),), {"discarded": 1})


# ---- exports that cannot be used ----------------------------------------------------------------

ONE = annotation(1, reply("choice", choices=["A"]))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([task(ONE, data={"text": "…"})], r"row 1, annotation 1: has no item id .*\(--item-field\). There are: text"),
        ([task(annotation(None, reply("choice", choices=["A"])))], "annotation 1: the annotator is None"),
        (
            [task(annotation(1, reply("choice", choices=["A", "B"])))],
            r"the answer is \['A', 'B'\]; a vote must be one label",
        ),
        ([task(annotation(1, reply("choice", rating=4)))], "holds no submitted vote; there are: 1 without an answer"),
        ([task(annotation(1, reply("a", choices=["A"]), reply("b", choices=["A"])))], "name the question .*: a, b"),
        ([task(ONE), {"id": 8}], "row 2: is not a Label Studio task"),
        (
            [task(ONE), task(data={"item": "y"}) | {"annotations": [12]}],
            "row 2: has another structure than the rest of this export",
        ),
        ([task(ONE | {"created_at": "now"})], "row 1, annotation 1: time is 'now'"),
        ([task(annotation(1, was_cancelled=True))], "holds no submitted vote; there are: 1 cancelled"),
        (
            [minimal(text2="…")],
            r"name the question that holds the vote \(--question\); there are: item, text1, annotator",
        ),
        ([{"id": "x", "responses": {}}], "holds no submitted vote"),
        ([{"id": "x", "q.responses": ["A"], "q.responses.users": ["u", "v"]}], "row 1: has another structure"),
        ([{"id": "x", "q.responses": ["A"], "q.responses.status": ["submitted"]}], "row 1: the annotator is None"),
    ],
)
def test_exports_that_cannot_be_used_are_named(written: Any, rows: list[Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_votes(written(rows))


def test_a_person_who_answers_an_item_twice_in_an_export_is_named(written: Any) -> None:
    path = written([task(ONE, ONE | {"created_at": T2, "result": [reply("choice", choices=["B"])]})])
    with pytest.raises(BadInput, match=r"1 on x \(.*row 1, annotation 1, .*row 1, annotation 2\)"):
        read_votes(path)
    assert [vote.choice for vote in read_votes(path, twice="last").votes] == ["B"]
