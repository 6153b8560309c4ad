"""Human preferences, human accuracy and inter-annotator agreement, by question, by rater and by system.

The layout follows Table 3 of Hessel et al. (ACL 2023, arXiv 2209.06293): the systems A and B, the win rate of A by the
majority of an item's raters, the number of ratings, and Gwet's AC1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median

from humor_tasks.benchmarks.pair_verdicts import HUMAN
from humor_tasks.errors import BadInput
from humor_tasks.people.questions import PREFERENCE, Question
from humor_tasks.people.vote import TIE, Vote
from humor_tasks.people.votes import votes_table
from humor_tasks.scorers.agreement import agreement
from humor_tasks.scorers.annotators import human_ceiling, majority_vote
from humor_tasks.scorers.bradley_terry import Strength, bradley_terry
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.preference import win_rate
from humor_tasks.scorers.proportion import clustered_proportion

_SIDES = {"right": True, "wrong": False}
WORTH = {"A": 1.0, TIE: 0.5, "B": 0.0}  # A's score for each choice


@dataclass(frozen=True)
class Agreed:
    """The majority choices and estimates of one question.

    majority: {item with votes: its most frequent choice, "tie" where several are most frequent}. generated: the side
    of the generated text, for human_acc; "" except for preferences. estimates, clustered by the items' clusters:

    win_rate, win_rate_of_votes (preferences): how often A wins, ties counted as half, by the majority and by single
    votes. accuracy, accuracy_of_votes (other kinds): how often the answer was chosen, by the majority and by single
    votes; tied choices and votes for a tie count with their expected accuracy under a random choice. human_acc: for
    preferences, how often the majority prefers the generated text, without ties (MOCK's HumanAcc: B's where A is
    `human` and B is not, A's otherwise); for other kinds, the accuracy by majority. raw_agreement, gwet_ac1,
    krippendorff_alpha, fleiss_kappa, cohen_kappa (two raters): see `scorers.agreement`. human_ceiling: how often a vote
    equals the majority of the other votes. first_shown: how often the option shown first was chosen.
    """

    question: Question
    majority: dict[str, str]
    generated: str
    estimates: dict[str, Estimate]

    @property
    def ties(self) -> int:
        """Items without a single most frequent option."""
        return sum(choice == TIE for choice in self.majority.values())

    @property
    def unanimous(self) -> dict[str, str]:
        """{item: its choice} of the items with at least two votes, all for the same option; no tie is one."""
        given: dict[str, list[str]] = {}
        for vote in self.question.votes:
            given.setdefault(vote.item, []).append(vote.choice)
        return {i: x[0] for i, x in given.items() if len(x) > 1 and len(set(x)) == 1 and x[0] != TIE}

    def sides(self, choices: Mapping[str, str]) -> dict[str, list[str]]:
        """The items of some choices by side: A and B of a preference, else right and wrong where there is an answer."""
        if self.question.kind == PREFERENCE:
            return {side: [i for i, choice in choices.items() if choice == side] for side in ("A", "B")}
        answers = {i: item.answer for i, item in self.question.items.items() if item.answer}
        told = {i: choice == answers[i] for i, choice in choices.items() if i in answers and choice != TIE}
        return {name: [i for i, is_right in told.items() if is_right == side] for name, side in _SIDES.items()}

    @property
    def notes(self) -> list[str]:
        """Messages on missing votes, votes left out and undefined coefficients, which the table does not show."""
        q, told = self.question, [f"{n} {why}" for why, n in self.question.left_out.items() if n]
        given = Counter(Counter(vote.item for vote in q.votes).values())
        told += self._undefined(max(given, default=0))
        if len(given) > 1:
            told.append("votes an item differ: " + ", ".join(f"{n} with {k}" for k, n in sorted(given.items())))
        unvoted = len(q.items) - len(self.majority) if q.items else 0
        told += [f"{unvoted} of {len(q.items)} items have no votes"] if unvoted else []
        return [f"{q.name}: {each}." for each in told]

    def _undefined(self, most: int) -> list[str]:
        """Why coefficients are undefined; `most` is the highest number of ratings of one item."""
        if most == 1:
            return ["no item has two ratings, so that nothing tells how far raters agree"]
        if most > 1 and len({vote.choice for vote in self.question.votes}) == 1:
            return ["all ratings are the same, for which Krippendorff's alpha and the kappas are undefined"]
        return []


def agreed(question: Question) -> Agreed:
    """Compute the fields of `Agreed`."""
    items, _, rows = votes_table(question.votes)
    clusters = [question.cluster(item) for item in items]
    majority = {i: str(c or TIE) for i, c in zip(items, majority_vote(rows), strict=True)}
    preference = question.kind == PREFERENCE
    generated = "" if not preference else "B" if question.systems and _is_second(question.systems) else "A"
    if preference:
        own = [question.cluster(vote.item) for vote in question.votes]
        found = {
            "win_rate": win_rate([WORTH[majority[item]] for item in items], clusters),
            "win_rate_of_votes": win_rate([WORTH[vote.choice] for vote in question.votes], own),
            "human_acc": clustered_proportion([float(majority[item] == generated) for item in items], clusters),
        }
    else:
        found = _accuracies(question)
    # An option without votes is also a category. A tie is one only if voted for: the votes do not record if it was
    # allowed.
    labels = {label for item in question.items.values() for label in item.labels} or {"A", "B"}
    categories = sorted(labels | {vote.choice for vote in question.votes})
    found |= agreement(rows, clusters, categories=categories)
    found |= {"human_ceiling": human_ceiling(rows, clusters), "first_shown": first_shown(question, question.votes)}
    return Agreed(question, majority, generated, found)


def _is_second(systems: tuple[str, str]) -> bool:
    return systems[0] == HUMAN != systems[1]


def _accuracies(question: Question) -> dict[str, Estimate]:
    """Accuracies over the items for which PAIRS give the answer."""
    votes = [vote for vote in question.votes if question.items[vote.item].answer]
    choices: dict[str, list[str]] = {}
    for vote in votes:
        choices.setdefault(vote.item, []).append(vote.choice)
    worth = []
    for item, given in choices.items():
        counts = Counter(given)
        leading = [choice for choice, n in counts.items() if n == max(counts.values())]
        worth.append(sum(_right(question, item, choice) for choice in leading) / len(leading))
    by_majority = clustered_proportion(worth, [question.cluster(item) for item in choices])
    return {
        "accuracy": by_majority,
        "accuracy_of_votes": _accuracy(question, votes),
        "human_acc": by_majority,
    }


def _accuracy(question: Question, votes: Sequence[Vote]) -> Estimate:
    right = [_right(question, vote.item, vote.choice) for vote in votes]
    return clustered_proportion(right, [question.cluster(vote.item) for vote in votes])


def _right(question: Question, item: str, choice: str) -> float:
    """1 or 0; for a tie, the expected accuracy of a random choice."""
    asked = question.items[item]
    return 1 / len(asked.options) if choice == TIE else float(choice == asked.answer)


def first_shown(question: Question, votes: Sequence[Vote]) -> Estimate:
    """How often the option shown first was chosen, without ties; nan where no vote records the order."""
    told = [vote for vote in votes if vote.order and vote.choice != TIE]
    chosen = [float(vote.choice == vote.order[0]) for vote in told]
    return clustered_proportion(chosen, [question.cluster(vote.item) for vote in told])


# ---- raters -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rater:
    """One rater over all questions: share of preferences for A (ties half), of first-shown options, of right answers.

    `seconds` is the median time between two consecutive votes, nan where fewer than two votes have a time.
    """

    name: str
    votes: int
    share_a: Estimate
    first_shown: Estimate
    accuracy: Estimate
    seconds: float


def raters(questions: Sequence[Question]) -> list[Rater]:
    """All raters, in the order of their first votes."""
    given: dict[str, list[tuple[Question, Vote]]] = {}
    for question in questions:
        for vote in question.votes:
            given.setdefault(vote.rater, []).append((question, vote))
    return [_rater(name, votes) for name, votes in given.items()]


def _rater(name: str, votes: Sequence[tuple[Question, Vote]]) -> Rater:
    def share(values: Sequence[tuple[float, Question, Vote]]) -> Estimate:
        return clustered_proportion([x for x, _, _ in values], [q.cluster(vote.item) for _, q, vote in values])

    chose = [(WORTH[v.choice], q, v) for q, v in votes if q.kind == PREFERENCE]
    first = [(float(v.choice == v.order[0]), q, v) for q, v in votes if v.order and v.choice != TIE]
    asked = [(q, v) for q, v in votes if q.kind != PREFERENCE and q.items[v.item].answer]
    right = [(_right(q, v.item, v.choice), q, v) for q, v in asked]
    return Rater(name, len(votes), share(chose), share(first), share(right), _seconds([v for _, v in votes]))


def _seconds(votes: Sequence[Vote]) -> float:
    times = sorted(datetime.fromisoformat(vote.time) for vote in votes if vote.time)
    return median((b - a).total_seconds() for a, b in pairwise(times)) if len(times) > 1 else math.nan


# ---- systems ------------------------------------------------------------------------------------


def systems(found: Sequence[Agreed]) -> tuple[dict[str, Strength], str]:
    """The Bradley-Terry strengths of the compared systems, by the majority on each item, or the reason for none.

    Both are empty where the questions compare fewer than two pairs of systems.
    """
    named = [
        (each.question.systems, WORTH[choice], each.question.cluster(item))
        for each in found
        if each.question.systems and each.question.kind == PREFERENCE
        for item, choice in each.majority.items()
    ]
    if len({frozenset(pair) for pair, _, _ in named}) < 2:
        return {}, ""
    first, second = [pair[0] for pair, _, _ in named], [pair[1] for pair, _, _ in named]
    try:
        return bradley_terry(first, second, [worth for _, worth, _ in named], [c for _, _, c in named]), ""
    except BadInput as problem:
        return {}, f"no strengths of systems: {problem}"
