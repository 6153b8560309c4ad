"""Qualification rounds: who may go on, by a test set of items or by a person's decision.

A round's result is a CSV file with a row per annotator: rater, votes, right, share, qualified. `qualified` is yes or no
by a threshold on the share of right answers. Where no item has an answer, as with forms, it is empty, and a person who
reads the answers writes yes or no (Hessel et al., ACL 2023, Appendix A, qualified 21 of 30 and 29 of 51 by hand).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from humor_tasks.data.rows import read_csv
from humor_tasks.data.writing import write_table
from humor_tasks.errors import BadInput
from humor_tasks.people.pairs import Item
from humor_tasks.people.vote import Vote
from humor_tasks.people.votes import stripped

COLUMNS = ("rater", "votes", "right", "share", "qualified")


@dataclass(frozen=True)
class Candidate:
    """An annotator of a qualification round. right: of `asked` items with an answer; unanswered ones are not right."""

    rater: str
    votes: int
    right: int
    asked: int

    @property
    def share(self) -> float | None:
        """The share of right answers; None where no item has an answer."""
        return self.right / self.asked if self.asked else None


def candidates(items: Sequence[Item], votes: Sequence[Vote]) -> list[Candidate]:
    """The annotators, in the order of their first votes."""
    answers = {item.id: item.answer for item in items if item.answer}
    given: dict[str, list[Vote]] = {}
    for vote in votes:
        given.setdefault(vote.rater, []).append(vote)
    return [
        Candidate(rater, len(own), sum(vote.choice == answers.get(vote.item) for vote in own), len(answers))
        for rater, own in given.items()
    ]


def write_round(path: Path, found: Sequence[Candidate], threshold: float) -> int:
    """Write the result of a round, and return how many passed."""
    rows = []
    for each in found:
        passed = "" if each.share is None else "yes" if each.share >= threshold else "no"
        rows.append((each.rater, each.votes, each.right, "" if each.share is None else f"{each.share:.4g}", passed))
    write_table(path, COLUMNS, rows)
    return sum(passed == "yes" for *_, passed in rows)


def read_qualified(path: Path) -> frozenset[str]:
    """The annotators with yes in the column `qualified`. Raises BadInput for a value other than yes and no, and for
    an annotator with both.
    """
    found = read_csv(path, ("rater", "qualified"))
    who, known = set(), dict[str, str]()
    for i, row in enumerate(found.rows):
        rater, passed = stripped(row["rater"]), row["qualified"].strip()
        if not rater:
            raise BadInput(f"{found.where(i)}: rater is empty; write the annotator's id.")
        if passed not in ("yes", "no"):
            raise BadInput(f"{found.where(i)}: qualified is {row['qualified']!r}; write yes or no.")
        if known.setdefault(rater.casefold(), passed) != passed:
            raise BadInput(f"{found.where(i)}: {rater} has yes and no; keep one row of each annotator.")
        if passed == "yes":
            who.add(rater)
    if not who:
        raise BadInput(f"{path}: nobody is qualified.")
    return frozenset(who)
