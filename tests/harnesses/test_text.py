"""Seq2seq models and encoders in both harnesses: the letters of plain transformers, and of lm-eval's own `hf`."""

from __future__ import annotations

import json
import math
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import get_model
from lm_eval.models.huggingface import HFLM
from standins import commands
from standins.logs import lm_eval_results
from standins.tiny_text import tiny_folder

from humor_tasks import load
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.logs.reading import read_run
from humor_tasks.models.choosers.chooser import Question
from humor_tasks.models.text.choosing import open_text
from humor_tasks.models.text.language import Generation
from humor_tasks.models.text.seq2seq import Seq2Seq
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval import harness
from humor_tasks.on_lm_eval.contributions import Loglikelihood, perplexities
from humor_tasks.on_lm_eval.providers.text import TextLM
from humor_tasks.rows.records import Record, plain_text
from humor_tasks.testing import ScriptedLM, run_lm_eval

SAMPLE = {"dataset": "sample"}
FEW = 2  # explanations: lm-eval lets each be written to its full length
PERPLEXITIES = ("word_perplexity", "byte_perplexity", "token_perplexity")


@cache
def opened(name: str) -> Run:
    """A benchmark's packaged sample, with the prompts of a direct answer."""
    found: Run = load(name, dataset="sample", cot=False)
    return found


def prompt(run: Run, record: Record) -> str:
    return plain_text((turn.text for turn in run.prompt(record).turns), run.form.prefix)


def made(kind: str, folder: Path) -> str:
    """A tiny model's folder; its letters differ between the rows of the sample."""
    runs = [opened("matching"), opened("explanation")]
    texts = [prompt(run, record) for run in runs for record in run.records]
    texts += [str(record.target) for record in runs[1].records]
    return tiny_folder(folder, texts, kind, seed=1, layers=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return made("t5", tmp_path_factory.mktemp("t5"))


def plainly(folder: str) -> tuple[Any, Any]:
    """The network and the tokenizer, loaded by transformers alone."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    return AutoModelForSeq2SeqLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def chances(network: Any, tokenizer: Any, text: str, continuation: str) -> list[float]:
    """The log-probability of each token of a continuation, in a loop over tokens."""
    read = torch.tensor([tokenizer(text)["input_ids"]])
    before, found = [network.config.decoder_start_token_id], []
    for token in tokenizer(continuation, add_special_tokens=False)["input_ids"]:
        with torch.no_grad():
            logits = network(input_ids=read, decoder_input_ids=torch.tensor([before])).logits[0, -1]
        found.append(float(logits.log_softmax(0)[token]))
        before.append(token)
    return found


def letters(folder: str) -> dict[str, str]:
    """The likeliest letter of each row of matching."""
    network, tokenizer, run = *plainly(folder), opened("matching")
    return {
        r.id: max("ABCDE", key=lambda letter: sum(chances(network, tokenizer, prompt(run, r), f" {letter}")))
        for r in run.records
    }


def logged(folder: Path) -> EvalLog:
    (path,) = folder.glob("*.eval")
    log = read_eval_log(path)
    assert log.status == "success", log.error
    assert log.samples
    return log


def samples(folder: Path, task: str) -> list[dict[str, Any]]:
    (path,) = folder.rglob(f"samples_{task}_2*.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_likelihoods_are_those_of_plain_transformers_and_of_hf(kind: str, tmp_path: Path) -> None:
    folder = made(kind, tmp_path)
    network, tokenizer, run = *plainly(folder), opened("explanation")
    asked = [(prompt(run, record), f" {record.target}") for record in run.records[:2]]
    asked += [(prompt(opened("matching"), opened("matching").records[0]), f" {letter}") for letter in "ABCDE"]
    requests = [harness.request("loglikelihood", {}, pair, 0, harness.Where("t", i)) for i, pair in enumerate(asked)]
    wanted = [sum(chances(network, tokenizer, *pair)) for pair in asked]
    hf = HFLM(pretrained=folder, backend="seq2seq", device="cpu", batch_size=4)
    for model in (TextLM(folder, device="cpu", batch_size=3), hf):
        found = model.loglikelihood(requests, disable_tqdm=True)
        assert [value for value, _ in found] == pytest.approx(wanted, rel=1e-4), model


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
@pytest.mark.slow
def test_both_command_lines_give_the_letters_of_plain_transformers(folder: str, tmp_path: Path) -> None:
    wanted = letters(folder)
    assert len(set(wanted.values())) > 1
    command = ["eval", "humor_tasks/matching", "--model", f"text/{folder}", "-T", "dataset=sample", "-T", "cot=false"]
    commands.inspect(*command, "-M", "batch_size=3", "--log-dir", tmp_path / "logs", cwd=tmp_path)
    log = logged(tmp_path / "logs")
    assert {str(s.id): s.output.completion for s in log.samples or ()} == {i: f"Answer: {a}" for i, a in wanted.items()}
    logprobs = log.samples[0].output.choices[0].logprobs  # type: ignore[index]
    assert logprobs
    assert [t.token for t in logprobs.content[0].top_logprobs or ()] == list("ABCDE")
    command = ["--tasks", "nyc_matching", "--model", "humor-text", "--model_args", f"pretrained={folder}"]
    command += ["--device", "cpu", "--batch_size", "4", "--metadata", "dataset=sample", "--log_samples"]
    commands.lm_eval(*command, "--output_path", tmp_path, cwd=tmp_path)
    (file,) = tmp_path.rglob("samples_nyc_matching_2*.jsonl")
    assert {s.id: s.outcome.answer for s in read_run(file) if s.outcome} == wanted
    assert {len(row["resps"]) for row in samples(tmp_path, "nyc_matching")} == {5}
    found = lm_eval_results(tmp_path)
    assert found["config"]["text"] == {"kind": "seq2seq", "precision": "fp32", "device": "cpu", "prompts_cut": 0}


def perplexities_are_a_loops(folder: str, found: dict[str, Any]) -> None:
    """lm-eval's perplexities of the explanations are those of `chances`."""
    network, tokenizer, run = *plainly(folder), opened("explanation")
    records = run.records[:FEW]
    each = [chances(network, tokenizer, prompt(run, r), f" {r.target}") for r in records]
    total = sum(sum(some) for some in each)
    units = {
        "token_perplexity": sum(len(some) for some in each),
        "word_perplexity": sum(len((r.target or "").split()) for r in records),
        "byte_perplexity": sum(len((r.target or "").encode()) for r in records),
    }
    for name, count in units.items():
        # 1e-4 of the logarithm: a tiny model's perplexity per word exceeds any number that one compares as it is.
        assert math.log(found[f"{name},none"]) == pytest.approx(-total / count, abs=1e-4), name
        assert found[f"{name}_stderr,none"] > 0


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
@pytest.mark.slow
def test_explanations_are_written_after_the_prefix_in_both_harnesses(folder: str, tmp_path: Path) -> None:
    network, tokenizer = plainly(folder)
    run, wanted = opened("explanation"), {}
    for record in run.records:
        read = torch.tensor([tokenizer(prompt(run, record))["input_ids"]])
        ids = network.generate(input_ids=read, max_new_tokens=12, do_sample=False, num_beams=1)[0]
        wanted[record.id] = f"Explanation: {tokenizer.decode(ids, skip_special_tokens=True).strip()}".strip()
    assert len(set(wanted.values())) > 1
    command = ["eval", "humor_tasks/explanation", "--model", f"text/{folder}"]
    command += ["-T", "dataset=sample", "-T", "cot=false"]
    commands.inspect(*command, "--max-tokens", "12", "--log-dir", tmp_path / "logs", cwd=tmp_path)
    log = logged(tmp_path / "logs")
    assert {str(s.id): s.output.completion.strip() for s in log.samples or ()} == wanted
    usage = log.samples[0].output.usage  # type: ignore[index]
    assert usage
    assert 0 < usage.output_tokens <= 12
    command = ["--tasks", "nyc_explanation_gen,nyc_explanation", "--model", "humor-text"]
    command += ["--model_args", f"pretrained={folder}", "--metadata", "dataset=sample,cot=false", "--log_samples"]
    command += ["--limit", str(FEW)]
    commands.lm_eval(*command, "--gen_kwargs", "max_gen_toks=12", "--output_path", str(tmp_path), cwd=tmp_path)
    rows = {task: samples(tmp_path, task) for task in ("nyc_explanation_gen", "nyc_explanation")}
    said = {row["doc"]["id"]: row["resps"][0][0].strip() for row in rows["nyc_explanation_gen"]}
    assert said == {record.id: wanted[record.id] for record in run.records[:FEW]}
    for row in rows["nyc_explanation"]:  # its prompt already ends with the prefix, and --gen_kwargs do not reach it
        assert row["resps"][0][0].startswith(wanted[row["doc"]["id"]])
    perplexities_are_a_loops(folder, lm_eval_results(tmp_path)["results"]["nyc_explanation"])


@pytest.mark.parametrize(
    ("given", "how"),
    [
        ({}, {}),
        ({"temperature": 0.7, "top_p": 0.9, "seed": 3}, {"temperature": 0.7, "top_p": 0.9, "seed": 3}),
        ({"do_sample": True}, {"temperature": 1.0}),
        ({"num_beams": 3}, {"beams": 3}),
    ],
)
def test_gen_kwargs_are_the_settings(folder: str, given: dict[str, Any], how: dict[str, Any]) -> None:
    model, asked = TextLM(folder, device="cpu"), [f"{i} dogs" for i in range(4)]
    requests = [
        harness.request(
            "generate_until", {}, (text, {"until": ["no"], "max_gen_toks": 9, **given}), 0, harness.Where("t", i)
        )
        for i, text in enumerate(asked)
    ]
    language = Seq2Seq.load(folder, "cpu")
    written = language.generate(asked, Generation(9, **how))
    assert model.generate_until(requests, disable_tqdm=True) == [w.text.split("no")[0].strip() for w in written]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"typical_p": 0.9}, "typical_p"),
        ({"temperature": 1.0, "top_p": 2}, "top_p is 2"),
        ({"num_beams": "many"}, "beams is 'many'; it must be a whole number"),
        ({"until": [3]}, "until contains 3"),
    ],
)
def test_bad_gen_kwargs(folder: str, given: dict[str, Any], said: str) -> None:
    request = harness.request("generate_until", {}, ("a", {"until": [], **given}), 0, harness.Where("t", 0))
    with pytest.raises(BadInput, match=said):
        TextLM(folder, device="cpu").generate_until([request], disable_tqdm=True)


def inspected(task: Task, folder: str, **how: Any) -> EvalLog:
    (log,) = eval(task, model=f"text/{folder}", display="log", log_dir=how.pop("log_dir"), **how)
    return log


@pytest.mark.slow
def test_samples_differ_between_epochs_and_not_between_runs(folder: str, tmp_path: Path) -> None:
    def replies(**how: Any) -> dict[str, list[str]]:
        task = build("explanation", SAMPLE)
        log = inspected(task, folder, log_dir=str(tmp_path), temperature=1.0, max_tokens=6, epochs=2, limit=2, **how)
        assert log.status == "success", log.error
        found: dict[str, list[str]] = {}
        for sample in log.samples or ():
            found.setdefault(str(sample.id), []).append(sample.output.completion)
        return {identity: sorted(some) for identity, some in found.items()}

    first = replies()
    assert all(len(set(some)) == 2 for some in first.values())
    get_model.__globals__["_models"].clear()  # a new run has a new model
    assert replies() == first
    seeded = replies(seed=5)
    assert all(len(set(some)) == 1 for some in seeded.values())
    assert seeded != replies(seed=6)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"num_choices": 2}, "2 choices: one text is written a request"),
        ({"frequency_penalty": 1.0}, "frequency_penalty is not supported"),
        ({"top_p": 1.5, "temperature": 1.0}, "top_p is 1.5"),
    ],
)
def test_settings_that_inspect_cannot_have(folder: str, how: dict[str, Any], said: str, tmp_path: Path) -> None:
    log = inspected(build("explanation", SAMPLE), folder, log_dir=str(tmp_path), limit=1, **how)
    assert log.status == "error"
    assert log.error
    assert said in log.error.message


# ---- perplexity without a command line ----------------------------------------------------------


def test_a_likelihood_keeps_its_tokens_where_lm_eval_copies_and_logs_it() -> None:
    made = Loglikelihood(-2.5, 4)
    copy = pickle.loads(pickle.dumps(made))  # noqa: S301 (what torch's gather does)
    assert (copy, copy.tokens) == (-2.5, 4)
    assert json.dumps([made, str(made)]) == '[-2.5, "-2.5"]'
    record = Record("1", "7", {}, "", (), "two words", {})
    found = perplexities(made, record)
    assert tuple(found) == PERPLEXITIES
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301
    assert tuple(perplexities(-2.5, record)) == PERPLEXITIES[:-1]


def test_a_model_that_does_not_tell_its_tokens_has_no_perplexity_per_token() -> None:
    found = run_lm_eval(ScriptedLM("Explanation: it is funny"), "nyc_explanation", metadata=SAMPLE)
    (results,) = (found["results"][name] for name in ["nyc_explanation"])
    assert "word_perplexity,none" in results
    assert not any("token_perplexity" in name for name in results)


# ---- models -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_models_that_are_not_for_text_name_the_remedy(tmp_path: Path) -> None:
    encoder = tiny_folder(tmp_path / "encoder", ["a dog"], "encoder")
    with pytest.raises(BadInput, match="humor-tasks train text --model"):
        open_text(encoder, "cpu")
    with pytest.raises(BadInput, match="encoders compute in fp32"):
        open_text(encoder, "cpu", "bf16")
    with pytest.raises(BadInput, match=r"--model_args of text/.*there is no 'presicion'"):
        TextLM(tiny_folder(tmp_path / "t5", ["a dog"]), device="cpu", presicion="bf16")


def test_pixels_are_refused(folder: str, tmp_path: Path) -> None:
    log = inspected(build("matching", SAMPLE | {"setting": "pixels"}), folder, log_dir=str(tmp_path))
    assert log.error
    assert "accepts only text" in log.error.message
    with pytest.raises(BadInput, match="reads only text, and this question has a picture"):
        open_text(folder, "cpu").check(Question("q", "", ("a", "b"), object()))
    with pytest.raises(ValueError, match="multimodal"):
        run_lm_eval(TextLM(folder, device="cpu"), "nyc_matching_pixels", metadata=SAMPLE)
