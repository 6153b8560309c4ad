"""The length of a reply: one definition a benchmark, the same in both harnesses, unless the user says another one."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from inspect_ai.model import ChatMessageUser
from standins.tiny_ofa import tiny_ofa
from standins.tiny_text import tiny_folder

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.messages import reply_limit
from humor_tasks.on_lm_eval.harness import LENGTHS, DefaultLength
from humor_tasks.on_lm_eval.providers.local import read_arguments
from humor_tasks.rows.records import ReplyLength
from humor_tasks.testing import ScriptedLM, run_lm_eval


def read(arguments: dict[str, Any], own: int, chosen: bool) -> Any:
    return read_arguments("here", arguments, own, chosen, ["max_gen_toks", "temperature"])[0]["max_gen_toks"]


@pytest.mark.parametrize(
    ("length", "own", "chosen", "expected"),
    [
        (ReplyLength(1024), 100, False, 100),  # the model's default is the shorter one
        (ReplyLength(50), 100, False, 50),
        (ReplyLength(1024), 5, True, 5),
        (ReplyLength(50), 2000, True, 2000),  # what the user says may be longer
        (ReplyLength(1000, True), 100, False, 1000),  # a protocol's length holds for models with short replies
        (ReplyLength(1000, True), 5, True, 5),
    ],
)
def test_the_length_without_a_limit_in_the_request(length: ReplyLength, own: int, chosen: bool, expected: int) -> None:
    assert length.within(own, chosen) == expected
    arguments = copy.deepcopy(DefaultLength({"until": ["\n"]}, length))
    assert json.loads(json.dumps(arguments)) == {"until": ["\n"], "max_gen_toks": length.tokens}
    assert (
        read_arguments("here", arguments, own, chosen, ["max_gen_toks", "temperature"])[0]["max_gen_toks"] == expected
    )
    message = ChatMessageUser(content="?", metadata={"reply_length": list(length)})
    sent = length.tokens if length.prescribed else None  # Inspect sends what a protocol prescribes
    assert reply_limit(message, sent, own, chosen) == expected
    for name in LENGTHS:  # what the user says about the request
        asked = {"until": [], name: 7}
        assert read(asked, own, chosen) == 7
    assert reply_limit(message, 7, own, chosen) == 7


@pytest.mark.parametrize(("own", "chosen"), [(100, False), (5, True)])
def test_somebody_elses_task(own: int, chosen: bool) -> None:
    for message in (None, ChatMessageUser(content="?")):
        assert reply_limit(message, None, own, chosen) == own
        assert reply_limit(message, 30, own, chosen) == 30
    assert read({"until": []}, own, chosen) == own


def test_one_definition_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("nyc_matching_gen", "nyc_explanation", "caption_writing"):
        model = ScriptedLM("Answer: A")
        found = run_lm_eval(model, task, metadata={"dataset": "sample"}, limit=1)
        assert found
        (sent,) = {request.args[1]["max_gen_toks"] for request in model.asked if isinstance(request.args[1], dict)}
        assert sent == (1000 if task == "caption_writing" else 1024)
    for name in LENGTHS:  # lm-eval takes the first of them: the definition must not stand before what the user says
        model = ScriptedLM("Answer: A")
        run_lm_eval(model, "nyc_matching_gen", metadata={"dataset": "sample"}, limit=1, gen_kwargs={name: 1024})
        (arguments,) = (request.args[1] for request in model.asked)
        assert {key: arguments[key] for key in LENGTHS if key in arguments} == {name: 1024}
        assert not isinstance(arguments, DefaultLength)


@pytest.mark.parametrize(
    ("task", "context", "gen_kwargs", "expected"),
    [
        ("nyc_matching_gen", None, None, 4096),  # as of a server, whose context lm-eval does not know
        ("nyc_matching_gen", 131072, None, 4096),
        ("nyc_matching_gen", 8192, None, 2048),
        ("nyc_matching_gen", 2048, None, 1024),
        ("nyc_matching_gen", 8192, {"max_gen_toks": 7}, 7),
        ("caption_writing", 131072, None, 1000),  # which the protocol prescribes
    ],
)
def test_a_chat_model_has_room_to_think(
    task: str, context: int | None, gen_kwargs: dict[str, int] | None, expected: int
) -> None:
    model = ScriptedLM("Answer: A")
    if context:
        model.max_length = context  # type: ignore[attr-defined]
    given: dict[str, Any] = {"metadata": {"dataset": "sample"}, "limit": 1, "apply_chat_template": True}
    found = run_lm_eval(model, task, gen_kwargs=gen_kwargs, **given)
    (arguments,) = (request.args[1] for request in model.asked)
    assert (arguments["max_gen_toks"], arguments["until"]) == (expected, ["</s>", "<|im_end|>"])
    signature = found["configs"][task]["metadata"]["signature"]
    assert (f"|generation:max_tokens={expected}|" in signature) == (gen_kwargs is None and task != "caption_writing")


# ---- the same model in both harnesses ---------------------------------------------------------------


@pytest.fixture(scope="module")
def ofa(tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = [turn.text for turn in load("ranking", dataset="sample").prompt(_first()).turns]
    return tiny_ofa(tmp_path_factory.mktemp("ofa") / "m", texts, max_position_embeddings=1024)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    run = load("explanation", dataset="sample")
    texts = [turn.text for record in run.records for turn in run.prompt(record).turns]
    return tiny_folder(tmp_path_factory.mktemp("text") / "m", texts, layers=1)


def _first() -> Any:
    return load("ranking", dataset="sample").records[0]


def test_a_length_that_is_no_number_is_refused() -> None:
    with pytest.raises(BadInput, match="'max_gen_toks': 'x'} cannot be used"):
        read_arguments("--gen_kwargs", {"max_gen_toks": "x"}, 100, False, ["max_gen_toks"])
