"""What is trained: language models that write the answer, and encoders that score the choices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.records import Record
from humor_tasks.errors import BadInput
from humor_tasks.models.text.causal import Pair, PairTokenizer, accepted, last_logits, padded_left
from humor_tasks.models.text.choosing import HEAD, ChoiceNetwork, TextTokenizer, layout, places
from humor_tasks.models.text.pretrained import context_of
from humor_tasks.models.text.seq2seq import Seq2Seq
from humor_tasks.training.choices import choice_loss
from humor_tasks.training.text.adapters import base_of
from humor_tasks.training.text.config import TextTrainConfig
from humor_tasks.training.text.data import chat_of, prompt_of, question

Answers = Sequence[Sequence[str]]
IGNORED = -100  # labels that have no loss


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
        self.train_pairs = [own[0] for own in self.pairs(train, train.records, written, end=True)]
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
        own = [self.judged_pairs[row] for row in rows]
        if self.is_open:
            pairs = [pairs[0] for pairs in own]
            nll = float(self._nll(model, pairs).double().sum())
            return torch.tensor([nll, sum(len(pair.continuation) for pair in pairs)], dtype=torch.float64)
        found = self._likelihoods(model, own).argmax(1).cpu()
        wrong = int((found != torch.tensor([self.targets[row] for row in rows])).sum())
        return torch.tensor([wrong, len(rows)], dtype=torch.float64)

    def _likelihoods(self, model: Any, own: Sequence[Sequence[Pair]]) -> torch.Tensor:
        """Log-likelihoods [rows, labels]; labels of one token need one forward pass."""
        if any(len(pair.continuation) != 1 for pairs in own for pair in pairs):
            return torch.stack([-self._nll(model, list(pairs)) for pairs in zip(*own, strict=True)], 1)
        logits, _ = self.scored(model, [pairs[0] for pairs in own])
        letters = torch.tensor([[pair.continuation[0] for pair in pairs] for pairs in own], device=logits.device)
        return logits[:, 0].float().log_softmax(-1).gather(1, letters)

    def _nll(self, model: Any, pairs: Sequence[Pair]) -> torch.Tensor:
        """The negative log-likelihood [rows] of each answer."""
        logits, wanted = self.scored(model, pairs)
        losses = cross_entropy(logits.float().flatten(0, 1), wanted.flatten(), ignore_index=IGNORED, reduction="none")
        return losses.view_as(wanted).sum(1)

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
        read = dict(zip(prompts, reader.read(prompts), strict=True))
        wanted = reader.continuations([f" {answer}" for own in answers for answer in own])
        last = [self.tokenizer.eos_token_id] if end else []
        return [
            [Pair(read[prompt], [*wanted[f" {answer}"], *last], reader.was_cut(prompt)) for answer in own]
            for prompt, own in zip(prompts, answers, strict=True)
        ]

    def scored(self, model: Any, pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
        """See Writer."""
        ids, mask = padded([pair.prompt for pair in pairs], self.tokenizer.pad_token_id)
        wanted, _ = padded([pair.continuation for pair in pairs], IGNORED)
        wanted = wanted.to(self.device)
        return model(input_ids=ids.to(self.device), attention_mask=mask.to(self.device), labels=wanted).logits, wanted


class CausalWriter(Writer):
    """Decoders: the answer follows the prompt, under the model's chat template."""

    def pairs(self, run: Run, records: Sequence[Record], answers: Answers, end: bool) -> list[list[Pair]]:
        """The answer's prefix belongs to the prompt, but where a chat model writes it: in training."""
        tokens = PairTokenizer(self.tokenizer, context_of(self.tokenizer, base_of(self.network).config))
        prefix = run.form.prefix
        found = []
        for record, own in zip(records, answers, strict=True):
            prompt = chat_of(run, record, self.tokenizer)
            begin = prefix if end and not prompt.endswith(prefix) else ""
            asked = prompt if begin or prompt.endswith(prefix) else prompt + prefix
            found.append([tokens(asked, f"{begin} {answer}", end) for answer in own])
        return found

    def scored(self, model: Any, pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
        """See Writer."""
        read = [[*pair.prompt, *pair.continuation[:-1]] for pair in pairs]
        tensors = padded_left(read, self.tokenizer.pad_token_id, self.device)
        wanted = padded_left([pair.continuation for pair in pairs], IGNORED, self.device)[0]
        return last_logits(model, accepted(base_of(self.network)), *tensors, wanted.shape[1]), wanted


class Scorer(System):
    """An encoder with a layer that scores choices; trained by cross-entropy over each row's own choices."""

    def __init__(self, network: ChoiceNetwork, tokenizer: Any) -> None:
        self.network, self.tokenizer = network, tokenizer
        self.tokens = TextTokenizer(tokenizer, context_of(tokenizer, network.encoder.config))

    def prepare(self, train: Run, validation: Run) -> None:
        """See System."""
        self.rows = {"train": self._rows(train), "validation": self._rows(validation)}
        asked = [question for questions, _ in self.rows.values() for question in questions]
        texts = layout(asked, self.network.encoding, self.network.with_scene).texts
        self.known = dict(zip(texts, self.tokens(texts), strict=True))
        own = layout(self.rows["train"][0], self.network.encoding, self.network.with_scene).texts
        self.cut = sum(self.known[text].cut for text in own)

    def _rows(self, run: Run) -> tuple[list[Any], list[int]]:
        records, labels = run.records, run.form.labels
        return [question(record) for record in records], [labels.index(str(record.target)) for record in records]

    def length(self, row: int) -> int:
        """See System."""
        asked = layout(self.rows["train"][0][row : row + 1], self.network.encoding, self.network.with_scene)
        return sum(len(self.known[text].ids) for text in asked.texts)

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
        asked = layout([questions[row] for row in rows], self.network.encoding, self.network.with_scene)
        # Scenes apart from choices, which are much shorter.
        groups = [group for group in (asked.texts[: asked.first], asked.texts[asked.first :]) if group]
        tensors = [self.tokens.tensors([self.known[text] for text in group], self.device) for group in groups]
        scores = model(tensors, *places(asked, self.device))
        return choice_loss(scores, asked.counts, torch.tensor([targets[row] for row in rows], device=self.device))

    def save(self, folder: Path, state: dict[str, torch.Tensor]) -> None:
        """See System."""
        from safetensors.torch import save_file

        own = {name.removeprefix("encoder."): tensor for name, tensor in state.items() if name.startswith("encoder.")}
        base_of(self.network.encoder).save_pretrained(folder, state_dict=own)
        self.tokenizer.save_pretrained(folder)
        head = {name: tensor.contiguous() for name, tensor in state.items() if not name.startswith("encoder.")}
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
