"""Servers that answer in parts, or with no text at all: every kind of reply is read, and the results are saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from standins import commands

from humor_tasks.logs import read_run
from humor_tasks.testing import ChatServer, ScriptedLM, run_lm_eval

THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see. Answer: B"}]}
NOTHING: list[Any] = [{"type": "text", "text": "x"}, 5, [], None, [THINKING], True]


class PartsLM(ScriptedLM):
    """Gives its replies as they are, in turn, and a log-likelihood of -1."""

    def __init__(self, *replies: Any) -> None:
        super().__init__(likelihood=lambda prompt, continuation: -1.0)
        self.replies = replies

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> Any:
        self.asked += requests
        return [self.replies[i % len(self.replies)] for i in range(len(requests))]


KINDS = {
    "nyc_matching_gen": "Answer: A",
    "nyc_explanation_gen": "It is a pun.",
    "humicroedit_rating_gen": "Rating: 2",
    "humorbench": "<explanation>It is a pun.</explanation>",
    "humorbench_autograder": "<reasoning>Yes.</reasoning>\n<judgement>PASS</judgement>",
    "caption_writing": "\n".join(f"{i}. Caption {i} of ten." for i in range(1, 11)),
}


@pytest.mark.parametrize("task", KINDS)
def test_texts_among_parts_are_read(task: str, tmp_path: Path) -> None:
    parts = [THINKING, {"type": "text", "text": KINDS[task]}]
    found = run_lm_eval(PartsLM(parts), task, metadata={"dataset": "sample"}, output=tmp_path, limit=2)
    plain = run_lm_eval(PartsLM(KINDS[task]), task, metadata={"dataset": "sample"}, limit=2)
    assert found["results"][task]["unparsed,none"] == 0
    assert found["results"][task] == pytest.approx(plain["results"][task], nan_ok=True)
    (path,) = tmp_path.rglob("samples_*.jsonl")
    assert {sample.reply for sample in read_run(path).samples} == {KINDS[task]}


@pytest.mark.parametrize("task", KINDS)
def test_what_has_no_text_is_unparsed(task: str, tmp_path: Path) -> None:
    found = run_lm_eval(PartsLM(*NOTHING), task, metadata={"dataset": "sample"}, output=tmp_path, limit=len(NOTHING))
    assert found["results"][task]["unparsed,none"] == 1
    (path,) = tmp_path.rglob("samples_*.jsonl")
    assert {sample.reply for sample in read_run(path).samples} == {""}


def test_log_likelihoods_stay_as_they_are(tmp_path: Path) -> None:
    run_lm_eval(PartsLM(), "nyc_matching", metadata={"dataset": "sample"}, output=tmp_path, limit=1)
    (path,) = tmp_path.rglob("samples_*.jsonl")
    (sample,) = read_run(path).samples
    assert sample.reply is None


def test_logs_with_parts_are_read(tmp_path: Path) -> None:
    run_lm_eval(PartsLM("Answer: A"), "nyc_matching_gen", metadata={"dataset": "sample"}, output=tmp_path, limit=1)
    (path,) = tmp_path.rglob("samples_*.jsonl")
    line = json.loads(path.read_text())
    for kept in ([[THINKING, {"type": "text", "text": "Answer: C"}]], [[[{"type": "text", "text": "Answer: C"}]]]):
        path.write_text(json.dumps(line | {"filtered_resps": kept}) + "\n")
        assert [sample.reply for sample in read_run(path).samples] == ["Answer: C"]


@pytest.mark.slow
@pytest.mark.lm_eval_versions
def test_a_server_that_answers_in_parts(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "answer", "arguments": '{"answer": "A"}'}}
    messages: list[dict[str, Any]] = [
        {"content": [THINKING, {"type": "text", "text": "Answer: A"}]},
        {"content": None, "tool_calls": [call]},
        {"content": None, "reasoning_content": "Answer: B"},
        {"content": 5},
    ]
    with ChatServer([{"message": {"role": "assistant", **message}} for message in messages]) as server:
        model = f"model=m,base_url={server.url}/chat/completions,tokenizer_backend=None"
        command = ["--tasks", "nyc_matching_gen", "--model", "local-chat-completions", "--model_args", model]
        command += ["--metadata", "dataset=sample", "--apply_chat_template", "--limit", "4", "--log_samples"]
        commands.lm_eval(*command, "--output_path", str(tmp_path), cwd=tmp_path)
    (path,) = tmp_path.rglob("results_*.json")
    assert json.loads(path.read_text())["results"]["nyc_matching_gen"]["unparsed,none"] == 0.75
