"""The command `humor-tasks compare`."""

from __future__ import annotations

from pathlib import Path

import click

from humor_tasks.cli.predictions import predicted, prediction_options

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option("--metric", help="Metric to compare by. Default: the primary metric of each benchmark.")
@click.option("--seed", default=0, show_default=True, help="Seed of random permutations and of resampling.")
@prediction_options
@click.option("-o", "--output", type=_PATH, help="Also write the comparison (.md, .csv or .json).")
def compare(
    runs: tuple[Path, ...],
    metric: str | None,
    seed: int,
    task: str | None,
    dataset: str | None,
    given: tuple[str, ...],
    output: Path | None,
) -> None:
    """Compare systems on the items that they all answered, per benchmark.

    RUNS are Inspect logs, lm-eval samples or results, folders of them, and with --task files of predictions. Every two
    runs of one benchmark are compared if they compare; the others are listed with the reason. docs/comparing.md says
    what the figures mean.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.data.writing import check_output
    from humor_tasks.results import read_results
    from humor_tasks.results.compare import compare as compute
    from humor_tasks.results.compare_report import as_markdown, check_ending, write_report

    predictions = predicted(task, dataset, given)
    check_output(output, *runs)
    check_ending(output)
    found = compute(read_results(runs, predictions), metric, seed)
    if output:
        write_report(output, found)
    echo(as_markdown(found))
