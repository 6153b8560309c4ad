"""Humicroedit, subtask 1: how funny is an edited headline, from 0 to 3?

Claim: replacing one word of a news headline shows what makes short text funny (Hossain et al.,
SemEval-2020 Task 7). Source: the organisers' task-1 files; the target is the mean of five judges.
Prompt: the edited headline, with or without the original. Metrics: RMSE as in the competition, over
all rows and over the k funniest and least funny (RMSE@10..40); mean absolute error by funniness;
Pearson and Spearman; and how the error compares with that of single judges. Clustered by headline.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from humor_tasks.benchmarks.contract import Benchmark, Data, Options, Run
from humor_tasks.benchmarks.humicroedit import corpus
from humor_tasks.benchmarks.options import parameter
from humor_tasks.data.records import Outcome, Prompt, Record
from humor_tasks.data.rows import CsvRows
from humor_tasks.errors import BadInput
from humor_tasks.scorers import regression
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.noise_ceiling import against_judges, noise_ceiling
from humor_tasks.scorers.rating import expected_rating, read_rating

PERCENTS = (10, 20, 30, 40)
BINS = tuple(f"mae_{i / 5:.1f}" for i in range(15))
JUDGED = ("beats_judge", "judge_rmse")  # the system beside single judges
CEILINGS = ("one_judge", "other_judges", "true_mean")  # what judges, and a perfect system, reach on these rows
Estimated = Literal["text", "expected"]
NOT_GUESSED = "a rating is not guessed; choose wrong or exclude."


@dataclass(frozen=True)
class RatingOptions(corpus.HumicroeditOptions):
    """Parameters of the rating task."""

    on_unparsed: Literal["wrong", "exclude"] = parameter(
        "wrong",
        "An unreadable rating counts as the far end of the scale (`wrong`) or is left out (`exclude`).",
        never={"random": NOT_GUESSED},
    )
    scale: str = parameter(corpus.SCALE, "What 0, 1, 2 and 3 mean, as the model is told.")
    estimate: Estimated = parameter(
        "text", "`text` reads the number; `expected` is the mean under the model's probabilities of the digits."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.scale.strip():
            raise BadInput("scale must be text: what 0, 1, 2 and 3 mean.")

    @property
    def rates(self) -> bool:
        """It does."""
        return True


def record(h: corpus.Headline) -> Record:
    """One headline; its single grades travel along for `beats_judge`."""
    fields = {name: getattr(h, name) for name in ("original", "edited", "word", "edit", "before", "after")}
    return Record(
        id=h.id,
        cluster=h.original,
        fields=fields,
        context=h.edited,
        choices=(),
        target=None if h.mean is None else repr(h.mean),
        groups={"grades": "".join(map(str, h.grades))},
    )


def load(benchmark: Benchmark, options: Options) -> Data:
    """The rows of task-1."""

    def records(rows: CsvRows) -> list[Record]:
        return [record(h) for h in corpus.headlines(rows)]

    return corpus.data(cast(RatingOptions, options), 1, records)


def answer_turn(item: Record) -> str:
    """How a worked example is answered."""
    return f"Rating: {item.target}"


def prompt(run: Run, item: Record) -> Prompt:
    """The scale, then the headline."""
    return corpus.prompt(run, item, "rating", answer_turn, scale=cast(RatingOptions, run.options).scale)


def outcome(run: Run, item: Record, reply: str, refused: bool) -> Outcome:
    """Read the rating. Without one the item counts as rated the far end of the scale, or is left out."""
    rating = read_rating(reply)
    status = "refused" if refused and rating.value is None else rating.status
    values = {"unparsed": float(status in ("unparsed", "empty")), "refused": float(status == "refused")}
    answer = None if rating.value is None else repr(rating.value)
    if item.target is not None and (answer is not None or run.options.on_unparsed != "exclude"):
        gold = float(item.target)
        names = ["rmse", *(f"rmse_at_{p}" for p in PERCENTS), "pearson", "spearman", bin_of(gold)]
        values |= dict.fromkeys(names, (_rated(answer, gold) - gold) ** 2)
        grades = item.groups.get("grades", "")
        if len(grades) > 1 and set(grades) <= set("0123"):  # seven rows of FunLines hold others
            values |= dict.fromkeys((*JUDGED, *CEILINGS), (_rated(answer, gold) - gold) ** 2)
    return Outcome(item.id, item.cluster, item.groups, status, answer, item.target, values)


def bin_of(gold: float) -> str:
    """The bin of width .2 that a mean grade falls into, by its lower end; 3.0 belongs to the last."""
    return BINS[min(int(gold * 5 + 1e-9), len(BINS) - 1)]


def _rated(answer: str | None, gold: float) -> float:
    """The rating, or the worst there is."""
    return float(answer) if answer is not None else 3.0 * (gold < 1.5)


def estimate(run: Run, name: str, outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
    """One metric of these outcomes, clustered by original headline."""
    clusters = [o.cluster for o in outcomes]
    if name in ("unparsed", "refused"):
        return {name: clustered_mean([o.values[name] for o in outcomes], clusters)}
    gold = [float(o.target or "nan") for o in outcomes]
    rated = [_rated(o.answer, g) for o, g in zip(outcomes, gold, strict=True)]
    return {name: _one(name, rated, gold, [o.groups.get("grades", "") for o in outcomes], clusters)}


def _one(name: str, rated: list[float], gold: list[float], grades: list[str], clusters: list[str]) -> Estimate:
    data: Any = (rated, gold, clusters)
    single = [[int(g) for g in row] for row in grades] if name in (*JUDGED, *CEILINGS) else []
    if name in JUDGED:
        judged: Estimate = getattr(against_judges(rated, single, clusters), name)
        return judged
    if name in CEILINGS:
        ceiling: Estimate = getattr(noise_ceiling(single, clusters), name)
        return ceiling
    if name.startswith("rmse_at_"):
        return regression.rmse_at(*data, int(name.removeprefix("rmse_at_")))
    if name.startswith("mae_"):
        return clustered_mean([abs(r - g) for r, g in zip(rated, gold, strict=True)], clusters)
    function: Any = {"rmse": regression.rmse, "pearson": regression.pearson, "spearman": regression.spearman}[name]
    found: Estimate = function(*data)
    return found


def expected(likelihoods: Sequence[float], labels: Sequence[str] = ("0", "1", "2", "3")) -> float | None:
    """The mean of the scale's labels under their log-likelihoods; None where one is nan, or none is finite."""
    if any(map(math.isnan, likelihoods)):
        return None
    found: float | None = expected_rating(dict(zip(labels, likelihoods, strict=True)), labels).value
    return found


def prediction(options: Options | None, text: str) -> str:
    """A number of a submission file, as a reply."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 3:
        raise BadInput(f"the prediction is {text!r}; it must be a number from 0 to 3.")
    return f"Rating: {value!r}"


RATING = Benchmark(
    name="humicroedit_rating",
    title="Humicroedit: funniness of an edited headline",
    paper=corpus.PAPER,
    version="1-A",
    card=corpus.CARD,
    letters="",
    metric_names=(
        *("rmse", *(f"rmse_at_{p}" for p in PERCENTS), "pearson", "spearman"),
        *(*JUDGED, *CEILINGS, *BINS, "unparsed", "refused"),
    ),
    options=RatingOptions,
    templates=lambda options: corpus.templates("rating", options, {"edited"}),
    load=load,
    prompt=prompt,
    outcome=outcome,
    estimate=estimate,
    scale=("0", "1", "2", "3"),
    prediction=prediction,
)
