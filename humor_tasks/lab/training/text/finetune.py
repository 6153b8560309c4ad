"""One training with one learning rate, on one or several devices (`accelerate launch`).

AdamW or Adafactor with warm-up, then a constant learning rate. A batch is divided among the devices and into
micro-batches; its loss is the mean over all of its answers' tokens (encoders: rows), so that neither division changes
the result.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import torch
from accelerate.utils import gather_object
from transformers import GenerationConfig

from humor_tasks.benchmarks.caption_contest import released
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_json
from humor_tasks.lab.training.evaluation import MODEL, Metrics, Recipe, divided, evaluated, perplexities, train_run
from humor_tasks.lab.training.evaluation import summary as summary
from humor_tasks.lab.training.loop import Epochs, Part, accelerator_for, fit, share_of_rate
from humor_tasks.lab.training.optimizers import optimizer_of
from humor_tasks.lab.training.run_folders import check_base, record
from humor_tasks.lab.training.sharding import requested, whole_networks
from humor_tasks.lab.training.text.data import Splits, chat_of, prompt_of, question, read_splits
from humor_tasks.lab.training.text.settings import TextTrainConfig
from humor_tasks.lab.training.text.systems import System, adapt, merged, system_of
from humor_tasks.models.choosers.chooser import best
from humor_tasks.models.text.causal import Causal
from humor_tasks.models.text.choosing import Ranker
from humor_tasks.models.text.language import Generation, LanguageModel
from humor_tasks.models.text.pretrained import ABOUT, FORMAT, PROMPTS, Kind, kind_of, open_network, open_tokenizer
from humor_tasks.models.text.seq2seq import Seq2Seq
from humor_tasks.rows.records import Record

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
    judged: int
    about: dict[str, Any] | None = None
    """What the harnesses read of a text model's folder."""

    def __init__(self, config: Any, data: Any, output: Path, progress: bool) -> None:
        super().__init__(
            config, output, accelerator_for(config.precision, config.device, "text", sharded=True), progress
        )
        self.epochs = config.epochs * config.validations
        self.system = self._opened(data)
        self.system.device, self.network = self.accelerator.device, self.system.network
        self.optimizer = optimizer_of(config, self._groups())
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
        if (route := requested()) and (config.adafactor or config.bf16_weights):
            raise BadInput(f"adafactor and bf16_weights need the whole network; {route} divides it: leave them out.")
        if config.bf16_weights and self.accelerator.num_processes > 1:
            raise BadInput("bf16_weights: each process would round its own way; start one process.")
        if kind == "encoder" and config.adafactor:
            raise BadInput("adafactor: steps are a part of a weight's size, and an encoder's new layer begins at 0.")
        if kind != "encoder" and config.encoding != TextTrainConfig.encoding:
            raise BadInput(f"encoding={config.encoding} is for encoders; {config.model} is a {kind} model.")
        if kind != "seq2seq" and config.input != TextTrainConfig.input:
            raise BadInput(f"input={config.input} is for seq2seq models; {config.model} is a {kind} model.")
        system = opened(config, kind)
        system.prepare(splits.train, splits.validation)
        self.kind, self.rows, self.judged = kind, len(splits.train.records), len(splits.validation.records)
        self.about = {"format": FORMAT, "kind": kind, "task": config.task, "setting": config.setting}
        self.about |= {"prefix": splits.train.form.prefix, "base": config.model, "encoding": config.encoding}
        if config.input == "released":
            self.about["begins"] = prompt_of(splits.train, splits.train.records[0]).split(" ")[0]
        return system

    def _groups(self) -> list[dict[str, Any]]:
        """The trainable parameters, the encoder's new layer with its own learning rate."""
        config = self.config
        new = [p for name, p in self.network.named_parameters() if name.split(".")[0] == "head"]
        rest = [
            p for p in self.network.parameters() if p.requires_grad and not any(p is parameter for parameter in new)
        ]
        groups = [{"params": rest, "lr": self.rate, "base_lr": self.rate}]
        return groups + (
            [{"params": new, "lr": config.head_lr, "base_lr": config.head_lr}] if self.kind == "encoder" else []
        )

    def _rows_at_once(self) -> int:
        """Rows of a part: no limit, but on a CPU, which gains nothing from large ones, few, so that padding is rare."""
        if self.accelerator.device.type != "cpu":
            return 0
        sample = range(0, self.rows, max(1, self.rows // 200))
        return max(1, CPU_TOKENS // max(1, round(fmean(map(self.system.length, sample)))))

    def _planned(self, epoch: int) -> list[list[int]]:
        """The batches up to the next validation."""
        whole, part = divmod(epoch, self.config.validations)
        return super()._planned(whole)[part :: self.config.validations]

    def _parts(self, batch: Sequence[int]) -> tuple[list[Part], int]:
        """Parts of similar length, which have little padding."""
        return self.divided(sorted(batch, key=self.system.length), self.most), self.system.weight(batch)

    def _losses(self, part: Part) -> torch.Tensor:
        return self.system.loss(self.model, part.rows)

    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        """The share of wrong answers, or the mean loss of explanations, on validation; accuracy or that loss."""
        self.model.eval()
        sums = torch.zeros(2, dtype=torch.float64)
        with torch.no_grad(), self.accelerator.autocast():
            for part in self.divided(range(self.judged), JUDGED):
                sums += self.system.judged(self.model, part.rows) * part.counts
        wrong, units = (sum(column) for column in zip(*gather_object([sums.tolist()]), strict=True))
        value = wrong / units
        return value, (value if self.config.is_open else 1 - value, self.rate * self._share(step - 1))

    def _save(self, folder: Path) -> None:
        """Write a checkpoint that transformers and both harnesses load."""
        config, state = self.config, self.weights or self.network.state_dict()
        self.system.save(folder, merged(self.network, state) if config.lora else state)
        if self.about:
            write_json(folder / ABOUT, self.about)
        if self.about and "begins" in self.about:
            shutil.copytree(released.PROMPTS, folder / PROMPTS, dirs_exist_ok=True)

    def _notes(self) -> dict[str, Any]:
        return {"lr": self.rate, "kind": self.kind, "rows_cut": self.system.cut, "best": self.best}

    def _share(self, step: int) -> float:
        return share_of_rate(step + 1, round(self.config.warmup * self.steps * self.config.validations))


def opened(config: TextTrainConfig, kind: Kind) -> System:
    """The system around the model. Raises BadInput for a model that cannot be loaded or cannot do the task."""
    tokenizer = open_tokenizer(config.model, config.model_revision)
    if config.max_tokens:
        tokenizer.model_max_length = min(config.max_tokens, tokenizer.model_max_length)
    network = open_network(config.model, kind, "bf16" if config.bf16_weights else "fp32", config.model_revision)
    if kind == "seq2seq":  # a summariser's settings, such as a minimum length or a forced first token, are not ours
        ids = {name: getattr(network.config, name, None) for name in _IDS}  # T5 has no first token
        network.generation_config = GenerationConfig(**ids)  # type: ignore[no-untyped-call]
    if config.checkpointing:
        network.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    torch.manual_seed(config.seed)  # for adapters; the weights may be loaded with random numbers, or without
    if config.lora:
        network = adapt(network, config.lora, config.lora_alpha)
    return system_of(config, kind, network, tokenizer)


# ---- runs ----------------------------------------------------------------------------------------


def train(config: TextTrainConfig, output: Path, data: Splits | None = None, progress: bool = True) -> Metrics:
    """See `train_run`.

    Each split of `config.evaluate` holds the results of `humor_tasks.evaluate` for predictions_SPLIT.json: metrics with
    standard errors, and their signature; explanations also the `perplexity` of the references.
    """
    return train_run(_RECIPE, config, output, data, progress)


def _fit(config: TextTrainConfig, data: Splits, output: Path, progress: bool) -> Metrics:
    """One fold at one learning rate. Predictions come from the saved model, as when it is loaded later."""
    assert data.train is not None
    units = {split: run.units for split, run in data.runs.items()}
    check_base(config.model, units)
    notes = fit(output, MODEL, lambda: Trainer(config, data, output, progress))
    record(output / MODEL, config.task, data.train.data.provenance, config.fold, units, config.model)
    device = str(accelerator_for(config.precision, config.device, "text", sharded=True).device)
    with whole_networks():
        model = _load(output / MODEL, notes["kind"], device, "fp32" if config.precision == "no" else config.precision)
    if not config.is_open:
        letters = {split: _choices(model, run) for split, run in data.evaluated.items()}
        return notes | evaluated(output, data.evaluated, letters)
    settings = Generation(config.max_new_tokens, 1, config.temperature, config.top_p, seed=config.seed)
    texts = {split: _explanations(model, run, settings) for split, run in data.evaluated.items()}
    results = evaluated(output, data.evaluated, texts)
    for split, run in data.evaluated.items():
        results[split]["perplexity"] = perplexities(run, partial(_likelihoods, model, run))
    return notes | results


_RECIPE = Recipe(
    "text",
    read_splits,
    _fit,
    reached=lambda metrics: -float(metrics["best"]),
    evaluated=lambda config, data: data.evaluated,
    reported=("lr", "best", "best_epoch", "epochs_run", "rows_cut"),
    rows=lambda data: {split: len(run.records) for split, run in data.runs.items()},
)


# ---- answers of the trained model ----------------------------------------------------------------


def _load(folder: Path, kind: str, device: str, precision: str) -> Any:
    """The trained model of a folder."""
    if kind == "encoder":
        return Ranker.load(str(folder), device)
    return (Seq2Seq if kind == "seq2seq" else Causal).load(str(folder), device, precision)


def _choices(model: Ranker | Seq2Seq | Causal, run: Run) -> dict[str, str]:
    """{instance_id: label} of the highest score or likelihood, the first one on a tie."""

    def scores(records: Sequence[Record]) -> list[list[float]]:
        if isinstance(model, Ranker):
            return model.score([question(record) for record in records])
        labels = [[f" {label}" for label in run.form.labels] for _ in records]
        likelihoods = model.loglikelihoods([_prompt(model, run, record) for record in records], labels)
        return [[likelihood.logprob for likelihood in choices] for choices in likelihoods]

    labels = run.form.labels
    return {identity: labels[best(scored)] for identity, scored in divided(run, scores).items()}


def _explanations(model: LanguageModel, run: Run, settings: Generation) -> dict[str, str]:
    """{instance_id: text}."""

    def texts(records: Sequence[Record]) -> list[str]:
        prompts = [_prompt(model, run, record) for record in records]
        return [reply.text for reply in model.generate(prompts, settings)]

    return divided(run, texts)


def _likelihoods(model: LanguageModel, run: Run, records: Sequence[Record]) -> list[tuple[float, int]]:
    """For `perplexities`."""
    references = [[f" {record.target}"] for record in records]
    scored = model.loglikelihoods([_prompt(model, run, record) for record in records], references)
    return [(likelihood.logprob, likelihood.tokens) for (likelihood,) in scored]


def _prompt(model: LanguageModel, run: Run, record: Record) -> str:
    """The prompt up to where the answer begins, as the harnesses show it to this kind of model."""
    if isinstance(model, Causal):
        prompt = chat_of(run, record, model.tokenizer)
        return prompt if prompt.endswith(run.form.prefix) else prompt + run.form.prefix
    return prompt_of(run, record)
