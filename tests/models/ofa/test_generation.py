"""What OFA writes: published searches, the same search with lists, the cache, batches, dice, and bounds."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from standins import ofa_plainly
from standins.ofa import network, pictures, small, texts

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa import GenerationSettings, Ofa
from humor_tasks.models.ofa.encoder import Encoded
from humor_tasks.models.ofa.generation import Hypothesis, constrain, drawn, generate
from humor_tasks.models.ofa.network import OfaNetwork

# tests/golden is of the network; these are how the published outputs were made.
PUBLISHED = {
    "fairseq_beam5": GenerationSettings(beams=5, max_len=16, no_repeat_ngram=3),
    "fairseq_beam3_unnormalized_minlen4": GenerationSettings(
        beams=3, max_len=16, min_len=4, no_repeat_ngram=3, normalize=False
    ),
    "hf_beam5": GenerationSettings("hf", beams=5, max_len=18, no_repeat_ngram=3),
    "hf_beam5_len1.5_max12_nongram": GenerationSettings("hf", beams=5, max_len=10, no_repeat_ngram=0, lenpen=1.5),
    "hf_greedy": GenerationSettings("hf", beams=1, max_len=18, no_repeat_ngram=0),
    "hf_greedy_ngram3": GenerationSettings("hf", beams=1, max_len=18, no_repeat_ngram=3),
}
LENGTHS = [4, 9, 6]


@cache
@torch.no_grad()
def tiny(seed: int = 0, eager: float = 4.0) -> OfaNetwork:
    """A network whose end has about this logit: with 4, inputs end at different times."""
    built = network(small(share_decoder_input_output_embed=False), seed)
    built.decoder.layer_norm.bias += 1  # normalised vectors are orthogonal to this one
    built.decoder.output_projection.weight[2] = eager / built.config.d_model
    return built


@torch.inference_mode()
def encoded(built: OfaNetwork) -> Encoded:
    return built.encoder(texts(LENGTHS), pictures(3))


@torch.inference_mode()
def write(how: GenerationSettings, built: OfaNetwork | None = None) -> list[list[Hypothesis]]:
    built = built or tiny()
    return generate(built, encoded(built), how)


def ids(found: list[list[Hypothesis]]) -> list[list[list[int]]]:
    return [[h.ids for h in each] for each in found]


def scores(found: list[list[Hypothesis]]) -> list[float]:
    return [h.score for each in found for h in each]


# -- published searches ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "use_cache"), [("", True), ("flags", False)])
def test_searches_end_as_the_published_ones(flags: str, use_cache: bool, golden: Path) -> None:
    ofa = Ofa.load(golden / flags, device="cpu")
    inputs = load_file(golden / flags / "cases.safetensors")
    for case, runs in json.loads((golden / flags / "cases.json").read_text())["generation"].items():
        assert runs.keys() == PUBLISHED.keys()
        for name, told in runs.items():
            how = GenerationSettings(**{**vars(PUBLISHED[name]), "use_cache": use_cache})
            found = ofa.generate(inputs.get(f"{case}/in.patch_images"), inputs[f"{case}/in.input_ids"], how)
            if isinstance(told, dict):  # hf: the best one, from the begin on, padded
                width = len(told["sequences"][0])
                assert [([0, *each[0].ids] + [1] * width)[:width] for each in found] == told["sequences"]
                if told["sequences_scores"]:
                    assert [each[0].score for each in found] == pytest.approx(told["sequences_scores"], abs=2e-4)
            else:
                assert ids(found) == [[h["tokens"] for h in each] for each in told]
                assert scores(found) == pytest.approx([h["score"] for each in told for h in each], abs=2e-4)


# -- the same search with lists, the cache, and batches -------------------------------------------

hows = st.fixed_dictionaries(
    {
        "style": st.sampled_from(["fairseq", "hf"]),
        "beams": st.integers(1, 5),
        "max_len": st.integers(0, 9),
        "min_len": st.integers(0, 4),
        "lenpen": st.sampled_from([0.0, 0.6, 1.0, 2.0, -1.0]),
        "normalize": st.booleans(),
        "no_repeat_ngram": st.integers(0, 3),
    }
)

networks = st.builds(tiny, st.integers(0, 4), st.sampled_from([0.0, 3.5, 4.0, 4.5]))


def made(values: dict[str, Any]) -> GenerationSettings:
    return GenerationSettings(**(values | {"min_len": min(values["min_len"], values["max_len"])}))


def following(built: OfaNetwork, one: Encoded) -> Callable[[list[int]], list[float]]:
    @torch.inference_mode()
    def logs(prefix: list[int]) -> list[float]:
        logits: torch.Tensor = built.decoder(torch.tensor([prefix]), one)
        return logits[0, -1].double().log_softmax(0).tolist()

    return logs


@pytest.mark.slow
@given(hows, networks)
@settings(max_examples=12, deadline=None)
def test_the_search_is_the_one_with_lists(values: dict[str, Any], built: OfaNetwork) -> None:
    how, inputs = made(values), encoded(built)
    for i, found in enumerate(write(how, built)):
        step = following(built, inputs.rows(torch.tensor([i])))
        power = how.lenpen if how.normalize else 0.0
        if how.style == "fairseq":
            told = ofa_plainly.fairseq(
                step, how.beams, how.max_len, how.min_len, how.lenpen, how.normalize, how.no_repeat_ngram
            )
        else:
            lengths = how.max_len + 2, how.min_len + 1
            told = ofa_plainly.hugging_face(step, how.beams, *lengths, power, how.no_repeat_ngram)
            told = [(row, score) for row, score in told if score > -1e8]  # beams that never began
        assert [h.ids for h in found] == [row for row, _ in told]
        assert [h.score for h in found] == pytest.approx([score for _, score in told], abs=1e-4)


@pytest.mark.slow
@given(hows, networks)
@settings(max_examples=10, deadline=None)
def test_a_cache_and_company_change_nothing(values: dict[str, Any], built: OfaNetwork) -> None:
    how = made(values)
    found = write(how, built)
    plain = write(GenerationSettings(**(vars(how) | {"use_cache": False})), built)
    assert ids(found) == ids(plain)
    assert scores(found) == pytest.approx(scores(plain), abs=1e-4)
    asked, images = texts(LENGTHS), pictures(3)
    for i, length in enumerate(LENGTHS):
        with torch.inference_mode():
            alone = generate(built, built.encoder(asked[i : i + 1, :length], images[i : i + 1]), how)
        assert ids(alone) == ids(found[i : i + 1])
        assert scores(alone) == pytest.approx(scores(found[i : i + 1]), abs=1e-4)


# -- bounds ------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(hows, networks)
@settings(max_examples=25, deadline=None)
def test_every_search_ends_within_its_lengths(values: dict[str, Any], built: OfaNetwork) -> None:
    how = made(values)
    for each in write(how, built):
        assert 1 <= len(each) <= how.beams
        assert scores([each]) == sorted(scores([each]), reverse=True)
        for h in each:
            assert h.ids[-1] == 2
            assert 2 not in h.ids[:-1]
            assert how.min_len <= len(h.ids) - 1 <= how.max_len
            grams = list(zip(*([0, *h.ids][i:] for i in range(how.no_repeat_ngram)), strict=False))
            assert not how.no_repeat_ngram or len(grams) == len(set(grams)) or len(h.ids) - 1 == how.max_len
            assert how.style == "hf" or 1 not in h.ids


@pytest.mark.parametrize(
    ("written", "n", "barred"),
    [
        ([0, 5, 6, 5], 2, {6}),
        ([0, 5, 6, 5, 7, 5], 2, {6, 7}),
        ([0, 5, 6, 7, 5, 6], 3, {7}),
        ([0, 5, 6], 3, set()),
        ([0, 5], 3, set()),
        ([0, 5, 0], 2, {5}),  # the begin is a token like another
        ([0, 5, 6], 1, {0, 5, 6}),
        ([0, 5, 5, 5], 3, {5}),
        ([0, 5, 6, 7, 5, 6], 0, set()),
    ],
)
def test_what_would_repeat_is_barred(written: list[int], n: int, barred: set[int]) -> None:
    logs = torch.zeros(1, 9)
    constrain(logs, torch.tensor([written]), GenerationSettings("hf", max_len=20, no_repeat_ngram=n))
    assert {i for i, value in enumerate(logs[0].tolist()) if value == -math.inf} == barred


def test_the_last_step_costs_what_its_style_says() -> None:
    logs = torch.log(torch.tensor([[0.1, 0.2, 0.3, 0.4]]))
    for style, cost in (("fairseq", math.log(0.3)), ("hf", 0.0)):
        last = logs.clone()
        constrain(last, torch.tensor([[0, 3]]), GenerationSettings(style, max_len=1))
        assert last[0].tolist() == pytest.approx([-math.inf, -math.inf, cost, -math.inf])


# -- dice --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chance", "how", "token"),
    [
        *((0.0, {}, 3), (0.39, {}, 3), (0.41, {}, 2), (0.69, {}, 2), (0.71, {}, 1), (0.99999, {}, 0)),
        (0.99999, {"top_k": 2}, 2),
        (0.56, {"top_k": 2}, 3),  # 0.4 / 0.7 = 0.571
        *((0.58, {"top_k": 2}, 2), (0.99999, {"top_k": 9}, 0), (0.99999, {"top_p": 0.4}, 3)),
        *((0.99999, {"top_p": 0.41}, 2), (0.99999, {"top_p": 0.01}, 3)),
        (0.79, {"temperature": 0.5}, 2),  # 16 + 9 of 30
        *((0.84, {"temperature": 0.5}, 1), (0.52, {"temperature": 0.5}, 3)),
    ],
)
def test_a_die_falls_on_the_token_whose_share_it_is(chance: float, how: dict[str, Any], token: int) -> None:
    logs = torch.log(torch.tensor([[0.1, 0.2, 0.3, 0.4]]))
    settings_ = GenerationSettings(beams=1, sample=True, **how)
    sums, beams, tokens = drawn(logs, torch.tensor([[-1.0]]), torch.tensor([chance]), settings_)
    assert (int(tokens), int(beams)) == (token, 0)
    assert float(sums) == pytest.approx(-1 + float(logs[0, token]))  # the model's own probability


def test_draws_follow_from_the_seed_and_the_place_in_the_batch() -> None:
    how = {"beams": 1, "sample": True, "max_len": 12, "no_repeat_ngram": 0}
    found = write(GenerationSettings(seed=5, **how))
    assert ids(write(GenerationSettings(seed=5, **how))) == ids(found)
    assert ids(write(GenerationSettings(seed=5, use_cache=False, **how))) == ids(found)
    assert ids(write(GenerationSettings(seed=6, **how))) != ids(found)
    one = encoded(tiny()).rows(torch.tensor([2]))
    with torch.inference_mode():
        assert ids(generate(tiny(), one, GenerationSettings(seed=7, **how))) == ids(found[2:])


@pytest.mark.parametrize("cold", [{"temperature": 1e-4}, {"temperature": 1e-300}, {"top_k": 1}, {"top_p": 1e-6}])
@pytest.mark.parametrize("style", ["fairseq", "hf"])
def test_the_likeliest_draw_is_the_greedy_choice(style: str, cold: dict[str, Any]) -> None:
    how = {"style": style, "beams": 1, "max_len": 9}
    found, greedy = write(GenerationSettings(sample=True, **how, **cold)), write(GenerationSettings(**how))
    assert ids(found) == ids(greedy)
    assert scores(found) == pytest.approx(scores(greedy), abs=1e-5)


# -- the class, and bad input -----------------------------------------------------------------------


def ofa(built: OfaNetwork | None = None) -> Ofa:
    return Ofa(built or network(), "small")


def test_a_text_a_picture_or_both_are_answered() -> None:
    model, how = ofa(), GenerationSettings(beams=2, max_len=4)
    for images, asked in ((pictures(2), texts([3, 5])), (None, texts([3, 5])), (pictures(2), None)):
        assert [len(each) for each in model.generate(images, asked, how)] == [2, 2]
    assert len(model.generate(pictures(1), texts([3]))[0]) == 5
    assert model.generate(None, torch.zeros(0, 3, dtype=torch.long)) == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"style": "beam"}, "style: there is no 'beam'; choose from fairseq, hf"),
        ({"beams": 0}, "beams is 0; give a whole number of 1 or more"),
        ({"beams": 2.0}, "beams is 2.0"),
        ({"max_len": -1}, "max_len is -1"),
        ({"min_len": 20}, "min_len 20 is above max_len 16"),
        ({"sample": True}, "beams is 5, give 1"),
        ({"sample": True, "beams": 1, "temperature": 0.0}, "temperature is 0.0"),
        ({"top_p": 0.0}, "top_p is 0.0"),
        ({"top_p": 1.5}, "top_p is 1.5"),
        ({"top_k": -3}, "top_k is -3"),
        ({"top_p": "all"}, "top_p is 'all'; give a number"),
        ({"temperature": "hot"}, "temperature is 'hot'; give a number"),
        ({"temperature": float("inf")}, "temperature is inf"),
        ({"lenpen": None}, "lenpen is None; give a number"),
        ({"lenpen": float("nan")}, "lenpen is nan"),
        ({"lenpen": 11}, "lenpen is 11; give a number from -10 to 10"),
        ({"normalize": "no"}, "normalize is 'no'; give true or false"),
        ({"use_cache": 0}, "use_cache is 0"),
        ({"sample": 1, "beams": 1}, "sample is 1"),
        ({"seed": "7"}, "seed is '7'; give a 64-bit whole number"),
        ({"seed": 2**63}, "seed is 9223372036854775808"),
    ],
)
def test_settings_that_cannot_be_used(values: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        GenerationSettings(**values)


def test_generation_without_a_place_or_sense_is_refused() -> None:
    model = ofa()
    with pytest.raises(BadInput, match="max_len is 48; the decoder has positions for 47 tokens"):
        model.generate(None, texts([3]), GenerationSettings(max_len=48))
    with pytest.raises(BadInput, match="31 beams are too many for 61 tokens"):
        model.generate(None, texts([3]), GenerationSettings(beams=31))
    with pytest.raises(BadInput, match="token ids go from 0 to 60; are they of another vocabulary"):
        model.generate(None, torch.tensor([[0, 61, 2]]))
    damaged = network(small(add_type_embedding=False))
    damaged.encoder.layers[0].fc1.weight.data[0, 0] = float("nan")
    with pytest.raises(BadInput, match="not finite; the weights are damaged"):
        ofa(damaged).generate(None, texts([3]))
