"""An encoder with a regression head on the whole text and the marked words: `encoder` and `pair`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from humor_tasks.models.humicroedit.frozen import open_encoder
from humor_tasks.models.humicroedit.rater import RaterBase
from humor_tasks.models.humicroedit.texts import CLOSE, OPEN, Edit, Form, written

BATCH = 128
NETWORK, MODEL, HEAD = "network", "model", "head.safetensors"


class Tokens(NamedTuple):
    """One encoder input; `places` is 1 on tokens of the replacing word, 2 on those of the replaced word, else 0."""

    ids: list[int]
    types: list[int]
    places: list[int]


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
    found = []
    for i, text in enumerate(texts):
        ids, parts, offsets = encoding["input_ids"][i], encoding.sequence_ids(i), encoding["offset_mapping"][i]
        places = [0] * len(ids)
        for mark, span in ((1, text.edit), (2, text.word)):
            for at, (part, (start, end)) in enumerate(zip(parts, offsets, strict=True)):
                if span and part == span[0] and start < span[2] and end > span[1]:
                    places[at] = mark
        types = encoding["token_type_ids"][i] if "token_type_ids" in encoding else [0] * len(ids)
        found.append(Tokens(ids, types, places))
    return found


def tensors(rows: Sequence[Tokens], padding: int, device: Any = "cpu") -> tuple[torch.Tensor, ...]:
    """ids, types, places and the attention mask, each [rows, longest], padded on the right."""
    longest = max(len(row.ids) for row in rows)

    def padded(values: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
        return torch.tensor([[*value, *[fill] * (longest - len(value))] for value in values], device=device)

    mask = padded([[1] * len(row.ids) for row in rows], 0)
    return (
        padded([r.ids for r in rows], padding),
        padded([r.types for r in rows], 0),
        padded([r.places for r in rows], 0),
        mask,
    )


class Network(nn.Module):
    """An encoder and a head: pooled states -> one hidden layer -> rating.

    The pooled states are the mean over all tokens, the mean over each marked word, and the product of both words.
    `samples` is the number of dropout masks that the head is averaged over in training (multi-sample dropout).
    """

    def __init__(self, encoder: Any, form: Form, dropout: float = 0.1, samples: int = 1) -> None:
        super().__init__()
        size = encoder.config.hidden_size
        self.encoder, self.samples = encoder, samples
        self.uses_original = form.original != "no"
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Linear(size * (4 if self.uses_original else 2), size)
        self.out = nn.Linear(size, 1)
        self.has_types = getattr(encoder.config, "type_vocab_size", 0) > 1

    def start_at(self, mean: float) -> None:
        """Initialise the output layer so that predictions are close to `mean` before training."""
        with torch.no_grad():
            self.out.weight.mul_(0.1)
            self.out.bias.fill_(mean)

    def forward(self, ids: torch.Tensor, types: torch.Tensor, places: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Ratings [rows]."""
        type_ids = {"token_type_ids": types} if self.has_types else {}
        states = self.encoder(input_ids=ids, attention_mask=mask, **type_ids).last_hidden_state  # [rows, tokens, size]
        with torch.autocast(
            states.device.type, enabled=False
        ):  # in bfloat16 a rating would have two significant digits
            states = states.float()
            parts = [_mean(states, mask), _mean(states, places == 1)]
            if self.uses_original:
                parts.append(_mean(states, places == 2))
                parts.append(parts[1] * parts[2])
            found = torch.cat(parts, -1)
            drawn = [self._head(found) for _ in range(self.samples if self.training else 1)]
            return torch.stack(drawn).mean(0)

    def _head(self, found: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.out(self.dropout(torch.tanh(self.hidden(self.dropout(found)))))
        return hidden.squeeze(-1)

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


def form_of(config: dict[str, Any]) -> Form:
    """The input form that a run's configuration selects."""
    if config["system"] == "pair":
        return Form("full", "headline", True)
    return Form(config["context"], "word" if config["original_word"] else "no", config["marks"])


class NetworkRater(RaterBase):
    """The network of a run folder."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        from safetensors.torch import load_file

        super().__init__()
        self.form, self.max_length = form_of(config), int(config["max_length"])
        self.tokenizer, encoder = open_encoder(str(folder / NETWORK / MODEL))
        self.network = Network(encoder, self.form)
        self.network.load_state_dict(load_file(folder / NETWORK / HEAD), strict=False)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.network.to(self.device)

    def ratings(self, edits: Sequence[Edit]) -> list[float]:
        """See `Rater.rate`."""
        rows = tokenize(self.tokenizer, edits, self.form, self.max_length)
        return predict(self.network, rows, self.tokenizer.pad_token_id or 0, self.device)
