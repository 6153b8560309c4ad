"""Crowd pairs: which of two captions for one cartoon did the crowd find funnier?

Zhang et al. 2024, arXiv 2406.10522, Tables 2 and 8.
"""

from __future__ import annotations

import hashlib
import warnings
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from humor_tasks.benchmarks.caption_contest.corpus import FIXED_SCENE, letters, prompt
from humor_tasks.benchmarks.crowd import corpus
from humor_tasks.contract.card import Level, guessed
from humor_tasks.contract.choice import lettered, outcome, rotate
from humor_tasks.contract.definition import Benchmark, Data
from humor_tasks.contract.metric import ACCURACY, FALLBACK, REPLY_RATES, Metric
from humor_tasks.contract.options import parameter
from humor_tasks.contract.prompts import Template
from humor_tasks.contract.variants import variants
from humor_tasks.errors import listed
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows.contests.contest_csv import Contest, defects
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.placement import rank_correlation_by_cluster

DRAWS = 200_000
MIN_GAP_IN_SE = 3.0
"""Standard errors between the two means."""


@dataclass(frozen=True)
class Drawn:
    """Accepted pairs of places in a contest [pairs, 2], the better caption first, and what is told of the contest.

    accepted: share of all draws that the rule accepts. repeats: pairs that are there before. same: accepted draws left
    out because both captions are the same words. tied: the share of captions with the commonest mean.
    """

    places: NDArray[np.int64]
    captions: int
    accepted: float
    repeats: int
    same: int
    votes: float
    tied: float
    unknown: int
    doubts: tuple[str, ...] = ()

    def warnings(self, wanted: int) -> list[str]:
        """What makes the contest's pairs few or doubtful."""
        problems = [f"{len(self.places):,} of {wanted:,} pairs in {DRAWS:,} draws"] if len(self.places) < wanted else []
        return [*problems, *self.doubts]


def draw(contest: Contest, wanted: int, seed: int, distinct: bool = False) -> Drawn:
    """`wanted` pairs of a rated contest, whose captions are in the crowd's order.

    Of N captions, the chosen one's place c is uniform in 0..floor(N/2) and the rejected one's uniform in c+1..N-1. The
    pair is accepted where mean_c - mean_r > 3 sqrt(precision_c^2 + precision_r^2); precision is one standard error. At
    most DRAWS are drawn. A pair may come again, unless `distinct`. A caption without a standard error is never
    accepted. The draws depend on the seed and the contest's number alone.
    """
    n = len(contest.caption)
    mean, error = _ratings(contest)
    if n < 2:
        return Drawn(np.zeros((0, 2), np.int64), n, 0.0, 0, 0, 0.0, 0.0, int(np.isinf(error).sum()))
    stream = np.random.default_rng([seed, contest.number])
    chosen = stream.integers(0, min(n // 2, n - 2) + 1, size=DRAWS)
    rejected = stream.integers(chosen + 1, n)
    apart, same = differ(contest, chosen, rejected)
    places = np.stack([chosen, rejected], axis=1)[apart & ~same]
    first = first_times(places, n)
    if distinct:
        places, first = places[first], first[first]
    taken = slice(0, wanted)
    return Drawn(
        places[taken],
        n,
        float(apart.mean()),
        int((~first[taken]).sum()),
        int(same.sum()),
        float(np.median([votes or 0 for votes in contest.votes])),
        float(np.unique(mean, return_counts=True)[1].max() / n),
        int(np.isinf(error).sum()),
        tuple(map(str, defects(contest))),
    )


def _ratings(contest: Contest) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and standard error of each caption; nan and infinite where there is none."""
    mean = np.array([np.nan if value is None else value for value in contest.mean])
    return mean, np.array([np.inf if value is None else value for value in contest.precision])


def differ(
    contest: Contest, chosen: NDArray[Any], rejected: NDArray[Any]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the rule accepts each pair of captions, by index, and whether it does though both are the same words."""
    mean, error = _ratings(contest)
    apart = mean[chosen] - mean[rejected] > MIN_GAP_IN_SE * np.sqrt(error[chosen] ** 2 + error[rejected] ** 2)
    words = np.unique(np.array(contest.key), return_inverse=True)[1]
    return apart, apart & (words[chosen] == words[rejected])


def first_times(places: NDArray[Any], n: int) -> NDArray[np.bool_]:
    """Whether each pair [pairs, 2] of n captions is there for the first time."""
    first = np.zeros(len(places), bool)
    first[np.unique(places[:, 0] * n + places[:, 1], return_index=True)[1]] = True
    return first


Pairs = Literal["top_against_1000", "rule", "hard"]
Places = NDArray[np.int64]  # [pairs, 2]: indices into a contest's captions, the better one first
DECILES = 10
GAPS = (0.1, 0.2, 0.4, 0.8)
"""Limits of the curve, in rating points; the ratings lie between 1 and 3."""
PARTS = ("0_to_0.1", "0.1_to_0.2", "0.2_to_0.4", "0.4_to_0.8", "from_0.8")
"""The parts of the curve."""


@dataclass(frozen=True)
class PairsOptions(corpus.CrowdOptions):
    """Parameters of the pairs."""

    pairs: Pairs = parameter(
        "top_against_1000",
        "Pairs: top 10 with #1000-1009 (`top_against_1000`), any that differ by 3 standard errors (`rule`), or such "
        "pairs of adjacent deciles (`hard`).",
    )
    per_contest: int = parameter(10, "Number of pairs drawn from each contest, without repetition.", least=1)
    seed: int = parameter(1234, "Seed of the pairs, of worked examples and of random guesses.")

    @property
    def rows_by_seed(self) -> bool:
        """The seed draws the pairs."""
        return True

    @property
    def variant(self) -> str:
        """The kind of pairs, where it is not the default."""
        return "" if self.pairs == "top_against_1000" else self.pairs


# ---- pairs --------------------------------------------------------------------------------------


def top_against_1000(contest: Contest, wanted: int, seed: int) -> Places:
    """Pairs of a caption of ranks 0 to 9 and one of ranks 1000 to 1009, uniformly, without repetition.

    Pairs with equal means have no answer and are not drawn.
    """
    index = {place: i for i, place in enumerate(contest.place)}
    sides = [[index[p] for p in range(first, first + corpus.GROUP_SIZE) if p in index] for first in (0, 1000)]
    mean = contest.mean
    every = np.array([(c, r) for c in sides[0] for r in sides[1] if mean[c] > mean[r]], np.int64)  # type: ignore[operator]
    stream = np.random.default_rng([seed, contest.number])
    drawn: Places = every.reshape(-1, 2)[stream.permutation(len(every))[:wanted]]
    return drawn


def by_rule(contest: Contest, wanted: int, seed: int) -> Places:
    """Pairs of the paper's rule (`pairs.draw`), without repetition."""
    return draw(contest, wanted, seed, distinct=True).places


def hard(contest: Contest, wanted: int, seed: int) -> Places:
    """Pairs of adjacent deciles of the contest's ranking that differ by the rule, without repetition.

    The decile d is uniform in 0..8, the captions are uniform in deciles d and d + 1.
    """
    n = len(contest.caption)
    if n < 2 * DECILES:
        return np.zeros((0, 2), np.int64)
    starts = np.arange(DECILES + 1) * n // DECILES
    stream = np.random.default_rng([seed, contest.number, DECILES])
    decile = stream.integers(0, DECILES - 1, size=DRAWS)
    chosen = stream.integers(starts[decile], starts[decile + 1])
    rejected = stream.integers(starts[decile + 1], starts[decile + 2])
    apart, same = differ(contest, chosen, rejected)
    places = np.stack([chosen, rejected], axis=1)[apart & ~same]
    drawn: Places = places[first_times(places, n)][:wanted]
    return drawn


DRAWN: dict[str, Callable[[Contest, int, int], Places]] = {
    "top_against_1000": top_against_1000,
    "rule": by_rule,
    "hard": hard,
}


def load(benchmark: Benchmark[PairsOptions], o: PairsOptions) -> Data:
    """One record per pair."""
    crowd = corpus.open_crowd(o, corpus.WITH_GROUPS if o.pairs == "top_against_1000" else 2)
    drawn = {cartoon.number: _records(cartoon, o) for cartoon in crowd.cartoons}
    records = [record for held in drawn.values() for record in held]
    provenance = crowd.provenance(len(records))
    if short := {str(number): len(held) for number, held in drawn.items() if len(held) < o.per_contest}:
        counts = listed("contest", [f"{number} ({count})" for number, count in short.items()], most=8)
        warnings.warn(f"{o.dataset}, pairs={o.pairs}: fewer than {o.per_contest:,} pairs: {counts}.", stacklevel=2)
        provenance["fewer_pairs"] = short
    return Data(tuple(records), provenance, lambda fold: corpus.pool(o))


def _records(cartoon: corpus.Cartoon, o: PairsOptions) -> list[Record]:
    """A contest's pairs; the better caption is A in half of them (one more or less where their number is odd)."""
    contest, cluster = cartoon.contest, str(cartoon.number)
    drawn = DRAWN[o.pairs](contest, o.per_contest, o.seed).tolist()
    ids = [f"{cluster}-{contest.place[better]}-{contest.place[worse]}" for better, worse in drawn]
    by_hash = sorted(ids, key=lambda each: hashlib.sha256(f"{o.seed}:{each}".encode()).digest())
    turned = {each: (i + cartoon.number) % 2 for i, each in enumerate(by_hash)}
    return [
        _record(cartoon, identity, (worse, better) if turned[identity] else (better, worse), "AB"[turned[identity]])
        for identity, (better, worse) in zip(ids, drawn, strict=True)
    ]


def _record(cartoon: corpus.Cartoon, identity: str, shown: tuple[int, int], target: str) -> Record:
    """The pair of the captions `shown`, by index, as A and B."""
    contest = cartoon.contest
    first, second = (contest.caption[i] for i in shown)
    rated = [{"rank": contest.place[i], "rating": contest.mean[i] or 0.0} for i in shown]
    return Record(
        id=identity,
        cluster=str(cartoon.number),
        fields={**cartoon.fields, "choices": lettered((first, second))},
        context=cartoon.context,
        choices=(first, second),
        target=target,
        groups={"fold": "0", "gap": gap(abs(rated[0]["rating"] - rated[1]["rating"]))},
        facts={"captions": rated},
        picture=cartoon.picture,
    )


def swap(record: Record, k: int) -> Record:
    """The pair in the other order, for k = 1; see `choice.rotate`."""
    return replace(rotate(record, k), facts={**record.facts, "captions": record.facts["captions"][::-1]})


# ---- metrics ------------------------------------------------------------------------------------


def gap(difference: float) -> str:
    """The part of the curve that a difference of mean ratings belongs to: its lower limit is in it."""
    return PARTS[bisect_right(GAPS, difference)]


def _words(part: str) -> str:
    """A part of the curve in words: `0.1_to_0.2` -> `0.1 to below 0.2`."""
    return part.replace("from_", "at least ").replace("_to_", " to below ")


def _accuracy_at(part: str) -> Metric:
    return Metric(
        f"accuracy_gap_{part}",
        estimate=ACCURACY.over,
        counts=lambda o: o.groups.get("gap") == part and "accuracy" in o.values,
        proportion=True,
        about=f"Accuracy over the pairs whose mean ratings, on the scale from 1 to 3, differ by {_words(part)}.",
    )


CURVE = tuple(map(_accuracy_at, PARTS))
"""Accuracy by the difference of the mean ratings: how fine the model's taste is."""


def _spearman(outcomes: Sequence[Outcome]) -> Estimate:
    """Spearman's correlation of a model's scores of captions with their mean ratings in each contest, averaged.

    A caption of several pairs counts once, with the mean of its scores.
    """
    scores: dict[tuple[str, int], list[float]] = {}
    rated: dict[tuple[str, int], float] = {}
    for o in outcomes:
        for letter, caption in zip("AB", o.facts["captions"], strict=True):
            key = o.cluster, caption["rank"]
            scores.setdefault(key, []).append(o.values[f"score_{letter}"])
            rated[key] = caption["rating"]
    means = [sum(values) / len(values) for values in scores.values()]
    return rank_correlation_by_cluster(means, [rated[key] for key in scores], [cluster for cluster, _ in scores])


SPEARMAN = Metric(
    "spearman",
    estimate=_spearman,
    counts=lambda o: {"score_A", "score_B"} <= set(o.values),
    span=(-1, 1),
    about="Rank correlation of a model's scores of single captions with their mean ratings in a contest, mean over "
    "contests; in Inspect, for models that score.",
)


CROWD_PAIRS = Benchmark(
    name="crowd_pairs",
    card=corpus.card(
        title="Caption contest crowd: the funnier of two captions",
        considerations=considerations("newyorker_caption_ranking", "crowd_pairs"),
        section="Tables 2 and 8",
        question="Crowd pairs: which of two captions for one cartoon did the crowd find funnier?",
        claim="Readers' ratings order captions far more finely than editors' choices do, and a judge of humour must "
        "agree with them before it judges models.",
        prompt="As for `ranking`. Pairs are drawn by `seed` and contest. With `pairs=top_against_1000` one caption is "
        "of the top 10 and one of #1000-1009 (ranks from 0). With `pairs=rule` their means differ by more than three "
        "combined standard errors, the rule of the paper's preference pairs. `pairs=hard` is that rule for captions "
        "of adjacent deciles. Votes and ratings are never shown.",
        metrics="Accuracy clustered by contest; accuracy by the difference of the two mean ratings (scale 1 to 3); "
        "Spearman's correlation with the crowd per contest, where the model scores single captions (in Inspect; "
        "lm-eval passes no scores).",
        sampling=corpus.SAMPLING,
        chance=(
            *guessed(0.5, "one of two captions is right", "accuracy", *(metric.name for metric in CURVE)),
            *guessed(0.0, "no correlation is to be expected", "spearman"),
        ),
        human=(
            Level(
                0.6167,
                "accuracy",
                "crowd workers, description by GPT-4o, pairs=top_against_1000",
                "Zhang et al. 2024, Table 2, pairwise, row crowd workers (description by GPT-4o)",
            ),
            Level(
                0.6079,
                "accuracy",
                "crowd workers, picture, pairs=top_against_1000",
                "Zhang et al. 2024, Table 2, pairwise, row crowd workers (picture)",
            ),
            *(
                Level(
                    value, "accuracy", f"{who}, picture, rank 1 against 1000", f"Zhou et al. 2025, Table 3, row {row}"
                )
                for value, who, row in (
                    (0.78, "five experts, mean", "Expert Average Accuracy"),
                    (0.8533, "the best of five experts", "Best Expert Accuracy"),
                )
            ),
        ),
        related=("crowd_groups", "ranking"),
    ),
    corpus="newyorker",
    version="1-A",
    answer=letters("AB"),
    metrics=(ACCURACY, SPEARMAN, *CURVE, *REPLY_RATES, FALLBACK),
    options=PairsOptions,
    templates=(FIXED_SCENE, Template("crowd", "pairs.{o.style}.txt", required=("scene", "choices"))),
    load=load,
    prompt=prompt,
    outcome=outcome,
    letter_metrics=frozenset({"scores"}),
    rotate=swap,
    lm_eval=variants(
        "crowd_pairs", "multiple_choice", "generate_until", settings=corpus.LM_EVAL_SETTINGS, wordings=True
    ),
    suites={"text": {}, "pictures": {"setting": "pixels"}},
    ability="funnier",
)
