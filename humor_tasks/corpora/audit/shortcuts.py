"""What labels give away: shortcut baselines beside chance, and how labels are distributed."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.corpora.audit.items import Finding, Item, Items, found, key
from humor_tasks.corpora.audit.rules import MOST_FITTED, answer_only, classified, credit, likeness, occurrences, ridge
from humor_tasks.data.tables import interval
from humor_tasks.data.writing import encodable
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import LETTERS, YES_NO, Chooser, Question
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.regression import pearson, rmse

MARGIN = 0.10
"""A rule that is right more often than chance by more than this, and whose interval excludes chance, is a finding."""
CORRELATED = 0.30
"""The same for the correlation of a rule's rating with the rating."""


@dataclass(frozen=True)
class Shortcut:
    """One rule in one part. metric: accuracy, pearson or rmse; chance: what it is without any information."""

    part: str
    rule: str
    metric: str
    estimate: Estimate
    chance: float

    @property
    def margin(self) -> float:
        """What a rule may be above chance without a warning."""
        return CORRELATED if self.metric == "pearson" else MARGIN

    @property
    def side(self) -> str:
        """above or below chance, where the interval excludes chance; an RMSE is no such measure."""
        e = self.estimate
        if self.metric == "rmse" or math.isnan(e.value) or math.isnan(e.low):
            return ""
        return "above" if e.low > self.chance else "below" if e.high < self.chance else ""

    @property
    def above(self) -> bool:
        """Whether the rule is worth a warning. A correlation far below 0 is one, too: the rule's opposite is right."""
        far = abs(self.estimate.value - self.chance) > self.margin
        return far and (self.side == "above" or (self.side == "below" and self.metric == "pearson"))


@dataclass(frozen=True)
class Shortcuts:
    """The rules of all parts, and what was not computed and why."""

    measured: tuple[Shortcut, ...]
    left_out: tuple[str, ...]

    @property
    def findings(self) -> list[Finding]:
        """A finding for each rule that is above chance."""
        return [
            each
            for s in self.measured
            if s.above
            for each in found(
                "shortcut",
                "warning",
                f"{s.part}: {s.rule}: {s.metric} {interval(s.estimate)}; chance is {s.chance:.3f}.",
                [],
                s.estimate.n,
            )
        ]


def shortcuts(data: Items, choosers: Sequence[Chooser] = ()) -> Shortcuts:
    """The rules for the dataset's kind of answer, in each part, and these models as rules.

    Rules that are learnt are fitted on the other groups of all parts of a fold.
    """
    measured: list[Shortcut] = []
    left_out: dict[str, None] = {}
    for parts in data.folds().values():
        labelled = [item for part in parts for item in data.of(part.name) if item.target is not None]
        if not labelled:
            continue
        learnt, few = _learnt(data, labelled)
        left_out |= dict.fromkeys(few)
        for part in parts:
            items = [item for item in labelled if item.part == part.name]
            if items:
                measured += MEASURES[data.kind](part.name, items, learnt)
                if data.kind != "rating":
                    rules, missing = _models(part.name, items, choosers)
                    measured += rules
                    left_out |= dict.fromkeys(missing)
    if choosers and data.kind == "rating":
        left_out[f"{', '.join(c.name for c in choosers)}: chooses among options; these are ratings."] = None
    return Shortcuts(tuple(measured), tuple(left_out))


# ---- choices ------------------------------------------------------------------------------------

Learnt = dict[str, dict[str, Any]]
"""Rule -> its score or answer, by the row's place."""


def _of_choices(part: str, items: Sequence[Item], learnt: Learnt) -> list[Shortcut]:
    options = [item.choices for item in items]
    counts = occurrences(options)
    rules: dict[str, Sequence[Sequence[float]]] = {
        f"always {LETTERS[i]}": [[float(k == i) for k in range(len(row))] for row in options]
        for i in range(max(map(len, options)))
    }
    characters = [[len(text) for text in row] for row in options]
    words = [[len(text.split()) for text in row] for row in options]
    for name, measure in (("characters", characters), ("words", words)):
        rules[f"longest, {name}"] = measure
        rules[f"shortest, {name}"] = [[-n for n in row] for row in measure]
    rules |= {"most frequent choice": counts, "least frequent choice": [[-n for n in row] for row in counts]}
    if all(item.context.strip() for item in items):
        rules["overlap with the scene"] = Baseline("overlap").score([_question(item) for item in items])
        rules["TF-IDF likeness to the scene"] = likeness(options, [item.context for item in items])
    measured = [_accuracy(part, rule, items, scores) for rule, scores in rules.items()]
    for rule, scores_of in learnt.items():
        own = [item for item in items if item.where in scores_of]
        measured += [_accuracy(part, rule, own, [scores_of[item.where] for item in own])] if own else []
    return measured


def _accuracy(part: str, rule: str, items: Sequence[Item], scores: Sequence[Sequence[float]]) -> Shortcut:
    hits = [credit(own, int(item.target or 0)) for own, item in zip(scores, items, strict=True)]
    chance = sum(1 / len(item.choices) for item in items) / len(items)
    return Shortcut(part, rule, "accuracy", clustered_proportion(hits, _groups(items)), chance)


def _question(item: Item) -> Question:
    choices = tuple(map(encodable, item.choices)) or YES_NO
    return Question(item.where, encodable(item.context), choices, item.picture, encodable(item.about), str(item.group))


def _models(part: str, items: Sequence[Item], choosers: Sequence[Chooser]) -> tuple[list[Shortcut], list[str]]:
    """Models as rules; one that cannot answer a question of the part is left out with its reason."""
    measured, left_out = [], []
    questions = [_question(item) for item in items]
    for chooser in choosers:
        if not items[0].choices:
            left_out.append(f"{chooser.name}: compares captions with a scene; yes or no is no such choice.")
            continue
        try:
            for question in questions:
                chooser.check(question)
        except BadInput as problem:
            left_out.append(f"{chooser.name} in {part}: {problem}")
            continue
        measured.append(_accuracy(part, chooser.name, items, chooser.score(questions)))
    return measured, left_out


# ---- yes or no ----------------------------------------------------------------------------------


def _of_yes_no(part: str, items: Sequence[Item], learnt: Learnt) -> list[Shortcut]:
    labels = [item.answer for item in items]
    most = max(Counter(labels).values()) / len(labels)
    picked: dict[str, Sequence[Any]] = {f"always {word}": [word] * len(items) for word in YES_NO}
    if all(item.context.strip() for item in items):
        scores = Baseline("overlap").score([_question(item) for item in items])
        picked["overlap with the scene"] = [YES_NO[int(no > yes)] for yes, no in scores]
    measured = []
    for rule, answers in picked.items():
        hits = [float(a == b) for a, b in zip(answers, labels, strict=True)]
        measured.append(Shortcut(part, rule, "accuracy", clustered_proportion(hits, _groups(items)), 0.5))
    for rule, answer_of in learnt.items():
        own = [item for item in items if item.where in answer_of]
        hits = [float(answer_of[item.where] == item.answer) for item in own]
        if own:
            measured.append(Shortcut(part, rule, "accuracy", clustered_proportion(hits, _groups(own)), most))
    return measured


# ---- ratings ------------------------------------------------------------------------------------


def _of_ratings(part: str, items: Sequence[Item], learnt: Learnt) -> list[Shortcut]:
    gold, groups = [float(item.target or 0) for item in items], _groups(items)
    mean = [math.fsum(gold) / len(gold)] * len(gold)
    deviation = rmse(mean, gold, groups)
    measured = [Shortcut(part, "always the mean", "rmse", deviation, deviation.value)]
    for name, count in (("characters", len), ("words", lambda text: len(text.split()))):
        lengths = [float(count(item.about)) for item in items]
        measured.append(Shortcut(part, f"length, {name}", "pearson", pearson(lengths, gold, groups), 0.0))
    for rule, rating_of in learnt.items():
        own = [item for item in items if item.where in rating_of]
        if own:
            known, values = [rating_of[item.where] for item in own], [float(item.target or 0) for item in own]
            measured.append(Shortcut(part, rule, "pearson", pearson(known, values, _groups(own)), 0.0))
            measured.append(Shortcut(part, rule, "rmse", rmse(known, values, _groups(own)), deviation.value))
    return measured


MEASURES: dict[str, Callable[[str, Sequence[Item], Learnt], list[Shortcut]]] = {
    "choice": _of_choices,
    "yes/no": _of_yes_no,
    "rating": _of_ratings,
}


# ---- learnt rules -------------------------------------------------------------------------------

ONLY = {
    "choice": "answer only (n-grams of the choices)",
    "yes/no": "text only (words)",
    "rating": "text only (n-grams)",
}


def _learnt(data: Items, items: Sequence[Item]) -> tuple[Learnt, list[str]]:
    """The rules that are fitted on other groups, and why they are missing."""
    drawn = _drawn(items)
    groups, rule = _groups(drawn), ONLY[data.kind]
    found: Any = None
    if data.kind == "choice":
        options = [item.choices for item in drawn]
        keys = [[key(text) for text in row] for row in options]
        found = answer_only(options, [int(item.target or 0) for item in drawn], groups, keys)
    elif data.kind == "yes/no":
        found = classified([item.about for item in drawn], [item.answer for item in drawn], groups)
    else:
        found = ridge([item.about for item in drawn], [float(item.target or 0) for item in drawn], groups)
    if found is None:
        return {}, [
            f"{rule}: there are too few groups, or texts of their own, to fit on some groups and test on others."
        ]
    few = f"{rule}: fitted and tested on {len(drawn):,} of {len(items):,} rows, drawn in whole groups."
    told = [few] if len(drawn) < len(items) else []
    return {rule: {item.where: each for item, each in zip(drawn, found, strict=True)}}, told


def _drawn(items: Sequence[Item]) -> Sequence[Item]:
    """The items, or whole groups of them, drawn at random, of at most MOST_FITTED texts."""
    if sum(len(item.texts) for item in items) <= MOST_FITTED:
        return items
    sizes: dict[Hashable, int] = {}
    for item in items:
        sizes[item.group] = sizes.get(item.group, 0) + len(item.texts)
    order = list(sizes)
    random.Random("audit:drawn").shuffle(order)
    kept: set[Hashable] = set()
    room = MOST_FITTED
    for group in order:
        room -= sizes[group]
        if room < 0 and len(kept) > 1:
            break
        kept.add(group)
    return [item for item in items if item.group in kept]


def _groups(items: Sequence[Item]) -> list[Hashable]:
    return [item.group for item in items]


LEVEL = 0.01
UNEVEN = 0.05
"""Shares that differ from equal ones at this level, and by more than this, are a finding."""
FEWEST = 5
"""Expected labels of each kind that the chi-square test needs."""


@dataclass(frozen=True)
class Balance:
    """The labels of one part.

    shares: label -> its share; for ratings, quantile -> rating, without interval. p: of the test that all labels are
    equally frequent, the binomial test for two labels and chi-square for more; nan for ratings and where there are too
    few rows. It takes rows as independent.
    """

    part: str
    n: int
    shares: dict[str, Estimate]
    p: float
    test: str

    @property
    def even(self) -> float:
        """The share of each label if all were equally frequent."""
        return 1 / len(self.shares)


def balances(data: Items) -> list[Balance]:
    """The balance of each part with labels."""
    parts = ((name, [item for item in data.of(name) if item.target is not None]) for name in data.parts)
    measure = _ratings if data.kind == "rating" else _labels
    return [measure(name, items) for name, items in parts if items]


def balance_findings(measured: Sequence[Balance]) -> list[Finding]:
    """A finding for each part whose labels are not equally frequent."""
    return [
        each
        for b in measured
        if b.p < LEVEL and max(e.value for e in b.shares.values()) > b.even + UNEVEN
        for each in found(
            "imbalance",
            "warning",
            f"{b.part}: {', '.join(f'{label} {interval(share)}' for label, share in b.shares.items())}; "
            f"p = {b.p:.2g} ({b.test}).",
            [],
            b.n,
        )
    ]


def _labels(part: str, items: Sequence[Item]) -> Balance:
    labels = [item.label for item in items]
    every = LETTERS[: max(len(item.choices) for item in items)] if items[0].choices else YES_NO
    groups = [item.group for item in items]
    shares = {each: clustered_proportion([float(label == each) for label in labels], groups) for each in every}
    counts = Counter(labels)
    p, test = _test([counts[each] for each in every])
    return Balance(part, len(items), shares, p, test)


def _test(counts: Sequence[int]) -> tuple[float, str]:
    from scipy.stats import binomtest, chisquare

    if len(counts) == 2:
        return float(binomtest(counts[0], sum(counts)).pvalue), "binomial test"
    if sum(counts) < FEWEST * len(counts):
        return math.nan, "too few rows for a test"
    return float(chisquare(counts).pvalue), "chi-square test"


def _ratings(part: str, items: Sequence[Item]) -> Balance:
    import numpy as np

    values = np.array([float(item.target or 0) for item in items])
    figures = dict(zip(("least", "1st quarter", "median", "3rd quarter", "greatest"),
                       np.quantile(values, (0, 0.25, 0.5, 0.75, 1)), strict=True))  # fmt: skip
    figures |= {"mean": values.mean(), "standard deviation": values.std()}
    shares = {name: Estimate(float(v), math.nan, math.nan, math.nan, len(items), 0) for name, v in figures.items()}
    return Balance(part, len(items), shares, math.nan, "ratings")


def open_choosers(embedding: str | None, quality: str | None) -> list[Chooser]:
    """A sentence-embedding model, and the caption-only quality model. Raises BadInput where one cannot be loaded."""
    found: list[Chooser] = []
    if embedding:
        found.append(Embedding(embedding))
    if quality:
        from humor_tasks.models.choosers.quality import QualityChooser

        found.append(QualityChooser(quality))
    return found
