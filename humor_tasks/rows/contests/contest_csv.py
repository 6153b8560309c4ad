"""Files of contests' captions: the public layouts, the organisers' column names, and captions without ratings.

A file holds one contest, or, with a column of contest numbers, several.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import NamedTuple

from humor_tasks.errors import BadInput
from humor_tasks.files.csv_files import CsvRows, read_csv, with_decimal_points
from humor_tasks.rows.contests.captions import key_of, mend

NAMES = {
    "caption": ("caption", "target", "text", "entry"),
    "mean": ("mean", "score", "average", "rating"),
    "precision": ("precision", "std_error", "stderr"),
    "votes": ("votes", "count", "ratings", "num_votes"),
    "not_funny": ("not_funny", "unfunny", "1"),
    "somewhat_funny": ("somewhat_funny", "2"),
    "funny": ("funny", "3"),
    "contest": ("contest", "contest_number", "contest_num"),
    "rank": ("rank",),
}
"""Our name of a column -> the names in public files, without case; spaces and hyphens count as underscores."""
COUNTS = ("not_funny", "somewhat_funny", "funny")
NUMBERS = tuple(name for name in NAMES if name not in ("caption", "contest"))
MOST_WRONG = 0.01
"""Above this share of impossible means, or of counts far from their mean, the file's columns are not what they say."""
MOST_VOTES = 2**31
FAR = 0.5
"""Between a mean and that of its counts. Public files differ by up to .22, where votes came in between two exports."""


@dataclass
class Contest:
    """The captions of one contest in the crowd's order, as columns.

    place: rank among all entries, from 0: that of the file's column `rank`, otherwise the row's. entries: number of
    ranks. An excerpt of a contest has fewer rows than ranks. mean, precision (one standard error) and votes are None
    where a caption has no ratings. counts: kind of mending or reason of leaving out -> entries. sha256: of the file.
    """

    number: int
    rated: bool
    caption: list[str] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    mean: list[float | None] = field(default_factory=list)
    precision: list[float | None] = field(default_factory=list)
    votes: list[int | None] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    place: list[int] = field(default_factory=list)
    entries: int = 0
    sha256: str = ""


def contest_number(path: Path) -> int:
    """The number in a file's name, as in 510.csv or 510_summary.csv. Raises BadInput where there is none."""
    match = re.match(r"(?:contest[_-]?)?0*(\d+)(?!\d)", path.stem, re.IGNORECASE)
    if not match:
        raise BadInput(f"{path}: its name has no contest number; name the file NUMBER.csv, such as 510.csv.")
    if int(match[1]) >= 2**31:
        raise BadInput(f"{path}: {match[1]:.20} is no contest's number; the corpus holds numbers below 2^31.")
    return int(match[1])


def contest_files(folder: Path, kinds: Sequence[str] = (".csv",)) -> dict[int, Path]:
    """Contest number -> file of a folder. Raises BadInput without such files, and for a number with two."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: is no folder; name the folder with a file for each contest.")
    files: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in kinds or path.name.startswith("."):
            continue
        number = contest_number(path)
        if number in files:
            raise BadInput(f"{path}: contest {number} is also in {files[number].name}; keep one of them.")
        files[number] = path
    if not files:
        raise BadInput(f"{folder}: holds no {' or '.join(f'NUMBER{kind}' for kind in kinds)}.")
    return files


def read_contest(path: Path) -> Contest:
    """The contest of one file. Raises BadInput naming file and line for what cannot be the layout it claims to be."""
    number = contest_number(path)
    file, columns = _opened(path)
    for i in range(len(file.rows)) if "contest" in columns else ():
        if file.number(i, columns["contest"]) != number:
            raise BadInput(f"{file.where(i)}: {columns['contest']} is not {number}, the number in its name.")
    return _contest(file, columns, number, range(len(file.rows)))


def read_contests(path: Path) -> dict[int, Contest]:
    """The contests of a file with a column of contest numbers, by number. Raises BadInput as `read_contest` does."""
    file, columns = _opened(path)
    if "contest" not in columns:
        raise BadInput(f"{path}: there is no column of contest numbers; name it {NAMES['contest'][1]}.")
    held: dict[float, list[int]] = {}
    for i in range(len(file.rows)):
        held.setdefault(file.number(i, columns["contest"]), []).append(i)
    for number, indices in held.items():
        if number % 1 or not 0 <= number < 2**31:
            raise BadInput(f"{file.where(indices[0])}: {columns['contest']} is {number!r}, no contest's number.")
    return {int(number): _contest(file, columns, int(number), held[number]) for number in sorted(held)}


def _opened(path: Path) -> tuple[CsvRows, dict[str, str]]:
    """The rows of a file, and our names -> its columns."""
    file = read_csv(path, ())
    columns = _columns(file)
    return with_decimal_points(file, [columns[name] for name in NUMBERS if name in columns]), columns


def _contest(file: CsvRows, columns: dict[str, str], number: int, indices: Sequence[int]) -> Contest:
    rated = "mean" in columns or "funny" in columns
    places = _places(file, columns, indices)
    contest = Contest(number, rated, entries=places[-1] + 1, sha256=file.sha256)
    wrong: Counter[str] = Counter()
    first: dict[str, int] = {}
    means: list[float] = []
    for i, place in zip(indices, places, strict=True):
        contest.counts["entries"] += 1
        rating = _rating(file, i, columns, wrong, first) if rated else (None, None, None)
        means.append(rating[0] or 0.0)
        _add(contest, file.rows[i][columns["caption"]], place, rating)
    for what, count in wrong.items():
        if what in first and count > max(1, MOST_WRONG * len(indices)):
            raise BadInput(
                f"{file.where(first[what])}: {what}, as in {count:,} of {len(indices):,} rows. The columns seem to "
                "be shifted or misnamed; correct the header."
            )
    contest.counts.update(wrong)
    if rated:
        _in_order(contest, means)
    return contest


def _places(file: CsvRows, columns: dict[str, str], indices: Sequence[int]) -> list[int]:
    """The ranks of these rows, where the column `rank` has them in ascending order from 0; otherwise their order."""
    texts = [file.rows[i][columns["rank"]] for i in indices] if "rank" in columns else []
    ranks = [int(text) for text in texts if text.isdecimal() and len(text) < 10]
    if texts and len(ranks) == len(texts) and ranks[0] == 0 and all(a < b for a, b in itertools.pairwise(ranks)):
        return ranks
    return list(range(len(indices)))


def _columns(file: CsvRows) -> dict[str, str]:
    """Our names -> the file's. Raises BadInput without a column of captions, or with ratings by half."""
    seen = {re.sub(r"[\s-]+", "_", name.strip().casefold()): name for name in file.rows[0]}
    columns = {ours: seen[name] for ours, names in NAMES.items() for name in reversed(names) if name in seen}
    if "caption" not in columns:
        raise BadInput(
            f"{file.path}: there is no column of captions; there are: {', '.join(file.rows[0])}. The first line must "
            f"be a header with one of {', '.join(NAMES['caption'])}."
        )
    counts = [name for name in COUNTS if name in columns]
    if 0 < len(counts) < 3:
        raise BadInput(f"{file.path}: has the counts {', '.join(counts)} only; give all of {', '.join(COUNTS)}.")
    if "mean" in columns and "votes" not in columns and not counts:
        raise BadInput(f"{file.path}: has means without votes; give the column votes.")
    return columns


Rating = tuple[float | None, float | None, int | None]
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:[.,]\d{3})+")
"""3.000 of a German spreadsheet, which is 3000 there and 3 elsewhere."""


def _rating(file: CsvRows, i: int, columns: dict[str, str], wrong: Counter[str], first: dict[str, int]) -> Rating:
    """(mean, precision, votes) of a row; its mean and votes win over its counts, as in the published sets."""
    for name in (*COUNTS, "votes"):
        if name in columns and _THOUSANDS.fullmatch(text := file.rows[i][columns[name]].strip()):
            raise BadInput(
                f"{file.where(i)}: {columns[name]} is {text!r}; write whole numbers with nothing between thousands."
            )
    counts = [file.number(i, columns[name]) for name in COUNTS if name in columns]
    total = sum(counts)
    ours = (counts[0] + 2 * counts[1] + 3 * counts[2]) / total if total else None
    votes = file.number(i, columns["votes"]) if "votes" in columns else total
    mean = file.number(i, columns["mean"]) if "mean" in columns else ours
    if any(not 0 <= value < MOST_VOTES or value % 1 for value in (votes, *counts)):
        raise BadInput(
            f"{file.where(i)}: votes and counts must be whole numbers from 0 to below {MOST_VOTES:,}; correct the row."
        )

    def note(what: str) -> None:
        wrong[what] += 1
        first.setdefault(what, i)

    if not votes or mean is None:
        return None, None, 0
    if not 1 <= mean <= 3:
        note("mean outside 1 to 3")
        return None, None, 0
    if ours is not None and abs(ours - mean) > FAR:
        note("counts far from their mean")
    elif ours is not None and abs(ours - mean) > 1e-6:
        wrong["counts do not make the mean"] += 1
        del counts[:]  # no standard error from them
    if "precision" not in columns or file.rows[i][columns["precision"]] == "inf":  # inf: that of a single vote
        return mean, _standard_error(counts), int(votes)
    error = file.number(i, columns["precision"])
    if error <= 0:
        raise BadInput(f"{file.where(i)}: {columns['precision']} is {error:g}; a standard error is above 0.")
    return mean, error, int(votes)


def _standard_error(counts: Sequence[float]) -> float | None:
    """One standard error of the mean with the organisers' floor: sqrt(max(1, SS) / (v (v - 1)))."""
    total = sum(counts)
    if total < 2:
        return None
    mean = sum(value * n for value, n in zip((1, 2, 3), counts, strict=True)) / total
    squares = sum(n * (value - mean) ** 2 for value, n in zip((1, 2, 3), counts, strict=True))
    return math.sqrt(max(1.0, squares) / (total * (total - 1)))


def _add(contest: Contest, entry: str, place: int, rating: Rating) -> None:
    mended = mend(entry)
    mean, precision, votes = rating
    dropped = mended.dropped or ("no ratings" if contest.rated and mean is None else "")
    if dropped:
        contest.counts[f"left out: {dropped}"] += 1
        return
    contest.counts.update(f"mended: {kind}" for kind in mended.mended)
    contest.caption.append(mended.text)
    contest.key.append(key_of(mended.text))
    contest.place.append(place)
    contest.mean.append(mean)
    contest.precision.append(precision)
    contest.votes.append(votes)


def _in_order(contest: Contest, entries: Sequence[float]) -> None:
    """Sort by mean where the file is not in that order; equal means keep the file's order, which is the organisers'.

    entries: the means of all rows. Entries that are left out have ranks too, so that those of the others are right.
    """
    means = [mean or 0.0 for mean in contest.mean]
    if all(a >= b for a, b in itertools.pairwise(means)):
        return
    contest.counts["files sorted by mean"] += 1
    order = sorted(range(len(means)), key=lambda i: -means[i])
    for name in ("caption", "key", "mean", "precision", "votes"):
        values = getattr(contest, name)
        setattr(contest, name, [values[i] for i in order])
    if contest.entries == len(entries):  # the ranks are those of the rows
        kept = set(contest.place)
        ranked = sorted(range(len(entries)), key=lambda i: -entries[i])
        contest.place = [rank for rank, i in enumerate(ranked) if i in kept]


# ---- doubtful ratings ------------------------------------------------------------------------------


THIN = 10
"""A contest's votes are thin where half of its captions have fewer."""
BROKEN = 0.9
"""A contest's scoring is broken where more than this share of its captions has one and the same mean."""


class Defect(NamedTuple):
    """What makes the ratings of a contest doubtful, and how much; its text says both."""

    kind: str
    measured: str = ""

    def __str__(self) -> str:
        return ": ".join(filter(None, self))


def defects(contest: Contest) -> tuple[Defect, ...]:
    """What makes the ratings of a rated contest doubtful; () where nothing does."""
    if not contest.caption:
        return (Defect("no captions"),)
    votes = median([count or 0 for count in contest.votes])
    tied = Counter(contest.mean).most_common(1)[0][1] / len(contest.mean)
    doubts = [Defect("thin votes", f"median {votes:g}")] if votes < THIN else []
    if tied > BROKEN:
        doubts.append(Defect("broken scoring", f"{tied:.1%} of captions have the same mean"))
    return tuple(doubts)


# ---- contests that were rated twice ----------------------------------------------------------------


SHARED = 0.5
"""Contests that share more than this part of the smaller one's captions are twins."""
FEWEST = 3
"""With fewer captions in common they are not: any two contests may have a common phrase."""
_SMALL = 256  # captions; between larger contests, and a larger and a smaller one, samples are compared
_SAMPLE = 16  # one caption of so many, the same ones in every contest


def twins(contests: Iterable[tuple[int, Iterable[str]]]) -> list[tuple[int, int]]:
    """The pairs of twins, the lower number first; contests: number and keys of all captions, one after the other."""
    small: dict[int, frozenset[str]] = {}
    sampled: dict[int, frozenset[str]] = {}
    for number, keys in contests:
        every = frozenset(keys)
        sampled[number] = frozenset(key for key in every if _is_sampled(key))
        if len(every) < _SMALL:
            small[number] = every
    return [
        (a, b)
        for a, b in combinations(sorted(sampled), 2)
        if _alike(*((small[a], small[b]) if a in small and b in small else (sampled[a], sampled[b])))
    ]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return common >= FEWEST and common > SHARED * min(len(one), len(other))


def _is_sampled(key: str) -> bool:
    return hashlib.sha256(key.encode()).digest()[0] < 256 // _SAMPLE
