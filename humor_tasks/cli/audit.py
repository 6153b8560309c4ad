"""`humor-tasks audit`: checks of a dataset."""

from __future__ import annotations

from pathlib import Path

import click

from humor_tasks.cli.options import JSON, PARAMETERS, output, together
from humor_tasks.errors import BadInput, check_choice


@click.command()
@click.argument("dataset")
@click.option("--task", help="Benchmark whose loader reads DATASET, such as matching. Default: read named columns.")
@PARAMETERS
@click.option("--config", "configs", multiple=True, help="Config, or folder, of a dataset without --task; repeatable.")
@click.option("--split", "splits", multiple=True, help="Split; repeatable. Default: all.")
@click.option("--choices", metavar="COLUMNS", help="Column of a list of choices, or columns of one each, with commas.")
@click.option("--answer", metavar="COLUMN", help="Column of answers: letters, numbers, the choice's text, yes or no.")
@click.option("--text", metavar="COLUMN", help="Column of the text that is rated or asked about.")
@click.option("--context", metavar="COLUMNS", help="Columns of the scene as text, with commas.")
@click.option("--group", metavar="COLUMN", help="Column of the unit that rows share, such as a contest's number.")
@click.option("--id", "identity", metavar="COLUMN", help="Column of the rows' ids.")
@click.option("--image", metavar="COLUMN", help="Column of pictures or their paths.")
@click.option("--embedding", metavar="MODEL", help="Also measure this sentence-transformers model or folder.")
@click.option("--quality", metavar="FOLDER", help="Also measure this caption-only quality model.")
@click.option("--against", multiple=True, metavar="DATASET", help="File or folder with texts to look for; repeatable.")
@click.option(
    "--fail-on",
    multiple=True,
    metavar="KIND",
    help="Exit with 1 for findings of this kind; repeatable. 'none': never. Default: for every error.",
)
@together(JSON, output("a folder with the page (index.html) and audit.json"))
def audit(
    dataset: str,
    task: str | None,
    parameters: tuple[str, ...],
    configs: tuple[str, ...],
    splits: tuple[str, ...],
    identity: str | None,
    embedding: str | None,
    quality: str | None,
    against: tuple[str, ...],
    fail_on: tuple[str, ...],
    as_json: bool,
    output: Path | None,
    **columns: str | None,
) -> None:
    """Check a dataset for shortcuts, imbalance, repetitions and leaks between splits.

    DATASET holds choices, yes or no, or ratings. With --task it is a folder, a hub id or 'sample'; without, a JSONL,
    JSON, CSV, TSV or parquet file, a folder of such files, or a hub id, whose columns are named or recognised. Ends
    with 1 when something is wrong; docs/audit.md lists the kinds of findings.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.lab.corpora.audit.auditing import audit as check
    from humor_tasks.lab.corpora.audit.items import KINDS, fails
    from humor_tasks.lab.corpora.audit.opening import open_items
    from humor_tasks.lab.corpora.audit.output import as_json as json_of
    from humor_tasks.lab.corpora.audit.output import as_markdown, check_folder, write_audit
    from humor_tasks.lab.corpora.audit.shortcuts import open_choosers

    for kind in fail_on:
        check_choice("--fail-on", kind, [*KINDS, "none"])
    if "none" in fail_on and len(fail_on) > 1:
        raise BadInput("--fail-on none excludes other kinds.")
    if output:
        check_folder(output, [dataset, *against])
    data = open_items(dataset, task, parameters, configs, splits, {**columns, "id": identity})
    done = check(data, open_choosers(embedding, quality), against)
    if output:
        write_audit(output, done)
    if as_json:
        click.echo(json_of(done), nl=False)
    else:
        echo(as_markdown(done))
    if fails(done.findings, fail_on):
        click.get_current_context().exit(1)
