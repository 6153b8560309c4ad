"""Text models: log-likelihoods equal a naive loop over tokens; batches, order and padding change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.tiny_text import tiny_folder, tiny_network, tiny_tokenizer

from humor_tasks.errors import BadInput
from humor_tasks.models.devices import Batches
from humor_tasks.models.text.language import Generation, Likelihood
from humor_tasks.models.text.pretrained import arguments
from humor_tasks.models.text.seq2seq import Seq2Seq

TEXTS = (
    "A dog in a suit sits at a desk and talks on the phone. Which caption fits?",
    "A) I'm still a good boy. B) Fetch me my lawyer. C) The bark is worse. D) Sit. E) No walks today. Answer:",
    "The joke is that the dog has a job, and talks about it as people do. Explanation:",
)
PROMPTS = (*TEXTS, f"{TEXTS[0]} {TEXTS[1]}", "Answer:")
LETTERS = (" A", " B", " C", " D", " E")
CONTINUATIONS = (
    LETTERS,
    (" yes", " no"),
    (" because a dog has no job", " it is not funny", " A", ""),
    LETTERS,
    (" phone",),
)
SIZES = {"t5": {}, "bart": {"context": 512}}


@pytest.fixture(scope="module", params=SIZES)
def parts(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """A network with its tokenizer."""
    tokenizer = tiny_tokenizer(TEXTS, request.param)
    return tiny_network(request.param, tokenizer, **SIZES[request.param]), tokenizer


def naive(network: Any, tokenizer: Any, prompt: str, text: str) -> Likelihood:
    """One forward pass a token, without padding, cache or batches."""
    read = torch.tensor([tokenizer(prompt)["input_ids"]])
    before, chance, greedy = [network.config.decoder_start_token_id], 0.0, True
    wanted = tokenizer(text, add_special_tokens=False)["input_ids"]
    for token in wanted:
        with torch.no_grad():
            logits = network(input_ids=read, decoder_input_ids=torch.tensor([before])).logits[0, -1]
        chance += float(logits.log_softmax(0)[token])
        greedy &= int(logits.argmax()) == token
        before.append(token)
    return Likelihood(chance, len(wanted), greedy)


def same(found: Sequence[Sequence[Likelihood]], wanted: Sequence[Sequence[Likelihood]]) -> None:
    for some, others in zip(found, wanted, strict=True):
        assert [(x.tokens, x.greedy) for x in some] == [(x.tokens, x.greedy) for x in others]
        assert [x.logprob for x in some] == pytest.approx([x.logprob for x in others], abs=1e-4, rel=1e-5)


def test_likelihoods_equal_a_loop_over_tokens(parts: tuple[Any, Any]) -> None:
    wanted = [[naive(*parts, p, text) for text in some] for p, some in zip(PROMPTS, CONTINUATIONS, strict=True)]
    assert len({round(x.logprob, 2) for some in wanted for x in some}) > 12  # the network tells texts apart
    same(Seq2Seq(*parts, "tiny").loglikelihoods(PROMPTS, CONTINUATIONS), wanted)


def test_the_greedy_text_is_told(parts: tuple[Any, Any]) -> None:
    network, tokenizer = parts
    model = Seq2Seq(network, tokenizer, "tiny")
    read, before = torch.tensor([tokenizer(PROMPTS[0])["input_ids"]]), [network.config.decoder_start_token_id]
    for _ in range(3):
        with torch.no_grad():
            before.append(int(network(input_ids=read, decoder_input_ids=torch.tensor([before])).logits[0, -1].argmax()))
    for n in (1, 2, 3):
        likeliest, other = before[1 : n + 1], [*before[1:n], (before[n] + 1) % len(tokenizer)]
        with patch.object(model, "continuations", return_value={"likeliest": likeliest, "other": other}):
            [[found, worse]] = model.loglikelihoods([PROMPTS[0]], [["likeliest", "other"]])
        assert (found.greedy, worse.greedy, found.tokens) == (True, False, n)
        assert found.logprob > worse.logprob


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_batches_order_and_padding_change_nothing(parts: tuple[Any, Any], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(PROMPTS) - 1), min_size=1, max_size=8))
    some = [data.draw(st.permutations(CONTINUATIONS[i])) for i in places]
    some = [texts[: data.draw(st.integers(1, len(texts)))] for texts in some]
    model = Seq2Seq(*parts, "tiny", batch_size=data.draw(st.integers(0, 4)))
    alone = [
        [model.loglikelihoods([PROMPTS[i]], [[t]])[0][0] for t in texts] for i, texts in zip(places, some, strict=True)
    ]
    same(model.loglikelihoods([PROMPTS[i] for i in places], some), alone)


@pytest.mark.parametrize("letters", [True, False])
def test_a_prompt_is_encoded_once_and_letters_take_one_step(parts: tuple[Any, Any], letters: bool) -> None:
    network, _ = parts
    model, some = Seq2Seq(*parts, "tiny"), LETTERS if letters else (*LETTERS, " it is a dog")
    steps: list[tuple[int, ...]] = []
    hooks = [
        side.register_forward_pre_hook(
            lambda _, args, given: steps.append((*given["input_ids"].shape,)), with_kwargs=True
        )
        for side in (network.get_encoder(), network.get_decoder())
    ]
    model.loglikelihoods([PROMPTS[0], PROMPTS[1], PROMPTS[0]], [some[:2], some, some[2:]])
    for hook in hooks:
        hook.remove()
    (rows, _), (decoded, length) = steps
    assert rows == 2
    assert (decoded, length) == (2, 1) if letters else decoded == 12


@pytest.mark.parametrize("beams", [1, 3])
def test_texts_are_those_of_generate_for_one_prompt(parts: tuple[Any, Any], beams: int) -> None:
    network, tokenizer = parts
    wanted = []
    for prompt in PROMPTS:
        read = torch.tensor([tokenizer(prompt)["input_ids"]])
        ids = network.generate(input_ids=read, max_new_tokens=9, num_beams=beams, do_sample=False)
        wanted.append(tokenizer.decode(ids[0], skip_special_tokens=True))
    for size in (0, 1, 2):
        found = Seq2Seq(network, tokenizer, "tiny", batch_size=size).generate(PROMPTS, Generation(9, beams))
        assert [each.text for each in found] == wanted
        assert [each.read for each in found] == [len(tokenizer(prompt)["input_ids"]) for prompt in PROMPTS]
        assert all(each.cut == (each.written == 9) for each in found)


def test_a_sampled_text_depends_on_prompt_and_seed_alone(parts: tuple[Any, Any]) -> None:
    model, how = Seq2Seq(*parts, "tiny"), Generation(9, temperature=1.0, top_p=0.95, top_k=50, seed=1)
    together = model.generate(PROMPTS, how)
    assert [model.generate([prompt], how)[0] for prompt in PROMPTS] == together
    assert model.generate(PROMPTS[::-1], how)[::-1] == together
    assert len({each.text for each in together}) > len(PROMPTS) // 2
    assert model.generate(PROMPTS, Generation(9, temperature=1.0, seed=2)) != together


def test_samples_follow_the_model(parts: tuple[Any, Any]) -> None:
    model = Seq2Seq(*parts, "tiny")
    prompts = [f"{i} dogs" for i in range(20)]
    cold = model.generate(prompts, Generation(4, temperature=1e-4, seed=3))
    assert cold == model.generate(prompts, Generation(4))
    nucleus = model.generate(prompts, Generation(4, temperature=1.0, top_p=1e-6, seed=3))
    assert nucleus == cold
    assert model.generate(prompts, Generation(4, temperature=1.0, top_k=1, seed=3)) == cold
    # As `--gen_kwargs temperature=1` arrives.
    drawn = model.generate(prompts, Generation(4, temperature=1, seed=3))
    assert drawn == model.generate(prompts, Generation(4, temperature=1.0, seed=3)) != cold


def test_draws_have_the_frequencies_of_the_distribution() -> None:
    wanted = torch.tensor([0.5, 0.3, 0.15, 0.05, 0.0])
    how = Generation(1, temperature=1.0, seed=5)
    *_, noise = arguments(how, [str(i) for i in range(4000)], torch.device("cpu"))["logits_processor"]
    drawn = noise(None, wanted.log().expand(4000, 5)).argmax(1)
    found = torch.bincount(drawn, minlength=5) / 4000
    assert found.tolist() == pytest.approx(wanted.tolist(), abs=0.03)  # nearly four standard errors
    assert found[4] == 0


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"temperature": -1.0}, "temperature is -1.0"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"top_p": 0.0}, "top_p is 0.0"),
        ({"top_k": -1}, "top_k is -1"),
        ({"temperature": 1.0, "beams": 2}, "sampling needs beams=1"),
    ],
)
def test_settings_out_of_range(how: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Generation(**how)


def test_long_prompts_lose_their_beginning_and_are_counted_once(parts: tuple[Any, Any]) -> None:
    network, tokenizer = parts
    long, short = " ".join(TEXTS * 9), "Answer:"
    whole, tail = tokenizer(long)["input_ids"], tokenizer(short)["input_ids"]
    model = Seq2Seq(network, tokenizer, "tiny")
    model.context = len(tail) + 3
    found = model.loglikelihoods([f"{long} {short}", short, f"{long} {short}"], [LETTERS] * 3)
    model.loglikelihoods([f"{long} {short}"], [LETTERS])
    assert model.cut == 1
    begins = [tokenizer.bos_token_id] * (whole[0] == tokenizer.bos_token_id)
    kept = tokenizer(f"{long} {short}")["input_ids"][-model.context + len(begins) :]
    assert kept[-len(tail) + len(begins) :] == tail[len(begins) :]
    read, start = torch.tensor([[*begins, *kept]]), torch.tensor([[network.config.decoder_start_token_id]])
    with torch.no_grad():
        logits = network(input_ids=read, decoder_input_ids=start).logits[0, 0].log_softmax(0)
    tokens = [tokenizer(letter, add_special_tokens=False)["input_ids"][0] for letter in LETTERS]
    assert [x.logprob for x in found[0]] == pytest.approx(logits[tokens].tolist(), abs=1e-4)


def test_a_target_is_never_cut() -> None:
    tokenizer = tiny_tokenizer(TEXTS, "bart")
    model = Seq2Seq(tiny_network("bart", tokenizer, context=64), tokenizer, "tiny")
    with pytest.raises(BadInput, match="the decoder has 64 positions; it is not cut"):
        model.loglikelihoods(["Explanation:"], [[" phone" * 65]])
    assert model.generate(["Explanation:"], Generation(500))[0].written <= 63


def test_a_network_in_training_goes_on_training(parts: tuple[Any, Any]) -> None:
    network, tokenizer = parts
    model, wanted = (
        Seq2Seq(network, tokenizer, "tiny"),
        Seq2Seq(network, tokenizer, "tiny").loglikelihoods(PROMPTS, CONTINUATIONS),
    )
    network.train()
    try:
        same(model.loglikelihoods(PROMPTS, CONTINUATIONS), wanted)  # without dropout
        assert network.training
        assert all(each.training for each in network.modules())
    finally:
        network.eval()


def test_not_a_number_is_an_error() -> None:
    tokenizer = tiny_tokenizer(TEXTS)
    network = tiny_network("t5", tokenizer)
    with torch.no_grad():
        network.get_output_embeddings().weight.fill_(float("nan"))
    with pytest.raises(BadInput, match=r"not a number \(nan\)"):
        Seq2Seq(network, tokenizer, "tiny").loglikelihoods(["Answer:"], [LETTERS])


def test_batches_shrink_until_they_fit() -> None:
    seen: list[int] = []

    def process(some: list[int]) -> list[int]:
        seen.append(len(some))
        if len(some) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return [-each for each in some]

    for size in (0, 16):
        batches, items = Batches("text/x", torch.device("cpu"), size), list(range(20))
        batches.tokens = 200
        assert batches.run(process, items, [10] * 20) == [-each for each in items]
        assert batches.rows(10) in (2, 3)
    assert max(seen) > 3
    with pytest.raises(BadInput, match="not even one text of 10 tokens fits the memory of cpu"):
        batches.run(lambda some: process(some * 9), items, [10] * 20)
    with pytest.raises(RuntimeError, match="another"):
        batches.run(lambda some: (_ for _ in ()).throw(RuntimeError("another")), items, [10] * 20)
    with pytest.raises(BadInput, match="batch_size is -1"):
        Batches("text/x", torch.device("cpu"), -1)


@settings(max_examples=50, deadline=None)
@given(lengths=st.lists(st.integers(0, 300), max_size=30), size=st.integers(0, 5))
def test_batches_hold_every_row_once_the_longest_first(lengths: list[int], size: int) -> None:
    batches = Batches("text/x", torch.device("cpu"), size)
    batches.tokens = 512
    parts = batches.split(lengths)
    assert sorted(i for part in parts for i in part) == list(range(len(lengths)))
    order = [lengths[i] for part in parts for i in part]
    assert order == sorted(order, reverse=True)
    for part in parts:
        assert len(part) <= (size or max(1, 512 // max(1, lengths[part[0]])))


@pytest.mark.slow
def test_a_folder_is_loaded_with_its_kind(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "t5", TEXTS, "t5")
    model = Seq2Seq.load(folder, "cpu")
    assert (model.name, model.kind, model.context, model.cut) == (folder, "seq2seq", 4096, 0)
    whole = model.loglikelihoods(PROMPTS, CONTINUATIONS)
    half = Seq2Seq.load(folder, "cpu", "bf16", batch_size=2).loglikelihoods(PROMPTS, CONTINUATIONS)
    for some, others in zip(whole, half, strict=True):
        assert [x.logprob for x in some] == pytest.approx([x.logprob for x in others], abs=1.0, rel=0.1)
    with pytest.raises(BadInput, match="kind 'causal', not seq2seq"):
        Seq2Seq.load(tiny_folder(tmp_path / "causal", TEXTS, "causal"), "cpu")
    with pytest.raises(BadInput, match="there is no such folder"):
        Seq2Seq.load(str(tmp_path / "none"), "cpu")
    with pytest.raises(BadInput, match="precision"):
        Seq2Seq.load(folder, "cpu", "fp64")
