"""`humor-tasks people pairs` of MOCK: people are asked what models are asked, about clips by their frames."""

from __future__ import annotations

import json
from pathlib import Path

from markupsafe import escape
from PIL import Image
from standins import commands

from humor_tasks import load
from humor_tasks.studies.people import render
from humor_tasks.studies.people.items import read_pairs
from humor_tasks.studies.people.session import View


def test_people_are_asked_about_clips_by_their_frames(tmp_path: Path) -> None:
    """HumanAcc: the items of `humor-tasks people page`."""
    system = tmp_path / "system.json"
    records = load("mock_explaining", dataset="sample", scene="comedy").records
    system.write_text(json.dumps({record.id: "Because." for record in records}))
    output = tmp_path / "pairs.jsonl"
    given = ["people", "pairs", "--task", "mock_explaining", "--dataset", "sample", "--scene", "comedy", "-o", output]
    commands.humor_tasks(*given, "--system", system, "--against", "human")
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["cluster"] for row in rows] == ["comedy_06", "comedy_07", "comedy_08"]
    for row, record in zip(rows, records, strict=True):
        assert row["options"] == ["Because.", record.target]
        assert row["caption"] == record.fields["caption"]
        assert row["caption"].count("\n") >= 2
        sheet = Image.open(tmp_path / row["image"])
        assert sheet.size == (3 * 320, 3 * 240)
    assert "explanation and mock_explaining and mock_generation need --system and --against" in commands.refused(*given)


def test_people_match_what_models_match(tmp_path: Path) -> None:
    output = tmp_path / "pairs.jsonl"
    given = ["--task", "mock_matching", "--dataset", "sample", "--scene", "post", "--input", "description"]
    commands.humor_tasks("people", "pairs", *given, "-o", output)
    (row, *_) = [json.loads(line) for line in output.read_text().splitlines()]
    (first, *_) = load("mock_matching", dataset="sample", scene="post", input="description").records
    assert (row["kind"], row["answer"], row["options"]) == ("line", first.target, list(first.choices))
    assert row["description"].startswith("A very large plate")
    assert not row.get("caption")


def test_people_match_an_utterance_with_what_was_said_before(tmp_path: Path) -> None:
    output = tmp_path / "pairs.jsonl"
    given = ["--task", "mock_matching", "--dataset", "sample", "--scene", "comedy", "--size", "1"]
    commands.humor_tasks("people", "pairs", *given, "-o", output)
    row = json.loads(output.read_text())
    assert row["image"]
    assert row["said"].startswith("Dialogue:\n")
    assert row["said"].endswith(": (hidden)")
    assert row["options"]["ABCD".index(row["answer"])] not in row["said"]
    (item,) = read_pairs(output)
    assert escape(item.said) in render.item(View("ann", 0, 1, item, (0, 1, 2, 3)))  # not only for screen readers


def test_people_detect_and_compare_stories_with_captions(tmp_path: Path) -> None:
    output, stories = tmp_path / "pairs.jsonl", tmp_path / "stories.json"
    given = ["--dataset", "sample", "-o", output]
    commands.humor_tasks("people", "pairs", "--task", "mock_detecting", *given)
    records = {record.id: record for record in load("mock_detecting", dataset="sample").records}
    for item in read_pairs(output):
        record = records[item.id]
        assert (item.kind, item.options) == ("detecting", ("yes", "no"))
        assert item.options["AB".index(item.answer)] == record.target
        assert item.said == record.fields["said"]
    records = {record.id: record for record in load("mock_generation", dataset="sample").records}
    stories.write_text(json.dumps(dict.fromkeys(records, "A story.")))
    sides = ["--system", stories, "--against", "human"]
    commands.humor_tasks("people", "pairs", "--task", "mock_generation", *sides, "--images", "0", *given)
    captions = {row.cluster: row.choices["ABCD".index(str(row.target))] for row in load(
        "mock_matching", dataset="sample", scene="stills").records}  # fmt: skip
    for item in read_pairs(output):
        assert (item.kind, item.options) == ("conveying", ("A story.", captions[item.cluster]))
        assert item.picture is not None
