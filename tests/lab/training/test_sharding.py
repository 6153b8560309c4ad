"""What networks divided by FSDP2 or DeepSpeed need: the shipped configurations, a launch that fits, as many processes.

Two processes: tests/lab/training/test_processes.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from accelerate.commands.config.config_args import load_config_from_file
from accelerate.utils import DistributedType
from safetensors.torch import load_file, save_file
from standins import launches, tiny_training
from standins.launches import ROUTES, configuration

from humor_tasks.cli.train import train
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.checkpoint import State, restore_checkpoint
from humor_tasks.lab.training.loop import accelerator_for
from humor_tasks.lab.training.sharding import check, load_part, part


@pytest.mark.parametrize("route", ROUTES)
def test_accelerate_reads_the_shipped_configurations(route: str) -> None:
    found: Any = load_config_from_file(configuration(route))
    assert found.mixed_precision == "bf16"
    assert found.distributed_type == DistributedType(route.upper())
    if route == "fsdp":
        assert (found.fsdp_config["fsdp_version"], found.fsdp_config["fsdp_reshard_after_forward"]) == (2, True)
    else:
        assert found.deepspeed_config["zero_stage"] == 3


def fsdp_with(version: int = 2, recomputes: bool = False, steps: int = 1) -> Any:
    plugin = SimpleNamespace(fsdp_version=version, activation_checkpointing=recomputes)
    return SimpleNamespace(
        distributed_type=DistributedType.FSDP,
        gradient_accumulation_steps=steps,
        state=SimpleNamespace(fsdp_plugin=plugin),
    )


def zero_with(stage: int = 3, steps: int | str = "auto") -> Any:
    plugin = SimpleNamespace(zero_stage=stage, deepspeed_config={"gradient_accumulation_steps": steps})
    return SimpleNamespace(
        distributed_type=DistributedType.DEEPSPEED, gradient_accumulation_steps=1, deepspeed_plugin=plugin
    )


@pytest.mark.parametrize(
    ("launched", "message"),
    [
        (lambda: fsdp_with(version=1), "fsdp_version=1: set it to 2"),
        (
            lambda: fsdp_with(recomputes=True),
            "fsdp_activation_checkpointing=true: set it to false and use --checkpointing",
        ),
        (lambda: fsdp_with(steps=4), "gradient_accumulation_steps=4: set it to 1; --micro-batch"),
        (lambda: zero_with(stage=2), "zero_stage=2: set it to 3"),
        (lambda: zero_with(steps=4), "gradient_accumulation_steps=4: set it to 1"),
        (fsdp_with, "mixed_precision=bf16: the training has --precision no"),
        (lambda: SimpleNamespace(distributed_type=DistributedType.NO), "FSDP: accelerate divides networks on acc"),
    ],
)
def test_a_launch_that_would_train_otherwise_is_refused(
    launched: Callable[[], Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    check(fsdp_with(), "bf16")
    check(zero_with(), "bf16")
    with pytest.raises(BadInput) as problem:
        check(launched(), "no")
    assert message in str(problem.value)


@pytest.mark.parametrize("name", ["ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED"])
def test_a_training_of_whole_networks_is_not_divided(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "true")
    with pytest.raises(BadInput, match="ofa: each process trains the whole network; launch it without "):
        accelerator_for("no", "cpu", "ofa")


def test_deepspeed_refuses_encoders(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humor_tasks.lab.training.text.finetune.requested", lambda: "DeepSpeed")
    with pytest.raises(BadInput, match="which DeepSpeed does not keep: use FSDP"):
        train(launches.command(tmp_path_factory, "encoder", tmp_path / "run"), standalone_mode=False)
    assert not (tmp_path / "run").exists()


def test_another_number_of_processes_does_not_resume(tmp_path: Path) -> None:
    line = tiny_training.Line(tmp_path)
    (tmp_path / "checkpoint-1").mkdir()
    for process in (0, 1):
        save_file({"weights.x": torch.zeros(1)}, tmp_path / "checkpoint-1" / f"fsdp-{process}-of-2.safetensors")
    with pytest.raises(BadInput, match=r"has no network.safetensors but fsdp-0-of-2\.\S+ fsdp-1-of-2\S+: launch as"):
        restore_checkpoint(tmp_path, line.network, line.optimizer, line.accelerator)
    assert restore_checkpoint(tmp_path / "none", line.network, line.optimizer, line.accelerator) == State()


def test_the_steps_of_an_optimizer_on_the_host_are_a_whole_number_again(tmp_path: Path) -> None:
    """DeepSpeedCPUAdam counts by an int, and gives it to its kernel as one."""
    moments = {0: {"step": 3, "exp_avg": torch.ones(2)}}
    state = {"fp32_flat_groups": [torch.ones(2)], "optimizer_state_dict": {"state": moments}}
    loaded: dict[int, Any] = {}
    engine = SimpleNamespace(
        state_dict=lambda: {**state, "optimizer_state_dict": {"state": {}}},
        load_state_dict=loaded.update,
        checkpoint_event_epilogue=lambda: None,
    )
    optimizer = SimpleNamespace(state_dict=lambda: state, optimizer=engine)
    accelerator: Any = SimpleNamespace(distributed_type=DistributedType.DEEPSPEED, process_index=0)
    save_file(part(accelerator, torch.nn.Linear(1, 1), optimizer), tmp_path / "part.safetensors")
    load_part(accelerator, torch.nn.Linear(1, 1), optimizer, load_file(tmp_path / "part.safetensors"))
    (found,) = loaded[0]["optimizer_state_dict"]["state"].values()
    assert (found["step"], type(found["step"])) == (3, int)
    assert torch.equal(found["exp_avg"], torch.ones(2))
