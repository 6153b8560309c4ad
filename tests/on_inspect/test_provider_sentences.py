"""Outputs whose text is what a provider says about the request: such a text is no reply of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval, score
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageAssistant, ContentText, ModelOutput, get_model
from standins.judging import says
from standins.logs import metrics

from humor_tasks import tasks
from humor_tasks.logs import read_run
from humor_tasks.on_inspect import reference_overlap
from humor_tasks.on_inspect.describer import said_in
from humor_tasks.on_inspect.judging.graders import read_view
from humor_tasks.testing import ChatServer
from humor_tasks.testing.judges import verdict_reply

Answered = tuple[int, dict[str, Any]]


def error(code: str, sentence: str) -> Answered:
    return 400, {"error": {"message": sentence, "type": "invalid_request_error", "code": code}}


def reply(message: dict[str, Any], finish: str = "stop") -> Answered:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    about = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
    return 200, {**about, "choices": [choice]}


FILTERED = error("content_filter", "The response was filtered due to the prompt triggering a content policy.")
TOO_LONG = error("context_length_exceeded", "This model's maximum context length is 8192 tokens. Yours has 9000.")
DECLINED = reply({"refusal": "That request conflicts with the guidelines."})


class Server(ChatServer):
    """Answers every request by this status and body."""

    def __init__(self, answered: Answered) -> None:
        super().__init__("")
        self.answered = answered

    def completion(self, body: dict[str, Any]) -> Answered:
        return self.answered


def log_of(name: str, answered: Answered, folder: Path, **given: Any) -> EvalLog:
    roles = {"grader": says("judge", verdict_reply(True)).model}
    how: dict[str, Any] = {"display": "log", "log_dir": str(folder), "limit": 1, "model_roles": roles}
    with Server(answered) as server:
        model = get_model("openai-api/mine/m", base_url=server.url, api_key="none", memoize=False)
        (log,) = eval(getattr(tasks, name)(dataset="sample", **given), model=model, **how)
    assert log.status == "success", log.error
    return log


@pytest.mark.parametrize(
    ("name", "output", "rate"),
    [("explanation", FILTERED, "refused"), ("matching", DECLINED, "refused"), ("humorbench", TOO_LONG, "unparsed")],
)
def test_a_providers_sentence_is_no_reply(name: str, output: Answered, rate: str, tmp_path: Path) -> None:
    log = log_of(name, output, tmp_path)
    assert {kind: metrics(log)[kind] for kind in ("refused", "unparsed")} == {"refused": 0, "unparsed": 0, rate: 1}
    (sample,) = read_run(Path(log.location)).samples
    assert (sample.reply, sample.stop) == ("", "content_filter" if rate == "refused" else "model_length")


def test_scoring_the_log_again_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE_API_KEY", "none")
    monkeypatch.setenv("MINE_BASE_URL", "http://127.0.0.1:1/v1")
    log = log_of("explanation", FILTERED, tmp_path)
    again = score(log, reference_overlap(), action="overwrite", display="log")
    assert metrics(again) == pytest.approx(metrics(log), nan_ok=True)


def test_what_the_model_wrote_up_to_its_limit_is_a_reply(tmp_path: Path) -> None:
    log = log_of("explanation", reply({"content": "A bear is drawn, and"}, "length"), tmp_path)
    assert (metrics(log)["refused"], metrics(log)["unparsed"]) == (0, 0)


def test_a_refusal_is_no_description_and_no_view() -> None:
    part = ContentText(text="That request conflicts with the guidelines.", refusal=True)
    declined = ModelOutput.from_message(ChatMessageAssistant(content=[part]), "stop")
    assert said_in(declined).why == "refused"
    assert (read_view("judge", declined).word, read_view("judge", declined).status) == (None, "refused")
