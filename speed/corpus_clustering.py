"""Clustering the captions of one contest into .7 N clusters: `clusters.cut` against scikit-learn, in CPU time.

`python speed/corpus_clustering.py 700.csv` takes a contest's file; without one the captions are drawn. They are
embedded once, each distinct one, before the clock starts. Both ways take one thread. scikit-learn computes with
doubles, here with floats.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from corpus_workload import captions_of, minilm
from sklearn.cluster import AgglomerativeClustering

from humor_tasks.lab.corpora.newyorker.pool import KEPT, cut, embed
from humor_tasks.lab.corpora.newyorker.work import one_thread

RUNS = 2


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """The least CPU time of some runs in seconds, and the result."""
    seconds = []
    for _ in range(RUNS):
        start = time.process_time()
        found = function()
        seconds.append(time.process_time() - start)
    return min(seconds), found


def partition(clusters: Any) -> set[frozenset[int]]:
    """The clusters as sets of places."""
    held: dict[int, list[int]] = {}
    for place, cluster in enumerate(np.asarray(clusters).tolist()):
        held.setdefault(cluster, []).append(place)
    return set(map(frozenset, held.values()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--captions", type=int, default=5_700)
    parser.add_argument("--embedding", default=None)
    given = parser.parse_args()
    texts = list(dict.fromkeys(captions_of(given.file, 10**6 if given.file else given.captions * 2)))[: given.captions]
    count = math.ceil(KEPT * len(texts))
    with one_thread():
        vectors = embed(texts, given.embedding or minilm()).astype(np.float32)
        theirs = AgglomerativeClustering(n_clusters=count, metric="cosine", linkage="average")
        ours, found = timed(lambda: cut(vectors, count))
        plain, expected = timed(lambda: theirs.fit_predict(vectors))
    a, b = partition(found), partition(expected)
    print(f"{len(texts):,} captions into {count:,} clusters, CPU time on one thread")
    print(f"scikit-learn {plain:.2f} s, here {ours:.2f} s: {plain / ours:.1f} times as fast (goal: at least 5)")
    print(f"the clusters are {'equal' if a == b else f'not all equal: {len(a & b):,} of {count:,}'}")


if __name__ == "__main__":
    main()
