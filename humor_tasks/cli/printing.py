"""Printing reports."""

from __future__ import annotations

import sys

import click

from humor_tasks.data.tables import unescaped


def echo(markdown: str) -> None:
    """Print a report: Markdown where the output is piped, the same without escapes in a terminal."""
    click.echo(unescaped(markdown) if sys.stdout.isatty() else markdown, nl=False)
