"""Models that run inside lm-eval's process, or in several processes started by `accelerate launch`."""

from __future__ import annotations

import atexit
import contextlib
import functools
import logging
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from lm_eval.models.utils import normalize_gen_kwargs
from tqdm import tqdm

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.on_lm_eval.checks import OWN, Uncached, check_requests
from humor_tasks.on_lm_eval.harness import DefaultLength, Instance
from humor_tasks.rows.records import plain_text

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")
HARNESS = {"batch_size", "max_batch_size", "device"}  # passed to every model by lm-eval
DEFAULT_DEVICE = "cuda:0"  # lm-eval's value where --device is left out


class LocalLM(Uncached):
    """A model in this process. With several processes, call `join` after loading it: it gathers their answers."""

    accelerator: Any = None
    tokenizer_name = "none"
    weights = ""  # the folder or name of weights that may be trained on a benchmark's rows; see `on_lm_eval.checks`

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

    def check_unseen(self, requests: Sequence[Instance]) -> None:
        """Raise BadInput where the model was trained on the requests' documents."""
        if self.weights:
            check_requests(self.weights, requests)

    def bar(self, name: str, total: int, quiet: bool) -> Any:
        """A progress bar, which only the first process shows."""
        return tqdm(total=total, disable=quiet or self.rank != 0, desc=name)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The turns as plain text."""
        return "\n\n".join(turn["content"] for turn in chat_history)


def check_arguments(who: str, arguments: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise BadInput for a model argument that is not `known` and that lm-eval does not pass to every model."""
    for name in set(arguments) - HARNESS:
        check_choice(f"--model_args of {who}", name, known)


# ---- devices and processes ----------------------------------------------------------------------


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


def batch_size_of(value: Any) -> int:
    """The batch size from lm-eval's --batch_size: 0, chosen by device, for auto and 1 (lm-eval's default)."""
    text = str(value)
    if value is None or text.split(":")[0] == "auto":
        return 0
    if not text.isascii() or not text.isdigit():
        raise BadInput(f"--batch_size is '{text}'; it must be a whole number or auto.")
    return int(text) if int(text) > 1 else 0


def device_of(device: str | None, model: str) -> str | None:
    """The device for a model: the CPU in the place of "cuda", lm-eval's default, where there is none, as in hf."""
    if device is None or not device.startswith("cuda"):
        return device
    with contextlib.suppress(ImportError):  # the model raises the error that names the package to install
        import torch

        if torch.cuda.is_available():
            return device
    logger.info("No CUDA device: %s runs on the CPU.", model)
    return "cpu"


# ---- requests -----------------------------------------------------------------------------------


def prompt_of(request: Instance, prefix: str) -> str:
    """A request's prompt up to where the answer goes on, after `prefix_of`; tasks of replies leave it to the model."""
    text = str(request.args[0])
    return text if text.endswith(prefix) else plain_text([text.rstrip()], prefix)


def prefix_of(request: Instance) -> str:
    """The prefix of answers in a task of this package; empty for other tasks."""
    task = request.doc.get(OWN) if isinstance(request.doc, dict) else None
    if not task or "prefix" in task:
        return str(task["prefix"]) if task else ""
    return _prefix(task["benchmark"], tuple(task["options"].items()))


@functools.cache
def _prefix(name: str, options: tuple[tuple[str, Any], ...]) -> str:
    return find_benchmark(name).reopen(None, dict(options)).form.prefix


def read_arguments(
    who: str, arguments: Mapping[str, Any], most: int, chosen: bool, known: Sequence[str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments by lm-eval's names, and the stop sequences.

    most: tokens by default; chosen: by the user, as in `ReplyLength.within`. temperature is None for greedy decoding.
    Raises BadInput for an argument that is not `known`, and for invalid ones.
    """
    try:
        how: dict[str, Any] = dict(normalize_gen_kwargs(dict(arguments), most))
    except (TypeError, ValueError) as problem:
        raise BadInput(f"{who}: {dict(arguments)} cannot be used ({problem}).") from None
    if isinstance(arguments, DefaultLength):
        how["max_gen_toks"] = arguments.length.within(most, chosen)
    stops, draws = [stop for stop in how.pop("until") if stop is not None], how.pop("do_sample")
    for name in how:
        check_choice(who, name, known)
    if wrong := [stop for stop in stops if not isinstance(stop, str)]:
        raise BadInput(f"{who}: until contains {wrong[0]!r}; it must be a text or a list of texts.")
    if draws not in (None, True, False):
        raise BadInput(f"{who}: do_sample is {draws!r}; it must be true or false.")
    if draws:
        how.setdefault("temperature", 1.0)
    else:
        how["temperature"] = None
    return how, tuple(stops)
