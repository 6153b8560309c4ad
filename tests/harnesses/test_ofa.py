"""OFA in both harnesses gives the answers of `Describer.answer`, by every road to it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText, GenerateConfig, get_model
from standins import commands
from standins.logs import replies
from standins.seeing import described
from standins.tiny_clip import drawing, encoded, uri
from standins.tiny_ofa import tiny_ofa

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import cut_at
from humor_tasks.models.ofa import Describer
from humor_tasks.models.ofa.describe import ANSWER
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval import harness
from humor_tasks.on_lm_eval.harness import Instance
from humor_tasks.on_lm_eval.providers.ofa import OfaLM
from humor_tasks.testing import run_lm_eval

NYCC = ("matching", "ranking", "explanation")
SHORT = dataclasses.replace(ANSWER, max_len=9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = [turn.text for name in NYCC for turn in load(name, dataset="sample").prompt(_first(name)).turns]
    return tiny_ofa(tmp_path_factory.mktemp("ofa") / "m", texts, max_position_embeddings=1024)


def _first(name: str) -> Any:
    return load(name, dataset="sample").records[0]


@pytest.fixture(scope="module")
def describer(folder: str) -> Describer:
    return Describer.load(folder, {"device": "cpu", "max_len": 9})


# ---- Inspect ----------------------------------------------------------------------------------------


def directly(describer: Describer, name: str, max_len: int = 9) -> dict[str, str]:
    run = load(name, dataset="sample", setting="pixels")
    questions = [run.prompt(record).turns[-1].text for record in run.records]
    settings = dataclasses.replace(ANSWER, max_len=max_len)
    answers = describer.answer([record.picture for record in run.records], questions, settings)
    return {record.id: answer for record, answer in zip(run.records, answers, strict=True)}


def asking(question: str, *images: bytes, **known: Any) -> ChatMessageUser:
    content = [*(ContentImage(image=uri(image)) for image in images), ContentText(text=question)]
    return ChatMessageUser(content=content, metadata=known or None)


PNG = encoded(drawing(0))


def generated(folder: str, messages: Sequence[Any], **config: Any) -> Any:
    import anyio

    model = get_model(f"ofa/{folder}", device="cpu", max_len=9)

    async def ask() -> Any:
        return await model.generate(list(messages), config=GenerateConfig(**config))

    return anyio.run(ask)


@pytest.mark.inspect_ai_versions
def test_the_last_user_text_is_the_question(folder: str, describer: Describer) -> None:
    other = encoded(drawing(1))
    messages = [ChatMessageSystem(content="Be kind."), asking("first?", other), asking("what is this?", PNG)]
    output = generated(folder, messages)
    assert [output.completion] == describer.answer([drawing(0)], ["what is this?"])
    assert generated(folder, messages, stop_seqs=[output.completion[1:]]).completion == output.completion[:1]


def test_choices_are_the_n_best(folder: str, describer: Describer) -> None:
    output = generated(folder, [asking("what is this?", PNG)], num_choices=3)
    (expected,) = describer.answers([drawing(0)], ["what is this?"], n=3)
    assert tuple(choice.message.text for choice in output.choices) == expected.texts


@pytest.mark.inspect_ai_versions
def test_inspects_settings_reach_the_search(folder: str, describer: Describer) -> None:
    question = [asking("what is this?", PNG)]
    (short,) = describer.answer([drawing(0)], ["what is this?"], dataclasses.replace(ANSWER, max_len=2))
    output = generated(folder, question, max_tokens=2, temperature=0.0)
    assert (output.completion, output.stop_reason) == (short, "max_tokens")
    drawn = dataclasses.replace(SHORT, beams=1, sample=True, temperature=4.0, seed=5)
    expected = describer.answer([drawing(0)], ["what is this?"], drawn)
    assert [generated(folder, question, temperature=4.0, seed=5).completion] == expected


@pytest.mark.parametrize(
    ("messages", "config", "message"),
    [
        ([asking("what?")], {}, "the question: there is no picture. OFA needs exactly one picture"),
        ([asking("what?", id="q7")], {}, "question q7: there is no picture"),
        ([asking("what?", PNG, PNG)], {}, "there are 2 pictures"),
        ([asking("first?", PNG), asking("then?")], {}, "there is no picture"),
        ([asking(" ", PNG)], {}, "the question: the question is empty"),
        ([asking("cat " * 1100, PNG)], {}, "OFA has 1024 positions"),
        ([ChatMessageSystem(content="x")], {}, "there is no user message to answer"),
        ([asking("what?", PNG[:200])], {}, "Picture of the question: the PNG data is truncated"),
        ([asking("what?", PNG)], {"num_choices": 6}, "6 choices: beam search with 5 beams gives at most that many"),
        (
            [asking("what?", PNG)],
            {"num_choices": 2, "temperature": 1.0},
            "2 choices: sampling gives one answer per request",
        ),
        ([asking("what?", PNG)], {"frequency_penalty": 0.5}, "frequency_penalty is not supported by OFA"),
        ([asking("what?", PNG)], {"logprobs": True}, "logprobs is not supported by OFA"),
        ([asking("what?", PNG)], {"temperature": -1.0}, "temperature is -1.0"),
    ],
)
def test_what_ofa_cannot_be_asked(folder: str, messages: Any, config: dict[str, Any], message: str) -> None:
    with pytest.raises(PrerequisiteError, match=message):
        generated(folder, messages, **config)


def test_models_that_cannot_be_opened(folder: str) -> None:
    with pytest.raises(PrerequisiteError, match=r"Did you mean 'beams'"):
        get_model(f"ofa/{folder}", beam=3)
    with pytest.raises(PrerequisiteError, match="there is no such folder"):
        get_model("ofa//no/where")


# ---- lm-eval ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lm(folder: str) -> OfaLM:
    return OfaLM(folder, "cpu", max_len=9)


@pytest.mark.lm_eval_versions
def test_lm_eval_compares_likelihoods_of_letters(lm: OfaLM, describer: Describer) -> None:
    task, given = "nyc_ranking_pixels", {"dataset": "sample"}
    found = run_lm_eval(lm, task, metadata=given, apply_chat_template=True, limit=2)
    run = load("ranking", dataset="sample", setting="pixels", cot=False)
    for sample, record in zip(found["samples"][task], run.records, strict=False):
        question = run.prompt(record).turns[-1].text
        expected = describer.loglikelihoods([record.picture] * 2, [question] * 2, [" A", " B"])
        assert [pair[0] for pair, *_ in sample["resps"]] == pytest.approx([value for value, _ in expected])


def request(kind: Any, context: str, argument: Any, *images: Any) -> Instance:
    shown = {"visual": list(images)} if images else None
    return harness.request(kind, {"id": "d1"}, (context, argument), 0, harness.Where("t", 0), shown)


@pytest.mark.lm_eval_versions
def test_requests_of_other_tasks(lm: OfaLM, describer: Describer) -> None:
    asked = [
        request("generate_until", "<image>\nwhat is this?", {"until": ["\n"]}, drawing(0)),
        request("generate_until", "what is this?", {"max_gen_toks": 2, "until": []}, drawing(1)),
        request("generate_until", "what is this?", {"do_sample": True, "temperature": 4.0, "seed": 5}, drawing(0)),
    ]
    drawn = dataclasses.replace(SHORT, beams=1, sample=True, temperature=4.0, seed=5)
    expected = [
        cut_at(describer.answer([drawing(0)], ["what is this?"], SHORT)[0], ("\n",)),
        *describer.answer([drawing(1)], ["what is this?"], dataclasses.replace(SHORT, max_len=2)),
        *describer.answer([drawing(0)], ["what is this?"], drawn),
    ]
    assert lm.generate_until(asked, disable_tqdm=True) == expected
    with pytest.raises(NotImplementedError, match="does not score texts"):
        lm.loglikelihood_rolling([])
    # As in transformers, to draw is to draw at temperature 1.
    plain, warm = ({"do_sample": True, "seed": 5, **more} for more in ({}, {"temperature": 1.0}))
    both = [request("generate_until", "what?", how, drawing(0)) for how in (plain, warm)]
    first, second = lm.generate_until(both, disable_tqdm=True)
    assert first == second != describer.answer([drawing(0)], ["what?"], SHORT)[0]
    with pytest.raises(BadInput, match="there is no user turn to answer"):
        lm.apply_chat_template([{"role": "system", "content": "Be kind."}])
    with pytest.raises(BadInput, match="t, document d1: the text contains a lone surrogate"):
        lm.loglikelihood([request("loglikelihood", "what?", "\ud800", drawing(0))], disable_tqdm=True)


def test_batch_sizes(folder: str) -> None:
    for size in ("x", "-3", 3.5, "", "²"):
        with pytest.raises(BadInput, match=f"--batch_size is '{size}'; it must be a whole number or auto"):
            OfaLM(folder, "cpu", size)
    assert OfaLM(folder, "cpu", "auto:4").batch_size == OfaLM(folder, "cpu", 1).batch_size == 8


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (request("generate_until", "what?", {}), "t, document d1: there is no picture. OFA needs exactly one"),
        (request("generate_until", "what?", {}, drawing(0), drawing(1)), "t, document d1: there are 2 pictures"),
        (request("generate_until", "<image>", {}, drawing(0)), "t, document d1: the question is empty"),
        (request("generate_until", "what?", {"num_beams": 3}, drawing(0)), "there is no 'num_beams'"),
        (
            request("generate_until", "what?", {"until": 5}, drawing(0)),
            "gen_kwargs of humor-ofa: until contains 5; it must be",
        ),
        (
            request("generate_until", "what?", {"do_sample": "no"}, drawing(0)),
            "do_sample is 'no'; it must be true or false",
        ),
        (request("generate_until", "what?", {"max_gen_toks": "x"}, drawing(0)), "{'max_gen_toks': 'x'} cannot be used"),
        (request("generate_until", "what?", {"temperature": "hot"}, drawing(0)), "'hot'} cannot be used"),
    ],
)
def test_requests_that_cannot_be_answered(lm: OfaLM, asked: Instance, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        lm.generate_until([asked], disable_tqdm=True)


@pytest.mark.slow
def test_ofa_describes_a_dataset_and_a_retrained_one_is_asked_again(folder: str, tmp_path: Path) -> None:
    own = tiny_ofa(tmp_path / "own", seed=1)
    more = ["-M", "device=cpu", "--max-tokens", "4", "--task", "matching", "--split", "test", "--unanswered", "Nothing"]
    dataset = described(tmp_path / "d", f"ofa/{own}", *more)
    answers = tmp_path / "d.answers.jsonl"
    kept = [json.loads(line) for line in answers.read_text().splitlines()]
    assert len(kept) == 5 * 4
    model = Describer.load(own, {"device": "cpu"})
    records = load("matching", dataset="sample", setting="pixels").records
    by_picture = {r.picture.sha256(): r.picture for r in records if r.picture}
    short = dataclasses.replace(ANSWER, max_len=4)
    for line in kept:
        assert [line["answer"]] == model.answer([by_picture[line["picture"]]], [line["question"]], short)
    assert kept[0]["asked"]["weights"] == model.identity()["weights"]
    (log,) = eval(build("matching", {"dataset": dataset}), model="baseline/overlap", display="log")
    assert log.status == "success"
    tiny_ofa(tmp_path / "own", seed=2)
    (tmp_path / "d").rename(tmp_path / "old")
    described(tmp_path / "d", f"ofa/{own}", *more)
    assert len(answers.read_text().splitlines()) == 2 * 5 * 4


# ---- the commands -----------------------------------------------------------------------------------


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
@pytest.mark.slow
def test_the_commands(folder: str, describer: Describer, tmp_path: Path) -> None:
    expected = directly(describer, "ranking")
    inspect = ["eval", "humor_tasks/ranking", "-T", "dataset=sample", "-T", "setting=pixels"]
    commands.inspect(
        *inspect, "--model", f"ofa/{folder}", "-M", "device=cpu", "-M", "max_len=9", "--log-dir", "one", cwd=tmp_path
    )
    (path,) = (tmp_path / "one").glob("*.eval")
    assert replies(read_eval_log(str(path))) == expected
    first = ["--solver", "humor_tasks/describe_first", "-S", "max_tokens=9", "--model-role", f"describer=ofa/{folder}"]
    first += ["--no-fail-on-error"]
    commands.inspect(*inspect, "--model", "baseline/overlap", *first, "--log-dir", "two", cwd=tmp_path)
    (path,) = (tmp_path / "two").glob("*.eval")
    errors = [sample.error for sample in read_eval_log(str(path)).samples or []]
    assert errors  # random weights never end an answer
    assert all(error and "gives no description: 4 cut-off answers" in error.message for error in errors)
    asked = ["--tasks", "nyc_ranking_pixels_gen", "--model", "humor-ofa", "--apply_chat_template", "--device", "cpu"]
    asked += ["--model_args", f"pretrained={folder}", "--gen_kwargs", "max_gen_toks=9", "--metadata", "dataset=sample"]
    commands.lm_eval(*asked, "--output_path", "out", "--log_samples", cwd=tmp_path)
    (file,) = tmp_path.rglob("samples_nyc_ranking_pixels_gen_*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {row["doc"]["id"]: row["resps"][0][0] for row in rows} == expected
