"""Trainings in two processes end as in one. All of them in one launch: imports take most of its time."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from standins import humicroedit_rows, tiny_clip_folder, train_in_processes
from standins.paths import TESTS
from standins.short_prompts import short_prompts
from standins.tiny_ofa import tiny_ofa
from standins.tiny_text import tiny_folder, without_dropout
from standins.tiny_training import trained
from standins.trainings import but_time
from standins.waiting import LIMIT

from humor_tasks.cli.train import train as commands
from humor_tasks.training.clip.finetune import train as train_clip
from humor_tasks.training.clip.settings import ClipTrainConfig
from humor_tasks.training.ofa.finetune import train as train_ofa
from humor_tasks.training.ofa.settings import OfaTrainConfig

pytestmark = pytest.mark.slow


TEXT = "--dataset sample --lr 0.1 --eps 1 --warmup 0 --epochs 2 --batch-size 29 --device cpu"


def text_commands(home: Path) -> dict[str, str]:
    """Flags of `train text` by the run's name; 30 rows in batches of 29, as for CLIP."""
    prompts = short_prompts(home / "prompts")
    models = {kind: home / f"tiny_{kind}" for kind in ("t5", "causal", "encoder")}
    for kind, model in models.items():
        if not model.exists():
            tiny_folder(model, ["a fish in a living room", "two men at a bar"], kind)
            without_dropout(model)
    return {
        "t5": f"--task ranking --model {models['t5']} --prompts {prompts} --micro-batch 4 {TEXT}",
        "causal": f"--task explanation --model {models['causal']} --prompts {prompts} --max-new-tokens 5 {TEXT}",
        "encoder": f"--task ranking --model {models['encoder']} --encoding bi --head-lr 0.1 {TEXT}",
    }


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder a model, and what two processes trained from them: line, clip, ofa, humicroedit."""
    home = tmp_path_factory.mktemp("processes")
    clip = tiny_clip_folder.saved(home)
    ofa = tiny_ofa(home / "tiny_ofa", ["a fish in a living room", "two men at a bar"])
    rows = humicroedit_rows.write_folder(home / "rows", {"train": 30, "dev": 12})
    encoder = humicroedit_rows.tiny_encoder(home / "encoder")
    # With an eps that large the size of a gradient counts, which Adam would else divide away.
    commands = [
        f"clip --task ranking --dataset sample --lr 0.03,0.3 --eps 1 --warmup 1 --epochs 2 --batch-size 29 "
        f"--device cpu --pretrained {clip} -o {home / 'clip'} --no-progress",
        f"ofa --dataset sample --lr 0.3 --eps 1 --epochs 2 --patience 0 --batch-size 59 --micro-batch 7 "
        f"--device cpu --pretrained {ofa} -o {home / 'ofa'} --no-progress",
        f"humicroedit --dataset {rows} --encoder {encoder} -o {home / 'humicroedit'} --no-progress --system ensemble "
        f"--grid system=pair,ngrams --folds 2 --epochs 1 --batch-size 8 --alphas 1",
        *(f"text {flags} -o {home / f'text-{name}'} --no-progress" for name, flags in text_commands(home).items()),
    ]
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    launch += [train_in_processes.__file__, str(home / "line"), json.dumps([line.split() for line in commands])]
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    cpu = os.environ | {"ACCELERATE_USE_CPU": "true", "PYTHONPATH": paths}
    done = subprocess.run(launch, capture_output=True, text=True, timeout=LIMIT, check=False, env=cpu)
    assert done.returncode == 0, done.stderr[-6000:]
    return home


def curve(output: Path) -> list[dict[str, float]]:
    with (output / "curves.csv").open(newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def same_curves(one: Path, two: Path, rel: float) -> None:
    for a, b in zip(curve(one), curve(two), strict=True):
        assert a == pytest.approx(b, rel=rel)


def metrics_in(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "metrics.json").read_text())
    return found


def test_the_smallest_training(home: Path, tmp_path: Path) -> None:
    notes = trained(tmp_path, dropout=0.0)  # ten rows in batches of three: the second process has none of the last
    assert json.loads((home / "line" / "training.json").read_text()) == notes
    same_curves(tmp_path, home / "line", rel=1e-4)
    one, two = (load_file(folder / "model" / "weights.safetensors") for folder in (tmp_path, home / "line"))
    assert all(torch.allclose(tensor, two[name], rtol=1e-4) for name, tensor in one.items())


def test_clip(home: Path, tmp_path: Path) -> None:
    # 30 rows in batches of 29: the second process has no row of the last batch.
    values: dict[str, Any] = {"lr": (0.03, 0.3), "eps": 1.0, "warmup": 1, "batch_size": 29, "epochs": 2}
    settings = ClipTrainConfig("ranking", dataset="sample", pretrained=str(home / "tiny"), device="cpu", **values)
    expected = train_clip(settings, tmp_path, progress=False)
    assert but_time(metrics_in(home / "clip")) == but_time(expected)
    for rate in settings.lr:
        same_curves(tmp_path / f"lr-{rate}", home / "clip" / f"lr-{rate}", rel=1e-3)


def test_ofa(home: Path, tmp_path: Path) -> None:
    # 60 rows in batches of 59: the second process has no row of the last batch.
    values: dict[str, Any] = {"lr": (0.3,), "eps": 1.0, "batch_size": 59, "epochs": 2, "patience": 0}
    settings = OfaTrainConfig(str(home / "tiny_ofa"), dataset="sample", device="cpu", **values)
    expected, found = train_ofa(settings, tmp_path, progress=False), metrics_in(home / "ofa")
    assert found["rows"] == expected["rows"]
    assert found["test"]["nll"] == pytest.approx(expected["test"]["nll"], rel=1e-4)
    same_curves(tmp_path, home / "ofa", rel=1e-4)
    start, one, two = (
        load_file(folder / "model.safetensors")
        for folder in (home / "tiny_ofa", tmp_path / "model", home / "ofa" / "model")
    )
    for name, tensor in one.items():
        assert torch.allclose(tensor, two[name], rtol=1e-3, atol=1e-4), name
    moved = max(float((one[name].float() - start[name].float()).abs().max()) for name in one)
    assert moved > 0.01


@pytest.mark.parametrize("kind", ["t5", "causal", "encoder"])
def test_text(kind: str, home: Path, tmp_path: Path) -> None:
    commands([*f"text {text_commands(home)[kind]} -o {tmp_path / 'run'} --no-progress".split()], standalone_mode=False)
    expected, found = metrics_in(tmp_path / "run"), metrics_in(home / f"text-{kind}")
    assert found["rows"] == expected["rows"]
    same_curves(tmp_path / "run", home / f"text-{kind}", rel=1e-3)
    if kind == "causal":
        one, two = (metrics["test"]["perplexity"]["token_perplexity"] for metrics in (expected, found))
        assert two["value"] == pytest.approx(one["value"], rel=1e-3)
        assert two["units"] == one["units"]
    one, two = (
        load_file(folder / "model" / "model.safetensors") for folder in (tmp_path / "run", home / f"text-{kind}")
    )
    start = load_file(home / f"tiny_{kind}" / "model.safetensors")
    for name, tensor in one.items():
        assert torch.allclose(tensor, two[name], rtol=1e-3, atol=1e-4), name
    assert max(float((one[name] - start[name]).abs().max()) for name in one) > 0.002  # 20 tolerances: it trained


def test_humicroedit(home: Path) -> None:
    output = home / "humicroedit"
    with (output / "members.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 2
    fold = next((output / "members").glob("pair-*/fold-0"))
    assert curve(fold)[0]["step"] == -(-metrics_in(fold)["rows"]["train"] // 8) // 2  # half of the batches
