"""What labels give away: shortcut baselines beside chance, and how labels are distributed."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.tables import interval
from humor_tasks.files.writing import encodable
from humor_tasks.lab.corpora.audit.items import Finding, Item, Items, key
from humor_tasks.models.choosers.chooser import LETTERS, YES_NO, Chooser, Question
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.choosers.shortcuts import RULES, answer_only, classified, credit, ridge, yes_no_overlap
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.regression import pearson, rmse

MARGIN = 0.10
"""A rule that is right more often than chance by more than this, and whose interval excludes chance, is a finding."""
CORRELATED = 0.30
"""The same for the correlation of a rule's rating with the rating."""
MOST_FITTED = 50_000
"""Texts that a learnt rule is fitted and tested on."""


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
        sentences = (
            (f"{s.part}: {s.rule}: {s.metric} {interval(s.estimate)}; chance is {s.chance:.3f}.", s.estimate.n)
            for s in self.measured
            if s.above
        )
        return [Finding("shortcut", "warning", n, sentence) for sentence, n in sentences]


def open_choosers(embedding: str | None, quality: str | None) -> list[Chooser]:
    """A sentence-embedding model, and the caption-only quality model. Raises BadInput where one cannot be loaded."""
    choosers: list[Chooser] = [Embedding(embedding)] if embedding else []
    if quality:
        from humor_tasks.models.quality.model import QualityChooser

        choosers.append(QualityChooser(quality))
    return choosers


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
        learnt, reasons = _learnt(data, labelled)
        left_out |= dict.fromkeys(reasons)
        for part in parts:
            items = [item for item in labelled if item.part == part.name]
            if items:
                measured += MEASURES[data.kind](part.name, items, learnt)
                if data.kind != "rating":
                    rules, reasons = _models(part.name, items, choosers)
                    measured += rules
                    left_out |= dict.fromkeys(reasons)
    if choosers and data.kind == "rating":
        left_out[f"{', '.join(c.name for c in choosers)}: chooses among options; these are ratings."] = None
    return Shortcuts(tuple(measured), tuple(left_out))


# ---- choices ------------------------------------------------------------------------------------

Learnt = dict[str, dict[str, Any]]
"""Rule -> its score or answer, by the row's place."""
OF_CHOICES = {
    "longest, characters": "longest",
    "shortest, characters": "shortest",
    "longest, words": "most words",
    "shortest, words": "fewest words",
    "most frequent choice": "most frequent",
    "least frequent choice": "rarest",
}
OF_SCENE = {"overlap with the scene": "overlap", "TF-IDF likeness to the scene": "TF-IDF"}
"""Name in the audit -> rule."""


def _of_choices(part: str, items: Sequence[Item], learnt: Learnt) -> list[Shortcut]:
    options, scenes = [item.choices for item in items], [item.context for item in items]
    named = OF_CHOICES | (OF_SCENE if all(map(str.strip, scenes)) else {})
    scores: dict[str, Sequence[Sequence[float]]] = {
        f"always {LETTERS[i]}": [[float(k == i) for k in range(len(row))] for row in options]
        for i in range(max(map(len, options)))
    }
    scores |= {name: RULES[rule](options, scenes) for name, rule in named.items()}
    measured = [_accuracy(part, name, items, of_rows) for name, of_rows in scores.items()]
    for name, known in _rows_of(learnt, items):
        measured.append(_accuracy(part, name, known, [learnt[name][item.where] for item in known]))
    return measured


def _rows_of(learnt: Learnt, items: Sequence[Item]) -> list[tuple[str, list[Item]]]:
    """Each learnt rule with the rows that it was tested on."""
    pairs = [(rule, [item for item in items if item.where in by_row]) for rule, by_row in learnt.items()]
    return [(rule, known) for rule, known in pairs if known]


def _accuracy(part: str, rule: str, items: Sequence[Item], scores: Sequence[Sequence[float]]) -> Shortcut:
    hits = [credit(of_row, int(item.target or 0)) for of_row, item in zip(scores, items, strict=True)]
    chance = sum(1 / len(item.choices) for item in items) / len(items)
    return Shortcut(part, rule, "accuracy", clustered_proportion(hits, _groups(items)), chance)


def _models(part: str, items: Sequence[Item], choosers: Sequence[Chooser]) -> tuple[list[Shortcut], list[str]]:
    """Models as rules; one that cannot answer a question of the part is left out with its reason."""
    measured, left_out = [], []
    questions = [
        Question(i.where, encodable(i.context), tuple(map(encodable, i.choices)), i.picture, cluster=str(i.group))
        for i in items
    ]
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


# ---- yes or no, and ratings ---------------------------------------------------------------------


def _of_yes_no(part: str, items: Sequence[Item], learnt: Learnt) -> list[Shortcut]:
    def measure(rule: str, known: Sequence[Item], answers: Sequence[Any], chance: float) -> Shortcut:
        hits = [float(answer == item.answer) for answer, item in zip(answers, known, strict=True)]
        return Shortcut(part, rule, "accuracy", clustered_proportion(hits, _groups(known)), chance)

    measured = [measure(f"always {word}", items, [word] * len(items), 0.5) for word in YES_NO]
    if all(item.context.strip() for item in items):
        scores = (yes_no_overlap(item.about, item.context) for item in items)
        measured.append(measure("overlap with the scene", items, [YES_NO[int(no > yes)] for yes, no in scores], 0.5))
    most = max(Counter(item.answer for item in items).values()) / len(items)
    for rule, known in _rows_of(learnt, items):
        measured.append(measure(rule, known, [learnt[rule][item.where] for item in known], most))
    return measured


def _of_ratings(part: str, items: Sequence[Item], learnt: Learnt) -> list[Shortcut]:
    gold, groups = [float(item.target or 0) for item in items], _groups(items)
    mean = [math.fsum(gold) / len(gold)] * len(gold)
    deviation = rmse(mean, gold, groups)
    measured = [Shortcut(part, "always the mean", "rmse", deviation, deviation.value)]
    for name, rule in (("characters", "longest"), ("words", "most words")):
        (lengths,) = RULES[rule]([[item.about for item in items]], [""])
        measured.append(Shortcut(part, f"length, {name}", "pearson", pearson(lengths, gold, groups), 0.0))
    for rule, known in _rows_of(learnt, items):
        ratings, values = [learnt[rule][item.where] for item in known], [float(item.target or 0) for item in known]
        measured.append(Shortcut(part, rule, "pearson", pearson(ratings, values, _groups(known)), 0.0))
        measured.append(Shortcut(part, rule, "rmse", rmse(ratings, values, _groups(known)), deviation.value))
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
    texts = [item.about for item in drawn]
    answers: Any = None
    if data.kind == "choice":
        options = [item.choices for item in drawn]
        keys = [[key(text) for text in row] for row in options]
        answers = answer_only(options, [int(item.target or 0) for item in drawn], groups, keys)
    elif data.kind == "yes/no":
        answers = classified(texts, [item.answer for item in drawn], groups)
    else:
        answers = ridge(texts, [float(item.target or 0) for item in drawn], groups)
    if answers is None:
        return {}, [
            f"{rule}: there are too few groups, or texts of their own, to fit on some groups and test on others."
        ]
    fewer = f"{rule}: fitted and tested on {len(drawn):,} of {len(items):,} rows, drawn in whole groups."
    by_row = {item.where: answer for item, answer in zip(drawn, answers, strict=True)}
    return {rule: by_row}, [fewer] if len(drawn) < len(items) else []


def _drawn(items: Sequence[Item]) -> Sequence[Item]:
    """The items, or whole groups of them, drawn at random, of at most MOST_FITTED texts."""
    if sum(len(item.texts) for item in items) <= MOST_FITTED:
        return items
    sizes: Counter[Hashable] = Counter()
    for item in items:
        sizes[item.group] += len(item.texts)
    order = list(sizes)
    random.Random("audit:drawn").shuffle(order)
    drawn: set[Hashable] = set()
    room = MOST_FITTED
    for group in order:
        room -= sizes[group]
        if room < 0 and len(drawn) > 1:
            break
        drawn.add(group)
    return [item for item in items if item.group in drawn]


def _groups(items: Sequence[Item]) -> list[Hashable]:
    return [item.group for item in items]


# ---- balance of labels --------------------------------------------------------------------------

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
    findings = []
    for b in measured:
        if b.p < LEVEL and max(e.value for e in b.shares.values()) > b.even + UNEVEN:
            shares = ", ".join(f"{label} {interval(share)}" for label, share in b.shares.items())
            findings.append(Finding("imbalance", "warning", b.n, f"{b.part}: {shares}; p = {b.p:.2g} ({b.test})."))
    return findings


def _labels(part: str, items: Sequence[Item]) -> Balance:
    labels = [item.label for item in items]
    possible = LETTERS[: max(len(item.choices) for item in items)] if items[0].choices else YES_NO
    groups = _groups(items)
    shares = {one: clustered_proportion([float(label == one) for label in labels], groups) for one in possible}
    p, test = _test([labels.count(one) for one in possible])
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
