"""Humor writing: prompts and replies by hand, the same requests and pictures in both harnesses, and bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from PIL import Image
from standins.corpus import write_lines
from standins.logs import metrics

from humor_tasks import load
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import CannotRun
from humor_tasks.rows.records import Turn
from humor_tasks.scorers import average_ead
from humor_tasks.tasks import humor_writing
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval

LISTED = "Sure!\n1. One.\n2. “Two.”\n\nI hope that helps."


@pytest.fixture
def requests(tmp_path: Path) -> str:
    Image.new("L", (4, 3), 9).save(tmp_path / "p.png")
    lines: list[dict[str, Any]] = [
        {"id": "a", "text": "Cost: $5, $text"},
        {"id": "b", "text": "A pun.", "system": "Be brief."},
        {"id": "c", "text": "A caption.", "picture": "p.png"},
        {"id": "d", "headline": "Sheep vote"},
    ]
    return str(write_lines(tmp_path / "r.jsonl", lines))


def answered(run: Run, *replies: str) -> dict[str, float]:
    found = [run.outcome(record, reply) for record, reply in zip(run.records, replies, strict=True)]
    return {name: estimate.value for name, estimate in run.metrics(found).items()}


def test_a_prompt_is_the_request_in_the_template_with_its_own_system_message(requests: str) -> None:
    run = load("humor_writing", dataset=requests)
    first, second, third, _ = (run.prompt(record) for record in run.records)
    assert [turn.role for turn in first.turns] == ["system", "user"]
    assert first.turns[1].text.startswith("Cost: $5, $text\n\nWrite one short, funny text for this.")
    assert second.turns == (Turn("system", "Be brief."), Turn("user", second.turns[1].text))
    assert [picture.where.split(",")[0] for picture in third.pictures] == ["p.png"]
    several = load("humor_writing", dataset=requests, count=12)
    assert "a numbered list from 1 to 12" in several.prompt(several.records[0]).turns[-1].text


@pytest.mark.parametrize(
    ("count", "reply", "status", "texts"),
    [
        (1, "<think>Hm.</think>\n Why?\n  Because. ", "answered", ["Why? Because."]),
        (1, LISTED, "answered", [" ".join(LISTED.split())]),
        (1, " ", "empty", None),
        (1, "<think>Hm.", "unparsed", None),
        (1, "I'm sorry, but I can't help with that.", "refused", None),
        (2, LISTED, "answered", ["One.", "Two."]),
        (3, LISTED, "unparsed", None),
    ],
)
def test_a_reply_is_one_text_or_a_list(count: int, reply: str, status: str, texts: list[str] | None) -> None:
    run = load("humor_writing", dataset="sample", count=count)
    outcome = run.outcome(run.records[0], reply)
    assert (outcome.status, outcome.facts.get("captions")) == (status, texts)
    assert outcome.values["written"] == (texts is not None)


def test_metrics_describe_the_texts_and_need_no_people(requests: str) -> None:
    found = answered(load("humor_writing", dataset=requests), "One two", "ONE, two!", "a", "")
    assert found == pytest.approx(
        {"written": 0.75, "unparsed": 0.25, "refused": 0, "characters": 17 / 3, "words": 5 / 3, "repeated": 2 / 3}
    )
    found = answered(load("humor_writing", dataset=requests, count=2), *["1. One.\n2. One!"] * 2, "1. One", LISTED)
    assert (found["written"], found["distinct"], found["repeated"]) == pytest.approx((0.75, 2 / 3, 5 / 6))
    assert found["ead"] == pytest.approx((2 * average_ead(["One.", "One!"]) + average_ead(["One.", "Two."])) / 3)


def test_both_harnesses_ask_the_same_and_show_the_same_picture(requests: str, tmp_path: Path) -> None:
    writer = ScriptedModel("writer", "A joke.")
    (log,) = eval(humor_writing(requests), model=writer.model, display="log", log_dir=str(tmp_path / "logs"))
    in_inspect = [[message.text for message in sample.input] for sample in log.samples or []]  # type: ignore[union-attr]
    shown: list[tuple[str, int]] = []

    def write(text: str, doc: Any) -> str:
        shown.append((text, len(doc.get("picture", ""))))
        return "A joke."

    lines = [json.loads(line) for line in Path(requests).read_text(encoding="utf-8").splitlines()]
    words = write_lines(tmp_path / "words.jsonl", [line for line in lines if "picture" not in line])
    found = run_lm_eval(ScriptedLM(write), "humor_writing", metadata={"dataset": str(words)})
    assert [text.strip() for text, _ in shown] == [
        "\n\n".join(turns) for turns, line in zip(in_inspect, lines, strict=True) if "picture" not in line
    ]
    assert metrics(log)["written"] == found["results"]["humor_writing"]["written,none"] == 1
    pictures = [sample.metadata.get("pictures", []) for sample in log.samples or []]
    assert [len(each) for each in pictures] == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "dataset is missing; give the file of requests (.jsonl, .csv or .tsv) as dataset=FILE."),
        ({"dataset": "sampel"}, "dataset=sampel is neither 'sample' nor a file; give the file of requests"),
        ({"dataset": "sample", "count": 0}, "count must be a whole number of at least 1, not 0."),
        ({"dataset": "sample", "shots": 2}, "shots: there are no worked examples; leave shots out."),
        ({"dataset": "sample", "revision": "main"}, "revision: a file has no revisions; leave revision out."),
        ({"dataset": "sample", "images": "none"}, "images=none: there is no such folder."),
    ],
)
def test_parameters_that_cannot_be_used(given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput, match=f"^{re.escape(told)}"):
        load("humor_writing", **given)


def test_missing_pictures_end_a_run_before_it_asks_or_are_left_out(requests: str, tmp_path: Path) -> None:
    (tmp_path / "p.png").unlink()
    with pytest.raises(CannotRun, match=r"r\.jsonl, line 3: picture: .*there is no picture file 'p\.png'"):
        humor_writing(requests)
    with pytest.warns(UserWarning, match=r"left out \(on_bad_picture=skip\)"):
        run = load("humor_writing", dataset=requests, on_bad_picture="skip")
    assert [record.id for record in run.records] == ["a", "b", "d"]
    assert run.data.provenance["skipped"] == 1
