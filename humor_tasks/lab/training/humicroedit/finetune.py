"""Fine-tuning an encoder or word vectors to rate headlines: `encoder`, `pair` and `vectors`.

Plain PyTorch on one or several devices (`accelerate launch`). Squared error of the mean grade, optionally with a
ranking loss between edits of one headline; AdamW with warm-up and linear decay; the epoch with the best dev RMSE is
kept.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy, softplus

from humor_tasks.files.writing import replacing
from humor_tasks.lab.training.humicroedit.data import Data, rmse
from humor_tasks.lab.training.humicroedit.features import fit_groups, texts_of, word_vectors
from humor_tasks.lab.training.humicroedit.settings import JUDGES, TrainConfig
from humor_tasks.lab.training.loop import Epochs, Part, accelerator_for, fit, warm_then_linear
from humor_tasks.lab.training.run_folders import IS_MAIN
from humor_tasks.models.humicroedit import network as net
from humor_tasks.models.humicroedit.groups import Groups
from humor_tasks.models.humicroedit.network import BATCH, Tokens, tensors
from humor_tasks.models.humicroedit.rater import Rater, load
from humor_tasks.models.humicroedit.resources import open_encoder

# ---- frozen layers -------------------------------------------------------------------------------
# The lower layers of an encoder, computed once per row instead of once per row and epoch.
# Frozen layers give the same states for a row in every epoch (their dropout is off). The states are cached in half
# precision, and the upper layers start from them. This works for encoders with BERT's architecture: embeddings, then
# layers with nothing after them.

SUPPORTED = ("bert", "roberta", "xlm-roberta", "electra", "camembert")


class CachedStates(nn.Module):
    """Replaces an encoder's embeddings and returns cached states."""

    states: torch.Tensor

    def forward(self, *_: Any, **__: Any) -> torch.Tensor:
        """[rows, tokens, size]."""
        return self.states


class FrozenStates:
    """The states above the frozen layers, by row; after `compute` the encoder consists of its upper layers."""

    def __init__(self, encoder: Any, layers: int, padding: int, device: Any) -> None:
        self.encoder, self.padding, self.device = encoder, padding, device
        self.embeddings, self.layers = encoder.embeddings, encoder.encoder.layer
        self.lower, self.upper = self.layers[:layers], self.layers[layers:]
        self.cached = CachedStates()
        self.states: dict[int, torch.Tensor] = {}

    def compute(self, rows: Sequence[Tokens]) -> None:
        """Compute the states of `rows`."""
        self.encoder.to(self.device).eval()
        self.encoder.encoder.layer = self.lower
        order = sorted(rows, key=lambda row: len(row.ids))
        has_types = getattr(self.encoder.config, "type_vocab_size", 0) > 1
        with torch.no_grad():
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                ids, types, _, mask, *_ = tensors(batch, self.padding, self.device)
                type_ids = {"token_type_ids": types} if has_types else {}
                states = self.encoder(input_ids=ids, attention_mask=mask, **type_ids).last_hidden_state
                for row, state in zip(batch, states.half().cpu(), strict=True):
                    self.states[id(row)] = state[: len(row.ids)].clone()
        self.shrink()

    def select(self, rows: Sequence[Tokens]) -> None:
        """Select the rows of the next forward pass, in this order."""
        cached = [self.states[id(row)] for row in rows]
        self.cached.states = nn.utils.rnn.pad_sequence(cached, batch_first=True).to(self.device).float()

    def shrink(self) -> None:
        """Reduce the encoder to its upper layers."""
        self.encoder.embeddings, self.encoder.encoder.layer = self.cached, self.upper

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Restore the complete encoder within the context, for saving."""
        self.encoder.embeddings, self.encoder.encoder.layer = self.embeddings, self.layers
        try:
            yield
        finally:
            self.shrink()


# ---- training ------------------------------------------------------------------------------------

SORTED = 50  # number of batches that are sorted by length together


class Trainer(Epochs):
    """Network, optimizer and rows of one run."""

    CURVE = ("epoch", "step", "train_loss", "dev_rmse", "lr")

    def __init__(self, config: TrainConfig, data: Data, output: Path, progress: bool) -> None:
        super().__init__(config, output, accelerator_for(config.precision), progress)
        self.clip_norm = 1.0
        self.train_rows = data.all()
        torch.manual_seed(config.seed)
        self.targets, self.dev_means = (rows.targets(config.judge, JUDGES) for rows in (self.train_rows, data.dev))
        self.groups: Groups | None = None
        columns = None
        if config.features:
            self.groups, columns = fit_groups(config, data)
        shape = net.shape_of(config.as_dict(), 0 if columns is None else columns.shape[1])
        self.tokenizer, encoder = _opened(config, data)
        if shape.form.marked:
            net.with_marks(self.tokenizer, encoder)
        self.network = net.Network(encoder, shape, config.dropout, config.dropout_samples)
        self.network.start_at(sum(self.targets) / len(self.targets))
        freeze(encoder, config)
        self.frozen = frozen_states(encoder, config, self._padding, self.accelerator.device)
        self.optimizer = torch.optim.AdamW(_parameter_groups(self.network, config), fused=True)
        self.tokens, self.dev = (
            net.tokenize(self.tokenizer, rows.edits, shape.form, config.max_length)
            for rows in (self.train_rows, data.dev)
        )
        if self.groups:
            self.network.standardise(torch.tensor(columns))
            self.tokens = net.with_columns(self.tokens, columns)
            self.dev = net.with_columns(self.dev, self.groups.rows(data.dev.edits))
        if self.frozen:
            with self.accelerator.autocast():
                self.frozen.compute([*self.tokens, *self.dev])
        self.steps = len(self._planned(0))

    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        """The RMSE on dev; the same, and the learning rate."""
        rated = net.predict(self.network, self.dev, self._padding, self.accelerator.device, self._select_states)
        reached = rmse(rated, self.dev_means)
        return reached, (reached, self.rate * self._share(step))

    def _save(self, folder: Path) -> None:
        with self.frozen.restored() if self.frozen else nullcontext():
            net.save(folder, self.network, self.tokenizer)

    def _notes(self) -> dict[str, Any]:
        return {"seed": self.config.seed}

    def _parts(self, batch: Sequence[int]) -> tuple[list[Part], int]:
        """The batch: each process has its own."""
        return [Part(list(batch))], self.accelerator.num_processes

    def _losses(self, part: Part) -> torch.Tensor:
        """The loss of the batch, a mean."""
        rows = [self.tokens[i] for i in part.rows]
        self._select_states(rows)
        device = self.accelerator.device
        means = torch.tensor([self.targets[i] for i in part.rows], device=device)
        rated = self.model(*net.tensors(rows, self._padding, device))
        if self.config.judge:
            return cross_entropy(rated, means.long())
        loss = torch.mean((rated - means) ** 2)
        if self.config.rank_weight:
            groups = [self.train_rows.groups[i] for i in part.rows]
            loss = loss + self.config.rank_weight * ranking_loss(rated, means, groups)
        return loss

    def _select_states(self, rows: Sequence[net.Tokens]) -> None:
        if self.frozen:
            self.frozen.select(rows)

    def _planned(self, epoch: int) -> list[list[int]]:
        """This process's batches; every process has the same number."""
        lengths = [len(token.ids) for token in self.tokens]
        groups = self.train_rows.groups if self.config.rank_weight else None
        planned = plan(lengths, groups, self.config.batch_size, f"{self.config.seed}-{epoch}")
        processes, mine = self.accelerator.num_processes, self.accelerator.process_index
        if len(planned) < processes:
            return planned
        return planned[: len(planned) // processes * processes][mine::processes]

    def _share(self, step: int) -> float:
        return warm_then_linear(step, self.steps * self.epochs, self.config.warmup)

    @property
    def _padding(self) -> int:
        return self.tokenizer.pad_token_id or 0


def fit_network(config: TrainConfig, data: Data, output: Path, progress: bool) -> tuple[Rater, dict[str, Any]]:
    """The rater and the notes of its training."""
    trainers: list[Trainer] = []

    def trainer() -> Trainer:
        trainers.append(Trainer(config, data, output, progress))
        return trainers[0]

    notes = fit(output, net.NETWORK, trainer)
    if config.features and IS_MAIN and not (output / net.FEATURES).is_dir():
        groups = (trainers[0].groups if trainers else None) or fit_groups(config, data)[0]
        with replacing(output / net.FEATURES) as folder:
            groups.save(folder)
    return load(output, unfinished=True), notes


def _opened(config: TrainConfig, data: Data) -> tuple[Any, Any]:
    """Tokenizer and encoder; for `vectors` they are made of word vectors."""
    if config.system != "vectors":
        return open_encoder(config.encoder)
    from humor_tasks.models.humicroedit.network import static_encoder

    return static_encoder(word_vectors(config, data), {word for text in texts_of(data) for word in text.split()})


def plan(lengths: Sequence[int], groups: Sequence[str] | None, size: int, seed: str) -> list[list[int]]:
    """Batches in random order with rows of similar length; with `groups`, rows of one group stay adjacent."""
    generator = random.Random(seed)
    units: dict[Any, list[int]] = {}
    for i in range(len(lengths)):
        units.setdefault(groups[i] if groups else i, []).append(i)
    shuffled = list(units.values())
    generator.shuffle(shuffled)
    batches: list[list[int]] = []
    per_sort = SORTED * size // max(1, round(len(lengths) / len(units)))
    for start in range(0, len(shuffled), per_sort):
        by_length = sorted(shuffled[start : start + per_sort], key=lambda unit: lengths[unit[0]])
        rows = [i for unit in by_length for i in unit]
        batches += [rows[at : at + size] for at in range(0, len(rows), size)]
    generator.shuffle(batches)
    return batches


def ranking_loss(rated: torch.Tensor, means: torch.Tensor, groups: Sequence[str]) -> torch.Tensor:
    """Mean of log(1 + exp(-difference)) over pairs of a group with different grades, weighted by the grades'
    difference.
    """
    codes = torch.tensor([groups.index(group) for group in groups], device=rated.device)
    gaps = means[:, None] - means[None, :]
    weights = gaps.clamp(min=0) * (codes[:, None] == codes[None, :])
    differences = rated[:, None] - rated[None, :]
    return (weights * softplus(-differences)).sum() / weights.sum().clamp(min=1e-6)


def freeze(encoder: Any, config: TrainConfig) -> None:
    """Freeze the whole encoder, or its embeddings and lower layers; tokens added for marks then keep their initial
    values.
    """
    if config.freeze or config.frozen_layers:
        encoder.requires_grad_(False)
    if config.frozen_layers and not config.freeze:
        layers = next((m for m in encoder.modules() if isinstance(m, torch.nn.ModuleList)), ())
        for layer in list(layers)[config.frozen_layers :]:
            layer.requires_grad_(True)


def frozen_states(encoder: Any, config: TrainConfig, padding: int, device: Any) -> FrozenStates | None:
    """The frozen layers' cached states; None where no lower layers are frozen or the architecture is not supported."""
    if config.freeze or not config.frozen_layers or encoder.config.model_type not in SUPPORTED:
        return None
    return FrozenStates(encoder, config.frozen_layers, padding, device)


def _parameter_groups(network: Any, config: TrainConfig) -> list[dict[str, Any]]:
    """Parameter groups by learning rate and by weight decay (matrices only)."""
    groups: dict[tuple[float, float], list[Any]] = {}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            rate = config.lr if name.startswith("encoder.") else config.head_lr
            groups.setdefault((rate, config.weight_decay if parameter.ndim > 1 else 0.0), []).append(parameter)
    return [
        {"params": parameters, "lr": rate, "base_lr": rate, "weight_decay": decay}
        for (rate, decay), parameters in groups.items()
    ]
