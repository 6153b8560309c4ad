"""A run killed at half: what was graded is not graded, or paid for, again."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from standins import commands, killable
from standins.forks import Forks
from standins.waiting import LIMIT, wait_until

from humor_tasks import load
from humor_tasks.testing import ChatServer, text_of

pytestmark = pytest.mark.inspect_ai_versions

PART, ROWS, HALF = "1/2", 19, 9


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
            self.client_died.wait(LIMIT)
            raise ConnectionAbortedError("the client is dead: nothing was graded")
        return f"<reasoning>It does.</reasoning>\n<judgement>{'PASS' if len(asked) % 3 else 'FAIL'}</judgement>"

    def revive(self) -> None:
        self.client_died.set()
        self.limit = None


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_DISPLAY", "plain")
    for name in ("EXPLAINER", "GRADER", "OPENAI"):
        monkeypatch.setenv(f"{name}_API_KEY", "x")


def killed_at_half(forks: Forks, module: str, arguments: list[str], grader: Grader, home: Path) -> None:
    """Run until the grader holds its requests and its verdicts so far are stored, then kill without warning."""
    cache, number = Path(os.environ["INSPECT_CACHE_DIR"]), home / "number"
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(forks.run, [killable.__file__, str(number), module, *arguments], dict(os.environ))
        wait_until(
            # A cached verdict is whole when its pickle has its last opcode; one cut short would be asked for again.
            lambda: (
                sum(path.is_file() and path.read_bytes()[-1:] == b"." for path in cache.rglob("*"))
                >= (grader.limit or 0)
            ),
            lambda: not first.done(),
        )
        os.kill(int(number.read_text()), signal.SIGKILL)
        assert first.result().returncode == -1
    grader.revive()


def explanation(messages: list[dict[str, Any]]) -> str:
    return f"<explanation>{text_of(messages[-1])[-60:]}</explanation>"


@pytest.mark.slow
def test_every_row_is_graded_once(killable_forks: Forks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the run is resumed by `inspect eval-retry` or by the same command."""
    keys = [record.id for record in load("humorbench", dataset="sample", shard=PART).records]
    grader = Grader(HALF)
    with ChatServer(explanation) as explainer, ChatServer(grader) as judge:
        monkeypatch.setenv("EXPLAINER_BASE_URL", explainer.url)
        monkeypatch.setenv("GRADER_BASE_URL", judge.url)
        command = ["eval", "humor_tasks/humorbench", "-T", "dataset=sample", "-T", f"shard={PART}"]
        command += ["--model", "openai-api/explainer/m", "--model-role", "grader=openai-api/grader/g"]
        command += ["--max-connections", "4"]
        killed_at_half(killable_forks, "inspect_ai", command, grader, tmp_path)
        (log,) = (tmp_path / "logs").glob("*.eval")
        before, written, cache = Counter(grader.graded), len(explainer.requests), tmp_path / "cache"
        assert before.total() == HALF
        for name, resumed in (("retry", ["eval-retry", log]), ("same", command)):
            shutil.copytree(cache, tmp_path / name / "cache")  # each finds what the killed run left
            monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / name / "cache"))
            grader.graded = Counter(before)
            commands.inspect(*resumed, "--log-dir", tmp_path / name / "logs", cwd=tmp_path)
            (path,) = (tmp_path / name / "logs").glob("*.eval")
            whole = read_eval_log(str(path))
            assert whole.status == "success"
            assert sorted(str(sample.id) for sample in whole.samples or []) == sorted(keys)
            assert len(grader.graded) == grader.graded.total() == len(keys) == ROWS
            assert whole.results
            assert whole.results.scores[0].unscored_samples == 0
            if name == "retry":  # explanations that were graded are not written again either
                assert len(explainer.requests) - written < ROWS


@pytest.mark.slow
def test_grade_asks_for_the_rest_only(killable_forks: Forks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grader = Grader(HALF)
    with ChatServer(explanation) as explainer, ChatServer(grader) as judge:
        monkeypatch.setenv("GRADER_BASE_URL", judge.url)
        model = f"model=m,base_url={explainer.url}/chat/completions,num_concurrent=8"
        asked = ["--tasks", "humorbench", "--model", "openai-chat-completions", "--model_args", model]
        asked += ["--apply_chat_template", "--metadata", "dataset=sample", f"shard={PART}", "--log_samples"]
        commands.lm_eval(*asked, "--output_path", tmp_path / "out", cwd=tmp_path)
        (samples,) = (tmp_path / "out").rglob("samples_humorbench_*.jsonl")
        command = ["grade", str(samples), "--task", "humorbench"]
        command += ["--grader", "openai-api/grader/g", "-o", str(tmp_path / "scores.json")]
        killed_at_half(killable_forks, "humor_tasks.cli", command, grader, tmp_path)
        assert not (tmp_path / "scores.json").exists()
        printed = commands.humor_tasks(*command)
    assert len(grader.graded) == grader.graded.total() == ROWS
    assert "coverage" in printed
    assert (tmp_path / "scores.json").is_file()
