"""`humor-tasks train` in two processes ends as in one: with whole networks, with FSDP2 and with DeepSpeed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from standins import launches
from standins.launches import ROUTES
from standins.tiny_training import trained
from standins.trainings import but_time, numbers_of_curve
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The networks before they are trained, in folders of their names."""
    return launches.start(tmp_path_factory)


@pytest.fixture(scope="module")
def whole(begun: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes trained that each had the whole network."""
    return launches.in_two(tmp_path_factory, "whole")


@pytest.fixture(scope="module", params=ROUTES)
def home(begun: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes trained that shared each network, with the shipped configuration."""
    return launches.in_two(tmp_path_factory, request.param)


def same_curves(one: Path, two: Path, rel: float = 1e-3) -> None:
    for a, b in zip(numbers_of_curve(one), numbers_of_curve(two), strict=True):
        assert a == pytest.approx(b, rel=rel)


def metrics_in(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "metrics.json").read_text())
    return found


def same_weights(start: Path, one: Path, two: Path, rtol: float = 1e-3, atol: float = 1e-4) -> float:
    """The farthest that a weight moved in one process. In two it moved as far."""
    before, ended, other = (load_file(folder / "model.safetensors") for folder in (start, one, two))
    assert before.keys() == ended.keys() == other.keys()
    for name, tensor in ended.items():
        assert torch.allclose(tensor, other[name], rtol=rtol, atol=atol), name
    return max(float((ended[name].float() - before[name].float()).abs().max()) for name in ended)


# ---- whole networks -----------------------------------------------------------------------------


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
        same_curves(one / f"lr-{rate}", whole / "clip" / f"lr-{rate}")


def test_ofa(whole: Path, begun: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    one, two = launches.alone(tmp_path_factory, "ofa"), whole / "ofa"
    same_curves(one, two)
    expected, found = metrics_in(one), metrics_in(two)
    assert found["rows"] == expected["rows"]
    assert found["test"]["nll"] == pytest.approx(expected["test"]["nll"], rel=1e-4)
    moved = same_weights(begun / "ofa", one / "model", two / "model")
    assert moved > 0.002  # 20 tolerances: it trained


def test_humicroedit(whole: Path) -> None:
    output = whole / "humicroedit"
    with (output / "members.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 2
    fold = next((output / "members").glob("pair-*/fold-0"))
    batches = -(-metrics_in(fold)["rows"]["train"] // 4)
    assert numbers_of_curve(fold)[0]["step"] == batches // 2


# ---- divided networks ---------------------------------------------------------------------------


def test_two_processes_in_parts_end_as_one_with_whole_batches(
    home: Path, begun: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    one = launches.alone(tmp_path_factory, "same")
    assert same_weights(begun / "divided", one / "model", home / "same" / "model", rtol=1e-4, atol=1e-5) > 0.01


def test_a_killed_training_resumes_with_identical_results(home: Path) -> None:
    for name in ("curves.csv", "training.json", "model/model.safetensors"):
        assert (home / "cut" / name).read_bytes() == (home / "same" / name).read_bytes()
    assert not list(home.glob("*/*checkpoint-*")) + list(home.glob("*/best-*"))


def test_a_checkpoint_holds_a_part_a_process_and_no_pickle(home: Path) -> None:
    files = (home / "left.txt").read_text().split()
    assert {Path(name).suffix for name in files} == {".safetensors", ".json", ".csv"}
    parts = [Path(name).name for name in files if name.startswith("checkpoint-1/") and name.endswith("tensors")]
    assert parts == [f"{home.name}-0-of-2.safetensors", f"{home.name}-1-of-2.safetensors"]


TEXT = [(route, name) for route in ROUTES for name in launches.RUNS[route] if name != "bf16"]


@pytest.mark.parametrize(("home", "name"), TEXT, indirect=["home"], ids=map("-".join, TEXT))
def test_text_in_two_processes_ends_as_in_one(
    name: str, home: Path, begun: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    one, two = launches.alone(tmp_path_factory, name), home / name
    same_curves(one, two)
    expected, found = metrics_in(one), metrics_in(two)
    assert found["rows"] == expected["rows"]
    if name == "causal":  # what it explains is drawn
        a, b = (metrics["test"]["perplexity"]["token_perplexity"] for metrics in (expected, found))
        assert (b["value"], b["units"]) == (pytest.approx(a["value"], rel=1e-3), a["units"])
    else:
        for part in ("predictions_validation.json", "predictions_test.json"):
            assert json.loads((one / part).read_text()) == json.loads((two / part).read_text())
        heads = [load_file(run / "model" / "head.safetensors") for run in (one, two)]
        assert heads[0].keys() == heads[1].keys() == {"head.weight", "head.bias", "head.scale"}
        assert all(torch.allclose(heads[0][key], heads[1][key], rtol=1e-3, atol=1e-4) for key in heads[0])
    moved = 0.0
    for ours, theirs, before in zip(*map(loaded, (one / "model", two / "model", begun / name)), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=2e-3)
        moved = max(moved, float((theirs - before).abs().max()))
    assert moved > 0.01


@pytest.mark.parametrize("home", ["deepspeed"], indirect=True)
def test_adapters_are_divided_in_bf16(home: Path, begun: Path) -> None:
    before, found = loaded(begun / "t5"), loaded(home / "bf16" / "model")
    assert all(torch.allclose(a, b.float(), rtol=1e-2, atol=0.2) for a, b in zip(before, found, strict=True))
    assert metrics_in(home / "bf16")["test"]["metrics"]["accuracy"]["n"] == 2


def loaded(folder: Path) -> list[torch.Tensor]:
    """The weights as transformers loads them: under ZeRO-3 it saves LayerNorms under older names."""
    kind = AutoConfig.from_pretrained(folder).model_type
    loaders = {"t5": AutoModelForSeq2SeqLM, "llama": AutoModelForCausalLM, "bert": AutoModel}
    network, told = loaders[kind].from_pretrained(folder, output_loading_info=True)
    assert not any(told.values())
    return [tensor for _, tensor in sorted(network.state_dict().items())]
