"""OFA answering questions about pictures, from Python."""

from __future__ import annotations

import dataclasses
import shutil
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from standins.ofa_words import vocabulary
from standins.tiny_clip import drawing
from standins.tiny_ofa import SIDE, patch_images, tiny_ofa
from standins.waiting import LIMIT

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import cut_at
from humor_tasks.models.ofa import Describer
from humor_tasks.models.ofa.config import settings_for
from humor_tasks.models.ofa.describe import ANSWER, Features
from humor_tasks.models.ofa.preprocessing import prompt, recorded_size, square
from humor_tasks.models.pictures import Pixels, Source
from humor_tasks.rows.descriptions import QUESTIONS

SHORT = dataclasses.replace(ANSWER, max_len=9)
ASKED = ["what is this?", "Where does this take place?", "a cat sat on the cat or on the mat?"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_ofa(tmp_path_factory.mktemp("ofa") / "m", max_position_embeddings=1024)


@pytest.fixture(scope="module")
def describer(folder: str) -> Describer:
    return Describer.load(folder, {"device": "cpu", "max_len": 9})


# ---- from Python ----------------------------------------------------------------------------------


def test_an_answer_is_what_the_network_writes(describer: Describer) -> None:
    tokens = describer.tokenizer
    for i, question in enumerate(ASKED):
        pixels = patch_images([drawing(i)], square(SIDE))
        (found,) = describer.ofa.generate(pixels, tokens.pad([tokens.encode(prompt(question))]), SHORT)
        (answer,) = describer.answers([drawing(i)], [question], n=3)
        assert answer.texts == tuple(tokens.decode(h.ids).strip() for h in found[:3])
        assert answer.written == sum(len(h.ids) for h in found[:3])
        assert answer.read == 9 + len(tokens.encode(prompt(question)))
        assert describer.answer([drawing(i)], [question]) == [answer.texts[0]]


@pytest.mark.slow
def test_batched_is_single(folder: str, describer: Describer) -> None:
    one = Describer.load(folder, {"device": "cpu", "max_len": 9, "batch_size": 1})
    images = [drawing(i % 4) for i in range(12)]
    questions = [ASKED[i % 3] for i in range(12)]
    assert describer.answer(images, questions) == one.answer(images, questions)
    assert (one.batch_size, describer.batch_size) == (1, 8)


def test_half_precision_answers_too(folder: str) -> None:
    half = Describer.load(folder, {"device": "cpu", "max_len": 4, "precision": "bf16"})
    assert half.ofa.dtype == torch.bfloat16
    (answer,) = half.answers([drawing(0)], ASKED[:1])
    assert 1 < answer.written <= 5
    assert half.loglikelihoods([drawing(0)], ASKED[:1], [" cat"])[0][0] < 0
    assert half.identity()["dtype"] == "torch.bfloat16"


def test_what_is_drawn_follows_from_the_seed_alone(describer: Describer) -> None:
    drawn = dataclasses.replace(SHORT, beams=1, sample=True, temperature=5.0)
    images, questions = [drawing(0)] * 3, [ASKED[0]] * 3
    first = describer.answer(images, questions, drawn)
    assert len(set(first)) == 1
    assert describer.answer(images[:1], questions[:1], drawn) == first[:1]
    others = {describer.answer(images[:1], questions[:1], dataclasses.replace(drawn, seed=s))[0] for s in range(5)}
    assert len(others) > 1


def test_a_picture_in_words(describer: Describer, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    real = describer.pixels.__class__.fitted
    monkeypatch.setattr(describer.pixels.__class__, "fitted", lambda *a: seen.append(1) or real(*a))
    said = iter([["a bar", "a man", "a fish", "man, fish"], ["a", "b", "c", ""]])

    def answers(images: Any, questions: Sequence[str], *rest: Any, **more: Any) -> list[str]:
        assert list(questions) == list(QUESTIONS.values()) * 2
        patch_images(images, describer.pixels)
        return [*next(said), *next(said)]

    monkeypatch.setattr(describer, "answer", answers)
    first, second = describer.describe([drawing(0), drawing(1)])
    assert (first.location, first.description, first.uncanny, first.entities) == (
        "a bar",
        "a man",
        "a fish",
        ("man", "fish"),
    )
    assert second.entities == ()
    assert len(seen) == 2  # each decoded once, whatever it is asked


def test_a_log_likelihood_is_the_sum_over_its_tokens(describer: Describer) -> None:
    tokens, network = describer.tokenizer, describer.ofa.network
    (found,) = describer.loglikelihoods([drawing(0)], [ASKED[0]], [" cat sat"])
    read = torch.tensor([tokens.encode(prompt(ASKED[0]))])
    said = tokens.encode(" cat sat")[:-1]
    with torch.inference_mode():
        logits = network(read, patch_images([drawing(0)], square(SIDE)), torch.tensor([said]))[0]
    naive = sum(float(logits[i].log_softmax(0)[said[i + 1]]) for i in range(len(said) - 1))
    assert found[0] == pytest.approx(naive, abs=1e-4)
    assert not found[1]
    assert describer.loglikelihoods([drawing(0)], [ASKED[0]], [""]) == [(0.0, True)]


def test_greedy_is_what_every_token_would_be_chosen_for(describer: Describer, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens, network = describer.tokenizer, describer.ofa.network
    read, shown = torch.tensor([tokens.encode(prompt(ASKED[0]))]), patch_images([drawing(0)], square(SIDE))
    written = [0]
    with torch.inference_mode():
        for _ in range(4):
            written.append(int(network(read, shown, torch.tensor([written]))[0, -1].argmax()))
    said = {"greedy": written, "other at the end": [*written[:-1], written[-1] + 1], "begins alike": written[:3]}
    monkeypatch.setattr(tokens, "encode", lambda text, marks: [*said.get(text, read[0].tolist()[:-1]), 2])
    found = describer.loglikelihoods([drawing(0)] * 3, [ASKED[0]] * 3, list(said))
    assert [greedy for _, greedy in found] == [True, False, True]
    assert found[2][0] > found[0][0] > found[1][0]


@pytest.mark.parametrize(("size", "late"), [(3, False), (8, True)])
def test_a_picture_is_read_once(folder: str, size: int, late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The networks' work, counted: pictures through the backbone, inputs through encoder and decoder. late: of two
    images with the same bytes, the second is read first."""
    if late:
        content, pixels = Source.content, Source.pixels
        read: list[Source] = []
        decoded: list[Source] = []
        others = threading.Event()

        def delayed(source: Source) -> str:
            read.append(source)
            assert source is not read[0] or others.wait(LIMIT)
            return content(source)

        def counted(source: Source, how: Pixels) -> Any:
            decoded.append(source)
            if len(decoded) == 3:  # all but the first
                others.set()
            return pixels(source, how)

        monkeypatch.setattr(Source, "pixels", counted)
        monkeypatch.setattr(Source, "content", delayed)
    model = Describer.load(folder, {"device": "cpu", "max_len": 4, "batch_size": size})
    counts: Counter[str] = Counter()
    parts = {
        "backbone": model.ofa.network.encoder.embed_images,
        "encoder": model.ofa.network.encoder.layers[0].self_attn,
    }
    for name, part in parts.items():
        part.register_forward_pre_hook(lambda _, given, name=name: counts.update({name: len(given[0])}))
    images, letters = [drawing(i) for i in range(3)], [" A", " B"]
    again = drawing(0)  # the same content
    rows = [(image, question, letter) for image in [*images, again] for question in ASKED[:2] for letter in letters]
    shuffled = [*rows[::3], *rows[1::3], *rows[2::3]]
    found = model.loglikelihoods(*zip(*shuffled, strict=True))
    assert counts == {"backbone": 3, "encoder": 8}
    if not late:
        alone = [Describer(model.ofa, SIDE, 1).loglikelihoods([i], [q], [t])[0] for i, q, t in shuffled]
        assert [greedy for _, greedy in found] == [greedy for _, greedy in alone]
        assert [each for each, _ in found] == pytest.approx([each for each, _ in alone], abs=1e-4)
    counts.clear()
    model.describe(images)  # kept from the call before
    assert counts == {"encoder": 3 * len(QUESTIONS)}
    model = Describer(model.ofa, SIDE, size, model.settings)
    counts.clear()
    assert len(model.describe([*images, again])) == 4
    assert counts == {"backbone": 3, "encoder": 4 * len(QUESTIONS)}


def test_features_are_kept_within_their_limit(folder: str, describer: Describer) -> None:
    images, questions = [drawing(i) for i in range(5)], ASKED[:1] * 5
    expected = describer.answer(images, questions)
    one = describer.ofa.features(patch_images(images[:1], square(SIDE)))
    bytes_ = one.numel() * one.element_size()
    for most in (0, bytes_, 2 * bytes_ + 1):
        features = Features(describer.ofa, describer.pixels, most)
        model = Describer(describer.ofa, SIDE, 2, describer.settings)
        model.features = features
        # The second turn needs pictures that are not kept any more.
        turns = [*images, *(drawing(i) for i in range(5))]
        assert model.answer(turns, questions * 2) == expected * 2
        recent = features.recent
        assert sum(kept.numel() * kept.element_size() for kept in recent._values.values()) == recent._bytes <= most


def test_memory_that_runs_out_halves_the_batch(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Describer.load(folder, {"device": "cpu", "max_len": 4})
    real, sizes = model.ofa.answer, []

    def scarce(features: torch.Tensor, owners: torch.Tensor, *rest: Any) -> Any:
        sizes.append(len(owners))
        if len(owners) > 3:
            raise RuntimeError("CUDA out of memory")
        return real(features, owners, *rest)

    images, questions = [drawing(i) for i in range(8)], ASKED[:1] * 8
    expected = model.answer(images, questions)
    monkeypatch.setattr(model.ofa, "answer", scarce)
    assert model.answer(images, questions) == expected
    assert sizes == [8, 4, 2, 2, 4, 2, 2]
    assert model.batch_size == 2
    monkeypatch.setattr(model.ofa, "answer", lambda *_: (_ for _ in ()).throw(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        model.answer(images, questions)


@pytest.mark.parametrize(
    ("images", "questions", "message"),
    [
        ([None], ["what?"], "question 1 of 1: there is no image"),
        ([drawing(0)], [""], "question 1 of 1: the question is empty"),
        ([drawing(0)], [" ?"], "question 1 of 1: the question is empty"),
        ([drawing(0)], [None], "question 1 of 1: the question is of type NoneType; it must be text"),
        ([drawing(0)], ["a \ud800?"], r"question 1 of 1: the text contains a lone surrogate \('\\ud800'\)"),
        ([drawing(0)], ["cat " * 1100], r"question 1 of 1: the question has \d+ tokens; OFA has 1024 positions"),
        ([drawing(0)] * 2, ["what?"], "1 questions about 2 images"),
        ([drawing(0)], [ASKED[0]] * 2, "2 questions about 1 images"),
        ([Image.new("F", (4, 4))], ["what?"], "question 1 of 1: has F samples"),
    ],
)
def test_what_cannot_be_answered(describer: Describer, images: Any, questions: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        describer.answer(images, questions)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"beam": 3}, r"ofa: setting: there is no 'beam'.*Did you mean 'beams'"),
        ({"device": 0}, "ofa: device is 0; give a text"),
        ({"image_size": 50}, "image size is 50; it must be a multiple of 16"),
        ({"image_size": 112}, "image_size is 112; this network has positions for 96"),
        ({"image_size": "48"}, "image size is '48'"),
        ({"batch_size": -1}, "batch_size is -1"),
        ({"precision": "fp8"}, "precision: there is no 'fp8'"),
        ({"revision": 1234567}, "revision is for a model of the hub"),
    ],
)
def test_settings_that_cannot_be(folder: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Describer.load(folder, given)


def test_folders_that_are_no_describer(folder: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="random/tiny has no vocabulary"):
        Describer.load("random/tiny", {"device": "cpu"})
    other = Path(tiny_ofa(tmp_path / "other"))
    vocabulary(other, ["other words that make other pairs altogether"])
    with pytest.raises(BadInput, match=r"the vocabulary has \d+ words.* the network has \d+; they are from different"):
        Describer.load(other)
    (other / "vocab.json").unlink()
    with pytest.raises(BadInput, match=r"there is no vocabulary\. Looked for vocab.json and merges.txt"):
        Describer.load(other)
    assert recorded_size(Path(folder)) == SIDE
    with pytest.raises(BadInput, match=r"question 1 of 1: 3 answers|3 answers to a question; a search with 2 beams"):
        Describer.load(folder, {"beams": 2}).answers([drawing(0)], ASKED[:1], n=3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"size": {"height": 48, "width": 64}}', "'width': 64}; only squares are supported. Give image_size"),
        ('{"size": {"shortest_edge": 224}}', "size is {'shortest_edge': 224}; only squares"),
        ('{"size": null}', "size is None; only squares"),
        ('{"size": 50}', r"preprocessor_config.json: image size is 50; it must be a multiple of 16"),
        ('{"size": ', "preprocessor_config.json, line 1, column 10: not JSON"),
        ("[" * 200_000, "preprocessor_config.json: not JSON"),
        ("[]", "preprocessor_config.json: must be one JSON object"),
    ],
)
def test_a_size_that_is_recorded_and_cannot_be_made_is_not_guessed(
    record: str, message: str, folder: str, tmp_path: Path
) -> None:
    other = shutil.copytree(folder, tmp_path / "other")
    (other / "preprocessor_config.json").write_text(record)
    with pytest.raises(BadInput, match=message):
        Describer.load(other, {"device": "cpu"})
    assert Describer.load(other, {"device": "cpu", "image_size": 64}).pixels.size == 64


def test_a_size_that_is_not_recorded_is_the_published_one(tmp_path: Path) -> None:
    (tmp_path / "preprocessor_config.json").write_text('{"size": 64}')
    assert recorded_size(tmp_path) == 64
    (tmp_path / "preprocessor_config.json").write_text('{"image_mean": [0.5]}')
    assert recorded_size(tmp_path) is None
    (tmp_path / "preprocessor_config.json").unlink()
    assert recorded_size(tmp_path) is None


def test_an_identity_follows_the_weights_and_the_settings(folder: str, describer: Describer, tmp_path: Path) -> None:
    about = describer.identity()
    assert about == Describer.load(folder, {"device": "cpu", "max_len": 9, "batch_size": 3}).identity()
    assert about != Describer.load(folder, {"device": "cpu", "max_len": 8}).identity()
    first = Describer.load(tiny_ofa(tmp_path / "m", seed=1)).identity()
    second = Describer.load(tiny_ofa(tmp_path / "m", seed=2)).identity()
    assert first["checkpoint"] == second["checkpoint"]
    assert first["weights"] != second["weights"]


# ---- arguments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ({}, {}),
        ({"temperature": 0.0, "seed": 3, "top_p": 0.5}, {}),
        ({"max_tokens": 0}, {"max_len": 0, "min_len": 0}),
        ({"max_tokens": 5000}, {"max_len": 1023}),
        ({"temperature": 0.7, "seed": 3}, {"sample": True, "beams": 1, "temperature": 0.7, "seed": 3}),
        (
            {"temperature": 1.0, "top_p": 0.9, "top_k": 4},
            {"sample": True, "beams": 1, "temperature": 1.0, "top_p": 0.9, "top_k": 4},
        ),
    ],
)
def test_generation_arguments(said: dict[str, Any], changes: dict[str, Any]) -> None:
    assert settings_for(ANSWER, 1023, **said) == dataclasses.replace(ANSWER, **changes)


def test_generation_arguments_out_of_range() -> None:
    for wrong in ({"temperature": -1.0}, {"max_tokens": -1}, {"temperature": 1.0, "top_p": 2.0}):
        with pytest.raises(BadInput, match=r"ofa: (temperature|max_len|top_p|min_len)"):
            settings_for(ANSWER, 1023, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "stops", "cut"),
    [("a b c", (), "a b c"), ("a b c", ("b", "a "), ""), ("a b c", ("", "c"), "a b "), ("a", ("b",), "a")],
)
def test_stop_sequences(text: str, stops: tuple[str, ...], cut: str) -> None:
    assert cut_at(text, stops) == cut


# ---- what the network is given directly --------------------------------------------------------------


@pytest.mark.parametrize(
    ("pictures", "ids", "message"),
    [
        (torch.zeros(1, 3, 48, 48, dtype=torch.uint8), [[0, 9, 2]], "pictures are torch.uint8; give floats in -1..1"),
        (torch.full((1, 3, 48, 48), 128.0), [[0, 9, 2]], "values from 128 to 128; normalise them to -1..1"),
        (torch.full((1, 3, 48, 48), torch.nan), [[0, 9, 2]], "values from nan to nan"),
        (torch.full((1, 3, 48, 48), torch.inf), [[0, 9, 2]], "values from inf to inf"),
        (torch.zeros(2, 3, 48, 48), [[1, 0, 9, 2], [0, 9, 9, 2]], "padding before a token; pad on the right"),
        (torch.zeros(1, 3, 48, 48), [[0, 1, 9, 2]], "padding before a token; pad on the right"),
        (torch.zeros(1, 3, 48, 48), [[0.0, 9.0, 2.0]], "token ids go from 0 to"),
        (torch.zeros(1, 3, 48, 48), [[0, -1, 2]], "token ids go from 0 to"),
        (torch.zeros(1, 3, 48, 48), [[0, 99_999, 2]], "token ids go from 0 to"),
    ],
)
def test_inputs_that_would_be_answered_otherwise_are_refused(
    describer: Describer, pictures: torch.Tensor, ids: list[list[float]], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        describer.ofa.generate(pictures, torch.tensor(ids), SHORT)


def test_other_normalisations_and_padding_on_the_right_are_accepted(describer: Describer) -> None:
    pictures = torch.full((2, 3, 48, 48), 2.64)  # white, by ImageNet's mean and deviation
    assert len(describer.ofa.generate(pictures, torch.tensor([[0, 9, 2, 1], [0, 9, 9, 2]]), SHORT)) == 2
