"""The released replies of GPT-3.5 and GPT-4: which cache is a row's, and what of it is scored."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from standins.published_rows import sample_as_corpora

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.results.reproduce.query_cache import cache_name, read_query_cache
from humor_tasks.results.reproduce.recipes import Given
from humor_tasks.results.reproduce.rows import find_row, rows
from humor_tasks.results.reproduce.verdict import reproduce

ROW = find_row("matching-gpt-4-5-shot")
UNCLEAR = "It is Answer: A or Answer: B."


def line(identity: str, response: str) -> str:
    return json.dumps({"query": "q", "response": response, "instance_id": identity})


def cache(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_reply_is_read_as_in_the_released_code(tmp_path: Path) -> None:
    of_unclear = hashlib.md5(UNCLEAR.encode()).hexdigest()
    path = cache(
        tmp_path / "c.jsonl",
        line("i1", "Answer: A"),
        line("i1", "So the Answer: D, I think."),
        line("i2", UNCLEAR),
        line(of_unclear, "Final Answer: B"),
        line("i3", "No idea \ud83d."),
        line("of another fold", "Answer: A"),
    )
    assert read_query_cache(ROW, path, ["i1", "i2", "i3"], letters=True) == {
        "i1": "Answer: D",
        "i2": "Answer: B",
        "i3": "No idea \ud83d.",
    }


@pytest.mark.parametrize("heading", ["Summary:", "Step 3: Explanation -", "Here's my best explanation:"])
def test_headings_of_explanations(heading: str, tmp_path: Path) -> None:
    path = cache(tmp_path / "c.jsonl", line("i1", f"Step 1: a bear.\n{heading} A bear would say so."))
    (reply,) = read_query_cache(find_row("explanation-gpt-4-cot"), path, ["i1"], letters=False).values()
    run = load("explanation", dataset="sample")
    outcome = run.outcome(run.records[0], reply)
    assert outcome.answer == "A bear would say so."


def test_each_row_of_both_models_has_a_cache_of_its_own() -> None:
    tasks = ("matching", "ranking", "explanation")
    chosen = [row for row in rows().values() if "openai/gpt-" in row.command and row.benchmark in tasks]
    mine = {row.name: cache_name(row) for row in chosen}
    assert len(mine) == len(set(mine.values())) == 12
    assert mine["matching-gpt-4-5-shot"] == "matching_gpt-4_5_cache.jsonl"
    assert mine["ranking-gpt-3.5-cot"] == "ranking_gpt-3.5-turbo_cache.jsonl"


@pytest.mark.parametrize("zipped", [False, True])
def test_a_cache_is_scored(zipped: bool, tmp_path: Path) -> None:
    dataset = sample_as_corpora(tmp_path / "data")
    row = replace(ROW, parameters={"fold": "0", "shots": 5})
    run = load("matching", dataset=str(dataset / "newyorker_caption_contest"))
    lines = [line(record.id, f"Answer: {record.target}") for record in run.records]
    path = cache(tmp_path / "one.jsonl", *lines, line("extracted", "Final Answer: A"))
    if zipped:
        with zipfile.ZipFile(tmp_path / "query_cache.zip", "w") as archive:
            archive.writestr("query_cache/matching_gpt-4_5_cache.jsonl", path.read_text())
            archive.writestr("query_cache/matching_gpt-4_cache.jsonl", "no JSON")
        path = tmp_path / "query_cache.zip"
    verdict = reproduce(row, Given(dataset=str(dataset), predictions=path))
    assert verdict.compared[0].here.value == 1
    assert verdict.compared[0].here.n == len(run.records)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("query_cache/ranking_gpt-4_5_cache.jsonl", line("i1", "Answer: A"))
    (tmp_path / "broken.zip").write_text("no zip")
    with zipfile.ZipFile(tmp_path / "damaged.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(cache_name(ROW), line("i1", "Answer: A"))
    whole = (tmp_path / "damaged.zip").read_bytes()
    start = 30 + len(cache_name(ROW))  # after the member's header
    (tmp_path / "damaged.zip").write_bytes(whole[:start] + b"\xff" * 20 + whole[start + 20 :])
    none = cache(tmp_path / "none.jsonl", line("x", "Answer: A"))
    number = cache(tmp_path / "number.jsonl", json.dumps({"query": "q", "response": 1, "instance_id": "i1"}))
    for path, why in (
        (tmp_path / "other.zip", "has no matching_gpt-4_5_cache.jsonl, the cache of matching-gpt-4-5-shot"),
        (tmp_path / "broken.zip", "cannot be read"),
        (tmp_path / "damaged.zip", "cannot be read"),
        (none, "a reply to none of the 1 items of matching-gpt-4-5-shot"),
        (number, "number.jsonl, line 1: must be an object with the texts instance_id, query, response"),
    ):
        with pytest.raises(BadInput, match=why):
            read_query_cache(ROW, path, ["i1"], letters=True)
    with pytest.raises(BadInput, match=r"those of GPT-3.5 and GPT-4"):
        read_query_cache(find_row("matching-t5-large"), tmp_path / "other.zip", ["i1"], letters=True)
