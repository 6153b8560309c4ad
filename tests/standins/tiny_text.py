"""Tiny text models with random weights, and a tokenizer of the words of some texts: T5, BART, Llama and BERT."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from string import printable
from typing import Any

import torch

SPECIAL = ["<pad>", "</s>", "<s>", "<unk>"]
SD = {"t5": 0.5, "bart": 0.6}
KINDS = ("t5", "bart", "causal", "encoder")
LABELS = [f"▁{label}" for label in (*"ABCDE", "yes", "no")]


def tiny_tokenizer(texts: Sequence[str], kind: str = "t5", context: int = 4096, words: int = 400) -> Any:
    """A Unigram tokenizer, as T5's, in which labels are single tokens.

    As T5's it ends a text with </s>; as BART's it also begins it with <s>; for a causal model it adds neither.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    # Not trained: a trainer orders words of equal score at random, so that ids, and what random weights say of them,
    # would differ from run to run.
    counts = Counter(f"▁{word}" for text in texts for word in text.split())
    common = sorted(counts, key=lambda word: (-counts[word], word))[
        : words - len(SPECIAL) - len(LABELS) - len(printable)
    ]
    scores = dict.fromkeys(SPECIAL, 0.0) | {word: math.log(counts[word] / counts.total()) for word in common}
    scores |= dict.fromkeys(("▁", *sorted(printable)), -10.0)
    scores |= {label: -1.0 for label in LABELS if label not in scores}
    made = Tokenizer(models.Unigram(list(scores.items()), unk_id=SPECIAL.index("<unk>")))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    single, pair = ("<s> $A </s>", "<s> $A </s> $B </s>") if kind == "bart" else ("$A </s>", "$A </s> $B </s>")
    marks = [(token, made.token_to_id(token)) for token in ("<s>", "</s>")]
    if kind != "causal":
        made.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=marks)
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=context,
    )


def tiny_network(
    kind: str,
    tokenizer: Any,
    seed: int = 0,
    width: int = 32,
    layers: int = 2,
    context: int = 2048,
    window: int | None = None,
) -> Any:
    """A network for the tokenizer; a causal one with a `window` attends to so many tokens.

    Its weights are larger than at the start of training, so that outputs differ.
    """
    import transformers as hf

    torch.manual_seed(seed)
    marks = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": tokenizer.bos_token_id,
    }
    heads = {"num_hidden_layers": layers, "num_attention_heads": 4}
    if kind == "t5":
        sizes = {"d_model": width, "d_kv": width // 4, "d_ff": 2 * width, "num_layers": layers, "num_heads": 4}
        start = {"decoder_start_token_id": tokenizer.pad_token_id, "dropout_rate": 0.1}
        network: Any = hf.T5ForConditionalGeneration(hf.T5Config(**marks, **sizes, **start))
    elif kind == "bart":
        sides = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in _bart(width, layers).items()}
        start = {"decoder_start_token_id": tokenizer.eos_token_id, "forced_eos_token_id": None}
        config = hf.BartConfig(**marks, **sides, **start, d_model=width, max_position_embeddings=context)
        network = hf.BartForConditionalGeneration(config)
    elif kind == "causal":
        sizes = {"hidden_size": width, "intermediate_size": 2 * width}
        if window is None:
            network = hf.LlamaForCausalLM(hf.LlamaConfig(**marks, **heads, **sizes))
        else:
            config = hf.MistralConfig(**marks, **heads, **sizes, num_key_value_heads=4, sliding_window=window)
            network = hf.MistralForCausalLM(config)
    else:
        config = hf.BertConfig(**marks, **heads, hidden_size=width, intermediate_size=2 * width)
        network = hf.BertModel(config)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, SD.get(kind, 0.15))
    return network.eval()


def _bart(width: int, layers: int) -> dict[str, int]:
    return {"layers": layers, "attention_heads": 4, "ffn_dim": 2 * width}


def tiny_folder(folder: Path, texts: Sequence[str], kind: str = "t5", **sizes: Any) -> str:
    """The folder with a network and its tokenizer, as `save_pretrained` writes them."""
    tokenizer = tiny_tokenizer(texts, kind)
    tiny_network(kind, tokenizer, **sizes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def without_dropout(folder: Path) -> str:
    """The folder, whose network now trains without dropout: two processes draw other masks than one."""
    path = folder / "config.json"
    written = json.loads(path.read_text())
    names = ("dropout", "dropout_rate", "hidden_dropout_prob", "attention_probs_dropout_prob")
    path.write_text(json.dumps(written | {name: 0.0 for name in names if name in written}))
    return str(folder)
