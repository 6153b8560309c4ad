"""A run killed at half: what was graded is not graded, or paid for, again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from humor_tasks import load
from humor_tasks.testing import ChatServer, text_of


class Grader:
    """Answers until `limit` verdicts are given; then it holds every request until its client is dead."""

    def __init__(self, limit: int) -> None:
        self.limit: int | None = limit
        self.graded: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.client_died = threading.Event()

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        asked = text_of(messages[-1])
        with self.lock:
            held = self.limit is not None and self.graded.total() >= self.limit
            if not held:
                self.graded[asked] += 1
        if held:
            self.client_died.wait(120)
            raise ConnectionAbortedError("the client is dead: nothing was graded")
        return f"<reasoning>It does.</reasoning>\n<judgement>{'PASS' if len(asked) % 3 else 'FAIL'}</judgement>"

    def revive(self) -> None:
        self.client_died.set()
        self.limit = None


def environment(tmp_path: Path, explainer: str, grader: str) -> dict[str, str]:
    own = {"INSPECT_CACHE_DIR": tmp_path / "cache", "INSPECT_LOG_DIR": tmp_path / "logs", "INSPECT_DISPLAY": "plain"}
    own |= {"EXPLAINER_BASE_URL": explainer, "EXPLAINER_API_KEY": "x", "GRADER_BASE_URL": grader, "GRADER_API_KEY": "x"}
    return os.environ | {name: str(value) for name, value in own.items()}


def killed_at_half(command: list[str], grader: Grader, env: dict[str, str]) -> None:
    """Run until the grader holds its requests and nothing moves any more, then kill without warning."""
    process = subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 300
    while grader.graded.total() < (grader.limit or 0):
        assert process.poll() is None, "ended by itself"
        assert time.monotonic() < deadline, "never came to half"
        time.sleep(0.2)
    time.sleep(2)  # the last answers are stored
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    grader.revive()


def once(command: list[str], env: dict[str, str]) -> str:
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("resume", ["eval-retry", "the same command"])
def test_every_row_is_graded_once(real_data: Path, tmp_path: Path, resume: str) -> None:
    dataset = str(real_data / "humorbench" / "comprehensive_annotations.csv")
    keys = [record.id for record in load("humorbench", dataset=dataset).records]
    explain: Callable[[list[dict[str, Any]]], str] = lambda m: f"<explanation>{text_of(m[-1])[-60:]}</explanation>"  # noqa: E731
    grader = Grader(250)
    with ChatServer(explain) as explainer, ChatServer(grader) as judge:
        env = environment(tmp_path, explainer.url, judge.url)
        inspect = [sys.executable, "-m", "inspect_ai"]
        command = [*inspect, "eval", "humor_tasks/humorbench", "-T", f"dataset={dataset}", "--max-connections", "8"]
        command += ["--model", "openai-api/explainer/m", "--model-role", "grader=openai-api/grader/g"]
        killed_at_half(command, grader, env)
        assert grader.graded.total() == 250
        (log,) = (tmp_path / "logs").glob("*.eval")
        once([*inspect, "eval-retry", str(log)] if resume == "eval-retry" else command, env)
    finished = [read_eval_log(str(path)) for path in (tmp_path / "logs").glob("*.eval") if path != log]
    (whole,) = [found for found in finished if found.status == "success"]
    assert sorted(str(sample.id) for sample in whole.samples or []) == sorted(keys)
    assert len(grader.graded) == grader.graded.total() == len(keys) == 499
    if resume == "eval-retry":  # explanations that were graded are not written again either
        assert len(explainer.requests) <= 499 + 2 * 8
    assert whole.results
    assert whole.results.scores[0].unscored_samples == 0


@pytest.mark.slow
def test_grade_asks_for_the_rest_only(real_data: Path, tmp_path: Path) -> None:
    dataset = str(real_data / "humorbench" / "comprehensive_annotations.csv")
    grader = Grader(250)
    with (
        ChatServer(lambda m: f"<explanation>{text_of(m[-1])[-60:]}</explanation>") as explainer,
        ChatServer(grader) as judge,
    ):
        env = environment(tmp_path, explainer.url, judge.url) | {"OPENAI_API_KEY": "x"}
        lm_eval = [sys.executable, "-m", "lm_eval", "--tasks", "humorbench", "--model", "openai-chat-completions"]
        lm_eval += ["--model_args", f"model=m,base_url={explainer.url}/chat/completions,num_concurrent=8"]
        lm_eval += ["--apply_chat_template", "--metadata", f"dataset={dataset}", "--log_samples"]
        once([*lm_eval, "--output_path", str(tmp_path / "out")], env)
        (samples,) = (tmp_path / "out").rglob("samples_humorbench_*.jsonl")
        command = [sys.executable, "-m", "humor_tasks.cli", "grade", str(samples), "--task", "humorbench"]
        command += ["--grader", "openai-api/grader/g", "-o", str(tmp_path / "scores.json")]
        killed_at_half(command, grader, env)
        assert not (tmp_path / "scores.json").exists()
        printed = once(command, env)
    assert len(grader.graded) == grader.graded.total() == 499
    assert "coverage" in printed
    assert (tmp_path / "scores.json").is_file()
