"""What is trained: language models that write the answer, and encoders that score the choices; LoRA, by peft."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.loop import choice_loss
from humor_tasks.lab.training.text.data import chat_of, prompt_of, question
from humor_tasks.lab.training.text.settings import TextTrainConfig
from humor_tasks.models.choosers.chooser import Question
from humor_tasks.models.text.causal import Pair, PairTokenizer, accepted, last_logits, padded_left
from humor_tasks.models.text.choosing import HEAD, ChoiceNetwork, Layout, TextTokenizer, layout, places
from humor_tasks.models.text.pretrained import context_of
from humor_tasks.models.text.seq2seq import Seq2Seq
from humor_tasks.rows.records import Record

Answers = Sequence[Sequence[str]]
IGNORED = -100  # labels that have no loss


# ---- LoRA ----------------------------------------------------------------------------------------

_WRAPPED = "base_model.model."
_NAME = "default"


def adapt(network: Any, rank: int, alpha: int) -> Any:
    """The peft model of a network with adapters on all linear layers but the output layer; only they are trained."""
    from peft import LoraConfig, get_peft_model

    return get_peft_model(network, LoraConfig(r=rank, lora_alpha=alpha or 2 * rank, target_modules="all-linear"))


def base_of(network: Any) -> Any:
    """The network inside a peft model, or the network itself."""
    return network.get_base_model() if hasattr(network, "get_base_model") else network


def merged(network: Any, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A state dict of `network` under the names of the network without adapters, with these merged into the weights.

    The network is not changed, so that training goes on exactly as without a save.
    """
    from peft.tuners.lora import LoraLayer

    weights = {_plain(name): tensor for name, tensor in state.items() if ".lora_" not in name}
    for name, module in network.named_modules():
        if isinstance(module, LoraLayer) and _NAME in module.scaling:
            down, up = (state[f"{name}.lora_{side}.{_NAME}.weight"].float() for side in "AB")
            change = module.scaling[_NAME] * (up @ down)
            weight = weights[f"{_plain(name)}.weight"]
            change = change.T if getattr(module, "fan_in_fan_out", False) else change  # Conv1D, as in GPT-2
            weights[f"{_plain(name)}.weight"] = (weight.float() + change.to(weight.device)).to(weight.dtype)
    return weights


def _plain(name: str) -> str:
    return name.replace(_WRAPPED, "").replace(".base_layer.", ".")


# ---- systems -------------------------------------------------------------------------------------


class System(ABC):
    """Rows as tensors, their loss, and the judgement of validation rows.

    network: what is trained. device: where batches are made; the trainer sets it. cut: the number of rows that were
    longer than the model's context.
    """

    network: Any
    tokenizer: Any
    cut: int = 0

    device = torch.device("cpu")

    @abstractmethod
    def prepare(self, train: Run, validation: Run) -> None:
        """Tokenize all rows. Raises BadInput for a row whose answer does not fit into the model's context."""

    @abstractmethod
    def length(self, row: int) -> int:
        """The number of tokens of a training row, by which micro-batches are sorted."""

    @abstractmethod
    def weight(self, rows: Sequence[int]) -> int:
        """The number of units (tokens, or rows) that the loss of these training rows is summed over."""

    @abstractmethod
    def loss(self, model: Any, rows: Sequence[int]) -> torch.Tensor:
        """The summed loss of these training rows; `model` may wrap the network."""

    @abstractmethod
    def judged(self, model: Any, rows: Sequence[int]) -> torch.Tensor:
        """[2], float64: of these validation rows the wrong answers and their number; of explanations the negative
        log-likelihood and the number of tokens.
        """

    @abstractmethod
    def save(self, folder: Path, state: dict[str, torch.Tensor]) -> None:
        """Write the network with these weights, and the tokenizer."""


class Writer(System):
    """A language model that is trained to write the answer after the prompt."""

    def __init__(self, network: Any, tokenizer: Any, is_open: bool) -> None:
        self.network, self.tokenizer, self.is_open = network, tokenizer, is_open
        self.train_pairs: list[Pair] = []
        self.judged_pairs: list[list[Pair]] = []
        self.targets: list[int] = []

    @abstractmethod
    def pairs(
        self, run: Run, records: Sequence[Record], answers: Sequence[Sequence[str]], end: bool
    ) -> list[list[Pair]]:
        """The prompt of each record with each of its answers, as tokens; `end` adds the end token."""

    @abstractmethod
    def scored(self, model: Any, pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [rows, places, vocabulary] of the answers' tokens, and these tokens [rows, places] or IGNORED."""

    def prepare(self, train: Run, validation: Run) -> None:
        """See System."""
        written = [[str(record.target)] for record in train.records]
        self.train_pairs = [pairs[0] for pairs in self.pairs(train, train.records, written, end=True)]
        labels = validation.form.labels
        answers = [[str(record.target)] if self.is_open else list(labels) for record in validation.records]
        self.judged_pairs = self.pairs(validation, validation.records, answers, end=False)
        self.targets = [0 if self.is_open else labels.index(str(r.target)) for r in validation.records]
        self.cut = sum(pair.cut for pair in self.train_pairs)

    def length(self, row: int) -> int:
        """See System."""
        return len(self.train_pairs[row].prompt) + len(self.train_pairs[row].continuation)

    def weight(self, rows: Sequence[int]) -> int:
        """The number of the answers' tokens."""
        return sum(len(self.train_pairs[row].continuation) for row in rows)

    def loss(self, model: Any, rows: Sequence[int]) -> torch.Tensor:
        """Cross-entropy of the answers' tokens."""
        return self._nll(model, [self.train_pairs[row] for row in rows]).sum()

    def judged(self, model: Any, rows: Sequence[int]) -> torch.Tensor:
        """See System."""
        by_row = [self.judged_pairs[row] for row in rows]
        if self.is_open:
            pairs = [pairs[0] for pairs in by_row]
            nll = float(self._nll(model, pairs).double().sum())
            return torch.tensor([nll, sum(len(pair.continuation) for pair in pairs)], dtype=torch.float64)
        choices = self._likelihoods(model, by_row).argmax(1).cpu()
        wrong = int((choices != torch.tensor([self.targets[row] for row in rows])).sum())
        return torch.tensor([wrong, len(rows)], dtype=torch.float64)

    def _likelihoods(self, model: Any, by_row: Sequence[Sequence[Pair]]) -> torch.Tensor:
        """Log-likelihoods [rows, labels]; labels of one token need one forward pass."""
        if any(len(pair.continuation) != 1 for pairs in by_row for pair in pairs):
            return torch.stack([-self._nll(model, list(pairs)) for pairs in zip(*by_row, strict=True)], 1)
        logits, _ = self.scored(model, [pairs[0] for pairs in by_row])
        letters = torch.tensor([[pair.continuation[0] for pair in pairs] for pairs in by_row], device=logits.device)
        return logits[:, 0].float().log_softmax(-1).gather(1, letters)

    def _nll(self, model: Any, pairs: Sequence[Pair]) -> torch.Tensor:
        """The negative log-likelihood [rows] of each answer."""
        logits, targets = self.scored(model, pairs)
        losses = cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none")
        return losses.view_as(targets).sum(1)

    def save(self, folder: Path, state: dict[str, torch.Tensor]) -> None:
        """See System."""
        base_of(self.network).save_pretrained(folder, state_dict=state)
        self.tokenizer.save_pretrained(folder)


class Seq2SeqWriter(Writer):
    """T5 and its like: the encoder reads the prompt, the decoder writes the answer."""

    def pairs(
        self, run: Run, records: Sequence[Record], answers: Sequence[Sequence[str]], end: bool
    ) -> list[list[Pair]]:
        """See Writer."""
        reader = Seq2Seq(base_of(self.network), self.tokenizer, "text")
        prompts = [prompt_of(run, record) for record in records]
        ids = dict(zip(prompts, reader.read(prompts), strict=True))
        continuations = reader.continuations([f" {answer}" for of_row in answers for answer in of_row])
        last = [self.tokenizer.eos_token_id] if end else []
        return [
            [Pair(ids[prompt], [*continuations[f" {answer}"], *last], reader.was_cut(prompt)) for answer in of_row]
            for prompt, of_row in zip(prompts, answers, strict=True)
        ]

    def scored(self, model: Any, pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
        """See Writer."""
        ids, mask = padded([pair.prompt for pair in pairs], self.tokenizer.pad_token_id)
        targets, _ = padded([pair.continuation for pair in pairs], IGNORED)
        targets = targets.to(self.device)
        return model(input_ids=ids.to(self.device), attention_mask=mask.to(self.device), labels=targets).logits, targets


class CausalWriter(Writer):
    """Decoders: the answer follows the prompt, under the model's chat template."""

    def pairs(self, run: Run, records: Sequence[Record], answers: Answers, end: bool) -> list[list[Pair]]:
        """The answer's prefix belongs to the prompt, but where a chat model writes it: in training."""
        tokens = PairTokenizer(self.tokenizer, context_of(self.tokenizer, base_of(self.network).config))
        prefix = run.form.prefix
        pairs = []
        for record, of_row in zip(records, answers, strict=True):
            prompt = chat_of(run, record, self.tokenizer)
            begin = prefix if end and not prompt.endswith(prefix) else ""
            prompt = prompt if begin or prompt.endswith(prefix) else prompt + prefix
            pairs.append([tokens(prompt, f"{begin} {answer}", end) for answer in of_row])
        return pairs

    def scored(self, model: Any, pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
        """See Writer."""
        ids = [[*pair.prompt, *pair.continuation[:-1]] for pair in pairs]
        tensors = padded_left(ids, self.tokenizer.pad_token_id, self.device)
        targets = padded_left([pair.continuation for pair in pairs], IGNORED, self.device)[0]
        return last_logits(model, accepted(base_of(self.network)), *tensors, targets.shape[1]), targets


class Scorer(System):
    """An encoder with a layer that scores choices; trained by cross-entropy over each row's own choices."""

    def __init__(self, network: ChoiceNetwork, tokenizer: Any) -> None:
        self.network, self.tokenizer = network, tokenizer
        self.tokens = TextTokenizer(tokenizer, context_of(tokenizer, network.encoder.config))

    def prepare(self, train: Run, validation: Run) -> None:
        """See System."""
        self.rows = {"train": self._rows(train), "validation": self._rows(validation)}
        texts = self._layout([question for questions, _ in self.rows.values() for question in questions]).texts
        self.tokenized = dict(zip(texts, self.tokens(texts), strict=True))
        self.cut = sum(self.tokenized[text].cut for text in self._layout(self.rows["train"][0]).texts)

    def _layout(self, questions: Sequence[Question]) -> Layout:
        return layout(questions, self.network.encoding, self.network.with_scene)

    def _rows(self, run: Run) -> tuple[list[Question], list[int]]:
        records, labels = run.records, run.form.labels
        return [question(record) for record in records], [labels.index(str(record.target)) for record in records]

    def length(self, row: int) -> int:
        """See System."""
        texts = self._layout(self.rows["train"][0][row : row + 1]).texts
        return sum(len(self.tokenized[text].ids) for text in texts)

    def weight(self, rows: Sequence[int]) -> int:
        """The number of rows."""
        return len(rows)

    def loss(self, model: Any, rows: Sequence[int]) -> torch.Tensor:
        """Cross-entropy over the choices."""
        return self._sums(model, "train", rows)[0]

    def judged(self, model: Any, rows: Sequence[int]) -> torch.Tensor:
        """See System."""
        right = float(self._sums(model, "validation", rows)[1])
        return torch.tensor([len(rows) - right, len(rows)], dtype=torch.float64)

    def _sums(self, model: Any, split: str, rows: Sequence[int]) -> torch.Tensor:
        """[2]: the summed loss, and the number of right answers."""
        questions, targets = self.rows[split]
        batch = self._layout([questions[row] for row in rows])
        # Scenes apart from choices, which are much shorter.
        groups = [group for group in (batch.texts[: batch.first], batch.texts[batch.first :]) if group]
        tensors = [self.tokens.tensors([self.tokenized[text] for text in group], self.device) for group in groups]
        scores = model(tensors, *places(batch, self.device))
        return choice_loss(scores, batch.counts, torch.tensor([targets[row] for row in rows], device=self.device))

    def save(self, folder: Path, state: dict[str, torch.Tensor]) -> None:
        """See System."""
        from safetensors.torch import save_file

        prefix = "encoder."
        encoder = {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
        base_of(self.network.encoder).save_pretrained(folder, state_dict=encoder)
        self.tokenizer.save_pretrained(folder)
        head = {name: tensor.contiguous() for name, tensor in state.items() if not name.startswith(prefix)}
        save_file(head, folder / HEAD)


def padded(rows: Sequence[Sequence[int]], padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids padded at the end, and the mask of what is not padding: [rows, longest]."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows])
    return ids, torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])


def system_of(config: TextTrainConfig, kind: str, network: Any, tokenizer: Any) -> System:
    """The system of a kind of model around its network. Raises BadInput for an encoder that should write."""
    if kind == "seq2seq":
        return Seq2SeqWriter(network, tokenizer, config.is_open)
    if kind == "causal":
        return CausalWriter(network, tokenizer, config.is_open)
    if config.is_open:
        raise BadInput(
            f"model {config.model}: an encoder scores choices and cannot write explanations; use a seq2seq or causal "
            "model."
        )
    return Scorer(ChoiceNetwork(network, config.encoding, config.setting != "caption_only"), tokenizer)
