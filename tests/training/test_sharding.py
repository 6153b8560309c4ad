"""Networks divided among two processes by FSDP2 and by DeepSpeed end as in one process. One launch each."""

from __future__ import annotations

import json
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
from standins.trainings import numbers_of_curve
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    T5ForConditionalGeneration,
)

from humor_tasks.cli.train import train
from humor_tasks.errors import BadInput
from humor_tasks.training.checkpoint import State, restore_checkpoint
from humor_tasks.training.loop import accelerator_for
from humor_tasks.training.sharding import check

# ---- launches -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def fsdp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return launches.in_two(tmp_path_factory, "fsdp")


@pytest.fixture(scope="session")
def deepspeed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return launches.in_two(tmp_path_factory, "deepspeed")


@pytest.fixture(params=ROUTES)
def home(request: pytest.FixtureRequest) -> Path:
    """What two processes trained with the shipped configuration."""
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.mark.slow
def test_two_processes_in_parts_end_as_one_with_whole_batches(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    runs = launches.alone(tmp_path_factory, "same") / "model", home / "same" / "model"
    one, two = (load_file(folder / "model.safetensors") for folder in runs)
    begun = load_file(launches.start(tmp_path_factory) / "divided" / "model.safetensors")
    assert one.keys() == two.keys() == begun.keys()
    for name, tensor in one.items():
        assert torch.allclose(tensor, two[name], rtol=1e-4, atol=1e-5), name
    assert max(float((one[name] - begun[name]).abs().max()) for name in one) > 0.01


@pytest.mark.slow
def test_a_killed_training_resumes_with_identical_results(home: Path) -> None:
    whole = "whole" if home.name == "launch_fsdp" else "same"
    for name in ("curves.csv", "training.json", "model/model.safetensors"):
        assert (home / "cut" / name).read_bytes() == (home / whole / name).read_bytes()
    assert not list(home.glob("*/*checkpoint-*")) + list(home.glob("*/best-*"))


@pytest.mark.slow
def test_a_checkpoint_holds_a_part_a_process_and_no_pickle(home: Path) -> None:
    files = (home / "left.txt").read_text().split()
    kinds = {Path(name).suffix for name in files}
    assert kinds == {".safetensors", ".json", ".csv"}
    parts = [Path(name).name for name in files if name.startswith("checkpoint-1/") and name.endswith("tensors")]
    route = home.name.removeprefix("launch_")
    assert parts == [f"{route}-0-of-2.safetensors", f"{route}-1-of-2.safetensors"]


@pytest.mark.slow
def test_the_best_weights_are_an_ordinary_checkpoint(home: Path) -> None:
    network = T5ForConditionalGeneration.from_pretrained(home / "same" / "model")
    saved = load_file(home / "same" / "model" / "model.safetensors")
    assert all(torch.equal(tensor, saved[name]) for name, tensor in network.state_dict().items() if name in saved)


TEXT = [(route, name) for route in ROUTES for name in launches.RUNS[route] if name != "bf16"]


@pytest.mark.slow
@pytest.mark.parametrize(("home", "name"), TEXT, indirect=["home"], ids=map("-".join, TEXT))
def test_text_in_two_processes_ends_as_in_one(name: str, home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    one, two = launches.alone(tmp_path_factory, name), home / name
    for a, b in zip(*map(numbers_of_curve, (one, two)), strict=True):
        assert a == pytest.approx(b, rel=1e-3)
    if name != "causal":  # what it explains is drawn
        for part in ("predictions_validation.json", "predictions_test.json"):
            assert json.loads((one / part).read_text()) == json.loads((two / part).read_text())
    moved = 0.0
    begun = loaded(launches.start(tmp_path_factory) / name)
    for ours, theirs, before in zip(loaded(one / "model"), loaded(two / "model"), begun, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=2e-3)
        moved = max(moved, float((theirs - before).abs().max()))
    assert moved > 0.01
    if name == "encoder":
        heads = [load_file(run / "model" / "head.safetensors") for run in (one, two)]
        assert heads[0].keys() == heads[1].keys() == {"head.weight", "head.bias", "head.scale"}
        assert all(torch.allclose(heads[0][key], heads[1][key], rtol=1e-3, atol=1e-4) for key in heads[0])


@pytest.mark.slow
def test_adapters_are_divided_in_bf16(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    begun, found = loaded(launches.start(tmp_path_factory) / "t5"), loaded(home / "bf16" / "model")
    assert all(torch.allclose(a, b.float(), rtol=1e-2, atol=0.2) for a, b in zip(begun, found, strict=True))
    metrics = json.loads((home / "bf16" / "metrics.json").read_text())
    assert metrics["test"]["metrics"]["accuracy"]["n"] == 2


def test_deepspeed_refuses_encoders(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humor_tasks.training.text.finetune.requested", lambda: "DeepSpeed")
    with pytest.raises(BadInput, match="which DeepSpeed does not keep: use FSDP"):
        train(launches.command(tmp_path_factory, "encoder", tmp_path / "run"), standalone_mode=False)
    assert not (tmp_path / "run").exists()


def loaded(folder: Path) -> list[torch.Tensor]:
    """The weights as transformers loads them: under ZeRO-3 it saves LayerNorms under older names."""
    kind = AutoConfig.from_pretrained(folder).model_type
    loaders = {"t5": AutoModelForSeq2SeqLM, "llama": AutoModelForCausalLM, "bert": AutoModel}
    network, told = loaders[kind].from_pretrained(folder, output_loading_info=True)
    assert not any(told.values())
    return [tensor for _, tensor in sorted(network.state_dict().items())]


# ---- configurations -----------------------------------------------------------------------------


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


def test_another_number_of_processes_does_not_resume(tmp_path: Path) -> None:
    line = tiny_training.Line(tmp_path)
    (tmp_path / "checkpoint-1").mkdir()
    for process in (0, 1):
        save_file({"weights.x": torch.zeros(1)}, tmp_path / "checkpoint-1" / f"fsdp-{process}-of-2.safetensors")
    with pytest.raises(BadInput, match=r"has no network.safetensors but fsdp-0-of-2\.\S+ fsdp-1-of-2\S+: launch as"):
        restore_checkpoint(tmp_path, line.network, line.optimizer)
    assert restore_checkpoint(tmp_path / "none", line.network, line.optimizer) == State()
