"""Matching's wrong captions: each caption is the answer once and a distractor four times, never of the same contest.

Every caption is right in one of the five rows that hold it, so no score of single captions tells the answer (Hessel et
al. 2023, Appendix C). The assignment is a 0/1 matrix of rows (answers) and captions, with row and column sums of 4 and
zeros where contests are equal. It exists (Gale and Ryser; Ore 1956: for all sets A of rows and D of columns, 4 |A| <=
4 (n - |D|) + the places between A and D; extreme A and D are unions of the same contests) exactly where

    every contest has at most half of the n captions,  at least four captions are of other contests,
    and the contests' sizes are not 3, 3 and 1.

The first follows from A = D = one contest, the second from A = one row, and the third is the only case that these leave
in which two contests together want more than there is.

Two distractors of one contest would be alike, and tell that neither is the answer. Where no contest has more than a
fifth of the captions, the five choices of a row are therefore of five contests.

Construction: captions in random order, contest by contest; the row at place p takes those at p + shift for four shifts,
at least the largest contest apart. Where that contest leaves too few shifts, the maximum flow from rows to captions is
an assignment wherever one exists. Then random swaps between rows, as far as they break no rule, make it forget its
construction: N ln N are tried for N = 4 n places, where random transpositions need (1/2) N ln N (Diaconis and
Shahshahani 1981).
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.errors import BadInput, listed
from humor_tasks.scorers.estimate import cluster_codes

DISTRACTORS = 4
LETTERS = "ABCDE"
_HARD = 64  # the cost of an own contest or a repeated caption; that of two distractors of one contest is 1
_ATTEMPTS = 5
_PAIRS = tuple(itertools.combinations(range(DISTRACTORS + 1), 2))

Ints = NDArray[np.intp]


def generator(seed: str) -> np.random.Generator:
    """A generator of random numbers from a text, the same on every machine."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:16], "big"))


def assign(contests: Sequence[Hashable], keys: Sequence[str], seed: str) -> Ints:
    """The four distractors of each caption, as places in `contests` [n, 4], in random order.

    contests: the contest of each caption. keys: each caption as a reader sees it; equal keys are the same caption. Each
    place is used exactly four times, never in a row of its own contest, and no key is twice in a row, its answer's
    included. Raises BadInput where that is impossible, with the contest or the captions that make it so. Without equal
    keys it is raised only where no assignment exists.
    """
    if len(contests) != len(keys):
        raise BadInput(f"There are {len(contests)} contests and {len(keys)} keys; each caption has one of each.")
    if not contests:
        return np.empty((0, DISTRACTORS), dtype=np.intp)
    _check_possible(contests)
    group, key = (np.asarray(cluster_codes(names)[0]) for names in (contests, keys))
    for attempt in range(_ATTEMPTS):
        rng = generator(f"{seed}:{attempt}")
        assignment = _Assignment(group, key, _first(group, rng))
        assignment.mix(rng)
        assignment.mend(rng)
        broken = np.flatnonzero(assignment.cost >= _HARD)
        if not len(broken):
            return rng.permuted(assignment.distractors, axis=1)
    held = assignment.distractors[broken]
    raise BadInput(
        f"matching: {_repeated(contests, keys, np.unique([*broken, *held.ravel()]))} cannot be kept apart: each is an "
        "answer once and a wrong caption four times, and no row may hold a caption twice. Keep each caption in one "
        "contest, or add contests."
    )


def _check_possible(contests: Sequence[Hashable]) -> None:
    """Raise BadInput unless an assignment exists for distinct captions; see the module's text."""
    sizes = Counter(contests)
    (largest, m), n = sizes.most_common(1)[0], len(contests)
    if m > n // 2 or n - m < DISTRACTORS:
        raise BadInput(
            f"matching: contest {largest} has {m} of {n} captions. Each needs four wrong captions of other contests, "
            f"and each of those serves four times: no contest may have more than half of the captions, and four must "
            f"be of others. Add contests, or give contest {largest} at most {max(0, min(n - m, 2 * (n - m) - 1))} "
            "captions."
            if n - m >= DISTRACTORS
            else f"matching: contest {largest} has {m} of {n} captions, and only {n - m} are of other contests; each "
            "row needs four wrong captions of other contests. Add contests."
        )
    if sorted(sizes.values()) == [1, 3, 3]:
        raise BadInput(
            f"matching: contests {', '.join(map(str, sizes))} have 3, 3 and 1 captions, for which no assignment "
            "exists. Add a caption or a contest."
        )


def _repeated(contests: Sequence[Hashable], keys: Sequence[str], places: Ints) -> str:
    """The captions of `places` that occur more than once anywhere, with their contests."""
    held: dict[str, list[str]] = {}
    for contest, key in zip(contests, keys, strict=True):
        held.setdefault(key, []).append(str(contest))
    names = sorted(key for key in {keys[i] for i in places} if len(held[key]) > 1)
    return listed("caption", (f"'{name}' (contests {', '.join(held[name][:10])})" for name in names))


def _first(group: Ints, rng: np.random.Generator) -> Ints:
    """An assignment that keeps contests apart, by shifts of a random order where they do. [n, 4]"""
    n, sizes = len(group), np.bincount(group)
    m = int(sizes.max())
    # The largest contest first, then contests at random; within a contest at random.
    places = rng.permutation(len(sizes))
    places[sizes.argmax()] = -1
    order = np.lexsort((rng.random(n), places[group]))
    assignment = np.empty((n, DISTRACTORS), dtype=np.intp)
    if 5 * m <= n:
        assignment[order] = order[(np.arange(n)[:, None] + (np.arange(DISTRACTORS) + 1) * (n // 5)) % n]
    else:
        assignment[order] = order[_by_flow(group[order])]
    return assignment


def _by_flow(group: Ints) -> Ints:
    """An assignment that keeps contests apart, by the maximum flow from rows to captions. [n, 4]"""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_flow

    n = len(group)
    source, sink = 2 * n, 2 * n + 1
    capacities = np.zeros((2 * n + 2, 2 * n + 2), dtype=np.int32)
    capacities[source, :n] = capacities[n:source, sink] = DISTRACTORS
    capacities[:n, n:source] = group[:, None] != group
    flow = maximum_flow(csr_matrix(capacities), source, sink).flow.toarray()[:n, n:source]
    return np.nonzero(flow)[1].reshape(n, DISTRACTORS)


class _Assignment:
    """Distractors [n, 4], and what is wrong with each row: `_HARD` for what must not be, 1 for what had better not."""

    def __init__(self, group: Ints, key: Ints, distractors: Ints) -> None:
        self.group, self.key, self.distractors = group, key, distractors
        self.spread = 5 * int(np.bincount(group).max()) <= len(group)
        self.cost = self._costs(np.arange(len(group)), distractors)

    def mix(self, rng: np.random.Generator) -> None:
        """Rounds of swaps between random pairs of rows, each of one place; a swap never makes the two rows worse."""
        n = len(self.group)
        half = n // 2
        for _ in range(math.ceil(8 * math.log(4 * n))):
            rows = rng.permutation(n)
            a, b = rows[:half], rows[half : 2 * half]
            s, t = rng.integers(DISTRACTORS, size=(2, half))
            self._swap(a, s, b, t)

    def mend(self, rng: np.random.Generator) -> None:
        """For rows that are still wrong, the best swap with any other row, until none helps."""
        wrong = 1 if self.spread else _HARD
        n = len(self.group)
        places = np.arange(n * DISTRACTORS)
        improved = True
        while improved:
            improved = False
            for row in np.flatnonzero(self.cost >= wrong):
                for slot in rng.permutation(DISTRACTORS):
                    b, t = places // DISTRACTORS, places % DISTRACTORS
                    gain = self._tried(np.full(len(b), row), np.full(len(b), slot), b, t)[0]
                    gain[b == row] = 0
                    best = np.flatnonzero(gain == gain.max())
                    if gain.max() > 0:
                        k = best[rng.integers(len(best))]
                        self._swap(np.array([row]), np.array([slot]), b[k : k + 1], t[k : k + 1])
                        improved = True

    def _tried(self, a: Ints, s: Ints, b: Ints, t: Ints) -> tuple[Ints, tuple[Any, ...]]:
        """What swapping place s of the rows a with place t of the rows b gains, and the rows and costs after it."""
        row = np.arange(len(a))
        new_a, new_b = self.distractors[a], self.distractors[b]
        new_a[row, s], new_b[row, t] = new_b[row, t], new_a[row, s]
        cost_a, cost_b = self._costs(a, new_a), self._costs(b, new_b)
        return self.cost[a] + self.cost[b] - cost_a - cost_b, (new_a, new_b, cost_a, cost_b)

    def _swap(self, a: Ints, s: Ints, b: Ints, t: Ints) -> None:
        """Do those swaps that make nothing worse; no row may be in `a` and `b` more than once."""
        gain, (new_a, new_b, cost_a, cost_b) = self._tried(a, s, b, t)
        good = gain >= 0
        self.distractors[a[good]], self.distractors[b[good]] = new_a[good], new_b[good]
        self.cost[a[good]], self.cost[b[good]] = cost_a[good], cost_b[good]

    def _costs(self, rows: Ints, distractors: Ints) -> Ints:
        """The costs of rows with these distractors [q, 4]."""
        five = np.column_stack((rows, distractors)).T
        group, key = self.group[five], self.key[five]
        total = np.zeros(len(rows), dtype=np.intp)
        for i, j in _PAIRS:
            same = group[i] == group[j]
            total += _HARD * ((key[i] == key[j]) | same) if i == 0 else _HARD * (key[i] == key[j]) + same
        return total


def letters(count: int, choices: int, seed: str, within: Sequence[Hashable] = ()) -> list[str]:
    """`count` answer letters in random order, each equally often (or once more).

    within: a class of each row, such as its winner_source; the letters are then balanced within each class as well.
    """
    rng = generator(seed)
    classes = np.asarray(cluster_codes(within)[0] if within else [0] * count)
    order = np.lexsort((rng.random(count), classes))
    names = rng.permutation(choices)
    codes = np.empty(count, dtype=np.intp)
    codes[order] = names[np.arange(count) % choices]
    return [LETTERS[i] for i in codes.tolist()]


def joined(contests: Iterable[Hashable], twins: Iterable[Sequence[Hashable]]) -> dict[Any, Any]:
    """The contest that stands for each contest: itself, or one of its twins.

    twins: contests with the same captions, as pairs or more; contests that are not among `contests` are passed over.
    """
    stands = {contest: contest for contest in contests}
    for pair in twins:
        held = {stands[contest] for contest in pair if contest in stands}
        if len(held) > 1:
            first = next(contest for contest in stands.values() if contest in held)
            stands = {contest: first if root in held else root for contest, root in stands.items()}
    return stands


def folds(
    contests: Sequence[Hashable], seed: str, count: int = 5, twins: Iterable[Sequence[Hashable]] = ()
) -> dict[Any, int]:
    """The block of each contest, 0 to count - 1: blocks of whole contests with even numbers of contests and captions.

    contests: the contest of each caption. twins: see `joined`; they share a block. Raises BadInput where there are
    fewer contests (twins count as one) than blocks.
    """
    sizes = Counter(contests)
    groups: dict[Hashable, list[Hashable]] = {}
    for contest, root in joined(sizes, twins).items():
        groups.setdefault(root, []).append(contest)
    if len(groups) < count:
        raise BadInput(
            f"There are {len(groups)} contests with captions, and {count} blocks; each block needs a contest. Add "
            "contests."
        )
    rng = generator(seed)
    order = [list(groups.values())[i] for i in rng.permutation(len(groups))]
    # The largest first, each to the block with the fewest contests, then captions: the last ones even out the rest.
    order.sort(key=lambda group: (-len(group), -sum(sizes[c] for c in group)))
    held_by = [[0, 0, k] for k in rng.permutation(count).tolist()]
    block_of: dict[Any, int] = {}
    for group in order:
        block = min(held_by)
        block[0] += len(group)
        block[1] += sum(sizes[c] for c in group)
        block_of |= dict.fromkeys(group, block[2])
    return block_of
