"""Groups of captions: models that score single captions, by the mean or maximum of a group, in both harnesses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai import eval
from inspect_ai.model import get_model
from standins import duels

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import LETTERS, Chooser, Question, best, grouped_scores, log_softmax
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.text.choosing import LanguageChooser
from humor_tasks.models.text.language import LanguageModel, Likelihood
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM
from humor_tasks.on_lm_eval.providers.embedding import EmbeddingLM
from humor_tasks.rows.records import Grouped, Record, plain_text
from humor_tasks.testing import run_lm_eval

DIMENSIONS = 6


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder of the invented benchmark's lm-eval tasks; sentence encoders are `Hashed`."""
    monkeypatch.setattr("humor_tasks.models.choosers.embedding.open_model", lambda name, device: Hashed())
    yield duels.install(monkeypatch, tmp_path)
    find_benchmark.cache_clear()


class Hashed:
    """A sentence encoder of unit vectors from a hash of the text."""

    def encode(self, texts: Sequence[str], **how: Any) -> Any:
        vectors = np.array([[b - 127.5 for b in hashlib.sha256(t.encode()).digest()[:DIMENSIONS]] for t in texts])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# ---- naively: each caption alone, in plain Python -------------------------------------------------


def combined(groups: Sequence[Sequence[float]], how: str) -> list[float]:
    found = []
    for group in groups:
        total = 0.0
        for value in group:
            total += value
        found.append(total / len(group) if how == "mean" else sorted(group)[-1])
    return found


def groups_of(record: Record) -> Sequence[Sequence[str]]:
    assert record.grouped is not None
    return record.grouped.captions


def alone(chooser: Chooser, record: Record) -> list[list[float]]:
    """Each caption's score as the only choice of a question."""
    return [
        [
            chooser.score([Question(record.id, record.context, (caption,), cluster=record.cluster)])[0][0]
            for caption in group
        ]
        for group in groups_of(record)
    ]


def in_order(score: Callable[[Record, int], float]) -> Callable[[Record], list[list[float]]]:
    """Scores that depend on a caption's place among all of the question's."""

    def scores(record: Record) -> list[list[float]]:
        places = iter(range(100))
        return [[score(record, next(places)) for _ in group] for group in groups_of(record)]

    return scores


def drawn(record: Record, place: int) -> float:
    """The baseline `random`, by its definition."""
    return int.from_bytes(hashlib.sha256(f"0:{record.id}:{place}".encode()).digest()[:8], "big") / 2**64


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "how"), [("random", "mean"), ("overlap", "max"), ("embedding", "mean")])
def test_both_harnesses_score_groups_by_their_single_captions(kind: str, how: str, known: Path) -> None:
    """A score by place, a score by text, and one of vectors."""
    models: dict[str, tuple[str, ChooserLM, Callable[[Record], list[list[float]]]]] = {
        "random": ("baseline/random", BaselineLM(strategy="random"), in_order(drawn)),
        "overlap": ("baseline/overlap", BaselineLM(strategy="overlap"), lambda r: alone(Baseline("overlap"), r)),
        "embedding": ("embedding/hashed", EmbeddingLM("hashed"), lambda r: alone(Embedding("hashed"), r)),
    }
    name, lm, naive = models[kind]
    given = {"combine": how, "setting": "words"}
    run: Run = duels.DUELS.open(**given)
    wanted = {record.id: combined(naive(record), how) for record in run.records}
    assert any(scores[0] != scores[1] for scores in wanted.values())

    (log,) = eval(build(duels.NAME, given), model=get_model(name, memoize=False), display="log")
    assert log.status == "success", log.error
    for sample in log.samples or ():
        scores = wanted[str(sample.id)]
        assert list((sample.output.metadata or {})["scores"].values()) == pytest.approx(scores, abs=1e-4)
        assert sample.output.completion == f"Answer: {LETTERS[best(scores)]}"

    found = run_lm_eval(lm, duels.NAME, f"{duels.NAME}_gen", folders=[known], metadata=given)
    for sample in found["samples"][duels.NAME]:
        told = [reply[0] for reply in sample["filtered_resps"]]
        assert told == pytest.approx(log_softmax(wanted[sample["doc"]["id"]]), abs=1e-4)
    for sample in found["samples"][f"{duels.NAME}_gen"]:
        assert sample["filtered_resps"] == [f"Answer: {LETTERS[best(wanted[sample['doc']['id']])]}"]


captions = st.text(max_size=8)


@given(st.lists(st.lists(captions, min_size=2, max_size=2), min_size=1, max_size=5))
def test_of_groups_of_one_size_the_mean_picks_the_one_with_more_characters(pairs: list[list[str]]) -> None:
    """The published baseline "more characters" counts those of all captions of a group."""
    groups = Grouped(tuple(zip(*pairs, strict=True)), "mean")
    totals = [sum(len(caption) for caption in side) for side in zip(*pairs, strict=True)]
    (scores,) = grouped_scores(Baseline("longest"), [Question("q", "", ("A", "B"), grouped=groups)])
    assert best(scores) == best(totals)
    assert (scores[0] == scores[1]) == (totals[0] == totals[1])


def test_questions_with_and_without_groups_are_scored_in_one_call() -> None:
    class Counting(Baseline):
        calls: list[Sequence[Question]]

        def score(self, questions: Sequence[Question]) -> list[list[float]]:
            self.calls.append(questions)
            return super().score(questions)

    chooser = Counting("longest")
    chooser.calls = []
    two = ("one", "two, three"), ("four",)
    asked = [
        Question("a", "", ("one\ntwo, three", "four")),
        Question("b", "", ("one\ntwo, three", "four"), grouped=Grouped(two, "mean")),
        Question("c", "", ("one\ntwo, three", "four", ""), grouped=Grouped((*two, ("",)), "max")),
    ]
    assert grouped_scores(chooser, asked) == [[14.0, 4.0], [6.5, 4.0], [10.0, 4.0, 0.0]]
    ((plain, *flat),) = chooser.calls
    assert plain == asked[0]
    assert [q.choices for q in flat] == [("one", "two, three", "four"), ("one", "two, three", "four", "")]


def test_another_way_to_combine_is_named() -> None:
    with pytest.raises(BadInput, match="combine: there is no 'median'; choose from mean, max"):
        told = Grouped.of({"captions": [["a"], ["b"]], "combine": "median"})
        grouped_scores(Baseline("longest"), [Question("q", "", ("a", "b"), grouped=told)])


class Reading(LanguageModel):
    """A language model that notes what it is asked, and prefers the last label."""

    name = "reading"

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def loglikelihoods(self, prompts: Sequence[str], texts: Sequence[Sequence[str]]) -> list[list[Likelihood]]:
        self.asked += [(prompt, list(own)) for prompt, own in zip(prompts, texts, strict=True)]
        return [[Likelihood(float(-len(own) + i), 1, False) for i in range(len(own))] for own in texts]


def test_language_models_read_the_whole_prompt_and_answer_with_a_letter(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = Reading()
    chooser = LanguageChooser(reading)  # type: ignore[arg-type]
    monkeypatch.setattr("humor_tasks.on_inspect.providers.text.open_text", lambda *given: chooser)
    run = duels.DUELS.open()
    prompts = [plain_text([turn.text for turn in run.prompt(r).turns], "Answer:") for r in run.records]
    log = eval(build(duels.NAME, {}), model=get_model("text/reading", memoize=False), display="log")[0]
    assert log.status == "success", log.error
    assert sorted(reading.asked) == sorted((prompt, [" A", " B"]) for prompt in prompts)
    assert {sample.output.completion for sample in log.samples or ()} == {"Answer: B"}

    reading.asked.clear()
    found = run_lm_eval(ChooserLM(chooser, {}, ()), duels.NAME, folders=[known])
    assert sorted(reading.asked) == sorted((prompt, [" A", " B"]) for prompt in prompts)
    assert {tuple(x[0] for x in s["filtered_resps"]) for s in found["samples"][duels.NAME]} == {
        tuple(log_softmax([-2.0, -1.0]))
    }
