"""A cache of embeddings by key: the most recent in memory, and optionally all of them in a folder."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from humor_tasks.data.writing import replacing

MEMORY = 256 * 2**20  # bytes: 87,000 vectors with 768 numbers


class Vectors:
    """A thread-safe cache of vectors of `dimensions` float32 by key; memory evicts the least recently used.

    folder: one file per vector, written atomically, so that processes can share it. A file that is not a valid vector
    is treated as missing.
    """

    def __init__(self, dimensions: int, folder: Path | None = None, max_bytes: int = MEMORY) -> None:
        self.dimensions, self.folder = dimensions, folder
        self.capacity = max(1, max_bytes // (4 * dimensions))
        blank = io.BytesIO()
        np.save(blank, np.zeros(dimensions, np.float32))
        self._head = blank.getvalue()[: -4 * dimensions]  # the header of every file in the cache
        self._recent: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Any | None:
        """The vector from memory or the folder, or None."""
        vector = self.recent(key)
        if vector is None and (vector := self._read(key)) is not None:
            self._remember(key, vector)
        return vector

    def recent(self, key: str) -> Any | None:
        """The vector if it is in memory, else None."""
        with self._lock:
            if key not in self._recent:
                return None
            self._recent.move_to_end(key)
            return self._recent[key]

    def put(self, key: str, vector: Any) -> None:
        """Store a vector in memory and in the folder."""
        self._remember(key, vector)
        if self.folder is not None:
            with replacing(self._path(key)) as path, path.open("xb") as file:
                np.save(file, vector, allow_pickle=False)

    def _remember(self, key: str, vector: Any) -> None:
        with self._lock:
            self._recent[key] = vector
            self._recent.move_to_end(key)
            while len(self._recent) > self.capacity:
                self._recent.popitem(last=False)

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
        # Not np.load: for a damaged header it raises any exception, or allocates as much as the header claims.
        if len(data) != len(self._head) + 4 * self.dimensions or not data.startswith(self._head):
            return None
        vector = np.frombuffer(data, np.float32, offset=len(self._head))
        return vector if abs(float(vector @ vector) - 1) < 1e-3 else None  # only unit vectors are stored
