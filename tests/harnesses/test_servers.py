"""Both command lines against model servers on 127.0.0.1: a scripted one, and one nobody here wrote."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log
from standins import commands
from standins.corpus import make_hub_repo
from standins.tiny import tiny_model
from standins.waiting import LIMIT, wait_until

from humor_tasks import load
from humor_tasks.benchmarks.caption_contest.corpus import HUB
from humor_tasks.parameters import tables
from humor_tasks.rows.pins import DATASETS
from humor_tasks.testing import ChatServer, HubServer, text_of

pytestmark = pytest.mark.slow


def inspect_eval(folder: Path, task: str, model: str, *arguments: str) -> EvalLog:
    command = ["eval", task, "--model", model, "--log-dir", str(folder / "log"), "-T", "dataset=sample", *arguments]
    commands.inspect(*command, cwd=folder)
    (log,) = (folder / "log").glob("*.eval")
    return read_eval_log(str(log))


def lm_eval(folder: Path, tasks: str, model: str, model_args: str, *arguments: str) -> dict[str, Any]:
    command = ["--tasks", tasks, "--model", model, "--model_args", model_args, "--metadata", "dataset=sample"]
    commands.lm_eval(*command, "--output_path", str(folder), "--log_samples", *arguments, cwd=folder)
    (results,) = folder.rglob("results_*.json")
    return json.loads(results.read_text())["results"]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in ("OPENAI", "SCRIPTED", "TINY"):
        monkeypatch.setenv(f"{service}_API_KEY", "not a key")


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
def test_scripted_server_gets_the_same_questions_from_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = load("matching", dataset="sample").records
    targets = {load("matching", dataset="sample").prompt(r).turns[-1].text: r.target for r in records}

    def answer(messages: list[dict[str, Any]]) -> str:
        return f"Let me think.\n\n**Answer:** {targets.get(text_of(messages[-1]), 'of an unknown question')}"

    with ChatServer(answer) as server:
        monkeypatch.setenv("SCRIPTED_BASE_URL", server.url)
        log = inspect_eval(tmp_path, "humor_tasks/matching", "openai-api/scripted/a-model")
        assert log.results
        assert log.results.scores[0].metrics["accuracy"].value == 1
        first = sorted(json.dumps([text_of(m) for m in request["messages"]]) for request in server.requests)
        assert len(first) == len(records)
        server.requests.clear()
        arguments = f"model=a-model,base_url={server.url}/chat/completions,tokenizer_backend=None,num_concurrent=4"
        found = lm_eval(tmp_path, "nyc_matching_gen", "local-chat-completions", arguments, "--apply_chat_template")
        assert found["nyc_matching_gen"]["acc,none"] == 1
        second = sorted(json.dumps([text_of(m) for m in request["messages"]]) for request in server.requests)
    assert first == second


GENERATING = ["nyc_explanation_gen", "caption_writing", "mock_matching_gen"]


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize("task", GENERATING)
def test_lm_eval_samples_as_the_pages_say(task: str, tmp_path: Path) -> None:
    name = re.sub("^nyc_|_gen$", "", task)
    (said,) = re.findall("- Sampling: .*", tables(name))
    assert "lm-eval's tasks that generate send temperature 0" in said
    published = re.findall(r"`--gen_kwargs do_sample=True,(\S+)`", said)
    assert published
    for settings in ("temperature=0", *published):
        flags = ["--gen_kwargs", f"do_sample=True,{settings}"] if settings != "temperature=0" else []
        with ChatServer("Answer: A") as server:
            model = f"model=a-model,base_url={server.url}/chat/completions,tokenizer_backend=None"
            command = ["--tasks", task, "--model", "local-chat-completions", "--model_args", model, "--limit", "1"]
            command += ["--apply_chat_template", "--metadata", "dataset=sample", *flags]
            commands.lm_eval(*command, cwd=tmp_path)
        sent = {key: value for key, value in server.requests[0].items() if key in SETTINGS}
        assert sent == {key: float(value) for key, value in (each.split("=") for each in settings.split(","))}


SETTINGS = {"temperature", "top_p", "top_k", "repetition_penalty", "do_sample"}


def test_inspect_sends_no_temperature_as_the_pages_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all("Inspect sends no temperature" in tables(name) for name in ("ranking", "mock_matching", "humorbench"))
    with ChatServer("Answer: A") as server:
        monkeypatch.setenv("SCRIPTED_BASE_URL", server.url)
        inspect_eval(tmp_path, "humor_tasks/ranking", "openai-api/scripted/a-model", "--limit", "1")
    assert not SETTINGS & set(server.requests[0])


@pytest.mark.inspect_ai_versions
def test_pictures_arrive_at_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(lambda messages: "Answer: A") as server:
        monkeypatch.setenv("SCRIPTED_BASE_URL", server.url)
        more = ["-T", "setting=pixels", "--limit", "3"]
        inspect_eval(tmp_path, "humor_tasks/ranking", "openai-api/scripted/a-model", *more)
        parts = [part for request in server.requests for part in request["messages"][-1]["content"]]
    assert len(parts) == 6
    expected = {
        r.picture.data_uri() for r in load("ranking", dataset="sample", setting="pixels").records[:3] if r.picture
    }
    assert {part["image_url"]["url"] for part in parts if part["type"] == "image_url"} == expected


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    run = load("matching", dataset="sample")
    texts = [turn.text for record in run.records for turn in run.prompt(record).turns]
    return tiny_model(tmp_path_factory.mktemp("tiny"), texts)


@pytest.fixture(scope="module")
def served(tiny: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`transformers serve` with the tiny model: its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(Path(sys.executable).with_name("transformers")), "serve", tiny, "--device", "cpu"]
    output = tmp_path_factory.mktemp("serve") / "log"
    with output.open("w") as log:
        server = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            stdout=log,
            stderr=log,
            env=os.environ | {"HF_HUB_OFFLINE": "1"},
        )
    try:

        def answers() -> bool:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=LIMIT).close()
            except OSError:
                assert server.poll() is None, output.read_text()
                return False
            return True

        wait_until(answers)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(LIMIT)


@pytest.mark.inspect_ai_versions
def test_transformers_serve_in_inspect(tmp_path: Path, tiny: str, served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINY_BASE_URL", served)
    few = ["--limit", "4", "--max-tokens", "12"]
    log = inspect_eval(tmp_path, "humor_tasks/matching", f"openai-api/tiny/{tiny}", *few)
    assert log.results
    assert log.results.scores[0].metrics["unparsed"].value > 0.5  # random weights say nothing readable
    assert all(sample.output.completion for sample in log.samples or [])


@pytest.mark.lm_eval_versions
def test_transformers_serve_in_lm_eval(tmp_path: Path, tiny: str, served: str) -> None:
    arguments = f"model={tiny},base_url={served}/chat/completions,tokenizer_backend=None,max_retries=1"
    flags = ["--apply_chat_template", "--limit", "4", "--gen_kwargs", "max_gen_toks=12"]
    found = lm_eval(tmp_path, "nyc_matching_gen", "local-chat-completions", arguments, *flags)
    assert found["nyc_matching_gen"]["unparsed,none"] > 0.5


@pytest.mark.inspect_ai_versions
def test_hf_model_folder_in_inspect(tmp_path: Path, tiny: str) -> None:
    log = inspect_eval(tmp_path, "humor_tasks/ranking", f"hf/{tiny}", "--limit", "3", "--max-tokens", "12")
    assert log.status == "success"


@pytest.mark.lm_eval_versions
def test_hf_model_folder_in_lm_eval(tmp_path: Path, tiny: str) -> None:
    flags = ["--device", "cpu", "--limit", "4", "--apply_chat_template", "--num_fewshot", "1"]
    found = lm_eval(tmp_path, "nyc_matching,nyc_ranking_caption_only", "hf", f"pretrained={tiny}", *flags)
    assert found["nyc_matching"]["unparsed,none"] == 0
    assert 0 <= found["nyc_ranking_caption_only"]["acc,none"] <= 1


def test_the_default_dataset_comes_from_the_hub(tmp_path: Path) -> None:
    """In a process of its own, because the hub's client reads where the hub is when it is imported."""
    repository = make_hub_repo(tmp_path / "repository")
    code = "import humor_tasks; print(humor_tasks.load('matching').signature('generate'))"
    with HubServer() as hub:
        commit = hub.add(HUB, repository, commit=DATASETS[HUB])
        env = os.environ | {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": hub.endpoint}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=env)
        fetched = sum(hub.served().values())
    assert f"|data:{HUB}|rev:{commit}|" in done.stdout, done.stderr
    held = sum(path.stat().st_size for path in (repository / "matching").glob("*.parquet"))
    assert fetched < held / 10, f"{fetched} bytes fetched of {held}"
