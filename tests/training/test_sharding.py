"""Networks divided among two processes by FSDP2 and by DeepSpeed end as in one process. One launch each."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from accelerate.commands.config.config_args import load_config_from_file
from accelerate.utils import DistributedType
from click.testing import CliRunner
from safetensors.torch import load_file, save_file
from standins import tiny_sharded, tiny_training
from standins.paths import TESTS
from standins.short_prompts import short_prompts
from standins.tiny_text import tiny_folder, without_dropout
from standins.waiting import LIMIT
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

ROUTES = ("fsdp", "deepspeed")


def configuration(name: str) -> str:
    done = CliRunner().invoke(train, ["configuration", name])
    assert done.exit_code == 0, done.output
    return done.output.strip()


# One epoch: a row on the margin may not decide which epoch is the best.
TEXT = "--task ranking --dataset sample --lr 0.1 --eps 1 --warmup 0 --epochs 1 --batch-size 29 --device cpu"


def text_commands(home: Path, route: str) -> dict[str, list[str]]:
    """Arguments of `train text` by the run's name; 30 rows in batches of 29: one process has none of the last."""
    prompts = short_prompts(home / "prompts")
    models = {kind: home / f"tiny_{kind}" for kind in ("t5", "causal", "encoder")}
    for kind, model in models.items():
        if not model.exists():
            without_dropout(Path(tiny_folder(model, ["a fish in a living room", "two men at a bar"], kind)))
    flags = {
        "t5": f"--model {models['t5']} --prompts {prompts} --micro-batch 4",
        "lora": f"--model {models['t5']} --prompts {prompts} --lora 2",
        "causal": f"--model {models['causal']} --prompts {prompts} --checkpointing",
        "encoder": f"--model {models['encoder']} --encoding bi --head-lr 0.01 --lr 1",
        "bf16": f"--model {models['t5']} --prompts {prompts} --lora 2 --precision bf16",
    }
    if route == "deepspeed":  # refuses encoders
        del flags["encoder"]
    return {name: f"text {TEXT} {own} --no-progress -o".split() for name, own in flags.items()}


# ---- launches -----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=ROUTES)
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes trained with the shipped configuration, and one process in `one`."""
    home = tmp_path_factory.mktemp(request.param)
    start = tiny_sharded.saved(home / "start")
    tiny_sharded.trained(start, home / "one", dropout=0.0, micro=0)
    # What a CPU cannot do: eight accelerators, bf16 as fast as fp32, and not to be named as the device.
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", configuration(request.param)]
    launch += ["--num_processes", "2", "--mixed_precision", "no", "--main_process_port", "0"]
    texts = [[*arguments, str(home / name)] for name, arguments in text_commands(home, request.param).items()]
    launch += [tiny_sharded.__file__, str(home), json.dumps(texts)]
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    cpu = {
        "ACCELERATE_TORCH_DEVICE": "cpu",
        "DS_ACCELERATOR": "cpu",
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
    }
    environment = os.environ | cpu | {"PYTHONPATH": paths}
    done = subprocess.run(launch, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-6000:]
    return home


@pytest.mark.slow
def test_two_processes_in_parts_end_as_one_with_whole_batches(home: Path) -> None:
    one, two = (load_file(home / name / "model" / "model.safetensors") for name in ("one", "same"))
    start = load_file(home / "start" / "model.safetensors")
    assert one.keys() == two.keys() == start.keys()
    for name, tensor in one.items():
        assert torch.allclose(tensor, two[name], rtol=1e-4, atol=1e-5), name
    assert max(float((one[name] - start[name]).abs().max()) for name in one) > 0.01


@pytest.mark.slow
def test_a_killed_training_resumes_with_identical_results(home: Path) -> None:
    for name in ("curves.csv", "training.json", "model/model.safetensors"):
        assert (home / "cut" / name).read_bytes() == (home / "whole" / name).read_bytes()
    assert not list(home.glob("*/*checkpoint-*")) + list(home.glob("*/best-*"))


@pytest.mark.slow
def test_a_checkpoint_holds_a_part_a_process_and_no_pickle(home: Path) -> None:
    files = (home / "left.txt").read_text().split()
    kinds = {Path(name).suffix for name in files}
    assert kinds == {".safetensors", ".json", ".csv"}
    parts = [Path(name).name for name in files if name.startswith("checkpoint-2/") and name.endswith("tensors")]
    route = "fsdp" if home.name.startswith("fsdp") else "deepspeed"
    assert parts == [f"{route}-0-of-2.safetensors", f"{route}-1-of-2.safetensors"]


@pytest.mark.slow
def test_the_best_weights_are_an_ordinary_checkpoint(home: Path) -> None:
    network = T5ForConditionalGeneration.from_pretrained(home / "same" / "model")
    saved = load_file(home / "same" / "model" / "model.safetensors")
    assert all(torch.equal(tensor, saved[name]) for name, tensor in network.state_dict().items() if name in saved)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t5", "lora", "causal", "encoder"])
def test_text_in_two_processes_ends_as_in_one(name: str, home: Path, tmp_path: Path) -> None:
    if not (home / name).exists():
        assert (name, home.name.startswith("deepspeed")) == ("encoder", True)
        return
    train([*text_commands(home, "fsdp")[name], str(tmp_path / "run")], standalone_mode=False)
    one, two = tmp_path / "run", home / name
    for a, b in zip(*map(curve, (one, two)), strict=True):
        assert a == pytest.approx(b, rel=1e-3)
    for part in ("predictions_validation.json", "predictions_test.json"):
        assert json.loads((one / part).read_text()) == json.loads((two / part).read_text())
    moved = 0.0
    start = loaded(home / ("tiny_t5" if name == "lora" else f"tiny_{name}"))
    for ours, theirs, before in zip(loaded(one / "model"), loaded(two / "model"), start, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=2e-3)
        moved = max(moved, float((theirs - before).abs().max()))
    assert moved > 0.01
    if name == "encoder":
        heads = [load_file(run / "model" / "head.safetensors") for run in (one, two)]
        assert heads[0].keys() == heads[1].keys() == {"head.weight", "head.bias", "head.scale"}
        assert all(torch.allclose(heads[0][key], heads[1][key], rtol=1e-3, atol=1e-4) for key in heads[0])


@pytest.mark.slow
def test_adapters_are_divided_in_bf16(home: Path) -> None:
    start, found = loaded(home / "tiny_t5"), loaded(home / "bf16" / "model")
    assert all(torch.allclose(a, b.float(), rtol=1e-2, atol=0.2) for a, b in zip(start, found, strict=True))
    metrics = json.loads((home / "bf16" / "metrics.json").read_text())
    assert metrics["test"]["metrics"]["accuracy"]["n"] == 10


def test_deepspeed_refuses_encoders(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("humor_tasks.training.text.finetune.requested", lambda: "DeepSpeed")
    with pytest.raises(BadInput, match="which DeepSpeed does not keep: use FSDP"):
        train([*text_commands(home, "fsdp")["encoder"], str(tmp_path / "run")], standalone_mode=False)
    assert not (tmp_path / "run").exists()


def loaded(folder: Path) -> list[torch.Tensor]:
    """The weights as transformers loads them: under ZeRO-3 it saves LayerNorms under older names."""
    kind = AutoConfig.from_pretrained(folder).model_type
    loaders = {"t5": AutoModelForSeq2SeqLM, "llama": AutoModelForCausalLM, "bert": AutoModel}
    network, told = loaders[kind].from_pretrained(folder, output_loading_info=True)
    assert not any(told.values())
    return [tensor for _, tensor in sorted(network.state_dict().items())]


def curve(output: Path) -> list[dict[str, float]]:
    with (output / "curves.csv").open(newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


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


def fsdp(version: int = 2, recomputes: bool = False, steps: int = 1) -> Any:
    plugin = SimpleNamespace(fsdp_version=version, activation_checkpointing=recomputes)
    return SimpleNamespace(
        distributed_type=DistributedType.FSDP,
        gradient_accumulation_steps=steps,
        state=SimpleNamespace(fsdp_plugin=plugin),
    )


def zero(stage: int = 3, steps: int | str = "auto") -> Any:
    plugin = SimpleNamespace(zero_stage=stage, deepspeed_config={"gradient_accumulation_steps": steps})
    return SimpleNamespace(
        distributed_type=DistributedType.DEEPSPEED, gradient_accumulation_steps=1, deepspeed_plugin=plugin
    )


@pytest.mark.parametrize(
    ("launched", "message"),
    [
        (lambda: fsdp(version=1), "fsdp_version=1: set it to 2"),
        (lambda: fsdp(recomputes=True), "fsdp_activation_checkpointing=true: set it to false and use --checkpointing"),
        (lambda: fsdp(steps=4), "gradient_accumulation_steps=4: set it to 1; --micro-batch"),
        (lambda: zero(stage=2), "zero_stage=2: set it to 3"),
        (lambda: zero(steps=4), "gradient_accumulation_steps=4: set it to 1"),
        (fsdp, "mixed_precision=bf16: the training has --precision no"),
        (lambda: SimpleNamespace(distributed_type=DistributedType.NO), "FSDP: accelerate divides networks on acc"),
    ],
)
def test_a_launch_that_would_train_otherwise_is_refused(
    launched: Callable[[], Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    check(fsdp(), "bf16")
    check(zero(), "bf16")
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
