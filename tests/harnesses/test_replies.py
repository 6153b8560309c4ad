"""Both harnesses read a model's own turn without its thinking, and tell of what was not read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from standins import commands

from humor_tasks.contract.answers import ENDED
from humor_tasks.results.read import read_results
from humor_tasks.testing import ChatServer

pytestmark = pytest.mark.slow

AGAIN = "<|im_end|>\n<|im_start|>user\nNext one?<|im_end|>\n<|im_start|>assistant\nAnswer: C"
THOUGHT = [
    f"Answer: B{AGAIN}",
    "<ponder>Answer: A</ponder>Answer: B",
    "[THINK]Perhaps Answer: B. But",
    "<ponder>Answer: B",
]
APART: dict[str, Any] = {
    "message": {"role": "assistant", "content": "Answer: B", "reasoning_content": "Answer: A\nUser: x"},
    "finish_reason": "stop",
}
SCRIPT = [*THOUGHT, APART]
SAID = [
    ("B", "at a made-up turn: <|im_start|>"),
    ("B", ""),
    (None, "while thinking"),
    (None, "while thinking"),
    ("B", ""),
]
PONDER = "<ponder>...</ponder>"


@pytest.mark.inspect_ai_versions
def test_in_inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "not a key")
    with ChatServer(SCRIPT) as server:
        monkeypatch.setenv("SCRIPTED_BASE_URL", server.url)
        command = ["eval", "humor_tasks/matching", "--model", "openai-api/scripted/m", "--log-dir", str(tmp_path)]
        command += ["-T", "dataset=sample", "-T", f"thinking={PONDER}", "--limit", "5", "--max-connections", "1"]
        commands.inspect(*command, "--max-samples", "1", cwd=tmp_path)
    (path,) = tmp_path.glob("*.eval")
    log = read_eval_log(str(path))
    scores = [sample.scores["multiple_choice"] for sample in log.samples or () if sample.scores]
    told = [(score.answer, (score.metadata or {})["facts"].get(ENDED, "")) for score in scores]
    assert sorted(told, key=str) == sorted(SAID, key=str)
    explained = sorted(str(score.explanation) for score in scores)
    assert explained[2:4] == [
        "The reply ended at a made-up turn: <|im_start|>.",
        "The reply was cut off while thinking.",
    ]
    assert explained[3] == explained[4]
    assert log.results
    assert log.results.scores[0].metrics["made_up_turns"].value == 0.2
    assert "20.0% of the replies go on with turns" in caplog.text
    (result,) = read_results([path]).results
    assert result.estimates["made_up_turns"].value == 0.2
    assert result.signature["thinking"] == PONDER
    assert result.opened.options.thinking == PONDER


@pytest.mark.lm_eval_versions
def test_in_lm_eval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not a key")
    with ChatServer(SCRIPT) as server:
        arguments = f"model=m,base_url={server.url}/chat/completions,tokenizer_backend=None"
        command = ["--tasks", "nyc_matching_gen", "--model", "local-chat-completions", "--model_args", arguments]
        metadata = json.dumps({"dataset": "sample", "thinking": PONDER})
        command += ["--metadata", metadata, "--apply_chat_template", "--limit", "5", "--log_samples"]
        commands.lm_eval(*command, "--output_path", str(tmp_path), cwd=tmp_path)
    (path,) = tmp_path.rglob("samples_*.jsonl")
    (result,) = read_results([path]).results
    assert [(o.answer, o.facts.get(ENDED, "")) for o in result.outcomes] == SAID
    assert result.estimates["made_up_turns"].value == 0.2
    assert result.signature["thinking"] == PONDER
    assert "20.0% of the replies go on with turns" in caplog.text
