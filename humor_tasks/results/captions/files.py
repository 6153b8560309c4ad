"""Files with the captions that systems wrote for contests: JSON lines, released tables, and logs of runs.

JSON lines: {contest, caption, system}, or {contest, captions: [...], system}; without `system` it is the file's name.
Tables: one row a contest, with a column of contest numbers and the columns caption1, caption2, ... or 0, 1, ...; the
tables released with Zhang et al. 2024 (arXiv 2406.10522) have these forms. Their human_*.csv have no contest numbers
and belong, row by row, to claude.csv in the same folder.
Logs: of `brainstorm` and `caption_writing`, of Inspect or lm-eval.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import writers
from humor_tasks.data.contests.captions import mend
from humor_tasks.data.contests.contest_csv import NAMES
from humor_tasks.data.logs import LoggedSample, read_run
from humor_tasks.data.logs.lm_eval_samples import is_samples
from humor_tasks.data.reading import CsvRows, check_text, is_visible, json_lines, read_csv
from humor_tasks.data.writing import LONE
from humor_tasks.errors import BadInput
from humor_tasks.scorers.caption_list import read_captions

WANTED = 10
"""Captions of a whole group."""
OF_PANDAS = "nan"
"""An empty cell in the tables that pandas wrote."""
_CAPTION = re.compile(r"(?:caption[ _]?)?(\d{1,9})", re.IGNORECASE)
_HUMAN, _PARTNER = "human_", "claude.csv"


@dataclass(frozen=True)
class CaptionGroup:
    """The captions of one system for one contest, in the order of the file. note: what is wrong with them, else "".

    refused: whether a reply of a run declined, and there is no caption of another one.
    """

    system: str
    contest: int
    captions: tuple[str, ...]
    note: str = ""
    refused: bool = False

    @property
    def whole(self) -> bool:
        """Whether there are as many captions as the published groups have."""
        return len(self.captions) == WANTED


@dataclass(frozen=True)
class _Found:
    """What one row, line or reply holds. listed: whether it is a whole group, and not one caption of it."""

    where: str
    system: str
    contest: int
    texts: Sequence[str]
    listed: bool
    note: str = ""
    refused: bool = False


def read_groups(path: Path) -> list[CaptionGroup]:
    """The captions of a file, one group per system and contest, in the order of the file.

    White space, wrong decodings and outer quotation marks are mended as those of the contests' entries. Captions
    without text are left out, which the group's note says; a group is never filled up. Raises BadInput naming file,
    line and field for what cannot be read.
    """
    if path.suffix.lower() == ".csv":
        found = _grouped(_of_table(path))
    elif path.suffix == ".jsonl" and path.is_file() and not is_samples(path):
        found = _grouped(_of_lines(path))
    else:
        found = _grouped(_of_run(path))
    if not found:
        raise BadInput(f"{path}: holds no captions; each line must be an object with contest and captions.")
    return found


def read_all(paths: Sequence[Path]) -> list[CaptionGroup]:
    """The captions of several files. Raises BadInput where two hold the same system's captions for a contest."""
    held: dict[tuple[str, int], Path] = {}
    found = []
    for path in paths:
        for group in read_groups(path):
            other = held.setdefault((group.system, group.contest), path)
            if other is not path:
                raise BadInput(
                    f"{path}: contest {group.contest} of {group.system:.60} is also in {other}; leave one file out, or "
                    "give one another system's name."
                )
            found.append(group)
    return found


def _grouped(items: Iterable[_Found]) -> list[CaptionGroup]:
    held: dict[tuple[str, int], list[_Found]] = {}
    for item in items:
        others = held.setdefault((item.system, item.contest), [])
        if others and (item.listed or others[0].listed):
            raise BadInput(
                f"{item.where}: contest {item.contest} of {item.system:.60} is also in {others[0].where}; keep one."
            )
        others.append(item)
    return [_group(system, contest, items) for (system, contest), items in held.items()]


def _group(system: str, contest: int, items: Sequence[_Found]) -> CaptionGroup:
    kept, dropped = [], Counter[str]()
    for item in items:
        for text in item.texts:
            caption, why = _cleaned(text)
            dropped.update([why] if why else ())
            kept += [caption] if not why else []
    notes = [f"{count} {why} left out" for why, count in dropped.items()]
    told = "; ".join([*notes, *(item.note for item in items if item.note)])
    declined = not kept and any(item.refused for item in items)
    return CaptionGroup(system, contest, tuple(kept), told, declined)


def _cleaned(text: str) -> tuple[str, str]:
    """The caption and the reason it was rejected ("" if accepted)."""
    caption, _, dropped = mend(text)
    if dropped == "undecodable" or (dropped == "too long" and not caption):
        return "", dropped
    return caption, "" if is_visible(caption) else "empty"


def _contest(value: object, where: str) -> int:
    """A contest's number, also as text and as the whole float that pandas writes."""
    text = str(value).strip()
    if not isinstance(value, bool) and re.fullmatch(r"\d{1,9}(?:\.0)?", text):
        return int(text.partition(".")[0])
    raise BadInput(f"{where} is {text!r:.40}; it must be the contest's number, such as 536.")


# ---- JSON lines ---------------------------------------------------------------------------------


def _of_lines(path: Path) -> Iterator[_Found]:
    for where, row in json_lines(path):
        if not isinstance(row, dict) or "contest" not in row or ("caption" in row) == ("captions" in row):
            raise BadInput(f"{where}: must be an object with contest, and caption or captions.")
        contest = _contest(row["contest"], f"{where}: contest")
        system = check_text(row.get("system", path.stem), f"{where}: system")
        if LONE.search(system):
            raise BadInput(f"{where}: system is {system!r:.60}; it must be text.")
        texts = row["captions"] if "captions" in row else [row["caption"]]
        if not isinstance(texts, list):
            raise BadInput(f"{where}: captions is {texts!r:.40}; it must be a list of texts.")
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                name = f"captions[{i}]" if "captions" in row else "caption"
                raise BadInput(f"{where}: {name} is {text!r:.40}; it must be text.")
        yield _Found(where, system, contest, texts, "captions" in row)


# ---- tables -------------------------------------------------------------------------------------


def _of_table(path: Path) -> list[_Found]:
    table = read_csv(path, ())
    named = {name: _CAPTION.fullmatch(name.strip()) for name in table.rows[0]}
    columns = {int(match[1]): name for name, match in named.items() if match}
    if not columns:
        raise BadInput(
            f"{path}: there is no column of captions; there are: {', '.join(table.rows[0])}. Name them caption1 to "
            f"caption{WANTED}, or 0 to {WANTED - 1}."
        )
    if len(columns) < sum(match is not None for match in named.values()):
        raise BadInput(f"{path}: two columns are the same caption, such as caption1 and 1; keep one of them.")
    found: list[_Found] = []
    for i, number in enumerate(_numbers(table)):
        if number is None:  # the second half of a row that was torn in two
            last = found.pop()
            note = f"the row after it (line {table.lines[i]}) has no contest number and is left out"
            found.append(_Found(last.where, last.system, last.contest, last.texts, True, note))
            continue
        cells = [table.rows[i][columns[k]] for k in sorted(columns)]
        texts = ["" if cell.strip() == OF_PANDAS else cell for cell in cells]
        found.append(_Found(table.where(i), path.stem, number, texts, True))
    return found


def _numbers(table: CsvRows) -> list[int | None]:
    """The contest of each row; None for a row without one, which never comes first."""
    column = next((name for name in table.rows[0] if name.strip().lower() in NAMES["contest"]), None)
    if column is None:
        return [*_of_partner(table)]
    numbers: list[int | None] = []
    for i, row in enumerate(table.rows):
        empty = i > 0 and not row[column].strip()
        numbers.append(None if empty else _contest(row[column], f"{table.where(i)}: {column}"))
    return numbers


def _of_partner(table: CsvRows) -> list[int]:
    """The contests of a released table without contest numbers."""
    path, partner = table.path, table.path.with_name(_PARTNER)
    if not path.stem.startswith(_HUMAN) or not partner.is_file():
        raise BadInput(
            f"{path}: there is no column of contest numbers; add contest_number. The released {_HUMAN}*.csv have none "
            f"and belong, row by row, to {_PARTNER}: put that file into the same folder."
        )
    numbers = _numbers(read_csv(partner, ()))
    if len(numbers) != len(table.rows) or None in numbers:
        raise BadInput(
            f"{path}: has {len(table.rows)} rows and {partner.name} has {len(numbers)}; they must belong to each other "
            "row by row. Take both from the same release."
        )
    return [number for number in numbers if number is not None]


# ---- runs ---------------------------------------------------------------------------------------


def _of_run(path: Path) -> Iterator[_Found]:
    run = read_run(path)
    for sample in run.samples:
        contest = _contest(sample.cluster, f"{sample.where}: its contest")
        if sample.benchmark in writers("caption"):
            yield _Found(sample.where, run.model, contest, *_brainstormed(sample))
        elif sample.benchmark in writers("captions"):
            if sample.epoch > 1:
                raise BadInput(f"{path}: holds several epochs; give a run with one.")
            yield _Found(sample.where, run.model, contest, *_written(sample))
        else:
            known = " nor ".join(f"humor_tasks/{name}" for name in (*writers("caption"), *writers("captions")))
            raise BadInput(f"{sample.where} is of neither {known}.")


def _brainstormed(sample: LoggedSample) -> tuple[Any, ...]:
    score = sample.scored_by("brainstormed")
    if score is not None and score.answer is not None:
        return (score.answer,), False
    if score and score.outcome and score.outcome.status == "refused":
        return (), False, "a refusal", True
    return (), False, "a reply without a readable caption"


def _written(sample: LoggedSample) -> tuple[Any, ...]:
    listed = read_captions(sample.reply or "", WANTED)
    if listed.status == "answered":
        return listed.texts, True
    status = "refused" if sample.refused else listed.status
    return (), True, f"{status}: {listed.found} captions found", status == "refused"


def as_lines(groups: Iterable[CaptionGroup]) -> str:
    """The groups as JSON lines, which `read_groups` reads."""
    rows = ({"contest": g.contest, "system": g.system, "captions": list(g.captions)} for g in groups)
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
