"""Files of captions: every published form and its defects, and what cannot be read."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from standins import commands
from standins.corpus import write_lines
from standins.judging import says

from humor_tasks.errors import BadInput
from humor_tasks.logs import read_run
from humor_tasks.rows.contests.source import HELD_OUT
from humor_tasks.studies.captions.files import (
    CaptionGroup,
    as_lines,
    check_contests,
    read_all,
    read_captions,
    read_groups,
)
from humor_tasks.tasks import brainstorm, caption_writing, explanation, humor_writing
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval

TEN = [f"Caption {i}." for i in range(10)]
MARKS = '"“”'
HEAD = ",".join(f"caption{i}" for i in range(1, 11))


def sheet(path: Path, *rows: str) -> Path:
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


# ---- JSON lines ---------------------------------------------------------------------------------


def test_single_captions_are_gathered_by_system_and_contest(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "people.jsonl",
        [
            {"contest": 536, "caption": "  One \n caption "},
            {"contest": "537", "caption": "b"},
            {"contest": 536, "caption": "“Two.”", "system": "me"},
            {"contest": 536, "caption": '"Three'},
        ],
    )
    assert read_groups(path) == [
        CaptionGroup("people", 536, ("One caption", "Three")),
        CaptionGroup("people", 537, ("b",)),
        CaptionGroup("me", 536, ("Two.",)),
    ]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 30])
def test_any_number_of_captions_is_kept_and_never_filled_up(count: int, tmp_path: Path) -> None:
    texts = [f"Caption {i}." for i in range(count)]
    (group,) = read_groups(write_lines(tmp_path / "m.jsonl", [{"contest": 536, "captions": texts, "system": "s"}]))
    assert (list(group.captions), group.note, group.whole) == (texts, "", count == 10)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "1 empty left out"),
        ("  \n", "1 empty left out"),
        ('""', "1 empty left out"),
        ("\u200b\u2800", "1 empty left out"),
        ("half a \ud800", "1 undecodable left out"),
        ("x" * 10_001, "1 too long left out"),
        ("Ow", ""),
        ("...", ""),
        ("nan", ""),
    ],
)
def test_what_is_no_caption_is_left_out_and_said(text: str, why: str, tmp_path: Path) -> None:
    (group,) = read_groups(write_lines(tmp_path / "m.jsonl", [{"contest": 536, "captions": [*TEN[:9], text]}]))
    assert (group.note, len(group.captions)) == (why, 9 if why else 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: must be an object with contest or request, and caption or captions"),
        ('{"contest": 1}', "line 1: must be an object with contest or request, and caption or captions"),
        (
            '{"contest": 1, "caption": "a", "captions": ["a"]}',
            "line 1: must be an object with contest or request, and caption or",
        ),
        ('{"contest": true, "caption": "a"}', "line 1: contest is 'True'; it must be the contest's number, such as"),
        ('{"contest": 1.5, "caption": "a"}', r"line 1: contest is '1\.5'"),
        ('{"contest": null, "caption": "a"}', "line 1: contest is 'None'"),
        ('{"contest": 1, "caption": 3}', "line 1: caption is 3; it must be text"),
        ('{"contest": 1, "captions": "abc"}', "line 1: captions is 'abc'; it must be a list of texts"),
        ('{"contest": 1, "captions": ["a", null]}', r"line 1: captions\[1\] is None; it must be text"),
        ('{"contest": 1, "caption": "a", "system": 3}', "line 1: system is 3; it must be text"),
        ('{"contest": 1, "caption": "a", "system": "\\ud800"}', "line 1: system is .*; it must be text"),
        ('{"contest": 1, "caption": "a"}\n{"contest": 1, "captions": ["b"]}', r"line 2: contest 1 of m is also in .*1"),
        ('{"contest": 1, "captions": ["b"]}\n' * 2, r"line 2: contest 1 of m is also in .*m\.jsonl, line 1; keep one"),
    ],
)
def test_lines_that_cannot_be_used(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput, match=message):
        read_groups(path)


def test_groups_are_written_as_lines_that_are_read_back(tmp_path: Path) -> None:
    groups = [CaptionGroup("s", 536, ("Ünder “quotes” here.", "b c")), CaptionGroup("t", 1, ())]
    path = tmp_path / "x.jsonl"
    path.write_text(as_lines(groups))
    assert read_groups(path) == groups


def test_two_files_with_the_same_system_and_contest(tmp_path: Path) -> None:
    one = write_lines(tmp_path / "a.jsonl", [{"contest": 536, "captions": TEN, "system": "s"}])
    two = write_lines(tmp_path / "b.jsonl", [{"contest": 536, "captions": TEN, "system": "s"}])
    with pytest.raises(BadInput, match=r"b\.jsonl: contest 536 of s is also in .*a\.jsonl; leave one file out"):
        read_all([one, two])
    other = write_lines(tmp_path / "c.jsonl", [{"contest": 536, "captions": TEN, "system": "t"}])
    assert [group.system for group in read_all([one, other])] == ["s", "t"]


# ---- tables -------------------------------------------------------------------------------------


def test_the_released_forms_of_tables(tmp_path: Path) -> None:
    rows = ",".join(TEN)
    named = sheet(tmp_path / "zs.csv", f"contest_number,prompt,{HEAD}", f'536.0,"a\nprompt",{rows}', f"537,p,{rows}")
    assert read_groups(named) == [CaptionGroup("zs", 536, tuple(TEN)), CaptionGroup("zs", 537, tuple(TEN))]
    by_place = sheet(tmp_path / "claude.csv", f"{','.join('0123456789')},contest_num", f"{rows},543.0", f"{rows},530.0")
    assert [group.contest for group in read_groups(by_place)] == [543, 530]
    human = sheet(tmp_path / "human_top.csv", ",".join("0123456789"), rows, rows.replace("Caption", "Best"))
    assert [(g.system, g.contest, g.captions[0]) for g in read_groups(human)] == [
        ("human_top", 543, "Caption 0."),
        ("human_top", 530, "Best 0."),
    ]


def test_defects_of_tables(tmp_path: Path) -> None:
    stray = ' ""Looks odd.'
    path = sheet(
        tmp_path / "zs.csv",
        "contest_number,caption2,caption10,caption1",
        f'536,"{stray}",z,"""Quoted."""',
        "537,nan,,only",
        ",a torn,half,row",
    )
    assert read_groups(path) == [
        CaptionGroup("zs", 536, ("Quoted.", "Looks odd.", "z")),
        CaptionGroup(
            "zs", 537, ("only",),
            "2 empty left out; the row after it (line 4) has no contest number and is left out",
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("m.csv", ["contest,text", "1,a"], "there is no column of captions; there are: contest, text. Name them"),
        ("m.csv", ["caption1,caption2", "a,b"], "there is no column of contest numbers; add contest_number"),
        ("human_top.csv", ["0,1", "a,b"], r"belong, row by row, to claude\.csv: put that file into the same folder"),
        ("m.csv", ["contest_number,caption1", "1,a,b"], "line 2: has 3 fields, the header has 2"),
        ("m.csv", ["contest_number,caption1", "abc,a"], "line 2: contest_number is 'abc'; it must be the contest's"),
        ("m.csv", ["contest_number,caption1", ",a"], "line 2: contest_number is ''; it must be the contest's number"),
        ("m.csv", ["contest_number,caption1", "1,a", "1,b"], r"line 3: contest 1 of m is also in .*line 2; keep one"),
        ("m.csv", ["contest_number,caption1"], "there are no rows"),
        ("m.csv", [], "there are no rows; the file is empty"),
        ("m.csv", ['{"contest": 1, "captions": ["a"]}'], "it looks like JSON, and CSV is wanted"),
    ],
)
def test_tables_that_cannot_be_used(name: str, rows: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        read_groups(sheet(tmp_path / name, *rows))


def test_human_rows_that_do_not_belong_to_their_partner(tmp_path: Path) -> None:
    sheet(tmp_path / "claude.csv", "0,contest_num", "a,543", "b,544")
    with pytest.raises(BadInput, match=r"human_top\.csv: has 1 rows and claude\.csv has 2; they must belong"):
        read_groups(sheet(tmp_path / "human_top.csv", "0", "a"))


@pytest.mark.parametrize("name", ["m.csv", "m.jsonl", "m.eval"])
def test_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such"):
        read_groups(tmp_path / name)


# ---- runs ---------------------------------------------------------------------------------------

REPLY = "Concepts: sea; night\nChosen: sea\nCaption: Ships avoid me.\nExplanation: They have to."


def test_a_log_of_brainstorm_has_one_caption_a_contest_and_epoch() -> None:
    replies = iter([REPLY, "No caption here."] * 4 + [REPLY, "I'm sorry, but I can't help with that."])
    model = ScriptedModel("m", lambda messages: next(replies))
    (log,) = eval(brainstorm(dataset="sample"), model=model.model, epochs=2, display="log")
    groups = read_groups(Path(log.location))
    assert sum(len(group.captions) for group in groups) == 5
    assert {caption for group in groups for caption in group.captions} == {"Ships avoid me."}
    assert sum("a reply without a readable caption" in group.note for group in groups) >= 1
    assert sum("a refusal" in group.note for group in groups) == 1
    assert not any(group.whole for group in groups)
    read = read_captions(Path(log.location))
    assert (len(read.captions), read.unparsed, read.refused) == (5, 4, 1)


@pytest.mark.slow
@pytest.mark.parametrize("harness", ["inspect", "lm_eval"])
def test_runs_of_caption_writing(harness: str, tmp_path: Path) -> None:
    """Two contests get ten captions, and each other group says why it has none."""
    replies = itertools.cycle([TEN, TEN[:9], [], TEN])

    def write(*asked: Any) -> str:
        found = next(replies)
        return "\n".join(f"{i}. {text}" for i, text in enumerate(found, 1)) or "I'm sorry, but I can't help with that."

    given = {"dataset": "sample", "split": "validation", "contests": "9010-9013"}
    if harness == "inspect":
        grader, writer = says("g", "Answer: A"), ScriptedModel("writer", write)
        (log,) = eval(caption_writing(**given), model=writer.model, model_roles={"grader": grader.model})
        path, name = Path(log.location), "mockllm/writer"
    else:
        run_lm_eval(ScriptedLM(write), "caption_writing", metadata=given, output=tmp_path, log_samples=True)
        (path,) = tmp_path.rglob("samples_*.jsonl")
        name = ""
    groups = read_groups(path)
    assert [group.contest for group in groups] == [9010, 9011, 9012, 9013]
    assert [list(group.captions) for group in groups] == [TEN, [], [], TEN]
    assert [group.note for group in groups] == ["", "unparsed: 9 captions found", "refused: 0 captions found", ""]
    assert [group.refused for group in groups] == [False, False, True, False]
    assert {group.system for group in groups} == ({name} if name else {groups[0].system})
    out, how = tmp_path / "out.json", ("--dataset", "sample", "--split", "validation", "--contests", "9010-9013")
    graded = ("--grader", "baseline/first", "--log-dir", tmp_path / "logs", "-o", out)
    told = commands.humor_tasks("captions", "score", path, *how, *graded)
    assert [told.split("\n")[i].replace(" ", "").split("|")[4:6] for i in (0, 2)] == [["not10", "refused"], ["1", "1"]]
    made = json.loads(out.read_text())
    assert (len(made["systems"][0]["not_whole"]), made["systems"][0]["refused"]) == (2, 1)
    rates = made["against_people"][0]["metrics"]
    assert (rates["unparsed"]["value"], rates["refused"]["value"]) == (0.25, 0.25)


@pytest.mark.parametrize("harness", ["inspect", "lm_eval"])
def test_runs_of_humor_writing_are_texts_by_request(harness: str, tmp_path: Path) -> None:
    """The id of a request is a text, also where it has digits alone; the log says what was asked for."""
    requests = [{"id": 1, "text": "a"}, {"id": "en_2", "headline": "b"}, {"id": "x", "text": "c"}]
    given = {"dataset": str(write_lines(tmp_path / "r.jsonl", requests)), "count": 2}
    said = iter(["1. One.\n2. Two.", "1. Three.", "I'm sorry, but I can't help with that."])
    if harness == "inspect":
        writer = ScriptedModel("writer", lambda *asked: next(said)).model
        (log,) = eval(humor_writing(**given), model=writer, display="log", max_connections=1, log_dir=str(tmp_path))
        path = Path(log.location)
    else:
        model = ScriptedLM(lambda *asked: next(said))
        run_lm_eval(model, "humor_writing", metadata=given, output=tmp_path, log_samples=True)
        (path,) = tmp_path.rglob("samples_*.jsonl")
    groups = read_groups(path)
    assert [(group.contest, group.captions, group.note) for group in groups] == [
        ("1", ("One.", "Two."), ""),
        ("en_2", (), "unparsed: 1 captions found"),
        ("x", (), "refused: 0 captions found"),
    ]
    asked = [sample.facts["request"] for sample in read_run(path).samples]
    assert asked == ["a", "Write a joke about this news headline: “b”", "c"]
    (tmp_path / "t.jsonl").write_text(as_lines(groups), encoding="utf-8")
    assert read_groups(tmp_path / "t.jsonl") == [replace(group, note="", refused=False) for group in groups]
    with pytest.raises(BadInput, match=r"^3 requests: 1, en_2, x: texts for requests have no contest to be compared"):
        check_contests(groups)


def test_a_submission_has_a_text_a_request(tmp_path: Path) -> None:
    path = sheet(tmp_path / "baseline.tsv", "id\ttext", 'en_1\t"Quoted ""twice"" here."', 'en_2\tAs "is".', "en_3\t-")
    assert read_groups(path) == [
        CaptionGroup("baseline", "en_1", ('Quoted "twice" here.',)),
        CaptionGroup("baseline", "en_2", ('As "is".',)),
        CaptionGroup("baseline", "en_3", ("-",)),
    ]
    with pytest.raises(BadInput, match=r"line 3: request 'en_1' of b is also in .*line 2; keep one\."):
        read_groups(sheet(tmp_path / "b.tsv", "id\ttext", "en_1\ta", "en_1\tb"))


def test_a_log_of_another_task() -> None:
    (log,) = eval(explanation(dataset="sample"), model=says("m", "So.").model, display="log")
    with pytest.raises(
        BadInput, match="is of none of humor_tasks/brainstorm, humor_tasks/caption_writing, humor_tasks/humor_writing"
    ):
        read_groups(Path(log.location))


# ---- the released tables ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "contests", "not_whole"),
    [
        ("claude", 91, {}),
        ("gpt4o", 91, {}),
        ("ppo", 91, {}),
        ("zs_BoN", 91, {}),
        ("llava_zs", 91, {}),
        ("llava_sft", 91, {}),
        ("dpo", 357, {}),
        ("sft", 91, {746: 8}),
        ("zs", 357, {569: 1}),
        ("human_top", 91, {}),
        ("human_200", 91, {}),
        ("human_1000", 91, {}),
        ("human_median", 91, {}),
    ],
)
def test_released_captions(system: str, contests: int, not_whole: dict[int, int], real_data: Path) -> None:
    groups = read_groups(real_data / "newyorker_raw" / "generations" / f"{system}.csv")
    assert len(groups) == contests
    assert {group.contest for group in groups} >= set(HELD_OUT)
    assert {group.contest: len(group.captions) for group in groups if not group.whole} == not_whole
    assert {group.contest for group in groups if group.note} == set(not_whole)
    # The release's single stray quotation marks are gone.
    assert not any(
        sum(map(c.count, MARKS)) == 1 and (c[0] in MARKS or c[-1] in MARKS) for g in groups for c in g.captions
    )


def test_released_human_captions_are_those_of_the_contests(real_data: Path) -> None:
    """The join by rows of claude.csv: equal to the crowd's files."""
    from humor_tasks.benchmarks.crowd.groups import human_group
    from humor_tasks.rows.contests.source import open_contests

    source = open_contests(str(real_data / "newyorker_raw"), split="validation", numbers=(536, 697, 757))
    for system, name in (("human_top", "top10"), ("human_1000", "rank1000"), ("human_median", "median")):
        groups = {g.contest: g for g in read_groups(real_data / "newyorker_raw" / "generations" / f"{system}.csv")}
        for number in source.numbers:
            known = human_group(source.contest(number), name)
            assert known is not None
            assert groups[number].captions == known.captions


@pytest.mark.parametrize(
    ("header", "told"),
    [("contest,caption1,caption01", "two columns are the same"), (f"contest,1,caption{'9' * 5000}", "")],
)
def test_columns_of_captions_are_told_apart(tmp_path: Path, header: str, told: str) -> None:
    (tmp_path / "x.csv").write_text(f"{header}\n510,First one,Second one\n")
    if told:
        with pytest.raises(BadInput, match=told):
            read_groups(tmp_path / "x.csv")
    else:  # a number that no column has
        assert read_groups(tmp_path / "x.csv")[0].captions == ("First one",)
