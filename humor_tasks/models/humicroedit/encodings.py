"""Vectors of texts kept in a folder, so that several trainings with one frozen encoder encode no text twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humor_tasks.files.writing import write_bytes
from humor_tasks.models.weight_files import check_weights


def identity(tokenizer: Any, model: Any, most: int) -> str:
    """A digest of what a vector depends on: weights, tokenizer, and the most tokens of a text."""
    digest = hashlib.sha256(f"{most}\n{tokenizer.backend_tokenizer.to_str()}".encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


class Encodings:
    """The vectors of one encoder: a safetensors file for each set of new texts, which no other process changes."""

    def __init__(self, folder: Path, encoder: str) -> None:
        self.folder = folder.expanduser() / encoder

    def read(self) -> dict[str, Any]:
        """Text -> vector, float32 [dimensions]. Raises BadInput for a file that is none of vectors."""
        from safetensors import safe_open

        vectors: dict[str, Any] = {}
        for path in sorted(self.folder.glob("*.safetensors")):
            check_weights(path, "encodings")
            with safe_open(path, "np") as file:
                texts = json.loads(file.metadata()["texts"])
                vectors.update(zip(texts, file.get_tensor("vectors"), strict=True))
        return vectors

    def keep(self, vectors: Mapping[str, Any]) -> None:
        """Write vectors of new texts, atomically. Raises BadInput where the folder cannot be written."""
        import numpy as np
        from safetensors.numpy import save

        texts = json.dumps(list(vectors), ensure_ascii=False)
        path = self.folder / f"{hashlib.sha256(texts.encode()).hexdigest()[:16]}.safetensors"
        # Not by save_file, whose files nobody else may read, whatever the umask.
        write_bytes(path, save({"vectors": np.stack(list(vectors.values()))}, {"texts": texts}))
