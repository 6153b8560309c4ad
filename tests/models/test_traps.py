"""No folder of weights runs code: what each loader does with a trap that a careless loader runs.

`.ci/matrix` runs this file a second time with the oldest libraries that pyproject.toml admits.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from standins.tiny_clip_folder import saved as tiny_clip
from standins.tiny_ofa import tiny_ofa
from standins.tiny_text import tiny_folder

from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.clip import ClipChooser
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.humicroedit.resources import open_encoder
from humor_tasks.models.ofa import Describer
from humor_tasks.models.quality.features import ADDED
from humor_tasks.models.quality.model import PROBES, Encoder, Quality, QualityChooser
from humor_tasks.models.text.choosing import open_text
from humor_tasks.models.text.pretrained import open_network, open_reward

MODULE, LIBRARY = "trapped_module", "sentence_transformers.models"
CODE = """
import pathlib
import sys

from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

pathlib.Path({sprung!r}).touch()


class Config(BertConfig):
    model_type = "trapped"


class Model(BertModel):
    config_class = Config


class Words(PreTrainedTokenizerFast):
    pass


class Module:
    @classmethod
    def load(cls, *args, **more):
        return sys.modules["torch"].nn.Identity()
"""


@pytest.fixture
def sprung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that exists once a trap's code has run; copies of the code stay in the test's folder."""
    from transformers import dynamic_module_utils

    monkeypatch.setattr(dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path / "sprung"


# ---- folders of weights ---------------------------------------------------------------------------


def encoder(folder: Path) -> Path:
    """A BERT, which transformers and sentence-transformers read."""
    tiny_folder(folder, ["a fish at a bar"], "encoder", layers=1)
    pooling = folder / "1_Pooling"
    pooling.mkdir()
    (pooling / "config.json").write_text('{"word_embedding_dimension": 32, "pooling_mode_mean_tokens": true}')
    modules(folder, ("", f"{LIBRARY}.Transformer"), ("1_Pooling", f"{LIBRARY}.Pooling"))
    return folder


def modules(folder: Path, *listed: tuple[str, str]) -> None:
    written = [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(listed)]
    (folder / "modules.json").write_text(json.dumps(written))


def seq2seq(folder: Path) -> Path:
    return Path(tiny_folder(folder, ["a fish at a bar"], "t5", layers=1))


def ofa(folder: Path) -> Path:
    return Path(tiny_ofa(folder))


def clip(folder: Path) -> Path:
    folder.mkdir()
    return Path(tiny_clip(folder))


def quality(folder: Path) -> None:
    """`quality/FOLDER`, whose own JSON names the encoder."""
    known = Encoder(str(folder), np.zeros((len(PROBES), 32)))
    weights = np.zeros((2, 32 + ADDED))
    Quality(known, weights, weights, ((2,), (1,))).save(folder.parent / "quality")
    QualityChooser(str(folder.parent / "quality"))


# ---- traps: each changes a folder and returns a careless loader --------------------------------------


def edited(path: Path, **values: Any) -> None:
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps(found | values), encoding="utf-8")


def own_module(folder: Path, sprung: Path) -> Callable[[], Any]:
    (folder / f"{MODULE}.py").write_text(CODE.format(sprung=str(sprung)))
    modules(folder, ("", f"{LIBRARY}.Transformer"), ("", f"{MODULE}.Module"))
    return lambda: transformers_sentence(folder)


def own_classes(folder: Path, sprung: Path) -> Callable[[], Any]:
    (folder / f"{MODULE}.py").write_text(CODE.format(sprung=str(sprung)))
    kinds = ("AutoModel", "AutoModelForSeq2SeqLM", "AutoModelForSequenceClassification")
    classes = {"AutoConfig": f"{MODULE}.Config"} | dict.fromkeys(kinds, f"{MODULE}.Model")
    edited(folder / "config.json", model_type="trapped", auto_map=classes, trust_remote_code=True)
    edited(folder / "sentence_bert_config.json", model_args={"trust_remote_code": True})
    return lambda: transformers.AutoConfig.from_pretrained(str(folder), trust_remote_code=True)


def own_tokenizer(folder: Path, sprung: Path) -> Callable[[], Any]:
    (folder / f"{MODULE}.py").write_text(CODE.format(sprung=str(sprung)))
    found = {"tokenizer_class": "Words", "auto_map": {"AutoTokenizer": [None, f"{MODULE}.Words"]}}
    edited(folder / "tokenizer_config.json", **found, trust_remote_code=True)
    return lambda: transformers.AutoTokenizer.from_pretrained(str(folder), trust_remote_code=True)


class Trap:
    """What a pickle can do: make a folder."""

    def __init__(self, sprung: Path) -> None:
        self.sprung = str(sprung)

    def __reduce__(self) -> Any:
        return os.mkdir, (self.sprung,)


def pickled(folder: Path, sprung: Path, name: str = "pytorch_model.bin", zipped: bool = True) -> Callable[[], Any]:
    for weights in folder.glob("*.safetensors"):
        weights.unlink()
    torch.save({"a": Trap(sprung)}, folder / name, _use_new_zipfile_serialization=zipped)
    return lambda: torch.load(folder / name, weights_only=False)


def pickled_before_zip(folder: Path, sprung: Path) -> Callable[[], Any]:
    return pickled(folder, sprung, zipped=False)


def pickled_adapter(folder: Path, sprung: Path) -> Callable[[], Any]:
    edited(folder / "adapter_config.json", peft_type="LORA", base_model_name_or_path=str(folder), target_modules=["q"])
    torch.save({"a": Trap(sprung)}, folder / "adapter_model.bin")
    return lambda: torch.load(folder / "adapter_model.bin", weights_only=False)


def transformers_sentence(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", trust_remote_code=True)


ALL = (own_classes, own_tokenizer, pickled, pickled_before_zip, pickled_adapter)
LOADERS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Any], tuple[Any, ...]]] = {
    "embedding": (encoder, lambda folder: Embedding(str(folder), "cpu"), (own_module, *ALL)),
    "quality": (encoder, quality, (own_module, *ALL)),
    "text": (seq2seq, lambda folder: open_text(str(folder), "cpu"), ALL),
    "train text": (encoder, lambda folder: open_network(str(folder), "encoder"), ALL),
    "reward": (encoder, lambda folder: open_reward(str(folder)), ALL),
    "humicroedit": (encoder, lambda folder: open_encoder(str(folder)), ALL),
    "ofa": (ofa, lambda folder: Describer.load(str(folder), {"device": "cpu"}), ALL),
    "clip": (clip, lambda folder: ClipChooser.load(str(folder), {"device": "cpu"}), ALL),
}
CASES = [(name, trap) for name, (_, _, traps) in LOADERS.items() for trap in traps]


@pytest.mark.parametrize(("name", "trap"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_no_loader_springs_a_trap(name: str, trap: Any, sprung: Path, tmp_path: Path) -> None:
    make, load, _ = LOADERS[name]
    folder = make(tmp_path / "model")
    careless = trap(folder, sprung)
    refusal = ""
    try:
        load(folder)
    except BadInput as problem:
        refusal = str(problem)
    assert not refusal or str(folder) in refusal
    assert not sprung.exists()
    with contextlib.suppress(Exception):  # what the code is for is not a model
        careless()
    assert sprung.exists()  # the trap was live


@pytest.mark.parametrize("name", ["embedding", "humicroedit"])
@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
def test_a_damaged_folder_is_named(name: str, file: str, tmp_path: Path) -> None:
    make, load, _ = LOADERS[name]
    folder = make(tmp_path / "model")
    (folder / file).write_bytes((folder / file).read_bytes()[:6] if file.endswith("s") else b"[]")
    with pytest.raises(BadInput, match=f"{folder}: the folder's model cannot be loaded"):
        load(folder)
