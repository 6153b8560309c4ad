"""`humor-tasks report` and `compare`: scorecards of finished runs, and systems compared on the same items."""

from __future__ import annotations

from pathlib import Path

import click

from humor_tasks.cli.options import CLUSTER, METRIC, PATH, PREDICTIONS, RUNS, opened_for_predictions, output


@click.command()
@RUNS
@output("a folder with all of it, or a file: .html, .md, .csv or .json")
@PREDICTIONS
@click.option("--hard", default="hard", help="Subset of HumorBench with a column: a name or a file.")
@click.option("--prices", type=PATH, help="File of prices, used instead of logged costs.")
@click.option("--plot", "picture", type=PATH, help="Plot score against cost (.png, .svg, .pdf).")
@METRIC
@CLUSTER
def report(
    runs: tuple[Path, ...],
    output: Path | None,
    task: str | None,
    dataset: str | None,
    parameters: tuple[str, ...],
    hard: str,
    prices: Path | None,
    picture: Path | None,
    metrics: tuple[str, ...],
    cluster: str | None,
) -> None:
    """Print a scorecard of finished runs: every benchmark, both harnesses.

    RUNS are Inspect logs (.eval, .json), lm-eval's samples or results, folders of them, and with --task files of
    predictions. A folder (-o report/) has the page, the Markdown, the tidy table (CSV, JSON) and the pictures. Results
    that do not compare are kept apart, with the reason; unfinished runs are marked. Tasks of other packages have
    columns of their own.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.files.writing import check_output
    from humor_tasks.logs.prices import read_prices
    from humor_tasks.results import read_results
    from humor_tasks.results.figures import check_ending
    from humor_tasks.results.foreign import Foreign
    from humor_tasks.results.report.build import build_report, check_subset
    from humor_tasks.results.report.folder import check_place, plot_cost, write_report
    from humor_tasks.results.report.markdown import as_markdown, left_out_text

    for written in (output, picture):
        check_output(written, *runs, hard, prices)
    if output:
        check_place(output)
    check_ending(picture)
    check_subset(hard)
    priced = read_prices(prices)
    predictions = opened_for_predictions(task, dataset, parameters, runs)
    read = read_results(runs, predictions, Foreign(metrics, cluster))
    built = build_report(read, priced, hard, anew=prices is not None)
    notes = write_report(output, built) if output else []
    echo(as_markdown(built, warnings=False))
    for sentence in (*built.warnings, *(f"left out: {left_out_text(left)}" for left in built.results.left_out)):
        click.echo(f"Warning: {sentence}", err=True)
    for sentence in notes:
        click.echo(sentence, err=True)
    if picture:
        models = sum(len(group.results) for group in built.scorecard.groups)
        click.echo(f"{picture}: {plot_cost(picture, built)} of {models} models have a known cost.")


@click.command()
@RUNS
@METRIC
@click.option("--seed", default=0, type=click.IntRange(0), help="Seed of random permutations and of resampling.")
@PREDICTIONS
@CLUSTER
@output("a file: .md, .csv or .json")
def compare(
    runs: tuple[Path, ...],
    metrics: tuple[str, ...],
    seed: int,
    task: str | None,
    dataset: str | None,
    parameters: tuple[str, ...],
    cluster: str | None,
    output: Path | None,
) -> None:
    """Compare systems on the items that they all answered, per benchmark.

    RUNS are Inspect logs, lm-eval samples or results, folders of them, and with --task files of predictions. Every two
    runs of one benchmark are compared if they compare; the others are listed with the reason. So are runs of other
    packages' tasks. docs/comparing.md says what the figures mean.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.files.writing import check_output
    from humor_tasks.results import read_results
    from humor_tasks.results.compare import as_markdown, check_ending, compare, write_report
    from humor_tasks.results.foreign import Foreign

    predictions = opened_for_predictions(task, dataset, parameters, runs)
    check_output(output, *runs)
    check_ending(output)
    comparison = compare(read_results(runs, predictions, Foreign(metrics, cluster)), metrics, seed)
    if output:
        write_report(output, comparison)
    echo(as_markdown(comparison))
