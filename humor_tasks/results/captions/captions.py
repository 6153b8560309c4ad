"""Pairwise comparison of several systems' captions: rank of each caption, win rate and strength of each system.

Each pair is compared in both presentation orders. The caption preferred in both orders wins; different preferences are
a tie. A pair with an unparsed answer is left out of all figures and counted.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import writers
from humor_tasks.data.logs import read_run
from humor_tasks.data.reading import check_text, json_lines
from humor_tasks.data.writing import LONE, write_json, write_table
from humor_tasks.errors import BadInput
from humor_tasks.scorers.bradley_terry import Strength, bradley_terry
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.preference import win_rate
from humor_tasks.scorers.proportion import clustered_proportion

ENDINGS = (".csv", ".json")
COLUMNS = ("contest", "rank", "win_rate", "pairs", "system", "caption")


@dataclass(frozen=True)
class Caption:
    """A caption of a contest's cartoon, and the system that wrote it."""

    contest: str
    text: str
    system: str


@dataclass(frozen=True)
class Captions:
    """The captions read, the location of their cartoons (as far as a log records it), and the numbers of replies
    without a caption: unparsed, and refused.
    """

    captions: tuple[Caption, ...]
    corpus: Mapping[str, Any]
    unparsed: int = 0
    refused: int = 0


@dataclass(frozen=True)
class Pair:
    """Two captions of one contest, by index, and the answer for each order: A or B as shown, or None."""

    first: int
    second: int
    answers: tuple[str | None, str | None] = (None, None)
    same: bool = False

    @property
    def worth(self) -> float | None:
        """The result for the first caption: 1, .5 or 0; None where an answer is missing."""
        if self.same:
            return 0.5
        if None in self.answers:
            return None
        return ((self.answers[0] == "A") + (self.answers[1] == "B")) / 2  # in the second order the first caption is B


# ---- reading ------------------------------------------------------------------------------------


def read_captions(path: Path) -> Captions:
    """The captions of an Inspect log of `brainstorm`, or of a JSONL file of {contest, caption, system}.

    In a file, `system` defaults to the file's name. Raises BadInput naming file and line.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file.")
    return _of_file(path) if path.suffix == ".jsonl" else _of_log(path)


def _of_file(path: Path) -> Captions:
    found = []
    for where, row in json_lines(path):
        if not isinstance(row, dict) or not {"contest", "caption"} <= set(row):
            raise BadInput(f"{where}: must be an object with contest and caption.")
        contest, caption, system = row["contest"], row["caption"], row.get("system", path.stem)
        if isinstance(contest, bool) or not isinstance(contest, int | str):
            raise BadInput(f"{where}: contest is {contest!r}; it must be the contest's number.")
        for name, value in (("caption", caption), ("system", system)):
            if LONE.search(check_text(value, f"{where}: {name}")):
                raise BadInput(f"{where}: {name} is {value!r:.60}; it must be text.")
        found.append(Caption(str(contest), " ".join(caption.split()), system))
    return Captions(tuple(found), {})


def _of_log(path: Path) -> Captions:
    (task,) = writers("caption")
    run = read_run(path, task)
    found, left = [], Counter[str]()  # left: the status of replies without a caption
    for sample in run.samples:
        score = sample.scored_by("brainstormed")
        if score is None:
            raise BadInput(f"{sample.where} is not of humor_tasks/{task}.")
        if score.answer is None:
            left[score.outcome.status if score.outcome else "unparsed"] += 1
        else:
            found.append(Caption(sample.cluster, score.answer, run.model))
    corpus = {name: run.options[name] for name in ("fold", "setting") if name in run.options}
    corpus |= {name: run.source[name] for name in ("dataset", "split") if name in run.source}
    corpus |= {"revision": run.source["requested_revision"]} if run.source.get("requested_revision") else {}
    return Captions(tuple(found), corpus, left.total() - left["refused"], left["refused"])


# ---- comparing ----------------------------------------------------------------------------------


def pairs_of(captions: Sequence[Caption]) -> list[Pair]:
    """All pairs of captions of each contest. Raises BadInput where no pair differs."""
    contests: dict[str, list[int]] = {}
    for i, caption in enumerate(captions):
        contests.setdefault(caption.contest, []).append(i)
    found = [
        Pair(i, j, same=captions[i].text.casefold() == captions[j].text.casefold())
        for members in contests.values()
        for i, j in itertools.combinations(members, 2)
    ]
    if all(pair.same for pair in found):
        raise BadInput("no contest has two different captions to compare.")
    return found


def ranked(captions: Sequence[Caption], pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """One row per caption, by contest, best first; captions with equal win rates share the better rank."""
    worths = _worths(len(captions), pairs)
    rates = win_rates(len(captions), pairs)
    rows = []
    for contest in dict.fromkeys(caption.contest for caption in captions):
        members = [i for i, caption in enumerate(captions) if caption.contest == contest]
        for i in sorted(members, key=lambda i: (rates[i] is None, -(rates[i] or 0))):
            rate = rates[i]
            better = sum((rates[j] or 0) > rate for j in members) if rate is not None else None
            rank = None if better is None else better + 1
            values = (contest, rank, rate, len(worths[i]), captions[i].system, captions[i].text)
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def win_rates(count: int, pairs: Sequence[Pair]) -> list[float | None]:
    """Each caption's win rate in its comparisons, from 0 to 1; None where no answer could be read."""
    return [sum(own) / len(own) if own else None for own in _worths(count, pairs)]


def _worths(count: int, pairs: Sequence[Pair]) -> list[list[float]]:
    worths: list[list[float]] = [[] for _ in range(count)]
    for pair in pairs:
        if pair.worth is not None:
            worths[pair.first].append(pair.worth)
            worths[pair.second].append(1 - pair.worth)
    return worths


def by_system(captions: Sequence[Caption], pairs: Sequence[Pair]) -> dict[str, Estimate]:
    """Each system's win rate against the others (ties count half), clustered by contest; best first."""
    found = {}
    for system in dict.fromkeys(caption.system for caption in captions):
        rows = [row for row in _between(captions, pairs) if system in row[:2]]
        worths = [worth if first == system else 1 - worth for first, _, worth, _ in rows]
        found[system] = win_rate(worths, [contest for *_, contest in rows])
    return dict(sorted(found.items(), key=lambda item: -item[1].value if item[1].n else 2))


def strengths(captions: Sequence[Caption], pairs: Sequence[Pair]) -> dict[str, Strength]:
    """The systems' Bradley-Terry strengths. Raises BadInput where no two systems were compared."""
    rows = _between(captions, pairs)
    if not rows:
        raise BadInput("--bradley-terry: no two systems have captions of the same contest that were compared.")
    first, second, worths, contests = zip(*rows, strict=True)
    found: dict[str, Strength] = bradley_terry(first, second, worths, contests)
    return found


def _between(captions: Sequence[Caption], pairs: Sequence[Pair]) -> list[tuple[str, str, float, str]]:
    """(first system, second system, result for the first, contest) of each parsed pair of two systems."""
    found = []
    for pair in pairs:
        first, second = captions[pair.first], captions[pair.second]
        if first.system != second.system and pair.worth is not None:
            found.append((first.system, second.system, pair.worth, first.contest))
    return found


def first_shown(captions: Sequence[Caption], pairs: Sequence[Pair]) -> Estimate:
    """The share of answers that prefer the caption shown first; .5 without position bias."""
    read = [(float(a == "A"), captions[pair.first].contest) for pair in pairs for a in pair.answers if a is not None]
    return clustered_proportion([value for value, _ in read], [contest for _, contest in read])


# ---- showing ------------------------------------------------------------------------------------


def check_ending(output: Path | None) -> None:
    """Raise BadInput where the file name's suffix is not supported."""
    if output is not None and output.suffix not in ENDINGS:
        raise BadInput(f"{output}: the name of a ranking must end in {' or '.join(ENDINGS)}.")


def write_ranking(output: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows as CSV or JSON."""
    if output.suffix == ".json":
        write_json(output, list(rows))
    else:
        write_table(output, COLUMNS, (["" if row[name] is None else row[name] for name in COLUMNS] for row in rows))
