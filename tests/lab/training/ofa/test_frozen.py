"""`humor-tasks train ofa --freeze-resnet`: the backbone stays, and reads each picture once."""

from __future__ import annotations

import errno
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from standins.trainings import resumes_to_the_same_end

from humor_tasks.errors import BadInput
from humor_tasks.lab.training.ofa import data as rows_of_ofa
from humor_tasks.lab.training.ofa.data import Features, Splits
from humor_tasks.lab.training.ofa.finetune import Trainer, answer_logits, train
from humor_tasks.lab.training.ofa.settings import OfaTrainConfig
from humor_tasks.models.ofa.encoder import Backbone

QUICK: dict[str, Any] = {"lr": (1e-3,), "batch_size": 6, "patience": 0, "device": "cpu"}
KEPT = pytest.mark.parametrize("memory", [1 << 30, 5_000, 0], ids=["memory", "both", "file"])


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of pictures of each pass of the backbone."""
    seen: list[int] = []
    forward = Backbone.forward

    def counted(self: Backbone, images: torch.Tensor) -> torch.Tensor:
        seen.append(len(images))
        return forward(self, images)

    monkeypatch.setattr(Backbone, "forward", counted)
    return seen


def trainer(tiny: str, splits: Splits, output: Path, **values: Any) -> Trainer:
    config = OfaTrainConfig(tiny, **QUICK | {"epochs": 3, "freeze_resnet": True} | values)
    return Trainer(config, splits, output, False)


def contests(rows: Any) -> set[str]:
    return {row.contest for row in rows}


@pytest.mark.slow
def test_the_backbone_reads_each_picture_once(
    tiny: str, splits: Splits, tmp_path: Path, passes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_of_ofa, "MEMORY", 5_000)  # some are kept in memory, the others in a file
    trained = trainer(tiny, splits, tmp_path)
    trained.train()
    assert passes == [1] * len(contests([*splits.train, *splits.validation])) == [1] * 4
    assert not trained.train_rows._arrays  # the pictures' bytes are dropped


def test_a_backbone_that_is_trained_reads_each_picture_with_each_row(
    tiny: str, splits: Splits, tmp_path: Path, passes: list[int]
) -> None:
    trainer(tiny, splits, tmp_path, freeze_resnet=False, epochs=1).train()
    assert sum(passes) == (len(splits.train) + len(splits.validation))


@KEPT
@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_kept_features_are_what_the_backbone_would_compute(
    memory: int, precision: str, tiny: str, splits: Splits, tmp_path: Path
) -> None:
    trained = trainer(tiny, splits, tmp_path, precision=precision)
    ofa, kept = trained.describer, trained.train_rows.features
    assert kept is not None
    kept._memory = memory
    shown = {contest: torch.from_numpy(picture) for contest, picture in trained.train_rows._arrays.items()}
    for _ in range(2):  # computed, then kept
        pictures, questions, answers = trained.train_rows.tensors(range(12))
        for row, found in zip(splits.train, pictures, strict=True):
            with torch.no_grad(), trained.accelerator.autocast():
                again = ofa.ofa.network.encoder.features(ofa.pixels.normalised(shown[row.contest][None]))[0]
            assert found.dtype == again.dtype == (torch.bfloat16 if precision == "bf16" else torch.float32)
            assert torch.equal(found, again)
    assert (kept._file is not None) == (memory < 1 << 30)
    assert bool(kept._in_memory) == (memory > 0)
    assert not list(tmp_path.iterdir())  # the file has no name, so that a kill leaves none behind
    with torch.no_grad(), trained.accelerator.autocast():
        found, _ = answer_logits(ofa.ofa.network, ofa, trained.train_rows, range(12))
        pixels = ofa.pixels.normalised(torch.stack([shown[row.contest] for row in splits.train]))
        expected = ofa.ofa.network(questions, pixels, answers[:, :-1])
    assert (found - expected).abs().max() < (0.05 if precision == "bf16" else 1e-4)


def test_the_backbone_stays_and_the_rest_is_trained(tiny: str, splits: Splits, tmp_path: Path) -> None:
    trained = trainer(tiny, splits, tmp_path, epochs=1, checkpointing=True)
    before = {name: tensor.clone() for name, tensor in trained.network.state_dict().items()}
    trained.train()
    same = {name for name, tensor in trained.network.state_dict().items() if torch.equal(before[name], tensor)}
    backbone = {name for name in before if name.startswith("encoder.embed_images.")}
    assert backbone
    assert backbone <= same
    assert "encoder.image_proj.weight" not in same
    optimised = {id(tensor) for group in trained.optimizer.param_groups for tensor in group["params"]}
    assert not optimised & {id(tensor) for tensor in trained.network.encoder.embed_images.parameters()}


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_bytes(
    tiny: str, splits: Splits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = OfaTrainConfig(tiny, **QUICK | {"epochs": 3, "freeze_resnet": True})
    data = {"0": splits}

    def less_memory(cut: Path) -> None:
        monkeypatch.setattr(rows_of_ofa, "MEMORY", 0)

    resumes_to_the_same_end(partial(train, data=data), Trainer, config, tmp_path, less_memory)


def test_a_full_disk_names_the_folder_and_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**given: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(rows_of_ofa.tempfile, "TemporaryFile", full)
    monkeypatch.setattr(rows_of_ofa, "MEMORY", 0)
    kept = Features(lambda pictures: pictures.float(), tmp_path / "run")
    with pytest.raises(BadInput, match=r"run: the features .* No space left .* train without freeze_resnet"):
        kept.add("9001", torch.zeros(4, 4, 3, dtype=torch.uint8))
    assert "9001" not in kept
