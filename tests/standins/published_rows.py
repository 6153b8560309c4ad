"""`humor-tasks reproduce` on corpora that stand in for the papers' rows, and rows with other figures."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from humor_tasks.cli import main
from humor_tasks.datasets_cards import folder
from humor_tasks.results.reproduce.corpora import Known
from humor_tasks.results.reproduce.recipes import Given
from humor_tasks.results.reproduce.rows import Row
from humor_tasks.results.reproduce.verdict import reproduce


def reproduced(*arguments: str | Path) -> tuple[int, str]:
    """Exit status and what the command prints."""
    done = CliRunner().invoke(main, ["reproduce", *map(str, arguments)], catch_exceptions=False)
    return done.exit_code, done.stdout


def sample_as_corpora(data: Path) -> Path:
    """Folders of the cards' names with the sample's rows, as if they were the corpora."""
    for card in ("humicroedit", "newyorker_caption_contest"):
        shutil.copytree(folder(card), data / card)
    labels = (folder("humorbench") / "sample_rubric.csv").read_text()
    (data / "humorbench").mkdir()
    (data / "humorbench" / "gpt_4o_rubric.csv").write_text(labels.replace("sample-explainer-a", "gpt-4o"))
    return data


def told_wrongly(row: Row, by: float = 0.01) -> Row:
    """The row with every figure printed too high."""
    return replace(row, figures=tuple(replace(figure, value=figure.value + by) for figure in row.figures))


def of_these_rows(row: Row, use: Given) -> Row:
    """The row as a paper on these rows would print it, of which nothing else is known."""
    compared = reproduce(row, use).compared
    figures = tuple(replace(c.figure, value=round(c.here.value, 6), n=c.here.n) for c in compared)
    return replace(row, figures=figures, known=Known())
