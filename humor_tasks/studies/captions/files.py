"""Files with the captions that systems wrote for contests or requests: JSON lines, released tables, and logs of runs.

JSON lines: {contest, caption, system}, or {contest, captions: [...], system}; without `system` it is the file's name.
Texts for the requests of a file have {request: ID} in the place of the contest.
Tables: one row a contest, with a column of contest numbers and the columns caption1, caption2, ... or 0, 1, ...; the
tables released with Zhang et al. 2024 (arXiv 2406.10522) have these forms. Their human_*.csv have no contest numbers
and belong, row by row, to claude.csv in the same folder.
Submissions: TSV with the columns id and text, a row a request, as those of MWAHAHA (SemEval-2026 Task 1).
Logs: of `brainstorm`, `caption_writing` and `humor_writing`, of Inspect or lm-eval.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import BENCHMARKS, Benchmark, writers
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.csv_files import CsvRows, read_csv, read_tsv
from humor_tasks.files.reading import check_text, is_visible, json_lines
from humor_tasks.files.writing import LONE
from humor_tasks.logs import LoggedSample, read_run
from humor_tasks.logs.lm_eval_samples import is_samples
from humor_tasks.rows.contests.captions import mend
from humor_tasks.rows.contests.contest_csv import NAMES

WANTED = 10
"""Captions of a whole group."""
CONTESTS = "newyorker"
"""The corpus of the benchmarks whose clusters are contests."""
OF_PANDAS = "nan"
"""An empty cell in the tables that pandas wrote."""
_CAPTION = re.compile(r"(?:caption[ _]?)?(\d{1,9})", re.IGNORECASE)
_HUMAN, _PARTNER = "human_", "claude.csv"


@dataclass(frozen=True)
class CaptionGroup:
    """The captions of one system for one contest, in the order of the file. note: their defects, or "".

    contest: the number of a contest, or the id of a request (`rows.requests`), which is a text also where it has digits
    alone. refused: whether a reply of a run declined, and there is no caption of another one.
    """

    system: str
    contest: int | str
    captions: tuple[str, ...]
    note: str = ""
    refused: bool = False

    @property
    def whole(self) -> bool:
        """Whether there are as many captions as the published groups have."""
        return len(self.captions) == WANTED


@dataclass(frozen=True)
class Caption:
    """A caption of a contest's cartoon, and the system that wrote it."""

    contest: str
    text: str
    system: str


@dataclass(frozen=True)
class Captions:
    """Single captions in the order of their files, and the numbers of replies without one: unparsed, and refused.

    corpus: the parameters that locate the cartoons, as far as a log records them.
    """

    captions: tuple[Caption, ...]
    corpus: Mapping[str, Any]
    unparsed: int = 0
    refused: int = 0


@dataclass(frozen=True)
class _Entry:
    """What one row, line or reply holds. listed: whether it is a whole group, and not one caption of it."""

    where: str
    system: str
    contest: int | str
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
    groups = _grouped(_entries(path))
    if not groups:
        raise BadInput(f"{path}: holds no captions; each line must be an object with contest and captions.")
    return groups


def read_captions(path: Path) -> Captions:
    """The captions of a file or log as they are, for comparisons of every two of a contest.

    Raises BadInput naming file, line and field for what cannot be read, also for a caption without visible text.
    """
    captions = []
    without = Counter[bool]()  # whether it was refused -> replies without a caption
    for entry in _entries(path):
        for text in entry.texts:
            if LONE.search(check_text(text, f"{entry.where}: caption")):
                raise BadInput(f"{entry.where}: caption is {text!r:.60}; it must be text.")
            captions.append(Caption(str(entry.contest), " ".join(text.split()), entry.system))
        without.update([entry.refused] if not entry.texts else ())
    corpus = read_run(path).corpus if _is_run(path) else {}
    return Captions(tuple(captions), corpus, without[False], without[True])


def _is_run(path: Path) -> bool:
    return path.suffix.lower() not in (".csv", ".tsv") and not (
        path.suffix == ".jsonl" and path.is_file() and not is_samples(path)
    )


def _entries(path: Path) -> Iterable[_Entry]:
    if _is_run(path):
        return _of_run(path)
    readers = {".csv": _of_table, ".tsv": _of_submission}
    return readers.get(path.suffix.lower(), _of_lines)(path)


def read_all(paths: Sequence[Path]) -> list[CaptionGroup]:
    """The captions of several files. Raises BadInput where two hold the same system's captions for a contest."""
    files: dict[tuple[str, int | str], Path] = {}
    groups = []
    for path in paths:
        for group in read_groups(path):
            other = files.setdefault((group.system, group.contest), path)
            if other is not path:
                raise BadInput(
                    f"{path}: {named(group.contest)} of {group.system:.60} is also in {other}; leave one file out, or "
                    "give one another system's name."
                )
            groups.append(group)
    return groups


def _grouped(entries: Iterable[_Entry]) -> list[CaptionGroup]:
    groups: dict[tuple[str, int | str], list[_Entry]] = {}
    for entry in entries:
        others = groups.setdefault((entry.system, entry.contest), [])
        if others and (entry.listed or others[0].listed):
            raise BadInput(
                f"{entry.where}: {named(entry.contest)} of {entry.system:.60} is also in {others[0].where}; keep one."
            )
        others.append(entry)
    return [_group(system, contest, members) for (system, contest), members in groups.items()]


def _group(system: str, contest: int | str, entries: Sequence[_Entry]) -> CaptionGroup:
    captions, dropped = [], Counter[str]()
    for entry in entries:
        for text in entry.texts:
            caption, why = _cleaned(text)
            if why:
                dropped[why] += 1
            else:
                captions.append(caption)
    notes = [f"{count} {why} left out" for why, count in dropped.items()]
    notes += [entry.note for entry in entries if entry.note]
    refused = not captions and any(entry.refused for entry in entries)
    return CaptionGroup(system, contest, tuple(captions), "; ".join(notes), refused)


def _cleaned(text: str) -> tuple[str, str]:
    """The caption and the reason it was rejected ("" if accepted)."""
    caption, _, dropped = mend(text)
    if dropped == "undecodable" or (dropped == "too long" and not caption):
        return "", dropped
    return caption, "" if is_visible(caption) else "empty"


def named(contest: int | str) -> str:
    """A contest or a request by what it is, for messages."""
    return f"contest {contest}" if isinstance(contest, int) else f"request {contest!r:.60}"


def check_contests(groups: Iterable[CaptionGroup]) -> None:
    """Raise BadInput for texts of requests: they have no contest whose captions they can be compared with."""
    requests = [str(group.contest) for group in groups if isinstance(group.contest, str)]
    if requests:
        raise BadInput(
            f"{listed('request', dict.fromkeys(requests), most=5)}: texts for requests have no contest to be compared "
            "with; give captions of contests. `humor-tasks captions arena` compares texts for requests."
        )


def _contest(value: object, where: str) -> int:
    """A contest's number, also as text and as the whole float that pandas writes."""
    text = str(value).strip()
    if not isinstance(value, bool) and re.fullmatch(r"\d{1,9}(?:\.0)?", text):
        return int(text.partition(".")[0])
    raise BadInput(f"{where} is {text!r:.40}; it must be the contest's number, such as 536.")


# ---- JSON lines ---------------------------------------------------------------------------------


def _of_lines(path: Path) -> Iterator[_Entry]:
    for where, row in json_lines(path):
        several = isinstance(row, dict) and [("contest", "request"), ("caption", "captions")]
        if not several or any((one in row) == (other in row) for one, other in several):
            raise BadInput(f"{where}: must be an object with contest or request, and caption or captions.")
        if "contest" in row:
            contest: int | str = _contest(row["contest"], f"{where}: contest")
        else:
            contest = " ".join(check_text(row["request"], f"{where}: request").split())
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
        yield _Entry(where, system, contest, texts, "captions" in row)


# ---- tables -------------------------------------------------------------------------------------


def _of_table(path: Path) -> list[_Entry]:
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
    entries: list[_Entry] = []
    for i, number in enumerate(_numbers(table)):
        if number is None:  # the second half of a row that was torn in two
            note = f"the row after it (line {table.lines[i]}) has no contest number and is left out"
            entries[-1] = replace(entries[-1], note=note)
            continue
        cells = [table.rows[i][columns[k]] for k in sorted(columns)]
        texts = ["" if cell.strip() == OF_PANDAS else cell for cell in cells]
        entries.append(_Entry(table.where(i), path.stem, number, texts, True))
    return entries


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


def _of_submission(path: Path) -> Iterator[_Entry]:
    table = read_tsv(path, ("id", "text"), ids=("id",))
    for i, row in enumerate(table.rows):
        request = " ".join(check_text(row["id"], f"{table.where(i)}: id").split())
        yield _Entry(table.where(i), path.stem, request, [row["text"]], True)


# ---- runs ---------------------------------------------------------------------------------------


def _of_run(path: Path) -> Iterator[_Entry]:
    run = read_run(path)
    single, several = writers("caption"), writers("captions")
    for sample in run.samples:
        if sample.benchmark not in (*single, *several):
            known = ", ".join(f"humor_tasks/{name}" for name in (*single, *several))
            raise BadInput(f"{sample.where} is of none of {known}.")
        of_contests = BENCHMARKS[sample.benchmark].corpus == CONTESTS
        contest = _contest(sample.cluster, f"{sample.where}: its contest") if of_contests else sample.cluster
        if sample.benchmark in single:
            yield _Entry(sample.where, run.model, contest, *_brainstormed(sample))
        elif sample.epoch > 1:
            raise BadInput(f"{path}: holds several epochs; give a run with one.")
        else:
            yield _Entry(sample.where, run.model, contest, *_written(sample, BENCHMARKS[sample.benchmark]))


def _brainstormed(sample: LoggedSample) -> tuple[Any, ...]:
    score = sample.scored_by("brainstormed")
    if score is not None and score.answer is not None:
        return (score.answer,), False
    if score and score.outcome and score.outcome.status == "refused":
        return (), False, "a refusal", True
    return (), False, "a reply without a readable caption"


def _written(sample: LoggedSample, benchmark: Benchmark) -> tuple[Any, ...]:
    run = benchmark.reopen(None, sample.options)
    answer = run.form.answer(sample.reply or "", run.options.thinking, sample.refused)
    if answer.status == "answered":
        return answer.facts["captions"], True
    found = f": {answer.values['found']:.0f} captions found" if "found" in answer.values else ""
    return (), True, f"{answer.status}{found}", answer.status == "refused"


def as_lines(groups: Iterable[CaptionGroup]) -> str:
    """The groups as JSON lines, which `read_groups` reads."""
    rows = (
        {"contest" if isinstance(g.contest, int) else "request": g.contest, "system": g.system}
        | {"captions": list(g.captions)}
        for g in groups
    )
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
