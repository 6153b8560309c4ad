"""A full disk while a text model is saved: the last good weights and the checkpoint survive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
from standins.small_sample import small_sample
from standins.tiny_text import tiny_folder
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from humor_tasks.errors import BadInput
from humor_tasks.lab.training.text import finetune
from humor_tasks.lab.training.text.finetune import train
from humor_tasks.lab.training.text.settings import TextTrainConfig

pytestmark = pytest.mark.slow

WRITERS: dict[str, tuple[Any, str]] = {
    "network": (PreTrainedModel, "save_pretrained"),
    "tokenizer": (PreTrainedTokenizerFast, "save_pretrained"),
    "head": (safetensors.torch, "save_file"),
    "notes": (finetune, "write_json"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_last_good_weights(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_folder(tmp_path / "model", ["a fish in a living room"], "encoder", width=16, layers=1)
    how: dict[str, Any]
    rows, how = small_sample(tmp_path / "rows"), {"encoding": "bi", "patience": 0, "device": "cpu"}
    settings = TextTrainConfig("ranking", model, dataset=rows, lr=(1e-3,), epochs=2, **how)
    values = iter([0.5, 0.4])
    monkeypatch.setattr(finetune.Trainer, "_evaluate", lambda self, step: (next(values), (0.5, 0.0)))
    monkeypatch.setattr(finetune.Trainer, "best", 0.4, raising=False)
    where, writer = WRITERS[name]
    real, output = getattr(where, writer), tmp_path / "run"

    def full(*given: Any, **how: Any) -> Any:
        if any(".best-2" in str(value) for value in given):
            real(*given, **how)  # a part of the files is there
            raise OSError(28, "No space left on device")
        return real(*given, **how)

    with monkeypatch.context() as patched:
        patched.setattr(where, writer, full)
        with pytest.raises(BadInput, match=r"best-2: cannot be written \(.*No space left on device"):
            train(settings, output, progress=False)
    left = {path.name for path in output.iterdir() if path.is_dir()}
    assert left == {"best-1", "checkpoint-1"}
    assert json.loads((output / "checkpoint-1" / "state.json").read_text())["best_epoch"] == 1
    values = iter([0.4])
    assert train(settings, output, progress=False)["best_epoch"] == 2
