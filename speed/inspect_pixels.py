"""What pictures cost in Inspect: CLIP's run beside a baseline's over the same rows, by CPU time and by counts.

    python speed/inspect_pixels.py [--rows 528] [--runs 3] [--architecture ViT-B-32]

The rows are drawn, in the corpus's shape; without --architecture the network has two layers of 64 numbers. One thread
computes, so that CPU time is work and not waiting. Run it from another checkout to compare (PYTHONPATH).
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import logging
import tempfile
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import open_clip
import torch
from clip_lm_eval import TINY
from clip_workload import write_corpus
from inspect_ai import eval
from inspect_ai.model import Model, get_model
from PIL import ImageFile

from humor_tasks.models.clip import Clip
from humor_tasks.on_inspect.providers.chooser import ChooserAPI
from humor_tasks.rows.media import checking


@contextlib.contextmanager
def counting() -> Iterator[Counter[str]]:
    """Counts of the block: decodes, bytes encoded as base64 and decoded from it, bytes of images in messages; and the
    network's CPU time in microseconds.
    """
    counts: Counter[str] = Counter()
    load, encode, decode, generate = ImageFile.ImageFile.load, base64.b64encode, base64.b64decode, ChooserAPI.generate

    def loads(image: Any) -> Any:
        counts["decodes"] += bool(image.tile)
        return load(image)

    def encodes(data: Any, *more: Any) -> bytes:
        counts["base64 encoded"] += len(data)
        return encode(data, *more)

    def decodes(data: Any, *more: Any, **named: Any) -> bytes:
        counts["base64 decoded"] += len(data)
        return decode(data, *more, **named)

    async def asked(self: Any, input: Any, **more: Any) -> Any:
        parts = [part for message in input if not isinstance(message.content, str) for part in message.content]
        counts["in messages"] += sum(len(part.image) for part in parts if part.type == "image")
        return await generate(self, input, **more)

    def network(run: Any) -> Any:
        def timed(*arguments: Any) -> Any:
            start = time.thread_time_ns()
            try:
                return run(*arguments)
            finally:
                counts["network"] += (time.thread_time_ns() - start) // 1_000

        return timed

    with contextlib.ExitStack() as patches:
        for owner, name, new in (
            (ImageFile.ImageFile, "load", loads),
            (base64, "b64encode", encodes),
            (base64, "b64decode", decodes),
            (ChooserAPI, "generate", asked),
            (Clip, "_run_images", network(Clip._run_images)),
            (Clip, "_run_texts", network(Clip._run_texts)),
        ):
            patches.enter_context(mock.patch.object(owner, name, new))
        yield counts


def measured(model: Model, data: str, log_images: bool) -> Counter[str]:
    """Counts of one run, with its CPU time and the log's size."""
    chooser = model.api.chooser  # type: ignore[attr-defined]
    takers = weakref.WeakSet[Any]()  # a baseline does not pay for the pixels that CLIP gets from the check
    if hasattr(chooser, "clip"):
        chooser.clip.forget()
        takers.add(chooser.clip.checked)
    given = {"dataset": data, "setting": "pixels"}
    patched = mock.patch.object(checking, "_takers", takers)
    with tempfile.TemporaryDirectory() as folder, counting() as counts, patched:
        start = time.process_time()
        log = eval(
            "humor_tasks/matching",
            task_args=given,
            model=model,
            log_dir=folder,
            display="none",
            log_level="error",
            log_images=log_images,
        )[0]
        counts["processor"] = round(1e6 * (time.process_time() - start))
        assert log.status == "success", log.error and log.error.message
        counts["log"] = sum(file.stat().st_size for file in Path(folder).iterdir())
    return counts


def report(log_images: bool, runs: dict[str, list[Counter[str]]], rows: int) -> None:
    (baseline, baselines), (clip, clips) = runs.items()
    quickest = {name: min(found, key=lambda one: one["processor"] - one["network"]) for name, found in runs.items()}
    print(f"\npictures in the log: {'yes' if log_images else 'no'}")
    print(f"{'':26}{'processor s':>12}{'network s':>11}{'decodes':>9}{'KB a row:':>11}{'in messages':>13}", end="")
    print(f"{'encoded':>9}{'decoded':>9}{'log':>7}")
    for name, one in quickest.items():
        a_row = [one[what] / rows / 1_000 for what in ("in messages", "base64 encoded", "base64 decoded", "log")]
        print(f"{name:26}{one['processor'] / 1e6:12.2f}{one['network'] / 1e6:11.2f}{one['decodes']:9}{'':11}", end="")
        print(f"{a_row[0]:13.1f}{a_row[1]:9.1f}{a_row[2]:9.1f}{a_row[3]:7.1f}")
    besides = min(one["processor"] - one["network"] for one in clips)
    ratio = besides / min(one["processor"] for one in baselines)
    print(f"{clip} besides its network / {baseline}: {ratio:.3f} (goal: at most 1.15)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=528)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--architecture", help="open_clip's name; default: two small layers")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Tiny-16-32.json").write_text(json.dumps(TINY))
        open_clip.add_model_config(folder)
        data = write_corpus(Path(folder) / "data", given.rows)
        names = ["baseline/random", f"clip/{given.architecture or 'Tiny-16-32'}/random"]
        models = {name: get_model(name, memoize=False) for name in names}
        small = write_corpus(Path(folder) / "small", 20)
        for model in models.values():  # once for what is done once: imports, first passes
            measured(model, small, True)
        found: dict[bool, dict[str, list[Counter[str]]]] = {how: {name: [] for name in names} for how in (True, False)}
        for _ in range(given.runs):  # in turns, so that a busy moment does not decide
            for how, runs in found.items():
                for name, model in models.items():
                    runs[name].append(measured(model, data, how))
    for how, runs in found.items():
        report(how, runs, given.rows)


if __name__ == "__main__":
    main()
