"""`humor-tasks train text`: settings, rows, what is trained on, and what is refused."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from standins.short_prompts import short_prompts
from standins.small_sample import small_sample
from standins.tiny_text import tiny_folder, tiny_network, tiny_tokenizer
from torch.nn.functional import cross_entropy

from humor_tasks.errors import BadInput
from humor_tasks.lab.training.text.data import Splits, prompt_of, question, read_splits
from humor_tasks.lab.training.text.finetune import train
from humor_tasks.lab.training.text.settings import TextTrainConfig
from humor_tasks.lab.training.text.systems import CausalWriter, Scorer, Seq2SeqWriter, Writer, system_of
from humor_tasks.models.choosers.chooser import Question
from humor_tasks.models.text.choosing import ChoiceNetwork, Ranker, TextTokenizer, layout

WORDS = ["A dog walks into a bar. So what? It is the captain speaking, and all of the passengers listen."]
QUICK: dict[str, Any] = {"lr": (1e-3,), "epochs": 1, "batch_size": 16, "device": "cpu"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rows a block in `sample`, templates in `prompts`, and a tiny model of each kind in a folder of its name."""
    home = tmp_path_factory.mktemp("text")
    small_sample(home / "sample")
    short_prompts(home / "prompts")
    for kind in ("t5", "causal", "encoder"):
        tiny_folder(home / kind, WORDS, kind)
    return home


def config(home: Path, kind: str = "encoder", task: str = "ranking", **values: Any) -> TextTrainConfig:
    given = {"dataset": str(home / "sample"), "prompts": str(home / "prompts")} | QUICK | values
    return TextTrainConfig(task, str(home / kind), **given)


# ---- settings ----


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"task": "humorbench"}, "task"),
        ({"task": "matchign"}, "matching"),
        ({"setting": "pixels"}, "setting"),
        ({"kind": "decoder"}, "kind"),
        ({"encoding": "poly"}, "encoding"),
        ({"fold": "5"}, "fold"),
        ({"lr": ()}, "lr: name at least one value"),
        ({"lr": (0.0,)}, "lr must be a number from 1e-12 to 1, not 0.0"),
        ({"evaluate": ("train",)}, "evaluate"),
        ({"batch_size": 0}, "batch_size must be .*, not 0"),
        ({"validations": 0}, "validations must be .*, not 0"),
        ({"warmup": 2.0}, "warmup must be .*, not 2.0"),
        ({"precision": "fp16"}, "precision"),
        ({"task": "mock_matching", "fold": "1"}, "no folds"),
        ({"task": "mock_matching", "setting": "caption_only"}, "caption_only"),
        ({"scene": "post"}, "no scenes"),
        ({"input": "released", "prompts": "B"}, "leave out prompts"),
        ({"input": "released", "task": "mock_matching"}, "MOCK's tasks"),
        ({"bf16_weights": True}, "bf16_weights needs precision=bf16, not no"),
        ({"adafactor": True, "lora": 4}, "adapters begin at 0: leave it out"),
    ],
)
def test_what_the_settings_refuse(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        TextTrainConfig(**{"task": "matching", "model": "m"} | values)


def test_flags_of_another_optimizer_are_refused() -> None:
    with pytest.raises(BadInput, match=r"--adafactor does not use --beta1, --eps\."):
        TextTrainConfig("matching", "m", adafactor=True).check_flags(["lr", "eps", "beta1", "adafactor"])
    TextTrainConfig("matching", "m").check_flags(["eps", "beta1"])


def test_the_papers_settings_are_the_defaults() -> None:
    settings = TextTrainConfig("matching", "google-t5/t5-large")
    assert (settings.lr, settings.batch_size) == ((1e-4, 1e-5, 5e-5), 64)
    assert (settings.temperature, settings.top_p) == (1.0, 0.95)
    assert TextTrainConfig("matching", "m", evaluate=("test", "validation")).evaluate == ("validation", "test")


# ---- rows ----


@pytest.mark.parametrize("task", ["mock_detecting", "mock_matching", "mock_explaining"])
def test_scenes_of_mock_are_trained_on_in_words(task: str) -> None:
    settings = TextTrainConfig(task, "m", dataset="sample", scene="comedy")
    splits = read_splits(settings)
    assert splits.train is not None
    assert {record.groups["scene"] for record in splits.train.records} == {"comedy"}
    shown = prompt_of(splits.train, splits.train.records[0])
    assert shown.endswith("\n\nAnswer:" if task != "mock_explaining" else "\n\nExplanation:")
    asked = question(splits.train.records[0])
    assert (asked.about != "") == (task != "mock_matching")


@pytest.mark.parametrize("model", ["nowhere", "owner/nowhere"])
def test_an_unknown_model_leaves_no_folder(model: str, home: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be loaded from the hub"):
        train(config(home, str(tmp_path / model)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def without(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)


def with_code(folder: Path) -> None:
    class Runs:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(folder / "ran"),)

    without(folder, "model.safetensors")
    torch.save({"weight": Runs()}, folder / "pytorch_model.bin")


DAMAGED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no tokenizer": (lambda folder: without(folder, "tokenizer.json", "tokenizer_config.json"), "it has no tokenizer"),
    "no weights": (lambda folder: without(folder, "model.safetensors"), "no file named model.safetensors"),
    "damaged weights": (
        lambda folder: (folder / "model.safetensors").write_bytes(b"garbage"),
        "model.safetensors: it is text",
    ),
    "code in the weights": (with_code, "holds posix.mkdir besides tensors, and no code"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_model_is_told_and_leaves_no_folder(name: str, home: Path, tmp_path: Path) -> None:
    damage, message = DAMAGED[name]
    shutil.copytree(home / "encoder", tmp_path / "model")
    damage(tmp_path / "model")
    with pytest.raises(BadInput, match=message):
        train(config(home, str(tmp_path / "model")), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "model" / "ran").exists()


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        ("encoder", {"kind": "causal"}, "its weights are not those of a causal model"),
        ("t5", {"encoding": "bi"}, "encoding=bi is for encoders"),
        ("causal", {"prompts": None, "input": "released"}, "input=released is for seq2seq models"),
        ("encoder", {"task": "explanation"}, "an encoder scores choices and cannot write explanations"),
        ("encoder", {"validations": 50}, "validations=50: an epoch has only 1 steps of 16 rows"),
    ],
)
def test_what_a_kind_of_model_cannot_do(
    kind: str, more: dict[str, Any], message: str, home: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=message):
        train(config(home, kind).with_values(**more), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


# ---- tokens: what is trained, and what is cut ----


@cache
def tokenizer_of(kind: str) -> Any:
    return tiny_tokenizer(WORDS, kind)


def writer(home: Path, kind: str, task: str = "ranking", context: int = 4096) -> tuple[Writer, Splits]:
    splits = read_splits(config(home, kind, task))
    tokenizer = copy.deepcopy(tokenizer_of(kind))  # trained anew, it would be another one
    tokenizer.model_max_length = context
    found = {"t5": Seq2SeqWriter, "causal": CausalWriter}[kind](
        tiny_network(kind, tokenizer), tokenizer, task == "explanation"
    )
    assert splits.train is not None
    found.prepare(splits.train, splits.validation)
    return found, splits


@pytest.mark.parametrize("kind", ["t5", "causal"])
def test_the_trained_text_is_prompt_answer_end(kind: str, home: Path) -> None:
    system, splits = writer(home, kind)
    assert splits.train is not None
    for record, pair in zip(splits.train.records, system.train_pairs, strict=True):
        tokenizer = system.tokenizer
        read = tokenizer.decode(pair.prompt, skip_special_tokens=True)
        assert " ".join(read.split()) == " ".join(prompt_of(splits.train, record).split())
        assert tokenizer.decode(pair.continuation[:-1]).strip() == record.target
        assert pair.continuation[-1] == tokenizer.eos_token_id


@pytest.mark.parametrize("kind", ["t5", "causal"])
@pytest.mark.parametrize("context", [30, 60])
def test_long_rows_lose_their_beginning_and_are_counted(kind: str, context: int, home: Path) -> None:
    whole, _ = writer(home, kind)
    system, _ = writer(home, kind, context=context)
    for full, pair in zip(whole.train_pairs, system.train_pairs, strict=True):
        read = len(pair.prompt) if kind == "t5" else len(pair.prompt) + len(pair.continuation)
        assert read <= context
        assert pair.continuation == full.continuation
        assert pair.cut == (len(full.prompt) + (len(full.continuation) if kind == "causal" else 0) > context)
        end = 1 if kind == "t5" else 0  # the tokenizer's end token stays
        kept = len(pair.prompt) - end
        assert pair.prompt[:kept] == full.prompt[len(full.prompt) - end - kept : len(full.prompt) - end]
    assert system.cut == sum(pair.cut for pair in system.train_pairs) > 0


def test_an_answer_longer_than_the_context_is_refused(home: Path) -> None:
    with pytest.raises(BadInput, match="answers are not cut"):
        writer(home, "causal", "explanation", context=20)


def test_a_choice_longer_than_the_context_is_refused() -> None:
    tokens = TextTokenizer(tiny_tokenizer(WORDS, "encoder"), 8)
    with pytest.raises(BadInput, match="choices are not cut"):
        tokens([("a scene", "a caption of a good many words, which are more than eight tokens")])


@given(st.lists(st.tuples(st.text("ab c", max_size=30), st.text("de", min_size=1, max_size=3)), max_size=6))
def test_a_scene_is_cut_and_its_choice_is_not(texts: list[tuple[str, str]]) -> None:
    texts = [(" ".join(scene.split()), choice) for scene, choice in texts]
    tokenizer = tiny_tokenizer(WORDS, "encoder")
    for (scene, choice), row in zip(texts, TextTokenizer(tokenizer, 12)(texts), strict=True):
        alone = tokenizer(choice)["input_ids"]
        whole = tokenizer(scene, choice)["input_ids"] if scene else alone
        assert len(row.ids) <= 12
        assert row.cut == (len(whole) > 12)
        assert row.ids[-len(alone) :] == alone
        assert row.cut or row.ids == whole


def test_chat_models_keep_their_template(home: Path) -> None:
    tokenizer = tiny_tokenizer(WORDS, "causal")
    tokenizer.chat_template = (
        "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[bot]{% endif %}"
    )
    splits = read_splits(config(home, "causal"))
    system = CausalWriter(tiny_network("causal", tokenizer), tokenizer, False)
    assert splits.train is not None
    system.prepare(splits.train, splits.validation)
    assert tokenizer.decode(system.train_pairs[0].prompt).endswith("[bot]")
    assert tokenizer.decode(system.train_pairs[0].continuation[:-1]).startswith("Answer: ")
    assert tokenizer.decode(system.judged_pairs[0][0].prompt).endswith("[bot]Answer:")


def test_a_template_that_cannot_show_the_turns_is_told(home: Path) -> None:
    tokenizer = tiny_tokenizer(WORDS, "causal")
    tokenizer.chat_template = "{{ raise_exception('System role not supported') }}"
    splits = read_splits(config(home, "causal"))
    assert splits.train is not None
    with pytest.raises(BadInput, match=r"chat template cannot show .*System role not supported"):
        CausalWriter(tiny_network("causal", tokenizer), tokenizer, False).prepare(splits.train, splits.validation)


# ---- losses ----


@pytest.mark.parametrize("kind", ["t5", "causal"])
def test_the_loss_is_that_of_transformers_row_by_row(kind: str, home: Path) -> None:
    system, _ = writer(home, kind)
    system.network.eval()
    rows = [3, 0, 5, 2]
    expected = 0.0
    for row in rows:
        pair = system.train_pairs[row]
        if kind == "t5":
            labels = torch.tensor([pair.continuation])
            expected += float(system.network(input_ids=torch.tensor([pair.prompt]), labels=labels).loss) * len(
                labels[0]
            )
        else:
            ids = torch.tensor([[*pair.prompt, *pair.continuation]])
            logits = system.network(input_ids=ids).logits[0, len(pair.prompt) - 1 : -1]
            expected += float(cross_entropy(logits, ids[0, len(pair.prompt) :], reduction="sum"))
    assert float(system.loss(system.network, rows)) == pytest.approx(expected, rel=1e-5)
    assert system.weight(rows) == sum(len(system.train_pairs[row].continuation) for row in rows)


@pytest.mark.parametrize("encoding", ["cross", "bi"])
def test_an_encoders_scores_do_not_depend_on_the_batch(encoding: str) -> None:
    tokenizer = tiny_tokenizer(WORDS, "encoder")
    network = ChoiceNetwork(tiny_network("encoder", tokenizer), encoding, True).eval()
    torch.nn.init.normal_(network.head.weight)
    asked = [Question(str(i), f"scene {i} " * i, (f"one {i}", "two", "three " * i)) for i in range(1, 6)]
    whole = Ranker(network, tokenizer, "x", "cpu").score(asked)
    alone = [Ranker(network, tokenizer, "x", "cpu", batch_size=1).score([one])[0] for one in asked]
    for one, other in zip(whole, alone, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    backwards = Ranker(network, tokenizer, "x", "cpu", batch_size=2).score(asked[::-1])[::-1]
    assert [x for row in backwards for x in row] == pytest.approx([x for row in whole for x in row], abs=1e-4)


def test_a_bi_encoder_begins_with_the_cosine() -> None:
    tokenizer = tiny_tokenizer(WORDS, "encoder")
    network = ChoiceNetwork(tiny_network("encoder", tokenizer), "bi", True).eval()
    asked = Question("q", "A dog walks into a bar.", ("So what?", "It is the captain."))
    tokens = TextTokenizer(tokenizer, None)
    vectors = [
        network.pooled(*tokens.tensors(tokens([text]), "cpu"))[0]
        for text in ((asked.context, ""), *(("", choice) for choice in asked.choices))
    ]
    cosines = [float(torch.cosine_similarity(vectors[0], vector, dim=0)) for vector in vectors[1:]]
    scores = Ranker(network, tokenizer, "x", "cpu").score([asked])[0]
    assert scores == pytest.approx([10 * cosine for cosine in cosines], abs=1e-4)


@pytest.mark.parametrize("encoding", ["cross", "bi"])
@pytest.mark.parametrize("with_scene", [True, False])
def test_the_layout_names_every_choice(encoding: str, with_scene: bool) -> None:
    asked = [Question("1", "s", ("a", "b")), Question("2", "s", ("b", "c", "a")), Question("3", "t", ("a", "b"))]
    found = layout(asked, encoding, with_scene)
    assert found.counts == (2, 3, 2)
    assert len(set(found.texts)) == len(found.texts)
    cross = with_scene and encoding == "cross"
    wanted = [(q.context if cross else "", choice) for q in asked for choice in q.choices]
    assert [found.texts[place] for place in found.choices] == wanted
    if with_scene and encoding == "bi":
        assert found.scenes is not None
        assert [found.texts[place] for place in found.scenes] == [(q.context, "") for q in asked for _ in q.choices]
    else:
        assert found.scenes is None


def test_systems_by_kind(home: Path) -> None:
    tokenizer = tiny_tokenizer(WORDS, "encoder")
    system = system_of(config(home, setting="caption_only"), "encoder", tiny_network("encoder", tokenizer), tokenizer)
    assert isinstance(system, Scorer)
    assert not system.network.with_scene
