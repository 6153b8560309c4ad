"""Low-rank adapters (LoRA, by peft) for text models, and the weights with the adapters merged."""

from __future__ import annotations

from typing import Any

import torch

_WRAPPED = "base_model.model."
_NAME = "default"


def adapt(network: Any, rank: int, alpha: int) -> Any:
    """The peft model of a network with adapters on all linear layers but the output layer; only they are trained."""
    from peft import LoraConfig, get_peft_model

    return get_peft_model(network, LoraConfig(r=rank, lora_alpha=alpha or 2 * rank, target_modules="all-linear"))


def base_of(network: Any) -> Any:
    """The network inside a peft model, or the network itself."""
    return network.get_base_model() if hasattr(network, "get_base_model") else network


def merged(network: Any, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A state dict of `network` under the names of the network without adapters, with these merged into the weights.

    The network is not changed, so that training goes on exactly as without a save.
    """
    from peft.tuners.lora import LoraLayer

    found = {_plain(name): tensor for name, tensor in state.items() if ".lora_" not in name}
    for name, module in network.named_modules():
        if isinstance(module, LoraLayer) and _NAME in module.scaling:
            down, up = (state[f"{name}.lora_{side}.{_NAME}.weight"].float() for side in "AB")
            change = module.scaling[_NAME] * (up @ down)
            weight = found[f"{_plain(name)}.weight"]
            change = change.T if getattr(module, "fan_in_fan_out", False) else change  # Conv1D, as in GPT-2
            found[f"{_plain(name)}.weight"] = (weight.float() + change.to(weight.device)).to(weight.dtype)
    return found


def _plain(name: str) -> str:
    return name.replace(_WRAPPED, "").replace(".base_layer.", ".")
