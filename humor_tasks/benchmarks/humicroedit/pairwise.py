"""Humicroedit, subtask 2: which of two edits of a headline is funnier?

Hossain et al., SemEval-2020 Task 7, arXiv 2008.00304.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal

from humor_tasks.benchmarks.humicroedit import corpus, rating
from humor_tasks.contract.answers import BLANK_LINE, UNREAD, Answer, AnswerForm, Choice
from humor_tasks.contract.card import Card, Uses, guessed
from humor_tasks.contract.choice import outcome as choice
from humor_tasks.contract.choice import rotate
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.metric import OF_REPLIES, REPLY_RATES, Direction, Metric
from humor_tasks.contract.options import OnUnparsed, parameter
from humor_tasks.contract.prompts import Template
from humor_tasks.contract.shots import by_cluster
from humor_tasks.contract.variants import variants
from humor_tasks.errors import BadInput
from humor_tasks.papers import papers
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows import CsvRows
from humor_tasks.rows.records import Outcome, Prompt, Record
from humor_tasks.scorers.bounded_mean import bounded_mean
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

Via = Literal["direct", "ratings"]
Ties = Literal["drop", "keep"]
LETTERS = {1: "A", 2: "B"}
REWARDS = (-3, 3)


@dataclass(frozen=True)
class PairwiseOptions(rating.RatingOptions):
    """Parameters of the pairwise task; `scale` and `estimate` apply only to `via=ratings`."""

    scored = (*rating.RatingOptions.scored, "via")

    on_unparsed: OnUnparsed = parameter(  # type: ignore[assignment]  # letters are guessed, ratings are not
        "wrong",
        "Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`, only with "
        "`via=direct`).",
    )
    seed: int = parameter(1234, "Seed of worked examples and random guesses.")
    scale: str = parameter(corpus.SCALE, "With `via=ratings`: the meanings of 0, 1, 2 and 3 in the prompt.")
    estimate: rating.Estimated = parameter(
        "text",
        "With `via=ratings`: `text` reads the number in the reply; `expected` is the mean under the model's "
        "probabilities of the digits.",
    )
    via: Via = parameter(
        "direct", "`direct` asks for A or B; `ratings` rates each headline once and compares (version 2-A-ratings)."
    )
    ties: Ties = parameter(
        "drop", "`drop` pairs with equal means, which have no answer, or `keep` them, unscored, for a submission."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.via == "ratings" and self.on_unparsed == "random":
            raise BadInput(f"on_unparsed=random: {rating.NOT_GUESSED}")
        if self.via == "direct" and self.estimate != "text":
            raise BadInput("estimate=expected applies only to via=ratings; a letter has no expected value.")

    @property
    def variant(self) -> str:
        """`ratings` where ratings are compared."""
        return "ratings" if self.via == "ratings" else ""

    def without_effect(self) -> set[str]:
        """The rating's parameters where letters are asked for."""
        return super().without_effect() | (set() if self.asks_for_ratings else {"scale", "estimate"})

    @property
    def asks_for_ratings(self) -> bool:
        """Whether headlines are rated (via=ratings)."""
        return self.via == "ratings"


def load(benchmark: Benchmark[PairwiseOptions], o: PairwiseOptions) -> Data:
    """One record per pair without a tie; with via=ratings, one per distinct headline of these pairs."""

    def records(rows: CsvRows) -> list[Record]:
        pairs = [pair for pair in corpus.pairs(rows) if pair.label != 0 or o.ties == "keep"]
        return _headlines(pairs) if o.via == "ratings" else [_pair(pair) for pair in pairs]

    data = corpus.data(o, 2, records)
    if o.via == "ratings":  # the worked examples are those of subtask 1
        data = replace(data, pool=lambda fold: _rated_headlines(o.dataset))
    if data.records and o.via == "ratings":  # the ids are those of headlines, not of pairs
        return data
    listed = {row["id"].strip() for row in corpus.read_split(o.dataset, 2, o.split).rows}
    return replace(data, dropped=frozenset(listed - {record.id for record in data.records}))


@lru_cache(maxsize=2)
def _rated_headlines(dataset: str) -> Mapping[str, Sequence[Record]]:
    return by_cluster([rating.record(h) for h in corpus.headlines(corpus.read_split(dataset, 1, "train"))])


def _pair(pair: corpus.Pair) -> Record:
    both = {"1": pair.first, "2": pair.second}
    fields = {f"{name}{n}": getattr(h, name) for n, h in both.items() for name in ("edited", "word", "edit")}
    fields |= {f"{name}{n}": getattr(h, name) for n, h in both.items() for name in ("before", "after")}
    return Record(
        id=pair.id,
        cluster=pair.first.original,
        fields=fields | {"original": pair.first.original},
        context=pair.first.original,
        choices=(pair.first.edited, pair.second.edited),
        target=LETTERS.get(pair.label or 0),
        groups={},
        facts={"difference": _difference(pair)},
    )


def swap(record: Record, k: int) -> Record:
    """The pair in the other order, for k = 1; see `choice.rotate`."""
    turned = rotate(record, k)
    other = {name: record.fields[name[:-1] + "21"[int(name[-1]) - 1]] for name in record.fields if name[-1] in "12"}
    return replace(turned, fields={**turned.fields, **other})


def _difference(pair: corpus.Pair) -> float | None:
    first, second = pair.first.mean, pair.second.mean
    return None if first is None or second is None else round(abs(first - second), 6)


def _headlines(kept: Sequence[corpus.Pair]) -> list[Record]:
    """Each distinct headline once, with the pairs that contain it."""
    found: dict[str, Record] = {}
    places: dict[str, list[dict[str, Any]]] = {}
    for pair in kept:
        for place, headline in ((1, pair.first), (2, pair.second)):
            mark = hashlib.sha256("\0".join((headline.before, headline.edit, headline.after)).encode()).hexdigest()[:12]
            identity = f"headline-{mark}"
            if identity not in found:
                found[identity] = replace(rating.record(headline), id=identity)
            about = {"id": pair.id, "place": place, "label": pair.label, "difference": _difference(pair)}
            places.setdefault(identity, []).append(about)
    return [replace(r, facts={**r.facts, "pairs": places[i]}) for i, r in found.items()]


def templates(o: PairwiseOptions) -> tuple[Template, ...]:
    """The templates of the pairwise question, or of the rating."""
    return rating.TEMPLATES if o.asks_for_ratings else corpus.templates("pairwise", "edited1", "edited2")


def prompt(run: Run[PairwiseOptions], record: Record) -> Prompt:
    """The prompt with both edits, or with one headline to rate."""
    if run.options.asks_for_ratings:
        return rating.prompt(run, record)
    return corpus.prompt(run, record, "pairwise")


@dataclass(frozen=True)
class FunnierOfTwo(Choice):
    """A letter; in a submission file, the number of the funnier headline."""

    def from_submission(self, text: str) -> Answer:
        """The answer 1 or 2, or 0 for a tie, which some teams submitted and which counts as unparsed."""
        numbers = {str(number): letter for number, letter in LETTERS.items()}
        if text.strip() not in (*numbers, "0"):
            raise BadInput(f"the prediction is {text!r}; it must be 1 or 2, the number of the funnier headline, or 0.")
        return Answer(numbers[text.strip()]) if text.strip() in numbers else UNREAD


def form(options: PairwiseOptions) -> AnswerForm:
    """A letter; with via=ratings, a rating."""
    return rating.form(options) if options.asks_for_ratings else FunnierOfTwo("AB", stop=BLANK_LINE)


def outcome(run: Run[PairwiseOptions], record: Record, answer: Answer) -> Outcome:
    """Accuracy and reward of a letter.

    With via=ratings an item is a headline; its value `pairs` is the number of pairs that contain it, 0 where it is left
    out.
    """
    if run.options.asks_for_ratings:
        counts = answer.value is not None or run.options.on_unparsed != "exclude"
        return answer.outcome(record, {"pairs": float(len(record.facts["pairs"]) if counts else 0)})
    found, difference = choice(run, record, answer), record.facts["difference"]
    if "accuracy" not in found.values or difference is None:
        return found
    reward = (2 * found.values["accuracy"] - 1) * difference
    return replace(found, values={**found.values, "reward": reward})


# ---- metrics ------------------------------------------------------------------------------------


def _pair_metric(
    name: str, about: str, direction: Direction = "higher", lm_eval_name: str = "", *, proportion: bool = True
) -> Metric:
    """A mean over pairs; where the items are headlines, over the pairs formed from their ratings."""

    mean = clustered_proportion if proportion else partial(bounded_mean, low=REWARDS[0], high=REWARDS[1])

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        if not any("pairs" in o.facts for o in outcomes):
            return mean([o.values[name] for o in outcomes], [o.cluster for o in outcomes])
        pairs = _compared(outcomes)
        return mean([values[name] for _, values in pairs], [cluster for cluster, _ in pairs])

    return Metric(
        name,
        direction,
        estimate,
        lm_eval_name,
        lambda o: name in o.values or "pairs" in o.values,
        proportion,
        about,
        no_level=OF_REPLIES if name == "tied" else "",
        span=None if proportion else REWARDS,
    )


def _compared(outcomes: Sequence[Outcome]) -> list[tuple[str, Mapping[str, float]]]:
    """Cluster and values of each pair with an outcome for both headlines.

    Equal ratings count as one half, the expectation of a random choice, and as `tied`. A pair with an unreadable rating
    is wrong; with `on_unparsed=exclude` it is left out.
    """
    rated: dict[tuple[str, int, int], Outcome] = {}
    times: dict[tuple[str, int], int] = {}
    about: dict[str, tuple[int, float | None]] = {}
    for o in outcomes:
        for each in o.facts["pairs"]:
            pair, place = each["id"], each["place"]
            times[pair, place] = epoch = times.get((pair, place), 0) + 1
            rated[pair, place, epoch] = o
            about[pair] = (each["label"], each["difference"])
    pair_values: list[tuple[str, Mapping[str, float]]] = []
    first_places = [
        (pair, epoch) for (pair, place), most in times.items() if place == 1 for epoch in range(1, most + 1)
    ]
    for pair, epoch in first_places:
        label, difference = about[pair]
        first, second = rated.get((pair, 1, epoch)), rated.get((pair, 2, epoch))
        if first is None or second is None or not label:
            continue
        if not first.values["pairs"] or not second.values["pairs"]:
            continue
        if first.answer is None or second.answer is None:
            right, tied = 0.0, 0.0
        else:
            a, b = float(first.answer), float(second.answer)
            right, tied = (0.5, 1.0) if a == b else (float((1 if a > b else 2) == label), 0.0)
        values = {"accuracy": right, "tied": tied, "reward": (2 * right - 1) * (difference or 0.0)}
        pair_values.append((first.cluster, values))
    return pair_values


PAIRWISE = Benchmark(
    name="humicroedit_pairwise",
    card=Card(
        title="Humicroedit: the funnier of two edits",
        considerations=considerations("humicroedit", "humicroedit_pairwise"),
        paper=papers.HUMICROEDIT,
        section="subtask 2",
        source=corpus.source(2, "the organisers' task-2 files. Rows with equal means have no answer and do not count."),
        question="Humicroedit, subtask 2: which of two edits of a headline is funnier?",
        claim=corpus.CLAIM,
        prompt="`via=direct` shows both headlines and asks for a letter; `via=ratings` asks for a rating of each "
        "distinct headline once and compares the ratings.",
        metrics="Accuracy; reward, the mean of +1 (right) or -1 (wrong) times the difference of the two means. "
        "Clustered by original headline.",
        sampling="no system generates text.",
        splits={"train": 8_382, "train_funlines": 1_759, "dev": 2_099, "test": None},
        dates=corpus.DATES,
        chance=(
            *guessed(0.5, "one of two headlines is funnier", "accuracy"),
            *guessed(0.0, "gains and losses are equally likely", "reward"),
        ),
        wordings="On the pairs of dev in both orders, `baseline/overlap` answers .96 with A (`order_effect` .91 [.90, "
        ".93]) and `baseline/longest` .56, because many edits have one length; their accuracies are .499 and "
        ".493.",
        differences=(
            *corpus.DIFFERENCES,
            "A model chooses between two headlines at once; `via=ratings` rates each alone, as the paper's systems do.",
        ),
        related=("humicroedit_rating",),
        needs="the organisers' files",
    ),
    corpus="humicroedit",
    version="2-A",
    answer=form,
    metrics=(
        _pair_metric("accuracy", "Share of pairs decided right; equal ratings count one half.", lm_eval_name="acc"),
        _pair_metric(
            "reward", "Mean of +1 (right) or -1 (wrong) times the difference of the two mean grades.", proportion=False
        ),
        _pair_metric("tied", "Share of pairs with equal ratings (`via=ratings`).", "lower"),
        *REPLY_RATES,
    ),
    options=PairwiseOptions,
    templates=templates,
    load=load,
    prompt=prompt,
    outcome=outcome,
    uses=Uses(submits="pairwise"),
    rotate=swap,
    lm_eval=variants("humicroedit_pairwise", "multiple_choice", "generate_until", wordings=True),
    suites={"text": {}},
    ability="edit",
)
