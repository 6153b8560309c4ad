"""`humor-tasks score`, `rescore` and `parameters`: scores of predictions, and of finished runs again."""

from __future__ import annotations

import json
from pathlib import Path

import click

from humor_tasks.cli.options import (
    DATASET,
    FOLD,
    JSON,
    PARAMETERS,
    PATH,
    RUNS,
    SETTING,
    SPLIT,
    TASK,
    output,
    together,
)
from humor_tasks.errors import BadInput


@click.command()
@click.argument("predictions", type=PATH)
@together(TASK, DATASET, SPLIT, FOLD, SETTING, PARAMETERS, JSON)
def score(predictions: Path, task: str, parameters: tuple[str, ...], as_json: bool, **options: str | None) -> None:
    """Score a file of predictions.

    PREDICTIONS are {instance_id: reply} as JSON, records as JSON lines, or CSV with id and pred.
    """
    from humor_tasks.api import evaluate
    from humor_tasks.logs.predictions import read_predictions
    from humor_tasks.parameters import opened

    run = opened(task, parameters, **options)
    replies = read_predictions(predictions, run.form.from_submission)
    try:
        report = evaluate(run, replies)
    except BadInput as problem:
        raise BadInput(f"{predictions}: {problem}") from None
    click.echo(json.dumps(report.as_dict(), indent=2) if as_json else str(report))
    if report.warning:
        click.echo(f"Warning: {report.warning}", err=True)


@click.command()
@together(RUNS, PARAMETERS, JSON, output("the scores and the outcome of every reply (.json)"))
def rescore(runs: tuple[Path, ...], parameters: tuple[str, ...], as_json: bool, output: Path | None) -> None:
    """Score finished runs again from their logs, without a model or a grader.

    RUNS are Inspect logs (.eval, .json), lm-eval's samples, or folders of them; the parts of a run are one run. Without
    -T the scores are those of the logs; -T sets another rule: extraction, on_unparsed, seed or thinking.
    """
    from humor_tasks.cli.printing import echo, echo_notes
    from humor_tasks.files.tables import safe, table
    from humor_tasks.files.writing import write_json
    from humor_tasks.parameters import name_and_value
    from humor_tasks.results.reproduce.rescore import rescore as compute

    if output is not None and output.suffix != ".json":
        raise BadInput(f"-o {output}: give a file that ends with .json.")
    rescored, left_out = compute(runs, [name_and_value(text) for text in parameters])
    if output is not None:
        if output.resolve() in {path.resolve() for run in rescored for path in run.result.paths}:
            raise BadInput(f"-o {output}: is a log; give another file.")
        write_json(output, [run.as_dict(items=True) for run in rescored])
    if as_json:
        click.echo(json.dumps([run.as_dict() for run in rescored], indent=2))
    for run in [] if as_json else rescored:
        lines = [(name, *(f"{value:.5f}" for value in values)) for name, *values in run.lines]
        rules = ", ".join(f"{name}={value}" for name, value in run.changed.items()) or "as logged"
        changed = sum(item.changed for item in run.items)
        echo(f"{safe(run.result.system)}, {run.result.benchmark.name}\n\n")
        echo(f"{table((run.result.scorer, 'logged', 'rescored', 'difference'), lines)}\n\n")
        click.echo(f"{len(run.items)} replies, {changed} scored differently; rules: {rules}.\n")
    echo_notes((run.result for run in rescored), left_out)


@click.command()
@click.argument("task", required=False)
def parameters(task: str | None) -> None:
    """Print the parameters of TASK, or of all tasks, as Markdown tables."""
    from humor_tasks.parameters import tables

    click.echo(tables(task), nl=False)
