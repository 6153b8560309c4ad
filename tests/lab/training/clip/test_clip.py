"""`humor-tasks train clip` by its parts: settings, pictures, loss, adapters, rows. Runs: test_runs."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps
from standins.tiny_clip import drawing

from humor_tasks.contract.answers import Choice
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.clip.data import Rows, augmented, read_splits, square
from humor_tasks.lab.training.clip.finetune import Choices, adapt, hold_scale, merged
from humor_tasks.lab.training.clip.settings import ClipTrainConfig
from humor_tasks.lab.training.loop import choice_loss, plan, share_of_rate
from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.pictures import Pixels
from humor_tasks.rows.media import checking
from humor_tasks.rows.media import picture as images

STILL = {"flip": 0.0, "grayscale": 0.0, "brightness": 0.0, "hue": 0.0}
PIXELS = Pixels(32, "pad", (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))


def opened(tiny: str) -> Clip:
    return Clip.load(ClipConfig(tiny, device="cpu", prefix="", fit="pad"))


# ---- settings -----------------------------------------------------------------------------------


def test_the_defaults_are_the_published_recipe() -> None:
    config = ClipTrainConfig("matching")
    assert config.as_dict() == {
        "task": "matching",
        "dataset": "jmhessel/newyorker_caption_contest",
        "fold": "0",
        "revision": None,
        "pretrained": "ViT-L-14-336/openai",
        "architecture": None,
        "activation": None,
        "mode": "paper",
        "fit": "pad",
        "random_crop": False,
        "prefix": "",
        "lr": [5e-5, 1e-5, 5e-6],
        "warmup": 200,
        "weight_decay": 0.01,
        "beta1": 0.9,
        "beta2": 0.999,
        "eps": 1e-8,
        "batch_size": 32,
        "epochs": 12,
        "patience": 0,
        "max_scale": 100.0,
        "flip": 0.5,
        "grayscale": 0.1,
        "brightness": 0.5,
        "hue": 0.3,
        "precision": "no",
        "lora": 0,
        "lora_alpha": 0,
        "seed": 0,
    }
    released = ClipTrainConfig("matching", mode="as-released").as_dict()
    differ = {name: value for name, value in released.items() if value != config.as_dict()[name]}
    assert differ == {"mode": "as-released", "fit": "crop", "random_crop": True, "max_scale": 0.0}


def test_a_given_value_goes_before_the_mode() -> None:
    for given_, fit, random_crop, most in (
        ({"mode": "as-released", "fit": "pad"}, "pad", False, 0.0),
        ({"mode": "as-released", "random_crop": False}, "crop", False, 0.0),
        ({"mode": "as-released", "max_scale": 50.0}, "crop", True, 50.0),
        ({"fit": "crop"}, "crop", False, 100.0),
        ({"fit": "crop", "random_crop": True}, "crop", True, 100.0),
    ):
        config = ClipTrainConfig("ranking", **given_)
        assert (config.fit, config.random_crop, config.max_scale) == (fit, random_crop, most)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"task": "match"}, "there is no 'match'.*Did you mean 'matching'"),
    ({"task": "explanation"}, "choose from matching, ranking"),
    ({"fold": 5}, "fold: there is no '5'; choose from 0, 1, 2, 3, 4, all"),
    ({"mode": "released"}, "Did you mean 'as-released'"),
    ({"fit": "stretch"}, "choose from pad, crop"),
    ({"random_crop": True}, "needs fit=crop, because padded"),
    ({"precision": "fp16"}, "choose from no, bf16"),
    ({"device": "cuda:1"}, "choose from auto, cuda, mps, cpu"),
    ({"lr": ()}, "lr: name at least one value"),
    ({"lr": (1e-5, 0.0)}, "lr must be a number from 1e-12 to 1, not 0.0"),
    ({"lr": (float("nan"),)}, "lr must be .*, not nan"),
    ({"epochs": 0}, "epochs must be a whole number from 1 to 10000, not 0"),
    ({"beta2": 1.0}, "beta2 must be .*, not 1.0"),
    ({"hue": 0.6}, r"hue must be a number from 0 to 0\.5, not 0\.6"),
    ({"brightness": float("nan")}, "brightness must be .*, not nan"),
    ({"lora": -1}, "lora must be .*, not -1"),
]


@pytest.mark.parametrize(("values", "message"), BAD)
def test_bad_values(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        ClipTrainConfig(**{"task": "matching"} | values)


# ---- pictures -----------------------------------------------------------------------------------


def changed(seed: str, image: Any = None, pixels: Pixels = PIXELS, **values: Any) -> np.ndarray[Any, Any]:
    config = ClipTrainConfig("matching", **values)
    return augmented(image or drawing(0, (90, 44)), pixels, config, seed, "here")


def test_nothing_switched_on_is_the_fitted_picture() -> None:
    for fit in ("pad", "crop"):
        pixels = Pixels(32, fit, PIXELS.mean, PIXELS.std)
        expected = np.array(pixels.fitted(drawing(0, (90, 44)), "here"))
        assert np.array_equal(changed("a", pixels=pixels, fit=fit, **STILL), expected)


def test_the_seed_decides_and_nothing_else() -> None:
    first = [changed(str(i)) for i in range(8)]
    torch.manual_seed(5)
    random.seed(5)
    assert all(np.array_equal(changed(str(i)), one) for i, one in reversed(list(enumerate(first))))
    assert len({one.tobytes() for one in first}) == 8
    assert first[0].shape == (32, 32, 3)
    assert first[0].dtype == np.uint8


def test_each_change_is_what_pillow_makes_of_it() -> None:
    fitted = PIXELS.fitted(drawing(0, (90, 44)), "here")
    assert np.array_equal(changed("a", **STILL | {"flip": 1.0}), np.array(ImageOps.mirror(fitted)))
    grey = np.array(fitted.convert("L").convert("RGB"))
    assert np.array_equal(changed("a", **STILL | {"grayscale": 1.0}), grey)
    plain = np.array(fitted).astype(float)
    factors = []
    for i in range(200):
        bright = changed(str(i), **STILL | {"brightness": 0.5})
        unclipped = (plain > 60) & (bright < 255)
        factors.append(np.median(bright[unclipped] / plain[unclipped]))
        expected = np.clip(plain * factors[-1], 0, 255)
        assert np.abs(bright - expected).max() <= 2
    assert min(factors) == pytest.approx(0.5, abs=0.03)
    assert max(factors) == pytest.approx(1.5, abs=0.03)


def test_hue_turns_up_to_its_limit_and_leaves_grey_alone() -> None:
    def hue_of(picture: np.ndarray[Any, Any]) -> int:
        return int(np.array(Image.fromarray(picture).convert("HSV"))[16, 16, 0])

    red = Image.new("RGB", (32, 32), (200, 20, 20))
    turns = [(hue_of(changed(str(i), red, **STILL | {"hue": 0.3})) + 128) % 256 - 128 for i in range(200)]
    assert -77 <= min(turns) < -70
    assert 70 < max(turns) <= 77  # .3 of 256
    grey = Image.new("RGB", (32, 32), (90, 90, 90))
    assert np.array_equal(changed("a", grey, **STILL | {"hue": 0.5}), np.array(grey))


def test_changes_come_as_often_as_asked() -> None:
    n, image = 1000, drawing(1, (32, 32))
    plain = changed("a", image, **STILL)
    for name, often in (("flip", 0.5), ("grayscale", 0.1)):
        came = sum(not np.array_equal(changed(str(i), image, **STILL | {name: often}), plain) for i in range(n))
        assert came / n == pytest.approx(often, abs=0.05)
    # Switching one off leaves what the others draw as it was.
    with_grey = [np.array_equal(*np.array(changed(str(i), image, hue=0.0, flip=0.0))[..., :2].T) for i in range(50)]
    without = [np.array_equal(*np.array(changed(str(i), image, hue=0.0, brightness=0.0))[..., :2].T) for i in range(50)]
    assert with_grey == without
    assert any(with_grey)


SQUARES = [
    ((90, 44), 0.0, (0, 0, 44, 44)),
    ((90, 44), 0.999, (46, 0, 90, 44)),
    ((90, 44), 0.5, (23, 0, 67, 44)),
    ((44, 90), 0.999, (0, 46, 44, 90)),
    ((32, 32), 0.7, (0, 0, 32, 32)),
]


@pytest.mark.parametrize(("size", "place", "box"), SQUARES)
def test_the_square_at_a_place(size: tuple[int, int], place: float, box: tuple[int, int, int, int]) -> None:
    image = drawing(2, size)
    assert square(image, place).tobytes() == image.crop(box).tobytes()


def test_random_crops_reach_both_ends() -> None:
    ramp = Image.fromarray(np.tile(np.arange(240, dtype=np.uint8), (40, 1)))
    pixels = Pixels(8, "crop", PIXELS.mean, PIXELS.std)
    still = STILL | {"fit": "crop"}
    centre = int(changed("a", ramp, pixels, **still).mean())
    assert centre == pytest.approx(119, abs=2)
    means = [changed(str(i), ramp, pixels, **still, random_crop=True).mean() for i in range(300)]
    assert min(means) == pytest.approx(20, abs=4)
    assert max(means) == pytest.approx(219, abs=4)
    assert np.mean(means) == pytest.approx(119, abs=10)


# ---- loss, logits, learning rate ----------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=9), st.integers(0, 2**31))
def test_the_loss_is_the_naive_loops(counts: list[int], seed: int) -> None:
    drawn = torch.Generator().manual_seed(seed)
    values = 20 * torch.randn(sum(counts), generator=drawn, dtype=torch.float64)
    targets = [int(torch.randint(count, (1,), generator=drawn)) for count in counts]
    fast, slow = values.clone().requires_grad_(), values.clone().requires_grad_()
    loss, right = choice_loss(fast, counts, torch.tensor(targets))
    loss.backward()
    naive, answered, start = torch.zeros((), dtype=torch.float64), 0, 0
    for count, target in zip(counts, targets, strict=True):
        own = slow[start : start + count]
        naive = naive + own.exp().sum().log() - own[target]
        answered += int(own.argmax()) == target
        start += count
    naive.backward()
    assert loss.item() == pytest.approx(naive.item(), abs=1e-9)
    assert int(right) == answered
    assert torch.allclose(fast.grad, slow.grad, atol=1e-12)


def test_the_loss_by_hand() -> None:
    logits = torch.tensor([0.0, np.log(3.0), 1.0, 1.0, 1.0, 1.0, 1.0])
    loss, right = choice_loss(logits, [2, 5], torch.tensor([1, 4]))
    assert loss.item() == pytest.approx(np.log(4 / 3) + np.log(5))
    assert int(right) == 1  # on a tie the first is the answer


def batch(clip: Clip, counts: list[int]) -> tuple[list[Any], list[list[str]], list[torch.Tensor]]:
    pictures = [drawing(i) for i in range(len(counts))]
    captions = [[f"caption {i} of {n}: {'la ' * (7 * i)}" for i in range(n)] for n in counts]
    pixels = clip.pixels.normalised(torch.from_numpy(np.stack([clip.pixels.fitted(p, "here") for p in pictures])))
    tokens = clip.tokenize([text for own in captions for text in own])
    owners = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    return pictures, captions, [pixels, tokens, owners]


def test_training_sees_the_logits_that_clip_gives(tiny: str) -> None:
    clip = opened(tiny)
    counts = [2, 5, 5, 2, 3]
    pictures, captions, given_ = batch(clip, counts)
    logits = Choices(clip.model)(*given_)
    expected = [logit for own in clip.score(pictures, captions) for logit in own]
    assert logits.detach().tolist() == pytest.approx(expected, abs=1e-4)


def test_less_memory_or_less_padding_is_the_same_gradient(tiny: str) -> None:
    counts = [2, 5, 3]
    found = {}
    for name in ("plain", "trimmed", "checkpointing"):
        clip = opened(tiny)
        network = Choices(clip.model)
        assert network._trim
        if name == "plain":
            network._trim, network._encode_text = False, clip.model.encode_text
        clip.model.set_grad_checkpointing(name == "checkpointing")
        network.train()
        sums = choice_loss(network(*batch(clip, counts)[2]), counts, torch.tensor([0, 3, 1]))
        sums[0].backward()
        found[name] = {key: parameter.grad for key, parameter in network.named_parameters()}
    for name in ("trimmed", "checkpointing"):
        for key, gradient in found["plain"].items():
            assert gradient is not None
            assert torch.allclose(found[name][key], gradient, atol=1e-4, rtol=1e-3), key


@pytest.mark.parametrize(
    ("step", "warmup", "share"),
    [
        (0, 200, 0.0),
        (1, 200, 0.005),
        (100, 200, 0.5),
        (199, 200, 0.995),
        (200, 200, 1.0),
        (9999, 200, 1.0),
        (0, 0, 1.0),
    ],
)
def test_warm_up_then_constant(step: int, warmup: int, share: float) -> None:
    assert share_of_rate(step, warmup) == pytest.approx(share)


@pytest.mark.parametrize(("scale", "most", "held"), [(150.0, 100.0, 100.0), (99.0, 100.0, 99.0), (150.0, 0.0, 150.0)])
def test_the_logit_scale_is_held(scale: float, most: float, held: float) -> None:
    model = SimpleNamespace(logit_scale=torch.nn.Parameter(torch.tensor(scale).log()))
    hold_scale(model, most)
    assert float(model.logit_scale.detach().exp()) == pytest.approx(held, rel=1e-5)
    assert model.logit_scale.requires_grad


# ---- adapters -----------------------------------------------------------------------------------


def test_adapters_alone_are_trained_and_merge_to_the_same_logits(tiny: str) -> None:
    clip = opened(tiny)
    counts = [2, 5, 3]
    given_ = batch(clip, counts)[2]
    network = Choices(clip.model)
    before = network(*given_).detach()
    adapted = adapt(clip.model, 4, 0)
    assert torch.equal(network(*given_).detach(), before)
    trained = {name for name, parameter in network.named_parameters() if parameter.requires_grad}
    assert all("lora_" in name for name in trained)
    blocks = {name.split("resblocks.")[0] + name.split("resblocks.")[1][0] for name in trained}
    assert len(blocks) == 4  # two of each tower
    frozen = {name: p.detach().clone() for name, p in network.named_parameters() if name not in trained}
    optimizer = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], lr=0.05)
    for _ in range(3):
        optimizer.zero_grad()
        choice_loss(network(*given_), counts, torch.tensor([0, 3, 1]))[0].backward()
        assert all(p.grad is not None for name, p in network.named_parameters() if name in trained)
        optimizer.step()
    for name, parameter in network.named_parameters():
        assert name in trained or torch.equal(parameter, frozen[name]), name
    after = network(*given_).detach()
    assert (after - before).abs().max() > 0.1
    plain = merged(adapted)
    assert torch.allclose(Choices(plain)(*given_).detach(), after, atol=1e-4)
    assert plain.state_dict().keys() == opened(tiny).model.state_dict().keys()
    assert torch.equal(network(*given_).detach(), after)  # a copy was merged, the training goes on


def test_adapters_need_blocks() -> None:
    with pytest.raises(BadInput, match="has no transformer blocks to adapt"):
        adapt(torch.nn.Sequential(torch.nn.Linear(2, 2)), 4, 0)


# ---- rows ---------------------------------------------------------------------------------------


def test_rows_come_from_the_benchmark_with_pictures_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    decode = images.decode_picture
    for module in (images, checking):
        monkeypatch.setattr(module, "decode_picture", lambda data, where: checked.append(where) or decode(data, where))
    splits = read_splits(ClipTrainConfig("ranking", dataset="sample", fold="3"))
    assert splits.train is not None
    assert [len(run.records) for run in (splits.train, splits.validation, splits.test)] == [30, 10, 10]
    assert {record.groups["fold"] for record in splits.train.records} == {"3"}
    assert len(checked) == len({where.split(",")[0] for where in checked}) == 25  # contests of the fold
    whole = read_splits(ClipTrainConfig("ranking", dataset="sample", fold="all"))
    assert whole.train is None
    assert len(whole.test.records) == len(whole.validation.records) == 50


def test_each_caption_is_tokenised_once(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clip = opened(tiny)
    asked: list[str] = []
    tokenize = clip.tokenize
    monkeypatch.setattr(clip, "tokenize", lambda texts: asked.extend(texts) or tokenize(texts))
    choices = [("a", "b"), ("b", "c", "a", "d", "e"), ("e", "b")]
    records = tuple(SimpleNamespace(choices=own, target=letter) for own, letter in zip(choices, "BEA", strict=True))
    run: Any = SimpleNamespace(records=records, form=Choice("ABCDE"))
    rows = Rows(run, clip)
    assert sorted(asked) == list("abcde")
    assert rows.targets == [1, 4, 0]
    tokens, counts = rows.captions([2, 1])
    assert counts == [2, 5]
    assert torch.equal(tokens, tokenize(list("ebbcade")))


def test_batches_hold_every_row_once() -> None:
    batches = plan(70, 32, "0-0")
    assert [len(rows) for rows in batches] == [32, 32, 6]
    assert sorted(row for rows in batches for row in rows) == list(range(70))
    assert plan(70, 32, "0-0") == batches != plan(70, 32, "0-1")
