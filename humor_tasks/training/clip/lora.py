"""Low-rank adapters (LoRA, by peft) for CLIP's transformer blocks, and merging them."""

from __future__ import annotations

import copy
from typing import Any

from torch import nn

from humor_tasks.errors import BadInput


def adapt(clip: Any, rank: int, alpha: int) -> Any:
    """Add LoRA adapters to `clip`; only they are trained. Returns the peft model; its outputs are unchanged at first.

    Adapted are the query, key and value weights of attention and the linear layers of the blocks. The output
    projections of torch's attention are not adapted: peft would add to the frozen weights and subtract again in every
    step, which does not restore them exactly. Raises BadInput for an architecture without transformer blocks.
    """
    from peft import LoraConfig, get_peft_model

    weights, layers = [], []
    for name, module in clip.named_modules():
        if isinstance(module, nn.MultiheadAttention) and module.in_proj_weight is not None:
            weights.append(f"{name}.in_proj_weight")
        elif type(module) is nn.Linear and "blocks." in name:
            layers.append(name)
    if not weights and not layers:
        raise BadInput("lora: this architecture has no transformer blocks to adapt; train it without lora.")
    config = LoraConfig(r=rank, lora_alpha=alpha or 2 * rank, target_modules=layers, target_parameters=weights)
    return get_peft_model(clip, config)


def merged(adapted: Any) -> Any:
    """A copy of the adapted model with the adapters merged into its weights, without peft modules."""
    return copy.deepcopy(adapted).merge_and_unload().requires_grad_(True)
