"""Caption tokenization for CLIP: the prefix, truncation at the context length, and batches without padding."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

# Longer captions are truncated before tokenization, because byte-pair encoding of one long word takes quadratic time.
# A token of CLIP's vocabulary has at most 32 characters, so 3000 characters always exceed 77 tokens.
MAX_CHARACTERS = 3000


class Captions:
    """The prefix and open_clip's tokenizer; `cut` holds the keys of the captions that were truncated."""

    def __init__(self, prefix: str, tokenizer: Any) -> None:
        self.prefix, self.tokenizer = prefix, tokenizer
        self.length: int = tokenizer.context_length
        self.cut: set[str] = set()

    def key(self, text: str) -> str:
        """The cache key of a caption."""
        return hashlib.sha256((self.prefix + text).encode("utf-8", "surrogatepass")).hexdigest()

    def tokenize(self, texts: Sequence[str]) -> torch.Tensor:
        """Token ids [len(texts), length] of the prefix and each text."""
        if not texts:
            return torch.zeros(0, self.length, dtype=torch.long)
        full = [self._truncated(self.prefix + text) for text in texts]
        # With one more position than the model has, only a text that is too long fills the last one.
        longer = self.tokenizer(full, context_length=self.length + 1)
        blank = self.tokenizer([""], context_length=self.length + 1)[0, -1]
        tokens = torch.as_tensor(longer[:, :-1].clone())
        if cut := (longer[:, -1] != blank).nonzero().flatten().tolist():
            tokens[cut] = self.tokenizer([full[i] for i in cut])
            self.cut.update(self.key(texts[i]) for i in cut)
        return tokens

    def _truncated(self, text: str) -> str:
        if len(text) <= MAX_CHARACTERS or not hasattr(self.tokenizer, "bpe"):
            return text
        cleaned: str = self.tokenizer.clean_fn(text)
        return cleaned[:MAX_CHARACTERS]


def lengths(tokens: torch.Tensor) -> torch.Tensor:
    """The number of tokens including the end token, which has the highest id in CLIP's vocabulary. [n]"""
    return tokens.argmax(dim=1) + 1


def can_be_trimmed(model: Any) -> bool:
    """Whether attention is causal and pooling uses the end token, as in the original CLIP, so that padding has no
    effect.
    """
    mask = getattr(model, "attn_mask", None)
    return (
        type(model).__name__ == "CLIP"
        and getattr(model, "text_pool_type", None) == "argmax"
        and mask is not None
        and torch.equal(mask, torch.full_like(mask, -torch.inf).triu(1))
    )


def trimmed(model: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    """model.encode_text for tokens [n, any length], if `can_be_trimmed`; captions are far shorter than 77 tokens."""

    class Text(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.clip = model

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(self.clip.encode_text(tokens))

    text = Text()

    def encode(tokens: torch.Tensor) -> torch.Tensor:
        n = tokens.shape[1]
        short = {
            "clip.positional_embedding": model.positional_embedding[:n],
            "clip.attn_mask": model.attn_mask[:n, :n],
        }
        return torch.as_tensor(torch.func.functional_call(text, short, (tokens,)))

    return encode
