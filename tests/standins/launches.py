"""Tiny trainings in two processes and in one: each launch, and each training alone, made once a run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from standins import forks, humicroedit_rows, launched, tiny_clip_folder
from standins.once import made_once
from standins.short_prompts import short_prompts
from standins.small_sample import small_sample
from standins.tiny_ofa import tiny_ofa
from standins.tiny_text import tiny_folder, without_dropout

from humor_tasks.cli.train import train

ROUTES = ("fsdp", "deepspeed")
WORDS = ["a fish in a living room", "two men at a bar"]
# Six rows in batches of five, for OFA twelve in batches of eleven: the second process has no row of the last batch. One
# epoch: a row on the margin may not decide which epoch is the best. With an eps that large the size of a gradient
# counts, which Adam would else divide away.
TEXT = (
    "text --dataset {home}/sample --prompts {home}/prompts --lr 0.1 --eps 1 --warmup 0 --epochs 1 --batch-size 5 "
    "--device cpu"
)
COMMANDS = {
    "causal": TEXT + " --task explanation --model {home}/causal --lora 2 --checkpointing --micro-batch 2 "
    "--max-new-tokens 5 --lr 1",
    "encoder": TEXT + " --task ranking --model {home}/encoder --encoding bi --head-lr 0.01 --lr 1",
    "bf16": TEXT + " --task ranking --model {home}/t5 --lora 2 --precision bf16",
    "clip": "clip --task ranking --dataset {home}/sample --lr 0.03,0.3 --eps 1 --warmup 0 --epochs 1 --batch-size 5 "
    "--device cpu --pretrained {home}/clip/tiny",
    "ofa": "ofa --dataset {home}/sample --lr 0.3 --eps 1 --epochs 1 --patience 0 --batch-size 11 "
    "--micro-batch 3 --device cpu --pretrained {home}/ofa",
    "humicroedit": "humicroedit --dataset {home}/rows --encoder {home}/bert --system ensemble "
    "--grid system=pair,ngrams --folds 2 --epochs 1 --batch-size 4 --alphas 1",
}
RUNS = {
    "whole": ("clip", "ofa", "humicroedit"),
    "fsdp": ("causal", "encoder"),
    "deepspeed": ("causal", "bf16"),  # refuses encoders
}
"""The trainings of a launch by what it divides: nothing but rows, or also networks."""


def start(factory: pytest.TempPathFactory) -> Path:
    """What the commands name: rows, prompts and networks; and `divided`, the T5 of `launched`."""
    return made_once(factory, "launches_start", _start)


def _start(folder: Path) -> None:
    small_sample(folder / "sample")
    short_prompts(folder / "prompts")
    for kind in ("t5", "causal", "encoder"):
        without_dropout(Path(tiny_folder(folder / kind, WORDS, kind, width=16, layers=1)))
    (folder / "clip").mkdir()
    tiny_clip_folder.saved(folder / "clip")
    tiny_ofa(folder / "ofa", WORDS)
    humicroedit_rows.write_folder(folder / "rows", {"train": 12, "dev": 6})
    humicroedit_rows.tiny_encoder(folder / "bert")
    launched.saved(folder / "divided")


def command(factory: pytest.TempPathFactory, name: str, output: Path) -> list[str]:
    """Arguments of `humor-tasks train`."""
    return [*COMMANDS[name].format(home=start(factory)).split(), "--no-progress", "-o", str(output)]


def alone(factory: pytest.TempPathFactory, name: str) -> Path:
    """The folder of a training in one process."""
    return made_once(factory, f"alone_{name}", lambda folder: _alone(factory, name, folder)) / "run"


def _alone(factory: pytest.TempPathFactory, name: str, folder: Path) -> None:
    if name == "same":
        launched.trained(start(factory) / "divided", folder / "run", micro=0)
    else:
        train(command(factory, name, folder / "run"), standalone_mode=False)


def configuration(route: str) -> str:
    done = CliRunner().invoke(train, ["configuration", route])
    assert done.exit_code == 0, done.output
    return done.output.strip()


IMPORTED = """
accelerate.commands.launch datasets deepspeed deepspeed.module_inject deepspeed.runtime.zero.stage3 lxml.etree open_clip
pandas peft pytest rouge_score.rouge_scorer sacrebleu scipy.io scipy.stats setuptools sklearn.feature_extraction
sklearn.linear_model torch._inductor.lowering torch.distributed.fsdp torch.distributed.run torch.utils.checkpoint
torchvision.transforms.v2 transformers.integrations.fsdp transformers.models.bert.modeling_bert
transformers.models.llama.modeling_llama transformers.models.t5.modeling_t5
""".split()


def in_two(factory: pytest.TempPathFactory, route: str) -> Path:
    """What two processes trained: a folder a run. With a route by `accelerate launch` and the shipped configuration."""
    return made_once(factory, "launches", lambda home: _in_two(factory, home)) / route


def _in_two(factory: pytest.TempPathFactory, home: Path) -> None:
    with forks.Forks(IMPORTED) as started:  # imports for all launches: that is a third of what they take
        for route in RUNS:
            (home / route).mkdir()
            _launch(started, factory, route, home / route)


def _launch(started: forks.Forks, factory: pytest.TempPathFactory, route: str, folder: Path) -> None:
    cpu = {"ACCELERATE_USE_CPU": "true"}
    launch = ["torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    if route in ROUTES:
        # What a CPU cannot do: eight accelerators, bf16 as fast as fp32, and not to be named as the device.
        launch = ["accelerate.commands.launch", "--config_file", configuration(route), "--num_processes", "2"]
        launch += ["--mixed_precision", "no", "--main_process_port", "0"]
        cpu = {"ACCELERATE_TORCH_DEVICE": "cpu"} | forks.ON_THE_CPU
    commands = [command(factory, name, folder / name) for name in RUNS[route]]
    given = [launched.__file__, str(start(factory) / "divided"), str(folder), json.dumps(commands)]
    done = started.run([*launch, forks.__file__, started.address, *given], os.environ | cpu)
    assert done.returncode == 0, done.stderr[-20000:]
