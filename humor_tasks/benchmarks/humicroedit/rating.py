"""Humicroedit, subtask 1: how funny is an edited headline, from 0 to 3?

Hossain et al., SemEval-2020 Task 7, arXiv 2008.00304.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from humor_tasks.benchmarks.humicroedit import corpus
from humor_tasks.contract.answers import BLANK_LINE, Answer, Rating
from humor_tasks.contract.card import Binned, Calibration, Card, Display, Level, Uses, guessed
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.metric import REPLY_RATES, Direction, Metric, has
from humor_tasks.contract.options import parameter
from humor_tasks.contract.variants import variants
from humor_tasks.errors import BadInput
from humor_tasks.papers import papers
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows import CsvRows
from humor_tasks.rows.records import Outcome, Prompt, Record
from humor_tasks.scorers import regression
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.noise_ceiling import against_judges, noise_ceiling

LABELS = ("0", "1", "2", "3")
PERCENTS = (10, 20, 30, 40)
BINS = tuple(f"mae_{i / 5:.1f}" for i in range(15))
Estimated = Literal["text", "expected"]
NOT_GUESSED = "ratings cannot be guessed; choose wrong or exclude."


@dataclass(frozen=True)
class RatingOptions(corpus.HumicroeditOptions):
    """Parameters of the rating task."""

    on_unparsed: Literal["wrong", "exclude"] = parameter(
        "wrong",
        "An unreadable rating counts as the worst possible rating (`wrong`) or is left out (`exclude`).",
        never={"random": NOT_GUESSED},
    )
    scale: str = parameter(corpus.SCALE, "The meanings of 0, 1, 2 and 3 in the prompt.")
    estimate: Estimated = parameter(
        "text",
        "`text` reads the number in the reply; `expected` is the mean under the model's probabilities of the digits.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.scale.strip():
            raise BadInput("scale must not be empty; give the meanings of 0, 1, 2 and 3.")

    @property
    def asks_for_ratings(self) -> bool:
        """Whether headlines are rated one at a time."""
        return True

    def for_likelihoods(self) -> dict[str, Any]:
        """`estimate=expected`: the likelihoods of the digits give the expected rating."""
        return {"estimate": "expected"} if self.asks_for_ratings else {}


def record(h: corpus.Headline) -> Record:
    """One headline; its facts hold the individual grades, for metrics such as `beats_judge`."""
    fields = {name: getattr(h, name) for name in ("original", "edited", "word", "edit", "before", "after")}
    return Record(
        id=h.id,
        cluster=h.original,
        fields=fields,
        context=h.edited,
        choices=(),
        target=None if h.mean is None else repr(h.mean),
        groups={},
        facts={"grades": list(h.grades)},
    )


def load(benchmark: Benchmark[RatingOptions], o: RatingOptions) -> Data:
    """The records of one split of task-1."""

    def records(rows: CsvRows) -> list[Record]:
        return [record(h) for h in corpus.headlines(rows)]

    return corpus.data(o, 1, records)


TEMPLATES = corpus.templates("rating", "edited")


def prompt(run: Run[RatingOptions], item: Record) -> Prompt:
    """The prompt with the scale and the headline."""
    return corpus.prompt(run, item, "rating", scale=run.options.scale)


def form(options: RatingOptions) -> Rating:
    """A rating on the organisers' scale."""
    return Rating(LABELS, stop=BLANK_LINE, needs_likelihoods=options.estimate == "expected")


def outcome(run: Run[RatingOptions], item: Record, answer: Answer) -> Outcome:
    """The absolute error, which is the RMSE of this item alone.

    An item without a rating counts as rated at the far end of the scale, or is left out.
    """
    values: dict[str, float] = {}
    if item.target is not None and (answer.value is not None or run.options.on_unparsed != "exclude"):
        gold = float(item.target)
        values = dict.fromkeys(("rmse", bin_of(gold)), abs(_rated(answer.value, gold) - gold))
    return answer.outcome(item, values)


def bin_of(gold: float) -> str:
    """The metric name of a mean grade's bin: bins have width .2 and are named by the lower end; 3.0 is in the last."""
    return BINS[min(int(gold * 5 + 1e-9), len(BINS) - 1)]


def _rated(answer: str | None, gold: float) -> float:
    """The rating; without one, the end of the scale farther from the mean grade."""
    return float(answer) if answer is not None else 3.0 * (gold < 1.5)


# ---- metrics ------------------------------------------------------------------------------------


def _ratings(outcomes: Sequence[Outcome]) -> tuple[list[float], list[float], list[str]]:
    gold = [float(o.target or "nan") for o in outcomes]
    rated = [_rated(o.answer, g) for o, g in zip(outcomes, gold, strict=True)]
    return rated, gold, [o.cluster for o in outcomes]


def _grades(outcomes: Sequence[Outcome]) -> list[list[int]]:
    return [o.facts["grades"] for o in outcomes]


ERRORS = (0, math.inf)  # submitted ratings are not clipped to the scale
_OF_DATA = "It is itself a level: what judges, or a system that knows them all, reach on these rows."


def _has_grades(o: Outcome) -> bool:
    """Whether the item has grades of several judges, all on the scale; seven rows of FunLines have others."""
    grades = o.facts.get("grades", ())
    return "rmse" in o.values and len(grades) > 1 and set(grades) <= set(map(int, LABELS))


def _rating_metric(
    name: str, direction: Direction, about: str, function: Callable[..., Estimate], *more: int
) -> Metric:
    return Metric(
        name,
        direction,
        lambda outcomes: function(*_ratings(outcomes), *more),
        counts=has("rmse"),
        about=about,
        span=(-1, 1) if direction == "higher" else ERRORS,
    )


def _span(bin_: int) -> str:
    return (
        f"from {bin_ / 5:.1f} to below {(bin_ + 1) / 5:.1f}" if bin_ < len(BINS) - 1 else f"of {bin_ / 5:.1f} or more"
    )


def _absolute_error(outcomes: Sequence[Outcome]) -> Estimate:
    rated, gold, clusters = _ratings(outcomes)
    return clustered_mean([abs(r - g) for r, g in zip(rated, gold, strict=True)], clusters)


def _judge_metric(name: str, direction: Direction, proportion: bool, about: str) -> Metric:
    """A comparison of the system with individual judges: a field of `AgainstJudges`."""

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        rated, _, clusters = _ratings(outcomes)
        result: Estimate = getattr(against_judges(rated, _grades(outcomes), clusters), name)
        return result

    span = None if proportion else ERRORS
    return Metric(name, direction, estimate, counts=_has_grades, proportion=proportion, about=about, span=span)


def _ceiling_metric(name: str, about: str) -> Metric:
    """The error of judges, or of a perfect system, on these rows: a field of `NoiseCeiling`."""

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        result: Estimate = getattr(noise_ceiling(_grades(outcomes), [o.cluster for o in outcomes]), name)
        return result

    return Metric(name, "lower", estimate, counts=_has_grades, about=about, span=ERRORS, no_level=_OF_DATA)


METRICS = (
    _rating_metric("rmse", "lower", "Root mean squared error against the mean grade, in grades.", regression.rmse),
    *(
        _rating_metric(
            f"rmse_at_{percent}",
            "lower",
            f"RMSE over the {percent} % funniest and the {percent} % least funny headlines.",
            regression.rmse_at,
            percent,
        )
        for percent in PERCENTS
    ),
    _rating_metric("pearson", "higher", "Pearson's correlation with the mean grade.", regression.pearson),
    _rating_metric("spearman", "higher", "Spearman's rank correlation with the mean grade.", regression.spearman),
    _judge_metric(
        "beats_judge",
        "higher",
        True,
        "How often the rating is nearer to the other judges' mean than a held-out judge's grade; a tie counts half.",
    ),
    _judge_metric("judge_rmse", "lower", False, "RMSE against single judges' grades."),
    _ceiling_metric("one_judge", "RMSE of one judge against another."),
    _ceiling_metric("other_judges", "RMSE of the other judges' mean against the one held out."),
    _ceiling_metric(
        "true_mean", "RMSE of a perfect system, which knows the mean of all judges: the lowest to be expected."
    ),
    *(
        Metric(
            name,
            "lower",
            _absolute_error,
            about=f"Mean absolute error of headlines with a mean grade {_span(i)}.",
            span=ERRORS,
        )
        for i, name in enumerate(BINS)
    ),
    *REPLY_RATES,
)

CHARTS = (
    Binned(
        "humicroedit_error",
        "Humicroedit: error by funniness",
        "Hossain et al. 2020, SemEval-2020 Task 7",
        x="mean grade of the headline, bins of 0.2",
        y="mean absolute error",
        bins={name: round(i / 5 + 0.1, 1) for i, name in enumerate(BINS)},
        high=3,
    ),
    Calibration(
        "humicroedit_calibration",
        "Humicroedit: calibration of the ratings",
        x="mean rating, bins of 0.2",
        y="mean grade",
        high=3,
        bins=len(BINS),
    ),
)

BASELINE = "SemEval-2020 Task 7, BASELINE, recomputed from the files"
OF_MEAN = dict(
    zip(("rmse", *(f"rmse_at_{each}" for each in PERCENTS)), (0.57471, 0.98616, 0.83064, 0.72266, 0.64004), strict=True)
)
"""Errors of always giving the mean of train, on test."""

RATING = Benchmark(
    name="humicroedit_rating",
    card=Card(
        title="Humicroedit: funniness of an edited headline",
        considerations=considerations("humicroedit", "humicroedit_rating"),
        paper=papers.HUMICROEDIT,
        section="subtask 1",
        source=corpus.source(1, "the organisers' task-1 files; the target is the mean grade of five judges."),
        question="Humicroedit, subtask 1: how funny is an edited headline, from 0 to 3?",
        claim=corpus.CLAIM,
        prompt="The edited headline, with or without the original.",
        metrics="RMSE as in the competition, over all rows and over the k percent funniest and least funny "
        "(RMSE@10..40); mean absolute error by bins of the mean grade; Pearson and Spearman correlation; and a "
        "comparison with the errors of individual judges. Clustered by headline.",
        sampling="no system generates text.",
        splits={"train": 9_652, "train_funlines": 8_248, "dev": 2_419, "test": 3_024},
        dates=corpus.DATES,
        chance=(
            *(Level(value, name, "always the mean of train, on test", BASELINE) for name, value in OF_MEAN.items()),
            *guessed(0.0, "no correlation is to be expected; a constant has none", "pearson", "spearman"),
        ),
        differences=(
            *corpus.DIFFERENCES,
            "An unreadable rating counts as the worst possible one; `on_unparsed=exclude` leaves it out.",
        ),
        related=("humicroedit_pairwise",),
        needs="the organisers' files",
    ),
    corpus="humicroedit",
    version="1-A",
    answer=form,
    metrics=METRICS,
    options=RatingOptions,
    templates=TEMPLATES,
    load=load,
    prompt=prompt,
    outcome=outcome,
    uses=Uses(submits="rating"),
    display=Display(charts=CHARTS),
    lm_eval=variants("humicroedit_rating", "multiple_choice", "generate_until", wordings=True),
    suites={"text": {}},
    ability="edit",
)
