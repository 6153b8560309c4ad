"""An encoder with a regression head on the whole text and the marked words: `encoder`, `pair` and `vectors`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, PreTrainedModel, PreTrainedTokenizerFast
from transformers.configuration_utils import PreTrainedConfig
from transformers.modeling_outputs import BaseModelOutput

from humor_tasks.models.devices import padded
from humor_tasks.models.humicroedit.groups import Groups
from humor_tasks.models.humicroedit.rater import Rater
from humor_tasks.models.humicroedit.resources import WordVectors, open_encoder
from humor_tasks.models.humicroedit.texts import CLOSE, OPEN, Edit, Form, written
from humor_tasks.models.weight_files import read_state

# ---- word vectors in the place of an encoder, so that they can be frozen or tuned as one is -------

SPECIAL = ("[PAD]", "[UNK]", "[MASK]")
FREQUENT = 20_000  # words kept besides those of the rows: the first ones, because files are sorted by frequency


class StaticConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """The size of the table."""

    model_type = "humor-static"
    vocab_size: int = 1
    hidden_size: int = 1


class StaticEncoder(PreTrainedModel):  # type: ignore[no-untyped-call]
    """A table of vectors; padding, unknown words and masks have zeros."""

    config_class = StaticConfig

    def __init__(self, config: StaticConfig) -> None:
        super().__init__(config)
        self.table = nn.Embedding(config.vocab_size, config.hidden_size)
        self.post_init()  # type: ignore[no-untyped-call]

    def get_input_embeddings(self) -> nn.Module:
        """See PreTrainedModel."""
        return self.table

    def set_input_embeddings(self, value: Any) -> None:
        """See PreTrainedModel."""
        self.table = value

    def forward(self, input_ids: torch.Tensor, **_: Any) -> BaseModelOutput:
        """The vectors of the words."""
        return BaseModelOutput(last_hidden_state=self.table(input_ids))


AutoConfig.register(StaticConfig.model_type, StaticConfig)
AutoModel.register(StaticConfig, StaticEncoder)


def static_encoder(vectors: WordVectors, words: Iterable[str]) -> tuple[Any, StaticEncoder]:
    """(tokenizer, encoder) of the vectors of `words` and of the most frequent ones, scaled to a variance of 1."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    wanted = set(words)
    places = [i for i, word in enumerate(vectors.words) if i < FREQUENT or word in wanted or word.lower() in wanted]
    places = [i for i in places if vectors.words[i] not in SPECIAL]
    vocabulary = {name: i for i, name in enumerate((*SPECIAL, *dict.fromkeys(vectors.words[i] for i in places)))}
    first = {vectors.words[i]: i for i in reversed(places)}
    table = torch.from_numpy(vectors.table[[first[name] for name in list(vocabulary)[len(SPECIAL) :]]]).float()
    built = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    built.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if all(name == name.lower() for name in first):
        built.normalizer = normalizers.Lowercase()
    encoder = StaticEncoder(StaticConfig(vocab_size=len(vocabulary), hidden_size=table.shape[1]))
    with torch.no_grad():
        encoder.table.weight.zero_()
        encoder.table.weight[len(SPECIAL) :] = table / table.std().clamp(min=1e-6)
    named: dict[str, Any] = {f"{name.strip('[]').lower()}_token": name for name in SPECIAL}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=built, **named)  # type: ignore[no-untyped-call]
    return tokenizer, encoder


# ---- the network ----------------------------------------------------------------------------------

BATCH = 128
NETWORK, MODEL, HEAD, FEATURES = "network", "model", "head.safetensors", "features"


class Tokens(NamedTuple):
    """One encoder input; `places` is 1 on tokens of the replacing word, 2 on those of the replaced word, else 0.

    columns: features for the head.
    """

    ids: list[int]
    types: list[int]
    places: list[int]
    columns: Sequence[float] = ()


@dataclass(frozen=True)
class Shape:
    """The parts of a network's head.

    pooling: `mean` of all states and of each marked word's; `attention`: each marked word's states, and the context's
    as that word attends to them; `gru`, `lstm`: the last states of a recurrent layer in both directions. columns: the
    number of features beside the states. classes: 4 for the grades of one judge, whose mean is the rating; otherwise 0.
    """

    form: Form
    pooling: str = "mean"
    columns: int = 0
    classes: int = 0


def tokenize(tokenizer: Any, edits: Sequence[Edit], form: Form, max_length: int) -> list[Tokens]:
    """Every headline in `form`, truncated to `max_length` tokens."""
    texts = [written(edit, form, tokenizer.mask_token or "_") for edit in edits]
    seconds = [text.second for text in texts]
    encoding = tokenizer(
        [text.first for text in texts],
        None if seconds[0] is None else seconds,
        truncation=True,
        max_length=max_length,
        return_offsets_mapping=True,
    )
    rows = []
    for i, text in enumerate(texts):
        ids, parts, offsets = encoding["input_ids"][i], encoding.sequence_ids(i), encoding["offset_mapping"][i]
        places = [0] * len(ids)
        for mark, span in ((1, text.edit), (2, text.word)):
            for at, (part, (start, end)) in enumerate(zip(parts, offsets, strict=True)):
                if span and part == span[0] and start < span[2] and end > span[1]:
                    places[at] = mark
        types = encoding["token_type_ids"][i] if "token_type_ids" in encoding else [0] * len(ids)
        rows.append(Tokens(ids, types, places))
    return rows


def tensors(rows: Sequence[Tokens], padding: int, device: Any = "cpu") -> tuple[torch.Tensor, ...]:
    """ids, types, places and the attention mask, each [rows, longest], padded on the right; then features, if any."""
    fields = ([row.ids for row in rows], padding), ([row.types for row in rows], 0), ([row.places for row in rows], 0)
    mask = [[1] * len(row.ids) for row in rows]
    columns = [torch.tensor([row.columns for row in rows], device=device)] if len(rows[0].columns) else []
    return (*(padded(values, fill).to(device) for values, fill in (*fields, (mask, 0))), *columns)


def with_columns(rows: Sequence[Tokens], columns: Any) -> list[Tokens]:
    """The rows with their features."""
    return [row._replace(columns=values) for row, values in zip(rows, columns.tolist(), strict=True)]


class Network(nn.Module):
    """An encoder and a head: pooled states -> one hidden layer -> rating.

    With mean pooling these are the mean over all tokens, the mean over each marked word, and the product of both words.
    `samples` is the number of dropout masks that the head is averaged over in training (multi-sample dropout).
    """

    column_mean: torch.Tensor
    column_scale: torch.Tensor

    def __init__(self, encoder: Any, shape: Shape, dropout: float = 0.1, samples: int = 1) -> None:
        super().__init__()
        size = encoder.config.hidden_size
        self.encoder, self.samples, self.pooling, self.classes = encoder, samples, shape.pooling, shape.classes
        self.uses_original = shape.form.original != "no"
        self.dropout = nn.Dropout(dropout)
        parts = {"mean": 4 if self.uses_original else 2, "attention": 4 if self.uses_original else 2}.get(
            self.pooling, 1
        )
        if self.pooling == "attention":
            self.attend = nn.Linear(size, size, bias=False)
        elif self.pooling != "mean":
            kind = nn.GRU if self.pooling == "gru" else nn.LSTM
            self.recurrent = kind(size, (size + 1) // 2, batch_first=True, bidirectional=True)
            size = 2 * ((size + 1) // 2)
        self.register_buffer("column_mean", torch.zeros(shape.columns))
        self.register_buffer("column_scale", torch.ones(shape.columns))
        self.hidden = nn.Linear(size * parts + shape.columns, size)
        self.out = nn.Linear(size, shape.classes or 1)
        self.has_types = getattr(encoder.config, "type_vocab_size", 0) > 1

    def start_at(self, mean: float) -> None:
        """Initialise the output layer so that predictions are close to `mean` before training."""
        if not self.classes:
            with torch.no_grad():
                self.out.weight.mul_(0.1)
                self.out.bias.fill_(mean)

    def standardise(self, columns: torch.Tensor) -> None:
        """Take mean and standard deviation of the features from training rows [rows, columns]."""
        self.column_mean.copy_(columns.mean(0))
        self.column_scale.copy_(columns.std(0) + 1e-6)

    def forward(
        self,
        ids: torch.Tensor,
        types: torch.Tensor,
        places: torch.Tensor,
        mask: torch.Tensor,
        columns: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Ratings [rows]; in the training of a classifier, its scores [rows, classes]."""
        type_ids = {"token_type_ids": types} if self.has_types else {}
        states = self.encoder(input_ids=ids, attention_mask=mask, **type_ids).last_hidden_state  # [rows, tokens, size]
        with torch.autocast(
            states.device.type, enabled=False
        ):  # in bfloat16 a rating would have two significant digits
            parts = self._pooled(states.float(), places, mask)
            if columns is not None:
                parts.append((columns - self.column_mean) / self.column_scale)
            x = torch.cat(parts, -1)
            scores = torch.stack([self._head(x) for _ in range(self.samples if self.training else 1)]).mean(0)
            if self.classes and self.training:
                return scores
            if self.classes:
                grades = torch.arange(self.classes, device=scores.device, dtype=scores.dtype)
                scores = scores.softmax(-1) @ grades[:, None]
            return scores.squeeze(-1)

    def _pooled(self, states: torch.Tensor, places: torch.Tensor, mask: torch.Tensor) -> list[torch.Tensor]:
        """The parts of the head's input, each [rows, size]."""
        marked = [_mean(states, places == place) for place in ((1, 2) if self.uses_original else (1,))]
        if self.pooling == "mean":
            product = [marked[0] * marked[1]] if self.uses_original else []
            return [_mean(states, mask), *marked, *product]
        if self.pooling == "attention":
            around = (places == 0) & (mask == 1)
            return [*marked, *(self._attended(word, states, around) for word in marked)]
        lengths = mask.sum(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        last = self.recurrent(packed)[1]
        last = last[0] if self.pooling == "lstm" else last  # [directions, rows, size]
        return [torch.cat([last[0], last[1]], -1)]

    def _attended(self, word: torch.Tensor, states: torch.Tensor, around: torch.Tensor) -> torch.Tensor:
        """The context's states, weighted by their attention to `word` (Luong's global attention)."""
        scores = (states @ self.attend(word).unsqueeze(-1)).squeeze(-1) / states.shape[-1] ** 0.5  # [rows, tokens]
        weights = scores.masked_fill(~around, -1e9).softmax(-1)
        context: torch.Tensor = (states * weights.unsqueeze(-1)).sum(1)
        return context

    def _head(self, x: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.out(self.dropout(torch.tanh(self.hidden(self.dropout(x)))))
        return hidden

    def head(self) -> dict[str, torch.Tensor]:
        """The parameters outside the encoder."""
        return {name: value for name, value in self.state_dict().items() if not name.startswith("encoder.")}


def _mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1)


def with_marks(tokenizer: Any, encoder: Any) -> None:
    """Add tokens for the marks, initialised near the quotation mark's embedding, which occurs in similar positions."""
    added = tokenizer.add_tokens([OPEN, CLOSE], special_tokens=True)
    if not added:
        return
    encoder.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    table = encoder.get_input_embeddings().weight
    with torch.no_grad():
        like = tokenizer('"', add_special_tokens=False)["input_ids"][0]
        table[-added:] = table[like] + 0.01 * torch.randn(added, table.shape[1])


def predict(
    network: Network,
    rows: Sequence[Tokens],
    padding: int,
    device: Any = "cpu",
    before: Callable[[Sequence[Tokens]], None] | None = None,
) -> list[float]:
    """A rating per row, in batches of similar length. `before` is called with each batch first."""
    network.eval()
    ratings = [0.0] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids))
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            batch_rows = [rows[i] for i in batch]
            if before:
                before(batch_rows)
            values = network(*tensors(batch_rows, padding, device)).tolist()
            for i, value in zip(batch, values, strict=True):
                ratings[i] = value
    return ratings


def save(folder: Path, network: Network, tokenizer: Any) -> None:
    """Write encoder and tokenizer to model/, and the head next to it."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    network.encoder.save_pretrained(folder / MODEL)
    tokenizer.save_pretrained(folder / MODEL)
    save_file({name: value.contiguous() for name, value in network.head().items()}, folder / HEAD)


def shape_of(config: dict[str, Any], columns: int) -> Shape:
    """The input form and the head that a run's configuration selects."""
    if config["system"] == "pair":
        form = Form("full", "headline", True)
    else:
        form = Form(config["context"], "word" if config["original_word"] else "no", config["marks"])
    return Shape(form, config["pooling"], columns, 4 if config.get("judge") else 0)


class NetworkRater(Rater):
    """The network of a run folder."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        super().__init__()
        self.groups = Groups.saved(folder / FEATURES) if config["features"] else None
        head = read_state(folder / NETWORK / HEAD, "humicroedit")
        self.shape, self.max_length = shape_of(config, len(head["column_mean"])), int(config["max_length"])
        self.tokenizer, encoder = open_encoder(str(folder / NETWORK / MODEL))
        self.network = Network(encoder, self.shape)
        self.network.load_state_dict(head, strict=False)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.network.to(self.device)

    def ratings(self, edits: Sequence[Edit]) -> list[float]:
        """See `Rater.rate`."""
        rows = tokenize(self.tokenizer, edits, self.shape.form, self.max_length)
        if self.groups:
            rows = with_columns(rows, self.groups.rows(edits))
        return predict(self.network, rows, self.tokenizer.pad_token_id or 0, self.device)
