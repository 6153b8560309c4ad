"""Weights that are held in bf16: what rounding at random keeps, and what rounding to the nearest value loses."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from humor_tasks.lab.training.optimizers import optimizer_of, rounded


@pytest.mark.parametrize("value", [1 + 1 / 512, -1 - 1 / 1024, 3.14159, -1e-5, 65504.7, 1e-40])
def test_rounding_gives_the_two_neighbours_and_in_the_mean_the_value(value: float) -> None:
    torch.manual_seed(0)
    found = rounded(torch.full((100_000,), value))
    assert found.dtype == torch.bfloat16
    low, high = sorted(set(found.double().tolist()))
    assert low < value < high
    assert torch.nextafter(torch.tensor(low).bfloat16(), torch.tensor(high).bfloat16()) == high
    assert abs(float(found.double().mean()) - value) < 0.01 * (high - low)


def test_what_bf16_can_say_is_not_changed() -> None:
    values = torch.tensor([0.0, -0.0, 1.5, -3e38, float("inf"), -float("inf")]).bfloat16()
    assert torch.equal(rounded(values.float()), values)
    assert rounded(torch.tensor([float("nan")])).isnan().all()
    assert torch.equal(rounded(values.float().view(2, 3).T), values.view(2, 3).T)


def reached(adafactor: bool, bf16_weights: bool, steps: int = 300) -> float:
    """The error of weights that begin at 1 and are drawn to 1.01 by steps of a tenth of what bf16 can tell there."""
    weight = torch.nn.Parameter(torch.ones(8, 8, dtype=torch.bfloat16 if bf16_weights else torch.float32))
    torch.manual_seed(0)
    names = {"weight_decay": 0.0, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
    settings = SimpleNamespace(adafactor=adafactor, bf16_weights=bf16_weights, **names)
    optimizer = optimizer_of(settings, [{"params": [weight], "lr": 4e-4}])
    for _ in range(steps):
        (weight.float() - 1.01).pow(2).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert {value.dtype for value in optimizer.state[weight].values()} == {torch.float32}
    return float((weight.detach().double() - 1.01).mean().abs())


@pytest.mark.parametrize("adafactor", [False, True])
def test_small_steps_add_up_in_bf16(adafactor: bool) -> None:
    assert reached(adafactor, False) < 1e-3
    assert reached(adafactor, True) < 2e-3
    nearest = torch.ones((), dtype=torch.bfloat16)
    assert nearest + 4e-4 == nearest, "what an ordinary optimizer would do"


def test_an_adapter_beside_bf16_weights_is_not_rounded() -> None:
    mixed = [torch.nn.Parameter(torch.ones(4, dtype=kind)) for kind in (torch.bfloat16, torch.float32)]
    names = {"weight_decay": 0.0, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "adafactor": False, "bf16_weights": True}
    optimizer = optimizer_of(SimpleNamespace(**names), [{"params": mixed, "lr": 1e-5}])
    (mixed[0].float().sum() + mixed[1].sum()).backward()
    optimizer.step()
    assert mixed[1].tolist() == pytest.approx([1 - 1e-5] * 4, abs=1e-7)
    assert [weight.dtype for weight in mixed] == [torch.bfloat16, torch.float32]
    assert len(optimizer.state) == 2
