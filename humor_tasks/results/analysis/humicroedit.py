"""Error analysis of several systems on Humicroedit, computed from records without input or output of files.

As in section 6 of Hossain et al., SemEval-2020 Task 7, for the systems given here instead of the top 20: the error by
funniness (figure 2), the error on the funniest and least funny headlines by rank (figure 3), the headlines that all
systems under- or overestimate (table 1), the number of systems that solve a pair, incongruity (the distance of the new
word from the old word) by that number (figure 4a), and right answers by the difference in funniness (figure 4b). In
addition each system's largest errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks.humicroedit.corpus import GRADES
from humor_tasks.results.submission import funnier
from humor_tasks.scorers.bounded_mean import bounded_mean
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.regression import Bin, mae_by_bin, pearson, rmse, rmse_at

ALL = "all systems"
ANTIPODAL = (10, 20, 30, 40)
MEAN = "mean of the systems' errors"
Embed = Callable[[Sequence[str]], Any]  # vectors [texts, dimensions]; zeros for an unknown text


@dataclass(frozen=True)
class Headline:
    """A rated headline of subtask 1: `text` shows the edit as [old → new]."""

    id: str
    cluster: str
    text: str
    gold: float


@dataclass(frozen=True)
class Pair:
    """A pair of subtask 2 without a tie: its headlines, the funnier one (1 or 2), replaced words and their edits. gap:
    the difference of the headlines' mean grades.
    """

    id: str
    headlines: tuple[str, str]
    cluster: str
    label: int
    words: tuple[str, str]
    edits: tuple[str, str]
    gap: float


@dataclass(frozen=True)
class System:
    """The answers of one system: ratings of headlines, or the funnier headline (1 or 2) of pairs.

    None where no answer was read. One of the two mappings is empty, depending on the system's subtask.
    """

    name: str
    ratings: Mapping[str, float | None]
    picks: Mapping[str, int | None]


@dataclass(frozen=True)
class Overview:
    """One system's row: number of answers, RMSE over its ratings, share of pairs solved. antipodal: RMSE at each X of
    ANTIPODAL, over the X % funniest and least funny headlines; empty without ratings.
    """

    name: str
    subtask: str
    answers: int
    unread: int
    rmse: Estimate | None
    solved: Estimate | None
    antipodal: tuple[Estimate, ...] = ()


@dataclass(frozen=True)
class Solved:
    """Pairs that exactly `systems` of the systems solved; `independent`: the expected share for independent errors.
    `gap` is the mean difference in funniness of these pairs.
    """

    systems: int
    pairs: int
    share: Estimate
    independent: float
    gap: Estimate


@dataclass(frozen=True)
class ByGap:
    """The pairs whose difference in funniness is in [low, high), and the mean share of systems that solve one."""

    low: float
    high: float
    solved: Estimate


@dataclass(frozen=True)
class Incongruity:
    """Pearson's r between distance(old 2, new 2) - distance(old 1, new 1) and the label.

    A positive correlation means that the funnier edit tends to be more distant from the word it replaces. `correlation`
    is over all pairs, `by_solved[N]` over those that exactly N systems solved. `left_out` is the number of pairs with a
    word that has no vector, `words` the number of distinct words.
    """

    correlation: Estimate
    by_solved: tuple[Estimate, ...]
    left_out: int
    words: int


@dataclass(frozen=True)
class Miss:
    """A headline and the error of its rating, predicted minus gold; of several systems, `predicted` is their mean."""

    id: str
    text: str
    gold: float
    predicted: float
    error: float


@dataclass(frozen=True)
class Misses:
    """A system's headlines with the largest errors, the largest first."""

    system: str
    underestimated: tuple[Miss, ...]
    overestimated: tuple[Miss, ...]


@dataclass(frozen=True)
class BinnedErrors:
    """A system's mean absolute error by funniness."""

    system: str
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class Analysis:
    """All results; `notes` list what was left out and why."""

    systems: tuple[Overview, ...]
    solved: tuple[Solved, ...]
    by_gap: tuple[ByGap, ...]
    incongruity: Incongruity | None
    misses: tuple[Misses, ...]
    errors: tuple[BinnedErrors, ...]
    notes: tuple[str, ...]


def analyse(
    headlines: Sequence[Headline], pairs: Sequence[Pair], systems: Sequence[System], embed: Embed | None, most: int
) -> Analysis:
    """Compute every analysis that these systems allow; `most` is the maximum number of headlines per list of errors."""
    notes: list[str] = []
    picks = {s.name: dict(s.picks) or compared(s.ratings, pairs) for s in systems}
    rating = [s for s in systems if s.ratings]
    notes += [f"{s.name} picks from pairs and gives no ratings: no errors of headlines." for s in systems if s.picks]
    notes += [n for s in systems if (n := _undecided(s, picks[s.name], pairs))]
    missed = [misses(s.name, headlines, s.ratings, most) for s in rating]
    errors = [errors_by_bin(s.name, headlines, s.ratings) for s in rating]
    if len(rating) > 1:
        missed.append(common_misses(headlines, rating, most))
        errors.append(mean_errors_by_bin(headlines, rating))
        if (rated := len(rated_by_all(rating))) < len(headlines):
            notes.append(f"{ALL}: over the {rated} of {len(headlines)} headlines that all of them rated.")
    incongruous = None if embed is None else incongruity(pairs, embed, list(picks.values()))
    if incongruous is None:
        notes.append("incongruity: needs an embedding (--embedding).")
    elif incongruous.left_out:
        notes.append(f"incongruity: {incongruous.left_out} pairs have a word that the embedding lacks; left out.")
    return Analysis(
        systems=tuple(overview(s, picks[s.name], headlines, pairs) for s in systems),
        solved=tuple(solved_by(pairs, list(picks.values()))),
        by_gap=tuple(by_gap(pairs, list(picks.values()))),
        incongruity=incongruous,
        misses=tuple(missed),
        errors=tuple(errors),
        notes=tuple(notes),
    )


def _undecided(system: System, picks: Mapping[str, int | None], pairs: Sequence[Pair]) -> str:
    """A note on the pairs that the system does not decide; "" where it decides all."""
    undecided = sum(picks.get(pair.id) is None for pair in pairs)
    why = "equal, or not both read" if system.ratings else "not read, or ratings that are equal"
    how = "its ratings are compared" if system.ratings else "its picks are taken"
    return f"{system.name}: for pairs, {how}; {undecided} undecided ({why}) count as unsolved." if undecided else ""


def compared(ratings: Mapping[str, float | None], pairs: Iterable[Pair]) -> dict[str, int | None]:
    """A system's picks by its ratings."""
    places = {pair.id: funnier(*map(ratings.get, pair.headlines)) for pair in pairs}
    return {identity: None if place is None else int(place) for identity, place in places.items()}


def overview(
    system: System, picks: Mapping[str, int | None], headlines: Sequence[Headline], pairs: Sequence[Pair]
) -> Overview:
    """One system's row; an undecided pair counts as unsolved."""
    answers = list((system.ratings or system.picks).values())
    rated, pred, gold = _rated(headlines, system.ratings)
    clusters = [h.cluster for h in rated]
    right = [float(picks.get(pair.id) == pair.label) for pair in pairs]
    return Overview(
        name=system.name,
        subtask="rating" if system.ratings else "pairwise",
        answers=len(answers),
        unread=sum(answer is None for answer in answers),
        rmse=rmse(pred, gold, clusters) if rated else None,
        solved=clustered_proportion(right, [pair.cluster for pair in pairs]) if pairs else None,
        antipodal=tuple(rmse_at(pred, gold, clusters, x) for x in ANTIPODAL) if rated else (),
    )


def solved_by(pairs: Sequence[Pair], picks: Sequence[Mapping[str, int | None]]) -> list[Solved]:
    """The share of pairs solved by exactly 0, 1, ... systems, with intervals clustered by headline."""
    import numpy as np

    if not pairs or not picks:
        return []
    labels = np.array([pair.label for pair in pairs])
    picked = np.array([[of_system.get(pair.id) or 0 for pair in pairs] for of_system in picks])
    right = picked == labels  # [systems, pairs]
    counts, clusters = right.sum(axis=0), [pair.cluster for pair in pairs]
    independent = np.ones(1)
    for accuracy in right.mean(axis=1):
        independent = np.convolve(independent, [1 - accuracy, accuracy])
    solved = []
    for n in range(len(picks) + 1):
        by_n = (counts == n).tolist()
        members = [pair for pair, is_member in zip(pairs, by_n, strict=True) if is_member]
        gap = bounded_mean([pair.gap for pair in members], [pair.cluster for pair in members], *GRADES)
        solved.append(Solved(n, len(members), clustered_proportion(by_n, clusters), float(independent[n]), gap))
    return solved


def by_gap(pairs: Sequence[Pair], picks: Sequence[Mapping[str, int | None]], width: float = 0.2) -> list[ByGap]:
    """The mean share of systems that solve a pair, in bins of the difference in funniness; bins without pairs are left
    out.
    """
    bins: dict[int, list[Pair]] = {}
    for pair in pairs if picks else ():
        bins.setdefault(math.floor(round(pair.gap / width, 6)), []).append(pair)

    def solved(members: Sequence[Pair]) -> Estimate:
        shares = [_right(pair, picks) / len(picks) for pair in members]
        return clustered_proportion(shares, [pair.cluster for pair in members])

    return [ByGap(round(k * width, 6), round((k + 1) * width, 6), solved(bins[k])) for k in sorted(bins)]


def _right(pair: Pair, picks: Sequence[Mapping[str, int | None]]) -> int:
    """The number of systems that solve a pair."""
    return sum(of_system.get(pair.id) == pair.label for of_system in picks)


def incongruity(pairs: Sequence[Pair], embed: Embed, picks: Sequence[Mapping[str, int | None]]) -> Incongruity:
    """Compute `Incongruity`; the distance is 1 - cosine, and all distinct words are embedded in one call."""
    import numpy as np

    words = list(dict.fromkeys(word for pair in pairs for word in (*pair.words, *pair.edits)))
    if not words:
        return Incongruity(clustered_mean([], []), (), 0, 0)
    vectors = np.asarray(embed(words), dtype=float)
    norms = np.linalg.norm(vectors, axis=1)
    unit = vectors / np.where(norms > 0, norms, 1)[:, None]
    place = {word: i for i, word in enumerate(words)}
    at = np.array([[place[word] for word in (*pair.words, *pair.edits)] for pair in pairs])
    known = (norms[at] > 0).all(axis=1)
    distance = 1 - np.einsum("ijk,ijk->ij", unit[at[:, :2]], unit[at[:, 2:]])
    difference = distance[:, 1] - distance[:, 0]
    solved = np.array([_right(pair, picks) for pair in pairs])

    def correlation(among: Any) -> Estimate:
        members = [pair for pair, is_member in zip(pairs, among, strict=True) if is_member]
        clusters = [pair.cluster for pair in members]
        if len(members) < 3:  # two pairs always correlate by 1 or -1
            return clustered_mean([math.nan] * len(members), clusters)
        return pearson(difference[among].tolist(), [pair.label for pair in members], clusters)

    by_solved = tuple(correlation(known & (solved == n)) for n in range(len(picks) + 1))
    return Incongruity(correlation(known), by_solved, int((~known).sum()), len(words))


def rated_by_all(systems: Sequence[System]) -> dict[str, list[float]]:
    """The ratings of each headline that all of these systems rated."""
    complete: dict[str, list[float]] = {}
    for identity in systems[0].ratings if systems else ():
        ratings = [r for s in systems if (r := s.ratings.get(identity)) is not None]
        if len(ratings) == len(systems):
            complete[identity] = ratings
    return complete


def common_misses(headlines: Sequence[Headline], systems: Sequence[System], most: int) -> Misses:
    """The headlines that every system underestimates, or overestimates, by the error of their mean rating.

    As in section 6.1.2 and table 1 of the paper. A headline that one system rates too high and another too low is in
    neither list.
    """
    by_headline = rated_by_all(systems)
    means = {
        h.id: math.fsum(ratings) / len(ratings)
        for h in headlines
        if (ratings := by_headline.get(h.id)) and (max(ratings) < h.gold or min(ratings) > h.gold)
    }
    return misses(ALL, headlines, means, most)


def misses(name: str, headlines: Sequence[Headline], ratings: Mapping[str, float | None], most: int) -> Misses:
    """The `most` headlines rated furthest below and furthest above their mean grade; ties stay in dataset order."""
    rated, pred, _ = _rated(headlines, ratings)
    rows = [Miss(h.id, h.text, h.gold, p, p - h.gold) for h, p in zip(rated, pred, strict=True)]
    under = sorted((row for row in rows if row.error < 0), key=lambda row: row.error)
    over = sorted((row for row in rows if row.error > 0), key=lambda row: -row.error)
    return Misses(name, tuple(under[:most]), tuple(over[:most]))


def errors_by_bin(name: str, headlines: Sequence[Headline], ratings: Mapping[str, float | None]) -> BinnedErrors:
    """The mean absolute error over rated headlines, in bins of width 0.2 of the mean grade."""
    rated, pred, gold = _rated(headlines, ratings)
    return BinnedErrors(name, tuple(mae_by_bin(pred, gold, [h.cluster for h in rated])))


def mean_errors_by_bin(headlines: Sequence[Headline], systems: Sequence[System]) -> BinnedErrors:
    """The mean of the systems' absolute errors, as the aggregate in figure 2 of the paper.

    The error of their averaged rating is smaller, because errors in both directions cancel.
    """
    by_headline = rated_by_all(systems)
    off = {
        h.id: h.gold + math.fsum(abs(rating - h.gold) for rating in ratings) / len(ratings)
        for h in headlines
        if (ratings := by_headline.get(h.id))
    }
    return errors_by_bin(MEAN, headlines, off)


def _rated(
    headlines: Sequence[Headline], ratings: Mapping[str, float | None]
) -> tuple[list[Headline], list[float], list[float]]:
    """The rated headlines, their ratings and their mean grades."""
    rated = [(h, r) for h in headlines if (r := ratings.get(h.id)) is not None]
    return [h for h, _ in rated], [r for _, r in rated], [h.gold for h, _ in rated]
