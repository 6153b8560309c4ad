"""Files of weights: which checkpoints are read without executing code, and what is said of every other file."""

from __future__ import annotations

import argparse
import builtins
import collections
import io
import os
import shlex
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from humor_tasks.errors import BadInput, one_line
from humor_tasks.models.folders import not_loaded, read_folder
from humor_tasks.models.weight_files import faulty_file, read_state, what_instead

STATE = {"a.weight": torch.arange(6.0).view(2, 3), "b": torch.tensor(2.0)}
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 3\n"


def prefixed(prefix: str) -> dict[str, torch.Tensor]:
    return {prefix + name: tensor for name, tensor in STATE.items()}


class Config:
    """A class of a training program."""


class Called:
    """What a pickle can do: call a function when it is loaded."""

    def __init__(self, function: Any, *given: Any) -> None:
        self.function, self.given = function, given

    def __reduce__(self) -> Any:
        return self.function, self.given


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(STATE["a.weight"].clone())


class Whole(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = Layer(), torch.nn.Parameter(STATE["b"].clone())
        self.register_buffer("made", torch.zeros(1), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.a.weight * self.b


def numpy_1(saved: Any, path: Path) -> None:
    """As torch.save under NumPy 1, whose scalars were in another module."""
    torch.save(saved, path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))


OPEN_CLIP = {
    "epoch": np.int64(3),
    "name": "run",
    "state_dict": prefixed("module."),
    "optimizer": {"state": {0: {"step": torch.tensor(1.0)}}, "param_groups": [{"lr": np.float64(1e-3)}]},
    "scaler": {"scale": np.float32(2)},
}
LIGHTNING = {
    "pytorch-lightning_version": "2.4.0",
    "state_dict": prefixed("model."),
    "hyper_parameters": {"config": Config(), "where": Path("x"), "rates": np.arange(3)},
    "loops": collections.defaultdict(int, {"done": 1}),
}
READ: dict[str, Any] = {
    "open_clip": OPEN_CLIP,
    "lightning": LIGHTNING,
    "fairseq": {"args": argparse.Namespace(arch="x"), "model": STATE, "extra_state": {"random": np.random.get_state()}},
    "nested": {"model": {"state_dict": prefixed("module._orig_mod.")}},
    "released": {"model_state_dict": STATE, "best": 0.6},
    "averaged": {"ema": STATE, "step": 3},
    "owner in a wrapper": {"model": prefixed("module.model.")},
    "a module": Whole(),
    "a module in a dict": {"model": Whole(), "epoch": 1},
    "parameters": {name: torch.nn.Parameter(tensor) for name, tensor in STATE.items()},
}


def same(state: dict[str, torch.Tensor]) -> bool:
    return state.keys() == STATE.keys() and all(torch.equal(state[name], tensor) for name, tensor in STATE.items())


@pytest.mark.parametrize("name", READ)
def test_checkpoints_of_training_programs_are_read(name: str, tmp_path: Path) -> None:
    torch.save(READ[name], tmp_path / "a.pt")
    state = read_state(tmp_path / "a.pt", "clip")
    assert same(state)
    assert not any(tensor.requires_grad for tensor in state.values())
    if name in ("open_clip", "fairseq"):
        numpy_1(READ[name], tmp_path / "old.pt")
        assert same(read_state(tmp_path / "old.pt", "clip"))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_torchscript_is_read_without_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.jit.trace(Whole(), torch.ones(1, 2)).save(str(tmp_path / "a.pt"))  # type: ignore[no-untyped-call]
    monkeypatch.setattr(torch.jit, "load", lambda *_, **__: pytest.fail("the program was loaded"))
    state = read_state(tmp_path / "a.pt", "clip")
    assert same({name: tensor for name, tensor in state.items() if name != "made"})


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_types_stay_as_they_are(dtype: torch.dtype, tmp_path: Path) -> None:
    torch.save({"x": torch.ones(3, dtype=dtype)}, tmp_path / "a.pt")
    assert read_state(tmp_path / "a.pt", "clip")["x"].dtype == dtype


def test_the_content_says_what_a_file_is_and_not_its_suffix(tmp_path: Path) -> None:
    torch.save(STATE, tmp_path / "a.safetensors")
    save_file(STATE, tmp_path / "a.bin")
    torch.save(STATE, tmp_path / "old.onnx", _use_new_zipfile_serialization=False)
    for name in ("a.safetensors", "a.bin", "old.onnx"):
        assert same(read_state(tmp_path / name, "clip"))


# ---- code ---------------------------------------------------------------------------------------

CALLS: dict[str, Callable[[Path], Called]] = {
    "mkdir": lambda path: Called(os.mkdir, str(path)),
    "system": lambda path: Called(os.system, f"touch {path}"),
    "eval": lambda path: Called(builtins.eval, f"open({str(path)!r}, 'w')"),
    "exec": lambda path: Called(builtins.exec, f"open({str(path)!r}, 'w')"),
    "getoutput": lambda path: Called(subprocess.getoutput, f"touch {path}"),
    "copy": lambda path: Called(shutil.copy, __file__, str(path)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_that_calls_something_is_refused_and_nothing_is_called(name: str, zipped: bool, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    saved = OPEN_CLIP | {"note": CALLS[name](canary)}
    torch.save(saved, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    with pytest.raises(BadInput, match=r"a\.pt cannot be read as weights: (it is made to call|it holds)") as refused:
        read_state(tmp_path / "a.pt", "clip")
    assert name in str(refused.value) or not zipped
    assert not canary.exists()
    torch.load(tmp_path / "a.pt", weights_only=False)
    assert canary.exists()  # the trap was live


def test_other_functions_are_not_called_either(tmp_path: Path) -> None:
    allowed = set(torch.serialization.get_safe_globals())
    torch.save({"state_dict": STATE, "note": Called(zipfile.ZipFile, str(tmp_path / "canary"), "w")}, tmp_path / "a.pt")
    assert same(read_state(tmp_path / "a.pt", "clip"))
    assert not (tmp_path / "canary").exists()
    torch.load(tmp_path / "a.pt", weights_only=False)
    assert (tmp_path / "canary").exists()
    assert set(torch.serialization.get_safe_globals()) == allowed  # stand-ins are for one file


def test_names_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    torch.save(STATE, tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as old, zipfile.ZipFile(tmp_path / "b.pt", "w") as new:
        for name in old.namelist():
            new.writestr(f"../../{name}", old.read(name))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BadInput, match=r"b\.pt cannot be read as weights"):
        read_state(tmp_path / "b.pt", "clip")
    assert sorted(tmp_path.rglob("*")) == before


# ---- what is refused ------------------------------------------------------------------------------


class Named(dict[str, int]):
    """A mapping of another class, which torch's restricted reader cannot fill."""


LOOPED: dict[str, Any] = {}
LOOPED["model"] = LOOPED
REFUSED: dict[str, tuple[Any, str]] = {
    "two sets": ({"model": STATE, "ema": STATE}, r"holds several sets of weights: model, ema\. Save the one that is"),
    "a prefix of some": (STATE | prefixed("module."), "several sets of weights, which differ in a prefix such as"),
    "arrays": ({name: tensor.numpy() for name, tensor in STATE.items()}, "more than weights: 2 non-tensors: a.weight"),
    "a mapping of a class": (
        {"state_dict": STATE, "config": Named(a=1)},
        r"it holds objects besides tensors\. Where you trust its source, convert it once, which executes its code: "
        r"python -c 'import torch; c = torch\.load\(\".*a\.pt\", \"cpu\", weights_only=False\)",
    ),
    "itself": (LOOPED, "more than weights: 1 non-tensor: model"),
    "a number": (3, "holds a int instead of weights by name"),
    "a class": (Config(), r"holds no weights by name\."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_checkpoints_that_are_refused(name: str, tmp_path: Path) -> None:
    saved, said = REFUSED[name]
    torch.save(saved, tmp_path / "a.pt")
    with pytest.raises(BadInput, match=said):
        read_state(tmp_path / "a.pt", "clip")


def test_the_command_of_a_refusal_converts_the_file(tmp_path: Path) -> None:
    path = tmp_path / 'it\'s "a" $HOME.pt'
    torch.save({"state_dict": STATE, "config": Named(a=1)}, path, _use_new_zipfile_serialization=False)
    with pytest.raises(BadInput) as refused:
        read_state(path, "clip")
    code = str(refused.value).partition("its code: ")[2]
    assert code.startswith("python -c '")
    exec(shlex.split(code)[2], {})
    assert same(read_state(tmp_path / 'it\'s "a" $HOME-weights.pt', "clip"))


def zipped(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return data.getvalue()


def safetensors(size: int) -> bytes:
    from safetensors.torch import save

    return save(STATE)[:size]


INSTEAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it is empty"),
    "lfs": (POINTER, "it is a pointer of git LFS instead of the content; run `git lfs pull`"),
    "annex": (b"/annex/objects/SHA256E-s3--1", "a pointer of git-annex"),
    "page": (b"\n<!DOCTYPE html><html>", "it is a web page, so that a download failed"),
    "xml": (b"<?xml version='1.0'?><Error><Code>AccessDenied", "it is a web page"),
    "answer": (b'{"error": "gated"}', 'it is text (\'{"error": "gated"}\')'),
    "text": ("é".encode() * 400, "it is text ("),
    "index": (b'{"metadata": {}, "weight_map": {}}', "it is the index of weights in several files; name the folder"),
    "gzip": (b"\x1f\x8b\x08\0", "it is compressed with gzip; unpack it"),
    "hdf5": (b"\x89HDF\r\n\x1a\n", "it is HDF5, as Keras saves it"),
    "gguf": (b"GGUF\x03\0\0\0", "it is GGUF, whose weights are quantized"),
    "onnx": (b"\x08\x07\x12\x07pytorch\x1a\x05", "it is an ONNX graph"),
    "array": (b"\x93NUMPY\x01\0", "it is one NumPy array"),
    "npz": (zipped("a.npy"), "it holds NumPy arrays"),
    "zip": (zipped("model.bin", "b"), "it is a zip archive of 2 files: model.bin, b; unpack it"),
    "keras": (zipped("config.json", "model.weights.h5"), "it is a program saved by Keras"),
    "exported": (zipped("a/models/model.json"), "or torch.export"),
    "cut zip": (zipped("a/data.pkl", "a/version")[:60], "it is cut off or damaged, at 60 bytes"),
    "cut header": (safetensors(20), "it is cut off: it has 20 of"),
    "cut data": (safetensors(-8), "it is cut off: it has"),
    "damaged header": (b'\x04\0\0\0\0\0\0\0{"a"' + b"\0" * 9, "it is a damaged file of safetensors"),
    "zeros": (b"\0" * 600, "it begins neither as a file of torch nor as one of safetensors does"),
    "noise": (bytes(range(255, 0, -1)), "it begins neither"),
}


@pytest.mark.parametrize("name", INSTEAD)
def test_what_a_file_is_instead(name: str, tmp_path: Path) -> None:
    data, said = INSTEAD[name]
    (tmp_path / "a.pt").write_bytes(data)
    assert said in what_instead(tmp_path / "a.pt")
    with pytest.raises(BadInput, match=r"^clip: .*a\.pt cannot be read as weights: it "):
        read_state(tmp_path / "a.pt", "clip")


def test_archives_and_files_that_are_cut_off(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(__file__, "a")
    assert what_instead(tmp_path / "a.tar").startswith("it is a tar archive; unpack it")
    torch.save(STATE, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    (tmp_path / "old.pt").write_bytes((tmp_path / "old.pt").read_bytes()[:150])
    with pytest.raises(BadInput, match=r"old\.pt cannot be read as weights .*; copy or download it again\.$"):
        read_state(tmp_path / "old.pt", "clip")
    with pytest.raises(BadInput, match=r"gone\.pt cannot be read as weights \(No such file or directory\)"):
        read_state(tmp_path / "gone.pt", "clip")


def test_the_faulty_file_of_a_folder(tmp_path: Path) -> None:
    assert faulty_file(tmp_path) == faulty_file(tmp_path / "none") == ""
    (tmp_path / "tf_model.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    assert faulty_file(tmp_path).startswith("tf_model.h5: it is HDF5")
    with pytest.raises(BadInput, match=r"holds no weights; there should be .*\. tf_model\.h5: it is HDF5"):
        read_folder(tmp_path, "ofa")
    save_file(STATE, tmp_path / "model.safetensors")
    assert faulty_file(tmp_path) == ""  # the other file is not what was to be loaded
    (tmp_path / "tokenizer.json").write_bytes(POINTER)
    assert faulty_file(tmp_path).startswith("tokenizer.json: it is a pointer of git LFS")
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert faulty_file(tmp_path).startswith("model.safetensors: it is empty")


def test_the_error_of_a_library_has_its_cause_and_no_codes(tmp_path: Path) -> None:
    coloured = ValueError("\x1b[1mbold\x1b[0m\n and \x1b]8;;http://a.b\x1b\\a link\x1b]8;;\x1b\\")
    assert one_line(coloured) == "bold and a link"
    assert one_line("\x1b[31m" + "x" * 400, 5) == "xxxxx"
    assert str(BadInput(f"a: {coloured}")) == "a: bold\n and a link"
    said = str(not_loaded("model x", str(tmp_path), coloured))
    assert said == "model x: the folder's model cannot be loaded (bold and a link)."
    (tmp_path / "pytorch_model.bin").write_bytes(POINTER)
    said = str(not_loaded("model x", str(tmp_path), coloured))
    assert said.startswith(
        "model x: the folder's model cannot be loaded: pytorch_model.bin: it is a pointer of git LFS"
    )
    assert "it is a file; give the folder" in str(not_loaded("m", __file__, coloured))
    assert "there is no such folder, and it cannot be loaded from the hub (bold" in str(
        not_loaded("m", "a/b", coloured)
    )
