"""The command `humor-tasks export-results`."""

from __future__ import annotations

import re
import time
from pathlib import Path

import click

from humor_tasks.errors import BadInput

_PATH = click.Path(path_type=Path)
URL = re.compile(r"https?://[!-~]+")
_RELATIONSHIPS = ["first_party", "third_party", "collaborative", "other"]


@click.command("export-results")
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option("--to", "form", required=True, type=click.Choice(["every-eval-ever", "hub"]), help="Form of the files.")
@click.option("-o", "--output", required=True, type=_PATH, help="Folder of the files.")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="SYSTEM=ORG/NAME",
    help="A system's name in the logs, as `report` prints it, and its model as the hub names it; repeatable.",
)
@click.option("--organization", help="every-eval-ever: who made the runs.")
@click.option(
    "--relationship",
    type=click.Choice(_RELATIONSHIPS),
    default="third_party",
    show_default=True,
    help="every-eval-ever: of that organization to the models.",
)
@click.option("--source-url", help="hub: address of the logs or of a description of the runs.")
def export_results(
    runs: tuple[Path, ...],
    form: str,
    output: Path,
    models: tuple[str, ...],
    organization: str | None,
    relationship: str,
    source_url: str | None,
) -> None:
    """Write results for Every Eval Ever or for the .eval_results of models on the Hugging Face hub.

    RUNS are Inspect logs (.eval, .json), lm-eval's samples or results, and folders of them. Runs of the packaged
    sample, of other rows than the benchmark's corpus and unfinished runs are left out, with the reason.
    """
    from humor_tasks.data.writing import encodable, write_text
    from humor_tasks.results import read_results
    from humor_tasks.results.export import choose, eval_schema, hub_results, read_models

    if output.exists() and not output.is_dir():
        raise BadInput(f"{output}: is a file; give a folder.")
    if source_url is not None and not URL.fullmatch(source_url):
        raise BadInput(f"--source-url {source_url!r}: give an address that begins with https:// or http://.")
    named = read_models(models)
    if form == "hub":
        published, left = choose(read_results(runs), named, hub_results.refusal)
        files = hub_results.files(published, source_url)
    elif organization and organization.strip():
        published, left = choose(read_results(runs), named)
        files = eval_schema.files(published, organization, relationship, time.time())
    else:
        raise BadInput("--organization is missing; Every Eval Ever asks who made the runs.")
    for path, text in files.items():
        write_text(output / path, encodable(text))
        click.echo(output / path)
    for each in left:
        click.echo(f"left out: {each.path}: {each.why}", err=True)
