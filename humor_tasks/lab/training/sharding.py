"""Networks divided among processes: FSDP2 and DeepSpeed ZeRO-3, both through `accelerate launch`.

A process holds a part of each weight and of its optimizer state. `part` and `load_part` give and restore it as plain
tensors, for checkpoints without pickle; DeepSpeed's own checkpoints need it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType

from humor_tasks.errors import BadInput

_ROUTES = {"ACCELERATE_USE_FSDP": "FSDP", "ACCELERATE_USE_DEEPSPEED": "DeepSpeed"}


def requested() -> str:
    """What the launch asks for: FSDP, DeepSpeed, or '' for whole networks."""
    return next((route for name, route in _ROUTES.items() if os.environ.get(name, "").lower() == "true"), "")


def is_sharded(accelerator: Accelerator) -> bool:
    """Whether this accelerator divides the networks that it prepares."""
    return accelerator.distributed_type in (DistributedType.FSDP, DistributedType.DEEPSPEED)


def check(accelerator: Accelerator, precision: str) -> None:
    """Raise BadInput where the launch's configuration would train otherwise than the loop says."""
    if not is_sharded(accelerator):
        raise BadInput(f"{requested()}: accelerate divides networks on accelerators; on the cpu, launch without it.")
    launched = os.environ.get("ACCELERATE_MIXED_PRECISION", "no")
    steps: Any = accelerator.gradient_accumulation_steps
    if accelerator.distributed_type == DistributedType.DEEPSPEED:
        plugin = accelerator.deepspeed_plugin
        steps = plugin.deepspeed_config["gradient_accumulation_steps"]
        _refuse(plugin.zero_stage != 3, f"zero_stage={plugin.zero_stage}", "set it to 3, which divides the weights")
    else:
        fsdp = accelerator.state.fsdp_plugin
        _refuse(fsdp.fsdp_version != 2, f"fsdp_version={fsdp.fsdp_version}", "set it to 2")
        # accelerate recomputes with other dropout masks: preserve_rng_state=False in its fsdp2_apply_ac.
        _refuse(
            bool(fsdp.activation_checkpointing),
            "fsdp_activation_checkpointing=true",
            "set it to false and use --checkpointing, which recomputes with the same dropout",
        )
    _refuse(
        steps not in (1, "auto"), f"gradient_accumulation_steps={steps}", "set it to 1; --micro-batch divides batches"
    )
    _refuse(
        launched not in ("no", precision), f"mixed_precision={launched}", f"the training has --precision {precision}"
    )


def _refuse(wrong: bool, setting: str, remedy: str) -> None:
    if wrong:
        raise BadInput(f"the configuration of accelerate launch has {setting}: {remedy}.")


def make_ready(accelerator: Accelerator, network: torch.nn.Module, clip_norm: float) -> None:
    """What must be so before `accelerator.prepare` of a network that will be divided. clip_norm: 0 for no clipping."""
    if accelerator.distributed_type == DistributedType.FSDP:
        _join_embeddings(network)
    else:
        config = accelerator.deepspeed_plugin.deepspeed_config
        config["gradient_clipping"] = clip_norm  # DeepSpeed clips inside its step
        config["train_micro_batch_size_per_gpu"] = 1  # required without a data loader; used for its reports only
        if accelerator.mixed_precision == "bf16":  # as ZeRO-3 loads weights; adapters and new layers are added later
            for parameter in network.parameters():
                parameter.data = parameter.data.bfloat16()
        config["zero_optimization"]["stage3_gather_16bit_weights_on_model_save"] = True


def _join_embeddings(network: torch.nn.Module) -> None:
    """Make embeddings that share a weight one module, as T5's three do.

    FSDP2 wants a shared weight in one group, and accelerate knows only input and output embeddings.
    """
    first: dict[Any, torch.nn.Module] = {}
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, torch.nn.Embedding):
                setattr(parent, name, first.setdefault((type(child), id(child.weight)), child))


@contextmanager
def whole_networks() -> Iterator[None]:
    """Within it every process of a launch with FSDP or DeepSpeed loads whole networks, as to evaluate after training.

    Otherwise transformers reads weights in the first process only (FSDP), or divides them (ZeRO-3).
    """
    from transformers.integrations import deepspeed

    name = "FSDP_CPU_RAM_EFFICIENT_LOADING"
    held = os.environ.pop(name, None)
    deepspeed.unset_hf_deepspeed_config()  # type: ignore[no-untyped-call]  # the next accelerator sets it again
    try:
        yield
    finally:
        if held is not None:
            os.environ[name] = held


def full_weights(accelerator: Accelerator, network: torch.nn.Module, model: Any) -> dict[str, torch.Tensor]:
    """The state dict of the whole network on the CPU in the main process; all processes must call this.

    model: the prepared network. FSDP2: in the parameters' own type. ZeRO-3: in the type of the computation, bf16 with
    bf16. Tied weights are one tensor, as in any state dict.
    """
    gathered: dict[str, torch.Tensor] = accelerator.get_state_dict(model) or {}
    # On a CPU, ZeRO-3's small weights are views into one buffer, and save_pretrained leaves out such tensors.
    weights = {
        name: value if value.untyped_storage().nbytes() == value.nbytes else value.clone()
        for name, value in gathered.items()
    }
    first: dict[int, str] = {}
    for name, parameter in network.named_parameters(remove_duplicate=False):
        if name in weights:
            weights[name] = weights[first.setdefault(id(parameter), name)]
    return weights


def part_name(accelerator: Accelerator) -> str:
    """The file of this process's part in a checkpoint, or of the whole network."""
    if not is_sharded(accelerator):
        return "network.safetensors"
    route = str(accelerator.distributed_type.value).lower()
    return f"{route}-{accelerator.process_index}-of-{accelerator.num_processes}.safetensors"


def part(accelerator: Accelerator, network: torch.nn.Module, optimizer: Any) -> dict[str, torch.Tensor]:
    """This process's part of the trained weights, the buffers and the optimizer state, or all of them, on the CPU.

    Weights that are not trained come from the pretrained checkpoint again.
    """
    if accelerator.distributed_type == DistributedType.DEEPSPEED:
        state = optimizer.state_dict()
        trained = {f"weights.{i}": value for i, value in enumerate(state["fp32_flat_groups"])}
        trained |= {f"buffers.{name}": value for name, value in network.named_buffers()}
        moments = state["optimizer_state_dict"]["state"]
    else:
        trained = {f"weights.{name}": value for name, value in _trained(network).items()}
        moments = optimizer.state_dict()["state"]
    trained |= {f"optimizer.{name}": value for name, value in _flat(moments).items()}
    return {name: _on_cpu(torch.as_tensor(value)) for name, value in trained.items()}


def load_part(
    accelerator: Accelerator, network: torch.nn.Module, optimizer: Any, tensors: dict[str, torch.Tensor]
) -> None:
    """Restore what `part` gave, in a launch with as many processes where the network is divided."""
    named: dict[str, dict[str, torch.Tensor]] = {"weights": {}, "buffers": {}, "optimizer": {}}
    for key, value in tensors.items():
        kind, name = key.split(".", 1)
        named[kind][name] = value
    if accelerator.distributed_type != DistributedType.DEEPSPEED:
        with torch.no_grad():
            for name, held in _trained(network).items():
                local(held).copy_(named["weights"][name])
        _load_moments(optimizer, named["optimizer"])
        return
    with torch.no_grad():
        for name, buffer in network.named_buffers():
            buffer.copy_(named["buffers"][name])
    engine = optimizer.optimizer
    state = engine.state_dict()
    state["fp32_flat_groups"] = [named["weights"][str(i)] for i in range(len(state["fp32_flat_groups"]))]
    state["optimizer_state_dict"]["state"] = _nested(named["optimizer"])
    engine.load_state_dict({accelerator.process_index: state})
    engine.checkpoint_event_epilogue()  # gathers the small weights that ZeRO-3 keeps whole


def _trained(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The trained parameters, each once, and the buffers; `state_dict` first divides what evaluation left gathered."""
    held = network.state_dict()
    names = [name for name, parameter in network.named_parameters() if parameter.requires_grad]
    names += [name for name, _ in network.named_buffers() if name in held]
    return {name: held[name] for name in names}


def local(tensor: torch.Tensor) -> torch.Tensor:
    """This process's part of a divided tensor; any other tensor itself."""
    part_of_tensor: torch.Tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return part_of_tensor


def _on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """This process's part of the tensor, as safetensors can write it."""
    return local(tensor.detach()).cpu().contiguous()


def _flat(state: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """An optimizer's state with one key a tensor, or a whole number: 'place.name'."""
    return {f"{place}.{name}": value for place, values in state.items() for name, value in values.items()}


def _nested(tensors: dict[str, torch.Tensor]) -> dict[int, dict[str, Any]]:
    """The state that `_flat` was made from. DeepSpeed's optimizer on the host counts steps by a whole number."""
    state: dict[int, dict[str, Any]] = {}
    for key, value in tensors.items():
        place, name = key.split(".", 1)
        whole = value.dtype == torch.int64 and not value.dim()
        state.setdefault(int(place), {})[name] = int(value) if whole else value
    return state


def _load_moments(optimizer: Any, tensors: dict[str, torch.Tensor]) -> None:
    """Restore an optimizer's state from what `_flat` gave, or from this process's part of it."""
    state = _nested(tensors)
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    for (parameter, values), stored in zip(optimizer.state.items(), state.values(), strict=True):
        for name, value in values.items():  # torch gave all but `step` the weight's type, which may be bf16
            if value.shape == local(parameter).shape:
                # torch's fused optimizers require moments with the same memory layout as their weights.
                values[name] = torch.empty_like(parameter, dtype=stored[name].dtype)
                local(values[name]).copy_(stored[name])
            else:
                values[name] = stored[name].to(value.device)
