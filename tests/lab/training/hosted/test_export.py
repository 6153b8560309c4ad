"""`humor-tasks export finetune`: files in the provider's format, within its limits, with their tokens and cost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
import tiktoken
import tiktoken.load
from hypothesis import given
from hypothesis import strategies as st
from standins import commands
from standins.corpus import matching_row, write_card, write_lines

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.hosted.export import check_apart, checked
from humor_tasks.lab.training.hosted.limits import (
    PACKAGED,
    Counter,
    TrainedModel,
    default_epochs,
    open_counter,
    read_limits,
)
from humor_tasks.rows.trained_on import RECORD, trainings

BYTES = tiktoken.Encoding(
    "bytes", pat_str=r"(?s).", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={"<|end|>": 256}
)
"""A vocabulary in which each byte is a token."""
LIMITS = read_limits()
MODEL = TrainedModel("m", 60, "bytes", 5.0, "today", "here")
SAMPLE = ("--task", "matching", "--dataset", "sample")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """tiktoken finds no vocabulary and cannot download one."""

    def refuse(path: str) -> bytes:
        raise requests.ConnectionError(path)

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "vocabularies"))
    monkeypatch.setattr(tiktoken.load, "read_file", refuse)
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})


def export(output: Path, *options: str | Path) -> str:
    return commands.humor_tasks("export", "finetune", *SAMPLE, "-o", output, *options)


def refused(*options: str | Path) -> str:
    return commands.refused("export", "finetune", *options)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


# ---- files --------------------------------------------------------------------------------------


def test_rows_are_the_benchmarks_prompts_with_the_answer_last(tmp_path: Path) -> None:
    export(tmp_path / "out")
    for split, count in (("train", 30), ("validation", 10)):
        run = load("matching", dataset="sample", split=split, cot=False)
        found = rows(tmp_path / "out" / f"{split}.jsonl")
        assert len(found) == len(run.records) == count
        for row, record in zip(found, run.records, strict=True):
            *prompt, answer = row["messages"]
            assert answer == {"role": "assistant", "content": f"Answer: {record.target}"}
            assert [(m["role"], m["content"]) for m in prompt] == [(t.role, t.text) for t in run.prompt(record).turns]
            assert [m.get("weight") for m in prompt] == [0 if m["role"] == "assistant" else None for m in prompt]


def test_joined_is_train_then_validation(tmp_path: Path) -> None:
    export(tmp_path / "two")
    export(tmp_path / "one", "--joined")
    parts = [(tmp_path / "two" / f"{split}.jsonl").read_bytes() for split in ("train", "validation")]
    assert (tmp_path / "one" / "joined.jsonl").read_bytes() == b"".join(parts)
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["finetune.json", "joined.jsonl", RECORD]
    (training,) = trainings(tmp_path / "one") or ()
    assert (training["task"], training["fold"]) == ("matching", "0")
    assert {split: len(units) for split, units in training["units"].items()} == {"train": 15, "validation": 5}


@pytest.mark.slow
def test_an_export_is_repeated_byte_for_byte_and_never_over_another(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    (out / "train.jsonl").write_bytes(b"damaged")
    export(out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert "holds another export (parts=" in refused(*SAMPLE, "-o", out, "--joined")
    assert "holds another export (parameters=" in refused(*SAMPLE, "-o", out, "--setting", "caption_only")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    assert "is not empty and holds no export" in refused(*SAMPLE, "-o", tmp_path / "full")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_submitted_files_are_not_replaced_by_other_rows(tmp_path: Path) -> None:
    home, out = tmp_path / "rows", tmp_path / "out"

    def corpus(number: int) -> None:
        for split, start in (("train", 0), ("validation", 100)):
            made = [matching_row(start + i, split) for i in range(number)]
            write_lines(home / "matching" / f"{split}.jsonl", made)
        write_card(home, {"matching": {split: f"matching/{split}.jsonl" for split in ("train", "validation")}})

    options = ("--task", "matching", "--dataset", home, "-o", out)
    for number in (10, 11):
        corpus(number)
        commands.humor_tasks("export", "finetune", *options)
        assert len(rows(out / "train.jsonl")) == number
    (out / "submission.json").write_text("{}")
    corpus(12)
    assert "were submitted; choose another folder" in refused(*options)
    assert len(rows(out / "train.jsonl")) == 11


@pytest.mark.slow
def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "9 rows; OpenAI needs at least 10" in refused(
        *("--task", "mock_matching", "--dataset", "sample", "-T", "input=description", "-o", out)
    )
    assert "Use --setting description or caption_only" in refused(*SAMPLE, "--setting", "pixels", "-o", out)
    assert "the limits of 'gpt-9' are not known" in refused(*SAMPLE, "--model", "gpt-9", "-o", out)
    assert "Did you mean 'gpt-4.1-mini-2025-04-14'?" in refused(*SAMPLE, "--model", "gpt-4.1-mini", "-o", out)
    assert "--submit: name the model" in refused(*SAMPLE, "--submit", "-o", out)
    assert "--seed is for --submit." in refused(*SAMPLE, "--seed", "1", "-o", out)
    assert "--suffix has 65 characters" in refused(*SAMPLE, "--suffix", "x" * 65, "-o", out)
    assert "there is no such file" in refused(*SAMPLE, "--limits", tmp_path / "none.toml", "-o", out)
    assert not out.exists()


# ---- limits -------------------------------------------------------------------------------------


def line(*messages: Any) -> str:
    return json.dumps({"messages": messages})


USER, REPLY = {"role": "user", "content": "?"}, {"role": "assistant", "content": "Answer: A"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("[]", "has no list of messages"),
        ('{"messages": []}', "has no list of messages"),
        ('{"messages": ["x"]}', "has no list of messages"),
        (line(USER), "does not end with an assistant's message"),
        (line(USER, REPLY | {"weight": 0}), "does not end with an assistant's message to learn"),
        (line(USER | {"role": "tool"}, REPLY), "message 1: role is 'tool'; it must be one of system, user, assistant"),
        (line({"content": "?"}, REPLY), "message 1: role is None"),
        (line(USER | {"content": " "}, REPLY), "message 1: content is empty"),
        (line(USER, REPLY | {"content": ["A"]}), "message 2: content is ['A']"),
        (line(USER | {"weight": 0}, REPLY), "message 1: weight is 0 of user"),
        (line(REPLY | {"weight": 0.5}, REPLY), "message 1: weight is 0.5"),
        (line(USER | {"name": "n"}, REPLY), "message 1: has the key 'name'"),
        (line(USER | {"content": "\ud83d"}, REPLY), "has half of a surrogate pair"),
        (line(USER | {"content": "x" * 30}, REPLY), "has 61 tokens, and an example has at most 60"),
    ],
)
def test_each_violation_names_row_and_remedy(text: str, told: str) -> None:
    lines = [line(USER, REPLY)] * 10 + [text]
    with pytest.raises(BadInput) as problem:
        checked("train", lines, [f"r{i}" for i in range(11)], LIMITS, [MODEL], Counter("bytes", BYTES))
    assert f"train.jsonl: row 11 (r10): {told}" in str(problem.value)
    assert str(problem.value).endswith("Nothing was written.")


def test_what_is_within_the_limits_passes_with_its_sums() -> None:
    lines = [line(REPLY | {"weight": 0}, USER | {"content": "é<|end|>"}, REPLY)] * 10
    model = TrainedModel("m", 1000, "bytes", 5.0, "today", "here")
    file = checked("train", lines, ["r"] * 10, LIMITS, [model], Counter("bytes", BYTES))
    # 3 for the example; for each message 3, its role and its text: é has two bytes, and what looks special is text
    assert file.tokens == 10 * (3 + (3 + 9 + 9) + (3 + 4 + 9) + (3 + 9 + 9))
    assert (file.rows, file.data) == (10, "".join(f"{each}\n" for each in lines).encode())


def test_many_violations_are_counted_and_files_are_bounded() -> None:
    with pytest.raises(BadInput, match=r"row 5 \(r\): is not JSON .* And 6 more\."):
        checked("train", ["{"] * 11, ["r"] * 11, LIMITS, [MODEL], Counter("bytes", BYTES))
    with pytest.raises(BadInput, match="9 rows; OpenAI needs at least 10"):
        checked("joined", [line(USER, REPLY)] * 9, ["r"] * 9, LIMITS, [MODEL], Counter("bytes", BYTES))
    assert checked("validation", [line(USER, REPLY)], ["r"], LIMITS, [MODEL], Counter("bytes", BYTES)).rows == 1
    small = replace(LIMITS, most_bytes=100)
    with pytest.raises(BadInput, match=r"[0-9,]+ bytes; OpenAI takes at most 100"):
        checked("train", [line(USER, REPLY)] * 10, ["r"] * 10, small, [MODEL], Counter("bytes", BYTES))


def test_the_same_row_in_train_and_validation_is_refused() -> None:
    with pytest.raises(BadInput, match=r"validation\.jsonl, row v2: train\.jsonl has the same row"):
        check_apart(["a", "b"], ["c", "b"], ["v1", "v2"])
    check_apart(["a", "b"], ["c"], ["v1"])


def test_the_packaged_limits_name_their_sources_and_dates() -> None:
    assert (LIMITS.least_rows, LIMITS.most_bytes, LIMITS.most_suffix) == (10, 512_000_000, 64)
    assert LIMITS.roles == ("system", "user", "assistant")
    text = PACKAGED.read_text(encoding="utf-8")
    entries = [each for each in text.splitlines() if each.startswith(('"', "least", "most", "roles"))]
    assert len(entries) == 8
    assert all("https://" in each and 'as_of = "20' in each for each in entries)
    assert LIMITS.model("ft:gpt-4.1-2025-04-14:org::id") is LIMITS.models["gpt-4.1-2025-04-14"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("value = 10,", "value = 0,", "least_rows: value is 0; it must be a whole number above 0"),
        ("value = 10,", "value = true,", "least_rows: value is True"),
        ("training = 25.0", "training = -1", "gpt-4.1-2025-04-14: training is -1"),
        ("training = 25.0", "training = nan", "gpt-4.1-2025-04-14: training is nan"),
        ("context = 65_536", "context = 1.5", "context is 1.5"),
        ('encoding = "o200k_base"', "encoding = 1", "encoding is 1"),
        ('["system", "user", "assistant"]', '"all"', "roles: value is 'all'"),
        ("[models]", "[other]", "models must be a table"),
        ('currency = "USD"', 'currency = "EUR"', "currency is 'EUR'; it must be USD"),
        ("[file]", "[file", "cannot be read"),
    ],
)
def test_a_table_of_limits_that_cannot_be_used_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(PACKAGED.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadInput) as problem:
        read_limits(path)
    assert told in str(problem.value)


# ---- tokens and cost ----------------------------------------------------------------------------


def test_without_a_vocabulary_tokens_are_an_estimate_and_said_to_be(tmp_path: Path) -> None:
    said = export(tmp_path / "out", "--model", "gpt-4.1-mini-2025-04-14", "--n-epochs", "2")
    texts = [m["role"] + "\n" + m["content"] for row in rows(tmp_path / "out" / "train.jsonl") for m in row["messages"]]
    tokens = sum(3 + sum(-(-len(part) // 4) for part in text.split("\n", 1)) for text in texts) + 3 * 30
    assert f"train.jsonl: 30 rows, {tokens:,} tokens." in said
    assert "Tokens are estimated at 4 characters each, not counted: tiktoken cannot load o200k_base" in said
    assert f"gpt-4.1-mini-2025-04-14: about ${tokens * 2 * 5 / 1e6:.2f} ($5 per million tokens" in said
    made = json.loads((tmp_path / "out" / "finetune.json").read_text())
    assert made["tokens"] == "estimated: 4 characters a token"
    assert made["files"]["train.jsonl"]["tokens"] == tokens


def test_with_a_vocabulary_tokens_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiktoken, "get_encoding", {"o200k_base": BYTES}.__getitem__)
    said = export(tmp_path / "out")
    train = rows(tmp_path / "out" / "train.jsonl")
    size = [len(f"{m['role']}{m['content']}".encode()) for row in train for m in row["messages"]]
    assert f"train.jsonl: 30 rows, {sum(size) + 3 * len(size) + 3 * 30:,} tokens." in said
    assert "estimated at" not in said
    assert "in 3 epochs, the provider's documented choice" in said
    assert len([each for each in said.splitlines() if "per million tokens" in each]) == len(LIMITS.models)
    assert json.loads((tmp_path / "out" / "finetune.json").read_text())["tokens"] == "counted with o200k_base"


def test_prices_and_limits_are_replaced_by_the_users_table(tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    mine = (
        PACKAGED.read_text(encoding="utf-8")
        .replace("gpt-4.1-2025-04-14", "mine")
        .replace("training = 25.0", "training = 1000")
    )
    table.write_text(mine, encoding="utf-8")
    assert "mine: about $" in export(tmp_path / "out", "--limits", table, "--model", "mine")
    table.write_text(mine.replace("context = 65_536", "context = 800", 1), encoding="utf-8")
    told = refused(*SAMPLE, "--limits", table, "--model", "mine", "-o", tmp_path / "long")
    assert "may have up to" in told
    assert "the provider cuts its end, where the answer is" in told
    assert "Or run where tiktoken can load o200k_base" in told
    assert not (tmp_path / "long").exists()


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_the_bound_of_an_estimate_is_never_below_the_count(texts: list[str]) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    assert Counter("bytes").most(messages) >= Counter("bytes", BYTES).count(messages)


def test_an_unknown_vocabulary_is_estimated_too() -> None:
    counter = open_counter("nobody's")
    assert (counter.exact, counter.problem) == (False, "ValueError")


@pytest.mark.parametrize(
    ("number", "epochs"),
    [(10, 10), (3, 25), (33, 3), (34, 3), (100, 3), (8333, 3), (9576, 2), (25_000, 1), (90_000, 1)],
)
def test_the_providers_choice_of_epochs(number: int, epochs: int) -> None:
    assert default_epochs(number) == epochs


@pytest.mark.slow
def test_real_rows_are_exported_whole(tmp_path: Path, real_corpus: str) -> None:
    said = commands.humor_tasks(
        *("export", "finetune", "--task", "ranking", "--dataset", real_corpus, "--joined", "-o", tmp_path / "out")
    )
    assert "joined.jsonl: 10,083 rows" in said
    assert "in 2 epochs" in said
