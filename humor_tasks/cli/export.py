"""`humor-tasks export`: submissions, results for other places, and rows to train other people's models with."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.cli.options import (
    DATASET,
    PARAMETERS,
    PATH,
    PROMPTS,
    REVISION,
    RUNS,
    SETTING,
    TASK,
    Declares,
    Group,
    TaskOption,
    log_of,
    output,
    tasks_of,
    together,
)
from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from humor_tasks.results import LeftOut, Result
    from humor_tasks.results.export import Published

URL = re.compile(r"https?://[!-~]+")
_RELATIONSHIPS = ["first_party", "third_party", "collaborative", "other"]
_SPLITS = ["train", "validation", "test"]
_MODELS = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="SYSTEM=ORG/NAME",
    help="A system's name in the logs, as `report` prints it, and its model as the hub names it; repeatable.",
)


@click.group(cls=Group)
def export() -> None:
    """Write results and rows in the forms of other places."""


@export.command()
@click.argument("run", type=PATH)
@click.option("--fill", help="Letter or number for instances without an answer, or 'random'. Default: error.")
@click.option("--seed", default=1234, type=click.IntRange(0), help="Seed of --fill random.")
@output("the submission (.json, or .csv for Humicroedit)", required=True)
def submission(run: Path, output: Path, fill: str | None, seed: int) -> None:
    """Write a submission from an Inspect log or lm-eval samples.

    Caption contest: {instance_id: letter} as JSON. Humicroedit: the organisers' CSV with id and pred.
    """
    from humor_tasks.benchmarks import BENCHMARKS
    from humor_tasks.files.writing import check_output, write_json
    from humor_tasks.results.submission import complete, predictions, read_answers, write_predictions

    log = log_of(BENCHMARKS, run)
    check_output(output, log)
    logged = read_answers(log)
    if logged.subtask:
        numbers = predictions(logged, fill, seed, str(log))
        write_predictions(output, numbers)
        click.echo(f"{output}: {len(numbers)} {'headlines' if logged.subtask == 'rating' else 'pairs'}.")
        return
    letters = complete(logged.answers, logged.letters, fill, seed, str(log))
    write_json(output, letters)
    click.echo(f"{output}: {len(letters)} instances (the leaderboard has 830 for matching, 664 for ranking).")


# ---- results ------------------------------------------------------------------------------------


@export.command("eval-schema")
@together(RUNS, _MODELS)
@click.option("--organization", help="Who made the runs.")
@click.option(
    "--relationship",
    type=click.Choice(_RELATIONSHIPS),
    default="third_party",
    help="Of that organization to the models.",
)
@click.option("--samples", is_flag=True, help="Also every prompt, reply and target. They publish rows of the corpus.")
@output("a folder of records", required=True)
def every_eval_ever(
    runs: tuple[Path, ...],
    output: Path,
    models: tuple[str, ...],
    organization: str | None,
    relationship: str,
    samples: bool,
) -> None:
    """Write results for Every Eval Ever.

    RUNS are Inspect logs (.eval, .json), lm-eval's samples or results, and folders of them. Runs of the packaged
    sample, of other rows than the benchmark's corpus and unfinished runs are left out, with the reason.
    """
    from humor_tasks.results.export import eval_samples, eval_schema

    if not (organization and organization.strip()):
        raise BadInput("--organization is missing; Every Eval Ever asks who made the runs.")
    published, left = _published(runs, output, models)
    folder = output if samples else None
    files = eval_schema.files(published, organization, relationship, time.time(), folder)
    for path in map(eval_samples.beside, files):
        if samples:
            click.echo(output / path)
        else:
            (output / path).unlink(missing_ok=True)  # of an earlier export; the record no longer names it
    _write_files(output, files, left)


@export.command()
@together(RUNS, _MODELS)
@click.option("--source-url", metavar="URL", help="Address of the logs or of a description of the runs.")
@output("a folder of .eval_results", required=True)
def hub(runs: tuple[Path, ...], output: Path, models: tuple[str, ...], source_url: str | None) -> None:
    """Write results for the .eval_results of models on the Hugging Face hub.

    RUNS, and what is left out, are those of `humor-tasks export eval-schema`.
    """
    from humor_tasks.results.export import hub_results

    if source_url is not None and not URL.fullmatch(source_url):
        raise BadInput(f"--source-url {source_url!r}: give an address that begins with https:// or http://.")
    published, left = _published(runs, output, models, hub_results.refusal)
    _write_files(output, hub_results.files(published, source_url), left)


def _published(
    runs: tuple[Path, ...], output: Path, models: tuple[str, ...], refuses: Callable[[Result], str] = lambda _: ""
) -> tuple[list[Published], list[LeftOut]]:
    from humor_tasks.results import read_results
    from humor_tasks.results.export import choose, read_models

    if output.exists() and not output.is_dir():
        raise BadInput(f"{output}: is a file; give a folder.")
    named = read_models(models)
    return choose(read_results(runs), named, refuses)


def _write_files(output: Path, files: Mapping[Any, str], left: Iterable[LeftOut]) -> None:
    from humor_tasks.files.writing import encodable, write_text

    for path, text in files.items():
        write_text(output / path, encodable(text))
        click.echo(output / path)
    for file in left:
        click.echo(f"left out: {file.path}: {file.why}", err=True)


@export.command("benchmark-card")
@click.argument("task")
@output("the card (.json)", required=True)
def benchmark_card(task: str, output: Path) -> None:
    """Write a benchmark's card in the form of BenchmarkCards, as JSON.

    A field that the benchmark's card cannot fill says why.
    """
    from humor_tasks.benchmarks import find_benchmark
    from humor_tasks.files.writing import write_json
    from humor_tasks.results.export import benchmark_card

    write_json(output, benchmark_card.benchmark_card(find_benchmark(task, "TASK")))
    click.echo(output)


@export.command()
@click.argument("folder", type=PATH)
def croissant(folder: Path) -> None:
    """Write croissant.json, a dataset's metadata in MLCommons' format, into the dataset FOLDER.

    `humor-tasks build` and `describe` write it themselves. This is for a folder that was changed or built before.
    """
    from humor_tasks.lab.corpora.croissant import FILE, write_croissant

    write_croissant(folder)
    click.echo(folder / FILE)


# ---- rows for training --------------------------------------------------------------------------


@export.command(cls=Declares, settings="humor_tasks.lab.training.preferences.settings:CrowdSettings", after="crowd")
@click.option("--task", cls=TaskOption, tasks=tasks_of("preferences"), only=True, help="Rows of this benchmark.")
@click.option("--dataset", help="For --task: hub id, dataset folder or 'sample'. Default: the public corpus.")
@click.option("--revision", help="For --task: branch, tag or commit of a hub dataset.")
@click.option("--fold", help="For --task: 0..4. Default: 0.")
@click.option("--setting", help="For --task: description or caption_only. Default: description.")
@PARAMETERS
@click.option("--crowd", type=PATH, help="Folder with NUMBER.csv: captions with the crowd's ratings.")
@click.option("--split", "splits", multiple=True, type=click.Choice(_SPLITS), help="Repeatable. Default: all.")
@click.option(
    "--format",
    "form",
    default="conversational",
    type=click.Choice(["standard", "conversational"]),
    help="TRL's format: texts, or messages.",
)
@PROMPTS
@output("a new folder, or a new .jsonl file for one split", required=True)
def preferences(
    task: str | None,
    parameters: tuple[str, ...],
    crowd: Path | None,
    splits: tuple[str, ...],
    form: str,
    prompts: str | None,
    output: Path,
    given: dict[str, Any],
    **of_task: Any,
) -> None:
    """Write prompt, chosen and rejected captions in TRL's preference format, for DPO and reward models.

    The source is --task ranking (the better caption of each row) or --crowd FOLDER (pairs of a contest's captions whose
    mean ratings are more than three standard errors apart, Zhang et al. 2024). Templates of --prompts: write.txt and
    write.caption_only.txt.
    """
    if bool(task) == bool(crowd):
        raise BadInput(f"name one source: --task {' or '.join(tasks_of('preferences')())} or --crowd FOLDER.")
    foreign = [*given] if task else [name for name, value in of_task.items() if value is not None]
    foreign += ["T"] if crowd and parameters else []
    if foreign:
        raise BadInput(f"--{foreign[0]} does not apply to {'--task' if task else '--crowd'}; leave it out.")
    from humor_tasks.benchmarks.caption_contest.corpus import CaptionPrompt
    from humor_tasks.lab.training.preferences.rows import check_place, write_preferences

    check_place(output, splits)
    prompt = CaptionPrompt.read(prompts)
    if task:
        from humor_tasks.lab.training.preferences.rows import row_preferences

        source = row_preferences(task, splits, parameters, **of_task)
    elif crowd:
        from humor_tasks.lab.training.preferences.crowd import crowd_preferences
        from humor_tasks.lab.training.preferences.settings import CrowdSettings

        source = crowd_preferences(crowd, CrowdSettings(**given))
    chosen = source.only(splits)
    write_preferences(output, chosen, prompt, form)
    for warning in chosen.warnings:
        click.echo(f"Warning: {warning}.", err=True)
    for name, text in chosen.facts.items():
        click.echo(f"{name}: {text}")
    for split, rows in chosen.rows.items():
        click.echo(f"{split}: {len(rows):,} rows of {len({row.facts['contest'] for row in rows}):,} contests")
    click.echo(f"{output}: {form} preferences.")


@export.command()
@together(TASK, SETTING)
@click.option("--fold", help="Caption contest: cross-validation fold 0..4. Default: 0.")
@together(DATASET, REVISION, PROMPTS, PARAMETERS)
@click.option("--joined", is_flag=True, help="One file of train and validation rows, as in the paper.")
@output("a folder", required=True)
def finetune(task: str, parameters: tuple[str, ...], joined: bool, output: Path, **options: Any) -> None:
    """Write a task's train and validation rows as chat examples for hosted fine-tuning.

    The rows are checked before anything is written. The provider's own tools upload the files and start the job: see
    docs/finetuning.md.
    """
    from humor_tasks.lab.training.hosted import make_export, write_export
    from humor_tasks.papers.published import published

    export = make_export(task, parameters, options, joined)
    write_export(output, export)
    for file in export.files:
        click.echo(f"{output / file.name}: {file}.")
        if file.warning:
            click.echo(f"Warning: {file.warning}.", err=True)
    for figure in published(task, "export finetune"):
        click.echo(f"Published cost: {figure.value:g} US dollars ({figure.system}; {figure.source}).")
    click.echo(f"Evaluate the fine-tuned MODEL with:\n{export.evaluation}")
