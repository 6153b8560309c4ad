"""Reasoning models and replies without end: stops, limits, thinking that is cut off, and what a score says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import GenerateConfig, get_model
from standins import commands
from standins.tiny import tiny_model

from humor_tasks import load
from humor_tasks.contract.answers import ENDED, LIMIT, THINKING
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.limits import bounded
from humor_tasks.results.read import read_results
from humor_tasks.results.result import Result
from humor_tasks.testing import ChatServer, text_of

TASKS = "mock_matching_gen,humicroedit_pairwise_gen,humicroedit_rating_gen,crowd_groups_gen"
THOUGHT = "<think>\nOne reading.\n\nAnother one.\n</think>\n\n"


class Stopping(ChatServer):
    """A server that stops at the request's stop sequences, as real ones do, and says where it was cut off."""

    def completion(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status, said = super().completion(body)
        (choice,) = said["choices"]
        text = choice["message"]["content"]
        ends = [text.find(stop) for stop in body.get("stop") or () if stop in text]
        words = text[: min(ends)] if ends else text
        choice["message"]["content"] = words[: body["max_tokens"]]  # here a token is a character
        choice["finish_reason"] = "length" if len(words) > body["max_tokens"] else "stop"
        return status, said


def answer(messages: list[dict[str, Any]]) -> str:
    return THOUGHT + ("Rating: 1" if "Rating:" in "".join(map(text_of, messages)) else "Answer: A")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in ("OPENAI", "SCRIPTED"):
        monkeypatch.setenv(f"{service}_API_KEY", "not a key")


def lm_eval(folder: Path, model: str, arguments: str, tasks: str, *more: str) -> list[Result]:
    command = ["--tasks", tasks, "--model", model, "--model_args", arguments, "--metadata", "dataset=sample"]
    command += ["--apply_chat_template", "--output_path", str(folder), "--log_samples", *more]
    commands.lm_eval(*command, cwd=folder)
    return list(read_results(sorted(folder.rglob("samples_*.jsonl"))).results)


def ended(result: Result) -> list[str]:
    return [str(outcome.facts.get(ENDED, "")) for outcome in result.outcomes]


# ---- lm-eval -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.lm_eval_versions
def test_thinking_in_paragraphs_is_read_in_lm_eval(tmp_path: Path) -> None:
    with Stopping(answer) as server:
        arguments = f"model=m,base_url={server.url}/chat/completions,tokenizer_backend=None"
        results = lm_eval(tmp_path, "local-chat-completions", arguments, TASKS, "--limit", "4")
    assert len(results) == 4
    for result in results:
        assert result.estimates["unparsed"].value == 0, result.benchmark.name
        assert "cut_off" not in result.estimates
        assert result.run.signature["generation"] == "max_tokens=4096"
    assert {(body["max_tokens"], *body["stop"]) for body in server.requests} == {(4096, "</s>", "<|im_end|>")}


@pytest.mark.slow
@pytest.mark.lm_eval_versions
def test_settings_of_thinking_and_cut_off_thinking_in_lm_eval(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    replies = [
        f"{THOUGHT}Answer: B",
        "<think>Perhaps it is B.\n\nAnswer: B, unless",
        "Answer: B",
        f"{THOUGHT}Answer: C",
    ]
    template = '{"max_gen_toks": 60, "chat_template_kwargs": {"enable_thinking": true}}'
    with Stopping(replies) as server:
        arguments = f"model=m,base_url={server.url}/chat/completions,tokenizer_backend=None,think_end_token=</think>"
        more = ("--limit", "4", "--gen_kwargs", template)
        (result,) = lm_eval(tmp_path, "local-chat-completions", arguments, "nyc_matching_gen", *more)
    assert [outcome.answer for outcome in result.outcomes] == ["B", None, "B", "C"]
    assert ended(result) == ["", THINKING, "", ""]
    assert result.estimates["cut_off"].value == 0.25
    assert "25.0% of the replies were cut off" in caplog.text
    assert {body["max_tokens"] for body in server.requests} == {60}
    assert all(body["chat_template_kwargs"] == {"enable_thinking": True} for body in server.requests)
    assert "max_gen_toks=60" in result.run.signature["generation"]


HYBRID = "{% if enable_thinking %}/think{% endif %}<|assistant|>"
BEGINS = "<|assistant|><think>\n{% if not enable_thinking %}</think>{% endif %}"


@pytest.fixture(scope="module")
def reasoners(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Models of random words, whose templates differ in where thinking begins."""
    made, run = {}, load("matching", dataset="sample")
    texts = [turn.text for r in run.records for turn in run.prompt(r).turns]
    for name, end in (("hybrid", HYBRID), ("begins", BEGINS)):
        folder = Path(tiny_model(tmp_path_factory.mktemp(name) / "m", texts))
        turns = "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}\n{% endfor %}"
        (folder / "chat_template.jinja").write_text(turns + end)
        made[name] = str(folder)
    return made


@pytest.mark.slow
@pytest.mark.lm_eval_versions
@pytest.mark.parametrize(
    ("template", "more", "prompt_ends", "cut"),
    [
        ("hybrid", {"enable_thinking": True, "think_end_token": "</think>"}, "/think<|assistant|>", ""),
        ("begins", {"enable_thinking": False}, "<think>\n</think>", ""),
        ("begins", {"chat_template_args": {"enable_thinking": True}}, "<think>\n", THINKING),
    ],
)
def test_hf_thinks_as_its_template_says(
    tmp_path: Path, reasoners: dict[str, str], template: str, more: dict[str, Any], prompt_ends: str, cut: str
) -> None:
    """Random words never end a thought: where one began in the prompt, they are not read."""
    arguments = json.dumps({"pretrained": reasoners[template]} | more)
    flags = ("--limit", "2", "--gen_kwargs", "max_gen_toks=6", "--device", "cpu")
    (result,) = lm_eval(tmp_path, "hf", arguments, "nyc_matching_gen", *flags)
    assert all(sample.prompt.endswith(prompt_ends) for sample in result.run)
    assert ended(result) == [cut, cut]
    assert result.run.signature["chat_template"] == "multiturn"


@pytest.mark.lm_eval_versions
def test_an_end_token_that_would_hide_cut_off_thinking_is_refused(tmp_path: Path, reasoners: dict[str, str]) -> None:
    given = {"pretrained": reasoners["begins"], "enable_thinking": True, "think_end_token": "</think>"}
    with pytest.raises(BadInput, match=r"begins thinking \(<think>\).*Leave think_end_token out"):
        lm_eval(tmp_path, "hf", json.dumps(given), "nyc_matching_gen", "--limit", "1", "--device", "cpu")


# ---- Inspect -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "settings", "expected"),
    [
        ("openai/gpt-4o", {}, 16384),
        ("openai/gpt-4-turbo", {}, 4096),  # its own limit
        ("openai-api/scripted/m", {}, 4096),
        ("openai-api/scripted/m", {"max_tokens": 7}, None),
        ("together/m", {}, 2048),  # Inspect's default for the provider
        ("baseline/random", {}, None),
        (None, {}, None),
    ],
)
def test_the_limit_of_a_reply_in_inspect(
    monkeypatch: pytest.MonkeyPatch, model: str | None, settings: dict[str, Any], expected: int | None
) -> None:
    monkeypatch.setenv("TOGETHER_API_KEY", "not a key")
    monkeypatch.setenv("SCRIPTED_BASE_URL", "http://127.0.0.1:9/v1")
    opened = get_model(model, config=GenerateConfig(**settings), memoize=False) if model else None
    assert bounded(GenerateConfig(), opened).max_tokens == expected
    assert bounded(GenerateConfig(max_tokens=1000), opened).max_tokens == 1000  # which a protocol prescribes


@pytest.mark.slow
@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(("flags", "limit"), [((), 4096), (("--max-tokens", "90"), 90)])
def test_replies_without_end_in_inspect(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    flags: tuple[str, ...],
    limit: int,
) -> None:
    endless = "So it is. " * 1000
    with Stopping([f"{THOUGHT}Answer: B", f"Answer: B\n\n{endless}", f"<think>{endless}"]) as server:
        monkeypatch.setenv("SCRIPTED_BASE_URL", server.url)
        command = ["eval", "humor_tasks/matching", "--model", "openai-api/scripted/m", "--log-dir", str(tmp_path)]
        command += ["-T", "dataset=sample", "--limit", "3", "--max-samples", "1", "--max-connections", "1", *flags]
        commands.inspect(*command, cwd=tmp_path)
    assert {body["max_tokens"] for body in server.requests} == {limit}
    (path,) = tmp_path.glob("*.eval")
    (result,) = read_results([path]).results
    assert result.run.signature["generation"] == f"max_tokens={limit}"
    assert sorted(ended(result)) == ["", LIMIT, THINKING]
    assert sorted(str(outcome.answer) for outcome in result.outcomes) == ["B", "B", "None"]
    scores = read_eval_log(str(path)).results
    assert scores
    assert scores.scores[0].metrics["cut_off"].value == pytest.approx(2 / 3)
    assert "66.7% of the replies were cut off" in caplog.text
