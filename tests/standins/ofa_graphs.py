"""What torch dispatches: counted, or recorded and repeated as a CUDA graph does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only


class Counted(TorchDispatchMode):
    """The operations of a block, by name and with the shapes of their results."""

    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()
        self.shapes: list[Any] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = function(*args, **(kwargs or {}))
        name = function.overloadpacket.__name__
        self.names[name] += 1
        self.shapes.append((name, *(tuple(x.shape) for x in tree_leaves(found) if isinstance(x, torch.Tensor))))
        return found


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = function(*args, **(kwargs or {}))
        self.calls.append((function, args, kwargs or {}, found))
        return found


def recorded(work: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    """Repeat the operations of `work` without running its Python: numbers are those of the recording, as in a graph."""
    with _Recorder() as recorder:
        result = work()

    def replay() -> torch.Tensor:
        now: dict[int, Any] = {}

        def current(tensor: torch.Tensor) -> Any:
            return now.get(id(tensor), tensor)

        for function, args, kwargs, found in recorder.calls:
            args, kwargs = tree_map_only(torch.Tensor, current, (args, kwargs))
            repeated = function(*args, **kwargs)
            now.update(zip(map(id, tree_leaves(found)), tree_leaves(repeated), strict=True))
        result.copy_(current(result))
        return result

    return replay
