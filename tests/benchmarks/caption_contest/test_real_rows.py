"""The real validation rows of the caption contest, loaded whole."""

from __future__ import annotations

import pytest

from humor_tasks import load
from humor_tasks.benchmarks.caption_contest.corpus import shots

SIZES = [("matching", 0, 531)] + [("ranking", k, n) for k, n in enumerate((507, 534, 531, 531))]


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
