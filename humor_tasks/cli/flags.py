"""Command-line options that name benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from humor_tasks.benchmarks.card import System


class TaskOption(click.Option):
    """`--task` of a command that takes some benchmarks, whose names are read from the definitions when needed.

    Until then the definitions are not imported, which would slow every command down.
    """

    def __init__(
        self, *declared: Any, tasks: Callable[[], Sequence[str]], first: bool = False, only: bool = False, **how: Any
    ) -> None:
        """tasks: returns the names, which the help text shows at {names}.

        first: whether the first is the default. only: whether the others are refused here, and not by the command.
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
        names = list(self.tasks())
        self.help = self.text.format(names=", ".join(names))
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
