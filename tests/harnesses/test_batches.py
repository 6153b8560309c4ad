"""Inspect's batches against a server of OpenAI's: roles, pictures, calls that follow each other, an interrupted run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from inspect_ai import eval_async, eval_retry
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from inspect_ai.log._samples import active_samples
from standins import commands
from standins.batch_server import BatchServer
from standins.waiting import LIMIT, wait_until

from humor_tasks import load
from humor_tasks.results import read_results
from humor_tasks.testing import text_of

pytestmark = [pytest.mark.inspect_ai_versions, pytest.mark.slow]

MODEL, GRADER = "gpt-4o", "gpt-4.1"  # names that Inspect asks by chat completions


def batch(size: int) -> dict[str, Any]:
    """Batches of exactly so many requests, looked after at once."""
    return {"size": size, "max_size": size, "send_delay": LIMIT, "tick": 0.01}


def answer(messages: list[dict[str, Any]]) -> str:
    asked = text_of(messages[-1])
    verdict = "PASS" if len(asked) % 3 else "FAIL"
    return f"<reasoning>So it is.</reasoning>\n<judgement>{verdict}</judgement>\nAnswer: A"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("OPENAI_API_KEY", "not a key")
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    with BatchServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def inspect_eval(folder: Path, *arguments: str) -> EvalLog:
    commands.inspect("eval", *arguments, "--log-dir", folder, "-T", "dataset=sample", cwd=folder.parent)
    (log,) = folder.glob("*.eval")
    return read_eval_log(str(log))


def test_a_role_is_batched_by_its_own_settings_and_changes_no_score(server: BatchServer, tmp_path: Path) -> None:
    (tmp_path / "batch.json").write_text(json.dumps(batch(4)))
    common = ("humor_tasks/humorbench", "--model", f"openai/{MODEL}", "--limit", "4", "--batch", "batch.json")
    inspect_eval(tmp_path / "a", *common, "--model-role", f"grader=openai/{GRADER}", "-T", "cache=false")
    assert server.batched() == [(MODEL, 4)]
    assert len(server.requests) == 8
    server.batches.clear()
    server.outputs.clear()
    by_role = json.dumps({"model": f"openai/{GRADER}", "batch": batch(2)})
    inspect_eval(tmp_path / "b", *common, "--model-role", f"grader={by_role}", "-T", "cache=false")
    assert server.batched() == [(MODEL, 4), (GRADER, 2), (GRADER, 2)]
    (a,), (b,) = (read_results([tmp_path / name]).results for name in "ab")
    assert a.outcomes == b.outcomes
    assert (a.signature, a.judging) == (b.signature, b.judging)


def test_every_wording_of_a_picture_travels_in_one_batch(server: BatchServer, tmp_path: Path) -> None:
    (tmp_path / "batch.json").write_text(json.dumps(batch(5)))
    more = ("-T", "setting=pixels", "-T", "prompts=all", "--limit", "5", "--batch", "batch.json")
    log = inspect_eval(tmp_path / "a", "humor_tasks/matching", "--model", f"openai/{MODEL}", *more)
    assert log.status == "success"
    assert server.batched() == [(MODEL, 5)]
    shown = [part for body in server.batches[0] for part in body["messages"][-1]["content"] if part["type"] != "text"]
    assert [part["image_url"]["url"][:15] for part in shown] == ["data:image/png;"] * 5


# ---- an interrupted run ----------------------------------------------------------------------------------------


def interrupted(server: BatchServer, folder: Path, made: int, waiting: int, task: str, **how: Any) -> EvalLog:
    """The log of a run that is cancelled once so many batches are made and so many samples are left."""

    async def until_late() -> None:
        async with anyio.create_task_group() as group:

            async def run() -> None:
                roles = {"grader": f"openai/{GRADER}"} | how.pop("model_roles", {})
                await eval_async(task, log_dir=str(folder), model_roles=roles, **how)

            group.start_soon(run)
            late = lambda: len(server.batches) == made and len(active_samples()) == waiting  # noqa: E731
            await anyio.to_thread.run_sync(wait_until, late)
            group.cancel_scope.cancel()

    anyio.run(until_late)
    (log,) = list_eval_logs(str(folder))
    return read_eval_log(log)


def grader_in_batches(size: int) -> dict[str, Any]:
    from inspect_ai.model import BatchConfig, GenerateConfig, get_model

    config = GenerateConfig(batch=BatchConfig(**batch(size)))
    return {"grader": get_model(f"openai/{GRADER}", config=config, memoize=False)}


@pytest.mark.parametrize(("cache", "replies"), [(None, 6), (True, 4)])
def test_what_the_lost_batch_held_is_paid_twice(
    cache: bool | None, replies: int, server: BatchServer, tmp_path: Path
) -> None:
    """Four replies come back, and two of four verdicts; then the run is interrupted."""
    server.hold_from = 3
    how: dict[str, Any] = {"model": f"openai/{MODEL}", "task_args": {"dataset": "sample"}, "limit": 4}
    how |= {"batch": batch(2), "cache": cache, "model_roles": grader_in_batches(2)}
    log = interrupted(server, tmp_path, 4, 2, "humor_tasks/humorbench", **how)
    assert log.status == "cancelled"
    assert sum(bool(sample.scores) for sample in log.samples or []) == 2
    server.hold_from = None
    (again,) = eval_retry(log, log_dir=str(tmp_path), display="log")
    assert again.status == "success"
    assert server.paid(MODEL) == replies
    assert server.paid(GRADER) == 6


def test_the_first_of_two_calls_of_a_judge_is_in_the_cache(server: BatchServer, tmp_path: Path) -> None:
    """judge_first=commit: two views come back, then the batch of the two verdicts is lost."""
    texts = {record.id: "A bear." for record in load("explanation", dataset="sample").records}
    (tmp_path / "ours.json").write_text(json.dumps(texts))
    parameters = {"dataset": "sample", "system": str(tmp_path / "ours.json"), "judge_first": "commit"}
    server.hold_from = 1
    how: dict[str, Any] = {"task_args": parameters, "limit": 2, "model_roles": grader_in_batches(2)}
    log = interrupted(server, tmp_path / "logs", 2, 2, "humor_tasks/explanation_preference", **how)
    assert not any(sample.scores for sample in log.samples or [])
    server.hold_from = None
    (again,) = eval_retry(log, log_dir=str(tmp_path / "logs"), display="log")
    assert again.status == "success"
    assert server.batched() == [(GRADER, 2)] * 3  # the views, their verdicts, and the verdicts again
