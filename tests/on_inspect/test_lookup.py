"""Models in this process are loaded once: Inspect's look-up of a model's context window loads none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import get_model, get_model_info
from standins import commands

from humor_tasks.models.choosers import embedding
from humor_tasks.on_inspect.errors import CannotRun
from humor_tasks.on_inspect.private import MODEL_INFO_LOOKUP_API_KEY

MODELS = ("baseline/overlap", "clip/x/y", "embedding/nowhere", "humicroedit/nowhere", "ofa/a/b", "quality/q")


@pytest.mark.parametrize("name", MODELS)
def test_a_look_up_loads_nothing(name: str) -> None:
    with pytest.raises(CannotRun, match="no context window"):
        get_model(name, api_key=MODEL_INFO_LOOKUP_API_KEY, memoize=False)
    assert get_model_info(name) is None


@pytest.mark.slow
def test_an_evaluation_loads_its_model_once(minilm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    plain = embedding.open_model

    def counted(name: str, device: str | None = None) -> Any:
        opened.append(name)
        return plain(name, device)

    monkeypatch.setattr(embedding, "open_model", counted)
    model = f"embedding/{minilm}"
    given = ["-T", "dataset=sample", "--log-dir", tmp_path]
    commands.inspect("eval", "humor_tasks/matching", "--model", model, "--limit", "2", *given, cwd=tmp_path)
    assert opened == [minilm]
