"""`humor-tasks analyse`: the errors of several systems on the items of a benchmark, and its hardest rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.options import (
    JSON,
    PATH,
    PREDICTIONS,
    RUNS,
    Group,
    log_of,
    logs_of,
    opened_for_predictions,
    output,
    together,
)
from humor_tasks.errors import BadInput


class _Runs(Group):
    """A group whose own arguments are runs: a first argument that names no subcommand is one of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = next((arg for arg in args if not arg.startswith("-")), None)
        if first is not None and first not in self.commands:
            args = ["items", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Runs)
def analyse() -> None:
    """Analyse the errors of systems: `humor-tasks analyse RUNS...`, for any benchmark.

    RUNS are Inspect logs, lm-eval's samples or results, folders of them, and with --task files of predictions. See
    `humor-tasks analyse items --help` for the options.
    """


@analyse.command()
@RUNS
@click.option("--metric", help="A metric of single items. Default: the benchmark's first one.")
@click.option("--cutoff", help="End of a model's training data, as 2023-09: accuracy before and after it.")
@click.option("--most", default=10, type=click.IntRange(1), help="Length of the lists of clusters.")
@click.option("--draws", default=9999, type=click.IntRange(99), help="Number of draws of permutation tests.")
@click.option(
    "--predictors",
    is_flag=True,
    help="Also look for what predicts which clusters are hard; pictures are those of --task's rows.",
)
@click.option("--embedding", help="Sentence-embedding model (hub id or folder), for --predictors.")
@together(PREDICTIONS, JSON, output("a file: .md or .json"))
def items(
    runs: tuple[Path, ...],
    cutoff: str | None,
    task: str | None,
    dataset: str | None,
    parameters: tuple[str, ...],
    embedding: str | None,
    as_json: bool,
    output: Path | None,
    **options: Any,
) -> None:
    """Print what makes items hard, how systems agree, and how much of their accuracy goes with shortcuts.

    Runs that do not compare are analysed apart, and unfinished runs are left out. Runs of baseline/ and embedding/
    models are also shortcuts for the others.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.files.writing import check_output
    from humor_tasks.results import read_results
    from humor_tasks.results.analysis import items_report
    from humor_tasks.results.analysis.items import analyse_all
    from humor_tasks.rows.contests.dates import read_date

    items_report.check_ending(output)
    check_output(output, *runs)
    day = read_date(cutoff) if cutoff else None
    if embedding and not options["predictors"]:
        raise BadInput("--embedding serves to predict difficulty; add --predictors.")
    predictions = opened_for_predictions(task, dataset, parameters, runs)
    results = read_results(runs, predictions)
    if embedding:
        from humor_tasks.models.choosers.embedding import Embedding

        options["embed"] = Embedding(embedding).embed
    records = predictions.records if predictions else ()
    analyses, left_out = analyse_all(results, cutoff=day, records=records, **options)
    if output:
        items_report.write_analyses(output, analyses, left_out)
    if as_json:
        click.echo(items_report.as_json(analyses, left_out), nl=False)
    else:
        echo(items_report.as_markdown(analyses, left_out))


@analyse.command()
@click.argument("systems", nargs=-1, required=True, metavar="NAME=RUN...")
@click.option("--dataset", help="Folder with task-1/ and task-2/, or 'sample'. Default: the public dataset.")
@click.option("--split", default="test", help="test, dev, train or train_funlines.")
@click.option("--embedding", help="sentence-transformers model or folder, or a text file of word vectors.")
@click.option(
    "--most", default=10, type=click.IntRange(1), help="Maximum number of headlines in each list of largest errors."
)
@output("a file: .md or .json")
@click.option("--plot", "picture", type=PATH, help="Draw the figures (.png, .svg, .pdf).")
def humicroedit(
    systems: tuple[str, ...],
    dataset: str | None,
    split: str,
    embedding: str | None,
    most: int,
    output: Path | None,
    picture: Path | None,
) -> None:
    """Print pairs solved by N systems, incongruity, the largest errors of each and of all systems, error by funniness.

    RUN is an Inspect log, lm-eval's samples_*.jsonl, a folder with one of them, or a submission's CSV, of
    humicroedit_rating or humicroedit_pairwise. For the analyses of pairs, a system's ratings are compared.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.files.writing import check_output
    from humor_tasks.results.analysis.humicroedit import analyse
    from humor_tasks.results.analysis.humicroedit_report import as_markdown, check_endings, plot, write_report
    from humor_tasks.results.analysis.humicroedit_systems import open_embedding, read_corpus, read_systems

    check_endings(output, picture)
    check_output(output, *(system.partition("=")[2] for system in systems))
    corpus = read_corpus(split=split, **({"dataset": dataset} if dataset else {}))
    subtasks = [corpus.rating.benchmark.name, corpus.pairwise.benchmark.name]
    files = []
    for system in systems:
        name, sign, path = system.partition("=")
        files.append(f"{name}={log_of(subtasks, Path(path))}" if sign and Path(path).is_dir() else system)
    read = read_systems(files, corpus)
    embed = open_embedding(embedding) if embedding else None
    analysis = analyse(corpus.headlines, corpus.pairs, read, embed, most)
    if picture:
        plot(picture, analysis)
    if output:
        write_report(output, analysis)
    echo(as_markdown(analysis))


@analyse.command("hard-subset")
@RUNS
@output("the subset (.json)", required=True)
@click.option("--size", default=100, type=click.IntRange(1), help="Number of rows in the subset.")
@click.option("--min-attempts", default=3, type=click.IntRange(1), help="Minimum number of verdicts per row.")
def hard_subset(runs: tuple[Path, ...], output: Path, size: int, min_attempts: int) -> None:
    """Write the rows with the lowest pass rate over the models of graded RUNS, for subset=FILE."""
    from humor_tasks.benchmarks import BENCHMARKS
    from humor_tasks.files.writing import check_output, write_json
    from humor_tasks.results.analysis.verdicts import hard_subset
    from humor_tasks.results.points import read_graded

    logs = logs_of([name for name, benchmark in BENCHMARKS.items() if benchmark.display.subsets], runs)
    check_output(output, *logs)
    if len({path.resolve() for path in logs}) < len(logs):
        raise BadInput("a log is given twice; give each log once.")
    subset = hard_subset([read_graded(path) for path in logs], size, min_attempts)
    write_json(output, subset)
    click.echo(f"{output}: {len(subset['keys'])} rows, {subset['note']}.")
