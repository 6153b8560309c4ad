"""Shared code of the Humicroedit benchmarks: the files, and their validated rows as headlines and pairs.

Hossain et al., SemEval-2020 Task 7, arXiv 2008.00304; data: Humicroedit (Hossain et al., NAACL 2019) and FunLines
(Hossain et al., ACL 2020 demo).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from humor_tasks.contract.card import Source
from humor_tasks.contract.definition import Data, Options, Run
from humor_tasks.contract.options import absent, parameter
from humor_tasks.contract.prompts import Template, fill, split_turns
from humor_tasks.contract.shots import by_cluster, draw
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput, nearest
from humor_tasks.files.csv_files import CsvRows, claim, read_csv
from humor_tasks.files.reading import missing
from humor_tasks.rows import Absent, fetch
from humor_tasks.rows.records import Prompt, Record, Turn

CARD = "humicroedit"
PUBLIC = "semeval-2020-task-7"
Split = Literal["train", "train_funlines", "dev", "test"]
Setting = Literal["edited_only", "original_and_edit"]
SPLITS: tuple[str, ...] = get_args(Split)
SETTINGS: tuple[str, ...] = get_args(Setting)
GRADES = (0, 3)
# The organisers' scale labels.
SCALE = "0 = not funny, 1 = slightly funny, 2 = moderately funny, 3 = funny"

# The organisers' archives differ in layout and partly in format; files are therefore identified by SHA-256.
ARCHIVES = (
    "https://www.cs.rochester.edu/u/nhossain/semeval-2020-task-7-data.zip",
    "https://cs.rochester.edu/u/nhossain/semeval-2020-task-7-dataset.zip",
    "https://www.cs.rochester.edu/u/nhossain/humicroedit/semeval-2020-task-7-data.zip",
    "https://zenodo.org/records/3969509/files/semeval-2020-task-7-dataset.zip",
)
# (subtask, split) -> SHA-256 of the organisers' file.
SUMS = {
    (1, "train"): "15de49ea17485384a52d3d91ad04e33520eca3f20761df06ff0d717dfaa08fbd",
    (1, "train_funlines"): "d4609dc12a1f3d8d958d603c76f941e4a359b319be86711278eebadcd9b2a531",
    (2, "train_funlines"): "3fa99ff07b3c52971c429750e5547364933a376275e2da516b7a2cd36337d04b",
    (1, "dev"): "02889bfc5e1a2e30468cbf9d5d00d85c04b3fccc12a0e188611f27975323f9ec",
    (1, "test"): "d559d0b609a712e6c3e4eefc01d894e3694d3d262e429e6cdd010feb71723f6a",
    (2, "train"): "9b253ee6b6309cde7b6fd087b53c4c73417cc47d908a720cca7e1caac83e4fe4",
    (2, "dev"): "9ab5f23d6860697d95d0642b3dd22bc30f97b4b49b5fe0d5c6486bee78a96530",
    (2, "test"): "b0f8aee14472f8445f045dd6ce15b5393c51d8cf749156da97e714eb5efd9472",
}
DATES = "Headlines of January 2017 to May 2018; those of FunLines are of May 2019 to January 2020."
CLAIM = "Replacing one word of a news headline shows what makes short text funny."


@dataclass(frozen=True)
class HumicroeditOptions(Options):
    """Parameters of both subtasks."""

    dataset: str = parameter(
        PUBLIC, "The organisers' files (downloaded once, pinned), a folder with task-1/ and task-2/, or `sample`."
    )
    revision: str | None = absent(None, "the files are pinned by SHA-256; for other files use dataset=<folder>.")
    split: Split = parameter("test", "Split to evaluate; `train_funlines` is FunLines, additional training rows.")
    shots: int = parameter(
        0, "Number of worked examples in the prompt, each of a different headline of the train split.", least=0
    )
    extraction: Literal["strict"] = "strict"
    seed: int = parameter(1234, "Seed of the worked examples.")
    setting: Setting = parameter(
        "edited_only", "`edited_only` shows the edited headline; `original_and_edit` also shows the original."
    )


DIFFERENCES = (
    "A model under test is asked in this project's own words; the paper's systems were trained on the headlines.",
    "The systems of Tables 3 to 5 are trained as far as the paper describes them (`humor-tasks train humicroedit`, "
    "docs/semeval.md); sizes and learning rates that it does not give are this project's.",
    "Of Table 3, `humor-tasks reproduce` computes the baseline; the other rows name the command that trains them.",
)

_MARK = re.compile(r"<([^<>]*)/>")


@dataclass(frozen=True)
class Headline:
    """One edited headline, with whitespace collapsed.

    word, edit: the original word and its replacement; `before` and `after` are the text around it.
    grades: the judges' individual grades, 0..3 except in a few rows of FunLines; empty where the file has none.
    mean: the file's mean grade, None in a split without labels.
    """

    id: str
    original: str
    edited: str
    word: str
    edit: str
    before: str
    after: str
    grades: tuple[int, ...]
    mean: float | None


@dataclass(frozen=True)
class Pair:
    """Two edits of one headline; `label` is 1 or 2 for the funnier one, 0 for a tie, None where unlabelled."""

    id: str
    first: Headline
    second: Headline
    label: int | None


def headlines(rows: CsvRows) -> list[Headline]:
    """Subtask 1: columns id, original, edit, and grades and meanGrade where the split is labelled."""
    parsed = [headline(row, "", row["id"], rows.where(i)) for i, row in enumerate(rows.rows)]
    _distinct([h.id for h in parsed], rows)
    _warn_about_means([(h,) for h in parsed], rows)
    return parsed


def pairs(rows: CsvRows) -> list[Pair]:
    """Subtask 2: the columns of subtask 1 with the suffixes 1 and 2, and label."""
    parsed = []
    for i, row in enumerate(rows.rows):
        where = rows.where(i)
        first, second = (headline(row, n, f"{row['id']}-{n}", where) for n in ("1", "2"))
        if first.original != second.original:
            raise BadInput(f"{where}: original1 and original2 are different headlines; a pair is two edits of one.")
        parsed.append(Pair(row["id"].strip(), first, second, _label(row, first, second, where)))
    _distinct([pair.id for pair in parsed], rows)
    _warn_about_means([(pair.first, pair.second) for pair in parsed], rows)
    return parsed


def headlines_of(pair: str) -> tuple[str, str]:
    """The ids of a pair's headlines in subtask 1: the corpus joins them as the pair's id, as in 61-5576."""
    first, _, second = pair.partition("-")
    return first, second


def headline(row: Mapping[str, str], n: str, identity: str, where: str) -> Headline:
    """The edited headline of a row; n: the end of its columns' names. Raises BadInput naming the column."""
    original, edit = row[f"original{n}"], " ".join(row[f"edit{n}"].split())
    if not row["id"].strip():
        raise BadInput(f"{where}: id is empty; each row needs a unique id.")
    marks = _MARK.findall(original)
    if len(marks) != 1 or missing(marks[0]):
        raise BadInput(f"{where}: original{n} has {len(marks)} marked words; it must have one, written <word/>.")
    if why := missing(edit):
        raise BadInput(f"{where}: edit{n} is {why}; it must be the word that replaces <{marks[0]}/>.")
    before, _, after = _MARK.split(original, maxsplit=1)
    before, word, after = (" ".join(part.split()) for part in (before, marks[0], after))
    mean, grades = _mean(row, n, where), row.get(f"grades{n}", "").strip()
    if grades == "0":  # five zeros, which the files of subtask 1 store as a number
        grades = "00000"
    if not re.fullmatch(r"[0-9]*", grades):
        raise BadInput(f"{where}: grades{n} is {grades!r}; it must be digits, one per judge.")
    return Headline(
        id=identity.strip(),
        original=" ".join(part for part in (before, word, after) if part),
        edited=" ".join(part for part in (before, edit, after) if part),
        word=word,
        edit=edit,
        before=before,
        after=after,
        grades=tuple(map(int, grades)),
        mean=mean,
    )


def _mean(row: Mapping[str, str], n: str, where: str) -> float | None:
    text = row.get(f"meanGrade{n}", "").strip()
    if not text:
        return None
    try:
        mean = float(text)
    except ValueError:
        mean = -1.0
    if not GRADES[0] <= mean <= GRADES[1]:
        raise BadInput(f"{where}: meanGrade{n} is {text!r}; it must be a number from 0 to 3.")
    return mean


def _label(row: Mapping[str, str], first: Headline, second: Headline, where: str) -> int | None:
    text = row.get("label", "").strip()
    if not text:
        return None
    if text not in ("0", "1", "2"):
        raise BadInput(f"{where}: label is {text!r}; it must be 1 or 2, the funnier headline, or 0 for a tie.")
    if first.mean is not None and second.mean is not None:
        by_means = funnier(first.mean, second.mean)
        if by_means != int(text):
            raise BadInput(f"{where}: label is {text}, but the means {first.mean} and {second.mean} imply {by_means}.")
    return int(text)


def funnier(first: float, second: float) -> int:
    """The label of a pair with these mean grades: 1 or 2 for the funnier headline, 0 for a tie."""
    return 0 if first == second else 1 if first > second else 2


def _distinct(ids: Sequence[str], rows: CsvRows) -> None:
    places: dict[str, str] = {}
    for i, identity in enumerate(ids):
        claim(places, identity, rows.where(i), "Give each row an id of its own.")


def _warn_about_means(found: Sequence[Sequence[Headline]], rows: CsvRows) -> None:
    """One warning for all rows where the mean of the grades is not the file's mean."""
    off = sum(any(map(_is_off, row)) for row in found)
    if off:
        warnings.warn(
            f"{rows.path}: in {off} rows the grades disagree with the file's mean; the mean is used.", stacklevel=3
        )


def _is_off(h: Headline) -> bool:
    return h.mean is not None and h.grades != () and abs(sum(h.grades) / len(h.grades) - h.mean) > 0.06


def source(task: int, rows: str) -> Source:
    """The organisers' files of a subtask as the source of a benchmark that reads these rows."""
    files = {f"task-{task}/{split}.csv": digest for (each, split), digest in SUMS.items() if each == task}
    licence = "None is stated, for the edits and grades or for the headlines, which belong to news media."
    return Source(PUBLIC, "The files are pinned by SHA-256.", files, licence, rows)


def read_split(dataset: str, task: int, split: str) -> CsvRows:
    """One file in the organisers' layout: task-1/ and task-2/ with train, train_funlines, dev and test."""
    texts = ("id", "original", "edit") if task == 1 else ("id", "original1", "edit1", "original2", "edit2")
    if dataset == PUBLIC:
        return _opened(fetch(f"task-{task}/{split}.csv", SUMS[task, split], ARCHIVES), texts)
    home = Path(folder(CARD)) if dataset == "sample" else Path(dataset).expanduser()
    path = home / f"task-{task}" / f"{split}.csv"
    if not path.is_file():
        raise Absent(
            f"dataset={dataset}: there is no file {path}; use '{PUBLIC}', 'sample', or a folder with task-1/ and "
            f"task-2/, each with {', '.join(SPLITS)}.{nearest(split, SPLITS)}"
        )
    return _opened(path, texts)


def _opened(path: Path, texts: Sequence[str]) -> CsvRows:
    means = ("meanGrade", "meanGrade1", "meanGrade2")
    known = (*means, "grades", "grades1", "grades2", "label")
    return read_csv(path, texts, known=known, ids=("id",), numbers=means)


# ---- records, prompts ---------------------------------------------------------------------------


def data(o: HumicroeditOptions, task: int, records: Callable[[CsvRows], list[Record]]) -> Data:
    """The records of one split, and the train split as the pool of worked examples."""
    rows = read_split(o.dataset, task, o.split)
    loaded = tuple(records(rows))
    provenance: dict[str, Any] = {"dataset": o.dataset, "configs": [f"task-{task}"], "split": o.split}
    provenance |= {"requested_revision": None, "revision": None, "rows": len(loaded), "fingerprint": rows.sha256}

    @lru_cache(maxsize=1)
    def pool(_: str) -> Mapping[str, Sequence[Record]]:
        worked = records(read_split(o.dataset, task, "train"))
        return by_cluster([record for record in worked if record.target is not None])

    return Data(loaded, provenance, pool)


def templates(name: str, *shows: str) -> tuple[Template, ...]:
    """The templates of a task and of the setting, which shows these fields."""
    return Template("humicroedit", f"{name}.txt"), Template(
        "humicroedit", f"{name}.{{o.setting}}.txt", shows, shared=True
    )


def prompt(run: Run[HumicroeditOptions], record: Record, name: str, **more: str) -> Prompt:
    """The prompt: task turns, worked examples with answers, then the record."""
    o = run.options
    task, shown = f"{name}.txt", f"{name}.{o.setting}.txt"

    def user(item: Record, body: str) -> Turn:
        headline = fill(run.templates[shown], item.fields, shown)
        return Turn("user", fill(body, {"headline": headline, "headlines": headline, **more}, task))

    *opening, (_, body) = split_turns(run.templates[task], task)
    turns = [Turn(role, fill(text, more, task)) for role, text in opening]
    drawn = draw(run.pool(""), record, o.shots, o.seed, "the train split", "headlines") if o.shots else []
    for shot in drawn:
        turns += [user(shot, body), Turn("assistant", run.form.written(shot.target))]
    return Prompt((*turns, user(record, body)))
