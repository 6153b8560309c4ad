"""The real validation rows: loaded whole, and a part of them scored alike by both harnesses and by neither."""

from __future__ import annotations

from typing import Any

import pytest
from inspect_ai import eval

from humor_tasks import evaluate, load
from humor_tasks.benchmarks.caption_contest.corpus import shots
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import LETTERS, Chooser, Question, best
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM
from humor_tasks.testing import run_lm_eval

SIZES = [("matching", 0, 531)] + [("ranking", k, n) for k, n in enumerate((507, 534, 531, 531))]
ALIKE = {"accuracy": "acc", "ny_accuracy": "ny_acc", "crowd_accuracy": "crowd_acc"}


@pytest.mark.parametrize(("name", "fold", "size"), [*SIZES, ("explanation", 0, 130)])
def test_every_row_becomes_a_record(real_corpus: str, name: str, fold: int, size: int) -> None:
    run = load(name, dataset=real_corpus, split="validation", fold=fold)
    assert len(run.records) == size
    assert all(run.prompt(record).turns[-1].text for record in run.records)


def test_pixels(real_corpus: str) -> None:
    run = load("matching", dataset=real_corpus, split="validation", setting="pixels")
    assert len(run.records) == 198
    assert all(record.picture and record.picture.mime() == "image/jpeg" for record in run.records)


def test_shots_are_drawn_from_the_train_split(real_corpus: str) -> None:
    run = load("ranking", dataset=real_corpus, split="validation", shots=5)
    held_out = {record.cluster for record in run.records}
    for record in run.records[:10]:
        drawn = {shot.cluster for shot in shots(run, record)}
        assert len(drawn) == 5
        assert not drawn & held_out


def agree(chooser: Chooser, inspect_model: str, lm: ChooserLM, name: str, **parameters: Any) -> None:
    """The chooser's metrics are those of both harnesses."""
    parameters |= {"split": "validation"}
    run = load(name, **parameters)
    assert len({record.cluster for record in run.records}) > 3
    scores = chooser.score([Question(r.id, r.context, r.choices) for r in run.records])
    report = evaluate(run, {r.id: LETTERS[best(s)] for r, s in zip(run.records, scores, strict=True)})
    log = eval(build(name, parameters), model=inspect_model, display="log", log_samples=False)[0]
    assert log.results
    inspected, found = log.results.scores[0].metrics, run_lm_eval(lm, f"nyc_{name}", metadata=parameters)["results"]
    assert report.metrics.keys() & ALIKE
    for metric in report.metrics.keys() & ALIKE:
        expected, short = report.metrics[metric], ALIKE[metric]
        assert inspected[metric].value == pytest.approx(expected.value)
        assert inspected[f"{metric}_stderr"].value == pytest.approx(expected.stderr)
        assert found[f"nyc_{name}"][f"{short},none"] == pytest.approx(expected.value)
        assert found[f"nyc_{name}"][f"{short}_stderr,none"] == pytest.approx(expected.stderr)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fold", "strategy"), [("matching", 0, "longest"), ("ranking", 2, "overlap")])
def test_baselines_agree(real_corpus: str, name: str, fold: int, strategy: str) -> None:
    lm = BaselineLM(strategy)
    agree(Baseline(strategy), f"baseline/{strategy}", lm, name, dataset=real_corpus, fold=fold, shard="3/8")
