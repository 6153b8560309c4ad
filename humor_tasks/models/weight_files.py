"""Files of weights as named tensors, and what a file is that holds none. No code in a file is executed.

Formats are told by content, not by suffix. Importing this module imports no torch.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import zipfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humor_tasks.errors import BadInput, listed, one_line

if TYPE_CHECKING:
    import torch

_NESTED = ("state_dict", "model_state_dict", "model", "module")
"""Entries in which training programs store the weights: open_clip, Lightning, fairseq, DeepSpeed, Hessel et al."""
_AVERAGED = ("state_dict_ema", "ema_state_dict", "model_ema", "ema_model", "ema")
_WRAPPERS = ("module.", "_orig_mod.")  # by DataParallel and torch.compile
_OWNERS = ("model.", "clip.", "clip_model.", "net.")  # attributes of Lightning modules; taken off if all names have one
_DEPTH = 20

# ---- what a file is instead -----------------------------------------------------------------------

_AGAIN = "copy or download it again"
_LFS, _ANNEX = _POINTERS = (b"version https://git-lfs", b"/annex/objects/")
_STARTS = {
    _LFS: "a pointer of git LFS instead of the content; run `git lfs pull` in its repository",
    _ANNEX: "a pointer of git-annex instead of the content; run `git annex get` in its repository",
    b"\x1f\x8b": "compressed with gzip; unpack it",
    b"BZh": "compressed with bzip2; unpack it",
    b"\xfd7zXZ": "compressed with xz; unpack it",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it",
    b"7z\xbc\xaf": "a 7z archive; unpack it",
    b"Rar!": "a rar archive; unpack it",
    b"\x89HDF": "HDF5, as Keras saves it; load it in Keras and save its arrays by safetensors.numpy.save_file",
    b"GGUF": "GGUF, whose weights are quantized; use the .safetensors of the original model",
    b"\x93NUMPY": "one NumPy array; weights are arrays by name: save them by safetensors.numpy.save_file",
}
_LEGACY = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")  # pickles, as torch before 1.6 saves
_TORCH = (".safetensors", ".bin", ".pt", ".pth", ".ckpt")
_OTHER = (".h5", ".keras", ".onnx", ".gguf", ".msgpack", ".npz")


def what_instead(path: Path) -> str:
    """What a file is that holds no weights, with the remedy, such as "it is empty; download it again".

    An empty text for a file that begins as one of torch or safetensors does. Raises OSError where it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(512)
    if not head:
        return f"it is empty; {_AGAIN}"
    if what := next((what for start, what in _STARTS.items() if head.startswith(start)), ""):
        return f"it is {what}"
    if head[257:262] == b"ustar":
        return "it is a tar archive; unpack it and name the weights in it, or save them again with torch"
    if head.startswith(b"PK"):
        return _instead_in_zip(path)
    if head[8:9] == b"{":
        return _cut_off(path, head)
    if head.startswith(_LEGACY):
        return ""
    if head.startswith(b"\x08") and (path.suffix == ".onnx" or b"pytorch" in head[:32]):
        return "it is an ONNX graph; use the .safetensors of the original model"
    if path.suffix == ".msgpack":
        return "it is msgpack, as Flax saves it; load it in Flax and save its arrays by safetensors.numpy.save_file"
    return _instead_as_text(head)


def _instead_as_text(head: bytes) -> str:
    try:
        text = head.decode().lstrip("\ufeff \t\r\n").lower()
    except UnicodeDecodeError as problem:
        if problem.start < len(head) - 4:  # else a character is cut off by the end of the head
            return "it begins neither as a file of torch nor as one of safetensors does"
        text = ""
    if text.startswith(("<!doctype", "<html", "<?xml", "<head")):
        return f"it is a web page, so that a download failed, perhaps for want of a login; {_AGAIN}"
    if '"weight_map"' in text:
        return "it is the index of weights in several files; name the folder"
    if "\0" in text:
        return "it begins neither as a file of torch nor as one of safetensors does"
    return f"it is text ({one_line(text, 40)!r}), without weights; {_AGAIN}"


def _instead_in_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return f"it is cut off or damaged, at {path.stat().st_size:,} bytes; {_AGAIN}"
    if any(name.split("/")[-1] == "data.pkl" for name in names):
        return ""
    if any(name.endswith(".npy") for name in names):
        return "it holds NumPy arrays; save them by safetensors.numpy.save_file"
    if any(name.endswith((".h5", "models/model.json")) for name in names):
        return "it is a program saved by Keras or torch.export; save its weights as .safetensors"
    return f"it is a zip archive of {listed('file', names, most=3)}; unpack it and name the weights in it"


def _cut_off(path: Path, head: bytes) -> str:
    """The description of a .safetensors file that is shorter than its header says."""
    size, length = path.stat().st_size, int.from_bytes(head[:8], "little")
    whole = 8 + length
    if whole <= size:
        with path.open("rb") as file:
            file.seek(8)
            try:
                tensors = json.loads(file.read(length))
                ends = (entry["data_offsets"][1] for name, entry in tensors.items() if name != "__metadata__")
                whole += max(ends, default=0)
            except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
                return f"it is a damaged file of safetensors; {_AGAIN}"
    return f"it is cut off: it has {size:,} of {whole:,} bytes; {_AGAIN}" if whole > size else ""


def check_weights(path: Path, who: str) -> None:
    """Raise BadInput for a file that is missing or holds no weights, saying what it is."""
    try:
        what = what_instead(path)
    except OSError as problem:
        raise BadInput(f"{who}: {path} cannot be read as weights ({problem.strerror or problem}).") from None
    if what:
        raise BadInput(f"{who}: {path} cannot be read as weights: {what}.")


def faulty_file(folder: Path) -> str:
    """The first file of a model's folder that is not what its name says: its name and `what_instead`; "" for none.

    Weights of other frameworks count where the folder has no weights of torch or safetensors.
    """
    files = sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
    weights = [path for path in files if path.suffix in _TORCH and path.name != "training_args.bin"]
    other = [path for path in files if path.suffix in _OTHER]
    for path in weights or other:
        if what := what_instead(path):
            return f"{path.name}: {what}"
    pointers = (path for path in files if path.read_bytes()[:64].startswith(_POINTERS))  # tokenizers may be some, too
    return next((f"{path.name}: {what_instead(path)}" for path in pointers), "")


# ---- tensors --------------------------------------------------------------------------------------


class _StandIn:
    """In the place of any class or function that a checkpoint names besides tensors: does nothing, keeps its state."""

    state: Mapping[str, Any] = {}

    def __new__(cls, *args: Any, **more: Any) -> _StandIn:
        return super().__new__(cls)

    def __init__(self, *args: Any, **more: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state if isinstance(state, Mapping) else {}


def _empty(*args: Any) -> dict[Any, Any]:
    """In the place of a defaultdict, which is filled later."""
    return {}


def read_state(
    path: Path, who: str, skip: Collection[str] = (), skipped: list[str] | None = None
) -> dict[str, torch.Tensor]:
    """The tensors of a file of safetensors or torch, by name; no code in the file is executed.

    Checkpoints of training programs, whole modules and TorchScript archives give their weights; what they hold besides
    is not read. skip: names of entries that are not weights and are ignored; those found are added to `skipped`. Raises
    BadInput for a file that cannot be read, or holds anything but tensors by name.
    """
    import torch

    where = f"{who}: {path}"
    check_weights(path, who)
    state = _weights_in(_content(path, where), where)
    if skipped is not None:
        skipped += [name for name in state if name in skip]
    state = _bare({name: value for name, value in state.items() if name not in skip}, where)

    def is_dense(value: object) -> bool:
        return isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_meta

    if not state:
        raise BadInput(f"{where} holds no weights by name.")
    if wrong := [name for name, value in state.items() if not is_dense(value)]:
        raise BadInput(f"{where} holds more than weights: {listed('non-tensor', wrong, most=5)}.")
    return {name: value.detach() for name, value in state.items()}


def _content(path: Path, where: str) -> Any:
    """What is saved in a file: tensors, and `_StandIn`s for objects of other classes."""
    import torch
    from safetensors.torch import load_file

    with path.open("rb") as file:
        start = file.read(9)
    try:
        if start[8:] == b"{":
            return load_file(path)
        if start.startswith(b"PK"):
            return _archive(path, where)
        with path.open("rb") as file:
            return torch.load(file, map_location="cpu", weights_only=True)
    except (BadInput, torch.OutOfMemoryError):
        raise
    except Exception as problem:  # safetensors, zipfile, pickle and torch raise different classes
        message, named = one_line(problem, 2000), re.search(r"GLOBAL (\S+)", str(problem))
        if named:
            _check_inert([named[1]], where)
        if named or "weights_only" in message:  # torch's message then suggests to disable weights_only
            raise BadInput(
                f"{where} cannot be read as weights: it holds {named[1] if named else 'objects'} besides tensors. "
                f"Where you trust its source, convert it once, which executes its code: {_conversion(path)}"
            ) from None
        first = message.split(". ")[0].rstrip(".") or "it is cut off"
        raise BadInput(f"{where} cannot be read as weights ({type(problem).__name__}: {first}); {_AGAIN}.") from None


_ACTING = frozenset(
    {"os", "posix", "nt", "sys", "subprocess", "commands", "shutil", "socket", "ctypes", "importlib", "runpy"}
)
_ACTING_BUILTINS = frozenset({"eval", "exec", "compile", "open", "__import__", "input"})


def _check_inert(names: Iterable[str], where: str) -> None:
    """Raise BadInput where a pickle names a function that weights do not need and harm does.

    Nothing that a file names is called in any case: this only says what the file is.
    """
    for name in names:
        module, _, function = name.rpartition(".")
        if module in _ACTING or (module in ("builtins", "") and function in _ACTING_BUILTINS):
            raise BadInput(
                f"{where} cannot be read as weights: it is made to call {name} when it is loaded. Nothing of it was "
                "executed. Take the weights from a source that you trust."
            )


def _conversion(path: Path) -> str:
    source, target = (json.dumps(str(name)) for name in (path, path.with_name(f"{path.stem}-weights.pt")))
    read = f'import torch; c = torch.load({source}, "cpu", weights_only=False)'
    save = f'torch.save(c.get("state_dict", c), {target})'
    return f"python -c {shlex.quote(f'{read}; {save}')}"


_OF_TENSORS = ("data.pkl", "version", ".data/version", "byteorder")


def _archive(path: Path, where: str) -> Any:
    """The content of a zip archive of torch. A TorchScript archive is read without its programs, as its tensors."""
    import torch

    with path.open("rb") as file:
        source: Any = file
        with zipfile.ZipFile(file) as archive:
            inside = {name.partition("/")[2]: name for name in archive.namelist()}
            if "constants.pkl" in inside:  # of TorchScript, which torch.load refuses as a program
                source = io.BytesIO()
                with zipfile.ZipFile(source, "w") as tensors:
                    for short, name in inside.items():
                        if short in _OF_TENSORS or short.startswith("data/"):
                            tensors.writestr(name, archive.read(name))
        source.seek(0)
        names = torch.serialization.get_unsafe_globals_in_checkpoint(source)
        _check_inert(names, where)
        others: Any = [(_empty if name == "collections.defaultdict" else _StandIn, name) for name in names]
        source.seek(0)
        with torch.serialization.safe_globals(others):
            return torch.load(source, map_location="cpu", weights_only=True)


def _weights_in(content: Any, where: str) -> dict[str, Any]:
    """The weights by name among what a training program saved. Raises BadInput where there are none, or two sets."""
    for _ in range(_DEPTH):
        if isinstance(content, _StandIn):
            return dict(_of_module(content.state))
        if not isinstance(content, Mapping):
            break
        names = [name for name in (*_NESTED, *_AVERAGED) if _holds_tensors(content.get(name))]
        if len(names) > 1:
            raise BadInput(
                f"{where} holds several sets of weights: {', '.join(names)}. Save the one that is meant as a file of "
                "its own."
            )
        if not names:
            return {str(name): value for name, value in content.items()}
        content = content[names[0]]
    raise BadInput(f"{where} holds a {type(content).__name__} instead of weights by name.")


def _holds_tensors(value: Any, depth: int = _DEPTH) -> bool:
    import torch

    inner = value.state if isinstance(value, _StandIn) else value
    return isinstance(inner, Mapping) and any(
        isinstance(one, torch.Tensor) or (depth > 0 and _holds_tensors(one, depth - 1)) for one in inner.values()
    )


def _of_module(state: Mapping[str, Any], prefix: str = "", depth: int = _DEPTH) -> Iterable[tuple[str, Any]]:
    """The tensors of a module by dotted names: a TorchScript object's attributes, or what torch.save stores of one."""
    import torch

    if "_modules" in state:
        hidden = state.get("_non_persistent_buffers_set") or ()
        parts = [state.get(part) or {} for part in ("_parameters", "_buffers", "_modules")]
        state = {name: value for part in parts for name, value in part.items() if name not in hidden}
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            yield f"{prefix}{name}", value
        elif isinstance(value, _StandIn) and depth:
            yield from _of_module(value.state, f"{prefix}{name}.", depth - 1)


def _bare(state: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The weights by their names within the model. Raises BadInput where two then have the same name."""
    names = {name: name for name in state}
    while prefix := next((p for p in (*_WRAPPERS, *_OWNERS) if _is_prefix(p, names.values())), ""):
        names = {name: short.removeprefix(prefix) for name, short in names.items()}
    if len(set(names.values())) < len(names):
        raise BadInput(f"{where} holds several sets of weights, which differ in a prefix such as {_WRAPPERS[0]}")
    return {names[name]: value for name, value in state.items()}


def _is_prefix(prefix: str, names: Collection[str]) -> bool:
    among = any if prefix in _WRAPPERS else all
    return bool(names) and among(name.startswith(prefix) for name in names)
