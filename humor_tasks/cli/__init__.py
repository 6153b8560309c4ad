"""The `humor-tasks` command: functions that the harnesses' command lines lack."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

from humor_tasks._version import __version__
from humor_tasks.cli.agreement import agreement
from humor_tasks.cli.analyse import analyse
from humor_tasks.cli.audit import audit
from humor_tasks.cli.build import build
from humor_tasks.cli.captions import captions
from humor_tasks.cli.compare import compare
from humor_tasks.cli.describe import describe
from humor_tasks.cli.export import export_results
from humor_tasks.cli.finetune import export_finetune
from humor_tasks.cli.flags import TaskOption
from humor_tasks.cli.items import collect, items, qualify
from humor_tasks.cli.people import annotate, pairs, votes
from humor_tasks.cli.preferences import export_preferences
from humor_tasks.cli.rank_captions import rank_captions
from humor_tasks.cli.report import report
from humor_tasks.cli.reproduce import reproduce, rescore
from humor_tasks.cli.train import train
from humor_tasks.errors import BadInput


class _Group(click.Group):
    """Prints BadInput as a one-line message and exits with status 2, as click does for invalid options."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BadInput as problem:
            raise click.UsageError(str(problem)) from None


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="humor-tasks")
def main() -> None:
    """Benchmarks of humour understanding for Inspect AI and lm-evaluation-harness.

    Run a benchmark with `inspect eval humor_tasks/matching` or `lm_eval --tasks nyc_ranking`.
    """


@main.command()
@click.argument("predictions", type=click.Path(path_type=Path))
@click.option("--task", required=True, help="Name of the benchmark, such as matching or humorbench_autograder.")
@click.option("--dataset", help="Hub id, dataset folder or file, or 'sample'. Default: the public corpus.")
@click.option("--split", help="Split of the dataset. Default: test.")
@click.option("--fold", help="Caption contest: cross-validation fold 0..4, or 'all'. Default: 0.")
@click.option("--setting", help="Input shown to the model. Default: the benchmark's default.")
@click.option(
    "-T",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Task parameter; repeatable. See `humor-tasks parameters TASK`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def score(predictions: Path, task: str, given: tuple[str, ...], as_json: bool, **short: str | None) -> None:
    """Score a file of predictions: {instance_id: reply} as JSON, records as JSON lines, or CSV with id and pred."""
    from humor_tasks.api import evaluate
    from humor_tasks.data.logs.predictions import read_predictions
    from humor_tasks.parameters import opened

    run = opened(task, given, **short)
    replies = read_predictions(predictions, run.form.from_submission)
    try:
        report = evaluate(run, replies)
    except BadInput as problem:
        raise BadInput(f"{predictions}: {problem}") from None
    click.echo(json.dumps(report.as_dict(), indent=2) if as_json else str(report))
    if report.warning:
        click.echo(f"Beware: {report.warning}", err=True)


@main.command()
@click.argument("task", required=False)
def parameters(task: str | None) -> None:
    """Print the parameters of TASK, or of all tasks, as Markdown tables."""
    from humor_tasks.parameters import tables

    click.echo(tables(task), nl=False)


@main.command()
@click.argument("log", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Output file.")
@click.option("--fill", help="Letter or number for instances without an answer, or 'random'. Default: error.")
@click.option("--seed", default=1234, show_default=True, help="Seed of --fill random.")
def submission(log: Path, output: Path, fill: str | None, seed: int) -> None:
    """Write a submission from an Inspect log or lm-eval samples.

    Caption contest: {instance_id: letter} as JSON. Humicroedit: the organisers' CSV with id and pred.
    """
    from humor_tasks.data.writing import check_output, write_json
    from humor_tasks.results.submission import complete, predictions, read_answers, write_predictions

    check_output(output, log)
    logged = read_answers(log)
    if logged.subtask:
        found = predictions(logged, fill, seed, str(log))
        write_predictions(output, found)
        click.echo(f"{output}: {len(found)} {'headlines' if logged.subtask == 'rating' else 'pairs'}.")
        return
    chosen = complete(logged.answers, logged.letters, fill, seed, str(log))
    write_json(output, chosen)
    click.echo(f"{output}: {len(chosen)} instances (the leaderboard has 830 for matching, 664 for ranking).")


def _graded() -> list[str]:
    """The benchmarks whose logged replies judges can score, those with subsets first."""
    from humor_tasks.benchmarks import BENCHMARKS
    from humor_tasks.benchmarks.preference import judging_of_replies

    judged = [name for name, benchmark in BENCHMARKS.items() if judging_of_replies(benchmark)]
    return sorted(judged, key=lambda name: BENCHMARKS[name].display.subsets is None)


@main.command()
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--task",
    cls=TaskOption,
    tasks=_graded,
    first=True,
    show_default=True,
    help="Benchmark of the logs: {names}, or a judged one of another package.",
)
@click.option("--grader", "graders", required=True, multiple=True, help="Inspect model; repeat it for a panel.")
@click.option("--structured", is_flag=True, help="Request JSON verdicts through the provider's structured output.")
@click.option("--temperature", default="0", show_default=True, help="Graders' temperature; 'none': provider's default.")
@click.option("--seed", default="1234", show_default=True, help="Graders' seed; 'none': provider's default.")
@click.option("--retries", default=0, show_default=True, help="Retries for an unreadable verdict, with the next seed.")
@click.option("--partial", is_flag=True, help="Grade the replies in an unfinished log.")
@click.option("--prompts", help="Folder of grading templates that replace the packaged ones.")
@click.option("--no-cache", is_flag=True, help="Do not reuse cached verdicts.")
@click.option("--log-dir", help="Folder for the Inspect log with every verdict. Default: Inspect's.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also write the scores as JSON.")
def grade(
    logs: tuple[Path, ...], task: str, graders: tuple[str, ...], output: Path | None, no_cache: bool, **how: Any
) -> None:
    """Let judges score the replies in a log of lm-eval (samples_*.jsonl) or of Inspect (.eval).

    They are asked as in the benchmark's own run. Explanations that have a reference are compared with it in both orders
    (EXPAcc is the metric preferred).

    Verdicts are cached when they arrive. A second run requests only missing and unreadable ones.
    """
    from humor_tasks.benchmarks.judging import MISSING
    from humor_tasks.data.writing import check_output, write_json
    from humor_tasks.results.grade import grade, report_of

    check_output(output, *logs)
    if output and len(logs) > 1:
        raise BadInput("-o takes the scores of one log; the Inspect logs hold the scores of all.")
    for name, kind in (("temperature", float), ("seed", int)):
        how[name] = None if how[name] == "none" else _number(name, how[name], kind)
    for log in logs:
        graded = grade(log, task, graders, cache=not no_cache, **how)
        report = report_of(graded)
        if output:
            write_json(output, report.as_dict())
        click.echo(str(report))
        click.echo(f"Every verdict and its reasons: {graded.location}")
        if report.warning:
            click.echo(f"Beware: {report.warning}", err=True)
        if MISSING in report.metrics and report.metrics[MISSING].value == 1:
            raise BadInput(f"{log}: no grader gave a readable verdict; the log holds their replies.")


def _number(name: str, text: str, kind: type) -> Any:
    try:
        value = kind(text)
        if math.isfinite(value):
            return value
    except ValueError:
        pass
    raise BadInput(f"--{name} is '{text}'; it must be a number or none.")


@main.command("hard-subset")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Output file (JSON).")
@click.option("--size", default=100, show_default=True, type=click.IntRange(1), help="Number of rows in the subset.")
@click.option(
    "--min-attempts", default=3, show_default=True, type=click.IntRange(1), help="Minimum number of verdicts per row."
)
def hard_subset(logs: tuple[Path, ...], output: Path, size: int, min_attempts: int) -> None:
    """Write the rows with the lowest pass rate over the models of these graded logs, for subset=FILE."""
    from humor_tasks.data.writing import check_output, write_json
    from humor_tasks.results.analysis.hard_subset import hard_subset as make
    from humor_tasks.results.report.graded import read_graded

    check_output(output, *logs)
    if len({path.resolve() for path in logs}) < len(logs):
        raise BadInput("a log is given twice; give each log once.")
    made = make([read_graded(path) for path in logs], size, min_attempts)
    write_json(output, made)
    click.echo(f"{output}: {len(made['keys'])} rows, {made['note']}.")


@main.command("correct-for-judge")
@click.argument("judged", type=click.Path(path_type=Path))
@click.option("--labels", required=True, type=click.Path(path_type=Path), help="CSV with human PASS or FAIL.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def correct_for_judge(judged: Path, labels: Path, as_json: bool) -> None:
    """Correct a judged pass rate with human labels of a random sample of its rows.

    JUDGED is a graded log, or a CSV with the columns id (or idx and element), verdict and optionally cluster.
    """
    from humor_tasks.api import Report
    from humor_tasks.data.signature import Signature
    from humor_tasks.results.analysis.correct import correct, read_judged, read_labels

    rows = read_judged(judged)
    corrected = correct(rows, read_labels(labels, rows))
    about = {"judged": judged.name, "labels": labels.name, "without_verdict": corrected.without_verdict}
    report = Report(corrected.estimates(), Signature({**about, "humor_tasks": __version__}), ())
    click.echo(json.dumps(report.as_dict(), indent=2) if as_json else str(report))
    for warning in filter(None, (corrected.few, report.warning)):
        click.echo(f"Beware: {warning}", err=True)


@analyse.command()
@click.argument("systems", nargs=-1, required=True, metavar="NAME=FILE...")
@click.option("--dataset", help="Folder with task-1/ and task-2/, or 'sample'. Default: the public dataset.")
@click.option("--split", default="test", show_default=True, help="test, dev, train or train_funlines.")
@click.option("--embedding", help="sentence-transformers model or folder, or a text file of word vectors.")
@click.option(
    "--most",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    help="Maximum number of headlines in each list of largest errors.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also write the report (.md or .json).")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the figures (.png, .svg, .pdf).")
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

    FILE is an Inspect log, lm-eval's samples_*.jsonl or a submission's CSV, of humicroedit_rating or
    humicroedit_pairwise. For the analyses of pairs, a system's ratings are compared.
    """
    from humor_tasks.data.tables import echo
    from humor_tasks.data.writing import check_output
    from humor_tasks.results.analysis.humicroedit import analyse as compute
    from humor_tasks.results.analysis.humicroedit_plot import plot
    from humor_tasks.results.analysis.humicroedit_report import as_markdown, check_endings, write_report
    from humor_tasks.results.analysis.humicroedit_systems import open_embedding, read_corpus, read_systems

    check_endings(output, picture)
    check_output(output, *(system.partition("=")[2] for system in systems))
    corpus = read_corpus(split=split, **({"dataset": dataset} if dataset else {}))
    read = read_systems(systems, corpus)
    embed = open_embedding(embedding) if embedding else None
    found = compute(corpus.headlines, corpus.pairs, read, embed, most)
    if picture:
        plot(picture, found)
    if output:
        write_report(output, found)
    echo(as_markdown(found))


main.add_command(train)
main.add_command(build)
main.add_command(compare)
for _command in (
    analyse,
    annotate,
    audit,
    captions,
    collect,
    items,
    pairs,
    qualify,
    votes,
    agreement,
    describe,
    export_preferences,
    export_finetune,
    export_results,
    rank_captions,
    report,
    reproduce,
    rescore,
):
    main.add_command(_command)
