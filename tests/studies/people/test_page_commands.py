"""`humor-tasks people pairs`, `votes` and `page` up to the page: the files that they write, and what they refuse."""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import eval
from standins.judging import says

from humor_tasks import load, tasks
from humor_tasks.cli import main
from humor_tasks.files.writing import write_json_lines
from humor_tasks.studies.people.items import read_pairs
from humor_tasks.studies.people.session import assigned
from humor_tasks.studies.people.sources import choices, rows, sampled_records
from humor_tasks.studies.people.vote_files import read_votes
from humor_tasks.studies.people.votes import Vote
from humor_tasks.testing import ScriptedLM, run_lm_eval


def invoke(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_pairs_of_two_systems(tmp_path: Path) -> None:
    run = load("explanation", dataset="sample")
    first, second, third, *rest = run.records
    replies = {record.id: f"Explanation: Because\n\nof {record.id}." for record in rest}
    replies |= {first.id: "", second.id: str(second.target)}
    (tmp_path / "mine.json").write_text(json.dumps(replies))
    sides = ("--system", tmp_path / "mine.json", "--against", "human", "--dataset", "sample")
    done = invoke("people", "pairs", *sides, "-o", tmp_path / "pairs.jsonl")
    assert done.exit_code == 0, done.output
    assert "2 without both explanations, 1 with identical explanations" in done.output
    rows = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [record.id for record in rest]
    assert rows[0]["options"] == [f"Because of {rest[0].id}.", " ".join(str(rest[0].target).split())]
    assert rows[0]["systems"] == ["mine", "human"]
    (item, *_) = read_pairs(tmp_path / "pairs.jsonl")
    assert (item.kind, item.caption, item.cluster) == ("preference", rest[0].fields["caption"], rest[0].cluster)
    assert item.description.startswith(f"Place: {rest[0].fields['location']}\n")
    assert third.id not in {row["id"] for row in rows}
    (tmp_path / "mine.json").write_text(json.dumps(replies | {"nobody": "x"}))
    done = invoke("people", "pairs", *sides, "-o", tmp_path / "other.jsonl")
    assert done.exit_code == 2
    assert "1 unknown id: nobody" in done.output
    assert not (tmp_path / "other.jsonl").exists()


@pytest.mark.parametrize("harness", ["inspect", "lm_eval"])
def test_pairs_of_a_log_are_of_its_own_rows(tmp_path: Path, harness: str) -> None:
    ids = [record.id for record in load("explanation", dataset="sample", fold="2", split="validation").records]
    if harness == "inspect":
        task = tasks.explanation(dataset="sample", fold="2", split="validation")
        (log,) = eval(task, model=says("m", "A bear.").model, log_dir=str(tmp_path), display="log")
        path = Path(log.location)
    else:
        given = {"dataset": "sample", "fold": 2, "split": "validation"}
        run_lm_eval(ScriptedLM("A bear."), "nyc_explanation_gen", metadata=given, output=tmp_path)
        (path,) = tmp_path.rglob("samples_*.jsonl")
    for sides in (("--system", path, "--against", "human"), ("--system", "human", "--against", path)):
        done = invoke("people", "pairs", *sides, "-o", tmp_path / "pairs.jsonl")
        assert done.exit_code == 0, done.output
        assert [item.id for item in read_pairs(tmp_path / "pairs.jsonl")] == ids
    done = invoke("people", "pairs", *sides, "--dataset", "sample", "-o", tmp_path / "other.jsonl")
    assert done.exit_code == 2
    assert "they are of explanation, split test of sample" in done.output


@pytest.mark.parametrize("task", ["matching", "ranking"])
def test_pairs_for_human_accuracy(tmp_path: Path, task: str) -> None:
    run = load(task, dataset="sample", setting="pixels")
    given = f"people pairs --task {task} --dataset sample --setting pixels -o".split()
    command = (*given, tmp_path / "all" / "m.jsonl")
    assert invoke(*command).exit_code == 0
    items = read_pairs(tmp_path / "all" / "m.jsonl")
    assert [(item.id, item.kind, item.options, item.answer) for item in items] == [
        (record.id, task, record.choices, record.target) for record in run.records
    ]
    for item, record in zip(items, run.records, strict=True):
        assert item.picture is not None
        assert record.picture is not None
        assert item.picture.read() == record.picture.read()
    assert invoke(*command[:-1], tmp_path / "some.jsonl", "--size", "2").exit_code == 0
    some = [item.id for item in read_pairs(tmp_path / "some.jsonl")]
    assert some == [item.id for item in items if item.id in some]
    assert len(some) == 2
    assert len(list((tmp_path / "some_images").iterdir())) <= 2


def test_a_sample_can_be_shown_to_every_annotator(tmp_path: Path) -> None:
    """Items of --size repeat no caption of one another, so that the page leaves none of them out."""
    run = load("matching", dataset="sample")
    made, left = choices(run, "matching")
    assert not left
    doubled = [(replace(record, id=f"{record.id}-{i}"), fields) for record, fields in made for i in range(3)]
    assert len(sampled_records(doubled, None, 1)[0]) == 3 * len(made)
    for seed in range(3):
        drawn, repeating = sampled_records(doubled, 3 * len(made), seed)
        assert len(drawn) + repeating == 3 * len(made)
        texts = [option for _, fields in drawn for option in fields["options"]]
        assert len(texts) == len(set(texts))
        held = {text for _, fields in drawn for text in fields["options"]}
        assert all(held & set(fields["options"]) for _, fields in doubled), "no further item could be shown"
        write_json_lines(tmp_path / "m.jsonl", rows(drawn, tmp_path / "m.jsonl"))
        items = read_pairs(tmp_path / "m.jsonl")
        assert {item.id for item in assigned(items, "ann", seed)} == {item.id for item in items}
    scale = [(record, fields | {"kind": "detecting"}) for record, fields in doubled]
    assert len(sampled_records(scale, len(scale), 1)[0]) == len(scale), "yes and no may be seen again"
    given = ("people", "pairs", "--task", "matching", "--dataset", "sample", "-o", tmp_path / "x.jsonl")
    assert "can be shown" not in invoke(*given, "--size", "2").output


@pytest.mark.skipif("HUMOR_TASKS_REAL_DATA" not in os.environ, reason="needs the public corpora")
def test_samples_of_real_rows(tmp_path: Path) -> None:
    """100 of the pairs of one fold can be shown. Of its matching rows, whose captions return in other rows, 63 can."""
    folder = Path(os.environ["HUMOR_TASKS_REAL_DATA"]) / "newyorker_caption_contest"
    given = ("--dataset", folder, "--split", "validation", "--size", "100", "-o", tmp_path / "x.jsonl")
    for task, count in (("ranking", 100), ("matching", 63)):
        done = invoke("people", "pairs", "--task", task, *given)
        items = read_pairs(tmp_path / "x.jsonl")
        assert len(assigned(items, "ann", 1)) == len(items) == count, done.output
        assert (f"{count} of 100 can be shown" in done.output) == (count < 100)
        assert [item.winner_source != "" for item in items] == [task == "ranking"] * count


def test_pairs_name_what_they_compare(tmp_path: Path) -> None:
    sides = ("--system", "human", "--against", "human", "--dataset", "sample", "--images", "0")
    done = invoke("people", "pairs", "--task", "mock_generation", *sides, "-o", tmp_path / "x.jsonl")
    assert "with identical stories" in done.output
    assert "explanations" not in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--task", "explanation"), "need --system and --against"),
        (("--system", "human"), "need --system and --against"),
        (("--task", "ranking", "--against", "human"), "other tasks do not take them"),
        (("--task", "humorbench"), "task: there is no 'humorbench'"),
        (("--system", "human", "--against", "human", "--dataset", "sample"), "5 with identical explanations"),
    ],
)
def test_pairs_says_what_is_wrong(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = invoke("people", "pairs", *arguments, "-o", tmp_path / "x.jsonl")
    assert (done.exit_code, said in done.output, (tmp_path / "x.jsonl").exists()) == (2, True, False), done.output


def test_votes_turns_an_export_into_votes(tmp_path: Path) -> None:
    answers = [{"value": "Left", "user_id": "u1"}, {"value": "tie", "user_id": "u2"}]
    (tmp_path / "export.json").write_text(json.dumps([{"id": "x", "fields": {}, "responses": {"q": answers}}]))
    command = ("people", "votes", tmp_path / "export.json", "--label", "Left=A", "-o", tmp_path / "votes.csv")
    assert "--without-status" in invoke(*command).output
    done = invoke(*command, "--without-status")
    assert (done.exit_code, "2 votes on 1 items by 2 annotators" in done.output) == (0, True), done.output
    assert read_votes(tmp_path / "votes.csv").votes == (Vote("x", "u1", "A"), Vote("x", "u2", "tie"))
    write_json_lines(tmp_path / "pairs.jsonl", [{"id": "y", "options": ["1", "2"]}])
    done = invoke(
        "people", "votes", tmp_path / "votes.csv", "--items", tmp_path / "pairs.jsonl", "-o", tmp_path / "more.csv"
    )
    assert (done.exit_code, "unknown items: 'x'" in done.output) == (2, True)
    kept = (tmp_path / "export.json").read_bytes()
    same = invoke(*command[:-1], tmp_path / "x" / ".." / "export.json", "--without-status")
    assert (same.exit_code, "is also an input file; choose another" in " ".join(same.output.split())) == (2, True)
    other = invoke(*command[:-1], tmp_path / "votes.json", "--without-status")
    assert (other.exit_code, "must end in .csv or .jsonl" in " ".join(other.output.split())) == (2, True)
    assert (tmp_path / "export.json").read_bytes() == kept
    assert "write it as THEIRS=OURS" in invoke(*command, "--label", "Left").output
    assert "'tie'" in invoke(*command, "--without-status", "--choices", "A,B").output


def test_annotate_without_its_extra_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gradio", None)
    monkeypatch.delitem(sys.modules, "humor_tasks.studies.people.page", raising=False)
    done = invoke("people", "page", tmp_path / "pairs.jsonl")
    assert done.exit_code == 2
    assert "pip install 'humor-tasks[annotate]'" in done.output


def test_a_port_that_is_taken_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "pairs.jsonl", [{"id": "1", "options": ["x", "y"]}])
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = invoke("people", "page", tmp_path / "pairs.jsonl", "--votes", tmp_path / "v.csv", "--port", str(port))
    said = f"port {port} is in use; choose another with --port."
    assert (done.exit_code, said in " ".join(done.output.split()), (tmp_path / "v.csv").exists()) == (2, True, False)


@pytest.mark.slow
def test_a_broken_picture_is_told_before_anybody_votes(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"<svg>")
    write_json_lines(tmp_path / "pairs.jsonl", [{"id": "1", "options": ["x", "y"], "image": "x.png"}])
    done = invoke("people", "page", tmp_path / "pairs.jsonl", "--votes", tmp_path / "votes.csv")
    assert (done.exit_code, "an SVG drawing" in done.output) == (2, True)
    assert not (tmp_path / "votes.csv").exists()
