"""`humor-tasks train text`: whole runs of tiny models on few rows, held to transformers and to both harnesses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from standins.commands import humor_tasks, inspect, lm_eval
from standins.once import made_once
from standins.short_prompts import short_prompts
from standins.small_sample import small_sample
from standins.tiny_text import tiny_folder, without_dropout
from standins.trainings import numbers_of_curve, predicted, resumes_to_the_same_end
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GenerationConfig,
)

from humor_tasks import evaluate, load
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.text import finetune
from humor_tasks.lab.training.text.data import Splits, read_splits
from humor_tasks.lab.training.text.finetune import train
from humor_tasks.lab.training.text.settings import TextTrainConfig
from humor_tasks.logs.reading import read_run
from humor_tasks.models.text.causal import plain_template
from humor_tasks.models.text.pretrained import ABOUT
from humor_tasks.models.text.seq2seq import Seq2Seq
from humor_tasks.rows.records import plain_text
from humor_tasks.scorers.perplexity import UNITS

pytestmark = pytest.mark.slow
KIND = {"t5": "seq2seq", "causal": "causal", "encoder": "encoder"}
QUICK: dict[str, Any] = {"lr": (1e-2,), "batch_size": 3, "epochs": 2, "device": "cpu"}


def fresh(folder: Path, kind: str) -> None:
    """A network with weights as at the start of a training, and without dropout: it learns in few steps."""
    config = AutoConfig.from_pretrained(without_dropout(folder))
    loader = {"causal": AutoModelForCausalLM, "encoder": AutoModel}.get(kind, AutoModelForSeq2SeqLM)
    torch.manual_seed(0)
    loader.from_config(config).save_pretrained(folder)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Templates in `prompts`, rows in `sample`, and a tiny model of each kind in a folder of its name."""
    return made_once(tmp_path_factory, "text_models", make_home)


def make_home(folder: Path) -> None:
    prompts, sample = short_prompts(folder / "prompts"), small_sample(folder / "sample")
    texts = []
    for task in ("matching", "ranking", "explanation"):
        run = load(task, dataset=sample, split="train", cot=False, prompts=prompts)
        texts += [turn.text for record in run.records for turn in run.prompt(record).turns]
        texts += [str(record.target) for record in run.records]
    for kind in (*KIND, "bart"):
        tiny_folder(folder / kind, texts, kind, width=16, layers=1)
        fresh(folder / kind, kind)


def config(home: Path, kind: str, task: str = "ranking", **values: Any) -> TextTrainConfig:
    values = {"dataset": str(home / "sample"), "prompts": str(home / "prompts")} | QUICK | values
    return TextTrainConfig(task, str(home / kind), **values)


def rows_of(home: Path, task: str, split: str = "test", **more: Any) -> Run:
    return load(task, dataset=str(home / "sample"), split=split, cot=False, prompts=str(home / "prompts"), **more)


def on_train(settings: TextTrainConfig) -> Splits:
    """Validation is what is trained on: the best weights are those that have learnt most."""
    splits = read_splits(settings)
    assert splits.train is not None
    return Splits(splits.train, splits.train, {"validation": splits.train, "test": splits.evaluated["test"]})


# ---- learning, and the same predictions everywhere ----


def prompts_of(home: Path, task: str, split: str) -> dict[str, str]:
    run = rows_of(home, task, split)
    return {r.id: plain_text((turn.text for turn in run.prompt(r).turns), run.form.prefix) for r in run.records}


PLAIN = {"t5": AutoModelForSeq2SeqLM, "causal": AutoModelForCausalLM}


def plain_letters(kind: str, model: Path, prompts: dict[str, str]) -> dict[str, str]:
    """What plain transformers write greedily, after "Answer:" where the prompt ends with it."""
    network, tokenizer = PLAIN[kind].from_pretrained(model), AutoTokenizer.from_pretrained(model)
    found = {}
    for identity, prompt in prompts.items():
        ids = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
        written = network.generate(**ids, max_new_tokens=4, do_sample=False)[0]
        begun = ids["input_ids"].shape[1] if kind == "causal" else 0
        found[identity] = tokenizer.decode(written[begun:], skip_special_tokens=True).strip()
    return found


@pytest.fixture
def learnt(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The run folder of a kind that has learnt the matching rows of train by heart."""

    def learn(kind: str, output: Path) -> None:
        how: dict[str, Any] = {"lr": (1e-2,), "head_lr": 1e-2, "epochs": 20, "patience": 0, "weight_decay": 0.0}
        settings = config(home, kind, "matching", **how)
        train(settings, output, on_train(settings), progress=False)

    return lambda kind: made_once(tmp_path_factory, f"text_learnt_{kind}", partial(learn, kind))


@pytest.mark.parametrize("kind", KIND)
def test_tiny_models_learn_the_sample_by_heart(kind: str, learnt: Callable[[str], Path]) -> None:
    output = learnt(kind)
    metrics = json.loads((output / "metrics.json").read_text())
    assert metrics["validation"]["metrics"]["accuracy"]["value"] > 0.8  # by chance .2
    assert metrics["kind"] == KIND[kind]
    losses = [row["train_loss"] for row in numbers_of_curve(output)]
    assert min(losses) < 0.5 * losses[0]


@pytest.mark.parametrize("kind", PLAIN)
def test_plain_transformers_write_the_predictions(kind: str, home: Path, learnt: Callable[[str], Path]) -> None:
    output = learnt(kind)  # its validation rows are those of train
    assert plain_letters(kind, output / "model", prompts_of(home, "matching", "train")) == predicted(
        output, "validation"
    )


def test_an_encoder_scores_as_plain_transformers(home: Path, learnt: Callable[[str], Path]) -> None:
    model = learnt("encoder") / "model"
    encoder, tokenizer = AutoModel.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    head = load_file(model / "head.safetensors")
    for record in rows_of(home, "matching").records:
        scores = []
        for choice in record.choices:
            states = encoder(**tokenizer(record.context, choice, return_tensors="pt")).last_hidden_state[0].detach()
            scores.append(float(states.mean(0) @ head["head.weight"][0] + head["head.bias"][0]))
        assert "ABCDE"[scores.index(max(scores))] == predicted(model.parent, "test")[record.id]


def answered(log: Path) -> dict[str, str | None]:
    return {sample.id: sample.outcome.answer for sample in read_run(log) if sample.outcome}


@pytest.mark.parametrize("kind", KIND)
def test_both_harnesses_give_the_predictions(
    kind: str, home: Path, learnt: Callable[[str], Path], tmp_path: Path
) -> None:
    output, prompts = learnt(kind), home / "prompts"
    model = output / "model"
    wanted = predicted(output, "validation")
    causal = kind == "causal"
    asked = ["--model", f"hf/{model}", "-M", "do_sample=false"] if causal else ["--model", f"text/{model}"]
    inspect(
        *("eval", "humor_tasks/matching", *asked, "-M", "device=cpu", "-T", f"dataset={home / 'sample'}"),
        *("-T", "cot=false", "-T", "split=train", "-T", f"prompts={prompts}", "--max-tokens", "8"),
        *("--log-dir", tmp_path / "logs", "--display", "none"),
        cwd=tmp_path,
    )
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert answered(log) == wanted
    more = {"dataset": str(home / "sample"), "split": "train", "prompts": str(prompts)}
    for name in ["hf", *([] if causal else ["humor-text"])]:
        if kind == "encoder" and name == "hf":
            continue
        where = tmp_path / name
        lm_eval(
            *("run", "--model", name, "--model_args", f"pretrained={model}", "--device", "cpu", "--tasks"),
            *("nyc_matching", "--metadata", json.dumps(more), "--log_samples", "--output_path", where),
            cwd=tmp_path,
        )
        (samples,) = where.rglob("samples_*.jsonl")
        assert answered(samples) == wanted, name


def likeliest_letter(model: Path, text: str) -> str:
    """By plain transformers, of the text alone."""
    network, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    ids = tokenizer(text, return_tensors="pt", return_token_type_ids=False)
    start = torch.tensor([[network.config.decoder_start_token_id]])
    logits = network(**ids, decoder_input_ids=start).logits[0, 0]
    letters = [tokenizer(f" {letter}", add_special_tokens=False)["input_ids"][0] for letter in "ABCDE"]
    return "ABCDE"[int(logits[letters].argmax())]


@pytest.mark.parametrize("setting", ["description", "caption_only"])
def test_the_corpus_own_text_is_trained_and_read_in_both_harnesses(setting: str, home: Path, tmp_path: Path) -> None:
    settings = config(home, "t5", "matching", prompts=None, input="released", setting=setting)
    train(settings, tmp_path / "run", progress=False)
    model, rows = tmp_path / "run" / "model", {"dataset": str(home / "sample"), "setting": setting}
    run = load("matching", cot=False, prompts=str(model / "prompts"), **rows)
    texts = {record.id: run.prompt(record).turns[-1].text for record in run.records}
    assert all(text.startswith("scene: " if setting == "description" else "choices A: ") for text in texts.values())
    wanted = predicted(tmp_path / "run", "test")
    assert wanted == {key: likeliest_letter(model, text) for key, text in texts.items()}
    asked = ("-M", "device=cpu", "-T", f"dataset={home / 'sample'}", "-T", f"setting={setting}", "-T", "cot=false")
    inspect(
        *("eval", "humor_tasks/matching", "--model", f"text/{model}", *asked, "-T", f"prompts={model / 'prompts'}"),
        *("--log-dir", tmp_path / "logs", "--display", "none"),
        cwd=tmp_path,
    )
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert answered(log) == wanted
    lm_eval(
        *("run", "--model", "humor-text", "--model_args", f"pretrained={model}", "--device", "cpu", "--tasks"),
        *("nyc_matching" if setting == "description" else "nyc_matching_caption_only", "--metadata"),
        *(json.dumps({"dataset": rows["dataset"], "prompts": str(model / "prompts")}), "--log_samples"),
        *("--output_path", tmp_path / "lm"),
        cwd=tmp_path,
    )
    (samples,) = (tmp_path / "lm").rglob("samples_*.jsonl")
    assert answered(samples) == wanted
    with pytest.raises(BadInput, match=f"begins with .*give prompts={model / 'prompts'}"):
        Seq2Seq.load(str(model), "cpu").read(["I will show you a cartoon."])


# ---- run folders ----


@pytest.mark.parametrize("kind", ["t5", "causal", "encoder"])
def test_a_killed_training_ends_with_the_same_weights(kind: str, home: Path, tmp_path: Path) -> None:
    settings = config(home, kind, epochs=2, validations=2, patience=0, clip_norm=0.5)
    resumes_to_the_same_end(train, finetune.Trainer, settings, tmp_path)


def test_weights_in_bf16_end_the_same_after_a_kill_and_learn(home: Path, tmp_path: Path) -> None:
    values: dict[str, Any] = {"adafactor": True, "bf16_weights": True, "precision": "bf16", "checkpointing": True}
    settings = config(home, "t5", **values, epochs=3, patience=0, lr=(3e-2,), micro_batch=2)
    resumes_to_the_same_end(train, finetune.Trainer, settings, tmp_path)
    losses = [row["train_loss"] for row in numbers_of_curve(tmp_path / "cut")]
    assert losses[-1] < losses[0]
    after = load_file(tmp_path / "cut/model/model.safetensors")
    assert {tensor.dtype for tensor in after.values()} == {torch.bfloat16}


@pytest.mark.parametrize("kind", ["t5", "causal", "encoder"])
def test_adapters_are_merged_into_the_saved_weights(kind: str, home: Path, tmp_path: Path) -> None:
    settings = config(home, kind, lora=4, lr=(5e-2,), epochs=3, patience=0)
    trained: list[finetune.Trainer] = []
    made = finetune.Trainer.__init__

    def kept(self: finetune.Trainer, *given: Any) -> None:
        made(self, *given)
        trained.append(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(finetune.Trainer, "__init__", kept)
        metrics = train(settings, tmp_path / "run", progress=False)
    (trainer,) = trained
    judged = trainer.system.judged(trainer.network.eval(), range(2))
    assert metrics["best_epoch"] <= 3
    before, after = load_file(home / kind / "model.safetensors"), load_file(tmp_path / "run/model/model.safetensors")
    assert before.keys() == after.keys()
    moved = [name for name in before if not torch.equal(before[name], after[name])]
    assert moved
    assert not any("embed" in name or "norm" in name.lower() or "shared" in name for name in moved)
    if metrics["best_epoch"] == 3:  # what is saved answers as what was trained
        run = rows_of(home, "ranking", "validation")
        wrong = sum(predicted(tmp_path / "run", "validation")[r.id] != r.target for r in run.records)
        assert wrong == int(judged[0])


def test_a_run_folder_holds_what_its_model_says(home: Path, tmp_path: Path) -> None:
    output, settings = tmp_path / "run", config(home, "t5", precision="bf16", checkpointing=True, micro_batch=2)
    metrics = train(settings, output, progress=False)
    assert {path.name for path in output.iterdir()} == {
        *(".lock", "config.json", "curves.csv", "metrics.json", "model", "training.json"),
        *("predictions_validation.json", "predictions_test.json"),
    }
    assert json.loads((output / "config.json").read_text()) == settings.as_dict()
    assert json.loads((output / "metrics.json").read_text()) == metrics
    assert metrics["rows"] == {"train": 6, "validation": 2, "test": 2}
    for split in ("validation", "test"):
        run = rows_of(home, "ranking", split)
        assert evaluate(run, predicted(output, split)).as_dict() == metrics[split]
    about = json.loads((output / "model" / ABOUT).read_text())
    assert {name: about[name] for name in ("format", "kind", "task", "setting", "prefix")} == {
        **{"format": 1, "kind": "seq2seq", "task": "ranking", "setting": "description", "prefix": "Answer:"}
    }


@pytest.mark.parametrize("kind", ["t5", "causal"])
def test_explanations_and_their_perplexity(kind: str, home: Path, tmp_path: Path) -> None:
    settings = config(home, kind, "explanation", max_new_tokens=12)
    metrics = train(settings, tmp_path, progress=False)
    assert {"bleu", "rouge_l"} <= metrics["test"]["metrics"].keys()
    texts = predicted(tmp_path, "test")
    assert len(set(texts.values())) > 1
    run = rows_of(home, "explanation")
    nll, units = naive_nll(tmp_path / "model", kind, run)
    assert list(metrics["test"]["perplexity"]) == list(UNITS), "the names of lm-eval"
    for unit, count in units.items():
        found = metrics["test"]["perplexity"][f"{unit}_perplexity"]
        assert found["units"] == count
        assert found["value"] == pytest.approx(float(torch.tensor(nll / count).exp()), rel=1e-4)
        assert found["low"] < found["value"] < found["high"]


def naive_nll(model: Path, kind: str, run: Any) -> tuple[float, dict[str, int]]:
    """By plain transformers, one row at a time."""
    network = PLAIN[kind].from_pretrained(model)
    tokenizer = AutoTokenizer.from_pretrained(model)
    total, units = 0.0, {"token": 0, "word": 0, "byte": 0}
    for record in run.records:
        prompt = plain_text((turn.text for turn in run.prompt(record).turns), run.form.prefix)
        read = tokenizer(prompt)["input_ids"]
        if kind == "t5":
            wanted = tokenizer(f" {record.target}", add_special_tokens=False)["input_ids"]
            begun = {"decoder_input_ids": torch.tensor([[tokenizer.pad_token_id, *wanted[:-1]]])}
        else:
            wanted = tokenizer(f"{prompt} {record.target}")["input_ids"][len(read) :]
            begun, read = {}, [*read, *wanted[:-1]]
        with torch.no_grad():
            logits = network(input_ids=torch.tensor([read]), **begun).logits[0, -len(wanted) :]
        total -= float(logits.log_softmax(-1)[range(len(wanted)), wanted].sum())
        units["token"] += len(wanted)
        units["word"] += len(str(record.target).split())
        units["byte"] += len(str(record.target).encode())
    return total, units


def test_a_base_model_is_saved_with_the_plain_template(learnt: Callable[[str], Path]) -> None:
    tokenizer = AutoTokenizer.from_pretrained(learnt("causal") / "model")
    assert tokenizer.chat_template == plain_template("Answer:")
    turns = [{"role": "system", "content": "One."}, {"role": "user", "content": "Two."}]
    shown = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    assert shown == plain_text(["One.", "Two."], "Answer:")
    begun = [*turns, {"role": "assistant", "content": "Answer:"}]
    assert tokenizer.apply_chat_template(begun, tokenize=False, continue_final_message=True) == shown


def test_the_command_says_what_was_reached(home: Path, tmp_path: Path) -> None:
    said = humor_tasks(
        *("train", "text", "--task", "ranking", "--dataset", home / "sample", "--model", home / "encoder"),
        *("--encoding", "bi", "--lr", "1e-3", "--epochs", "1", "--device", "cpu", "--no-progress"),
        *("--evaluate", "test", "-o", tmp_path / "run"),
    )
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert f"test        accuracy                {metrics['test']['metrics']['accuracy']['value']:.5f}" in said
    assert "validation" not in metrics
    assert not (tmp_path / "run" / "predictions_validation.json").exists()


def test_a_seq2seq_model_without_a_first_token_is_trained(home: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"  # as the published T5
    shutil.copytree(home / "t5", source)
    for name in ("config.json", "generation_config.json"):
        written = json.loads((source / name).read_text())
        written.pop("bos_token_id", None)
        (source / name).write_text(json.dumps(written))
    assert train(config(home, str(source), epochs=1), tmp_path / "run", progress=False)["kind"] == "seq2seq"


def test_a_summarisers_settings_of_generation_are_not_inherited(home: Path, tmp_path: Path) -> None:
    source = tmp_path / "summariser"
    shutil.copytree(home / "bart", source)
    written = json.loads((source / "generation_config.json").read_text())
    (source / "generation_config.json").write_text(json.dumps(written | {"min_length": 9, "forced_bos_token_id": 0}))
    train(config(home, str(source), epochs=1), tmp_path / "run", progress=False)
    settings = GenerationConfig.from_pretrained(tmp_path / "run" / "model")
    assert not settings.min_length
    assert settings.forced_bos_token_id is None
    assert settings.decoder_start_token_id == written["decoder_start_token_id"]
