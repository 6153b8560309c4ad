"""The complete OFA network, with the parameter names of the published checkpoints."""

from __future__ import annotations

import torch
from torch import nn

from humor_tasks.models.ofa.config import OfaConfig
from humor_tasks.models.ofa.decoder import Decoder
from humor_tasks.models.ofa.encoder import Encoded, Encoder
from humor_tasks.models.ofa.places import Places


class OfaNetwork(nn.Module):
    """Encoder and decoder with a shared token embedding, randomly initialised; `weights.py` loads trained weights."""

    def __init__(self, config: OfaConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config, self.encoder.embed_tokens)
        self.tie()
        self._initialise()

    def encode(
        self,
        input_ids: torch.Tensor | None,
        patch_images: torch.Tensor | None = None,
        patch_masks: torch.Tensor | None = None,
        features: torch.Tensor | None = None,
        owners: torch.Tensor | None = None,
        padded: bool | None = None,
        places: Places | None = None,
    ) -> Encoded:
        """See `Encoder.forward`."""
        encoded: Encoded = self.encoder(input_ids, patch_images, patch_masks, features, owners, padded, places)
        return encoded

    def forward(
        self,
        input_ids: torch.Tensor | None,
        patch_images: torch.Tensor | None,
        decoder_input_ids: torch.Tensor,
        patch_masks: torch.Tensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        code_masks: torch.Tensor | None = None,
        features: torch.Tensor | None = None,
        padded: bool | None = None,
    ) -> torch.Tensor:
        """Logits [B, L, V]: position i predicts the token after decoder_input_ids[:, i]. See encoder and decoder."""
        encoded = self.encode(input_ids, patch_images, patch_masks, features, padded=padded)
        logits: torch.Tensor = self.decoder(decoder_input_ids, encoded, decoder_attention_mask, code_masks)
        return logits

    def tie(self) -> None:
        """Share the token embedding, and use it as output projection if the configuration says so."""
        self.decoder.embed_tokens = self.encoder.embed_tokens
        if self.config.share_decoder_input_output_embed:
            self.decoder.output_projection.weight = self.encoder.embed_tokens.weight

    def _initialise(self) -> None:
        """Initialise embeddings with a scale that depends on the width, and relative-position biases with zeros."""
        for name, module in self.named_modules():
            if isinstance(module, nn.Embedding):
                if "rel_pos_table" in name:
                    nn.init.zeros_(module.weight)
                else:
                    nn.init.normal_(module.weight, std=self.config.d_model**-0.5)
        with torch.no_grad():
            self.encoder.embed_tokens.weight[1] = 0
