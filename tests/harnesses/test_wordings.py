"""`prompts=all` and `order=rotated` in both harnesses: what a model's answers depend on is told apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from standins import commands, logs

from humor_tasks.api import load
from humor_tasks.benchmarks.askings import asking_of
from humor_tasks.data.records import Record
from humor_tasks.testing import ChatServer, text_of

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
        {"accuracy": 0.2, "spread": 0, "right_under_all": 0.2, "same_answer": 1, "order_effect": 1, "right_in_all": 0}
        | {"letter_share_A": 1, "letter_share_B": 0},
    ),
    "both": (
        lambda record, letter, k: letter in "AB" or "A",
        {"accuracy": 0.52, "spread": 0.8, "order_effect": 0.6, "right_under_all": 0.2, "right_in_all": 0.4},
    ),
    "nothing": (
        lambda record, letter, k: int(record.cluster) % 2 == 0,
        {"spread": 0, "order_effect": 0, "same_answer": 1},
    ),
}


@pytest.fixture(scope="module")
def run() -> Any:
    return load("matching", **SETTINGS, cot=False)


@pytest.fixture
def server(request: pytest.FixtureRequest, run: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A chat server that recognises an asking by its prompt and answers by the rule of this name."""
    rule = RULES[request.param][0]
    known = {"\n".join(turn.text for turn in run.prompt(record).turns): record for record in run.records}
    assert len(known) == len(run.records)

    def answer(messages: list[dict[str, Any]]) -> str:
        record = known["\n".join(text_of(message) for message in messages)]
        said = rule(record, *asking_of(record)[1:])
        if isinstance(said, bool):
            said = str(record.target) if said else "ABCDE"[("ABCDE".index(str(record.target)) + 1) % 5]
        return f"Answer: {said}"

    with ChatServer(answer) as started:
        monkeypatch.setenv("MINE_API_KEY", "none")
        monkeypatch.setenv("MINE_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield started


def check(metrics: Mapping[str, float], name: str) -> None:
    for metric, value in RULES[name][1].items():
        assert metrics[metric] == pytest.approx(value, abs=1e-9), metric


@pytest.mark.parametrize(("server", "name"), [(name, name) for name in RULES], indirect=["server"])
def test_inspect_tells_what_answers_depend_on(server: ChatServer, name: str, tmp_path: Path) -> None:
    options = [f"-T{option}={value}" for option, value in {**SETTINGS, "cot": "false"}.items()]
    model = ["--model=openai-api/mine/m", "--log-dir=logs", "--display=none"]
    commands.inspect("eval", "humor_tasks/matching", *options, *model, cwd=tmp_path)
    [path] = (tmp_path / "logs").glob("*.eval")
    check(logs.metrics(read_eval_log(str(path))), name)
    assert len(server.requests) == 250


@pytest.mark.parametrize(("server", "name"), [("both", "both")], indirect=["server"])
def test_lm_eval_tells_what_answers_depend_on(server: ChatServer, name: str, tmp_path: Path) -> None:
    model = f"model=m,base_url={server.url}/chat/completions,num_concurrent=8"
    command = ["--tasks", "nyc_matching_wordings_gen", "--model", "local-chat-completions", "--model_args", model]
    command += ["--apply_chat_template", "--fewshot_as_multiturn", "true", "--output_path", "out"]
    settings = json.dumps({"dataset": "sample", "order": "rotated", "cot": False})
    commands.lm_eval(*command, "--metadata", settings, cwd=tmp_path)
    found = logs.lm_eval_results(tmp_path)["results"]["nyc_matching_wordings_gen"]
    named = {key.split(",")[0]: value for key, value in found.items()}
    check(named | {"accuracy": named["acc"]}, name)
