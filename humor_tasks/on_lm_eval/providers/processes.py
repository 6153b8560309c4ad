"""Models that run inside lm-eval's process, or in several processes started by `accelerate launch`."""

from __future__ import annotations

import atexit
import logging
import os
from datetime import timedelta
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.checks import Uncached

logger = logging.getLogger(__name__)

DEFAULT_DEVICE = "cuda:0"  # lm-eval's value where --device is left out


class InProcess(Uncached):
    """A model that gathers the answers of several processes; call `join` after loading it."""

    accelerator: Any = None

    def join(self, accelerator: Any) -> None:
        """Take rank and world size from `accelerator`; None for a single process."""
        if accelerator is not None:
            self.accelerator = accelerator
            self._rank, self._world_size = accelerator.process_index, accelerator.num_processes

    def all_gather(self, tensor: Any) -> Any:
        """See LM.all_gather."""
        return tensor if self.world_size == 1 else self.accelerator.gather(tensor)

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any] | None:
        """See LM.gather_object."""
        if self.world_size == 1:
            return [obj]
        import torch

        gathered = [None] * self.world_size if self.rank == dst else None
        torch.distributed.gather_object(obj, gathered, dst)
        return gathered

    def barrier(self) -> None:
        """See LM.barrier."""
        if self.world_size > 1:
            self.accelerator.wait_for_everyone()


def place(device: str | None) -> tuple[Any, str | None]:
    """The accelerator (None for a single process) and the device of this process (None: the best available one)."""
    accelerator = launched()
    if accelerator is None:
        return None, None if device == DEFAULT_DEVICE else device
    assigned = str(accelerator.device)
    if device not in (None, DEFAULT_DEVICE, assigned):
        logger.warning("--device %s is ignored: accelerate assigns %s to this process.", device, assigned)
    return accelerator, assigned


def launched() -> Any | None:
    """The accelerator of the processes that `accelerate launch` started; None for a single process."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        return None
    try:
        import torch
        from accelerate import Accelerator, InitProcessGroupKwargs
    except ImportError:
        raise BadInput("several processes need accelerate: pip install accelerate.") from None
    # As in lm-eval's hf model, because a process may have to wait for another's download.
    timeout = InitProcessGroupKwargs(timeout=timedelta(weeks=1))
    # Without cpu=True, accelerate does not form a process group where there is no GPU.
    accelerator = Accelerator(cpu=not torch.cuda.is_available(), kwargs_handlers=[timeout])
    # A process group that is still open when Python exits sometimes aborts the process, after all work is done.
    atexit.register(accelerator.end_training)
    return accelerator


def batch_size_of(given: Any) -> int:
    """The batch size from lm-eval's --batch_size: 0, chosen by device, for auto and 1 (lm-eval's default)."""
    text = str(given)
    if given is None or text.split(":")[0] == "auto":
        return 0
    if not text.isascii() or not text.isdigit():
        raise BadInput(f"--batch_size is '{text}'; it must be a whole number or auto.")
    return int(text) if int(text) > 1 else 0
