"""`humor-tasks reproduce`: published rows, computed here and compared."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.cli.options import JSON, PARAMETERS, PATH, together
from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from humor_tasks.results.reproduce.rows import Row
    from humor_tasks.results.reproduce.verdict import Verdict


FITTING = 12  # rows that are named; beyond it, their count


@click.command()
@click.argument("row", required=False)
@click.option("--list", "listing", is_flag=True, help="List the rows: published values, and what each needs.")
@click.option("--all", "every", is_flag=True, help="Run every row that can run here.")
@click.option("--dataset", help="Dataset, or folder of datasets named as their cards. Default: the public corpus.")
@click.option("--predictions", type=PATH, help="Score these predictions or this log in place of a model.")
@click.option("--items", type=PATH, help="File of the items that the votes in --predictions are on.")
@click.option("--model", metavar="MODEL", help="Inspect model to run, such as clip/ViT-L-14-336/openai.")
@together(PARAMETERS, JSON)
@click.pass_context
def reproduce(
    ctx: click.Context,
    row: str | None,
    listing: bool,
    every: bool,
    dataset: str | None,
    predictions: Path | None,
    items: Path | None,
    model: str | None,
    parameters: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compute a published ROW and compare it with the published values.

    Exit status: 0 reproduced, 1 differs, 2 bad input, 3 cannot run here, 6 not the published rows. A row of printed
    votes, which arithmetic cannot reproduce: 4 consistent, 5 inconsistent. With --all: 1 if any row differs, else 6 if
    any has other rows, 3 if none can run.
    """
    from humor_tasks.benchmarks import find_benchmark
    from humor_tasks.contract.options import read_parameters
    from humor_tasks.parameters import name_and_value
    from humor_tasks.results.reproduce.recipes import Given
    from humor_tasks.results.reproduce.rows import find_row, rows
    from humor_tasks.results.reproduce.verdict import EXIT
    from humor_tasks.results.reproduce.verdict import reproduce as compute

    if sum((row is not None, listing, every)) != 1:
        raise BadInput("name one row, or give --list or --all.")
    if row is None and (predictions or items or model or parameters):
        raise BadInput("--predictions, --items, --model and -T are for one row; name it.")
    if listing:
        _print_list(list(rows().values()), as_json)
        return
    chosen = [find_row(row)] if row else list(rows().values())
    if row:
        _check_options(chosen[0], predictions, items, model, parameters)
    benchmark = chosen[0].benchmark
    pairs = [name_and_value(text) for text in parameters]
    changed = read_parameters(find_benchmark(benchmark).options, benchmark, pairs)
    use = Given(dataset, model, predictions, changed, *(_votes(predictions, items) if predictions and items else ()))
    verdicts = [compute(published, use) for published in chosen]
    if as_json:
        click.echo(json.dumps([verdict.as_dict() for verdict in verdicts], indent=2))
    elif row:
        _print_verdict(verdicts[0])
    else:
        _print_table(verdicts)
    statuses = {verdict.status for verdict in verdicts}
    ctx.exit(next(code for status, code in EXIT.items() if status in statuses))


def _votes(votes: Path, items: Path) -> tuple[Any, list[dict[str, Any]]]:
    """The report of `people agreement` on these votes, and the rows of the file of items."""
    from humor_tasks.files.reading import read_body
    from humor_tasks.studies.people import agreement_report
    from humor_tasks.studies.people.agreement import read_questions
    from humor_tasks.studies.people.vote_files import read_json_rows

    report = agreement_report.as_json(agreement_report.analyse(read_questions([votes], [items])))
    return json.loads(report), [row for _, row in read_json_rows(items, read_body(items))]


def _check_options(
    row: Row, predictions: Path | None, items: Path | None, model: str | None, parameters: tuple[str, ...]
) -> None:
    """Raise BadInput for an option that has no effect on the row."""
    if model and row.recipe != "model":
        raise BadInput(f"{row.name} runs no model; leave --model out.")
    if model and predictions:
        raise BadInput("give --model or --predictions, not both.")
    report = row.recipe == "agreement" and predictions is not None and predictions.suffix == ".json"
    votes = predictions if row.recipe in ("agreement", "people") and not report else None
    if votes and votes.is_file() and not items:
        raise BadInput(f"{votes}: --items is missing, the file of items that the votes are on.")
    if items and not votes:
        raise BadInput("--items goes with votes on a row of people; leave it out.")
    if parameters and row.recipe in ("labels", "votes", "people", "agreement"):
        raise BadInput(f"{row.name} has no parameters; leave -T out.")


def _print_list(rows: list[Row], as_json: bool) -> None:
    from humor_tasks.cli.printing import echo
    from humor_tasks.files.tables import table

    if as_json:
        click.echo(json.dumps([_row(row) for row in rows], indent=2))
        return
    lines = [
        (
            row.name,
            ", ".join(f"{figure.estimate} {figure.value:g}" for figure in row.figures),
            ", ".join(f"{value:g}" for value in dict.fromkeys(row.tolerance.values())),
            "; ".join(row.needs) or "-",
        )
        for row in rows
    ]
    echo(f"{table(('row', 'published', 'tolerance', 'needs'), lines)}\n")


def _row(row: Row) -> dict[str, Any]:
    from humor_tasks.results.reproduce.rows import BASES

    return {
        "row": row.name,
        "benchmark": row.benchmark,
        "figures": [{"metric": f.estimate, "value": f.value, "source": f.source} for f in row.figures],
        "tolerance": dict(row.tolerance),
        "basis": BASES[row.basis],
        "command": row.command,
        "parameters": dict(row.parameters),
        "needs": row.needs,
        "retired": row.retired,
    }


def _print_verdict(verdict: Verdict) -> None:
    from humor_tasks.results.reproduce.rows import BASES

    row = verdict.row
    click.echo(f"{row.name}: {verdict.sentence}")
    for figure in verdict.compared:
        click.echo(f"  {figure}")
    if verdict.compared:
        click.echo(f"  tolerance: {BASES[row.basis]}")
    if verdict.signature:
        click.echo(f"  signature: {verdict.signature}")
    if verdict.fits:
        shown, more = verdict.fits[:FITTING], len(verdict.fits) - FITTING
        click.echo(f"  the same score fits {', '.join(shown)}{f' and {more} more rows' if more > 0 else ''}")
    if verdict.changed:
        changes = ", ".join(f"{name}={value}" for name, value in verdict.changed.items())
        click.echo(f"  with {changes}: not as published.")
    click.echo(f"  system: {row.figures[0].system}")
    click.echo(f"  source: {'; '.join(dict.fromkeys(figure.source for figure in row.figures))}")
    click.echo(f"  command: {row.command}")
    click.echo(f"  needs: {'; '.join(row.needs) or 'nothing'}")


def _print_table(verdicts: list[Verdict]) -> None:
    from humor_tasks.cli.printing import echo
    from humor_tasks.files.tables import table

    lines = [
        (
            verdict.row.name,
            ", ".join(f"{c.figure.estimate} {c.figure.value:g}" for c in verdict.compared) or "-",
            ", ".join(f"{c.here.value:.5f}" for c in verdict.compared) or "-",
            verdict.sentence,
        )
        for verdict in verdicts
    ]
    counts = Counter(verdict.status for verdict in verdicts)
    echo(f"{table(('row', 'published', 'here', 'verdict'), lines)}\n\n")
    click.echo(
        f"{counts['reproduced']} rows reproduced, {counts['differs']} differ, {counts['not the published rows']} have "
        f"other rows, {counts['cannot run here']} cannot run here. Printed votes: {counts['consistent']} rows "
        f"consistent, {counts['inconsistent']} inconsistent."
    )
