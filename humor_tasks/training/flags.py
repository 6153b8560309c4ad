"""Command-line options shared by several training commands."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import click

from humor_tasks.errors import BadInput

Flag = Callable[[Any], Any]

OUTPUT = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    callback=lambda context, parameter, path: Path(
        os.path.expanduser(path)
    ),  # shells do not expand ~ in --output=~/run
    help="The run folder.",
)
NO_PROGRESS = click.option("--no-progress", is_flag=True, help="No progress bars.")
CONTEST = (
    click.option("--dataset", help="Hub id, dataset folder, or 'sample'. Default: the public corpus."),
    click.option("--revision", help="Branch, tag or commit of a hub dataset."),
)
ADAMW = (
    click.option("--weight-decay", type=float, help="Default: 0.01."),
    click.option("--beta1", type=float, help="AdamW's beta1. Default: 0.9."),
    click.option("--beta2", type=float, help="AdamW's beta2. Default: 0.999."),
    click.option("--eps", type=float, help="AdamW's epsilon. Default: 1e-8."),
)
MACHINE = (
    click.option("--device", help="auto, cuda, mps or cpu. Default: auto."),
    click.option("--workers", type=int, help="Threads that read pictures. Default: one per core, at most 16."),
    click.option(
        "--checkpointing/--no-checkpointing", default=None, help="Activation checkpointing: less memory, more time."
    ),
    NO_PROGRESS,
)


def read_rates(text: str) -> tuple[float, ...]:
    """The learning rates of `--lr`."""
    try:
        return tuple(float(rate) for rate in text.split(","))
    except ValueError:
        raise BadInput(f"lr {text}: write comma-separated numbers, such as 5e-5,1e-5.") from None


def flags(options: tuple[Flag, ...]) -> Flag:
    """All of these options as one decorator, in this order."""
    return lambda command: reduce(lambda decorated, flag: flag(decorated), reversed(options), command)
