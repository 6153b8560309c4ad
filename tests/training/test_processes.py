"""`humor-tasks train` in two processes of one launch: each ends as in one process."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from standins import launches
from standins.tiny_training import trained
from standins.trainings import but_time, numbers_of_curve

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what two processes trained: line, clip, ofa, humicroedit, t5, causal, encoder."""
    return launches.in_two(tmp_path_factory, "whole")


def same_curves(one: Path, two: Path, rel: float) -> None:
    for a, b in zip(numbers_of_curve(one), numbers_of_curve(two), strict=True):
        assert a == pytest.approx(b, rel=rel)


def metrics_in(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "metrics.json").read_text())
    return found


def test_the_smallest_training(whole: Path, tmp_path: Path) -> None:
    notes = trained(tmp_path, dropout=0.0)  # ten rows in batches of three: the second process has none of the last
    assert json.loads((whole / "line" / "training.json").read_text()) == notes
    same_curves(tmp_path, whole / "line", rel=1e-4)
    one, two = (load_file(folder / "model" / "weights.safetensors") for folder in (tmp_path, whole / "line"))
    assert all(torch.allclose(tensor, two[name], rtol=1e-4) for name, tensor in one.items())


def test_clip(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    one = launches.alone(tmp_path_factory, "clip")
    assert but_time(metrics_in(whole / "clip")) == but_time(metrics_in(one))
    for rate in ("0.03", "0.3"):
        same_curves(one / f"lr-{rate}", whole / "clip" / f"lr-{rate}", rel=1e-3)


def test_humicroedit(whole: Path) -> None:
    output = whole / "humicroedit"
    with (output / "members.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 2
    fold = next((output / "members").glob("pair-*/fold-0"))
    batches = -(-metrics_in(fold)["rows"]["train"] // 4)
    assert numbers_of_curve(fold)[0]["step"] == batches // 2


@pytest.mark.parametrize("name", ["ofa", "t5", "causal", "encoder"])
def test_weights_and_curves(name: str, whole: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    one, two = launches.alone(tmp_path_factory, name), whole / name
    expected, found = metrics_in(one), metrics_in(two)
    assert found["rows"] == expected["rows"]
    same_curves(one, two, rel=1e-3)
    if name == "ofa":
        assert found["test"]["nll"] == pytest.approx(expected["test"]["nll"], rel=1e-4)
    if name == "causal":
        a, b = (metrics["test"]["perplexity"]["token_perplexity"] for metrics in (expected, found))
        assert (b["value"], b["units"]) == (pytest.approx(a["value"], rel=1e-3), a["units"])
    folders = launches.start(tmp_path_factory) / name, one / "model", two / "model"
    begun, ended, other = (load_file(folder / "model.safetensors") for folder in folders)
    for key, tensor in ended.items():
        assert torch.allclose(tensor, other[key], rtol=1e-3, atol=1e-4), key
    moved = max(float((ended[key].float() - begun[key].float()).abs().max()) for key in ended)
    assert moved > 0.002  # 20 tolerances: it trained
