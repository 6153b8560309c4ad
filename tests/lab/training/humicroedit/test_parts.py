"""`humor-tasks train humicroedit` by its parts: what a network is shown, rows, batches, losses, settings."""

from __future__ import annotations

import math
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from humor_tasks.errors import BadInput
from humor_tasks.lab.training.humicroedit.data import read_data
from humor_tasks.lab.training.humicroedit.ensemble import grid_members
from humor_tasks.lab.training.humicroedit.features import ridge_layers
from humor_tasks.lab.training.humicroedit.finetune import FrozenStates, plan, ranking_loss
from humor_tasks.lab.training.humicroedit.settings import TrainConfig
from humor_tasks.models.humicroedit import Edit, Form, as_edit, written
from humor_tasks.models.humicroedit import network as net
from humor_tasks.models.humicroedit.network import tensors, tokenize, with_marks
from humor_tasks.models.humicroedit.resources import open_encoder

EDIT = Edit("Senate", "votes", "waltzes", "on budget")
TEXTS = [
    (Form(), ("Senate waltzes on budget", None)),
    (Form(original="word"), ("Senate waltzes on budget", "votes")),
    (Form(original="word", marked=True), ("Senate [E] waltzes [/E] on budget", "[E] votes [/E]")),
    (Form("masked"), ("Senate [MASK] on budget", "waltzes")),
    (Form("masked", "word"), ("Senate [MASK] on budget", "waltzes votes")),
    (Form("masked", "word", True), ("Senate [MASK] on budget", "[E] waltzes [/E] [E] votes [/E]")),
    (Form("none"), ("waltzes", None)),
    (Form("none", "word"), ("waltzes", "votes")),
    (Form("full", "headline", True), ("Senate [E] waltzes [/E] on budget", "Senate [E] votes [/E] on budget")),
]


@pytest.mark.parametrize(("form", "texts"), TEXTS)
def test_switches_change_what_is_shown(form: Form, texts: tuple[str, str | None]) -> None:
    shown = written(EDIT, form)
    assert (shown.first, shown.second) == texts
    for at, word in ((shown.edit, "waltzes"), (shown.word, "votes")):
        if at:
            assert (texts[at[0]] or "")[at[1] : at[2]].strip("[]E/ ") == word
    assert (shown.word is None) == (form.original == "no")


def test_the_words_are_found_in_the_tokens(encoder: str) -> None:
    tokenizer, model = open_encoder(encoder)
    with_marks(tokenizer, model)
    edit = Edit("the", "senate", "llama disco", "passes")
    for form, tokens, places in (
        (Form(), "[CLS] the llama disco passes [SEP]", "001100"),
        (Form("full", "word"), "[CLS] the llama disco passes [SEP] senate [SEP]", "00110020"),
        (Form("masked", "word"), "[CLS] the [MASK] passes [SEP] llama disco senate [SEP]", "000001120"),
        (
            Form("full", "word", True),
            "[CLS] the [E] llama disco [/E] passes [SEP] [E] senate [/E] [SEP]",
            "001111002220",
        ),
    ):
        (row,) = tokenize(tokenizer, [edit], form, 64)
        assert tokenizer.convert_ids_to_tokens(row.ids) == tokens.split()
        assert "".join(map(str, row.places)) == places
    (short,) = tokenize(tokenizer, [edit], Form(), 4)
    assert len(short.ids) == 4
    ids, _, _, mask = tensors([row, short], padding=0)
    assert ids.shape == (2, len(row.ids))
    assert mask.sum(1).tolist() == [len(row.ids), 4]


def test_a_headline_is_four_texts_or_has_four_fields() -> None:
    assert as_edit(("  a b", "c", " d  e", "")) == Edit("a b", "c", "d e", "")
    assert as_edit(EDIT) == EDIT
    for bad in ("text", ("a", "b", "c"), ("a", "b", "c", None), object()):
        with pytest.raises(BadInput, match="is not an edited headline"):
            as_edit(bad)


def test_kept_states_change_no_prediction(rows: str, encoder: str) -> None:
    tokenizer, model = open_encoder(encoder)
    network = net.Network(model, net.Shape(Form()))
    tokens = net.tokenize(tokenizer, read_data(rows).dev.edits, Form(), 64)
    whole = net.predict(network, tokens, 0)
    lower = FrozenStates(model, 1, 0, "cpu")
    lower.compute(tokens)
    assert net.predict(network, tokens, 0, before=lower.select) == pytest.approx(whole, abs=2e-3)
    with lower.restored():
        assert net.predict(network, tokens, 0) == whole


def test_batches_hold_every_row_once_and_keep_headlines_together() -> None:
    lengths = [i % 17 for i in range(1000)]
    groups = [str(i // 2) for i in range(1000)]
    for by in (None, groups):
        batches = plan(lengths, by, 8, "0-0")
        assert sorted(i for batch in batches for i in batch) == list(range(1000))
        assert plan(lengths, by, 8, "0-0") == batches != plan(lengths, by, 8, "0-1")
    together = [i for batch in batches for i in batch[:-1:2] if batch[batch.index(i) + 1] == i + 1]
    assert len(together) == 500


def test_ranking_loss_by_hand() -> None:
    rated, means = torch.tensor([1.0, 2.0, 5.0]), torch.tensor([2.0, 1.0, 0.0])
    assert float(ranking_loss(rated, means, ["a", "a", "b"])) == pytest.approx(math.log1p(math.e))
    assert float(ranking_loss(rated, means, ["a", "b", "c"])) == 0.0


BAD: list[tuple[dict[str, Any], str]] = [
    ({"system": "par"}, "there is no 'par'.*Did you mean 'pair'"),
    ({"system": "encoder", "context": "mask"}, "Did you mean 'masked'"),
    ({"system": "encoder", "precision": "fp8"}, "precision"),
    ({"system": "encoder", "epochs": 0}, "epochs must be a whole number from 1 to 1000, not 0"),
    ({"system": "encoder", "lr": float("nan")}, "lr must be .*, not nan"),
    ({"system": "ridge", "alphas": (0.0,)}, "alphas must be a number of at least 1e-12, not 0.0"),
    ({"system": "ensemble", "part": "3/2"}, "write it as I/N"),
]


@pytest.mark.parametrize(("values", "message"), BAD)
def test_bad_values(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        TrainConfig(**{"dataset": "sample"} | values)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((), "must name the systems"),
        (("lr=1",), "must name the systems"),
        (("system=ridge", "alpha=1"), "Did you mean 'alphas'"),
        (("system=ridge", "alphas"), "NAME=VALUE"),
        (("system=pair", "lr=fast"), "is not a valid float"),
        (("system=pair", "funlines=maybe"), "is not a valid bool"),
        (("system=ensemble",), "cannot be a member"),
        (("system=rigde",), "Did you mean 'ridge'"),
    ],
)
def test_bad_grids(grid: tuple[str, ...], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        grid_members(TrainConfig("ensemble", "sample", grid=grid))


def test_members_that_differ_in_nothing_read_are_one() -> None:
    members = grid_members(TrainConfig("ensemble", "sample", grid=("system=ngrams,pair", "lr=1e-5,5e-5", "seed=1,2")))
    assert sorted(member.system for member in members.values()) == ["ngrams"] * 2 + ["pair"] * 4
    also = ("system=features,features=sentence,head=bayes",)
    *_, other = grid_members(TrainConfig("ensemble", "sample", grid=("system=encoder", "seed=1,2"), also=also)).values()
    assert (other.system, other.features, other.head) == ("features", "sentence", "bayes")
    with pytest.raises(BadInput, match="also system=ridge,alphas: write it as NAME=VALUE,NAME=VALUE"):
        grid_members(TrainConfig("ensemble", "sample", grid=("system=ridge",), also=("system=ridge,alphas",)))


def test_funlines_is_graded_as_train_is(rows: str) -> None:
    train = read_data(rows).train.grades
    given = read_data(rows, funlines=True, grades="as_given").extra.grades
    matched = read_data(rows, funlines=True).extra.grades
    assert fmean(matched) == pytest.approx(fmean(train))
    assert pstdev(matched) == pytest.approx(pstdev(train))
    assert np.argsort(matched, kind="stable").tolist() == np.argsort(given, kind="stable").tolist()


def test_shares_are_nested_and_keep_headlines_whole(rows: str) -> None:
    whole, half, most = (set(read_data(rows, share=share).train.ids) for share in (1.0, 0.5, 0.8))
    assert half < most < whole
    kept = read_data(rows, share=0.5).train
    assert all(kept.groups.count(group) == 2 for group in kept.groups)


def test_ridge_is_that_of_scikit_learn() -> None:
    drawn = np.random.default_rng(0)
    read, grades = drawn.normal(size=(50, 8)), drawn.normal(size=50) + 3
    ready = (read - read.mean(0)) / (read.std(0) + 1e-6)
    for alpha, layers in zip((0.5, 20.0), ridge_layers(read, grades, (0.5, 20.0)), strict=True):
        assert layers(read) == pytest.approx(Ridge(alpha=alpha).fit(ready, grades).predict(ready))


def test_where_vectors_are_kept_is_no_setting_of_a_run() -> None:
    """A run is resumed whatever the folder; systems without a frozen encoder have none."""
    kept = TrainConfig(dataset="sample", system="ridge", encodings="vectors")
    assert kept.as_dict() == TrainConfig(dataset="sample", system="ridge").as_dict()
    kept.check_flags(["encodings"])
    with pytest.raises(BadInput, match=r"--system ngrams does not use --encodings\."):
        kept.with_values(system="ngrams").check_flags(["encodings"])
