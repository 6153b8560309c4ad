"""A linear layer that is fast for the few rows of token-by-token decoding on a CPU."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

BLOCK = 32
FEWEST, MOST = 4, 15


class FewRowsLinear(nn.Linear):
    """nn.Linear that, on a CPU, multiplies 4 to 15 rows by blocks of its weight.

    A step of decoding reads every weight of the decoder for one row per beam, so the time is dominated by memory
    access. For 4 to 15 rows the CPU's kernel of one large product reaches half of the memory bandwidth; its kernel of
    many small products, one for each 32 rows of the weight, reaches all of it. The blocks are views: there is no copy
    of the weight.
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x [..., in] -> [..., out]."""
        blocks, rows = self.out_features // BLOCK, x.numel() // self.in_features
        if (
            not blocks
            or not FEWEST <= rows <= MOST
            or x.device.type != "cpu"
            or not x.dtype == self.weight.dtype == torch.float32
            or torch.is_autocast_enabled("cpu")
        ):
            return super().forward(x)
        cut = blocks * BLOCK
        flat = x.reshape(rows, self.in_features)
        weights = self.weight[:cut].view(blocks, BLOCK, self.in_features).transpose(1, 2)
        found = torch.bmm(flat.expand(blocks, -1, -1), weights).transpose(0, 1).reshape(rows, cut)
        if cut < self.out_features:
            found = torch.cat([found, functional.linear(flat, self.weight[cut:])], 1)
        if self.bias is not None:
            found = found + self.bias
        return found.view(*x.shape[:-1], self.out_features)
