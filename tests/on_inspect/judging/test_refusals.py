"""What providers refuse: settings that a grader does not take, and errors that end a run at its first questions."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import GenerateConfig, get_model
from standins import commands
from standins.grading import bears, found, graded_log, own_task, points, verdict
from standins.judging import says
from standins.logs import metrics

from humor_tasks.on_inspect.judging.refusals import FIRST, named_setting, refusal
from humor_tasks.results import read_results
from humor_tasks.tasks import humorbench, humorbench_autograder
from humor_tasks.testing import ChatServer, ScriptedModel
from humor_tasks.testing.judges import verdict_reply

NO_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."
)
NO_MAX_TOKENS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)


class Refused(Exception):
    """An error of a provider's client, with the body of the response where it keeps that."""

    def __init__(self, status_code: int, message: str, **body: Any) -> None:
        super().__init__(f"Error code: {status_code} - {message}")
        self.status_code = status_code
        self.body = {"error": {"message": message, **body}} if body else None


class GoogleError(Exception):
    code = 400


class AmazonError(Exception):
    response = MappingProxyType({"ResponseMetadata": {"HTTPStatusCode": 400}})


class MistralError(Exception):
    response = SimpleNamespace(status_code=422)


# ---- reading a refusal ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "status", "setting"),
    [
        (Refused(400, NO_TEMPERATURE, param="temperature", code="unsupported_value"), 400, "temperature"),
        (Refused(400, NO_TEMPERATURE), 400, "temperature"),
        (Refused(400, NO_MAX_TOKENS), 400, "max_tokens"),
        (Refused(400, NO_MAX_TOKENS, param="max_tokens"), 400, "max_tokens"),
        (Refused(400, "Unrecognized request argument supplied: seed", param=None), 400, "seed"),
        (
            Refused(400, "`temperature` and `top_p` cannot both be specified for this model.", type="x"),
            400,
            "temperature",
        ),
        (Refused(400, "`temperature` is deprecated for this model.", type="x"), 400, "temperature"),
        (Refused(400, "temperature: may only be set to 1 when thinking is enabled.", type="x"), 400, "temperature"),
        (
            GoogleError("Invalid JSON payload. Unknown name \"seed\" at 'generation_config': no such field."),
            400,
            "seed",
        ),
        (GoogleError("Invalid value at 'generation_config.temperature' (TYPE_FLOAT)"), 400, "temperature"),
        (MistralError("[{'type': 'extra_forbidden', 'loc': ['body', 'seed'], 'msg': 'Extra inputs'}]"), 422, "seed"),
        (AmazonError("ValidationException: temperature is not supported by this model."), 400, "temperature"),
        (AmazonError("The parameter temperature is not supported by this model."), 400, "temperature"),
        (Refused(400, "litellm: o3 does not support parameters: ['temperature']"), 400, "temperature"),
        (Refused(400, "Only temperature=1 is supported."), 400, "temperature"),
        (Refused(400, "A caption on the temperature of the seed is invalid JSON."), 400, ""),
        (Refused(400, "Invalid prompt.", param="prompt"), 400, ""),
        (Refused(400, "The temperature of 'seed' stays."), 400, ""),
        (RuntimeError("the judge is down"), None, ""),
    ],
)
def test_the_setting_that_a_provider_names(problem: Exception, status: int | None, setting: str) -> None:
    wrapped = RuntimeError("Request: {'temperature': 0} ...")
    wrapped.__cause__ = problem
    for error in (problem, wrapped) if status else (problem,):
        read = refusal(error)
        assert (read.status, read.setting) == (status, setting)
        assert "Request" not in read.sentence


@pytest.mark.parametrize(
    ("sentence", "setting"),
    [
        ("temperature: Input should be less than or equal to 1", "temperature"),
        ("Unable to submit request because seed is not supported for this model.", "seed"),
        ("it has a temperature value of 0 but the supported range is from 0.1 to 2", "temperature"),
        ("* GenerateContentRequest.generation_config.temperature: it must be in the range [0.0, 2.0].", "temperature"),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("1 validation error for ChatCompletionRequest: seed: Extra inputs are not permitted", "seed"),
        ("The model reasoner does not support temperature", "temperature"),
        ("Model does not support seed parameter", "seed"),
        ("vLLM does not support per-request seed", "seed"),
        ("Setting temperature is not supported for this model", "temperature"),
        ("Malformed input request: extraneous key [seed] is not permitted, please reformat", "seed"),
        ("Unrecognized request arguments supplied: seed, logprobs", "seed"),
        ("Temperature is not supported for reasoning models", "temperature"),
        ("sampling parameters (temperature, top_p) are not allowed", "temperature"),
        ("temperature should be greater than 0", "temperature"),
        ("Logprobs is not enabled for this model", "logprobs"),
        ("The temperature outside is not supported by evidence", ""),
        ("Input should be a valid string, input: 'The temperature is rising.'", ""),
        ("unsupported image; the stop sign", ""),
    ],
)
def test_settings_in_the_wordings_of_providers(sentence: str, setting: str) -> None:
    assert named_setting(sentence) == setting


FASTAPI = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}


@pytest.mark.parametrize(
    ("body", "sentence", "setting"),
    [
        ({"detail": [FASTAPI]}, "body.seed: Extra inputs are not permitted", "seed"),
        ([FASTAPI], "body.seed: Extra inputs are not permitted", "seed"),
        ({"detail": "seed: Extra inputs are not permitted"}, "seed: Extra inputs are not permitted", "seed"),
        ({"error": 'json: unknown field "seed"'}, 'json: unknown field "seed"', "seed"),
        ('json: unknown field "seed"', 'json: unknown field "seed"', "seed"),
        ({"object": "error", "message": "Bad", "code": 400}, "Bad", ""),
        ("<html>Forbidden</html>", "Error code: 422 - Oh", ""),
        ({"detail": 5}, "Error code: 422 - Oh", ""),
    ],
)
def test_sentences_in_bodies_of_other_forms(body: Any, sentence: str, setting: str) -> None:
    problem = Refused(422, "Oh")
    problem.body = body
    assert (refusal(problem).sentence, refusal(problem).setting) == (sentence, setting)


@pytest.mark.parametrize(
    ("problem", "of_item", "permanent", "of_account"),
    [
        (Refused(400, "The response was filtered by our content management policy."), True, True, False),
        (Refused(403, "Your input was flagged by moderation."), True, True, True),
        (Refused(400, "This model's maximum context length is 8192 tokens."), True, True, False),
        (Refused(400, "prompt is too long: 212,000 tokens"), True, True, False),
        (Refused(402, "Payment required"), False, True, True),
        (Refused(429, "You exceeded your current quota", code="insufficient_quota"), False, False, True),
        (Refused(400, "Your credit balance is too low to access the API."), False, True, True),
        (Refused(429, "Slow down"), False, False, False),
        (Refused(500, "Oh no"), False, False, False),
        (Refused(422, "Unprocessable"), False, True, False),
        (ConnectionError("no route"), False, False, False),
        (TypeError("'NoneType' object is not subscriptable"), False, True, False),  # an answer without choices
    ],
)
def test_whom_a_refusal_concerns(problem: Exception, of_item: bool, permanent: bool, of_account: bool) -> None:
    read = refusal(problem)
    assert (read.of_item, read.permanent, read.of_account) == (of_item, permanent, of_account)


def test_refusals_are_of_one_kind_whatever_their_numbers() -> None:
    one, other = (refusal(Refused(400, f"Bad request {i}, id req-{i}a{i}.")) for i in (17, 4))
    assert one.kind == other.kind != refusal(Refused(422, "Bad request 4, id req-4a4.")).kind


# ---- what a run makes of it -----------------------------------------------------------------------

Answer = Callable[[GenerateConfig, str], Any]


def judge_that(name: str, answer: Answer, **own: Any) -> ScriptedModel:
    """A judge that answers by a request's settings and text."""
    judge = ScriptedModel(
        name, lambda messages: answer(judge.configs[-1], messages[-1].text), settings=GenerateConfig(**own)
    )
    return judge


def takes_no(*settings: str) -> Answer:
    def answer(config: GenerateConfig, asked: str) -> Any:
        for name in settings:
            if getattr(config, name) is not None:
                return Refused(400, f"Unsupported parameter: '{name}' is not supported with this model.", param=name)
        return verdict(True)

    return answer


def log_of(
    judge: ScriptedModel, *others: ScriptedModel, items: int = 6, status: str = "success", **how: Any
) -> EvalLog:
    samples: list[Sample] = [bears(str(i), f"It has {i} legs.") for i in range(items)]
    return graded_log(own_task(*samples, **how), says("m", "Bears."), judge, *others, status=status, max_samples=1)


def signatures(log: EvalLog) -> set[str]:
    return {(result.metadata or {})["signature"] for result in found(log).values()}


@pytest.mark.parametrize("settings", [("temperature",), ("temperature", "seed")])
def test_a_setting_that_nobody_chose_is_left_out(settings: tuple[str, ...], caplog: pytest.LogCaptureFixture) -> None:
    judge = judge_that(f"without-{'-'.join(settings)}", takes_no(*settings))
    with caplog.at_level(logging.WARNING, "humor_tasks"):
        log = log_of(judge)
    assert metrics(log)["coverage"] == 1
    assert len(judge.configs) == 6 + len(settings)  # the first question alone meets the refusals
    (told,) = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert f"mockllm/{judge.name} does not take {' and '.join(settings)} (status 400: Unsupported parameter" in told
    chosen = log_of(judge_that("chosen", takes_no()), cache=False, **dict.fromkeys(settings, "none"))
    (signed,), (as_chosen,) = signatures(log), signatures(chosen)
    assert signed.replace(judge.name, "chosen") == as_chosen


def test_a_resumed_run_reads_the_cache_under_the_settings_that_were_taken() -> None:
    log_of(judge_that("resumed", takes_no("temperature")))
    again = judge_that("resumed", takes_no("temperature"))
    log = log_of(again, items=7)
    assert metrics(log)["coverage"] == 1
    assert len(again.configs) == 2  # the refusal, and the seventh question
    assert len(signatures(log)) == 1


def test_a_panel_signs_what_each_judge_was_not_sent() -> None:
    log = log_of(judge_that("cold", takes_no("temperature")), judge_that("warm", takes_no()), cache=False)
    (signed,) = signatures(log)
    assert "|temperature:0.0|" in signed
    assert "|left_out:mockllm/cold-temperature" in signed


def test_replies_that_no_grader_is_asked_about_do_not_blur_how_the_others_were_judged(tmp_path: Path) -> None:
    replies = iter(["", *["<explanation>Bears.</explanation>"] * 5])
    model = ScriptedModel("m", lambda messages: next(replies))
    judge = judge_that("late", takes_no("temperature"))
    how: dict[str, Any] = {"display": "log", "log_dir": str(tmp_path), "max_samples": 1, "limit": 6}
    (log,) = eval(humorbench("sample"), model=model.model, model_roles={"grader": judge.model}, **how)
    assert len({(r.metadata or {})["signature"] for r in found(log).values()}) == 2
    (result,) = read_results([Path(log.location)]).results
    assert result.judging["temperature"] == "None"


@pytest.mark.parametrize(
    ("own", "how", "remedy"),
    [
        ({"temperature": 0.5}, {}, "Leave temperature out of the grader's own configuration."),
        ({}, {"temperature": 0.5}, "Give temperature=none: -T in a task, -S in inspect score, --temperature none"),
    ],
)
def test_a_setting_that_somebody_chose_ends_the_run(own: dict[str, Any], how: dict[str, Any], remedy: str) -> None:
    judge = judge_that("chosen-setting", takes_no("temperature"), **own)
    error = log_of(judge, status="error", cache=False, **how).error
    assert error
    assert (
        "does not take temperature (status 400: Unsupported parameter: 'temperature' is not supported" in error.message
    )
    assert remedy in error.message
    assert len(judge.configs) == 1


@pytest.mark.parametrize(
    ("problem", "asked"),
    [
        (Refused(400, "Bad request 7"), FIRST),
        (IndexError("list index out of range"), FIRST),
        (Refused(402, "Payment required"), 1),
        (Refused(400, NO_MAX_TOKENS, param="max_tokens"), 1),
    ],
)
@pytest.mark.parametrize("retries", [0, 1])
def test_first_questions_that_are_all_refused_alike_end_the_run(problem: Exception, asked: int, retries: int) -> None:
    judge = judge_that("refuses", lambda config, text: problem)
    error = log_of(judge, status="error", cache=False, retries=retries).error
    assert error
    assert str(refusal(problem)) in error.message
    assert len(judge.configs) == (asked if asked == 1 else FIRST + retries * (FIRST - 1))


def test_fewer_questions_than_that_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "humor_tasks"):
        log_of(judge_that("refuses", lambda config, text: Refused(400, "Bad request")), items=FIRST - 1, cache=False)
    told = [record.getMessage() for record in caplog.records]
    assert sum("grader mockllm/refuses refused a question (status 400" in each for each in told) == 1
    assert any("100.0% of the graders' verdicts are missing" in each for each in told)


@pytest.mark.parametrize(
    ("refused", "problem"),
    [
        (range(6), Refused(400, "Filtered by the content policy", code="content_filter")),  # each by its own text
        (range(6), Refused(503, "Overloaded")),
        ((1, 2, 3, 4), Refused(400, "Bad request")),  # after an answer
        ((0, 2, 4), Refused(400, "Bad request")),
    ],
)
def test_other_refusals_lose_their_verdicts_alone(refused: Any, problem: Refused) -> None:
    def answer(config: GenerateConfig, text: str) -> Any:
        return problem if any(f"has {i} legs" in text for i in refused) else verdict(True)

    log = log_of(judge_that("some", answer), cache=False)
    words = {name: points(result)[0]["verdicts"][0]["word"] for name, result in found(log).items()}
    assert words == {str(i): None if i in refused else True for i in range(6)}


# ---- command lines --------------------------------------------------------------------------------


class Server(ChatServer):
    """Answers by the whole request: (status, error), or the text of a reply."""

    def __init__(self, by: Callable[[dict[str, Any]], tuple[int, dict[str, Any]] | str]) -> None:
        super().__init__(lambda messages: "")
        self.by = by

    def completion(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        reply = self.by(body)
        if isinstance(reply, str):
            self.answer = lambda messages: reply
            return super().completion(body)
        with self.lock:
            self.requests.append(body)
        return reply[0], {"error": reply[1]}


def without_temperature(body: dict[str, Any]) -> tuple[int, dict[str, Any]] | str:
    if body["model"] == "judge" and "temperature" in body:
        return 400, {"message": NO_TEMPERATURE, "param": "temperature", "code": "unsupported_value"}
    return verdict_reply(True) if body["model"] == "judge" else "<explanation>A pun.</explanation>"


def refuses(body: dict[str, Any]) -> tuple[int, dict[str, Any]] | str:
    return (422, {"message": "No such thing"}) if body["model"] == "judge" else "<explanation>A pun.</explanation>"


@pytest.mark.slow
@pytest.mark.inspect_ai_versions
def test_a_server_that_takes_no_temperature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through Inspect's own client, which wraps the provider's error."""
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCAL_API_KEY", "x")
    with Server(without_temperature) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        run = ["eval", "humor_tasks/humorbench", "-T", "dataset=sample", "--model", "openai-api/local/m"]
        run += ["--limit", "4", "--log-dir", tmp_path / "log", "--model-role", "grader=openai-api/local/judge"]
        commands.inspect(*run, cwd=tmp_path)
        (path,) = (tmp_path / "log").glob("*.eval")
        log = read_eval_log(str(path))
        assert metrics(log)["coverage"] == 1
        assert all("|temperature:None|" in signature for signature in signatures(log))
        again = commands.humor_tasks(
            *("grade", path, "--task", "humorbench", "--grader", "openai-api/local/judge"),
            *("--no-cache", "--log-dir", tmp_path / "graded"),
        )
        assert "temperature:None" in again


@pytest.mark.slow
def test_an_exam_of_a_judge_without_temperature_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Server(without_temperature) as server, caplog.at_level(logging.WARNING, "humor_tasks"):
        judge = get_model("openai-api/local/judge", base_url=server.url, api_key="x", memoize=False)
        (log,) = eval(humorbench_autograder(dataset="sample"), model=judge, display="log", limit=2)
        assert log.status == "error"
        told = [record.getMessage() for record in caplog.records]
        remedy = "does not take temperature. Give -T temperature=none, which leaves it to the provider."
        assert any(each.endswith(remedy) for each in told)
        (log,) = eval(humorbench_autograder(dataset="sample", temperature="none"), model=judge, display="log", limit=2)
    assert log.status == "success"
