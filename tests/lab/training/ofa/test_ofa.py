"""`humor-tasks train ofa` by its parts: settings, rows, loss, learning rate, memory. Runs: test_runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.small_sample import small_sample
from standins.tiny_ofa import SIDE

from humor_tasks.datasets_cards import folder as card_folder
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.loop import warm_then_linear
from humor_tasks.lab.training.ofa.data import Batches, Row, Splits, read_rows, read_splits
from humor_tasks.lab.training.ofa.finetune import Trainer, answer_logits, checkpoint_activations, smoothed_loss, train
from humor_tasks.lab.training.ofa.settings import OfaTrainConfig
from humor_tasks.models import pictures
from humor_tasks.models.ofa import Describer
from humor_tasks.models.ofa.preprocessing import FAIRSEQ, HUGGING_FACE, PAD
from humor_tasks.rows.descriptions import QUESTIONS, entity_names
from humor_tasks.rows.media import checking
from humor_tasks.rows.media import picture as images


def describer(tiny: str) -> Describer:
    return Describer.load(tiny, {"device": "cpu"})


def some_rows(n: int = 8) -> list[Row]:
    return read_rows(OfaTrainConfig("x", dataset="sample"), "test")[:n]


# ---- settings -----------------------------------------------------------------------------------


def test_the_defaults_are_the_published_recipe() -> None:
    assert OfaTrainConfig("OWNER/ofa-huge").as_dict() == {
        "pretrained": "OWNER/ofa-huge",
        "dataset": "jmhessel/newyorker_caption_contest",
        "task": "matching",
        "fold": "0",
        "revision": None,
        "model_revision": None,
        "image_size": 0,
        "lr": [5e-5],
        "warmup": 0.06,
        "decay": "linear",
        "smoothing": 0.1,
        "weight_decay": 0.01,
        "beta1": 0.9,
        "beta2": 0.999,
        "eps": 1e-8,
        "clip_norm": 1.0,
        "batch_size": 32,
        "epochs": 7,
        "patience": 1,
        "freeze_embeddings": False,
        "freeze_resnet": False,
        "precision": "no",
        "seed": 0,
    }


BAD: list[tuple[dict[str, Any], str]] = [
    ({"task": "match"}, "there is no 'match'.*Did you mean 'matching'"),
    ({"fold": 5}, "fold: there is no '5'; choose from 0, 1, 2, 3, 4, all"),
    ({"fold": -1}, "fold: there is no '-1'"),
    ({"lr": (float("nan"),)}, "lr must be a number from 1e-12 to 1, not nan"),
    ({"lr": (1e-4, 0.0)}, "lr must be .*, not 0.0"),
    ({"lr": (float("inf"),)}, "lr must be .*, not inf"),
    ({"warmup": 1.1}, r"warmup must be a number from 0 to 1, not 1\.1"),
    ({"smoothing": 1.0}, "smoothing must be .*, not 1"),
    ({"smoothing": float("nan")}, "smoothing must be .*, not nan"),
    ({"decay": "cosine"}, "choose from linear, constant"),
    ({"precision": "fp16"}, "choose from no, bf16"),
    ({"device": "gpu"}, "choose from auto, cuda, mps, cpu"),
    ({"epochs": 0}, "epochs must be a whole number from 1 to 10000, not 0"),
    ({"batch_size": 0}, "batch_size must be .*, not 0"),
    ({"micro_batch": -1}, "micro_batch must be .*, not -1"),
    ({"patience": -1}, "patience must be .*, not -1"),
    ({"clip_norm": float("nan")}, "clip_norm must be .*, not nan"),
    ({"beta2": 1.0}, "beta2 must be .*, not 1"),
]


@pytest.mark.parametrize(("values", "message"), BAD)
def test_bad_values(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        OfaTrainConfig("x", **values)


# ---- rows ---------------------------------------------------------------------------------------


def sample_rows(config: str, block: int) -> list[dict[str, Any]]:
    """Of two contests."""
    path = Path(card_folder("newyorker_caption_contest")) / config / f"block{block}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()[:4]]


Change = Callable[[str, str, list[dict[str, Any]]], list[dict[str, Any]]]


def corpus(target: Path, change: Change = lambda config, split, rows: rows) -> str:
    """The sample's blocks 0 to 2 as the splits of matching, in both layouts, as `change` has them."""
    target.mkdir()
    shutil.copytree(Path(card_folder("newyorker_caption_contest")) / "images", target / "images")
    for config in ("matching", "matching_from_pixels"):
        (target / config).mkdir()
        for block, split in enumerate(("test", "validation", "train")):
            rows = change(config, split, sample_rows(config, block))
            if rows:
                lines = "".join(json.dumps(row) + "\n" for row in rows)
                (target / config / f"{split}.jsonl").write_text(lines)
    return str(target)


def test_each_picture_is_decoded_once_before_training(monkeypatch: pytest.MonkeyPatch, tiny: str) -> None:
    decoded: list[str] = []
    decode = images.decode_picture
    for module in (images, checking, pictures):  # which check, and which decodes for the network
        monkeypatch.setattr(module, "decode_picture", lambda data, where: decoded.append(where) or decode(data, where))
    splits = read_splits(OfaTrainConfig("x", dataset="sample", fold="3"))
    assert [len(rows) for rows in (splits.train, splits.validation, splits.test)] == [60, 20, 20]
    contests = [{row.contest for row in rows} for rows in (splits.train, splits.validation, splits.test)]
    assert [len(found) for found in contests] == [15, 5, 5]
    assert not contests[0] & contests[1] | contests[0] & contests[2] | contests[1] & contests[2]
    for rows in (splits.train, splits.validation):
        Batches(rows, describer(tiny))
    assert len(decoded) == len({where.split(",")[0] for where in decoded}) == 25


@pytest.mark.parametrize("split", ["train", "test"])  # which are decoded before training and after it
def test_a_damaged_picture_ends_the_run_before_training(tmp_path: Path, tiny: str, split: str) -> None:
    config = OfaTrainConfig(tiny, dataset=small_sample(tmp_path / "rows"), device="cpu")
    harmed = getattr(read_splits(config), split)[0].picture
    Path(harmed.path).write_bytes(Path(harmed.path).read_bytes()[:100])
    with pytest.raises(BadInput, match=rf"{Path(harmed.path).name}.*truncated or damaged"):
        train(config, tmp_path / "run", progress=False)
    assert not list((tmp_path / "run").glob("**/*.safetensors"))


def test_a_row_is_what_a_person_wrote_of_the_cartoon() -> None:
    rows = [row for row in read_rows(OfaTrainConfig("x", dataset="sample"), "test") if row.contest == "9001"]
    written_ = sample_rows("matching", 0)[0]
    assert {row.question: row.answer for row in rows} == {
        "location": written_["image_location"],
        "description": written_["image_description"],
        "uncanny": written_["image_uncanny_description"],
        "entities": "Lighthouse, Psychoanalysis",
    }
    assert [row.question for row in rows] == list(QUESTIONS)
    assert {row.picture.path and Path(row.picture.path).name for row in rows} == {"9001.png"}
    for row in rows:
        if row.question == "entities":
            assert ", ".join(entity_names(row.answer)) == row.answer


def test_each_annotation_is_there_once_and_no_entities_are_no_row(tmp_path: Path) -> None:
    def repeated(config: str, split: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if config != "matching" or split != "train":
            return rows
        hits = ("A first hit.", "A second  hit.", "A third hit.")
        made = [
            row | {"image_description": hits[i % 3], "entities": [], "instance_id": f"{row['instance_id']}-{i}"}
            for row in rows
            for i in range(6)
        ]
        return made

    rows = read_rows(OfaTrainConfig("x", dataset=corpus(tmp_path / "rows", repeated)), "train")
    assert len({(row.contest, row.question, row.answer) for row in rows}) == len(rows) == 2 * (1 + 3 + 1)
    assert {row.answer for row in rows if row.question == "description"} == {
        "A first hit.",
        "A second hit.",
        "A third hit.",
    }


def test_bad_rows(tmp_path: Path) -> None:
    def without(config: str, split: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return rows[2:] if config == "matching_from_pixels" and split == "train" else rows

    def shared(config: str, split: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | {"contest_number": 9006} for row in rows] if split == "train" else rows

    def untrained(config: str, split: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [] if split == "train" else rows

    def blank(config: str, split: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | {"image_location": " "} for row in rows] if config == "matching" else rows

    for name, change, message in (
        ("without", without, "1 contest: 9011 of matching/train, fold 0, without a picture"),
        ("shared", shared, "fold 0: 1 contest: 9006 in train and in validation"),
        ("untrained", untrained, "has no split 'train'; there are: "),
        ("blank", blank, "image_location is "),
    ):
        with pytest.raises(BadInput, match=message):
            read_splits(OfaTrainConfig("x", dataset=corpus(tmp_path / name, change)))


@given(st.lists(st.sampled_from(list(QUESTIONS)), min_size=1, max_size=30), st.integers(0, 7))
@settings(max_examples=60, deadline=None)
def test_parts_hold_every_row_once_under_questions_of_one_length(asked: list[str], most: int) -> None:
    rows: Any = SimpleNamespace(
        rows=[SimpleNamespace(question_text=name) for name in asked],
        _questions={name: [0] * (5 + len(question) % 3) for name, question in QUESTIONS.items()},
        _answers=[[0] * (i * 7 % 5) for i in range(len(asked))],
    )
    parts = Batches.parts(rows, range(len(asked)), most)
    assert sorted(place for part in parts for place in part) == list(range(len(asked)))
    assert all(0 < len(part) <= (most or len(asked)) for part in parts)
    lengths = [{len(rows._questions[asked[place]]) for place in part} for part in parts]
    assert all(len(found) == 1 for found in lengths)
    if not most:
        assert len(parts) == len(set.union(*lengths))


def test_what_is_shown_and_written_is_what_the_describer_shows_and_writes(tiny: str) -> None:
    asked, rows = describer(tiny), some_rows()
    batches = Batches(rows, asked)
    pictures, questions, answers = batches.tensors([1, 3])
    assert pictures.shape == (2, SIDE, SIDE, 3)
    for i, place in enumerate((1, 3)):
        read = asked.tokens(QUESTIONS[rows[place].question], "here")
        assert questions[i, : len(read)].tolist() == read
        assert set(questions[i, len(read) :].tolist()) <= {PAD}
        ids = [token for token in answers[i].tolist() if token != PAD]
        assert (ids[0], ids[-1]) == (0, 2)
        assert asked.tokenizer.decode(ids) == f" {rows[place].answer}"
        assert batches.tokens([place]) == len(ids) - 1
    assert batches.tokens([1, 3]) == int((answers[:, 1:] != PAD).sum())


def test_an_answer_beyond_the_positions_is_refused(tiny: str) -> None:
    row = some_rows(1)[0]
    with pytest.raises(BadInput, match=r"contest 9001: the answer to 'Where .*\?' has 401 tokens; .* for 255"):
        Batches([Row(row.contest, row.question, "qz" * 200, row.picture)], describer(tiny))


# ---- loss, learning rate ------------------------------------------------------------------------


@given(
    st.integers(10, 14), st.lists(st.integers(1, 5), min_size=1, max_size=4), st.floats(0, 0.9), st.integers(0, 2**31)
)
@settings(max_examples=80, deadline=None)
def test_the_loss_is_the_naive_loops(size: int, lengths: list[int], smoothing: float, seed: int) -> None:
    drawn = torch.Generator().manual_seed(seed)
    longest = max(lengths)
    logits = 5 * torch.randn(len(lengths), longest, size, generator=drawn)
    targets = torch.full((len(lengths), longest), PAD)
    tokens = [token for token in range(size) if token != PAD]
    for row, length in enumerate(lengths):
        chosen = torch.randint(len(tokens), (length,), generator=drawn)
        targets[row, :length] = torch.tensor([tokens[i] for i in chosen])
    naive = 0.0
    for row, length in enumerate(lengths):
        for place in range(length):
            chances = logits[row, place].double().log_softmax(0).tolist()
            for token, chance in enumerate(chances):
                naive -= chance * (1 - smoothing if token == targets[row, place] else smoothing / (size - 1))
    assert float(smoothed_loss(logits, targets, smoothing)) == pytest.approx(naive, rel=1e-4, abs=1e-4)


RATES = [
    (100, 0.06, {0: 1 / 6, 1: 2 / 6, 5: 1.0, 6: 1.0, 53: 0.5, 99: 1 / 94, 100: 0.0}),
    (100, 0.0, {0: 1.0, 1: 1.0, 50: 50 / 99, 99: 1 / 99}),
    (10, 1.0, {0: 0.1, 9: 1.0, 10: 0.0}),
    (1, 0.06, {0: 1.0, 1: 0.0}),
]


@pytest.mark.parametrize(("steps", "warmup", "shares"), RATES)
def test_warm_up_then_linear(steps: int, warmup: float, shares: dict[int, float]) -> None:
    for step, share in shares.items():
        assert warm_then_linear(step, steps, warmup) == pytest.approx(share), step


@pytest.mark.parametrize(
    ("decay", "rates"),
    [("linear", [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]), ("constant", [0.5, 1.0, 1.0, 1.0, 1.0, 1.0])],
)
def test_the_optimiser_is_asked_as_the_settings_say(decay: str, rates: list[float], tiny: str, tmp_path: Path) -> None:
    values = {"weight_decay": 0.3, "beta1": 0.7, "beta2": 0.8, "eps": 1e-5, "warmup": 0.3, "decay": decay}
    how = OfaTrainConfig(tiny, lr=(0.01,), epochs=2, batch_size=3, patience=0, device="cpu", **values)
    rows = some_rows(8)
    trainer = Trainer(how, Splits(rows, rows[:1], rows[:1]), tmp_path, False)
    asked = trainer.optimizer.defaults
    assert (asked["weight_decay"], asked["betas"], asked["eps"]) == (0.3, (0.7, 0.8), 1e-5)
    seen: list[float] = []
    trainer.optimizer.register_step_pre_hook(lambda optimizer, *_: seen.append(optimizer.param_groups[0]["lr"]))
    trainer.train()
    assert seen == pytest.approx([0.01 * rate for rate in rates])


# ---- network ------------------------------------------------------------------------------------


def gradients(tiny: str, spared: bool = False, most: int = 0) -> dict[str, torch.Tensor]:
    asked, rows = describer(tiny), some_rows(6)
    network = asked.ofa.network.train()
    if spared:
        checkpoint_activations(network)
    batches = Batches(rows, asked)
    for part in batches.parts(range(len(rows)), most):
        smoothed_loss(*answer_logits(network, asked, batches, part), 0.1).backward()
    return {name: p.grad for name, p in network.named_parameters() if p.grad is not None}


def test_less_memory_and_smaller_parts_are_the_same_gradient(tiny: str) -> None:
    plain = gradients(tiny)
    for other in (gradients(tiny, spared=True), gradients(tiny, most=1), gradients(tiny, spared=True, most=2)):
        assert other.keys() == plain.keys()
        for name, gradient in plain.items():
            assert torch.allclose(other[name], gradient, atol=2e-4, rtol=1e-3), name


def test_checkpointing_computes_blocks_again(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from humor_tasks.models.ofa.encoder import Bottleneck
    from humor_tasks.models.ofa.layers import Layer

    counted = {"feed": 0, "block": 0}
    feed, block = Layer.feed_forward, Bottleneck.forward
    monkeypatch.setattr(Layer, "feed_forward", lambda *a: counted.update(feed=counted["feed"] + 1) or feed(*a))
    monkeypatch.setattr(Bottleneck, "forward", lambda *a: counted.update(block=counted["block"] + 1) or block(*a))
    found = []
    for spared in (False, True):
        counted.update(feed=0, block=0)
        gradients(tiny, spared)
        found.append(dict(counted))
    assert found[1] == {name: 2 * count for name, count in found[0].items()}


def test_statistics_stay_and_tables_stay_one(tiny: str, tmp_path: Path) -> None:
    rows = some_rows(8)
    how = OfaTrainConfig(tiny, lr=(0.01,), epochs=1, batch_size=8, device="cpu")
    for frozen in (False, True):
        settings_ = how.with_values(freeze_embeddings=frozen)
        trainer = Trainer(settings_, Splits(rows, rows[:1], rows[:1]), tmp_path / str(frozen), False)
        network = trainer.network
        before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
        trainer.train()
        after = network.state_dict()
        same = {name for name in before if torch.equal(before[name], after[name])}
        assert {name for name in before if "running_" in name or "num_batches" in name} <= same
        assert "encoder.embed_images.bn1.weight" not in same
        assert ("encoder.embed_tokens.weight" in same) == frozen
        assert network.decoder.output_projection.weight is network.encoder.embed_tokens.weight
        assert network.decoder.embed_tokens.weight is network.encoder.embed_tokens.weight


def as_fairseq(source: str, target: Path) -> str:
    """The checkpoint with its vocabulary in fairseq's form."""
    shutil.copytree(source, target)
    words = json.loads((target / "vocab.json").read_text())
    ordinary = [word for word in sorted(words, key=words.get) if not word.startswith("<") or len(word) == 1]
    (target / "encoder.json").write_text(json.dumps({word: i for i, word in enumerate(ordinary)}))
    (target / "dict.txt").write_text("".join(f"{i} 1\n" for i in range(len(ordinary))))
    shutil.move(target / "merges.txt", target / "vocab.bpe")
    (target / "vocab.json").unlink()
    return str(target)


def test_a_saved_model_brings_its_vocabulary_in_the_form_it_had(tiny: str, tmp_path: Path) -> None:
    rows, how = some_rows(2), OfaTrainConfig(tiny, device="cpu", image_size=32)
    for name, files in (("hf", HUGGING_FACE), ("fairseq", FAIRSEQ)):
        checkpoint = tiny if name == "hf" else as_fairseq(tiny, tmp_path / "published")
        trainer = Trainer(how.with_values(pretrained=checkpoint), Splits(rows, rows, rows), tmp_path, False)
        (tmp_path / name).mkdir()
        trainer._save(tmp_path / name)
        others = {"config.json", "model.safetensors", "preprocessor_config.json"}
        assert {path.name for path in (tmp_path / name).iterdir()} == {*files, *others}
        again = describer(str(tmp_path / name))
        assert again.pixels.size == 32
        assert again.tokens("Is it?", "here") == trainer.describer.tokens("Is it?", "here")
        for key, tensor in trainer.network.state_dict().items():
            assert torch.equal(again.ofa.network.state_dict()[key], tensor), key
