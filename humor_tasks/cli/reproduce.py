"""The commands `humor-tasks reproduce` and `humor-tasks rescore`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from humor_tasks.results.reproduce.recipes import Given
    from humor_tasks.results.reproduce.rows import Row
    from humor_tasks.results.reproduce.verdict import Verdict

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("row", required=False)
@click.option("--list", "listing", is_flag=True, help="List the rows: published values, and what each needs.")
@click.option("--all", "every", is_flag=True, help="Run every row that can run here.")
@click.option("--dataset", help="Dataset, or folder of datasets named as their cards. Default: the public corpus.")
@click.option("--predictions", type=_PATH, help="Score these predictions or this log in place of a model.")
@click.option("--model", help="Inspect model to run, such as clip/ViT-L-14-336/openai.")
@click.option("-T", "given", multiple=True, metavar="NAME=VALUE", help="Other task parameter than the published one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def reproduce(
    ctx: click.Context,
    row: str | None,
    listing: bool,
    every: bool,
    dataset: str | None,
    predictions: Path | None,
    model: str | None,
    given: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compute a published ROW and compare it with the published values.

    Exit status: 0 reproduced, 1 differs, 2 bad input, 3 cannot run here. A row of printed votes, which arithmetic
    cannot reproduce: 4 consistent, 5 inconsistent. With --all: 1 if any row differs, 3 if none can run.
    """
    from humor_tasks.results.reproduce.recipes import Given
    from humor_tasks.results.reproduce.rows import find_row, rows
    from humor_tasks.results.reproduce.verdict import EXIT
    from humor_tasks.results.reproduce.verdict import reproduce as compute

    if sum((row is not None, listing, every)) != 1:
        raise BadInput("name one row, or give --list or --all.")
    if row is None and (predictions or model or given):
        raise BadInput("--predictions, --model and -T are for one row; name it.")
    if listing:
        _list(list(rows().values()), as_json)
        return
    chosen = [find_row(row)] if row else list(rows().values())
    if row:
        _check(chosen[0], predictions, model, given)
    use = Given(dataset, model, predictions, _parameters(chosen[0], given))
    verdicts = [compute(each, use) for each in chosen]
    if as_json:
        click.echo(json.dumps([each.as_dict() for each in verdicts], indent=2))
    elif row:
        _show(verdicts[0], use)
    else:
        _table(verdicts)
    found = {each.status for each in verdicts}
    ctx.exit(next(code for status, code in EXIT.items() if status in found))


def _check(row: Row, predictions: Path | None, model: str | None, given: tuple[str, ...]) -> None:
    """Raise BadInput for an option that has no effect on the row."""
    if model and row.recipe != "model":
        raise BadInput(f"{row.name} runs no model; leave --model out.")
    if model and predictions:
        raise BadInput("give --model or --predictions, not both.")
    if given and row.recipe in ("labels", "votes", "people"):
        raise BadInput(f"{row.name} has no parameters; leave -T out.")


def _parameters(row: Row, given: tuple[str, ...]) -> dict[str, Any]:
    from humor_tasks.benchmarks import find_benchmark
    from humor_tasks.benchmarks.options import read_parameters

    return read_parameters(find_benchmark(row.benchmark).options, row.benchmark, _pairs(given))


def _pairs(given: tuple[str, ...]) -> list[tuple[str, str]]:
    found = []
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise BadInput(f"-T {each}: write -T NAME=VALUE.")
        found.append((name, value))
    return found


def _list(rows: list[Row], as_json: bool) -> None:
    from humor_tasks.cli.printing import echo
    from humor_tasks.data.tables import table

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
    figures = [{"metric": f.estimate, "value": f.value, "source": f.source} for f in row.figures]
    about = {"row": row.name, "benchmark": row.benchmark, "figures": figures, "tolerance": dict(row.tolerance)}
    needs = {"needs": row.needs, "retired": row.retired}
    return about | {"command": row.command, "parameters": dict(row.parameters), **needs}


def _show(verdict: Verdict, given: Given) -> None:
    row = verdict.row
    click.echo(f"{row.name}: {verdict.told}")
    for each in verdict.compared:
        click.echo(f"  {each}")
        if row.recipe in ("model", "predictions") and each.figure.n not in (None, each.here.n):
            click.echo(f"  published on n {each.figure.n}: these are other rows.")
    if verdict.changed:
        told = ", ".join(f"{name}={value}" for name, value in verdict.changed.items())
        click.echo(f"  with {told}: not the published rows or protocol.")
    click.echo(f"  system: {row.figures[0].system}")
    click.echo(f"  source: {'; '.join(dict.fromkeys(figure.source for figure in row.figures))}")
    click.echo(f"  command: {row.command}")
    click.echo(f"  needs: {'; '.join(row.needs) or 'nothing'}")


def _table(verdicts: list[Verdict]) -> None:
    from humor_tasks.cli.printing import echo
    from humor_tasks.data.tables import table

    lines = [
        (
            each.row.name,
            ", ".join(f"{c.figure.estimate} {c.figure.value:g}" for c in each.compared) or "-",
            ", ".join(f"{c.here.value:.5f}" for c in each.compared) or "-",
            each.told,
        )
        for each in verdicts
    ]
    counts = Counter(each.status for each in verdicts)
    echo(f"{table(('row', 'published', 'here', 'verdict'), lines)}\n\n")
    click.echo(
        f"{counts['reproduced']} rows reproduced, {counts['differs']} differ, {counts['cannot run here']} cannot run "
        f"here. Printed votes: {counts['consistent']} rows consistent, {counts['inconsistent']} inconsistent."
    )


@click.command()
@click.argument("logs", nargs=-1, required=True, type=_PATH)
@click.option(
    "-T", "given", multiple=True, metavar="NAME=VALUE", help="Score by another rule: extraction, on_unparsed or seed."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-o", "--output", type=_PATH, help="Write the scores and the outcome of every reply (.json).")
def rescore(logs: tuple[Path, ...], given: tuple[str, ...], as_json: bool, output: Path | None) -> None:
    """Compute every score of finished runs again from their LOGS, without a model or a grader.

    LOGS are Inspect logs (.eval, .json), lm-eval's samples, or folders of them; the parts of a run are one run. Without
    -T the scores are those of the logs.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.data.tables import safe, table
    from humor_tasks.data.writing import write_json
    from humor_tasks.results.reproduce.rescore import rescore as compute

    if output is not None and output.suffix != ".json":
        raise BadInput(f"-o {output}: give a file that ends with .json.")
    found, left_out = compute(logs, _pairs(given))
    if output is not None:
        if output.resolve() in {path.resolve() for each in found for path in each.result.paths}:
            raise BadInput(f"-o {output}: is a log; give another file.")
        write_json(output, [each.as_dict(items=True) for each in found])
    if as_json:
        click.echo(json.dumps([each.as_dict() for each in found], indent=2))
    for each in [] if as_json else found:
        lines = [(name, *(f"{value:.5f}" for value in values)) for name, *values in each.lines]
        rules = ", ".join(f"{name}={value}" for name, value in each.changed.items()) or "as logged"
        changed = sum(item.changed for item in each.items)
        echo(f"{safe(each.result.system)}, {each.result.benchmark.name}\n\n")
        echo(f"{table((each.result.scorer, 'logged', 'rescored', 'difference'), lines)}\n\n")
        click.echo(f"{len(each.items)} replies, {changed} scored differently; rules: {rules}.\n")
    for each in found:
        for note in each.result.notes:
            click.echo(f"Beware: {each.result.paths[0]}: {note}", err=True)
    for out in left_out:
        click.echo(f"Left out: {out.path}: {out.why}", err=True)
