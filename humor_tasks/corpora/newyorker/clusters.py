"""Agglomerative clustering by cosines, exact, which stops at the wanted number of clusters.

Average linkage with cosines: the two clusters with the highest mean cosine over their pairs of members are merged
first. The sentence-embedding library that the paper uses documents agglomerative clustering for this purpose; it names
no linkage. The mean cosine says what is asked here, how much two groups of captions say the same, and has no bias by
size.

The similarity of a merged cluster to another is the mean of those of its parts, weighted by size, so that one row of
the matrix of cosines is recomputed for each merger. A row's nearest neighbour changes only when it was one of the
merged: the linkage is reducible (Bruynooghe 1977). With .7 N clusters three mergers of ten are done, where a dendrogram
needs all N - 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def cut(vectors: NDArray[Any], count: int) -> NDArray[np.intp]:
    """The cluster of each vector, numbered by the place of its first member.

    vectors: [n, dimensions] of any length; a zero vector is like no other. They are computed with as float32. count:
    clusters, from 1 to n. Of equally similar pairs the one with the first place is merged first. Memory is 4 n^2 bytes;
    time grows with n^2.
    """
    n = len(vectors)
    if not n:
        return np.empty(0, dtype=np.intp)
    whole = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(whole, axis=1, keepdims=True)  # float16 rounds them, too
    lengths[lengths == 0] = 1
    whole = whole / lengths
    similar = whole @ whole.T  # numpy computes one triangle of it
    np.fill_diagonal(similar, -np.inf)
    sizes = np.ones(n, dtype=np.float32)
    owner = np.arange(n)
    gone = np.zeros(n, dtype=np.float32)  # -inf for a cluster that is part of another
    nearest = similar.argmax(1)
    best = similar[owner, nearest]
    for _ in range(n - max(1, count)):
        first = int(best.argmax())
        a, b = sorted((first, int(nearest[first])))
        merged = (sizes[a] * similar[a] + sizes[b] * similar[b]) / (sizes[a] + sizes[b])
        merged[a] = -np.inf
        similar[a], similar[:, a] = merged, merged
        sizes[a] += sizes[b]
        owner[owner == b] = a
        gone[b] = best[b] = -np.inf
        stale = np.append(np.flatnonzero(((nearest == a) | (nearest == b)) & (best > -np.inf)), a)
        rows = similar[stale] + gone  # cheaper than to write a column of the matrix
        nearest[stale] = rows.argmax(1)
        best[stale] = rows[np.arange(len(stale)), nearest[stale]]
    return np.unique(owner, return_inverse=True)[1]
