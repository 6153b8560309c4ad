"""Where a report goes: a file (.md, .csv, .json), or a folder with all of it.

A folder is written beside its place and then renamed. A folder that holds anything that a report did not write is
refused, so nothing of somebody else's is overwritten or lost.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from humor_tasks.errors import BadInput, listed
from humor_tasks.files.tables import csv_text, json_text
from humor_tasks.files.writing import check_output, replacing, write_text
from humor_tasks.results.figures import can_draw, check_ending, drawn, write_picture
from humor_tasks.results.report.build import Report
from humor_tasks.results.report.charts import cost_charts
from humor_tasks.results.report.markdown import as_markdown
from humor_tasks.results.report.page import page, page_notes
from humor_tasks.results.report.table import COLUMNS

MARKER = ".humor-tasks-report"
"""The file by which a folder is known as a report's; it lists the files that the report wrote."""
FORMS = ("svg", "png")
FILES: dict[str, Callable[[Report], str]] = {
    ".md": as_markdown,
    ".csv": lambda report: csv_text((*report.rows[0],) if report.rows else COLUMNS, (r.values() for r in report.rows)),
    ".json": lambda report: json_text(report.rows),
    ".html": page,
}


def check_place(path: Path, report: Report | None = None) -> None:
    """Raise BadInput for a place that a report must not be written to."""
    if path.suffix in FILES:
        check_output(path, *(run for result in report.results.results for run in result.paths) if report else ())
        return
    if path.is_dir():
        _check_folder(path)
    elif path.suffix or path.exists():
        raise BadInput(f"{path}: a report ends in {', '.join(FILES)}, or is a folder without an ending.")


def _check_folder(path: Path) -> None:
    held = {path_below.relative_to(path).as_posix() for path_below in path.rglob("*") if not path_below.is_dir()}
    if not held:
        return
    if MARKER not in held:
        raise BadInput(f"{path}: is a folder with other files; give a new or an empty one. Nothing was written.")
    try:
        ours = set(json.loads((path / MARKER).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise BadInput(f"{path / MARKER}: cannot be read ({problem}); give another folder.") from None
    if others := sorted(held - ours - {MARKER}):
        raise BadInput(
            f"{path}: holds {listed('file', others)} beside an earlier report; move it away or give another folder. "
            "Nothing was written."
        )


def write_report(path: Path, report: Report) -> list[str]:
    """Write the report to a file or folder, and return what to tell: sentences. Raises BadInput as `check_place`."""
    check_place(path, report)
    if path.suffix in FILES and not path.is_dir():
        write_text(path, FILES[path.suffix](report))
        return page_notes(report) if path.suffix == ".html" else []
    path = path.resolve()
    old = path.with_name(f".{path.name}.{uuid4().hex}.old")
    try:
        with replacing(path) as folder:
            notes = _write(folder, report)
            if path.is_dir():
                path.rename(old)
    except BaseException:
        if old.is_dir() and not path.exists():
            old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)
    return notes


def _write(folder: Path, report: Report) -> list[str]:
    (folder / "figures").mkdir(parents=True)
    pictures, notes = _draw(folder / "figures", report)
    write_text(folder / "report.md", as_markdown(report, pictures))
    for name in ("index.html", "results.csv", "results.json"):
        write_text(folder / name, FILES[Path(name).suffix](report))
    files = sorted(written.relative_to(folder).as_posix() for written in folder.rglob("*") if written.is_file())
    write_text(folder / MARKER, json.dumps({"files": files}, indent=2) + "\n")
    return notes + page_notes(report)


def plot_cost(path: Path, report: Report) -> int:
    """Draw score against cost in one picture, and return the number of runs in it.

    Raises BadInput where no cost is known, for another file type, and without vl-convert-python.
    """
    check_ending(path)
    charts = cost_charts(report.scorecard.groups, report.spent)
    if not charts:
        raise BadInput("no log has both a score and a known cost: name prices with --prices FILE.")
    write_picture(path, charts)
    return sum(len(chart.series) for chart in charts)


def _draw(folder: Path, report: Report) -> tuple[list[str], list[str]]:
    """The pictures in Markdown's order, and what to tell."""
    if not report.charts:
        return [], []
    if not can_draw():
        return [], ['The pictures are left out: they need vl-convert-python (pip install "humor-tasks[report]").']
    for chart in report.charts:
        for form in FORMS:
            (folder / f"{chart.name}.{form}").write_bytes(drawn([chart], form))
    return [f"figures/{chart.name}.svg" for chart in report.charts], []
