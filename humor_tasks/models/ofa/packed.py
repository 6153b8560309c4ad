"""Linear maps as a CPU likes them: what writing one token after another consists of."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class PackedLinear(nn.Linear):
    """nn.Linear that, on a CPU and without gradients, works from a packed copy of its weight.

    Writing a token takes every weight of the decoder for a row a beam, so that reading them is nearly all there is to
    do. torch hands such products to a kernel that reads at half the memory's speed or less; oneDNN's, from a weight
    laid out for it, is as fast as the memory. The copy is made at first use and again when the weight has changed, or
    training has begun or ended (a fused step does not count up a weight's version). It is no part of the state.
    Elsewhere, and where this torch has no oneDNN, this is nn.Linear.
    """

    _packed: torch.Tensor | None = None
    _of: tuple[torch.Tensor, int] | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x [..., in] -> [..., out]."""
        weight = self.weight
        if (
            torch.is_grad_enabled()
            or torch.is_autocast_enabled("cpu")
            or x.device.type != "cpu"
            or not x.dtype == weight.dtype == torch.float32
            or not torch._C._has_mkldnn
        ):
            return super().forward(x)
        version = 0 if weight.is_inference() else weight._version
        if self._of is None or self._of[0].data_ptr() != weight.data_ptr() or self._of[1] != version:
            # Holding on to the weight keeps its address from being another's.
            self._packed, self._of = (
                torch.ops.mkldnn._reorder_linear_weight(weight.detach()),
                (weight.detach(), version),
            )
        found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self._packed, self.bias, "none", [], "")
        return found

    def train(self, mode: bool = True) -> PackedLinear:
        """See nn.Module; the copy is dropped."""
        self._packed = self._of = None
        return super().train(mode)

    def __getstate__(self) -> dict[str, Any]:
        """Without the copy, which can be neither copied nor stored."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_packed", "_of")}
