"""The command `humor-tasks export-finetune`: training files for hosted fine-tuning, and the fine-tuning itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.errors import BadInput

_PATH = click.Path(path_type=Path)


@click.command("export-finetune")
@click.option("--task", required=True, help="matching, ranking, explanation or a mock_* task.")
@click.option("--setting", help="description or caption_only. Default: description.")
@click.option("--fold", help="Caption contest: cross-validation fold 0..4. Default: 0.")
@click.option("--dataset", help="Hub id, dataset folder or 'sample'. Default: the public corpus.")
@click.option("--revision", help="Branch, tag or commit of a hub dataset.")
@click.option("--prompts", help="Folder of template files, which replace the packaged ones.")
@click.option("-T", "given", multiple=True, metavar="NAME=VALUE", help="Task parameter; repeatable.")
@click.option("--joined", is_flag=True, help="One file of train and validation rows, as in the paper.")
@click.option("--model", help="Model to train, such as gpt-4.1-mini-2025-04-14. Default: checked for all.")
@click.option("--limits", "table", type=_PATH, help="TOML file of other limits and prices. Default: packaged.")
@click.option("--n-epochs", "--epochs", "n_epochs", type=click.IntRange(1, 50), help="Default: the provider's choice.")
@click.option("--submit", is_flag=True, help="Upload the files, start the job and follow it. This costs money.")
@click.option("--suffix", help="With --submit: text in the new model's name.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="With --submit: seed of the job.")
@click.option("--base-url", help="With --submit: base URL of the API. Default: OPENAI_BASE_URL, or OpenAI's.")
@click.option("--retry-failed", is_flag=True, help="With --submit: start a new job after one that failed.")
@click.option("-o", "--output", required=True, type=_PATH, help="The folder to write.")
def export_finetune(
    task: str,
    given: tuple[str, ...],
    joined: bool,
    model: str | None,
    table: Path | None,
    n_epochs: int | None,
    submit: bool,
    suffix: str | None,
    seed: int | None,
    base_url: str | None,
    retry_failed: bool,
    output: Path,
    **named: Any,
) -> None:
    """Write a task's train and validation rows as chat examples for hosted fine-tuning, and optionally fine-tune.

    The files are checked against the provider's documented limits, and their tokens and cost are estimated. With
    --submit they are uploaded, and one job is started and followed; the same command goes on after an interruption and
    pays for nothing twice. OPENAI_API_KEY is needed for --submit only.
    """
    from humor_tasks.training.hosted.export import costs, make_export, write_export
    from humor_tasks.training.hosted.limits import open_counter, read_limits

    limits = read_limits(table)
    alone = {"--suffix": suffix, "--seed": seed, "--base-url": base_url, "--retry-failed": retry_failed or None}
    _check_options(submit, model, limits.most_suffix, alone)
    models = [limits.model(model)] if model else list(limits.models.values())
    if len({each.encoding for each in models}) > 1:
        raise BadInput(f"{table}: its models have different vocabularies; choose one by --model.")
    counter = open_counter(models[0].encoding)
    export = make_export(task, given, named, joined, limits, models, counter)
    write_export(output, export)
    for file in export.files:
        click.echo(f"{output / file.name}: {file.rows:,} rows, {file.tokens:,} tokens.")
    if not counter.exact:
        click.echo(
            f"Tokens are estimated at 4 characters each, not counted: tiktoken cannot load {counter.name} "
            f"({counter.problem}). Run once with a connection, or set TIKTOKEN_CACHE_DIR to a folder that has it."
        )
    click.echo(costs(export, models, n_epochs))
    if limits.notice:
        click.echo(limits.notice)
    if submit and model:
        from humor_tasks.training.hosted.submit import RESULT, JobRequest
        from humor_tasks.training.hosted.submit import submit as start

        result = start(output, export, JobRequest(model, n_epochs, seed, suffix), base_url, retry_failed, click.echo)
        tokens = result["trained_tokens"]
        click.echo(f"{output / RESULT}: {result['model']}" + (f", {tokens:,} tokens trained." if tokens else "."))
        click.echo(result["evaluate"])


def _check_options(submit: bool, model: str | None, most_suffix: int, alone: dict[str, Any]) -> None:
    """Raise BadInput for options that do not go together; `alone`: those of --submit, None where not given."""
    if submit and not model:
        raise BadInput("--submit: name the model to train by --model.")
    suffix = alone["--suffix"]
    if suffix is not None and not 1 <= len(suffix) <= most_suffix:
        raise BadInput(f"--suffix has {len(suffix)} characters; the provider takes 1 to {most_suffix}.")
    if not submit and (lone := [name for name, value in alone.items() if value is not None]):
        raise BadInput(f"{lone[0]} is for --submit.")
