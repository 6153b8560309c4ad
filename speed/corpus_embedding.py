"""Embedding captions: `embedding.embed` against plain `encode`, captions a second of CPU time on one thread.

`python speed/corpus_embedding.py 700.csv` takes a contest's file; without one the captions are drawn. Plain are a
loop over batches of 32 in the file's order, which is what most scripts do, and one call, which sorts by characters.
The parts are taken in turns, so that all see the same noise of the machine.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from corpus_workload import captions_of, minilm

from humor_tasks.lab.corpora.newyorker.pool import embed
from humor_tasks.lab.corpora.newyorker.work import one_thread
from humor_tasks.models.choosers.embedding import open_model

BATCH, PARTS = 32, 3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--captions", type=int, default=3_000)
    parser.add_argument("--embedding", default=None)
    given = parser.parse_args()
    texts, name = captions_of(given.file, given.captions), given.embedding or minilm()
    model = open_model(name, "cpu")
    ways = {
        "plain loop": lambda part: np.concatenate(
            [model.encode(part[i : i + BATCH], normalize_embeddings=True) for i in range(0, len(part), BATCH)]
        ),
        "one call": lambda part: model.encode(part, normalize_embeddings=True, show_progress_bar=False),
        "here": lambda part: embed(part, name, "cpu"),
    }
    seconds, vectors = dict.fromkeys(ways, 0.0), {}
    with one_thread():
        for way in ways.values():
            way(texts[:BATCH])  # loads and warms up
        for k in range(PARTS):
            for label, way in ways.items():
                start = time.process_time()
                vectors[label] = way(texts[k::PARTS])
                seconds[label] += time.process_time() - start
    print(f"{len(texts):,} captions, {len(set(texts)):,} distinct, CPU time on one thread")
    for label, spent in seconds.items():
        print(f"{label:12} {spent:6.1f} s {len(texts) / spent:7.0f} captions/s")
    for label in ("plain loop", "one call"):
        apart = np.abs(vectors[label] - vectors["here"].astype(np.float32)).max()
        print(f"{seconds[label] / seconds['here']:.2f} times as fast as the {label}; vectors differ by {apart:.1e}")
    print("goal: at least 1.5 times as fast as the plain loop (vectors are stored as float16)")


if __name__ == "__main__":
    main()
