"""Loading of OFA from a checkpoint's folder, the hub, or with random weights of a published size; and saving."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import torch

from humor_tasks.data.writing import replacing, write_json
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.ofa.config import SIZES, OfaConfig
from humor_tasks.models.ofa.network import OfaNetwork
from humor_tasks.models.weight_files import CONFIG, INDEX, TORCH, WEIGHTS, misfits, read_folder

RANDOM = "random/"
# Buffers in the published files that are recomputed here from the configuration.
_DERIVED = ("token_rp_bucket", "image_rp_bucket", "image_position_idx")
_TABLE = "encoder.embed_tokens.weight"
# Files to download besides weights: configuration, and either format of the vocabulary. None of them is code.
_SMALL = ["*.json", "merges.txt", "dict.txt", "vocab.bpe"]


@dataclass(frozen=True)
class LoadedOfa:
    """A loaded network and its source."""

    network: OfaNetwork
    folder: Path | None
    """The checkpoint's folder, which also holds the vocabulary; None for random weights."""
    revision: str | None
    """The hub's commit."""


def open_network(name: str | Path, device: torch.device, dtype: torch.dtype, revision: str | None = None) -> LoadedOfa:
    """The network of a folder, of OWNER/NAME on the hub, or random/SIZE. Raises BadInput where it cannot be loaded."""
    if (size := str(name)).startswith(RANDOM):
        return LoadedOfa(random_network(size.removeprefix(RANDOM)).to(device, dtype), None, None)
    folder, commit = _find(str(name), revision)
    config = OfaConfig.from_json(folder / CONFIG)
    state = fitted(read_folder(folder, "ofa"), config, str(folder))
    return LoadedOfa(filled(config, state, device, dtype), folder, commit)


def random_network(size: str) -> OfaNetwork:
    """A published size with random weights from a fixed seed."""
    config = OfaConfig.named(check_choice("ofa: random", size, SIZES))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return OfaNetwork(config).eval()


def save(folder: Path, network: OfaNetwork) -> None:
    """Write config.json and model.safetensors, which `open_network` reads; tied weights are written once."""
    from safetensors.torch import save_file

    tied = set(_tied_names(network.config))
    tensors = {name: t.detach().cpu().contiguous() for name, t in network.state_dict().items() if name not in tied}
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / WEIGHTS) as path:
        save_file(tensors, path)
    write_json(folder / CONFIG, network.config.to_values())


def filled(config: OfaConfig, state: dict[str, torch.Tensor], device: torch.device, dtype: torch.dtype) -> OfaNetwork:
    """A network with the state of `fitted`, built on the meta device, so that only one copy of the weights is in
    memory.
    """
    with torch.device("meta"):
        network = OfaNetwork(config)
    for name, tensor in state.items():
        state[name] = tensor.to(device, dtype if tensor.is_floating_point() else None)
    network.load_state_dict(state, assign=True)
    network.tie()
    return network.eval()


def fitted(state: dict[str, torch.Tensor], config: OfaConfig, where: str) -> dict[str, torch.Tensor]:
    """A file's state as `config` expects it. Raises BadInput naming missing, unexpected or mismatched weights."""
    with torch.device("meta"):
        expected = OfaNetwork(config).state_dict()
    state = {name: tensor for name, tensor in state.items() if name.rpartition(".")[2] not in _DERIVED}
    _tie(state, config, where)
    for name, tensor in expected.items():  # counters used only in training
        if name.endswith("num_batches_tracked"):
            state.setdefault(name, torch.zeros(tensor.shape, dtype=tensor.dtype))
    if problems := misfits(expected, state):
        hint = " Quantized weights are not read." if "wrong type" in problems[-1] else ""
        if any("wrong shape" in problem for problem in problems):
            hint = " The checkpoint has another size than its config.json."
        if any(".encoder_attn." in name for name in state):
            hint = " These are fairseq's names; convert the file to OFA's transformers format."
        raise BadInput(f"ofa: {where}: the weights do not fit its config.json: {'; '.join(problems)}.{hint}")
    return state


def _tied_names(config: OfaConfig) -> list[str]:
    """The other names of the tied token embedding."""
    shared = ["decoder.output_projection.weight"] if config.share_decoder_input_output_embed else []
    return ["decoder.embed_tokens.weight", *shared]


def _tie(state: dict[str, torch.Tensor], config: OfaConfig, where: str) -> None:
    """Tie the token embedding: files store it under one of its names or under all of them."""
    names = [name for name in (_TABLE, *_tied_names(config)) if name in state]
    for name in names[1:]:
        first, other = state[names[0]], state[name]
        if first.shape == other.shape and not torch.equal(first, other):
            raise BadInput(f"ofa: {where}: {names[0]} and {name} differ, but its config.json ties them.")
    if names:
        for name in (_TABLE, *_tied_names(config)):
            state.setdefault(name, state[names[0]])


def _find(name: str, revision: str | None) -> tuple[Path, str | None]:
    """The checkpoint's folder, and the commit if it is from the hub."""
    path = Path(os.path.expanduser(name))
    if name and os.path.isdir(path):  # unlike Path.is_dir, it accepts any text
        if revision is not None:
            raise BadInput(f"ofa: revision is for a model of the hub, and {name} is a folder.")
        if not (path / CONFIG).is_file():
            raise BadInput(f"ofa: {name} is not an OFA folder: it has no {CONFIG}.")
        return path, None
    if name and os.path.exists(path):
        raise BadInput(f"ofa: {name} is a file; give the folder with its {CONFIG}.")
    if path.is_absolute() or name.startswith((".", "~")) or name.count("/") != 1:
        raise BadInput(
            f"ofa: {name}: there is no such folder. Give a checkpoint's folder, OWNER/NAME of the hub, or "
            f"{RANDOM}SIZE with {', '.join(SIZES)}."
        )
    return _downloaded(name, revision)


def _downloaded(name: str, revision: str | None) -> tuple[Path, str]:
    from huggingface_hub import HfApi, snapshot_download

    weights: list[str]
    try:
        try:
            info = HfApi().model_info(name, revision=revision)
            files = {sibling.rfilename for sibling in info.siblings or ()}
            revision = info.sha or revision
            if WEIGHTS in files:
                weights = [WEIGHTS]
            elif INDEX in files:
                weights = ["model-*.safetensors"]
            else:
                weights = [TORCH]
        except Exception:  # mostly no network: the cache may suffice, and if not, the next call raises
            weights = [WEIGHTS, "model-*.safetensors", TORCH]
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=[*_SMALL, *weights]))
    except Exception as problem:  # the class depends on the version of the hub client
        lines = str(problem).strip().splitlines() or [""]
        raise BadInput(f"ofa: {name} cannot be loaded from the hub ({type(problem).__name__}: {lines[0]}).") from None
    if not (folder / CONFIG).is_file():
        raise BadInput(f"ofa: {name} on the hub is not an OFA model: it has no {CONFIG}.")
    return folder, folder.name
