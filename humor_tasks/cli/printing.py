"""Printing reports, and the notes on runs and files that they leave."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from humor_tasks.files.tables import unescaped

if TYPE_CHECKING:
    from humor_tasks.results import LeftOut, Result


def echo(markdown: str) -> None:
    """Print a report: Markdown where the output is piped, the same without escapes in a terminal."""
    click.echo(unescaped(markdown) if sys.stdout.isatty() else markdown, nl=False)


def echo_notes(results: Iterable[Result], left_out: Iterable[LeftOut]) -> None:
    """Print, as warnings, the notes on runs and the files that were left out."""
    for result in results:
        for note in result.notes:
            click.echo(f"Warning: {result.paths[0]}: {note}", err=True)
    for file in left_out:
        click.echo(f"Left out: {file.path}: {file.why}", err=True)
