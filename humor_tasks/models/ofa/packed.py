"""Linear layers with weights packed for the CPU, which speeds up token-by-token decoding."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class PackedLinear(nn.Linear):
    """nn.Linear that, on a CPU and without gradients, computes with a packed copy of its weight.

    Generating a token reads every weight of the decoder for one row per beam, so the time is dominated by memory
    access. torch's default kernel for such products reaches half of the memory bandwidth or less; oneDNN's, with a
    packed weight, reaches all of it. The copy is made at first use, and again when the weight has changed or training
    starts or ends (a fused optimizer step does not increase a weight's version). It is not part of the state dict. On
    other devices, and where torch has no oneDNN, this is nn.Linear.
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
            # The reference to the weight prevents its address from being reused.
            self._packed, self._of = (
                torch.ops.mkldnn._reorder_linear_weight(weight.detach()),
                (weight.detach(), version),
            )
        found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self._packed, self.bias, "none", [], "")
        return found

    def train(self, mode: bool = True) -> PackedLinear:
        """See nn.Module; the packed copy is dropped."""
        self._packed = self._of = None
        return super().train(mode)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the packed copy, which can be neither copied nor stored."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_packed", "_of")}
