"""Considerations of a corpus hold to its file: fields of all its benchmarks, those of one, and what is amiss."""

from __future__ import annotations

from pathlib import Path

import pytest

from humor_tasks.datasets_cards import folder, names
from humor_tasks.errors import BadInput
from humor_tasks.papers import considerations as module
from humor_tasks.papers.considerations import MISUSE, USERS, considerations

WHOLE = 'humour = "Puns."\n[benchmark.puns]\nmisuse = ["As a pun."]\n'


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a corpus in place of any."""
    monkeypatch.setattr(module, "folder", lambda card: tmp_path)
    module._read.cache_clear()
    yield tmp_path / module.FILE
    module._read.cache_clear()


def test_fields_of_the_corpus_and_of_the_benchmark_are_one(written: Path) -> None:
    written.write_text(WHOLE, encoding="utf-8")
    puns = considerations("jokes", "puns")
    assert (puns.card, puns.humour, puns.misuse, puns.users) == ("jokes", "Puns.", ("As a pun.",), USERS)
    assert puns.of_corpus == {"Whose humour": "Puns."}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (WHOLE.replace("puns]", "riddles]"), "table benchmark"),
        (WHOLE.replace("humour", "humor"), "field"),
        (WHOLE.replace('["As a pun."]', '"As a pun."'), "misuse is 'As a pun.'; give a list of texts"),
        (WHOLE.replace('"Puns."', '""'), "humour is ''; give a text"),
        (WHOLE.replace('"Puns."', "7"), "humour is 7; give a text"),
        ("humour = Puns", "is no TOML"),
    ],
)
def test_what_is_amiss_is_named(written: Path, text: str, told: str) -> None:
    written.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=told):
        considerations("jokes", "puns")


def test_every_corpus_has_a_file() -> None:
    assert all((folder(name) / module.FILE).is_file() for name in names())
    assert len(MISUSE) == 3
