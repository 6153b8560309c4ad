"""Models that run in lm-eval's own process, or in several that `accelerate launch` started: devices and gathering."""

from __future__ import annotations

import logging
import os
from datetime import timedelta
from typing import Any

from lm_eval.api.model import LM

from humor_tasks.errors import BadInput

logger = logging.getLogger(__name__)

UNSAID = "cuda:0"  # what lm-eval's command line says where --device is left out


class InProcess(LM):
    """Gathers the answers of several processes. Set `accelerator` by `join` once the model is made."""

    accelerator: Any = None

    def join(self, accelerator: Any) -> None:
        """Take the place among the processes that `accelerator` gives; None is the only process."""
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
    """accelerate's view of the processes (None: there is one) and this one's device (None: the best there is)."""
    accelerator = launched()
    if accelerator is None:
        return None, None if device == UNSAID else device
    own = str(accelerator.device)
    if device not in (None, UNSAID, own):
        logger.warning("--device %s is not used: accelerate gives this process %s.", device, own)
    return accelerator, own


def launched() -> Any | None:
    """accelerate's view of the processes that `accelerate launch` started; None where there is only this one."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        return None
    try:
        import torch
        from accelerate import Accelerator, InitProcessGroupKwargs
    except ImportError:
        raise BadInput("several processes need accelerate: pip install accelerate.") from None
    # One process may have to wait for another's download, as in lm-eval's hf model.
    patience = InitProcessGroupKwargs(timeout=timedelta(weeks=1))
    # Left alone, accelerate takes processes without a GPU for so many single ones.
    return Accelerator(cpu=not torch.cuda.is_available(), kwargs_handlers=[patience])


def batch_size_of(given: Any) -> int:
    """lm-eval's --batch_size as a model's own: 0, what suits the device, for 1 (lm-eval's default) and auto."""
    said = str(given)
    if given is None or said.split(":")[0] == "auto":
        return 0
    if not said.isascii() or not said.isdigit():
        raise BadInput(f"--batch_size is '{said}'; give a whole number, or auto.")
    return int(said) if int(said) > 1 else 0
