"""A run of several learning rates keeps the best; one of all folds averages them. The recipe here trains nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from standins.once import made_once
from standins.small_sample import small_sample
from standins.trainings import Killed, but_time, predicted

from humor_tasks import evaluate
from humor_tasks.contract.definition import Run
from humor_tasks.files.writing import write_table
from humor_tasks.lab.training.evaluation import MODEL, Metrics, Recipe, evaluated, mean_perplexities, train_run
from humor_tasks.lab.training.run_folders import CURVES
from humor_tasks.lab.training.text.data import Splits, read_splits
from humor_tasks.lab.training.text.settings import TextTrainConfig
from humor_tasks.scorers.perplexity import UNITS

REACHED = {0.1: 1.0, 0.2: 3.0, 0.3: 3.0, 0.4: 2.0}
"""What each learning rate reaches."""


@pytest.fixture
def config(tmp_path_factory: pytest.TempPathFactory) -> TextTrainConfig:
    """Two rows a fold and split."""
    rows = made_once(tmp_path_factory, "evaluation_rows", lambda folder: small_sample(folder / "rows")) / "rows"
    return TextTrainConfig("ranking", "none", dataset=str(rows), lr=(0.1,), device="cpu")


@pytest.fixture
def fitted() -> list[tuple[str, float]]:
    """Fold and learning rate of each training."""
    return []


def letters(run: Run, fold: str) -> dict[str, str]:
    """0, 1 or 2 right answers, by the fold."""
    right = int(fold) % 3
    return {r.id: str(r.target) if i < right else "AB"[r.target == "A"] for i, r in enumerate(run.records)}


@pytest.fixture
def recipe(fitted: list[tuple[str, float]]) -> Recipe:
    def fit(config: TextTrainConfig, data: Splits, output: Path, progress: bool) -> Metrics:
        (rate,) = config.lr
        fitted.append((config.fold, rate))
        (output / MODEL).mkdir()
        (output / MODEL / "rate").write_text(str(rate))
        write_table(output / CURVES, ("epoch", "lr"), [(1, rate)])
        found = evaluated(output, data.evaluated, {s: letters(run, config.fold) for s, run in data.evaluated.items()})
        for scores in found.values():
            scores["perplexity"] = {name: {"value": 2.0 + int(config.fold)} for name in UNITS}
            scores["nll"] = float(config.fold)
        return found | {"lr": rate, "reached": REACHED[rate]}

    return Recipe("none", read_splits, fit, lambda metrics: metrics["reached"], lambda config, data: data.evaluated)


def value(metrics: Mapping[str, Any], split: str, name: str) -> float:
    return float(metrics[split]["metrics"][name]["value"])


def test_the_first_of_the_best_rates_is_kept_and_each_is_trained_once(
    config: TextTrainConfig, recipe: Recipe, fitted: list[tuple[str, float]], tmp_path: Path
) -> None:
    def killed(settings: Any, *given: Any) -> Metrics:
        if len(fitted) == 1:
            raise Killed
        return recipe.fit(settings, *given)

    config, output = config.with_values(lr=tuple(REACHED)), tmp_path / "run"
    with pytest.raises(Killed):
        train_run(replace(recipe, fit=killed), config, output, None, False)
    metrics = train_run(recipe, config, output, None, False)
    assert [rate for _, rate in fitted] == list(REACHED)
    assert metrics["validation_by_lr"] == {str(rate): reached for rate, reached in REACHED.items()}
    assert metrics["lr"] == 0.2
    assert [path.parent for path in output.rglob("rate")] == [output / MODEL]
    assert (output / MODEL / "rate").read_text() == "0.2"
    for name in ("predictions_test.json", "predictions_validation.json", CURVES):
        assert (output / name).read_bytes() == (output / "lr-0.2" / name).read_bytes()
    (output / "metrics.json").unlink()  # a kill after the choice
    assert but_time(train_run(recipe, config, output, None, False)) == but_time(metrics)
    assert len(fitted) == 4


def test_all_folds_are_averaged_as_the_harnesses_do_it(config: TextTrainConfig, recipe: Recipe, tmp_path: Path) -> None:
    output, whole = tmp_path / "run", config.with_values(fold="all")
    metrics = train_run(replace(recipe, means=("nll",), reported=("lr",)), whole, output, None, False)
    for split in ("validation", "test"):
        each = [json.loads((output / f"fold-{k}" / "metrics.json").read_text())[split] for k in range(5)]
        for name in ("accuracy", "ny_accuracy", "crowd_accuracy"):
            values = [one["metrics"][name]["value"] for one in each]
            assert value(metrics, split, name) == pytest.approx(fmean(values))
            assert [value(metrics, split, f"{name}_fold{k}") for k in range(5)] == values
        together = {key: letter for k in range(5) for key, letter in predicted(output / f"fold-{k}", split).items()}
        assert predicted(output, split) == together
        assert len(together) == 10
        assert metrics[split]["perplexity"] == {name: {"value": 4.0} for name in UNITS}
        assert metrics[split]["nll"] == 2.0
    scored = evaluate("ranking", predicted(output, "test"), dataset=config.dataset, fold="all").as_dict()
    assert scored["metrics"] == metrics["test"]["metrics"]
    assert metrics["folds"] == {fold: {"lr": 0.1} for fold in "01234"}
    alone = train_run(recipe, config.with_values(fold="3"), output / "fold-3", None, False)
    assert alone == json.loads((output / "fold-3" / "metrics.json").read_text())  # a fold is a run of its own


def test_a_fold_without_a_perplexity_leaves_none() -> None:
    folds = [{name: {"value": number} for name in UNITS} for number in (2.0, None)]
    assert mean_perplexities(folds) == {name: {"value": None} for name in UNITS}


@pytest.mark.parametrize(("one_rate", "trained"), [(False, (0.1, 0.2) * 5), (True, (0.1, 0.2, *[0.2] * 4))])
def test_each_fold_chooses_its_rate_or_the_first_chooses_for_all(
    one_rate: bool,
    trained: tuple[float, ...],
    config: TextTrainConfig,
    recipe: Recipe,
    fitted: list[tuple[str, float]],
    tmp_path: Path,
) -> None:
    settings = config.with_values(fold="all", lr=(0.1, 0.2))
    metrics = train_run(replace(recipe, one_rate=one_rate, reported=("lr",)), settings, tmp_path, None, False)
    assert tuple(rate for _, rate in fitted) == trained
    assert {fold["lr"] for fold in metrics["folds"].values()} == {0.2}


def loss(reached: float) -> dict[str, Any]:
    return {"validation": {"loss": reached}}


def accuracy(reached: float) -> dict[str, Any]:
    return {"validation": {"metrics": {"accuracy": {"value": reached}}}}


def best(reached: float) -> dict[str, Any]:
    return {"best": reached}


@pytest.mark.parametrize(
    ("system", "worse", "better"),
    [
        ("clip", accuracy(0.2), accuracy(0.3)),
        ("ofa", loss(0.3), loss(0.2)),
        ("text", best(0.3), best(0.2)),
        ("image_text", best(0.3), best(0.2)),
    ],
)
def test_what_a_system_chooses_its_rate_by(system: str, worse: Metrics, better: Metrics) -> None:
    reached = import_module(f"humor_tasks.lab.training.{system}.finetune")._RECIPE.reached
    assert reached(better) > reached(worse)
