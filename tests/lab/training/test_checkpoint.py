"""Checkpoints of a training: what comes back is what was there, in memory too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from humor_tasks.lab.training.checkpoint import State, restore_checkpoint, save_checkpoint
from humor_tasks.lab.training.loop import accelerator_for


def network() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(16, 2))


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_steps_after_a_checkpoint_are_those_that_would_have_been(layout: Any, tmp_path: Path) -> None:
    def made() -> tuple[Any, Any]:
        built = network().to(memory_format=layout)
        return built, torch.optim.AdamW(built.parameters(), lr=0.01, fused=True)

    def step(built: Any, optimizer: Any, seed: int) -> None:
        torch.manual_seed(seed)
        built(torch.randn(2, 3, 4, 4).to(memory_format=layout)).pow(2).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    whole, one = made(), accelerator_for("no", "cpu")
    assert restore_checkpoint(tmp_path, *whole, one) == State() == State(0, 0, float("inf"), [])
    step(*whole, 1)
    (tmp_path / "best-0").mkdir()  # without the best weights so far a training is not gone on with
    save_checkpoint(tmp_path, State(epoch=1, curve=[[1, 0.5]]), *whole, one)
    again = made()
    assert restore_checkpoint(tmp_path, *again, one) == State(epoch=1, curve=[[1, 0.5]])
    for seed in (2, 3):
        step(*whole, seed)
        step(*again, seed)
    for one, other in zip(whole[0].parameters(), again[0].parameters(), strict=True):
        assert torch.equal(one, other)
        assert one.stride() == other.stride()
