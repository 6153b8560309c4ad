"""Groups of features, word knowledge and text variants of the Humicroedit systems, by hand on single headlines."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from humor_tasks.errors import BadInput
from humor_tasks.lab.training.humicroedit.data import Rows
from humor_tasks.lab.training.humicroedit.features import fit_groups
from humor_tasks.lab.training.humicroedit.settings import JUDGES, TrainConfig
from humor_tasks.models.humicroedit import Edit, groups
from humor_tasks.models.humicroedit.features import Bayes
from humor_tasks.models.humicroedit.resources import Graph, Together
from humor_tasks.models.humicroedit.texts import prepared

EDIT = Edit("Senate", "votes", "boats", "on NATO budget – live updates")

VARIANTS = [
    ("", EDIT),
    ("lower", Edit("senate", "votes", "boats", "on nato budget – live updates")),
    ("no-extensions", Edit("Senate", "votes", "boats", "on NATO budget")),
    ("no-symbols", Edit("Senate", "votes", "boats", "on NATO budget live updates")),
    ("lower+no-extensions", Edit("senate", "votes", "boats", "on nato budget")),
]


@pytest.mark.parametrize(("text", "wanted"), VARIANTS)
def test_variants_of_the_text(text: str, wanted: Edit) -> None:
    assert prepared(EDIT, text) == wanted
    assert prepared(wanted, text) == wanted  # raters prepare again what was prepared


def test_segmented_words_are_those_that_english_lacks() -> None:
    tag = Edit("Trump", "praises", "#taxthechurches", "! today")
    assert prepared(tag, "segmented") == Edit("Trump", "praises", "tax the churches", "! today")
    assert prepared(Edit("", "a", "!", ""), "no-symbols").edit == "!"  # an edit is never empty


PLAIN: list[tuple[str, list[float]]] = [
    ("position", [1, 6, 1 / 7, 0, 0]),
    ("length", [42, 8, 5, 5, 0]),
    ("entity", [0, 0, 0, 0, 2 / 7, 0]),
    ("phonemes", [1, 2 / 3, 1]),  # FTS and BTS
]


@pytest.mark.parametrize(("name", "wanted"), PLAIN)
def test_features_by_hand(name: str, wanted: list[float]) -> None:
    assert groups.PLAIN[name](EDIT) == pytest.approx(wanted)


def test_features_tell_what_they_are_named_for() -> None:
    good, bad = (groups.sentiment(EDIT._replace(edit=word)) for word in ("wonderful", "horrible"))
    assert good[0] > bad[0]
    assert groups.lexical(EDIT._replace(edit="the"))[0] > groups.lexical(EDIT._replace(edit="zebra"))[0]
    likely, odd = (groups.perplexity(Edit("the united", "x", word, ""))[0] for word in ("states", "bananas"))
    assert likely > odd
    assert groups.string(EDIT._replace(edit="votes"))[:4] == [1, 1, 1, 1]


def test_the_history_of_a_row_is_without_its_headline() -> None:
    edits = [EDIT, EDIT._replace(before="House"), EDIT._replace(edit="sleeps")]
    history, own = groups.History.fitted(edits, [1.0, 2.0, 3.0], ["a", "b", "a"])
    assert own[0].tolist() == pytest.approx([2, 2, 2, 1, 2, 2, 2, 1])  # of "boats" and of "votes": headline b
    assert own[2].tolist() == pytest.approx([1, 2, 3, 0, 2, 2, 2, 1])  # "sleeps" is seen nowhere else
    assert history.columns([EDIT])[0] == pytest.approx([1, 5 / 3, 2, 2, 1, 2, 3, 3])
    assert history.columns([Edit("", "x", "y", "")])[0] == [1, 2, 3, 0] * 2


def test_a_graph_is_wordnets_or_a_file_of_relations(tmp_path: Path) -> None:
    wordnet = tmp_path / "wordnet"
    wordnet.mkdir()
    (wordnet / "data.noun").write_text(
        "  1 the licence\n"
        "00000001 03 n 02 boat 0 small_ship 0 001 @ 00000002 n 0000 | a vessel\n"
        "00000002 03 n 01 vehicle 0 001 ~ 00000001 n 0000 | carries\n"
    )
    graph = Graph.read(wordnet)
    assert graph.related("Boats") == {"small ship", "vehicle"}
    file = tmp_path / "relations.tsv"
    file.write_text(
        "boat\tIsA\tvehicle\n"
        "/a/x\t/r/IsA\t/c/en/small_ship/n\t/c/en/boat\t{}\n"
        "/a/y\t/r/IsA\t/c/de/boot\t/c/en/boat\t{}\n"
    )
    assert Graph.read(file).related("boat") == {"small ship", "vehicle"}
    graph.save(tmp_path / "saved")
    assert Graph.saved(tmp_path / "saved").related("vehicle") == {"boat", "small ship"}
    features = groups.knowledge(graph, Edit("a vehicle", "senate", "boat", ""))
    assert features[4:6] == [1.0, 0.0]  # boat is linked to the context, senate is not
    file.write_text("/a/y\t/r/IsA\t/c/de/boot\t/c/en/boat\t{}\n")
    words, binary, wordnet = (tmp_path / name for name in ("words.txt", "binary", "damaged"))
    words.write_text("no relation\n")
    binary.write_bytes(b"\xff\tx\ty\n")
    wordnet.mkdir()
    (wordnet / "data.noun").write_text("  licence\n00001 03 n zz\n")
    for path, problem in (
        (file, "no relation of two"),
        (words, "words.txt, line 1: has 1 columns"),
        (binary, "cannot be read as UTF-8"),
        (wordnet, "data.noun, line 2: is no synset"),
        (tmp_path / "none", "no such file or folder"),
    ):
        with pytest.raises(BadInput, match=problem):
            Graph.read(path)


def test_words_that_never_stand_together_are_unexpected(tmp_path: Path) -> None:
    together = Together.counted(["senate votes today", "senate votes", "boats sail"])
    seen, unseen = (groups.cooccurrence(together, Edit("senate", "x", word, ""))[0] for word in ("votes", "sail"))
    assert (seen, unseen) == pytest.approx((-math.log(3 / 7), -math.log(1 / 7)))  # 5 words, add-one smoothing
    with pytest.raises(BadInput, match="there is no word in it"):
        Together.counted(["!"])


def test_a_group_says_which_data_it_needs() -> None:
    rows = Rows(("1",), (EDIT,), (1.0,), ("a",), ((1,),))
    data: Any = type("Data", (), {"all": lambda _: rows})()
    for name in ("lexicon", "knowledge"):
        with pytest.raises(BadInput, match=f"--features {name} needs data: give --{name} PATH"):
            fit_groups(TrainConfig("features", "sample", features=name), data)
    with pytest.raises(BadInput, match="no such file"):
        fit_groups(TrainConfig("features", "sample", features="cooccurrence", corpus="nowhere.txt"), data)
    with pytest.raises(BadInput, match="Did you mean 'history'"):
        TrainConfig("features", "sample", features="histori")
    with pytest.raises(BadInput, match="Did you mean 'lower'"):
        TrainConfig("ridge", "sample", text="lowr")
    for names in ({"features": "+"}, {"text": "lower+"}):
        with pytest.raises(BadInput, match="there is no ''"):
            TrainConfig("features", "sample", **names)


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from humor_tasks.models.humicroedit.features import xgboost

    for library in ("jellyfish", "xgboost"):
        monkeypatch.setitem(sys.modules, library, None)
    for call in (lambda: groups.phonemes(EDIT), xgboost):
        with pytest.raises(BadInput, match=r"pip install 'humor-tasks\[semeval\]'"):
            call()


def test_judges_are_by_rank_whatever_their_number() -> None:
    judged = ((3, 2, 1, 1, 0), (3, 3, 2, 2, 2, 1, 1, 0, 0), ())
    rows = Rows(("1", "2", "3"), (EDIT,) * 3, (1.4, 1.5, 0.6), ("a",) * 3, judged)
    assert [rows.targets(judge, JUDGES) for judge in (0, 1, 3, 5)] == [[1.4, 1.5, 0.6], [3, 3, 1], [1, 2, 1], [0, 0, 1]]


def test_naive_bayes_is_scikit_learns() -> None:
    from sklearn.naive_bayes import GaussianNB

    drawn = np.random.default_rng(0)
    grades, rows = drawn.integers(0, 4, 80), drawn.normal(size=(80, 3))
    model = GaussianNB().fit(rows, grades)
    ours = Bayes({"grade": model.classes_, "prior": model.class_prior_, "mean": model.theta_, "variance": model.var_})
    assert ours(rows) == pytest.approx(model.predict_proba(rows) @ model.classes_)
