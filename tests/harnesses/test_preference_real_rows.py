"""explanation_preference on real validation rows, through Inspect's command line and a judge on 127.0.0.1."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from inspect_ai.log import read_eval_log
from standins import commands
from standins.judging import Judge, longer, shown, verdict, write_texts

from humor_tasks import evaluate, load
from humor_tasks.testing import ChatServer, text_of

pytestmark = pytest.mark.slow

Answer = Callable[[list[dict[str, Any]]], str]
PART, PAIRS = "2/13", 10  # of 130


@pytest.fixture
def others(real_corpus: str, tmp_path: Path) -> str:
    """The longer of two other rows' human explanations: lengths are people's, and the system's is mostly the longer."""
    records = load("explanation", dataset=real_corpus, split="validation").records
    texts = [record.target or "" for record in records]
    assert len(texts) == len(set(texts)) == 130
    two = zip([*texts[1:], *texts[:1]], [*texts[2:], *texts[:2]], strict=True)
    ids = [record.id for record in records]
    return write_texts(tmp_path / "others.json", dict(zip(ids, (max(pair, key=len) for pair in two), strict=True)))


def judged_by(judge: Judge) -> Answer:
    return lambda messages: verdict(judge(*shown(text_of(messages[-1]))))


def inspect_eval(folder: Path, server: ChatServer, corpus: str, system: str) -> dict[str, float]:
    """The metrics of a run of the command on a part of the rows."""
    before = set((folder / "log").glob("*.eval"))
    command = ["eval", "humor_tasks/explanation_preference", "-T", f"system={system}", "-T", f"dataset={corpus}"]
    command += ["-T", "split=validation", "-T", f"shard={PART}"]
    command += ["--model-role", "grader=openai-api/judge/j", "--log-dir", str(folder / "log")]
    with patch.dict(os.environ, {"JUDGE_API_KEY": "not a key", "JUDGE_BASE_URL": server.url}):
        commands.inspect(*command, cwd=folder)
    (path,) = set((folder / "log").glob("*.eval")) - before
    log = read_eval_log(str(path))
    assert log.status == "success"
    assert log.results
    assert len(log.samples or []) == 2 * PAIRS
    assert (log.eval.metadata or {})["source"]["pairs"] == 130
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}


def test_a_judge_of_length_is_even_once_length_is_controlled(real_corpus: str, others: str) -> None:
    """All rows, without a harness."""
    run = load("explanation_preference", dataset=real_corpus, split="validation", system=others)
    replies = {r.id: verdict(longer(r.fields["first"], r.fields["second"])) for r in run.records}
    found = evaluate(run, replies).metrics
    texts = json.loads(Path(others).read_text(encoding="utf-8"))
    human = {r.id: r.target or "" for r in load("explanation", dataset=real_corpus, split="validation").records}
    wins = [longer(texts[i], human[i]) for i in human]
    assert found["win_rate"].value == pytest.approx((wins.count("A") + wins.count("TIE") / 2) / 130)
    assert found["win_rate"].low > 0.55
    controlled = found["length_controlled_win_rate"]
    assert controlled.value == pytest.approx(0.5, abs=0.1)
    assert controlled.low < 0.5 < controlled.high
    assert [found[name].value for name in ("inconsistent", "unread", "first_shown")] == [0.0, 0.0, 0.5]


def test_the_command_scores_as_without_a_harness(real_corpus: str, others: str, tmp_path: Path) -> None:
    with ChatServer(judged_by(longer)) as server:
        found = inspect_eval(tmp_path, server, real_corpus, others)
        assert len(server.requests) == 2 * PAIRS
    run = load("explanation_preference", dataset=real_corpus, split="validation", system=others, shard=PART)
    replies = {r.id: verdict(longer(r.fields["first"], r.fields["second"])) for r in run.records}
    for name, e in evaluate(run, replies).metrics.items():
        assert (found[name], found[f"{name}_stderr"]) == pytest.approx((e.value, e.stderr), nan_ok=True), name
