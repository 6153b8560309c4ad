"""Embeddings kept by key: the last ones in memory, all of them in a folder if one is given."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from humor_tasks.data.writing import beside

MEMORY = 256 * 2**20  # bytes; 87,000 vectors of 768 numbers


class Vectors:
    """Vectors of `dimensions` float32 by key, least recently used ones leave memory first. Threads may share it.

    folder: one file a vector, written whole or not at all, so that processes can share it; a file that
    is not such a vector counts as missing.
    """

    def __init__(self, dimensions: int, folder: Path | None = None, most_bytes: int = MEMORY) -> None:
        self.dimensions, self.folder = dimensions, folder
        self.most = max(1, most_bytes // (4 * dimensions))
        blank = io.BytesIO()
        np.save(blank, np.zeros(dimensions, np.float32))
        self._head = blank.getvalue()[: -4 * dimensions]  # what every file of ours begins with
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Any | None:
        """The vector, or None."""
        vector = self.recent(key)
        if vector is None and (vector := self._read(key)) is not None:
            self._keep(key, vector)
        return vector

    def recent(self, key: str) -> Any | None:
        """The vector if memory holds it, else None."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key]

    def put(self, key: str, vector: Any) -> None:
        """Keeps a vector."""
        self._keep(key, vector)
        if self.folder is not None:
            with beside(self._path(key)) as path, path.open("xb") as file:
                np.save(file, vector, allow_pickle=False)

    def _keep(self, key: str, vector: Any) -> None:
        with self._lock:
            self._kept[key] = vector
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / f"{key}.npy"

    def _read(self, key: str) -> Any | None:
        if self.folder is None:
            return None
        try:
            data = self._path(key).read_bytes()
        except OSError:
            return None
        # Not np.load: of damaged headers it raises whatever it stumbles over, and reserves what they ask for.
        if len(data) != len(self._head) + 4 * self.dimensions or not data.startswith(self._head):
            return None
        vector = np.frombuffer(data, np.float32, offset=len(self._head))
        return vector if abs(float(vector @ vector) - 1) < 1e-3 else None  # units, as they were put
