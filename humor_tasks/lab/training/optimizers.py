"""The optimizers of a training, and the training of weights that are held in bf16.

| per weight | AdamW, fp32 weights | Adafactor, fp32 weights | Adafactor, bf16 weights |
|---|---|---|---|
| weight, gradient, moments | 4 + 4 + 8 bytes | 4 + 4 + 0 | 2 + 2 + 0 |

Adafactor (Shazeer and Stern 2018, arXiv 1804.04235) keeps sums by row and by column instead of moments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def optimizer_of(config: Any, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    """AdamW, or what the settings `adafactor` and `bf16_weights` say. groups: parameters with their learning rates."""
    kind: type[torch.optim.Optimizer]
    how: dict[str, Any] = {"weight_decay": config.weight_decay}
    if config.adafactor:
        kind, how = torch.optim.Adafactor, how | {"foreach": False}  # foreach holds a copy of all weights
    else:
        kind = torch.optim.AdamW
        how |= {"betas": (config.beta1, config.beta2), "eps": config.eps, "fused": True}
    if config.bf16_weights:
        kind = type(f"Rounding{kind.__name__}", (_Rounding, kind), {})
    return kind(groups, **how)


class _Rounding(torch.optim.Optimizer):
    """Takes the step of the optimizer that it is mixed into in fp32, a weight at a time, and rounds to bf16 at random.

    bf16 has 8 significant bits: rounded to the nearest value, a weight plus 1e-5 of it is the same weight. Moments are
    fp32. Weights that are fp32, such as adapters, are not rounded.
    """

    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """See torch.optim.Optimizer; a closure is not called."""
        groups = self.param_groups
        try:
            for group in groups:
                for weight in group["params"]:
                    if weight.grad is not None:
                        self._step_of(weight, group)
        finally:
            self.param_groups = groups

    @torch.no_grad()
    def _step_of(self, weight: torch.Tensor, group: dict[str, Any]) -> None:
        assert weight.grad is not None
        exact = torch.nn.Parameter(weight.float())  # the weight itself if it is fp32
        exact.grad = weight.grad.float()
        self.state[exact] = self.state.pop(weight, {})
        self.param_groups = [group | {"params": [exact]}]
        super().step()
        self.state[weight] = self.state.pop(exact)
        weight.copy_(exact if weight.dtype == exact.dtype else rounded(exact))


def rounded(exact: torch.Tensor) -> torch.Tensor:
    """fp32 as bf16, by torch's random numbers: one of the two neighbours, and in the mean the value itself.

    Zamirai et al. 2020, "Revisiting BFloat16 training", arXiv 2010.06192.
    """
    bits = exact.contiguous().view(torch.int32)
    bits = bits + torch.randint_like(bits, 1 << 16)  # bf16 is the first half of fp32: a carry rounds up
    return (bits & -(1 << 16)).view(torch.float32).bfloat16()
