"""`prompts=all` and `order=rotated` in both harnesses: what a model's answers depend on is told apart."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.log import read_eval_log
from standins import commands, logs

from humor_tasks.api import load
from humor_tasks.contract.definition import Run
from humor_tasks.contract.variations import variation_of
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.rows.records import Record
from humor_tasks.testing import ChatServer, ScriptedLM, run_lm_eval, text_of

SETTINGS = {"dataset": "sample", "prompts": "all", "order": "rotated"}
Rule = Callable[[Record, str, int], bool | str]
"""The item, the prompt set and the rotation -> whether the answer is right, or a letter."""

RULES: dict[str, tuple[Rule, dict[str, float]]] = {
    "wording": (
        lambda record, letter, k: letter in "ABC",
        {"accuracy": 0.6, "spread": 1, "right_under_all": 0, "order_effect": 0, "right_in_all": 0.6},
    ),
    "order": (
        lambda record, letter, k: "A",
        {"accuracy": 0.5, "spread": 0, "right_under_all": 0.5, "same_answer": 1, "order_effect": 1, "right_in_all": 0}
        | {"letter_share_A": 1, "letter_share_B": 0},
    ),
    "both": (
        lambda record, letter, k: letter in "AB" or "A",
        {"accuracy": 0.7, "spread": 0.5, "order_effect": 0.6, "right_under_all": 0.5, "right_in_all": 0.4},
    ),
    "nothing": (
        lambda record, letter, k: int(record.cluster) % 2 == 0,
        {"spread": 0, "order_effect": 0},
    ),
}


@pytest.fixture(scope="module")
def run() -> Run:
    return load("ranking", **SETTINGS, cot=False)


@contextmanager
def serving(run: Run, answer: Callable[[Record], str]) -> Iterator[ChatServer]:
    """A chat server that recognises an asking by its prompt."""
    known = {"\n".join(turn.text for turn in run.prompt(record).turns): record for record in run.records}
    assert len(known) == len(run.records)
    environment = {"MINE_API_KEY": "none", "OPENAI_API_KEY": "none"}
    server = ChatServer(lambda messages: answer(known["\n".join(map(text_of, messages))]))
    with server as started, patch.dict(os.environ, {**environment, "MINE_BASE_URL": server.url}):
        yield started


def answer(name: str, record: Record) -> str:
    """The reply by the rule of this name."""
    said = RULES[name][0](record, *variation_of(record)[1:])
    if isinstance(said, bool):
        said = str(record.target) if said else {"A": "B", "B": "A"}[str(record.target)]
    return f"Answer: {said}"


@pytest.fixture
def server(run: Run) -> Iterator[ChatServer]:
    """A server whose answers depend on both."""
    with serving(run, functools.partial(answer, "both")) as started:
        yield started


def check(metrics: Mapping[str, float], name: str) -> None:
    for metric, value in RULES[name][1].items():
        assert metrics[metric] == pytest.approx(value, abs=1e-9), metric


@pytest.mark.parametrize("name", RULES)
def test_what_answers_depend_on_is_told_apart(run: Run, name: str) -> None:
    metrics = run.metrics([run.outcome(record, answer(name, record)) for record in run.records])
    check({metric: estimate.value for metric, estimate in metrics.items()}, name)


def test_inspect_tells_what_answers_depend_on(server: ChatServer, tmp_path: Path) -> None:
    options = [f"-T{option}={value}" for option, value in {**SETTINGS, "cot": "false"}.items()]
    model = ["--model=openai-api/mine/m", "--log-dir=logs", "--display=none"]
    commands.inspect("eval", "humor_tasks/ranking", *options, *model, cwd=tmp_path)
    [path] = (tmp_path / "logs").glob("*.eval")
    check(logs.metrics(read_eval_log(str(path))), "both")
    assert len(server.requests) == 100


def test_lm_eval_tells_what_answers_depend_on(server: ChatServer, tmp_path: Path) -> None:
    model = f"model=m,base_url={server.url}/chat/completions,num_concurrent=8"
    command = ["--tasks", "nyc_ranking_wordings_gen", "--model", "local-chat-completions", "--model_args", model]
    command += ["--apply_chat_template", "--fewshot_as_multiturn", "true", "--output_path", "out"]
    settings = json.dumps({"dataset": "sample", "order": "rotated", "cot": False})
    commands.lm_eval(*command, "--metadata", settings, cwd=tmp_path)
    found = logs.lm_eval_results(tmp_path)["results"]["nyc_ranking_wordings_gen"]
    named = {key.split(",")[0]: value for key, value in found.items()}
    check(named | {"accuracy": named["acc"]}, "both")


def test_lm_eval_compares_likelihoods_under_every_set() -> None:
    model = ScriptedLM(lambda prompt, doc: f"Answer: {doc['target']}" if doc["id"].endswith("@C") else "Answer: A")
    found = run_lm_eval(model, "nyc_matching_wordings", metadata={"dataset": "sample"})["results"]
    metrics = {key.split(",")[0]: value for key, value in found["nyc_matching_wordings"].items()}
    assert metrics["acc_set_C"] == 1
    assert metrics["acc_set_A"] == metrics["acc_set_E"]
    assert metrics["spread"] == pytest.approx(1 - metrics["acc_set_A"])
    assert metrics["spread_stderr"] > 0
    assert metrics["right_under_all"] == metrics["acc_set_A"]
    assert len(model.asked) == 10 * 5 * 5


@pytest.mark.parametrize("rows", [{"limit": 7}, {"samples": {"nyc_matching_wordings": [0, 1, 2, 3, 5]}}])
def test_lm_eval_refuses_to_leave_out_askings_of_an_item(rows: dict[str, Any]) -> None:
    model = ScriptedLM("Answer: A")
    with pytest.raises(BadInput, match=r"each item is asked 5 times.*a multiple of 5"):
        run_lm_eval(model, "nyc_matching_wordings", metadata={"dataset": "sample"}, **rows)
    assert not model.asked
    whole = {"limit": 10} if "limit" in rows else {"samples": {"nyc_matching_wordings": [*range(5, 15)]}}
    assert run_lm_eval(model, "nyc_matching_wordings", metadata={"dataset": "sample"}, **whole)["results"]


def test_inspect_counts_items_whose_askings_ended_with_an_error(tmp_path: Path) -> None:
    """A run that is resumed has whole items again; until then an item without all of its askings does not count."""
    settings = {"dataset": "sample", "prompts": "all", "cot": False}
    run = load("matching", **settings)
    down = {run.records[3].id}

    def fails(record: Record) -> str:
        if record.id in down:
            raise RuntimeError("the server is down")
        return "Answer: A"

    with serving(run, fails):
        how = {"model": "openai-api/mine/m", "log_dir": str(tmp_path), "max_retries": 0, "limit": 10}  # two items
        [log] = eval("humor_tasks/matching", task_args=settings, fail_on_error=False, display="log", **how)
        cut = logs.metrics(log)
        assert cut["incomplete"] == pytest.approx(0.5)
        assert cut["right_under_all"] == cut["accuracy"]
        down.clear()
        [log] = eval_retry(log, display="log")
    assert "incomplete" not in logs.metrics(log)
    assert log.results is not None
    assert log.results.completed_samples == 10


def test_inspect_says_how_many_requests_there_are_before_the_first(caplog: pytest.LogCaptureFixture) -> None:
    build("matching", {**SETTINGS, "cot": False})
    assert "10 items, each asked 25 times (5 prompt sets x 5 orders): 250 requests" in caplog.text
    caplog.clear()
    build("matching", {"dataset": "sample"})
    assert "requests" not in caplog.text
