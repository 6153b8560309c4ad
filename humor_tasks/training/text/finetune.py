"""One training with one learning rate, on one or several devices (`accelerate launch`).

AdamW with warm-up, then a constant learning rate. A batch is divided among the devices and into micro-batches; its loss
is the mean over all of its answers' tokens (encoders: rows), so that neither division changes the result.
"""

from __future__ import annotations

import math
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import torch
from accelerate.utils import gather_object
from tqdm import tqdm
from transformers import GenerationConfig

from humor_tasks.data.writing import write_json
from humor_tasks.errors import BadInput
from humor_tasks.models.text.pretrained import ABOUT, FORMAT, Kind, kind_of, open_network, open_tokenizer
from humor_tasks.training.checkpoint import seed_epoch
from humor_tasks.training.loop import Epochs, accelerator_for, plan, process_parts, share_of_rate
from humor_tasks.training.sharding import requested
from humor_tasks.training.text.adapters import adapt, merged
from humor_tasks.training.text.config import TextTrainConfig
from humor_tasks.training.text.data import Splits
from humor_tasks.training.text.systems import System, system_of

_IDS = ("pad_token_id", "eos_token_id", "bos_token_id", "decoder_start_token_id")
JUDGED = 32  # validation rows at once
CPU_TOKENS = 2048  # of a part


class Trainer(Epochs):
    """Network, optimizer and rows of one run.

    An epoch of the loop is the part of the data between two validations.
    """

    CURVE = ("epoch", "step", "train_loss", "validation", "lr")

    kind: str
    """The kind of model. Set by `_opened`, as are `rows` and `judged`, the numbers of rows of train and validation."""
    rows: int
    judged: int
    about: dict[str, Any] | None = None
    """What the harnesses read of a text model's folder."""

    def __init__(self, config: Any, data: Any, output: Path, progress: bool) -> None:
        self.config, self.output = config, output
        self.accelerator = accelerator_for(config.precision, config.device, "text", sharded=True)
        self.progress = progress and self.accelerator.is_main_process
        self.clip_norm = config.clip_norm
        self.epochs, self.patience, self.rate = config.epochs * config.validations, config.patience, config.lr[0]
        self.system = self._opened(data)
        self.system.device, self.network = self.accelerator.device, self.system.network
        self.optimizer = torch.optim.AdamW(self._groups(), fused=True)
        self.most = config.micro_batch or self._rows_at_once()
        steps = math.ceil(self.rows / config.batch_size)
        if config.validations > steps:
            raise BadInput(
                f"validations={config.validations}: an epoch has only {steps} steps of {config.batch_size} rows."
            )
        self.steps = math.ceil(steps / config.validations)

    def _opened(self, data: Any) -> System:
        """The system with its rows."""
        config: TextTrainConfig = self.config
        splits: Splits = data
        assert splits.train is not None
        kind = cast(Kind, config.kind) or kind_of(config.model, config.model_revision)
        if kind == "encoder" and requested() == "DeepSpeed":
            raise BadInput("an encoder's new layer has its own learning rate, which DeepSpeed does not keep: use FSDP.")
        if kind != "encoder" and config.encoding != TextTrainConfig.encoding:
            raise BadInput(f"encoding={config.encoding} is for encoders; {config.model} is a {kind} model.")
        system = opened(config, kind)
        system.prepare(splits.train, splits.validation)
        self.kind, self.rows, self.judged = kind, len(splits.train.records), len(splits.validation.records)
        self.about = {"format": FORMAT, "kind": kind, "task": config.task, "setting": config.setting}
        self.about |= {"prefix": splits.train.form.prefix, "base": config.model, "encoding": config.encoding}
        return system

    def _groups(self) -> list[dict[str, Any]]:
        """The trainable parameters, the encoder's new layer with its own learning rate."""
        config = self.config
        new = [p for name, p in self.network.named_parameters() if name.split(".")[0] == "head"]
        rest = [p for p in self.network.parameters() if p.requires_grad and not any(p is each for each in new)]
        shared = {"betas": (config.beta1, config.beta2), "eps": config.eps, "weight_decay": config.weight_decay}
        groups = [{"params": rest, "lr": self.rate, "base_lr": self.rate}]
        groups += [{"params": new, "lr": config.head_lr, "base_lr": config.head_lr}] if self.kind == "encoder" else []
        return [group | shared for group in groups]

    def _rows_at_once(self) -> int:
        """Rows of a part: no limit, but on a CPU, which gains nothing from large ones, few, so that padding is rare."""
        if self.accelerator.device.type != "cpu":
            return 0
        sample = range(0, self.rows, max(1, self.rows // 200))
        return max(1, CPU_TOKENS // max(1, round(fmean(map(self.system.length, sample)))))

    def _epoch(self, epoch: int, model: Any, optimizer: Any) -> tuple[float, ...]:
        """The mean loss over the batches up to the next validation."""
        config, process, processes = self.config, self.accelerator.process_index, self.accelerator.num_processes
        seed_epoch(config.seed, epoch, process)
        model.train()
        whole, part = divmod(epoch, config.validations)
        batches = plan(self.rows, config.batch_size, f"{config.seed}-{whole}")[part :: config.validations]
        total, units, own = torch.zeros((), device=self.accelerator.device), 0, 0
        name = f"fold {config.fold}, lr {self.rate}, epoch {whole + 1}/{config.epochs}"
        with tqdm(batches, name, disable=not self.progress, mininterval=1) as bar:
            for at, batch in enumerate(bar):
                for group in optimizer.param_groups:
                    group["lr"] = group["base_lr"] * self._share(epoch * self.steps + at)
                by_length = sorted(batch, key=self.system.length)  # parts of similar length have little padding
                parts = process_parts(by_length, process, processes, self.most)
                weight = self.system.weight(batch)
                total += self.update(parts, lambda part: self.system.loss(model, part.rows), weight)
                units += weight
                own += sum(self.system.weight(part.rows) for part in parts if part.own)
                self.progressed(bar, epoch, at, total, max(1, own))
        return (float(self.accelerator.reduce(total, "sum")) / units,)

    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        """The share of wrong answers, or the mean loss of explanations, on validation; accuracy or that loss."""
        self.model.eval()
        process, processes = self.accelerator.process_index, self.accelerator.num_processes
        sums = torch.zeros(2, dtype=torch.float64)
        with torch.no_grad(), self.accelerator.autocast():
            for part in process_parts(range(self.judged), process, processes, JUDGED):
                sums += self.system.judged(self.model, part.rows) * part.own
        wrong, units = (sum(column) for column in zip(*gather_object([sums.tolist()]), strict=True))
        value = wrong / units
        return value, (value if self.config.is_open else 1 - value, self.rate * self._share(step - 1))

    def _save(self, folder: Path) -> None:
        """Write a checkpoint that transformers and both harnesses load."""
        config, state = self.config, self.weights or self.network.state_dict()
        self.system.save(folder, merged(self.network, state) if config.lora else state)
        if self.about:
            write_json(folder / ABOUT, self.about)

    def _notes(self) -> dict[str, Any]:
        return {"lr": self.rate, "kind": self.kind, "rows_cut": self.system.cut, "best": self.best}

    def _share(self, step: int) -> float:
        return share_of_rate(step + 1, round(self.config.warmup * self.steps * self.config.validations))


def opened(config: TextTrainConfig, kind: Kind) -> System:
    """The system around the model in fp32. Raises BadInput for a model that cannot be loaded or cannot do the task."""
    tokenizer = open_tokenizer(config.model, config.model_revision)
    if config.max_tokens:
        tokenizer.model_max_length = min(config.max_tokens, tokenizer.model_max_length)
    network = open_network(config.model, kind, "fp32", config.model_revision)
    if kind == "seq2seq":  # a summariser's settings, such as a minimum length or a forced first token, are not ours
        ids = {name: getattr(network.config, name, None) for name in _IDS}  # T5 has no first token
        network.generation_config = GenerationConfig(**ids)  # type: ignore[no-untyped-call]
    if config.checkpointing:
        network.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    torch.manual_seed(config.seed)  # for adapters; the weights may be loaded with random numbers, or without
    if config.lora:
        network = adapt(network, config.lora, config.lora_alpha)
    return system_of(config, kind, network, tokenizer)
