"""Panels of judges on an exam: how alike their errors are, and what a majority of them gains (`scorers.panel`).

Every run of the exam is one judge. The panel is compared on the items that all of the runs hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.tables import csv_text, interval, json_text, safe, table
from humor_tasks.files.writing import write_text
from humor_tasks.results.result import Result
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.panel import PanelErrors, panel_errors

COLUMNS = ("exam", "measure", "judges", "value", "stderr", "low", "high", "n", "clusters")


@dataclass(frozen=True)
class ExamPanel:
    """The judges of one exam. items: the number that all runs hold. elsewhere: the number that only some hold."""

    exam: str
    judges: tuple[str, ...]
    items: int
    elsewhere: int
    errors: PanelErrors

    @property
    def lines(self) -> Iterator[tuple[str, str, Estimate | float]]:
        """(measure, judges, estimate), the judges of a pair separated by " and ".

        A gain without correlation is what would follow from the error rates alone, a number without an error.
        """
        everyone = f"all {len(self.judges)}"
        for pair, estimate in self.errors.correlations.items():
            yield "error_correlation", " and ".join(pair), estimate
        yield "mean_error_correlation", everyone, self.errors.mean_correlation
        yield "effective_judges", everyone, self.errors.effective_judges
        for size, majority in self.errors.majorities.items():
            yield f"gain_of_{size}", everyone, majority.gain
            yield f"gain_of_{size}_if_independent", everyone, majority.independent

    @property
    def notes(self) -> Iterator[str]:
        """On what the panel leaves out, one sentence each."""
        if self.elsewhere:
            yield f"Items left out, because not all runs hold them: {self.elsewhere}."
        if self.errors.left_out:
            yield f"Items left out of the gains, because a judge gave no verdict: {self.errors.left_out}."


def panel_of(results: Sequence[Result]) -> ExamPanel:
    """The judges of these runs of one exam as a panel.

    Raises BadInput for fewer than two runs, runs of several exams, several epochs, runs without an item in common, and
    runs that give an item different right answers.
    """
    exams = list(dict.fromkeys(result.benchmark.name for result in results))
    if len(exams) > 1:
        raise BadInput(f"a panel is of one exam; the runs are of {' and '.join(exams)}. Give those of one.")
    if len(results) < 2:
        raise BadInput(f"{results[0].run.path}: is the only run of {exams[0]}; a panel needs one run of each judge.")
    known = [_by_item(result) for result in results]
    shared = [item for item in known[0] if all(item in others for others in known)]
    for path, others in zip((result.run.path for result in results), known, strict=True):
        for item in shared:
            if others[item].target != known[0][item].target:
                first = results[0].run.path
                raise BadInput(f"{path}: item {item} has another right answer than in {first}; judge the same rows.")
    if not shared:
        raise BadInput(f"{results[0].run.path} and the other runs have no item with a right answer in common.")
    judges = _names(results)
    errors = panel_errors(
        [True] * len(shared),
        {name: [_right(of_run[item]) for item in shared] for name, of_run in zip(judges, known, strict=True)},
        [known[0][item].cluster for item in shared],
    )
    elsewhere = len({item for of_run in known for item in of_run}) - len(shared)
    return ExamPanel(exams[0], judges, len(shared), elsewhere, errors)


def _by_item(result: Result) -> dict[str, Outcome]:
    if max(result.epochs) > 1:
        raise BadInput(f"{result.run.path}: holds several epochs; a panel needs one verdict an item (--epochs 1).")
    return {outcome.id: outcome for outcome in result.outcomes if outcome.target is not None}


def _right(outcome: Outcome) -> bool | None:
    return None if outcome.answer is None else outcome.answer == outcome.target


def _names(results: Sequence[Result]) -> tuple[str, ...]:
    """The systems' names; those of several runs of one system with the file."""
    times = Counter(result.system for result in results)
    return tuple(r.system if times[r.system] == 1 else f"{r.system} ({r.run.path})" for r in results)


# ---- text -----------------------------------------------------------------------------------------


def rows(panel: ExamPanel) -> list[dict[str, Any]]:
    """One row for each estimate, by the names in COLUMNS; an unknown number is None in JSON."""
    found = []
    for measure, judges, e in panel.lines:
        values: tuple[Any, ...] = (e, *[None] * 3, panel.items - panel.errors.left_out, None)
        if isinstance(e, Estimate):
            values = (e.value, e.stderr, e.low, e.high, e.n, e.clusters)
        found.append(dict(zip(COLUMNS, (panel.exam, measure, judges, *values), strict=True)))
    return found


def as_markdown(panel: ExamPanel) -> str:
    """The estimates as a table, and notes."""
    lines = [
        (measure, judges, *((interval(e), e.n) if isinstance(e, Estimate) else (f"{e:.3f}", "-")))
        for measure, judges, e in panel.lines
    ]
    text = f"{safe(panel.exam)}: {len(panel.judges)} judges, {panel.items} items\n\n"
    text += f"{table(('measure', 'judges', 'value', 'n'), lines)}\n\n"
    return text + "".join(f"{note}\n" for note in panel.notes)


WRITERS: dict[str, Callable[[ExamPanel], str]] = {
    ".md": as_markdown,
    ".csv": lambda panel: csv_text(COLUMNS, (row.values() for row in rows(panel))),
    ".json": lambda panel: json_text(rows(panel)),
}


def check_ending(path: Path | None) -> None:
    """Raise BadInput for another ending than those of WRITERS, before anything is computed."""
    if path and path.suffix not in WRITERS:
        raise BadInput(f"-o {path}: a panel ends in {', '.join(WRITERS)}.")


def write_panel(path: Path, panel: ExamPanel) -> None:
    """Write Markdown, CSV or JSON, by the file's ending."""
    check_ending(path)
    write_text(path, WRITERS[path.suffix](panel))
