"""Votes by question: human preferences, human accuracy and agreement, by question, by rater and by system.

A question is one row of a table: two systems' explanations, or human accuracy on a benchmark. It is given by a column
`question` of the votes, by the fields `question` and `systems` (the names of the two systems) of an item of PAIRS (see
`items`), and otherwise by the file.

The layout follows Table 3 of Hessel et al. (ACL 2023, arXiv 2209.06293): the systems A and B, the win rate of A by the
majority of an item's raters, the number of ratings, and Gwet's AC1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from humor_tasks.benchmarks.caption_contest.ranking import BY_SOURCE
from humor_tasks.contract.judging.pairs import HUMAN, WORTH
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import read_body
from humor_tasks.scorers.agreement import agreement
from humor_tasks.scorers.annotators import human_ceiling, majority_vote
from humor_tasks.scorers.bradley_terry import Strength, bradley_terry
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.preference import win_rate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.studies.people.items import Item, choices_of, read_pairs
from humor_tasks.studies.people.vote_files import read_json_rows, read_rows, read_votes
from humor_tasks.studies.people.votes import REQUIRED, TIE, Vote, Votes, checked, vote_of, votes_table

PREFERENCE = "preference"


@dataclass(frozen=True)
class Question:
    """The votes on one question.

    `items` are all its items, with or without votes; empty without PAIRS. `systems` are the authors of options A and B,
    where PAIRS name them.
    """

    name: str
    votes: tuple[Vote, ...]
    kind: str = PREFERENCE
    systems: tuple[str, str] | None = None
    items: Mapping[str, Item] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    def cluster(self, item: str) -> str:
        """The item's cluster, such as its contest; the item's id where the cluster is unknown."""
        return (self.items[item].cluster if item in self.items else "") or item

    @property
    def scale(self) -> dict[str, str]:
        """{A: the label that it stands for} where the items offer a scale and none has an answer; {} otherwise."""
        items = list(self.items.values())
        if not items or any(item.answer or not item.fixed for item in items):
            return {}
        return dict(zip(items[0].labels, items[0].options, strict=True))


Key = tuple[str, str, tuple[str, str] | None]  # question, kind and systems of an item


def read_questions(votes: Sequence[Path], pairs: Sequence[Path] = (), twice: str = "error") -> list[Question]:
    """The questions of these files, in their order.

    One file of `pairs` applies to all votes, which are then pooled; several files apply to the files of votes in the
    same order. Raises BadInput for a repeated file, another number of `pairs`, and as `read_votes` and `read_pairs`.
    """
    if len({path.resolve() for path in votes}) < len(votes):
        raise BadInput("a file of votes is given twice; give each file once.")
    if not pairs:
        return [
            Question(name or path.stem, given.votes, left_out=given.left_out)
            for path in votes
            for name, given in _votes_by_question(path, None, twice).items()
        ]
    if len(pairs) not in (1, len(votes)):
        raise BadInput(
            f"--items is given {len(pairs)} times and there are {len(votes)} files of votes; give it once for all, "
            "or once for each in the same order."
        )
    files: dict[Path, list[Path]] = {}
    for i, path in enumerate(votes):
        files.setdefault(pairs[i % len(pairs)], []).append(path)
    return [question for path, vote_files in files.items() for question in _with_items(path, vote_files, twice)]


def _with_items(pairs: Path, paths: Sequence[Path], twice: str) -> list[Question]:
    items = read_pairs(pairs)
    if forms := [item.id for item in items if item.form]:
        raise BadInput(f"{pairs}: {listed('item', forms, 3)} to fill in; agreement is of votes (see collect).")
    stem = paths[0].stem if len(paths) == 1 else pairs.stem
    allowed, about = choices_of(items), _about(pairs)
    unanswered = all(not item.answer and len(item.options) == 2 and not item.fixed for item in items)
    groups: dict[Key, dict[str, Item]] = {}
    for item in items:
        question, systems = about[item.id]
        kind = PREFERENCE if unanswered else item.kind  # also for ranking items without an answer
        groups.setdefault((question, kind, systems), {})[item.id] = item
    files = [_votes_by_question(path, allowed, twice) for path in paths]
    questions = []
    for name in dict.fromkeys(name for file in files for name in file):
        parts = [file[name] for file in files if name in file]
        pooled = checked(paths[0], [vote for part in parts for vote in part.votes], twice=twice, choices=None)
        left_out = Counter(pooled.left_out)
        for part in parts:
            left_out.update(part.left_out)
        for (question, kind, systems), members in groups.items():
            votes = tuple(vote for vote in pooled.votes if vote.item in members)
            if votes or not name:
                title = name or question or (" vs ".join(systems) if systems and len(groups) > 1 else stem)
                questions.append(Question(title, votes, kind, systems, members, left_out))
                left_out = Counter()  # reported once
    return questions


def _votes_by_question(path: Path, allowed: Mapping[str, Collection[str]] | None, twice: str) -> dict[str, Votes]:
    """The votes by the value of their column `question`; all under "" without this column."""
    rows, text = read_rows(path)
    choices: dict[str, Any] = {} if allowed is None else {"choices": allowed}
    if not any({*REQUIRED, "question"} <= set(row) for _, row in rows):
        return {"": read_votes(path, allowed, twice, **choices)}
    groups: dict[str, list[Vote]] = {}
    for where, row in rows:
        groups.setdefault(_text(row.get("question"), "question", where), []).append(vote_of(row, where, text))
    return {name: checked(path, votes, allowed, twice, **choices) for name, votes in groups.items()}


def _about(pairs: Path) -> dict[str, tuple[str, tuple[str, str] | None]]:
    """Item id -> its question and systems, fields not shown to annotators; `read_pairs` reads the other fields."""
    about: dict[str, tuple[str, tuple[str, str] | None]] = {}
    for where, row in read_json_rows(pairs, read_body(pairs)):
        question, systems = row.get("question"), row.get("systems")
        if systems is not None and not (isinstance(systems, list) and len(systems) == 2):
            raise BadInput(f"{where}: systems is {systems!r}; it must list the authors of options A and B.")
        named = (_text(systems[0], "systems", where), _text(systems[1], "systems", where)) if systems else None
        about[str(row["id"]).strip()] = _text(question, "question", where) if question is not None else "", named
    return about


def _text(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{where}: {name} holds {value!r}; it must be text.")
    return value.strip()


# ---- a question ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Agreed:
    """The majority choices and estimates of one question.

    majority: {item with votes: its most frequent choice, "tie" where several are most frequent}. generated: the side
    of the generated text, for human_acc; "" except for preferences. estimates, clustered by the items' clusters:

    win_rate, win_rate_of_votes (preferences): how often A wins, ties counted as half, by the majority and by single
    votes. accuracy, accuracy_of_votes (other kinds): how often the answer was chosen, by the majority and by single
    votes; tied choices and votes for a tie count with their expected accuracy under a random choice. human_acc: the
    mean over raters of the share of their votes for the generated text (B where A is `human` and B is not, A
    otherwise), a vote for a tie being none; for other kinds, of their shares of right answers. This is HumanAcc as
    section 4.2 of MOCK defines it, over two judges. human_acc_by_majority: how often the majority prefers the generated
    text, so that two judges who disagree prefer none; for other kinds, the accuracy by majority. crowd_accuracy,
    ny_accuracy: accuracy_of_votes over the items whose answer readers or the editors chose. raw_agreement,
    gwet_ac1, krippendorff_alpha, fleiss_kappa, cohen_kappa (two raters): see `scorers.agreement`. human_ceiling: how
    often a vote equals the majority of the other votes. first_shown: how often the option shown first was chosen.

    shares: {label of the question's scale: the share of votes for it}.
    """

    question: Question
    majority: dict[str, str]
    generated: str
    estimates: dict[str, Estimate]
    shares: dict[str, Estimate] = field(default_factory=dict)

    @property
    def ties(self) -> int:
        """Items without a single most frequent option."""
        return sum(choice == TIE for choice in self.majority.values())

    @property
    def unanimous(self) -> dict[str, str]:
        """{item: its choice} of the items with at least two votes, all for the same option; no tie is one."""
        choices: dict[str, list[str]] = {}
        for vote in self.question.votes:
            choices.setdefault(vote.item, []).append(vote.choice)
        return {i: x[0] for i, x in choices.items() if len(x) > 1 and len(set(x)) == 1 and x[0] != TIE}

    def sides(self, choices: Mapping[str, str]) -> dict[str, list[str]]:
        """The items of some choices by side: A and B of a preference, the labels of a scale, else right and wrong where
        there is an answer.
        """
        if scale := self.question.scale:
            return {label: [i for i, choice in choices.items() if choice == a] for a, label in scale.items()}
        if self.question.kind == PREFERENCE:
            return {side: [i for i, choice in choices.items() if choice == side] for side in ("A", "B")}
        answers = {i: item.answer for i, item in self.question.items.items() if item.answer}
        decided = [i for i, choice in choices.items() if i in answers and choice != TIE]
        right = [i for i in decided if choices[i] == answers[i]]
        return {"right": right, "wrong": [i for i in decided if i not in right]}

    @property
    def notes(self) -> list[str]:
        """Messages on missing votes, votes left out and undefined coefficients, which the table does not show."""
        q = self.question
        notes = [f"{n} {why}" for why, n in q.left_out.items() if n]
        per_item = Counter(Counter(vote.item for vote in q.votes).values())  # number of votes -> items
        if max(per_item, default=0) == 1:
            notes.append("no item has two ratings, so that nothing tells how far raters agree")
        elif per_item and len({vote.choice for vote in q.votes}) == 1:
            notes.append("all ratings are the same, for which Krippendorff's alpha and the kappas are undefined")
        if len(per_item) > 1:
            notes.append("votes an item differ: " + ", ".join(f"{n} with {k}" for k, n in sorted(per_item.items())))
        if q.items and (unvoted := len(q.items) - len(self.majority)):
            notes.append(f"{unvoted} of {len(q.items)} items have no votes")
        return [f"{q.name}: {note}." for note in notes]


def agreed(question: Question) -> Agreed:
    """Compute the fields of `Agreed`."""
    items, _, rows = votes_table(question.votes)
    clusters = [question.cluster(item) for item in items]
    majority = {i: str(c or TIE) for i, c in zip(items, majority_vote(rows), strict=True)}
    generated = ""
    if question.kind == PREFERENCE:
        first, second = question.systems or ("", "")
        generated = "B" if first == HUMAN != second else "A"
        vote_clusters = [question.cluster(vote.item) for vote in question.votes]
        estimates = {
            "win_rate": win_rate([WORTH[majority[item]] for item in items], clusters),
            "win_rate_of_votes": win_rate([WORTH[vote.choice] for vote in question.votes], vote_clusters),
            "human_acc": mean_of_raters(question, [float(vote.choice == generated) for vote in question.votes]),
            "human_acc_by_majority": clustered_proportion(
                [float(majority[item] == generated) for item in items], clusters
            ),
        }
    else:
        estimates = _accuracies(question)
    # An option without votes is also a category. A tie is one only if voted for: the votes do not record if it was
    # allowed.
    labels = {label for item in question.items.values() for label in item.labels} or {"A", "B"}
    categories = sorted(labels | {vote.choice for vote in question.votes})
    estimates |= agreement(rows, clusters, categories=categories)
    estimates |= {"human_ceiling": human_ceiling(rows, clusters), "first_shown": first_shown(question, question.votes)}
    return Agreed(question, majority, generated, estimates, shares(question, question.votes))


def shares(question: Question, votes: Sequence[Vote]) -> dict[str, Estimate]:
    """{label of the question's scale: the share of these votes for it}; {} for a question without one."""
    clusters = [question.cluster(vote.item) for vote in votes]
    return {
        label: clustered_proportion([float(vote.choice == a) for vote in votes], clusters)
        for a, label in question.scale.items()
    }


def _accuracies(question: Question) -> dict[str, Estimate]:
    """Accuracies over the items for which PAIRS give the answer."""
    votes = [vote for vote in question.votes if question.items[vote.item].answer]
    choices: dict[str, Counter[str]] = {}
    for vote in votes:
        choices.setdefault(vote.item, Counter())[vote.choice] += 1
    worth = []
    for item, counts in choices.items():
        leading = [choice for choice, n in counts.items() if n == max(counts.values())]
        worth.append(sum(_right(question, item, choice) for choice in leading) / len(leading))
    by_majority = clustered_proportion(worth, [question.cluster(item) for item in choices])
    right = [_right(question, vote.item, vote.choice) for vote in votes]
    of_votes = clustered_proportion(right, [question.cluster(vote.item) for vote in votes])
    by_rater = mean_of_raters(replace(question, votes=tuple(votes)), right)
    names = ("accuracy", "accuracy_of_votes", "human_acc", "human_acc_by_majority")
    estimates = dict(zip(names, (by_majority, of_votes, by_rater, by_majority), strict=True))
    for source, name in BY_SOURCE.items():
        of_source = [vote for vote in votes if question.items[vote.item].winner_source == source]
        if of_source:
            values = [_right(question, vote.item, vote.choice) for vote in of_source]
            estimates[name] = clustered_proportion(values, [question.cluster(vote.item) for vote in of_source])
    return estimates


def mean_of_raters(question: Question, values: Sequence[float]) -> Estimate:
    """The unweighted mean over raters of the mean of their votes' values, in [0, 1]; clustered as the votes.

    Where raters gave different numbers of votes, a vote has the weight that makes all raters equal.
    """
    clusters = [question.cluster(vote.item) for vote in question.votes]
    given = Counter(vote.rater for vote in question.votes)
    if len(set(given.values())) < 2:
        return clustered_proportion(values, clusters)
    weights = [len(values) / (len(given) * given[vote.rater]) for vote in question.votes]
    mean = clustered_mean([w * value for w, value in zip(weights, values, strict=True)], clusters)
    return replace(mean, low=max(mean.low, 0.0), high=min(mean.high, 1.0))


def _right(question: Question, item: str, choice: str) -> float:
    """1 or 0; for a tie, the expected accuracy of a random choice."""
    options, answer = question.items[item].options, question.items[item].answer
    return 1 / len(options) if choice == TIE else float(choice == answer)


def first_shown(question: Question, votes: Sequence[Vote]) -> Estimate:
    """How often the option shown first was chosen, without ties; nan where no vote records the order."""
    ordered = [vote for vote in votes if vote.order and vote.choice != TIE]
    chosen = [float(vote.choice == vote.order[0]) for vote in ordered]
    return clustered_proportion(chosen, [question.cluster(vote.item) for vote in ordered])


# ---- raters -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rater:
    """One rater over all questions: share of preferences for A (ties half), of first-shown options, of right answers.

    `seconds` is the median time between two consecutive votes, nan where fewer than two votes have a time. `shares` are
    those of each label, by question with a scale.
    """

    name: str
    votes: int
    share_a: Estimate
    first_shown: Estimate
    accuracy: Estimate
    seconds: float
    shares: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)


def raters(questions: Sequence[Question]) -> list[Rater]:
    """All raters, in the order of their first votes."""
    votes: dict[str, list[tuple[Question, Vote]]] = {}
    for question in questions:
        for vote in question.votes:
            votes.setdefault(vote.rater, []).append((question, vote))
    return [_rater(name, of_rater) for name, of_rater in votes.items()]


def _rater(name: str, votes: Sequence[tuple[Question, Vote]]) -> Rater:
    def share(values: Sequence[tuple[float, Question, Vote]]) -> Estimate:
        return clustered_proportion([x for x, _, _ in values], [q.cluster(vote.item) for _, q, vote in values])

    chose = [(WORTH[v.choice], q, v) for q, v in votes if q.kind == PREFERENCE]
    first = [(float(v.choice == v.order[0]), q, v) for q, v in votes if v.order and v.choice != TIE]
    answered = [(q, v) for q, v in votes if q.kind != PREFERENCE and q.items[v.item].answer]
    right = [(_right(q, v.item, v.choice), q, v) for q, v in answered]
    times = sorted(datetime.fromisoformat(vote.time) for _, vote in votes if vote.time)
    seconds = [(b - a).total_seconds() for a, b in pairwise(times)]
    scaled = {q.name: shares(q, [v for other, v in votes if other is q]) for q, _ in votes if q.scale}
    pace = median(seconds) if seconds else math.nan
    return Rater(name, len(votes), share(chose), share(first), share(right), pace, scaled)


# ---- systems ------------------------------------------------------------------------------------


def systems(questions: Sequence[Agreed]) -> tuple[dict[str, Strength], str]:
    """The Bradley-Terry strengths of the compared systems, by the majority on each item, or the reason for none.

    Both are empty where the questions compare fewer than two pairs of systems.
    """
    named = [
        (one.question.systems, WORTH[choice], one.question.cluster(item))
        for one in questions
        if one.question.systems and one.question.kind == PREFERENCE
        for item, choice in one.majority.items()
    ]
    if len({frozenset(pair) for pair, _, _ in named}) < 2:
        return {}, ""
    first, second = [pair[0] for pair, _, _ in named], [pair[1] for pair, _, _ in named]
    try:
        return bradley_terry(first, second, [worth for _, worth, _ in named], [c for _, _, c in named]), ""
    except BadInput as problem:
        return {}, f"no strengths of systems: {problem}"
