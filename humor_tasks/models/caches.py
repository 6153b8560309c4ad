"""Caches of arrays by key: the most recently used in memory, and vectors optionally in a folder too."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from humor_tasks.files.writing import replacing

MEMORY = 256 * 2**20  # bytes: 87,000 vectors with 768 numbers


class Sized(Protocol):
    """A numpy array or a tensor of torch."""

    @property
    def nbytes(self) -> int:
        """The bytes of its values."""
        ...


Value = TypeVar("Value", bound=Sized)


class Recent(Generic[Value]):
    """The most recently used arrays by key, up to `most` bytes. It is thread-safe."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> Value | None:
        """The array, or None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: str, value: Value) -> None:
        """Store an array, unless it alone is too large."""
        with self._lock:
            self._pop(key)
            if value.nbytes <= self.most:
                self._values[key] = value
                self._bytes += value.nbytes
            while self._bytes > self.most:
                self._pop(next(iter(self._values)))

    def pop(self, key: str) -> Value | None:
        """The array, which is no longer stored, or None."""
        with self._lock:
            return self._pop(key)

    def _pop(self, key: str) -> Value | None:
        value = self._values.pop(key, None)
        self._bytes -= 0 if value is None else value.nbytes
        return value


class Vectors:
    """A thread-safe cache of vectors of `dimensions` float32 by key; memory evicts the least recently used.

    folder: one file per vector, written atomically, so that processes can share it. A file that is not a valid vector
    is treated as missing.
    """

    def __init__(self, dimensions: int, folder: Path | None = None, max_bytes: int = MEMORY) -> None:
        self.dimensions, self.folder = dimensions, folder
        self.memory: Recent[Any] = Recent(max(max_bytes, 4 * dimensions))
        blank = io.BytesIO()
        np.save(blank, np.zeros(dimensions, np.float32))
        self._head = blank.getvalue()[: -4 * dimensions]  # the header of every file in the cache

    def get(self, key: str) -> Any | None:
        """The vector from memory or the folder, or None."""
        vector = self.memory.get(key)
        if vector is None and (vector := self._read(key)) is not None:
            self.memory.put(key, vector)
        return vector

    def put(self, key: str, vector: Any) -> None:
        """Store a vector in memory and in the folder."""
        self.memory.put(key, vector)
        if self.folder is not None:
            with replacing(self._path(self.folder, key)) as path, path.open("xb") as file:
                np.save(file, vector, allow_pickle=False)

    def _path(self, folder: Path, key: str) -> Path:
        return folder / key[:2] / f"{key}.npy"

    def _read(self, key: str) -> Any | None:
        if self.folder is None:
            return None
        try:
            data = self._path(self.folder, key).read_bytes()
        except OSError:
            return None
        # Not np.load: for a damaged header it raises any exception, or allocates as much as the header claims.
        if len(data) != len(self._head) + 4 * self.dimensions or not data.startswith(self._head):
            return None
        vector = np.frombuffer(data, np.float32, offset=len(self._head))
        return vector if abs(float(vector @ vector) - 1) < 1e-3 else None  # only unit vectors are stored
