"""Error analysis of several systems on Humicroedit, computed from records without input or output of files.

As in Hossain et al., SemEval-2020 Task 7: the number of systems that solve a pair, the headlines with the largest
errors, and the error by funniness. In addition incongruity, the distance of the new word from the old word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.regression import Bin, mae_by_bin, pearson, rmse
from humor_tasks.studies.submission import funnier

MEAN = "mean of the systems"
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
    """A pair of subtask 2 without a tie: the funnier headline `label` (1 or 2), the replaced words and their edits."""

    id: str
    cluster: str
    label: int
    words: tuple[str, str]
    edits: tuple[str, str]


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
    """One system's row: number of answers, RMSE over its ratings, share of pairs solved."""

    name: str
    subtask: str
    answers: int
    unread: int
    rmse: Estimate | None
    solved: Estimate | None


@dataclass(frozen=True)
class Solved:
    """Pairs that exactly `systems` of the systems solved; `independent`: the expected share for independent errors."""

    systems: int
    pairs: int
    share: Estimate
    independent: float


@dataclass(frozen=True)
class Incongruity:
    """Pearson's r between distance(old 2, new 2) - distance(old 1, new 1) and the label.

    A positive correlation means that the funnier edit tends to be more distant from the word it replaces. `left_out`
    is the number of pairs with a word that has no vector, `words` the number of distinct words.
    """

    correlation: Estimate
    left_out: int
    words: int


@dataclass(frozen=True)
class Miss:
    """A headline and the error of its rating, predicted minus gold."""

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
    means = mean_ratings(rating)
    if len(rating) > 1 and len(means) < len(headlines):
        notes.append(f"{MEAN}: over the {len(means)} of {len(headlines)} headlines that all of them rated.")
    rated = [(s.name, s.ratings) for s in rating] + ([(MEAN, means)] if len(rating) > 1 else [])
    incongruous = None if embed is None else incongruity(pairs, embed)
    if incongruous is None:
        notes.append("incongruity: needs an embedding (--embedding).")
    elif incongruous.left_out:
        notes.append(f"incongruity: {incongruous.left_out} pairs have a word that the embedding lacks; left out.")
    return Analysis(
        systems=tuple(overview(s, picks[s.name], headlines, pairs) for s in systems),
        solved=tuple(solved_by(pairs, list(picks.values()))),
        incongruity=incongruous,
        misses=tuple(misses(name, headlines, ratings, most) for name, ratings in rated),
        errors=tuple(errors_by_bin(name, headlines, ratings) for name, ratings in rated),
        notes=tuple(notes),
    )


def _undecided(system: System, picks: Mapping[str, int | None], pairs: Sequence[Pair]) -> str:
    undecided = sum(picks.get(pair.id) is None for pair in pairs)
    why = "equal, or not both read" if system.ratings else "not read, or ratings that are equal"
    how = "its ratings are compared" if system.ratings else "its picks are taken"
    return f"{system.name}: for pairs, {how}; {undecided} undecided ({why}) count as unsolved." if undecided else ""


def compared(ratings: Mapping[str, float | None], pairs: Iterable[Pair]) -> dict[str, int | None]:
    """A system's picks by its ratings; the id of a pair joins the ids of its headlines, as in 61-5576."""
    found: dict[str, int | None] = {}
    for pair in pairs:
        first, _, second = pair.id.partition("-")
        place = funnier(ratings.get(first), ratings.get(second))
        found[pair.id] = None if place is None else int(place)
    return found


def overview(
    system: System, picks: Mapping[str, int | None], headlines: Sequence[Headline], pairs: Sequence[Pair]
) -> Overview:
    """One system's row; an undecided pair counts as unsolved."""
    answers = list((system.ratings or system.picks).values())
    kept, pred, gold = _rated(headlines, system.ratings)
    right = [float(picks.get(pair.id) == pair.label) for pair in pairs]
    return Overview(
        name=system.name,
        subtask="rating" if system.ratings else "pairwise",
        answers=len(answers),
        unread=sum(answer is None for answer in answers),
        rmse=rmse(pred, gold, [h.cluster for h in kept]) if kept else None,
        solved=clustered_proportion(right, [pair.cluster for pair in pairs]) if pairs else None,
    )


def solved_by(pairs: Sequence[Pair], picks: Sequence[Mapping[str, int | None]]) -> list[Solved]:
    """The share of pairs solved by exactly 0, 1, ... systems, with intervals clustered by headline."""
    import numpy as np

    if not pairs or not picks:
        return []
    labels = np.array([pair.label for pair in pairs])
    said = np.array([[each.get(pair.id) or 0 for pair in pairs] for each in picks])
    right = said == labels  # [systems, pairs]
    counts, clusters = right.sum(axis=0), [pair.cluster for pair in pairs]
    independent = np.ones(1)
    for accuracy in right.mean(axis=1):
        independent = np.convolve(independent, [1 - accuracy, accuracy])
    by = {n: (counts == n).tolist() for n in range(len(picks) + 1)}
    return [Solved(n, sum(x), clustered_proportion(x, clusters), float(independent[n])) for n, x in by.items()]


def incongruity(pairs: Sequence[Pair], embed: Embed) -> Incongruity:
    """Compute `Incongruity`; the distance is 1 - cosine, and all distinct words are embedded in one call."""
    import numpy as np

    words = list(dict.fromkeys(word for pair in pairs for word in (*pair.words, *pair.edits)))
    if not words:
        return Incongruity(clustered_mean([], []), 0, 0)
    vectors = np.asarray(embed(words), dtype=float)
    norms = np.linalg.norm(vectors, axis=1)
    unit = vectors / np.where(norms > 0, norms, 1)[:, None]
    place = {word: i for i, word in enumerate(words)}
    at = np.array([[place[word] for word in (*pair.words, *pair.edits)] for pair in pairs])
    known = (norms[at] > 0).all(axis=1)
    distance = 1 - np.einsum("ijk,ijk->ij", unit[at[known, :2]], unit[at[known, 2:]])
    kept = [pair for pair, is_known in zip(pairs, known, strict=True) if is_known]
    difference = (distance[:, 1] - distance[:, 0]).tolist()
    r = pearson(difference, [pair.label for pair in kept], [pair.cluster for pair in kept])
    return Incongruity(r, len(pairs) - len(kept), len(words))


def mean_ratings(systems: Sequence[System]) -> dict[str, float | None]:
    """The mean rating of each headline that all of these systems rated."""
    if not systems:
        return {}
    found: dict[str, float | None] = {}
    for identity in systems[0].ratings:
        given = [r for s in systems if (r := s.ratings.get(identity)) is not None]
        if len(given) == len(systems):
            found[identity] = math.fsum(given) / len(given)
    return found


def misses(name: str, headlines: Sequence[Headline], ratings: Mapping[str, float | None], most: int) -> Misses:
    """The `most` headlines rated furthest below and furthest above their mean grade; ties stay in dataset order."""
    kept, pred, _ = _rated(headlines, ratings)
    rows = [Miss(h.id, h.text, h.gold, p, p - h.gold) for h, p in zip(kept, pred, strict=True)]
    under = sorted((row for row in rows if row.error < 0), key=lambda row: row.error)
    over = sorted((row for row in rows if row.error > 0), key=lambda row: -row.error)
    return Misses(name, tuple(under[:most]), tuple(over[:most]))


def errors_by_bin(name: str, headlines: Sequence[Headline], ratings: Mapping[str, float | None]) -> BinnedErrors:
    """The mean absolute error over rated headlines, in bins of width 0.2 of the mean grade."""
    kept, pred, gold = _rated(headlines, ratings)
    return BinnedErrors(name, tuple(mae_by_bin(pred, gold, [h.cluster for h in kept])))


def _rated(
    headlines: Sequence[Headline], ratings: Mapping[str, float | None]
) -> tuple[list[Headline], list[float], list[float]]:
    """The rated headlines, their ratings and their mean grades."""
    kept = [(h, r) for h in headlines if (r := ratings.get(h.id)) is not None]
    return [h for h, _ in kept], [r for _, r in kept], [h.gold for h, _ in kept]
