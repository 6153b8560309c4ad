"""Tokens per second of `humor-tasks train text` beside a plain loop of transformers, in one run, by kind of model.

    python speed/text_training.py [--model MODEL] [--device cuda] [--rows 96] [--batch-size 32] [--precision bf16]

The plain loop is what one writes without this package: rows in random order, padded to the batch's longest, the
model's own loss (encoders: all pairs of a batch at once), clipping, AdamW. Both see the same batches and end with the
same loss. Without --model the networks have random weights and a few million parameters. Rows are those of the packaged
sample, repeated; padding does not count as tokens.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import transformers
from text_scoring import tiny_t5
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM

from humor_tasks.lab.training.loop import choice_loss, plan
from humor_tasks.lab.training.text.data import Splits, prompt_of, read_splits
from humor_tasks.lab.training.text.finetune import Trainer
from humor_tasks.lab.training.text.settings import TextTrainConfig

WORDS = 32_128


def made(kind: str, folder: Path, texts: list[str]) -> str:
    """A folder with random weights of this kind, without dropout, and a tokenizer of the texts."""
    tiny_t5(folder, texts)
    torch.manual_seed(1)
    sizes = {"vocab_size": WORDS, "hidden_size": 256, "num_hidden_layers": 6, "num_attention_heads": 4}
    if kind == "seq2seq":
        network: Any = transformers.T5ForConditionalGeneration.from_pretrained(folder, dropout_rate=0.0)
    elif kind == "causal":
        ids = {"pad_token_id": 0, "eos_token_id": 1}
        network = LlamaForCausalLM(LlamaConfig(**sizes, intermediate_size=1024, **ids))
    else:
        still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        network = BertModel(BertConfig(**sizes, intermediate_size=1024, max_position_embeddings=2048, **still))
    network.save_pretrained(folder)
    return str(folder)


def repeated(splits: Splits, rows: int) -> Splits:
    train = splits.train
    assert train is not None
    records = tuple(replace(train.records[i % len(train.records)], id=str(i)) for i in range(rows))
    return replace(splits, train=replace(train, data=replace(train.data, records=records)))


def plain_writer(trainer: Trainer, batch: list[int]) -> torch.Tensor:
    """The model's own loss over a padded batch."""
    system: Any = trainer.system
    pairs, device = [system.train_pairs[row] for row in batch], trainer.accelerator.device
    pad = system.tokenizer.pad_token_id
    if trainer.kind == "seq2seq":
        read, labels = [pair.prompt for pair in pairs], [pair.continuation for pair in pairs]
    else:
        read = [[*pair.prompt, *pair.continuation] for pair in pairs]
        labels = [[-100] * len(pair.prompt) + list(pair.continuation) for pair in pairs]

    def tensor(lists: list[list[int]], filler: int) -> torch.Tensor:
        longest = max(map(len, lists))
        return torch.tensor([[*each, *[filler] * (longest - len(each))] for each in lists]).to(device)

    ids = tensor(read, pad)
    mask = tensor([[1] * len(each) for each in read], 0)
    loss: torch.Tensor = trainer.model(input_ids=ids, attention_mask=mask, labels=tensor(labels, -100)).loss
    return loss


def plain_scorer(trainer: Trainer, batch: list[int]) -> torch.Tensor:
    """Cross-entropy of all pairs of a batch, padded together."""
    system: Any = trainer.system
    questions, targets = system.rows["train"]
    asked = [questions[row] for row in batch]
    texts = [(each.context, choice) for each in asked for choice in each.choices]
    device = trainer.accelerator.device
    group = system.tokens.tensors(system.tokens(texts), device)
    scores = trainer.model([group], torch.arange(len(texts), device=device), None)
    labels = torch.tensor([targets[row] for row in batch], device=device)
    return choice_loss(scores, [len(each.choices) for each in asked], labels)[0] / len(batch)


def plain_epoch(trainer: Trainer, loss_of: Callable[[Trainer, list[int]], torch.Tensor], optimizer: Any) -> float:
    total, config = 0.0, trainer.config
    trainer.model.train()
    for batch in plan(trainer.rows, config.batch_size, f"{config.seed}-0"):
        with trainer.accelerator.autocast():
            loss = loss_of(trainer, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), config.clip_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        total += float(loss.detach()) * trainer.system.weight(batch)
    return total / trainer.system.weight(range(trainer.rows))


def run(ours: bool, config: TextTrainConfig, splits: Splits, folder: Path) -> tuple[float, float, float, int]:
    """Processor seconds and seconds of an epoch, its mean loss, and its tokens; without loading."""
    trainer = Trainer(config, splits, folder, False)
    trainer.model, trainer._prepared = trainer.accelerator.prepare(trainer.network, trainer.optimizer)
    optimizer = torch.optim.AdamW(trainer._groups(), fused=True)
    plain = plain_scorer if trainer.kind == "encoder" else plain_writer
    tokens = sum(trainer.system.length(row) for row in range(trainer.rows))
    start, cpu = time.perf_counter(), time.process_time()
    loss = trainer._epoch(0)[0] if ours else plain_epoch(trainer, plain, optimizer)
    if trainer.accelerator.device.type == "cuda":
        torch.cuda.synchronize()
    return time.process_time() - cpu, time.perf_counter() - start, loss, tokens


def compare(kind: str, given: argparse.Namespace, folder: Path) -> None:
    splits = read_splits(TextTrainConfig("matching", "-", dataset="sample"))
    assert splits.train is not None
    texts = [prompt_of(splits.train, record) for record in splits.train.records]
    name = given.model or made(kind, folder, texts)
    config = TextTrainConfig(
        "matching",
        name,
        kind=kind,
        dataset="sample",
        lr=(1e-4,),
        head_lr=1e-4,
        warmup=0.0,
        batch_size=given.batch_size,
        device=given.device,
        precision=given.precision,
    )
    splits = repeated(splits, given.rows)
    rounds = [(run(True, config, splits, folder), run(False, config, splits, folder)) for _ in range(given.runs + 1)][
        1:
    ]
    seconds = 0 if given.device == "cpu" else 1  # a CPU's processor time, because other work on it does not count
    ratio = statistics.median(plain[seconds] / own[seconds] for own, plain in rounds)
    own, plain = rounds[0]
    rates = [round(each[3] / statistics.median(r[i][1] for r in rounds)) for i, each in enumerate((own, plain))]
    same = abs(own[2] - plain[2]) / abs(plain[2])
    print(
        f"{kind:<8} {rates[0]:>7} tokens/s, plain loop {rates[1]:>7}: {ratio:.2f} times (processor time on a CPU); "
        f"mean loss {own[2]:.4f}, {plain[2]:.4f} (relative difference {same:.1e})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a checkpoint, with --kinds its kind; default: random weights of each kind")
    parser.add_argument("--kinds", default="seq2seq,causal,encoder")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--precision", default="no")
    parser.add_argument("--rows", type=int, default=96)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    transformers.utils.logging.disable_progress_bar()
    for kind in given.kinds.split(","):
        with tempfile.TemporaryDirectory() as folder:
            compare(kind, given, Path(folder))


if __name__ == "__main__":
    main()
