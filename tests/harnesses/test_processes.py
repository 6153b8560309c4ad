"""lm-eval in two processes: CLIP, OFA and text models report what they report in one. One launch runs all three."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from standins import commands, lm_eval_in_processes, tiny_clip_folder
from standins.logs import lm_eval_results
from standins.paths import TESTS
from standins.tiny_ofa import tiny_ofa
from standins.tiny_text import tiny_folder
from standins.waiting import LIMIT

from humor_tasks.on_lm_eval.task import BenchmarkTask

TASKS = {"humor-clip": "nyc_ranking_pixels", "humor-ofa": "nyc_ranking_pixels_gen", "humor-text": "nyc_explanation"}
MODELS = tuple(TASKS)
ROWS = 3  # one process has two, the other one and a request that evens them out


def arguments(model: str, folder: str) -> list[str]:
    given = ["--tasks", TASKS[model], "--model", model, "--model_args", f"pretrained={folder}"]
    given += ["--metadata", "dataset=sample", "--limit", str(ROWS), "--output_path", "out", "--log_samples"]
    return given + (["--gen_kwargs", "max_gen_toks=9", "--apply_chat_template"] if model == "humor-ofa" else [])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder a model, with what one process and what two wrote: one/MODEL and two/MODEL."""
    home = tmp_path_factory.mktemp("processes")
    folders = {
        "humor-clip": tiny_clip_folder.saved(home),
        "humor-ofa": tiny_ofa(home / "ofa", ["which caption is the winner?"], max_position_embeddings=1024),
        "humor-text": tiny_folder(home / "text", ["a dog in a bar"], layers=1),
    }
    runs = []
    for model, folder in folders.items():
        for count in ("one", "two"):
            (home / count / model).mkdir(parents=True)
        commands.lm_eval(*arguments(model, folder), "--device", "cpu", cwd=home / "one" / model)
        runs.append([str(home / "two" / model), *arguments(model, folder)])
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": paths}
    command = [sys.executable, lm_eval_in_processes.__file__, json.dumps(runs)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return home


def replies(folder: Path) -> dict[str, list[Any]]:
    """The answers by document: texts, or pairs of a log-likelihood and whether it is the greedy one."""
    (path,) = folder.rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == ROWS
    return {row["doc"]["id"]: [answers[0] for answers in row["resps"]] for row in rows}


def numbers(found: dict[str, Any]) -> dict[str, float]:
    (task,) = found["results"].values()
    return {name: value for name, value in task.items() if isinstance(value, float)}


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_two_processes_report_what_one_reports(home: Path, model: str) -> None:
    one, two = lm_eval_results(home / "one" / model), lm_eval_results(home / "two" / model)
    assert numbers(two) == pytest.approx(numbers(one), rel=1e-4, nan_ok=True)
    assert numbers(one)
    alone, shared = replies(home / "one" / model), replies(home / "two" / model)
    if model == "humor-clip":
        assert one["config"]["clip"]["captions_embedded"] > two["config"]["clip"]["captions_embedded"] > 0
        scores = [{i: [float(value) for value, _ in own] for i, own in each.items()} for each in (alone, shared)]
        assert scores[0].keys() == scores[1].keys()
        assert all(scores[1][i] == pytest.approx(own, abs=1e-4) for i, own in scores[0].items())
    elif model == "humor-ofa":
        assert shared == alone
        assert len(set(map(str, alone.values()))) > 1
    else:
        names = ("word_perplexity", "byte_perplexity", "token_perplexity")
        assert {f"{name}{end},none" for name in names for end in ("", "_stderr")} <= numbers(two).keys()


@pytest.mark.parametrize("name", ["ranking", "matching", "humicroedit_rating", "explanation"])
def test_every_process_has_a_share_of_every_metric(name: str) -> None:
    def dealt(processes: int) -> dict[str, list[Any]]:
        shares: dict[str, list[Any]] = {}
        for rank in range(processes):
            task = BenchmarkTask({"task": name, "benchmark": name, "metadata": {"dataset": "sample"}} | kind)
            task.build_all_requests(rank=rank, world_size=processes)
            for _, doc in task.doc_iterator(rank=rank, world_size=processes):
                found = task.process_results(doc, replies[: len(task._labels) or 1])
                assert processes == 1 or not shares or shares.keys() == found.keys()
                for key, share in found.items():
                    shares.setdefault(key, []).append(share)
        shares.pop("outcome", None)  # lm-eval 0.5 logs it from here; it is no metric
        return {key: task.aggregation()[key](items) for key, items in shares.items()}

    generates = name == "explanation"
    kind = {"output_type": "generate_until" if generates else "multiple_choice"}
    replies = ["Explanation: so it is."] if generates else [(-1.0, True), *[(-2.0, False)] * 4]
    assert dealt(3) == pytest.approx(dealt(1), nan_ok=True)
