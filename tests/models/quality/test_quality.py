"""The quality model: who judges whom, what a folder must hold, and both harnesses' command lines."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai.log import read_eval_log
from standins import commands

from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.newyorker.stages import Validation, training
from humor_tasks.models.choosers.chooser import YES_NO, Question
from humor_tasks.models.quality import Quality, fit, load, sums
from humor_tasks.models.quality.features import ADDED, features
from humor_tasks.models.quality.model import Encoder, QualityChooser
from humor_tasks.models.quality.training import Sums

DIMENSIONS = 6
GOOD, BAD = "under protest, again", "LOL so funny!!! dog dog dog"


class Hashed:
    """Unit vectors from a hash of the text and of the encoder's name."""

    def __init__(self, name: str, device: str | None = None) -> None:
        if "missing" in name:
            raise BadInput(f"embedding/{name}: no such folder.")
        self.name = name

    def embed(self, texts: Sequence[str]) -> Any:
        vectors = np.array([self._vector(text) for text in texts]).reshape(-1, DIMENSIONS)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _vector(self, text: str) -> list[float]:
        seed = hashlib.sha256(f"{Path(self.name).name} {text}".encode()).digest()
        return [byte - 127.5 for byte in seed[:DIMENSIONS]]


HASHED = Hashed("a")


@pytest.fixture(autouse=True)
def hashed(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "minilm" not in request.fixturenames:
        monkeypatch.setattr("humor_tasks.models.quality.model.Embedding", Hashed)


def contest(number: int, encoder: Any = HASHED) -> tuple[int, Sums]:
    """A contest in which the good captions end alike, and so do the bad ones."""
    draw = random.Random(number)
    captions = [f"{draw.choice('abcdefgh')} {draw.randrange(99)} {end}" for end in (GOOD, BAD) for _ in range(30)]
    return number, sums(encoder.embed(captions), captions, [True] * 30 + [False] * 30)


def trained(*numbers: int, same: Sequence[tuple[int, int]] = (), encoder: Any = HASHED) -> Quality:
    found = fit([contest(n, encoder) for n in numbers], Encoder.of(encoder, encoder.name), same)
    return Quality(found.encoder, found.weights, found.centre, found.contests, encoder)


# ---- features -----------------------------------------------------------------------------------


def test_features_are_bounded_and_of_any_text() -> None:
    texts = ["", "!", "x" * 100_000, "A " * 50_000, "Ünïcode “quoted” \ud800?", "\x00\x07"]
    found = features(np.zeros((len(texts), 2)), texts)
    assert found.shape == (len(texts), 2 + ADDED)
    assert np.abs(found).max() < 6
    assert np.linalg.norm(found[1:4, -512:], axis=1) == pytest.approx([1, 1, 1])
    assert not found[0, -512:].any()


def test_features_know_words_and_not_their_case() -> None:
    one, same, other = features(np.zeros((3, 2)), ["A dog!", "a DOG!", "A cat!"])[:, -512:]
    assert (one == same).all()
    assert (one != other).any()


# ---- who judges whom ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contests", "same", "even", "odd"),
    [
        ((1, 2, 3, 4), (), (2, 4), (1, 3)),
        ((1, 2, 3, 4), [(3, 4)], (2,), (1, 3, 4)),
        ((1, 2, 643, 644, 645), [(643, 644), (643, 645), (644, 645)], (2,), (1, 643, 644, 645)),
        ((2, 3, 4, 5), [(3, 4), (2, 4)], (2, 3, 4), (5,)),
    ],
)
def test_contests_and_their_twins_are_on_one_side(
    contests: tuple[int, ...], same: Any, even: tuple[int, ...], odd: tuple[int, ...]
) -> None:
    found = trained(*contests, same=same)
    assert found.contests == (even, odd)
    assert [found.judge(n) for n in even] == [1] * len(even)
    assert [found.judge(n) for n in odd] == [0] * len(odd)
    assert found.judge(99) is None
    assert found.judge(None) is None


def test_a_contest_is_scored_by_the_model_that_did_not_see_it() -> None:
    found = trained(1, 2, 3, 4)
    texts = [f"x {GOOD}", f"x {BAD}"] * 2
    of_even, of_odd = (found.score(texts, [n] * 4) for n in (1, 2))
    x = features(Hashed("a").embed(texts), texts)
    assert of_even == pytest.approx((x - found.centre[0]) @ found.weights[0])
    assert of_odd == pytest.approx((x - found.centre[1]) @ found.weights[1])
    assert found.score(texts, [1, 2, 99, None]) == pytest.approx(
        [of_even[0], of_odd[1], (of_even + of_odd)[2] / 2, (of_even + of_odd)[3] / 2]
    )
    assert of_even[0] > 0 > of_even[1]
    with pytest.raises(ValueError, match="shorter"):
        found.score(texts, [1])


def test_a_parity_without_contests() -> None:
    with pytest.raises(BadInput, match="no rated contest has an odd number"):
        trained(2, 4)


# ---- the folder ---------------------------------------------------------------------------------


def test_a_folder_holds_the_same_bytes_in_whatever_order_contests_were_summed(tmp_path: Path) -> None:
    for name, order in (("a", (1, 2, 3, 4)), ("b", (4, 2, 3, 1))):
        done = dict(contest(n) for n in order)
        fit(sorted(done.items()), Encoder.of(Hashed("a"), "a")).save(tmp_path / name)  # type: ignore[arg-type]
    for file in ("quality.json", "weights.npy"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    found, texts = load(tmp_path / "a"), [GOOD, BAD]
    assert found.contests == ((2, 4), (1, 3))
    assert (found.score(texts, [1, 2]) == trained(1, 2, 3, 4).score(texts, [1, 2])).all()
    moved = load(tmp_path / "a", encoder="elsewhere/a")
    assert (moved.score(texts, [1, 2]) == found.score(texts, [1, 2])).all()


def _told(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        about = json.loads((folder / "quality.json").read_text())
        change(about)
        (folder / "quality.json").write_text(json.dumps(about))

    return damage


def _saved(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    return lambda folder: np.save(folder / "weights.npy", change(np.load(folder / "weights.npy")))


def _with_nan(weights: Any) -> Any:
    weights[0, 1, 3] = np.nan
    return weights


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda folder: (folder / "quality.json").unlink(), "quality.json"),
        (lambda folder: (folder / "weights.npy").unlink(), "weights.npy: cannot be read"),
        (lambda folder: (folder / "weights.npy").write_bytes(b""), "weights.npy: cannot be read"),
        (_saved(lambda w: np.array([{}], dtype=object)), "weights.npy: cannot be read"),
        (_saved(lambda w: w[:, :, :-1]), "is not for the encoder and features"),
        (_saved(lambda w: w.astype(str)), "is not for the encoder and features"),
        (_saved(_with_nan), "has weights that are not finite"),
        (_told(lambda about: about.update(format=2)), "another version of humor-tasks"),
        (_told(lambda about: about.update(surface=["length"])), "another version of humor-tasks"),
        (_told(lambda about: about.pop("contests")), "is no whole quality model .*contests"),
        (_told(lambda about: about.update(contests=[1])), "is no whole quality model"),
        (_told(lambda about: about.update(probes=[[float("nan")] * DIMENSIONS] * 3)), "probes are not 3 finite"),
        (_told(lambda about: about.update(probes=about["probes"][:1])), "probes are not 3 finite"),
        (_told(lambda about: about.update(encoder="b")), "b is not the encoder that it was trained with"),
        (_told(lambda about: about.update(encoder="missing")), "no such folder.* as encoder="),
    ],
)
def test_a_damaged_folder(damage: Callable[[Path], None], error: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    trained(1, 2).save(folder)
    load(folder)
    damage(folder)
    with pytest.raises(BadInput, match=error):
        load(folder)


# ---- precision ----------------------------------------------------------------------------------


def test_validation_of_both_ends() -> None:
    found = Validation()
    found.add([2, 1, -1, -2], [True, False, True, False])
    found.add([-3, -2, -1, 1, 2, 3], [True, True, True, False, False, False])
    told = found.estimates()
    assert {name: each.value for name, each in told.items()} == {
        "precision at 1 of the best": 0.5,
        "precision at 1 of the worst": 0.5,
        "precision at 5 of the best": 0.4,
        "precision at 5 of the worst": 0.4,
        "accuracy": 0.25,
        "accuracy of halves": 0.25,
    }
    assert told["accuracy"].clusters == 2


def test_intervals_of_a_share_are_shares() -> None:
    """A t interval of these contests would be [0.354, 1.046]."""
    found = Validation()
    for right in (1, 0, 1):
        found.add([1.0, -1.0], [bool(right), not right])
    (low, high) = (found.estimates()["accuracy"].low, found.estimates()["accuracy"].high)
    assert 0 <= low < 2 / 3 < high <= 1


def test_captions_of_both_ends_are_learnt_from() -> None:
    roles = [["crowd_top", "train_top"], ["middle"], ["finalist"], ["train_bottom"]]
    assert training([{"roles": each} for each in roles]) == ([0, 3], [True, False])


# ---- as a model of both harnesses ---------------------------------------------------------------


def test_it_ranks_captions_by_the_contest_of_the_question(tmp_path: Path) -> None:
    trained(1, 2, 3, 4).save(tmp_path / "q")
    chooser = QualityChooser(str(tmp_path / "q"))
    asked = [Question("q", "", (f"x {BAD}", f"x {GOOD}"), cluster=cluster) for cluster in ("1", "2", "cartoon-1", "")]
    found = chooser.score(asked)
    assert [each[1] > each[0] for each in found] == [True] * 4
    assert found[0] != found[1]
    assert found[2] == found[3] == pytest.approx([(a + b) / 2 for a, b in zip(*found[:2], strict=True)])
    assert chooser.score([]) == []
    for choices in ((), ("one",), YES_NO):
        with pytest.raises(BadInput, match="has no choice of them"):
            chooser.check(Question("q", "", choices))


@pytest.mark.slow
def test_both_command_lines(minilm: str, tmp_path: Path) -> None:
    from humor_tasks.models.choosers.embedding import Embedding

    encoder = Embedding(minilm, "cpu")
    fit([contest(n, encoder) for n in (1, 2)], Encoder.of(encoder, "gone")).save(tmp_path / "q")
    arguments = ["humor_tasks/ranking", "--model", f"quality/{tmp_path / 'q'}", "-T", "dataset=sample"]
    commands.inspect("eval", *arguments, "-M", f"encoder={minilm}", "--log-dir", tmp_path / "logs", cwd=tmp_path)
    log = read_eval_log(next((tmp_path / "logs").iterdir()))
    assert log.status == "success", log.error
    assert (log.eval.model, log.eval.model_args) == (f"quality/{tmp_path / 'q'}", {"encoder": minilm})
    said = f"pretrained={tmp_path / 'q'},encoder={minilm}"
    command = ["--tasks", "nyc_ranking", "--model", "humor-quality", "--model_args", said]
    commands.lm_eval(*command, "--metadata", "dataset=sample", "--output_path", tmp_path, cwd=tmp_path)
    saved = json.loads(next(tmp_path.rglob("results_*.json")).read_text())
    assert log.results
    accuracy = log.results.scores[0].metrics["accuracy"].value
    assert saved["results"]["nyc_ranking"]["acc,none"] == pytest.approx(accuracy)
    assert str(tmp_path / "q") in str(saved["config"]["model_args"])
