"""`Causal`: likelihoods against a loop over tokens, texts one by one, and the prompts that it reads."""

from __future__ import annotations

import pytest
import torch
from standins.tiny_text import tiny_network, tiny_tokenizer

from humor_tasks.models.text.causal import Causal, PairTokenizer, plain_template
from humor_tasks.models.text.language import Generation

WORDS = ["A dog walks into a bar. So what? It is the captain speaking, and all of the passengers listen."]


def test_causal_likelihoods_do_not_depend_on_batch_order_and_padding() -> None:
    tokenizer = tiny_tokenizer(WORDS, "causal")
    network = tiny_network("causal", tokenizer)
    prompts = ["A dog", "A dog walks into a bar. So what? Answer:", "It"]
    continuations = [[" walks", " A"], [" A", " B"], [" is the captain speaking"]]
    whole = Causal(network, tokenizer, "x").loglikelihoods(prompts, continuations)
    for size in (1, 2):
        again = Causal(network, tokenizer, "x", batch_size=size).loglikelihoods(prompts[::-1], continuations[::-1])[
            ::-1
        ]
        for one, other in zip(whole, again, strict=True):
            assert [each.logprob for each in one] == pytest.approx([each.logprob for each in other], abs=1e-4)
            assert [(each.tokens, each.greedy) for each in one] == [(each.tokens, each.greedy) for each in other]
    for prompt, own, likelihoods in zip(prompts, continuations, whole, strict=True):
        for continuation, found in zip(own, likelihoods, strict=True):
            ids, read = tokenizer(prompt + continuation)["input_ids"], tokenizer(prompt)["input_ids"]
            total, greedy = 0.0, True
            for at in range(len(read), len(ids)):
                logits = network(input_ids=torch.tensor([ids[:at]])).logits[0, -1]
                total += float(logits.log_softmax(-1)[ids[at]])
                greedy &= int(logits.argmax()) == ids[at]
            assert found == (pytest.approx(total, abs=1e-4), len(ids) - len(read), greedy)


@pytest.mark.parametrize("window", [None, 4])
def test_a_prompt_is_read_once_for_all_of_its_choices(window: int | None) -> None:
    """Also where layers keep the last tokens only, as Gemma's do."""
    tokenizer = tiny_tokenizer(WORDS, "causal")
    network = tiny_network("causal", tokenizer, window=window)
    prompts = ["A dog walks into a bar. So what? It is", "So"]
    texts = [[" the captain speaking", " all of the passengers listen.", " A", " the bar"], [" A dog", " what? It"]]
    alone = [
        [Causal(network, tokenizer, "x").loglikelihoods([prompt], [[text]])[0][0] for text in own]
        for prompt, own in zip(prompts, texts, strict=True)
    ]
    read: list[int] = []
    network.register_forward_pre_hook(lambda _, __, given: read.append(given["input_ids"].shape[1]), with_kwargs=True)
    for size in (0, 1, 3):
        read.clear()
        shared = Causal(network, tokenizer, "x", batch_size=size).loglikelihoods(prompts, texts)
        for one, other in zip(alone, shared, strict=True):
            assert [each.logprob for each in one] == pytest.approx([each.logprob for each in other], abs=1e-4)
            assert [(each.tokens, each.greedy) for each in one] == [(each.tokens, each.greedy) for each in other]
    # Both prompts, then their six continuations in batches of three, each but its last token.
    assert read == [10, 10, 1]


def test_causal_texts_do_not_depend_on_the_batch() -> None:
    tokenizer = tiny_tokenizer(WORDS, "causal")
    network = tiny_network("causal", tokenizer)
    prompts = ["A dog", "It is the captain speaking, and all of", "So"]
    for how in (Generation(max_tokens=6), Generation(max_tokens=6, temperature=0.9, top_p=0.9, seed=3)):
        whole = Causal(network, tokenizer, "x").generate(prompts, how)
        alone = [Causal(network, tokenizer, "x").generate([prompt], how)[0] for prompt in prompts]
        assert whole == alone


@pytest.mark.parametrize(("prefix", "gap"), [("Explanation:", "\n\n"), ("Here's \\my\\ view:", "\n\n"), ("", "")])
def test_plain_templates_show_any_prefix(prefix: str, gap: str) -> None:
    tokenizer = tiny_tokenizer(WORDS, "causal")
    tokenizer.chat_template = plain_template(prefix, gap)
    turns = [{"role": "user", "content": "{{ 7 * 7 }} {% if %}"}]
    shown = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    assert shown == f"{{{{ 7 * 7 }}}} {{% if %}}{gap}{prefix}"


def test_pairs_are_divided_where_the_answer_begins() -> None:
    tokens = PairTokenizer(tiny_tokenizer(WORDS, "causal"), None)
    pair = tokens("A dog walks. Answer:", " A", end=True)
    assert tokens.tokenizer.decode(pair.prompt) == "A dog walks. Answer:"
    assert pair.continuation == [*tokens("A dog walks. Answer:", " A").continuation, tokens.tokenizer.eos_token_id]
