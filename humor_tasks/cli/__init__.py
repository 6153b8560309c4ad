"""The `humor-tasks` command: functions that the harnesses' command lines lack."""

from __future__ import annotations

import os
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import click

from humor_tasks._version import __version__
from humor_tasks.cli.analyse import analyse
from humor_tasks.cli.arena import arena
from humor_tasks.cli.audit import audit
from humor_tasks.cli.build import build
from humor_tasks.cli.captions import captions
from humor_tasks.cli.describe import describe
from humor_tasks.cli.export import export
from humor_tasks.cli.judge import grade, judge
from humor_tasks.cli.people import people
from humor_tasks.cli.report import compare, report
from humor_tasks.cli.reproduce import reproduce
from humor_tasks.cli.run import run
from humor_tasks.cli.score import parameters, rescore, score
from humor_tasks.cli.train import train
from humor_tasks.errors import BadInput

_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"

SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "Scores": (run, score, grade, rescore, parameters),
    "Finished runs": (report, compare, analyse, reproduce, export),
    "Captions, judges and people": (captions, judge, people),
    "Datasets and training": (build, describe, audit, train),
}
"""Heading -> commands, in the order of `--help`."""
captions.add_command(arena)


def _sentence(plain: Any, message: Any, category: Any, filename: str, *where: Any) -> str:
    """A warning of this package without the place in its code, which tells a user nothing; others as `plain`."""
    if not filename.startswith(_PACKAGE):
        return str(plain(message, category, filename, *where))
    return f"Warning: {message}\n"


class _Main(click.Group):
    """Prints BadInput as a one-line message and exits with status 2, as click does for invalid options."""

    def invoke(self, ctx: click.Context) -> Any:
        """See Command."""
        plain = warnings.formatwarning
        warnings.formatwarning = partial(_sentence, plain)
        try:
            return super().invoke(ctx)
        except BadInput as problem:
            raise click.UsageError(str(problem)) from None
        finally:
            warnings.formatwarning = plain

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by section; two options are named in one line."""
        width = formatter.width - 4 - max(map(len, self.commands))
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(str(c.name), c.get_short_help_str(width)) for c in commands])
        formatter.write_paragraph()
        formatter.write_text("`humor-tasks COMMAND --help` says more of each; `--version` prints the version.")


@click.group(
    cls=_Main,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
)
@click.version_option(__version__, prog_name="humor-tasks")
def main() -> None:
    """\b
    Benchmarks of humour understanding for Inspect AI and lm-evaluation-harness.
    Run one with `inspect eval humor_tasks/matching` or `lm_eval --tasks nyc_ranking`.
    """


for _command in (command for commands in SECTIONS.values() for command in commands):
    main.add_command(_command)
