"""Killed `humor-tasks describe` and `build options`: the same command asks the model for the rest only."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from standins import commands, killable
from standins.forks import Forks
from standins.mock_options import JUDGE, Answer, build_options, environment, lines_of, obliging, options_arguments, part
from standins.seeing import Seer
from standins.waiting import LIMIT, wait_until

from humor_tasks import load
from humor_tasks.testing import ChatServer


class Holding:
    """Answers `limit` requests, and holds all others until its client is dead."""

    def __init__(self, answer: Answer, limit: int) -> None:
        self.answer, self.limit = answer, limit
        self.answered: Counter[str] = Counter()
        self.lock, self.dead = threading.Lock(), threading.Event()

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        with self.lock:
            held = self.answered.total() >= self.limit and not self.dead.is_set()
            self.answered[json.dumps(messages)] += not held
        if held:
            self.dead.wait(LIMIT)
            raise ConnectionAbortedError("the client is dead: nothing was answered")
        return self.answer(messages)


def killed_and_run_again(forks: Forks, arguments: list[str], holding: Holding, log: Path, home: Path) -> str:
    """What the second run prints of a command that is killed when its log has as many lines as `holding` answers."""
    number = home / "number"
    with ChatServer(holding) as server, patch.dict(os.environ, environment(server.url, home)):
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(
                forks.run, [killable.__file__, str(number), "humor_tasks.cli", *arguments], dict(os.environ)
            )
            wait_until(
                lambda: log.exists() and log.read_bytes().count(b"\n") >= holding.limit, lambda: not first.done()
            )
            os.kill(int(number.read_text()), signal.SIGKILL)
            assert first.result().returncode == -1
        holding.dead.set()
        kept = log.read_bytes()
        assert kept.endswith(b"\n")
        log.write_bytes(kept + kept[:30])  # as a kill in the midst of a write would leave it
        said = commands.humor_tasks(*arguments)
    assert log.read_bytes().startswith(kept)
    assert set(holding.answered.values()) == {1}
    return said


@pytest.mark.slow
def test_a_description_goes_on(killable_forks: Forks, tmp_path: Path) -> None:
    out, log = tmp_path / "described", tmp_path / "described.answers.jsonl"
    command = ["describe", "--model", "openai-api/local/eye", "--dataset", "sample", "-o", str(out)]
    command += ["--task", "matching", "--fold", "0", "--split", "test"]
    holding = Holding(Seer(), 9)
    assert "10 rows, 5 pictures" in killed_and_run_again(killable_forks, command, holding, log, tmp_path)
    assert holding.answered.total() == len(lines_of(log)) == 20
    assert len(load("matching", dataset=str(out), fold="0").records) == 10


@pytest.mark.slow
def test_options_go_on(killable_forks: Forks, tmp_path: Path) -> None:
    source = part(tmp_path)
    straight, resumed, log = (tmp_path / name for name in ("straight", "resumed", "resumed.calls.jsonl"))
    build_options(source, straight, obliging, tmp_path, *JUDGE)
    holding, command = Holding(obliging, 25), options_arguments(source, resumed, *JUDGE)
    said = killed_and_run_again(killable_forks, command, holding, log, tmp_path)
    assert "Calls: 39 made, 25 reused from the log." in said
    assert len(lines_of(log)) == 64
    for name in ("README.md", *(f"cartoon_matching/{split}.jsonl" for split in ("train", "validation", "test"))):
        assert (resumed / name).read_bytes() == (straight / name).read_bytes()
