"""Loading of CLIP models: open_clip's architectures and tags, folders (open_clip, `Clip.save`, transformers), weight
files; and saving.

Weight files hold tensors only: safetensors, or torch files read with weights_only. They are not read by open_clip,
which for some errors reads a torch file again without weights_only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from humor_tasks.errors import BadInput, check_choice, one_line
from humor_tasks.files.reading import json_object
from humor_tasks.files.writing import write_json
from humor_tasks.models.clip import hugging_face
from humor_tasks.models.clip.architectures import check_architecture, fitting
from humor_tasks.models.clip.config import DEFAULT, FITS, PRECISIONS, ClipConfig
from humor_tasks.models.folders import CONFIG, WEIGHTS, misfits, no_weights, read_folder, save_state
from humor_tasks.models.weight_files import read_state

logger = logging.getLogger(__name__)

MODEL_CONFIG = "open_clip_config.json"
KIND = "humor_tasks.clip"
HUB = "hf-hub:"
# In the order in which open_clip prefers them.
_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin", WEIGHTS, "pytorch_model.bin")
_PREPROCESS = ("mean", "std", "interpolation")
_NOT_WEIGHTS = ("input_resolution", "context_length", "vocab_size")  # integers stored with OpenAI's tensors


@dataclass
class LoadedClip:
    """A model on the CPU in fp32, with its tokenizer, configuration and preprocessing."""

    model: Any
    tokenizer: Any
    architecture: str
    model_config: dict[str, Any]
    """The format of open_clip's model_configs/*.json, including quick_gelu if the weights need it."""
    preprocess: dict[str, Any]
    """mean, std, interpolation."""
    settings: dict[str, Any] = field(default_factory=dict)
    """fit, prefix and precision of a folder by `Clip.save`; fit and prefix by the name of a released checkpoint."""
    of_openai: bool = False
    """Whether it is a file by OpenAI, whose weights are not fine-tuned."""

    def __post_init__(self) -> None:
        where = f"clip: {self.architecture}: preprocessing:"
        for name in ("mean", "std"):
            numbers = self.preprocess[name]
            if not isinstance(numbers, list | tuple) or len(numbers) != 3 or not all(map(_is_number, numbers)):
                raise BadInput(f"{where} {name} is {numbers!r}; it must be three numbers, for red, green and blue.")
        if not all(self.preprocess["std"]):
            raise BadInput(
                f"{where} std is {self.preprocess['std']!r}; pixel values are divided by it, so it must not be 0."
            )
        check_choice(f"{where} interpolation", self.preprocess["interpolation"], ("bicubic", "bilinear"))

    @property
    def size(self) -> int:
        """Picture size in pixels per side. Raises BadInput for a model with rectangular input."""
        size: Any = self.model.visual.image_size
        sides = set(size) if isinstance(size, tuple | list) else {size}
        if len(sides) != 1:
            raise BadInput(f"clip: {self.architecture} takes pictures of {size} pixels; only squares are supported.")
        return int(sides.pop())

    def fingerprint(self) -> str:
        """SHA-256 of the weights and the model configuration, in hex."""
        digest = hashlib.sha256(json.dumps(self.model_config, sort_keys=True).encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            flat = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\0".encode())
            digest.update(flat.numpy().data)
        return digest.hexdigest()


def fill(model: nn.Module, state: Mapping[str, torch.Tensor], where: str, architecture: str) -> None:
    """Load the weights. Raises BadInput naming keys that are missing, unexpected, or of another shape or type, and the
    architectures that have the sizes of these weights.
    """
    problems = misfits(model.state_dict(), state)
    if problems:
        raise BadInput(f"clip: {where} does not fit {architecture}: {'; '.join(problems)}.{_named(state)}")
    model.load_state_dict(state)
    if not math.isfinite(scale := float(state["logit_scale"].float().exp())):
        raise BadInput(f"clip: {where} is damaged: its logit scale is {scale}.")


def _named(state: Mapping[str, torch.Tensor]) -> str:
    """A sentence with the architectures of these sizes, or nothing."""
    names = fitting(state)
    return f" Its sizes are those of {' and '.join(names[:4])}." if names else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def open_model(config: ClipConfig) -> LoadedClip:
    """The model that `config.pretrained` names. Raises BadInput naming what was searched and what is available."""
    name, path = config.pretrained, Path(config.pretrained).expanduser()
    if path.is_file():
        loaded = _of_file(path, config.architecture, config.activation)
        if not loaded.settings and not loaded.of_openai and (config.prefix is None or config.fit is None):
            logger.warning(
                "clip: %s: a weight file does not say with which prefix and fit it was trained, and the zero-shot ones "
                "are used. For fine-tuned weights give both (caption_contest_corpus: an empty prefix, fit=crop).",
                path,
            )
        return loaded
    if not path.is_dir() and (
        path.is_absolute()
        or name.startswith((".", "~"))
        or path.suffix in (".safetensors", ".pt", ".pth", ".ckpt", ".bin")
    ):
        raise BadInput(f"clip: {name}: there is no such file or folder.")
    for setting in ("architecture", "activation"):
        if getattr(config, setting) is not None:
            raise BadInput(f"clip: {setting} is for a weight file, and {name} is not one.")
    if path.is_dir():
        return _of_folder(path)
    if name.startswith(HUB):
        return _of_hub(name)
    architecture, _, tag = name.rpartition("/")
    return _of_tag((architecture or tag).replace("/", "-"), tag if architecture else "")


def save(folder: Path, loaded: LoadedClip, settings: Mapping[str, Any]) -> None:
    """Write model.safetensors, open_clip's configuration (readable by its `local-dir:`), and config.json last."""
    save_state(folder / WEIGHTS, loaded.model.state_dict())
    if hasattr(loaded.tokenizer, "save_pretrained"):
        loaded.tokenizer.save_pretrained(folder)
    write_json(folder / MODEL_CONFIG, {"model_cfg": loaded.model_config, "preprocess_cfg": loaded.preprocess})
    write_json(folder / CONFIG, {"kind": KIND, "architecture": loaded.architecture, **settings})


def _of_tag(architecture: str, tag: str) -> LoadedClip:
    import open_clip

    check_architecture(architecture)
    if tag == "random":
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return _build(architecture, architecture)
    known = open_clip.get_pretrained_cfg(architecture, tag) if tag else {}
    if not known:
        tags = ", ".join([*open_clip.list_pretrained_tags_by_model(architecture), "random"])
        raise BadInput(
            f"clip: {architecture} has no weights '{tag}'; there are {tags}. Write {architecture}/TAG, as in {DEFAULT}."
        )
    # open_clip only warns here, and the model would use another activation function than in training.
    loaded = _build(architecture, architecture, bool(known.get("quick_gelu")))
    loaded.preprocess |= {key: known[key] for key in _PREPROCESS if known.get(key) is not None}
    with _hub_errors(f"{architecture}/{tag}"):
        path = open_clip.download_pretrained(known)
    return _fill_from_file(loaded, Path(path), resize=True)


def _of_hub(name: str) -> LoadedClip:
    from open_clip.pretrained import download_pretrained_from_hf

    with _hub_errors(name):
        loaded = _build(name, name.removeprefix(HUB))
        path = download_pretrained_from_hf(name.removeprefix(HUB))
    return _fill_from_file(loaded, Path(path), resize=True)


def _of_file(path: Path, architecture: str | None, activation: str | None) -> LoadedClip:
    if architecture is None:
        what = f"clip: {path} is a weight file; give its architecture, such as architecture=ViT-L-14-336."
        raise BadInput(f"{what}{_named(_read(path).state)}")
    architecture = architecture.replace("/", "-")
    check_architecture(architecture)
    weights = _read(path)
    quick_gelu = _quick_gelu(architecture, activation, weights)
    loaded = _fill(_build(architecture, architecture, bool(quick_gelu)), weights)
    if quick_gelu is None:
        raise BadInput(
            f"clip: {path}: the file does not say whether its weights need QuickGELU, which changes scores. Give "
            f"architecture={architecture}-quickgelu for weights by OpenAI or fine-tuned from them, and for DFN and "
            f"MetaCLIP; or architecture={architecture} with activation=gelu for others, such as LAION's and DataComp's."
        )
    loaded.settings, loaded.of_openai = released_settings(path), weights.of_openai
    return loaded


def released_settings(path: Path) -> dict[str, Any]:
    """fit and prefix by the name of a checkpoint of caption_contest_corpus, clip/train_clip.py; {} for another name.

    Such as task=matching~split=5~valacc=0.64962~pad=1~model=ViT-L*14@336px~lr=5e-06.pt. Their code crops where pad is
    not 0, and pads where it is 0. A prefix, if any, follows the model without a "~".
    """
    parts = dict(part.partition("=")[::2] for part in path.stem.split("~"))
    if not {"task", "split", "pad", "model"} <= parts.keys() or parts["pad"] not in ("0", "1"):
        return {}
    prefix = parts["model"].partition("prefix=")[2].replace("+", " ")
    return {"fit": "pad" if parts["pad"] == "0" else "crop", "prefix": f"{prefix} " if prefix else ""}


def _quick_gelu(architecture: str, activation: str | None, weights: _Weights) -> bool | None:
    """Whether a weight file needs QuickGELU; None where neither the file nor the user says it.

    Weights of both activations have the same names and shapes. OpenAI's own files hold their sizes beside the weights,
    and all of OpenAI's models have QuickGELU. Raises BadInput where `activation` contradicts.
    """
    import open_clip

    named = bool((open_clip.get_model_config(architecture) or {}).get("quick_gelu"))
    if named or weights.of_openai:
        if activation == "gelu":
            who = "the architecture has" if named else "these weights of OpenAI need"
            raise BadInput(f"clip: {weights.path}: activation is gelu, and {who} quick_gelu; leave activation out.")
        return True
    if activation is None and f"{architecture}-quickgelu" in open_clip.list_models():
        return None
    return activation == "quick_gelu"


def _of_folder(folder: Path) -> LoadedClip:
    about = json_object(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    if (folder / MODEL_CONFIG).is_file():
        path = next((folder / name for name in _FILES if (folder / name).is_file()), None)
        if path is None:
            raise no_weights("clip", folder, f"one of {', '.join(_FILES)}")
        is_ours = about.get("kind") == KIND
        loaded = _build(f"local-dir:{folder}", str(about.get("architecture", folder.name)) if is_ours else folder.name)
        if is_ours:
            loaded.settings = _settings(folder, about)
        return _fill_from_file(loaded, path)
    if about.get("model_type") == "clip":
        return _of_hugging_face(folder, about)
    trained = f" It holds a training run: its model is {folder / 'model'}." if (folder / "model").is_dir() else ""
    raise BadInput(
        f"clip: {folder} is not a CLIP folder: it needs {MODEL_CONFIG} (written by open_clip and this package) "
        f"or a {CONFIG} with model_type clip (written by transformers).{trained}"
    )


def _of_hugging_face(folder: Path, about: Mapping[str, Any]) -> LoadedClip:
    """The model of a transformers folder. Raises BadInput where its architecture is not CLIP's."""
    import open_clip

    try:
        config = hugging_face.model_config(about, str(folder / CONFIG))
        model = open_clip.CLIP(**config)
    except BadInput:
        raise
    except Exception as problem:  # inconsistent sizes raise any exception
        raise BadInput(
            f"clip: {folder / CONFIG} does not define a valid model ({type(problem).__name__}: {problem})."
        ) from None
    fill(model, hugging_face.converted(read_folder(folder, "clip")), str(folder), "its config.json")
    tokenizer = open_clip.SimpleTokenizer(context_length=config["text_cfg"]["context_length"])
    return LoadedClip(model.eval(), tokenizer, folder.name, config, hugging_face.preprocessing(folder))


def _settings(folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    where = f"{folder / CONFIG}"
    if not isinstance(about.get("prefix"), str):
        raise BadInput(f"{where}: prefix is {about.get('prefix')!r}; it must be text, possibly empty.")
    return {
        "prefix": about["prefix"],
        "fit": check_choice(f"{where}: fit", str(about.get("fit")), FITS),
        "precision": check_choice(f"{where}: precision", str(about.get("precision")), PRECISIONS),
    }


def _build(name: str, architecture: str, quick_gelu: bool = False) -> LoadedClip:
    """open_clip's model `name` (an architecture, or the location of its configuration) with untrained weights."""
    import open_clip

    try:
        with _without_logging():
            model = open_clip.create_model(
                name, load_weights=False, pretrained_text=False, force_quick_gelu=quick_gelu, precision="fp32"
            )
            tokenizer = open_clip.get_tokenizer(name)
            model_config = open_clip.get_model_config(name)
    except Exception as problem:  # a damaged configuration raises any exception
        raise BadInput(f"clip: {name} cannot be built ({type(problem).__name__}: {one_line(problem)}).") from problem
    preprocess = {key: model.visual.preprocess_cfg[key] for key in _PREPROCESS}
    config = model_config | ({"quick_gelu": True} if quick_gelu else {})
    return LoadedClip(model.eval(), tokenizer, architecture, config, preprocess)


@dataclass(frozen=True)
class _Weights:
    path: Path
    state: dict[str, torch.Tensor]
    of_openai: bool
    """Whether the file is OpenAI's own, which holds sizes beside the weights."""


def _read(path: Path) -> _Weights:
    beside: list[str] = []
    state = read_state(path, "clip", _NOT_WEIGHTS, beside)
    return _Weights(path, state, bool(beside))


def _fill_from_file(loaded: LoadedClip, path: Path, resize: bool = False) -> LoadedClip:
    """`loaded` with the weights of a file, as `_fill`. Raises BadInput where its configuration contradicts the file."""
    weights = _read(path)
    if weights.of_openai and not loaded.model_config.get("quick_gelu"):
        raise BadInput(
            f"clip: {path}: the weights are OpenAI's, which need QuickGELU, and the configuration has none. Set "
            f'"quick_gelu": true in the model_cfg of {MODEL_CONFIG}.'
        )
    return _fill(loaded, weights, resize)


def _fill(loaded: LoadedClip, weights: _Weights, resize: bool = False) -> LoadedClip:
    """`loaded` with these weights, whose keys must all match.

    resize: position embeddings of another length are interpolated, as open_clip does for its own weights.
    """
    from open_clip.convert import convert_state_dict
    from open_clip.model import convert_to_custom_text_state_dict, resize_pos_embed, resize_text_pos_embed

    model, state = loaded.model, convert_state_dict(loaded.model, weights.state)
    if "positional_embedding" in state and not hasattr(model, "positional_embedding"):
        state = convert_to_custom_text_state_dict(state)
    for name in ("logit_scale", "logit_bias"):  # stored as a scalar or as a list with one entry
        if name in state and getattr(model, name, None) is not None and state[name].numel() == 1:
            state[name] = state[name].reshape(getattr(model, name).shape)
    # Positions, by old versions of transformers, and the causal mask, by TorchScript, follow from the configuration.
    derived = (name for name in state if name.endswith(("transformer.embeddings.position_ids", "attn_mask")))
    for name in [name for name in derived if name not in model.state_dict()]:
        del state[name]
    if resize:
        resize_pos_embed(state, model)
        resize_text_pos_embed(state, model)
    fill(model, state, str(weights.path), loaded.architecture)
    return loaded


@contextlib.contextmanager
def _hub_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as problem:
        raise BadInput(f"clip: {name}: its weights cannot be loaded from the hub ({one_line(problem)}).") from None


@contextlib.contextmanager
def _without_logging() -> Iterator[None]:
    """Suppress open_clip's log messages: it reports through the root logger that a model without weights is random.

    open_clip's logging calls also install a root handler where there is none, which would change a program's later
    logs.
    """
    root, blank = logging.getLogger(), logging.NullHandler()

    def foreign(record: logging.LogRecord) -> bool:
        return "open_clip" not in record.pathname

    root.addHandler(blank)
    root.addFilter(foreign)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="timm")
            yield
    finally:
        root.removeFilter(foreign)
        root.removeHandler(blank)
