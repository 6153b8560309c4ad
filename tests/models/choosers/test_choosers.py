"""Choosers: questions out of prompts, shortcut baselines, embeddings."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.baseline import STRATEGIES, Baseline
from humor_tasks.models.choosers.chooser import LETTERS, Question, best, from_text, log_softmax, open_answer
from humor_tasks.models.choosers.shortcuts import content_words

SCENE = "A bear sits in a dentist's chair. The dentist holds a honey jar."
CHOICES = ("Rinse, please.", "Your honey intake shows, Mr. Bear.", "I only came for the magazines in here.")


@pytest.mark.parametrize(("strategy", "letter"), [("first", "A"), ("longest", "C"), ("overlap", "B"), ("random", None)])
def test_strategies(strategy: str, letter: str | None) -> None:
    picked = LETTERS[best(Baseline(strategy).score([Question("q", SCENE, CHOICES)])[0])]
    assert picked in "ABC" if letter is None else picked == letter


def test_random_is_seeded_by_id_and_uniform() -> None:
    questions = [Question(str(i), "", CHOICES) for i in range(3000)]
    picked = [best(s) for s in Baseline("random", 1).score(questions)]
    assert picked == [best(s) for s in Baseline("random", 1).score(questions)]
    assert picked != [best(s) for s in Baseline("random", 2).score(questions)]
    for i in range(3):
        assert abs(picked.count(i) / 3000 - 1 / 3) < 0.04


def test_unknown_strategy_names_the_nearest() -> None:
    with pytest.raises(BadInput, match="Did you mean 'longest'"):
        Baseline("longes")


def test_no_scene_no_overlap() -> None:
    assert Baseline("overlap").score([Question("q", "", CHOICES)]) == [[0.0, 0.0, 0.0]]


def test_content_words_fold_apostrophes_and_case() -> None:
    assert content_words("The Bear’s honey, and THE bear's jar") == {"bear's", "honey", "jar"}


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("Scene\n\nCaptions:\nA) one\nB) two", ("one", "two")),
        ("(A) one\n(B) two\n(C) three\nmore text", ("one", "two", "three")),
        ("A. one\nB. two", ("one", "two")),
        ("shot\nA) old\nB) older\nAnswer: A\n\nA) new\nB) newer\n\nAnswer:", ("new", "newer")),
        ("A) lonely", ()),
        ("A man) walks\nB) side", ()),
        ("no letters", ()),
    ],
)
def test_lettered_lines(text: str, choices: tuple[str, ...]) -> None:
    assert from_text("id", text).choices == choices


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8))
def test_log_softmax_is_a_distribution(scores: list[float]) -> None:
    logs = log_softmax(scores)
    assert math.isclose(sum(map(math.exp, logs)), 1, rel_tol=1e-9)
    assert max(logs) == logs[best(scores)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_open_answer_is_a_sentence_of_the_scene(strategy: str) -> None:
    question = Question("q", SCENE, ())
    assert open_answer(Baseline(strategy), question) in SCENE
    assert open_answer(Baseline(strategy), Question("q", " ", ())) == ""


@pytest.mark.slow
def test_embedding_picks_the_nearest_and_embeds_each_text_once(minilm: str) -> None:
    from humor_tasks.models.choosers.embedding import Embedding

    model = Embedding(minilm, device="cpu")
    scores = model.score([Question("q", SCENE, CHOICES)] * 3)
    assert best(scores[0]) == 1
    assert scores[0] == scores[1] == scores[2]
    assert len(model._vectors) == 1 + len(CHOICES)
    assert model.score([Question("q", " ", CHOICES)]) == [[0.0] * 3]
    assert model.score([]) == []


@pytest.mark.slow
def test_embedding_folder_that_is_none(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from humor_tasks.models.choosers.embedding import Embedding

    with pytest.raises(BadInput, match="no such folder"):
        Embedding(str(tmp_path / "none"))
