"""OFA on a device: loading from a checkpoint's folder, the hub, or with random weights; generation; saving."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import torch

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.writing import write_json
from humor_tasks.models.devices import DTYPES, default_precision, pick_device
from humor_tasks.models.folders import CONFIG, INDEX, TORCH, WEIGHTS, misfits, read_folder, save_state
from humor_tasks.models.ofa.config import PAD, SIZES, GenerationSettings, OfaConfig
from humor_tasks.models.ofa.encoder import Encoded
from humor_tasks.models.ofa.generation import CapturedSteps, Hypothesis, generate
from humor_tasks.models.ofa.layers import KnownPlaces
from humor_tasks.models.ofa.network import OfaNetwork

LARGEST = 20.0  # of a normalised picture; another mean and deviation may exceed 1
PRECISIONS = ("auto", "fp32", "bf16")
RANDOM = "random/"
# Buffers in the published files that are recomputed here from the configuration.
_DERIVED = ("token_rp_bucket", "image_rp_bucket", "image_position_idx")
_TABLE = "encoder.embed_tokens.weight"
# Files to download besides weights: configuration, and either format of the vocabulary. None of them is code.
_SMALL = ["*.json", "merges.txt", "dict.txt", "vocab.bpe"]


class Ofa:
    """An OFA network for inference. It is thread-safe; calls are serialised.

    folder: the checkpoint's folder, which also holds the vocabulary; None for random weights. revision: the hub's
    commit.
    """

    def __init__(self, network: OfaNetwork, name: str, folder: Path | None = None, revision: str | None = None) -> None:
        self.name, self.folder, self.revision = name, folder, revision
        self.network = network.to(memory_format=torch.channels_last)
        self.config = self.network.config
        table = self.network.encoder.embed_tokens.weight
        self.device, self.dtype = table.device, table.dtype
        # Launching a step's many small operations takes a GPU longer than computing them.
        self.captured = CapturedSteps(self.network.decoder) if self.device.type == "cuda" else None
        self._lock = threading.RLock()
        self._known: KnownPlaces | None = None
        self._declared = 0  # open `constant_weights`

    @classmethod
    def load(cls, name: str | Path, device: str = "auto", precision: str = "auto", revision: str | None = None) -> Ofa:
        """Load a checkpoint's folder, OWNER/NAME of the hub at `revision`, or random/SIZE.

        device: auto is CUDA, else MPS, else the CPU. precision: fp32 or bf16, of weights and computation; auto is bf16
        on CUDA and fp32 elsewhere. Raises BadInput for a missing model, mismatched weights or an unavailable device.
        """
        where = pick_device(device, "ofa")  # validated before a download
        check_choice("ofa: precision", precision, PRECISIONS)
        dtype = DTYPES[default_precision(where) if precision == "auto" else precision]
        if (text := str(name)).startswith(RANDOM):
            return cls(_random_network(text.removeprefix(RANDOM)).to(where, dtype), text)
        folder, commit = _find(text, revision)
        return cls(_read_network(folder, where, dtype), text, folder, commit)

    @contextlib.contextmanager
    def constant_weights(self) -> Iterator[None]:
        """Declare that no weight changes inside the block.

        What depends on weights and sizes alone is computed once and kept to the end of the block, in up to 1 GiB.
        Nothing is kept outside of such blocks, because torch does not record every change of a weight.
        """
        with self._lock:
            self._declared += 1
            self._known = self._known or self.network.encoder.known_places()
        try:
            yield
        finally:
            with self._lock:
                self._declared -= 1
                if not self._declared:
                    self._known = None

    def generate(
        self,
        patch_images: torch.Tensor | None,
        input_ids: torch.Tensor | None,
        settings: GenerationSettings | None = None,
    ) -> list[list[Hypothesis]]:
        """Each input's hypotheses, best first: as many as beams, or fewer where fewer were finished.

        patch_images [B, 3, H, W] in -1..1; input_ids [B, T], padded on the right; one of them may be None. Raises
        BadInput for wrong shapes, for pictures that are not normalised, for token ids outside the vocabulary or padded
        on the left, and for lengths that exceed the positions.
        """
        if patch_images is not None:
            _check_pictures(patch_images)
            patch_images = patch_images.to(self.device, self.dtype, memory_format=torch.channels_last)
        with self._lock, torch.inference_mode():
            features = None if patch_images is None else self.network.encoder.features(patch_images)
            encoded = self._encode(features, None, input_ids)
            return generate(self.network, encoded, settings or GenerationSettings(), self.captured)

    def features(self, patch_images: torch.Tensor) -> torch.Tensor:
        """The backbone's features [P, C, h, w] of pictures [P, 3, H, W] in -1..1, on the device."""
        with self._lock, torch.inference_mode():
            return self.network.encoder.features(patch_images.to(self.device, self.dtype))

    def answer(
        self, features: torch.Tensor, owners: torch.Tensor, input_ids: torch.Tensor, settings: GenerationSettings
    ) -> list[list[Hypothesis]]:
        """As `generate`, for texts [B, T] about the pictures owners [B] of `features`."""
        with self._lock, torch.inference_mode():
            encoded = self._encode(features, owners, input_ids)
            return generate(self.network, encoded, settings, self.captured)

    def loglikelihoods(
        self, features: torch.Tensor, owners: torch.Tensor, input_ids: torch.Tensor, continuations: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """For every token of continuations [B, k, L + 1] after the first: its log-probability in float32, and whether
        it is the likeliest one. Both are [B, k, L], on the CPU.

        Each text about a picture is encoded once. Shorter continuations are filled on the right with any token.
        """
        written = continuations.to(self.device)
        with self._lock, torch.inference_mode():
            encoded = self._encode(features, owners, input_ids)
            likely, first = self.network.decoder.loglikelihoods(written[:, :, :-1], written[:, :, 1:], encoded)
        return likely.cpu(), first.cpu()

    def _encode(self, features: torch.Tensor | None, owners: torch.Tensor | None, ids: torch.Tensor | None) -> Encoded:
        tokens = self._tokens(ids)
        padded = ids is not None and bool((ids == PAD).any())  # where the ids came from, mostly the CPU
        grid = (0, 0) if features is None else (features.shape[2], features.shape[3])
        words = 0 if ids is None else min(ids.shape[-1], self.config.most_tokens)
        places = self._known.of(grid, words) if self._known and (words or features is not None) else None
        owners = None if owners is None else owners.to(self.device)
        encoder = self.network.encoder
        encoded: Encoded = encoder(tokens, features=features, owners=owners, padded=padded, places=places)
        return encoded

    def _tokens(self, ids: torch.Tensor | None) -> torch.Tensor | None:
        """The ids on the device. Raises BadInput for other values than right-padded ids of the vocabulary."""
        if ids is None or not ids.numel():
            return None if ids is None else ids.to(self.device)
        if ids.is_floating_point() or not 0 <= int(ids.min()) <= int(ids.max()) < self.config.vocab_size:
            raise BadInput(f"ofa: token ids go from 0 to {self.config.vocab_size - 1}; are they of another vocabulary?")
        if ids.dim() == 2 and bool(((ids[:, :-1] == PAD) & (ids[:, 1:] != PAD)).any()):
            raise BadInput("ofa: token ids with padding before a token; pad on the right, as `Tokenizer.pad` does.")
        return ids.to(self.device)

    def save(self, folder: str | Path) -> None:
        """Write a folder that `load` reads; it does not include the vocabulary."""
        save(Path(folder).expanduser(), self.network)


def _check_pictures(images: torch.Tensor) -> None:
    """Raise BadInput for pictures that are not normalised: bytes, values up to 255, or values that are no numbers."""
    if not images.is_floating_point():
        raise BadInput(f"ofa: pictures are {images.dtype}; give floats in -1..1 (`Pixels.normalised`).")
    if images.numel():
        low, high = (float(x) for x in images.aminmax())
        if not -LARGEST <= low <= high <= LARGEST:  # also false for nan
            raise BadInput(f"ofa: pictures have values from {low:g} to {high:g}; normalise them to -1..1.")


# ---- weights --------------------------------------------------------------------------------------


def _random_network(size: str) -> OfaNetwork:
    """A published size with random weights from a fixed seed."""
    config = OfaConfig.named(check_choice("ofa: random", size, SIZES))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return OfaNetwork(config).eval()


def _read_network(folder: Path, device: torch.device, dtype: torch.dtype) -> OfaNetwork:
    """The network of a checkpoint's folder; built on the meta device, so that memory holds the weights only once."""
    config = OfaConfig.from_json(folder / CONFIG)
    with torch.device("meta"):
        network = OfaNetwork(config)
    state = _fitted(read_folder(folder, "ofa"), network, str(folder))
    for name, tensor in state.items():
        state[name] = tensor.to(device, dtype if tensor.is_floating_point() else None)
    network.load_state_dict(state, assign=True)
    network.tie()
    return network.eval()


def _fitted(state: dict[str, torch.Tensor], network: OfaNetwork, where: str) -> dict[str, torch.Tensor]:
    """A file's state as the network expects it. Raises BadInput naming missing, unexpected or mismatched weights."""
    expected = network.state_dict()
    state = {name: tensor for name, tensor in state.items() if name.rpartition(".")[2] not in _DERIVED}
    _tie(state, network.config, where)
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


def save(folder: Path, network: OfaNetwork) -> None:
    """Write config.json and model.safetensors, which `Ofa.load` reads; tied weights are written once."""
    tied = set(_tied_names(network.config))
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: tensor for name, tensor in network.state_dict().items() if name not in tied}
    save_state(folder / WEIGHTS, state)
    write_json(folder / CONFIG, network.config.to_values())


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
