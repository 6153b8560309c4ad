"""What a run shows in Inspect's viewer and on the terminal: the headline first, columns that tell samples apart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.analysis import evals_df
from inspect_ai.log import EvalLog, headline_metric, read_eval_log
from inspect_ai.viewer import TaskSamplesView

from humor_tasks import tasks
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.metric import Metric, rate
from humor_tasks.on_inspect.outcomes import flat
from humor_tasks.on_inspect.viewer import viewer_of
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.testing import ScriptedModel, scripted_judge

METRICS = (
    Metric("accuracy", proportion=True),
    Metric("words", "lower"),
    rate("unparsed", "U."),
    rate("unparsed_twice", "U."),
)


def estimate(value: float) -> Estimate:
    return Estimate(value, value / 4, value - 1, value + 1, 9, 3)


def all_of(name: str) -> list[str]:
    return [name + suffix for suffix in ("", "_stderr", "_ci_low", "_ci_high")]


def test_the_headline_is_first_and_rates_that_are_zero_are_last() -> None:
    values = {"accuracy": 0.5, "accuracy_fold0": 0.0, "unparsed": 0.0, "unparsed_fold0": 0.0, "unparsed_twice": 0.25}
    found = flat({name: estimate(value) for name, value in {**values, "words": 0.0}.items()}, METRICS)
    assert (
        list(found)
        == [
            *("accuracy", "stderr", "ci_low", "ci_high"),
            *all_of("accuracy_fold0"),
            *all_of("unparsed_twice"),  # another metric, not a part of `unparsed`
            *all_of("words"),  # zero, and no rate
            *all_of("unparsed"),
            *all_of("accuracy")[1:],
        ]
    )
    assert [found[name] for name in ("stderr", "ci_low", "ci_high")] == [0.125, -0.5, 1.5]
    assert [found[name] for name in all_of("accuracy")] == [0.5, 0.125, -0.5, 1.5]
    assert found["unparsed_ci_high"] == 1


@pytest.mark.parametrize("value", [0.25, float("nan")])
def test_nothing_is_left_out_of_a_rate_that_is_not_zero(value: float) -> None:
    estimates = {"unparsed": estimate(value), "unparsed_fold0": estimate(0.0)}
    assert list(flat(estimates, METRICS)) == [*all_of("unparsed"), *all_of("unparsed_fold0")]  # no headline, either
    assert flat({}, METRICS) == {}


def sample_log(name: str, folder: Path, **how: Any) -> EvalLog:
    judges = {"grader": scripted_judge("judge", True).model} if BENCHMARKS[name].judging else {}
    by = ScriptedModel("m", "Answer: A <explanation>A pun.</explanation>").model
    (log,) = eval(
        getattr(tasks, name)(dataset="sample", **how) if not judges else f"humor_tasks/{name}",
        task_args={"dataset": "sample", **how} if judges else {},
        model=by,
        model_roles=judges,
        log_dir=str(folder),
    )
    assert log.status == "success", log.error
    return read_eval_log(log.location)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how", "headline", "multiline"),
    [
        ("matching", {"fold": "all"}, "accuracy", False),
        ("humorbench", {"cache": False}, "coverage", True),
        ("humicroedit_rating", {}, "rmse", False),
    ],
)
def test_a_log_tells_the_viewer_its_columns_and_its_headline(
    name: str, how: Mapping[str, Any], headline: str, multiline: bool, tmp_path: Path
) -> None:
    log = sample_log(name, tmp_path, **how)
    first = headline_metric(log)
    assert first is not None
    assert list(first.score.metrics)[:4] == [headline, "stderr", "ci_low", "ci_high"]
    assert first.name == headline
    assert log.eval.viewer is not None
    view = log.eval.viewer.task_samples_view
    assert view is not None
    assert not isinstance(view, list)
    assert [c.id for c in view.columns or () if c.visible] == ["sampleStatus", "sampleId", "target", "answer"]
    assert [c.id for c in view.columns or () if not c.visible] == ["input", "tokens", "duration"]
    assert view.multiline is multiline
    table = evals_df(str(tmp_path))
    assert table["score_headline_value"][0] == first.metric.value
    assert table["score_headline_stderr"][0] == first.score.metrics["stderr"].value


@pytest.mark.parametrize(
    ("targets", "visible", "multiline"),
    [
        (["A", "B", "A"], True, False),
        (["2.2", "0.4"], True, False),
        (["system", "system"], False, False),
        (["The keeper is late.", "Nobody notices the second joke."], True, True),
        (["", ""], False, True),
        ([], False, True),
    ],
)
def test_columns_suit_the_targets(targets: list[str], visible: bool, multiline: bool) -> None:
    view = viewer_of(targets).task_samples_view
    assert isinstance(view, TaskSamplesView)
    assert {c.id: c.visible for c in view.columns or ()}["target"] is visible
    assert view.multiline is multiline
