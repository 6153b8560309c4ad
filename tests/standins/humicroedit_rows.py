"""Headlines in the organisers' layout, of which an encoder as small as this one's can learn what is funny."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

NOUNS = "senate court market border budget storm treaty bank school station".split()
VERBS = "passes delays rejects reviews opens closes".split()
FUNNY, DULL = "pancake llama disco sock".split(), "motion report plan notice".split()
WORDS = [*NOUNS, *VERBS, *FUNNY, *DULL, "the", "today", "again", '"']
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_folder(folder: Path, splits: dict[str, int], seed: int = 0) -> str:
    """The organisers' layout: headlines a split, each with two edits of which one is funny."""
    drawn, number = random.Random(seed), 0
    for split, headlines in splits.items():
        rows: list[list[Any]] = []
        asked: list[list[Any]] = []
        for i in range(headlines):
            text = f"the <{drawn.choice(NOUNS)}/> {drawn.choice(VERBS)} {drawn.choice(NOUNS)} today {split} {i}"
            edits = []
            for words, grades in ((FUNNY, "32222"), (DULL, "10000")):
                number += 1
                edits.append([number, text, drawn.choice(words), grades, sum(map(int, grades)) / 5])
            drawn.shuffle(edits)
            rows += edits
            label = 1 if edits[0][4] > edits[1][4] else 2
            asked.append([f"{edits[0][0]}-{edits[1][0]}", *edits[0][1:], *edits[1][1:], label])
        names = ["original", "edit", "grades", "meanGrade"]
        write_csv(folder / "task-1" / f"{split}.csv", ["id", *names], rows)
        numbered = [f"{name}{n}" for n in (1, 2) for name in names]
        write_csv(folder / "task-2" / f"{split}.csv", ["id", *numbered, "label"], asked)
    return str(folder)


def write_csv(path: Path, names: list[str], rows: list[list[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


def tiny_encoder(folder: Path, seed: int = 0) -> str:
    """A BERT of two layers with random weights, and a tokenizer of whole words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(seed)
    vocabulary = {word: i for i, word in enumerate([*SPECIAL, *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    named = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, model_input_names=["input_ids", "token_type_ids", "attention_mask"], **named
    )
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return str(folder)
