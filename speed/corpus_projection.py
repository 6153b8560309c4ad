"""What a build of 2.3 million captions takes, from a measured smaller one (`corpus_scaling.py --project`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus_workload import minilm

from humor_tasks.lab.corpora.newyorker.pool import embed
from humor_tasks.lab.corpora.newyorker.work import one_thread
from humor_tasks.models.choosers.embedding import open_model

CAPTIONS, CONTESTS, CORES = 2_300_000, 384, 2
GPU_PEAK, GPU_SHARE = 100e12, 0.2
"""FLOP/s of a GPU in half precision, and the assumed share of it: short texts and small matrices."""
SAMPLE = 1_000  # captions embedded to time it
ALONE = ("twins", "quality", "dataset", "reading")
"""Steps of the whole corpus, which one process does."""


@dataclass(frozen=True)
class Measured:
    """A build: its contests, entries, selected captions (those that are embedded); CPU seconds and MiB by stage."""

    contests: int
    captions: int
    selected: int
    seconds: dict[str, float]
    mib: dict[str, float]


def project(build: Measured, texts: Sequence[str]) -> Iterator[str]:
    """Lines for the screen; texts: captions that are embedded to time it.

    Every stage is taken to grow with the captions, at the build's captions a contest.
    """
    times = CAPTIONS / build.captions
    yield (
        f"{CAPTIONS:,} captions of {CONTESTS} contests ({CAPTIONS / CONTESTS:,.0f} each), from "
        f"{build.contests} contests with {build.captions / build.contests:,.0f} each: times {times:.1f}"
    )
    alone = spread = 0.0
    for name, seconds in build.seconds.items():
        if name == "embed":
            continue
        how = "one process" if name in ALONE else f"over {CORES} cores"
        yield f"  {name:10} {seconds * times:8.0f} s of CPU, {how}"
        alone, spread = alone + seconds * times * (name in ALONE), spread + seconds * times * (name not in ALONE)
    whole = alone + spread / CORES
    yield f"all but embedding: {alone + spread:,.0f} s of CPU, {whole / 60:.0f} min on {CORES} cores (goal: under 60)"
    yield from _embedding(build.selected * times, list(dict.fromkeys(texts)))


def _embedding(captions: float, texts: list[str]) -> Iterator[str]:
    model = open_model(minilm(), "cpu")
    with one_thread():
        embed(texts[:32], minilm(), "cpu")
        start = time.process_time()
        embed(texts, minilm(), "cpu")
        rate = len(texts) / (time.process_time() - start)
        start = time.process_time()
        ids = [len(each) for each in model.tokenizer(texts)["input_ids"]]
        split = len(texts) / (time.process_time() - start)
    named = model.named_parameters()
    parameters = sum(each.numel() for name, each in named if "embeddings" not in name)  # a table's rows cost nothing
    flops = 2 * parameters * sum(ids) / len(ids) * captions
    yield (
        f"embedding: {captions:,.0f} captions are selected; {rate:,.0f} a second and core here: "
        f"{captions / rate / CORES / 60:,.0f} min on {CORES} cores"
    )
    yield (
        f"  on a GPU: 2 FLOPs x {parameters / 1e6:.1f} M parameters x {sum(ids) / len(ids):.1f} tokens = "
        f"{flops / 1e12:,.0f} TFLOP; assumed {GPU_SHARE:.0%} of {GPU_PEAK / 1e12:.0f} TFLOP/s: "
        f"{flops / GPU_PEAK / GPU_SHARE:,.0f} s, and tokenization, twice on a core, {2 * captions / split:,.0f} s"
    )
