"""Word vectors in the place of an encoder, so that they can be frozen or tuned as one is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, PreTrainedModel, PreTrainedTokenizerFast
from transformers.configuration_utils import PreTrainedConfig
from transformers.modeling_outputs import BaseModelOutput

from humor_tasks.models.humicroedit.frozen import WordVectors

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
    kept = [i for i, word in enumerate(vectors.words) if i < FREQUENT or word in wanted or word.lower() in wanted]
    kept = [i for i in kept if vectors.words[i] not in SPECIAL]
    vocabulary = {name: i for i, name in enumerate((*SPECIAL, *dict.fromkeys(vectors.words[i] for i in kept)))}
    first = {vectors.words[i]: i for i in reversed(kept)}
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
