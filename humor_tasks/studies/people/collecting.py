"""What annotators' answers become: annotations in the form of the corpora, and who passed a qualification round.

description, links: the caption contest's file of annotations by contest, which `humor-tasks build newyorker` reads.
literal: {media_id: text}, which `humor-tasks build mock` and `describe` read. editing: Humicroedit's columns id,
original and edit. rating: these with grades and meanGrade, or a folder of splits (`headline_splits`). labelling: the
rubrics that `humorbench_autograder` reads. elements: the rows that `humorbench` reads. weak: {id: text}, which `build
options --handwritten` reads.

A round's result is a CSV file with a row per annotator: rater, votes, right, share, qualified. `qualified` is yes or no
by a threshold on the share of right answers. Where no item has an answer, as with forms, it is empty, and a person who
reads the answers writes yes or no (Hessel et al., ACL 2023, Appendix A, qualified 21 of 30 and 29 of 51 by hand).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.humorbench.corpus import RUBRIC
from humor_tasks.contract.card import LABELLING, RATING
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import json_object, words_in
from humor_tasks.files.writing import write_json, write_table
from humor_tasks.rows import read_csv
from humor_tasks.studies.people.headline_splits import RATED, write_splits
from humor_tasks.studies.people.items import DESCRIPTION, EDITING, ELEMENTS, FORMS, LINKS, LITERAL, MARK, WEAK, Item
from humor_tasks.studies.people.votes import Vote, stripped

GRADES = 4  # of Humicroedit: 0 to 3
HITS = {DESCRIPTION.kind: "description_hit", LINKS.kind: "link_hit"}
COLLECTED = {LITERAL.kind, EDITING.kind, RATING.kind, LABELLING.kind, ELEMENTS.kind, WEAK.kind}
CONTEST = re.compile("[0-9]{1,9}")
Annotations = Sequence[tuple[Item, Vote]]


def contests(annotations: Annotations, before: Path | None) -> dict[str, Any]:
    """Contest -> its entry with the annotations, added to those of the file `before`. Names are hashed."""
    entries = _entries(before) if before else {}
    for item, vote in annotations:
        if not CONTEST.fullmatch(item.cluster):
            raise BadInput(f"item {item.id}: cluster is {item.cluster!r:.60}; it must be the number of a contest.")
        start = {"contest_number": int(item.cluster), "official_newyorker_finalists": ["UNKNOWN"]}
        entry = entries.setdefault(str(int(item.cluster)), start)
        hits = entry.setdefault("mturk_annotations", {}).setdefault(HITS[item.kind], [])
        texts = {name: text or None for name, text in FORMS[item.kind].read(vote.choice).items()}
        hit = {**texts, "hash_worker_id": hashlib.sha256(vote.rater.encode()).hexdigest()[:32]}
        if hit not in hits:  # of an earlier `collect` of the same votes
            hits.append(hit)
    return dict(sorted(entries.items(), key=lambda pair: int(pair[0])))


def _entries(path: Path) -> dict[str, dict[str, Any]]:
    """The file's entries by contest. Raises BadInput for another form than `build newyorker` reads."""
    entries = json_object(path, "entries by contest number")
    for number, entry in entries.items():
        hits = entry.get("mturk_annotations", {}) if isinstance(entry, dict) else None
        if not CONTEST.fullmatch(number) or number != str(int(number)):
            raise BadInput(f"{path}: {number!r:.60} is no contest number; name entries by it, such as 510.")
        if not isinstance(hits, dict) or not all(isinstance(hits.get(name, []), list) for name in HITS.values()):
            wanted = "an object whose mturk_annotations hold lists"
            raise BadInput(f"{path}, contest {number}: must be {wanted}, as in the published file.")
    return entries


def descriptions(annotations: Annotations) -> dict[str, str]:
    """{media_id: description}, or {id: weaker line}; the last annotation of an item counts."""
    latest = sorted(annotations, key=lambda pair: pair[1].time)
    return {item.id: text for item, vote in latest for text in FORMS[item.kind].read(vote.choice).values()}


def edits(annotations: Annotations) -> list[tuple[str, str, str]]:
    """(id, original, edit) of every edited headline, in which only the replaced word is marked."""
    rows, counts = [], Counter[str]()
    for item, vote in annotations:
        texts = EDITING.read(vote.choice)
        counts[item.id] += 1
        parts = MARK.split(item.headline)
        parts[1::2] = [f"<{word}/>" if i == int(texts["place"]) else word for i, word in enumerate(parts[1::2])]
        rows.append((f"{item.id}-{counts[item.id]}", "".join(parts), texts["edit"]))
    return rows


def grades(annotations: Annotations, rows: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, str, str, float]]:
    """(id, original, edit, grades, meanGrade) of every rated headline; grades from high to low, as in Humicroedit.

    rows: item id -> its row, with `original` and `edit`.
    """
    by_item: dict[str, list[int]] = {}
    for item, vote in annotations:
        row = rows[item.id]
        if len(item.options) != GRADES or not all(isinstance(row.get(name), str) for name in ("original", "edit")):
            wanted = f"{GRADES} options, and original and edit as text"
            raise BadInput(f"item {item.id}: must have {wanted}; `humor-tasks people items rating` writes them.")
        by_item.setdefault(item.id, []).append(item.labels.index(vote.choice))
    table = []
    for identity, values in by_item.items():
        digits = "".join(map(str, sorted(values, reverse=True)))
        row = rows[identity]
        table.append((identity, str(row["original"]), str(row["edit"]), digits, round(sum(values) / len(values), 6)))
    return table


def labels(annotations: Annotations, rows: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Every labelled explanation as a row of HumorBench's rubrics; the majority's label counts."""
    by_item: dict[str, Counter[str]] = {}
    for item, vote in annotations:
        by_item.setdefault(item.id, Counter())[item.options[item.labels.index(vote.choice)]] += 1
    if tied := [name for name, given in by_item.items() if len(given) > 1 and len(set(given.values())) == 1]:
        raise BadInput(f"{listed('item', tied, 3)}: as many PASS as FAIL; have one more person label them.")
    table = []
    for name in filter(by_item.__contains__, rows):  # in the order of the items
        texts = rows[name].get("row")
        if not isinstance(texts, dict) or not all(isinstance(texts.get(column), str) for column in RUBRIC):
            raise BadInput(f"item {name}: has no row with {', '.join(RUBRIC)}; write it by `people items labelling`.")
        table.append((*(texts[column] for column in RUBRIC), by_item[name].most_common(1)[0][0]))
    return table


def elements(annotations: Annotations, places: Mapping[str, int]) -> list[tuple[str, str, str, str]]:
    """(idx, description, caption, element) of every element, as in HumorBench; the same words again are left out.

    places: item id -> its place in the file of items, which is the order.
    """
    found: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    counts = Counter[str]()
    for item, vote in sorted(annotations, key=lambda pair: places[pair[0].id]):
        for text in filter(None, ELEMENTS.read(vote.choice).values()):
            if (item.id, words_in(text)) not in found:
                counts[item.id] += 1
                row = (f"{item.id}-{counts[item.id]}", item.description, item.caption, text)
                found[item.id, words_in(text)] = row
    return list(found.values())


def write_annotations(
    out: Path,
    items: Sequence[Item],
    votes: Sequence[Vote],
    rows: Mapping[str, Mapping[str, Any]],
    before: Path | None,
    seed: int | None = None,
) -> str:
    """Write the annotations of the items' kind, and return how many there are. Raises BadInput for other kinds.

    seed: that of the splits of rated headlines, where they are asked for.
    """
    by_id = {item.id: item for item in items}
    annotations = [(by_id[vote.item], vote) for vote in votes]
    kinds = {item.kind for item in items}
    if before and not kinds <= HITS.keys():
        raise BadInput("--into takes the contest's annotations: items of the kinds description and links.")
    if seed is not None and kinds != {RATING.kind}:
        raise BadInput("--splits takes rated headlines: items of the kind rating.")
    if not kinds <= HITS.keys() and (len(kinds) > 1 or not kinds <= COLLECTED):
        names = ", ".join(sorted(kinds))
        raise BadInput(
            f"items of the kinds {names}: `humor-tasks people agreement` reads votes; see `items` for annotations."
        )
    if not annotations:
        raise BadInput("there are no annotations yet.")
    if kinds <= HITS.keys():
        write_json(out, contests(annotations, before))
    elif kinds in ({LITERAL.kind}, {WEAK.kind}):
        write_json(out, descriptions(annotations))
    elif kinds == {LABELLING.kind}:
        write_table(out, (*RUBRIC, "label"), labels(annotations, rows), exact=True)
    elif kinds == {ELEMENTS.kind}:
        write_table(
            out,
            ("idx", "description", "caption", "element"),
            elements(annotations, {name: i for i, name in enumerate(rows)}),
            exact=True,
        )
    elif kinds == {EDITING.kind}:
        write_table(out, ("id", "original", "edit"), edits(annotations), exact=True)
    elif seed is not None:
        return write_splits(out, grades(annotations, rows), seed)
    else:
        write_table(out, RATED, grades(annotations, rows), exact=True)
    return f"{len(annotations)} annotations"


# ---- qualification rounds -----------------------------------------------------------------------

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
    votes_of: dict[str, int] = Counter(vote.rater for vote in votes)
    right = Counter(vote.rater for vote in votes if vote.choice == answers.get(vote.item))
    return [Candidate(rater, count, right[rater], len(answers)) for rater, count in votes_of.items()]


def write_round(path: Path, round_results: Sequence[Candidate], threshold: float) -> int:
    """Write the result of a round, and return how many passed."""
    rows = []
    for one in round_results:
        share = "" if one.share is None else f"{one.share:.4g}"
        passed = "" if one.share is None else "yes" if one.share >= threshold else "no"
        rows.append((one.rater, one.votes, one.right, share, passed))
    write_table(path, COLUMNS, rows)
    return sum(passed == "yes" for *_, passed in rows)


def read_qualified(path: Path) -> frozenset[str]:
    """The annotators with yes in the column `qualified`. Raises BadInput for a value other than yes and no, and for
    an annotator with both.
    """
    table = read_csv(path, ("rater", "qualified"), ids=("rater",))
    who, known = set(), dict[str, str]()
    for i, row in enumerate(table.rows):
        where = table.where(i)
        rater, passed = stripped(row["rater"]), row["qualified"].strip()
        if not rater:
            raise BadInput(f"{where}: rater is empty; write the annotator's id.")
        if passed not in ("yes", "no"):
            raise BadInput(f"{where}: qualified is {row['qualified']!r}; write yes or no.")
        if known.setdefault(rater.casefold(), passed) != passed:
            raise BadInput(f"{where}: {rater} has yes and no; keep one row of each annotator.")
        if passed == "yes":
            who.add(rater)
    if not who:
        raise BadInput(f"{path}: nobody is qualified.")
    return frozenset(who)
