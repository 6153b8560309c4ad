"""Command-line options shared by several training commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from humor_tasks.benchmarks.card import System

Flag = Callable[[Any], Any]


class TaskOption(click.Option):
    """`--task` of a command that takes some benchmarks, whose names are read from the definitions when needed.

    Until then the definitions are not imported, which would slow every command down.
    """

    def __init__(
        self, *declared: Any, tasks: Callable[[], Sequence[str]], first: bool = False, only: bool = False, **how: Any
    ) -> None:
        """tasks: returns the names.

        first: whether the first is the default. only: whether the others are refused here, and not by the command. The
        help text shows the names at {names} or, with "or" before the last, at {either}.
        """
        super().__init__(*declared, **how)
        self.tasks, self.first, self.only, self.text = tasks, first, only, str(how["help"])

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """See Option."""
        self._read()
        return super().get_help_record(ctx)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """See Option."""
        if self.only and value is not None:
            self._read()
        return super().process_value(ctx, value)

    def get_default(self, ctx: click.Context, call: bool = True) -> Any:
        """See Option."""
        if self.first:
            self._read()
        return super().get_default(ctx, call)

    def _read(self) -> None:
        *others, last = names = list(self.tasks())
        either = f"{', '.join(others)} or {last}" if others else last
        self.help = self.text.format(names=", ".join(names), either=either, first=names[0])
        if self.first:
            self.default = names[0]
        if self.only:
            self.type = click.Choice(names)


def tasks_of(system: System) -> Callable[[], Sequence[str]]:
    """The benchmarks that can train this system, for `TaskOption`."""

    def read() -> Sequence[str]:
        from humor_tasks.benchmarks import trained

        return trained(system)

    return read


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
LORA = (
    click.option("--precision", help="no or bf16. Default: no."),
    click.option("--lora", type=int, help="Rank of LoRA adapters trained instead of the model. Default: 0, none."),
    click.option("--lora-alpha", type=int, help="Default: twice the rank."),
    click.option("--seed", type=int, help="Default: 0."),
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
