"""Vectors kept in a folder: of one encoder, whole, and read instead of encoding again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from standins.humicroedit_rows import tiny_encoder
from standins.once import made_once

from humor_tasks.errors import BadInput
from humor_tasks.models.humicroedit.resources import FrozenEncoder

TEXTS = ["senate votes", "llama", "disco llama passes", "senate votes"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(made_once(tmp_path_factory, "humicroedit_encoder", tiny_encoder))


def test_what_is_kept_is_not_encoded_again(encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = FrozenEncoder(encoder, encodings=tmp_path).embed(TEXTS)
    (folder,) = tmp_path.iterdir()
    (file,) = folder.iterdir()
    (other := tmp_path.parent / "other_file").touch()
    assert file.stat().st_mode == other.stat().st_mode, "others may read it as far as the umask lets them"
    assert np.array_equal(first, FrozenEncoder(encoder).embed(TEXTS))
    second = FrozenEncoder(encoder, encodings=tmp_path)
    encoded: list[str] = []
    plain = second._vectors
    monkeypatch.setattr(second, "_vectors", lambda texts: encoded.extend(texts) or plain(texts))
    assert np.array_equal(second.embed(TEXTS), first)
    assert encoded == []
    second.embed(["llama", "the senate"])
    assert encoded == ["the senate"]
    assert len(list(folder.iterdir())) == 2
    assert set(FrozenEncoder(encoder, encodings=tmp_path)._cache) == {*TEXTS, "the senate"}


def test_another_encoder_has_vectors_of_its_own(encoder: str, tmp_path: Path) -> None:
    one = FrozenEncoder(encoder, encodings=tmp_path)
    one.embed(TEXTS)
    one.model.get_input_embeddings().weight.data += 1
    one.save(tmp_path.parent / "other")
    other = FrozenEncoder(str(tmp_path.parent / "other"), encodings=tmp_path)
    assert other._cache == {}
    other.embed(TEXTS)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_damaged_file_is_named(encoder: str, tmp_path: Path) -> None:
    FrozenEncoder(encoder, encodings=tmp_path).embed(TEXTS)
    (file,) = tmp_path.glob("*/*.safetensors")
    file.write_text(json.dumps("cut"))
    with pytest.raises(BadInput, match=file.name):
        FrozenEncoder(encoder, encodings=tmp_path)
