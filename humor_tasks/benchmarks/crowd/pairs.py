"""Crowd pairs: which of two captions for one cartoon did the crowd find funnier?

Zhang et al. 2024, arXiv 2406.10522, Tables 2 and 8.
"""

from __future__ import annotations

import hashlib
import warnings
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from humor_tasks.benchmarks.caption_contest.corpus import FIXED_SCENE, letters, prompt
from humor_tasks.benchmarks.card import Level
from humor_tasks.benchmarks.choice import outcome
from humor_tasks.benchmarks.contract import Benchmark, Data
from humor_tasks.benchmarks.crowd import corpus, variants
from humor_tasks.benchmarks.crowd.drawing import DRAWS, differ, draw, first_times
from humor_tasks.benchmarks.metric import ACCURACY, FALLBACK, REPLY_RATES, Metric
from humor_tasks.benchmarks.options import parameter
from humor_tasks.benchmarks.prompts import Template
from humor_tasks.data.contests.contest_csv import Contest
from humor_tasks.data.records import Outcome, Record
from humor_tasks.errors import listed
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.placement import rank_correlation_by_cluster

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
    """Pairs of the paper's rule (`drawing.draw`), without repetition."""
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
        told = listed("contest", [f"{number} ({count})" for number, count in short.items()], most=8)
        warnings.warn(f"{o.dataset}, pairs={o.pairs}: fewer than {o.per_contest:,} pairs: {told}.", stacklevel=2)
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
        fields={**cartoon.fields, "choices": f"A) {first}\nB) {second}"},
        context=cartoon.context,
        choices=(first, second),
        target=target,
        groups={"fold": "0", "gap": gap(abs(rated[0]["rating"] - rated[1]["rating"]))},
        facts={"captions": rated},
        picture=cartoon.picture,
    )


# ---- metrics ------------------------------------------------------------------------------------


def gap(difference: float) -> str:
    """The part of the curve that a difference of mean ratings belongs to: its lower limit is in it."""
    return PARTS[bisect_right(GAPS, difference)]


def _words(part: str) -> str:
    """A part of the curve in words: `0.1_to_0.2` -> `0.1 to below 0.2`."""
    return part.replace("from_", "at least ").replace("_to_", " to below ")


def _accuracy_at(part: str) -> Metric:
    """Accuracy over the pairs in one part of the curve."""
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
    means = [sum(found) / len(found) for found in scores.values()]
    return rank_correlation_by_cluster(means, [rated[key] for key in scores], [cluster for cluster, _ in scores])


SPEARMAN = Metric(
    "spearman",
    estimate=_spearman,
    counts=lambda o: {"score_A", "score_B"} <= set(o.values),
    about="Rank correlation of a model's scores of single captions with their mean ratings in a contest, mean over "
    "contests; in Inspect, for models that score.",
)


CROWD_PAIRS = Benchmark(
    name="crowd_pairs",
    card=corpus.card(
        title="Caption contest crowd: the funnier of two captions",
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
        chance=Level(0.5, "accuracy", "a guess", "one of two captions is right"),
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
        ),
        meaning="The accuracies by gap show how fine the model's taste is: a model that is right only at large gaps "
        "can tell good captions from bad ones, but not good from better. GPT-4-Turbo has .67.",
        limits="Each rule of `pairs` draws other pairs, whose accuracies do not compare. With `setting=caption_only` a "
        "model never sees the cartoon and may still be right often: run it as the control.",
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
    lm_eval=variants.PAIRS,
)
