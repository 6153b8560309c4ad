"""The command `humor-tasks analyse`: the errors of several systems on the items of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.predictions import predicted, prediction_options
from humor_tasks.errors import BadInput

_PATH = click.Path(path_type=Path)


class _Runs(click.Group):
    """A group whose own arguments are runs: what is no subcommand is the first of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = next((arg for arg in args if not arg.startswith("-")), None)
        if named is not None and named not in self.commands:
            args = ["items", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Runs)
def analyse() -> None:
    """Analyse the errors of systems: `humor-tasks analyse RUNS...`, for any benchmark.

    RUNS are Inspect logs, lm-eval's samples or results, folders of them, and with --task files of predictions. See
    `humor-tasks analyse items --help` for the options.
    """


@analyse.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option("--metric", help="A metric of single items. Default: the benchmark's first one.")
@click.option("--cutoff", help="End of a model's training data, as 2023-09: accuracy before and after it.")
@click.option("--most", default=10, show_default=True, type=click.IntRange(1), help="Length of the lists of clusters.")
@click.option(
    "--draws", default=9999, show_default=True, type=click.IntRange(99), help="Number of draws of permutation tests."
)
@click.option(
    "--predictors",
    is_flag=True,
    help="Also look for what predicts which clusters are hard; pictures are those of --task's rows.",
)
@click.option("--embedding", help="Sentence-embedding model (hub id or folder), for --predictors.")
@prediction_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-o", "--output", type=_PATH, help="Also write the analysis (.md or .json).")
def items(
    runs: tuple[Path, ...],
    cutoff: str | None,
    task: str | None,
    dataset: str | None,
    given: tuple[str, ...],
    embedding: str | None,
    as_json: bool,
    output: Path | None,
    **how: Any,
) -> None:
    """Print what makes items hard, how systems agree, and how much of their accuracy goes with shortcuts.

    Runs that do not compare are analysed apart, and unfinished runs are left out. Runs of baseline/ and embedding/
    models are also shortcuts for the others.
    """
    from humor_tasks.benchmarks.card import read_date
    from humor_tasks.data.tables import echo
    from humor_tasks.data.writing import check_output
    from humor_tasks.results import read_results
    from humor_tasks.results.analysis import items_report
    from humor_tasks.results.analysis.items import analyse_all

    items_report.check_ending(output)
    check_output(output, *runs)
    day = read_date(cutoff) if cutoff else None
    if embedding and not how["predictors"]:
        raise BadInput("--embedding serves to predict difficulty; add --predictors.")
    rows = predicted(task, dataset, given)
    found = read_results(runs, rows)
    if embedding:
        from humor_tasks.models.choosers.embedding import Embedding

        how["embed"] = Embedding(embedding).embed
    analyses, left_out = analyse_all(found, cutoff=day, records=rows.records if rows else (), **how)
    if output:
        items_report.write_analyses(output, analyses, left_out)
    if as_json:
        click.echo(items_report.as_json(analyses, left_out), nl=False)
    else:
        echo(items_report.as_markdown(analyses, left_out))
