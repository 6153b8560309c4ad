"""Where an OFA comes from: a checkpoint's folder, the hub, or random weights of a published size; how it is saved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import torch

from humor_tasks.data.writing import beside, write_json
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.ofa.config import SIZES, OfaConfig
from humor_tasks.models.ofa.network import OfaNetwork
from humor_tasks.models.weight_files import CONFIG, INDEX, TORCH, WEIGHTS, misfits, read_folder

RANDOM = "random/"
# In the published files, and made anew here: they follow from the configuration.
_DERIVED = ("token_rp_bucket", "image_rp_bucket", "image_position_idx")
_TABLE = "encoder.embed_tokens.weight"
# What the hub has beside weights: configuration, and either form of the vocabulary. Nothing of it is code.
_SMALL = ["*.json", "merges.txt", "dict.txt", "vocab.bpe"]


@dataclass(frozen=True)
class Opened:
    """A network, and where it came from."""

    network: OfaNetwork
    folder: Path | None
    """Where the vocabulary is, too; None for random weights."""
    revision: str | None
    """The hub's commit."""


def open_network(name: str | Path, device: torch.device, dtype: torch.dtype, revision: str | None = None) -> Opened:
    """The network of a folder, of OWNER/NAME on the hub, or random/SIZE, seeded. BadInput says what is wrong."""
    if (size := str(name)).startswith(RANDOM):
        return Opened(random_network(size.removeprefix(RANDOM)).to(device, dtype), None, None)
    folder, commit = _found(str(name), revision)
    config = OfaConfig.from_json(folder / CONFIG)
    state = fitted(read_folder(folder, "ofa"), config, str(folder))
    return Opened(filled(config, state, device, dtype), folder, commit)


def random_network(size: str) -> OfaNetwork:
    """A published size with random weights, the same ones each time."""
    config = OfaConfig.named(check_choice("ofa: random", size, SIZES))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return OfaNetwork(config).eval()


def save(folder: Path, network: OfaNetwork) -> None:
    """config.json and model.safetensors, which `open_network` reads; a shared table is written once."""
    from safetensors.torch import save_file

    tied = set(_copies(network.config))
    tensors = {name: t.detach().cpu().contiguous() for name, t in network.state_dict().items() if name not in tied}
    folder.mkdir(parents=True, exist_ok=True)
    with beside(folder / WEIGHTS) as path:
        save_file(tensors, path)
    write_json(folder / CONFIG, network.config.to_values())


def filled(config: OfaConfig, state: dict[str, torch.Tensor], device: torch.device, dtype: torch.dtype) -> OfaNetwork:
    """A network with the weights of `fitted`, built around them: there is never a second copy of the whole."""
    with torch.device("meta"):
        network = OfaNetwork(config)
    for name, tensor in state.items():
        state[name] = tensor.to(device, dtype if tensor.is_floating_point() else None)
    network.load_state_dict(state, assign=True)
    network.tie()
    return network.eval()


def fitted(state: dict[str, torch.Tensor], config: OfaConfig, where: str) -> dict[str, torch.Tensor]:
    """A file's state as `config` has it; BadInput names what is missing, unexpected or of another shape."""
    with torch.device("meta"):
        expected = OfaNetwork(config).state_dict()
    state = {name: tensor for name, tensor in state.items() if name.rpartition(".")[2] not in _DERIVED}
    _one_table(state, config, where)
    for name, tensor in expected.items():  # counters that only training would read
        if name.endswith("num_batches_tracked"):
            state.setdefault(name, torch.zeros(tensor.shape, dtype=tensor.dtype))
    if problems := misfits(expected, state):
        hint = " Quantized weights are not read." if "wrong type" in problems[-1] else ""
        if any("wrong shape" in problem for problem in problems):
            hint = " It is a checkpoint of another size than its config.json says."
        if any(".encoder_attn." in name for name in state):
            hint = " These are fairseq's names; convert the file to those of OFA's transformers form."
        raise BadInput(f"ofa: {where}: the weights do not fit its config.json: {'; '.join(problems)}.{hint}")
    return state


def _copies(config: OfaConfig) -> list[str]:
    """Names of the table of tokens besides its first."""
    shared = ["decoder.output_projection.weight"] if config.share_decoder_input_output_embed else []
    return ["decoder.embed_tokens.weight", *shared]


def _one_table(state: dict[str, torch.Tensor], config: OfaConfig, where: str) -> None:
    """Files hold the shared table under one of its names or under all; all become one tensor."""
    names = [name for name in (_TABLE, *_copies(config)) if name in state]
    for name in names[1:]:
        first, other = state[names[0]], state[name]
        if first.shape == other.shape and not torch.equal(first, other):
            raise BadInput(f"ofa: {where}: {names[0]} and {name} differ, but its config.json has them as one table.")
    if names:
        for name in (_TABLE, *_copies(config)):
            state.setdefault(name, state[names[0]])


def _found(name: str, revision: str | None) -> tuple[Path, str | None]:
    """The folder, and the commit if it is the hub's."""
    path = Path(os.path.expanduser(name))
    if name and os.path.isdir(path):  # unlike Path's own, it has an answer to any text
        if revision is not None:
            raise BadInput(f"ofa: revision belongs to a model of the hub, and {name} is a folder.")
        if not (path / CONFIG).is_file():
            raise BadInput(f"ofa: {name} is no folder of an OFA: it has no {CONFIG}.")
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
        except Exception:  # no network, mostly: what is kept of it may do, and if not, what follows says why
            weights = [WEIGHTS, "model-*.safetensors", TORCH]
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=[*_SMALL, *weights]))
    except Exception as problem:  # which class it is depends on the hub client and its version
        said = str(problem).strip().splitlines() or [""]
        raise BadInput(f"ofa: {name} is not to be had from the hub ({type(problem).__name__}: {said[0]}).") from None
    if not (folder / CONFIG).is_file():
        raise BadInput(f"ofa: {name} on the hub is no OFA: it has no {CONFIG}.")
    return folder, folder.name
