"""An evaluation report of finished runs, as the register of inspect_evals and lm-eval's guide for new tasks ask for it.

python register/evaluation_report.py LOGS -o report.md
python register/evaluation_report.py LOGS --commit COMMIT -o blocks.yaml
"""

from __future__ import annotations

from pathlib import Path

import click
from evidence.register import register_blocks
from evidence.report import evaluation_report

from humor_tasks.cli.options import RUNS, output
from humor_tasks.errors import BadInput
from humor_tasks.files.writing import check_output, write_text
from humor_tasks.logs.prices import read_prices
from humor_tasks.results import read_results
from humor_tasks.results.report.build import build_report


@click.command()
@RUNS
@click.option(
    "--note", "notes", multiple=True, help="A sentence of your own, such as why a parameter is set; repeatable."
)
@click.option("--commit", help="For .yaml: the commit of the package that ran.")
@output("the report (.md), or the blocks of the register of inspect_evals (.yaml)", required=True)
def main(runs: tuple[Path, ...], output: Path, notes: tuple[str, ...], commit: str | None) -> None:
    """Write an evaluation report, as the register of inspect_evals and lm-eval's guide for new tasks ask for it.

    RUNS are Inspect logs (.eval, .json), lm-eval's samples or results, and folders of them. An unfinished run is an
    error. Paths of this machine are cut to their last names.
    """
    try:
        _write(runs, output, notes, commit)
    except BadInput as problem:
        raise click.UsageError(str(problem)) from None


def _write(runs: tuple[Path, ...], output: Path, notes: tuple[str, ...], commit: str | None) -> None:
    if output.suffix not in (".md", ".yaml"):
        raise BadInput(f"{output}: an evaluation report ends in .md or .yaml.")
    if (output.suffix == ".yaml") != bool(commit):
        raise BadInput("--commit goes with a report that ends in .yaml, and with no other: the register asks for it.")
    check_output(output, *runs)
    report = build_report(read_results(runs), read_prices(None))
    text = register_blocks(report, commit, notes) if commit else evaluation_report(report, notes)
    write_text(output, text)
    for file in report.results.left_out:
        click.echo(f"left out: {file.path}: {file.why}", err=True)
    click.echo(output)


if __name__ == "__main__":
    main()
