"""`humor-tasks run`: the plan is what happens, a stopped run resumes, and a model that fails stops no other."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log
from standins import commands, killable
from standins.forks import Forks
from standins.tiny_text import tiny_tokenizer

from humor_tasks.files.locks import locked
from humor_tasks.on_inspect.client import register_prices
from humor_tasks.results import read_results
from humor_tasks.testing import ChatServer, text_of

pytestmark = pytest.mark.inspect_ai_versions

REPLY = "The caption fits the scene. Answer: A"
VERDICT = "<reasoning>It does.</reasoning>\n<judgement>PASS</judgement>"
FEW = ["-T", "crowd_pairs.per_contest=2", "-T", "crowd_pairs.contests=9010-9013"]


def explainer(messages: list[dict[str, Any]]) -> str:
    asks = "<explanation>" in text_of(messages[-1])
    return "<explanation>It is a pun on a word.</explanation>" if asks else REPLY


class Counted(ChatServer):
    """Reports the usage that a tokenizer counts; status: what it answers instead, `times` times."""

    def __init__(self, script: Any, tokenizer: Any, status: int = 200, times: int = 0) -> None:
        super().__init__(script)
        self.tokenizer, self.status, self.times = tokenizer, status, times

    def completion(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.times > 0:
            with self.lock:
                self.times -= 1
                self.requests.append(body)
            return self.status, {"error": {"message": f"status {self.status}", "type": "scripted", "code": None}}
        status, reply = super().completion(body)
        if status == 200:
            asked = "\n\n".join(text_of(message) for message in body["messages"])
            read = len(self.tokenizer(asked)["input_ids"])
            text = reply["choices"][0]["message"]["content"]
            written = len(self.tokenizer(text, add_special_tokens=False)["input_ids"])
            usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
            reply = {**reply, "usage": usage}
        return status, reply


@pytest.fixture
def tokenizer(tmp_path: Path) -> Any:
    """Of a base model: without a chat template."""
    made = tiny_tokenizer(["Which caption fits the scene? Answer with a letter."], "causal")
    made.save_pretrained(tmp_path / "tokenizer")
    return made


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("MINE", "OTHER", "JUDGE"):
        monkeypatch.setenv(f"{name}_API_KEY", "x")
    prices = "".join(
        f'"openai-api/{name}" = {{ input = {i}.0, output = {i + 3}.0 }}\n'
        for i, name in enumerate(("mine/m", "judge/g"), 1)
    )
    (tmp_path / "prices.toml").write_text(f"[models]\n{prices}", encoding="utf-8")
    monkeypatch.setenv("HUMOR_TASKS_PRICES", str(tmp_path / "prices.toml"))
    register_prices.cache_clear()
    yield
    register_prices.cache_clear()


def asked(folder: Path, suite: str, *more: str | Path) -> list[str | Path]:
    command = ["run", "--model", "openai-api/mine/m", "--suite", suite, "--dataset", "sample", "--yes"]
    return [*command, "-o", folder, *more]


def spent(folder: Path) -> dict[str, tuple[int, int, float]]:
    """Tokens in and out and the cost of each model in the logs."""
    total: Counter[tuple[str, str]] = Counter()
    for log in list_eval_logs(str(folder / "logs")):
        for model, usage in read_eval_log(log, header_only=True).stats.model_usage.items():
            total[model, "in"] += usage.input_tokens
            total[model, "out"] += usage.output_tokens
            total[model, "cost"] += usage.total_cost or 0  # type: ignore[assignment]
    return {model: (total[model, "in"], total[model, "out"], total[model, "cost"]) for model, _ in total}


def scores(folder: Path) -> dict[tuple[str, str], dict[str, tuple[float, float]]]:
    results = read_results([folder / "logs"]).results
    return {(r.benchmark.name, r.system): {n: (e.value, e.low) for n, e in r.estimates.items()} for r in results}


@pytest.mark.slow
@pytest.mark.cpu(20, "three whole runs of a suite")
def test_plan_against_truth(tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests and tokens in are exact, and so is the cost where the length of replies is known."""
    with Counted(explainer, tokenizer) as model, Counted(VERDICT, tokenizer) as judge:
        monkeypatch.setenv("MINE_BASE_URL", model.url)
        monkeypatch.setenv("JUDGE_BASE_URL", judge.url)
        folder, length = tmp_path / "run", len(tokenizer(REPLY, add_special_tokens=False)["input_ids"])
        counted = ["--tokenizer", tmp_path / "tokenizer", "--reply-tokens", str(length), *FEW]
        plan = commands.humor_tasks(*asked(folder, "text", "--plan", *counted))
        assert not model.requests
        assert not folder.exists()
        told = re.search(r"openai-api/mine/m: (\S+) requests, (\S+) tokens in .*?, (\S+) out .*?about \\\$(\S+),", plan)
        assert told is not None, plan
        number, read, written = (int(figure.replace(",", "")) for figure in told.groups()[:3])
        printed = commands.humor_tasks(*asked(folder, "text", *counted))
        assert number == len(model.requests)
        ((found, (read_in, wrote, cost)),) = spent(folder).items()
        assert (found, read_in, wrote) == ("openai-api/mine/m", read, written)
        assert float(told[4]) == pytest.approx(cost, abs=0.005)
        assert "## Profile" in printed
        assert f"The page: {folder / 'report' / 'index.html'}" in printed
        again = len(model.requests)
        resumed = "Resuming: 8 of 8 tasks have finished and are not run again.\n"
        assert commands.humor_tasks(*asked(folder, "text", *counted)).replace(resumed, "") == printed
        assert len(model.requests) == again
        judged = commands.humor_tasks(*asked(tmp_path / "judged", "judged", "--grader", "openai-api/judge/g"))
        assert "38 + 38 to graders" in judged
        assert len(judge.requests) == 38
        assert len(model.requests) == again + 38


class Killing:
    """The same reply to every request; at request `at` it kills the client, and answers no more until it is told to."""

    def __init__(self, at: int, number: Path) -> None:
        self.at, self.number, self.resumed = at, number, threading.Event()
        self.lock = threading.Lock()

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        with self.lock:
            self.at -= 1
            if self.at == 0:
                os.kill(int(self.number.read_text()), signal.SIGKILL)
        if self.at <= 0 and not self.resumed.is_set():
            raise ConnectionAbortedError("the client is dead")
        return REPLY


@pytest.mark.slow
@pytest.mark.cpu(20, "three runs of a suite, two of them whole")
def test_killed_and_resumed(
    killable_forks: Forks, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same results as without, and no reply that was kept is asked for again."""
    found, requests = [], []
    for name, at in (("whole", 10**9), ("killed", 70)):
        script, cache = Killing(at, tmp_path / "number"), tmp_path / f"cache_{name}"
        monkeypatch.setenv("INSPECT_CACHE_DIR", str(cache))
        command = [str(word) for word in asked(tmp_path / name, "text", *FEW)]
        with Counted(script, tokenizer) as model:
            monkeypatch.setenv("MINE_BASE_URL", model.url)
            if name == "killed":
                program = [killable.__file__, str(script.number), "humor_tasks.cli", *command]
                assert killable_forks.run(program, dict(os.environ)).returncode == -1
                script.resumed.set()
            before, kept = len(model.requests), sum(path.is_file() for path in cache.rglob("*"))
            commands.humor_tasks(*command)
            found.append(scores(tmp_path / name))
            requests.append(len(model.requests) - before + kept)
    assert found[0] == found[1]
    assert kept > 0
    assert requests[1] <= requests[0] + 1  # a reply may have been half-written


@pytest.mark.slow
@pytest.mark.parametrize(("who", "status", "times"), [("OTHER", 401, 10**6), ("JUDGE", 401, 10**6), ("OTHER", 500, 3)])
def test_a_model_fails(
    who: str,
    status: int,
    times: int,
    killable_forks: Forks,
    tokenizer: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rest finishes, the page says what is missing, and the same command completes it.

    Each run has a process of its own: Inspect's limits of connections outlive a run that fails.
    """
    servers = {
        name: Counted(VERDICT if name == "JUDGE" else explainer, tokenizer) for name in ("MINE", "OTHER", "JUDGE")
    }
    servers[who].status, servers[who].times = status, times
    more = ["--model", "openai-api/other/n", "--grader", "openai-api/judge/g", "-T", "humorbench.shard=1/4"]
    program = ["humor_tasks.cli", *map(str, asked(tmp_path / "run", "judged", *more))]
    with servers["MINE"], servers["OTHER"], servers["JUDGE"]:
        for name, server in servers.items():
            monkeypatch.setenv(f"{name}_BASE_URL", server.url)
        first = killable_forks.run(program, dict(os.environ))
        mine = len(servers["MINE"].requests)
        if status == 401:
            assert first.returncode == 2
            assert "tasks have not finished:\nhumorbench, openai-api/" in first.stderr
            assert "status 401" in first.stderr
            assert "give the same command again" in first.stderr
            servers[who].times = 0
            assert killable_forks.run(program, dict(os.environ)).returncode == 0
        else:
            assert first.returncode == 0, first.stderr
    assert {system for _, system in scores(tmp_path / "run")} == {"openai-api/mine/m", "openai-api/other/n"}
    if who == "OTHER":
        assert len(servers["MINE"].requests) == mine  # nothing is paid for twice
        page = (tmp_path / "run/report/index.html").read_text(encoding="utf-8")
        assert "not finished" not in page
        assert ("not finished: Error code: 401" in first.stderr) == (status == 401)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--suite", "judged"], "explanation_preference: needs a grader model: --grader MODEL."),
        (["--suite", "pictures", "--plan"], "downloads 7.9 GB of pictures, unless they are cached. Give --yes as well"),
        (["--suite", "texts"], "Did you mean 'text'?"),
        (["--suite", "pictures", "--model", "text/x"], "is given twice"),
        (["--budget", "9", "-T", "budget=5"], "budget is given twice"),
        (["-M", "strategy"], "-M strategy: has no value; write -M strategy=VALUE."),
        (["-o", "/proc/no/run"], "cannot be written"),
        (["--budget", "0"], "0 is not in the range x>=1"),
        (["--model", "openai/gpt-4o"], "OPENAI_API_KEY"),
        (["--model", "nobody/m"], "nobody/m"),
        (["-T", "shots=abc"], "-T shots=abc: matching: shots must be a whole number"),
        (["-T", "bbeh_nycc.dataset=/no/where"], "bbeh_nycc: dataset=/no/where is neither"),
        (["--suite", "judged", "--grader", "baseline/longest"], "grader baseline/longest: writes no verdict"),
        (
            ["--model-base-url", "http://me:word@127.0.0.1/v1"],
            "--model-base-url: logs would show the user or the query",
        ),
    ],
)
def test_refused(more: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    first = ["--model", "text/x"] if "text/x" in more else ["--model", "baseline/overlap"]
    rows = [] if "--plan" in more else ["--dataset", "sample", "--yes"]
    told = commands.refused("run", *first, *rows, "-o", tmp_path / "run", *more)
    assert message in told
    assert not (tmp_path / "run").exists()


def test_folders(tmp_path: Path) -> None:
    """Of something else, of another run, and of a damaged one."""
    base = ["run", "--suite", "text", "--dataset", "sample", "--yes", "--model"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("", encoding="utf-8")
    told = commands.refused(*base, "baseline/overlap", "-o", tmp_path / "other")
    assert "is no folder of `humor-tasks run`, and is not empty" in told
    commands.humor_tasks(*base, "baseline/overlap", "-o", tmp_path / "run", "--limit", "2")
    told = commands.refused(*base, "baseline/longest", "-o", tmp_path / "run", "--limit", "2")
    assert 'models: ["baseline/overlap"] there, ["baseline/longest"] here' in told
    told = commands.refused(*base, "baseline/overlap", "-o", tmp_path / "run", "--limit", "2", "-M", "seed=1")
    assert 'model_args: {} there, {"seed": "1"} here' in told
    with locked(tmp_path / "run"):
        told = commands.refused(*base, "baseline/overlap", "-o", tmp_path / "run", "--limit", "2")
    assert f"{tmp_path / 'run'}: another process is using this folder" in told
    (tmp_path / "run" / "run.json").write_text("{", encoding="utf-8")
    assert "run.json: cannot be read" in commands.refused(*base, "baseline/overlap", "-o", tmp_path / "run")


def test_a_damaged_log_is_set_aside(tmp_path: Path) -> None:
    command = ["run", "--model", "baseline/overlap", "--dataset", "sample", "--limit", "2", "--yes"]
    command += ["-o", str(tmp_path / "run")]
    commands.humor_tasks(*command)
    before = scores(tmp_path / "run")
    log = next((tmp_path / "run" / "logs").glob("*_matching_*.eval"))
    log.write_bytes(log.read_bytes()[:500])
    printed = commands.humor_tasks(*command)
    assert f"{log}: cannot be read; it is now {log.stem}.damaged, and its task runs again." in printed
    assert "Resuming: 6 of 7 tasks have finished and are not run again." in printed
    assert scores(tmp_path / "run") == before


def test_a_baseline_rates_nothing(tmp_path: Path) -> None:
    """What a model cannot be asked is left out, with one line."""
    printed = commands.humor_tasks(
        "run", "--model", "baseline/longest", "--dataset", "sample", "--plan", "-o", tmp_path / "run"
    )
    assert "humicroedit\\_rating: baseline/longest: this model chooses among options and cannot rate" in printed
    assert "264 requests, without tokens; no price: it runs on this machine" in printed
