"""What the statistics of an arena promise, counted in simulated ones: coverage, false orders, and battles saved.

Not speed, but measured all the same. A contest gives each player's caption a quality (its strength, an effect of the
contest, and one of each judge) and a length. Judges prefer the better, the longer and the first (or second) shown
caption, and tie. Only the strengths, the order effects, the ties and the slope of length are in the fitted model. The
truth is what the model finds in a large population of such contests, all of whose verdicts count by their probability.

Printed with Monte Carlo errors:

- how often intervals of strengths and of differences hold the truth, and all rank sets together do;
- the same where each round's battles were chosen by those before, up to a budget;
- a judge that answers at random: how often the intervals of all players overlap;
- an arena that stops as soon as all neighbours are apart: how often any pair was said to be apart in the wrong order,
  and how many battles it took, chosen by `next_battles` and as a round robin; one that is never settled has them all;
- people who judge a third of the battles, and a judge with errors who judges all: coverage, and the error saved.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from humor_tasks.scorers.battle_design import Battle, next_battles, opening
from humor_tasks.scorers.davidson import Fit, davidson
from humor_tasks.scorers.powered_strengths import powered_strengths
from humor_tasks.scorers.rank_sets import apart, rank_sets, spent, together

K, GOAL = 8, 0.93
NAMES = [f"player {k}" for k in range(K)]
JUDGES = ("steady", "hasty")
ORDER, NU, SLOPE = np.array([0.3, -0.6]), np.array([0.3, 0.8]), 0.3
OF_CONTEST, OF_JUDGE = 0.5, 0.3
EQUAL = np.zeros(K)
LONGER = np.linspace(-0.5, 0.5, K)[[3, 6, 0, 5, 1, 7, 4, 2]]  # mean length of a player's captions, in their sd
LADDERS = {  # contests, and gaps of neighbours in log odds
    "equally spaced": (180, [0.7] * 7),
    "unequally spaced": (180, [1.5, 0.7, 1.2, 0.7, 1.5, 1.2, 0.7]),
    "nearly equal": (44, [0.05] * 7),
}
GROWTH = 1.25  # of the battles from look to look


@dataclass(frozen=True)
class Arena:
    """Everything that could be asked: results and length differences by judge, contest, first and second player."""

    results: Any
    lengths: Any

    def fit(self, battles: list[Battle]) -> Fit:
        """The model on both orders and all judges of these battles."""
        c, a, b = np.array([(c, NAMES.index(a), NAMES.index(b)) for c, a, b in battles]).T
        first, second, contest = np.concatenate((a, b)), np.concatenate((b, a)), np.concatenate((c, c))
        names = np.array(NAMES)
        repeated = [np.tile(x, len(JUDGES)).tolist() for x in (names[first], names[second], contest)]
        results = self.results[:, contest, first, second].ravel().tolist()
        covariate = np.tile(self.lengths[contest, first, second], len(JUDGES)).tolist()
        judges = [judge for judge in JUDGES for _ in first]
        return davidson(*repeated[:2], results, judges, repeated[2], covariate=covariate)


def outcome(strengths: Any, shared: Any, own: Any, length: Any) -> tuple[Any, Any]:
    """P of (first, tie, second) [3, judges, contests, first, second], and length differences [contests, first, second].

    The effects of a contest on each player: on its quality for all judges and for each, and on its length.
    """
    quality = strengths + shared + own
    texts = LONGER + length
    longer = texts[:, :, None] - texts[:, None]
    eta = quality[..., :, None] - quality[..., None, :] + ORDER[:, None, None, None] + SLOPE * longer
    parts = np.stack((np.exp(eta / 2), np.broadcast_to(NU[:, None, None, None], eta.shape), np.exp(-eta / 2)))
    return parts / parts.sum(axis=0), longer


def effects(contests: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """The effects that `outcome` takes."""
    own = rng.normal(0, OF_JUDGE, (len(JUDGES), contests, K))
    return rng.normal(0, OF_CONTEST, (contests, K)), own, rng.normal(0, 1, (contests, K))


def drawn(strengths: Any, contests: int, rng: np.random.Generator, at_random: bool = False) -> Arena:
    """One arena; at_random: judges that see the position alone."""
    effects = [
        rng.normal(0, sd, shape)
        for sd, shape in zip(
            (OF_CONTEST, OF_JUDGE, 1), ((contests, K), (len(JUDGES), contests, K), (contests, K)), strict=True
        )
    ]
    p, longer = outcome(strengths, *effects)
    if at_random:
        p = np.broadcast_to(np.array([0.5, 0.2, 0.3])[:, None, None, None, None], p.shape)
    u = rng.random(p.shape[1:])
    return Arena(np.where(u < p[0], 1.0, np.where(u < p[0] + p[1], 0.5, 0.0)), longer)


def truth(strengths: Any, contests: int = 1500, seed: int = 99) -> Any:
    """The strengths that the model finds where all verdicts of many contests count by their probability.

    Effects are drawn in pairs of opposite sign, so that their means are 0.
    """
    halves = effects(contests // 2, np.random.default_rng(seed))
    p, longer = outcome(strengths, *(np.concatenate((x, -x), axis=x.ndim - 2) for x in halves))
    judge, contest, a, b = (x.ravel() for x in np.indices(p.shape[1:]))
    use = np.flatnonzero(a != b)
    names = np.array(NAMES)
    rows = [np.tile(x[use], 3).tolist() for x in (names[a], names[b], np.array(JUDGES)[judge], contest % 50)]
    results = np.repeat([1.0, 0.5, 0.0], len(use)).tolist()
    times = (p.reshape(3, -1)[:, use].ravel() * 100).tolist()
    covariate = np.tile(longer[contest[use], a[use], b[use]], 3).tolist()
    fit = davidson(*rows[:2], results, *rows[2:], covariate=covariate, times=times)
    return np.array([fit.values[fit.names.index(name)] for name in NAMES])


def share(hits: Any) -> str:
    """A share with its Monte Carlo error."""
    hits = np.asarray(hits, dtype=float)
    mean = float(hits.mean())
    per_arena = hits.reshape(len(hits), -1).mean(axis=1)
    return f"{mean:.3f} +- {per_arena.std() / math.sqrt(len(hits)):.3f}"


def holds(fit: Fit, strengths: Any) -> tuple[Any, Any, bool]:
    """Which intervals of strengths and of differences hold the truth, and whether all rank sets together do."""
    true = dict(zip(NAMES, strengths, strict=True))
    one = [e.low <= true[name] <= e.high for name, e in fit.strengths().items()]
    pairs = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[:i]]
    two = [e.low <= true[a] - true[b] <= e.high for a, b in pairs for e in [fit.difference(a, b)]]
    ranks = {
        a: (1 + sum(true[b] > true[a] + 1e-9 for b in NAMES), K - sum(true[b] < true[a] - 1e-9 for b in NAMES))
        for a in NAMES
    }
    sets = rank_sets(fit)
    return one, two, all(sets[a][0] <= ranks[a][0] and ranks[a][1] <= sets[a][1] for a in NAMES)


def spent_budget(replicates: int, contests: int, budget: int, gaps: list[float]) -> str:
    """Coverage where battles were chosen by those before them, until the budget is spent."""
    rng = np.random.default_rng(contests)
    strengths = -np.cumsum([0, *gaps]) + np.mean(np.cumsum([0, *gaps]))
    true = truth(strengths)
    found = []
    for seed in range(replicates):
        arena = drawn(strengths, contests, rng)
        found.append(holds(arena.fit(asked(arena, contests, seed, budget)), true))
    one, two, sets = ([row[k] for row in found] for k in range(3))
    return f"strengths {share(one)}, differences {share(two)}, all rank sets {share(sets)}"


def asked(arena: Arena, contests: int, seed: int, budget: int) -> list[Battle]:
    """Battles up to a budget, those after the opening chosen look by look."""
    battles: list[Battle] = opening(NAMES, range(contests), seed, K - 1)
    look = 1
    while len(battles) < budget:
        count = min(math.ceil(len(battles) * (GROWTH - 1)), budget - len(battles))
        available = dict.fromkeys(NAMES, range(contests))
        battles = battles + next_battles(arena.fit(battles), battles, available, count, seed, spent(0.05, look))
        look += 1
    return battles


def coverage(replicates: int, contests: int, per_player: int, strengths: Any, true: Any) -> str:
    rng = np.random.default_rng(contests)
    found = []
    for seed in range(replicates):
        battles = opening(NAMES, range(contests), seed, per_player)
        found.append(holds(drawn(strengths, contests, rng).fit(battles), true))
    one, two, sets = ([row[k] for row in found] for k in range(3))
    return f"strengths {share(one)}, differences {share(two)}, all rank sets {share(sets)}"


def flat(replicates: int, contests: int, per_player: int) -> str:
    """A judge that answers at random."""
    rng = np.random.default_rng(contests)
    alone: list[bool] = []
    joint: list[bool] = []
    for seed in range(replicates):
        fit = drawn(EQUAL, contests, rng, at_random=True).fit(opening(NAMES, range(contests), seed, per_player))
        for found, each in ((alone, fit.strengths()), (joint, together(fit))):
            found.append(max(e.low for e in each.values()) <= min(e.high for e in each.values()))
    return f"intervals of one player at a time {share(alone)}, of all together {share(joint)}"


def stopped(arena: Arena, contests: int, seed: int, adaptive: bool, start: int) -> tuple[int, bool, bool]:
    """Battles until all neighbours are apart, whether they were before all battles were spent, and any false order."""
    battles = opening(NAMES, range(contests), seed, (K - 1) * contests)
    every, asked, look, false = battles, battles[: K * start // 2], 0, False
    available = dict.fromkeys(NAMES, range(contests))
    while True:
        look += 1
        fit, alpha = arena.fit(asked), spent(0.05, look)
        sets = rank_sets(fit, 1 - alpha)
        false |= any(sets[name][0] > k + 1 or sets[name][1] < k + 1 for k, name in enumerate(NAMES))
        if all(pair.apart for pair in apart(fit, alpha)):
            return len(asked), True, false
        count = min(math.ceil(len(asked) * (GROWTH - 1)), len(every) - len(asked))
        if count == 0:
            return len(asked), False, false
        asked = (
            asked + next_battles(fit, asked, available, count, seed, alpha) if adaptive else every[: len(asked) + count]
        )


def stopping(replicates: int, contests: int, gaps: list[float]) -> str:
    rng = np.random.default_rng(contests)
    strengths = -np.cumsum([0, *gaps])
    found = []
    for seed in range(replicates):
        arena = drawn(strengths - strengths.mean(), contests, rng)
        found.append([stopped(arena, contests, seed, adaptive, K - 1) for adaptive in (True, False)])
    counts, done, false = (np.array([[each[k] for each in row] for row in found]) for k in range(3))
    ends = {"all": counts, "settled by both": counts[done.all(axis=1)]}
    shown = [f"false order: adaptive {share(false[:, 0])}, round robin {share(false[:, 1])}"]
    shown += [f"settled before all battles were spent: {done[:, 0].mean():.2f} and {done[:, 1].mean():.2f}"]
    for which, of in ends.items():
        if len(of):
            means, middle = of.mean(axis=0), np.median(of, axis=0)
            error = np.std(of[:, 0] - means[0] / means[1] * of[:, 1]) / means[1] / math.sqrt(len(of))
            shown += [
                f"battles, {which} ({len(of)}): mean {means[0]:.0f} and {means[1]:.0f}, "
                f"ratio {means[0] / means[1]:.2f} +- {error:.2f}; median {middle[0]:.0f} and {middle[1]:.0f}"
            ]
    return "\n    ".join(shown)


def powered(replicates: int, contests: int, per_player: int, gaps: list[float]) -> str:
    """People judge a third of the battles; a judge that says what they would say, but for errors, judges all."""
    rng = np.random.default_rng(contests)
    strengths = -np.cumsum([0, *gaps]) + np.mean(np.cumsum([0, *gaps]))
    true = dict(zip(NAMES, truth(strengths), strict=True))
    hits, widths, weights = [], [], []
    for seed in range(replicates):
        arena = drawn(strengths, contests, rng)
        battles = opening(NAMES, range(contests), seed, per_player)
        part = [battles[i] for i in rng.permutation(len(battles))[: len(battles) // 3]]
        people = arena.fit(part)
        wrong = rng.random(arena.results.shape) < 0.2
        judge = Arena(np.where(wrong, 1 - arena.results, arena.results), arena.lengths)
        found = powered_strengths(people, judge.fit(part), judge.fit(battles))
        hits.append([e.low <= true[name] <= e.high for name, e in found.strengths.items()])
        alone = people.strengths()
        widths.append(np.mean([found.strengths[name].stderr / alone[name].stderr for name in NAMES]))
        weights.append(found.weight)
    return f"{share(hits)}; stderr over people's alone {np.mean(widths):.2f}, weight {np.mean(weights):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--only", choices=("coverage", "flat", "budget", "stopping", "powered"))
    given = parser.parse_args()
    if given.only in (None, "coverage"):
        even = -np.linspace(-1.05, 1.05, K)
        true = truth(even)
        for contests in (20, 44, 90):
            for per_player in (7, 14, 28, 7 * contests):
                shown = coverage(given.replicates, contests, per_player, even, true)
                print(f"{contests} contests, {per_player} battles a player: {shown}", flush=True)
            shown = coverage(given.replicates, contests, 28, EQUAL, EQUAL)
            print(f"{contests} contests, 28 battles a player, all equally strong: {shown}", flush=True)
    if given.only in (None, "flat"):
        for contests, per_player in ((44, 14), (44, 308), (90, 28)):
            shown = flat(given.replicates, contests, per_player)
            print(f"at random, {contests} contests, {per_player} battles a player: {shown}", flush=True)
    if given.only in (None, "budget"):
        for contests, budget, gap in ((44, 200, 0.3), (90, 400, 0.3), (44, 400, 0)):
            shown = spent_budget(given.replicates, contests, budget, [gap] * 7)
            print(f"{budget} battles of the adaptive design, {contests} contests, gaps of {gap}: {shown}", flush=True)
    if given.only in (None, "stopping"):
        for name, (contests, gaps) in LADDERS.items():
            print(f"{name}, {contests} contests: {stopping(given.replicates, contests, gaps)}", flush=True)
    if given.only in (None, "powered"):
        shown = powered(given.replicates, 90, 56, [0.3] * 7)
        print(f"people on a third of 224 battles, 90 contests: {shown}", flush=True)


if __name__ == "__main__":
    main()
