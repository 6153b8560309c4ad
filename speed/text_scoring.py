"""Scoring of five-choice rows with `humor-text` beside lm-eval's `hf`: same checkpoint, same rows, one run.

    python speed/text_scoring.py [--pretrained google/flan-t5-base] [--device cuda] [--rows 100] [--batch-size 16]
    python speed/text_scoring.py --pretrained HuggingFaceTB/SmolLM2-135M-Instruct --whole

Without --pretrained the model is a T5 of random weights with 16 million parameters, 4 layers of 256 numbers each side.
The rows are those of the packaged sample of matching, each with its captions in other orders. Only the model's answers
to requests of lm-eval are timed: loading, prompts and scores are the same for both.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from lm_eval.models.huggingface import HFLM
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from humor_tasks import load
from humor_tasks.models.text.pretrained import kind_of
from humor_tasks.on_lm_eval import harness
from humor_tasks.on_lm_eval.harness import Instance
from humor_tasks.on_lm_eval.providers.text import TextLM
from humor_tasks.rows.records import plain_text

WORDS = 32_128  # T5's
LETTERS = "ABCDE"


def prompts(count: int) -> list[tuple[str, list[str]]]:
    """Prompts of five choices, and the choices; the captions of a row are shuffled, so that all are different."""
    run = load("matching", dataset="sample", cot=False)
    draw, found = random.Random(0), []
    while len(found) < count:
        record = run.records[len(found) % len(run.records)]
        text = plain_text((turn.text for turn in run.prompt(record).turns), run.form.prefix)
        choices = list(record.choices)
        draw.shuffle(choices)
        for letter, old, new in zip(LETTERS, record.choices, choices, strict=True):
            text = text.replace(f"{letter}) {old}\n", f"{letter}) {new}\n")
        found.append((text, choices))
    return found


def tiny_t5(folder: Path, texts: list[str]) -> str:
    """A T5 of random weights, whose letters differ between rows, with a tokenizer of the texts."""
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.normalizer = normalizers.Replace(Regex(r"\s+"), " ")
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=2_000, special_tokens=["<pad>", "</s>", "<unk>"]))
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=made, **marks, model_max_length=2048).save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {"d_model": 256, "d_kv": 64, "d_ff": 1024, "num_layers": 4, "num_heads": 4}
    ids = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    network = T5ForConditionalGeneration(T5Config(vocab_size=WORDS, **sizes, **ids))
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.2)
    network.save_pretrained(folder)
    return str(folder)


Rows = list[tuple[str, list[str]]]


def requests(rows: Rows) -> list[Instance]:
    return [
        harness.request("loglikelihood", {}, (text, f" {choice}"), i, harness.Where("rows", n))
        for n, (text, choices) in enumerate(rows)
        for i, choice in enumerate(choices)
    ]


def timed(model: Any, rows: Rows) -> tuple[float, list[float]]:
    """Seconds, and the log-likelihood of every request."""
    asked = requests(rows)
    start = time.perf_counter()
    found = model.loglikelihood(asked, disable_tqdm=True)  # numbers on the host: the device has finished
    return time.perf_counter() - start, [float(each) for each, _ in found]


def letters(found: list[float]) -> str:
    rows = [found[i : i + 5] for i in range(0, len(found), 5)]
    return "".join(LETTERS[row.index(max(row))] for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pretrained", help="a seq2seq or causal checkpoint; default: a small T5 of random weights")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=16, help="rows of a batch in both")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="choices are whole captions, not letters")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    texts = [(text, choices if given.whole else list(LETTERS)) for text, choices in prompts(given.rows)]
    with tempfile.TemporaryDirectory() as folder:
        name = given.pretrained or tiny_t5(Path(folder), [text for text, _ in texts])
        own = TextLM(name, given.device, given.batch_size)
        theirs = HFLM(name, backend=kind_of(name), device=given.device, batch_size=given.batch_size, dtype="float32")
        parameters = sum(each.numel() for each in theirs.model.parameters())
        for model in (own, theirs):
            timed(model, texts[: given.batch_size])
        rounds = [(timed(own, texts), timed(theirs, texts)) for _ in range(given.runs)]
    (_, ours), (_, hf) = rounds[0]
    agree = sum(a == b for a, b in zip(letters(ours), letters(hf), strict=True))
    widest = max(abs(a - b) for a, b in zip(ours, hf, strict=True))
    first, second = (statistics.median(r[i][0] for r in rounds) for i in (0, 1))
    ratio = statistics.median(r[1][0] / r[0][0] for r in rounds)
    shown = given.pretrained or "random T5"
    device = torch.cuda.get_device_name() if given.device.startswith("cuda") else f"{torch.get_num_threads()} threads"
    print(f"{shown}, {parameters / 1e6:.0f} million parameters, fp32, {given.device} ({device})")
    kind = "captions" if given.whole else "letters"
    print(f"{given.rows} rows of five {kind}, batches of {given.batch_size}, medians of {given.runs}")
    print(f"humor-text {given.rows / first:8.1f} rows/s\nhf         {given.rows / second:8.1f} rows/s")
    print(f"ratio      {ratio:8.2f} (goal: at least 2)")
    counts = json.dumps({letter: letters(ours).count(letter) for letter in LETTERS})
    print(f"the same letter in {agree} of {given.rows} rows {counts}, largest difference of likelihoods {widest:.1e}")


if __name__ == "__main__":
    main()
