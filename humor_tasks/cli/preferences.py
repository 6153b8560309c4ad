"""The command `humor-tasks export-preferences`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.flags import TaskOption, tasks_of
from humor_tasks.errors import BadInput

_PATH = click.Path(path_type=Path)
SPLITS = ("train", "validation", "test")
_OF_TASK = ("dataset", "revision", "fold", "setting")
_OF_CROWD = ("annotations", "contests", "exclude", "test", "validation", "pairs", "seed", "distinct")


@click.command("export-preferences")
@click.option("--task", cls=TaskOption, tasks=tasks_of("preferences"), only=True, help="Rows of this benchmark.")
@click.option("--dataset", help="For --task: hub id, dataset folder or 'sample'. Default: the public corpus.")
@click.option("--revision", help="For --task: branch, tag or commit of a hub dataset.")
@click.option("--fold", help="For --task: 0..4. Default: 0.")
@click.option("--setting", help="For --task: description or caption_only. Default: description.")
@click.option("-T", "given", multiple=True, metavar="NAME=VALUE", help="For --task: task parameter; repeatable.")
@click.option("--crowd", type=_PATH, help="Folder with NUMBER.csv: captions with the crowd's ratings.")
@click.option("--annotations", type=_PATH, help="For --crowd: JSON with descriptions. Default: no scene in prompts.")
@click.option("--contests", help="For --crowd: only these, such as 530-620,655. Default: all in the folder.")
@click.option("--exclude", help="For --crowd: none of these contests.")
@click.option("--test", help="For --crowd: the test split's contests, or none. Default: the 91 held out as published.")
@click.option("--validation", type=click.FloatRange(0, 1), help="For --crowd: share of the other contests. [0.1]")
@click.option("--pairs", type=click.IntRange(1), help="For --crowd: pairs per contest. [1000]")
@click.option("--seed", type=click.IntRange(0), help="For --crowd: seed of draws and splits. [2024]")
@click.option("--distinct", is_flag=True, default=None, help="For --crowd: no pair comes twice.")
@click.option("--split", "splits", multiple=True, type=click.Choice(SPLITS), help="Repeatable. Default: all.")
@click.option(
    "--format",
    "form",
    default="conversational",
    show_default=True,
    type=click.Choice(["standard", "conversational"]),
    help="TRL's format: texts, or messages.",
)
@click.option("--prompts", help="Folder whose write.txt and write.caption_only.txt replace the packaged ones.")
@click.option("-o", "--output", required=True, type=_PATH, help="New folder, or new .jsonl file for one split.")
def export_preferences(
    task: str | None,
    given: tuple[str, ...],
    crowd: Path | None,
    splits: tuple[str, ...],
    form: str,
    prompts: str | None,
    output: Path,
    **options: Any,
) -> None:
    """Write prompt, chosen and rejected captions in TRL's preference format, for DPO and reward models.

    The source is --task ranking (the better caption of each row) or --crowd FOLDER (pairs of a contest's captions whose
    mean ratings are more than three standard errors apart, Zhang et al. 2024).
    """
    _check_options(task, crowd, given, options)
    from humor_tasks.benchmarks.caption_contest.corpus import CaptionPrompt
    from humor_tasks.training.preferences.writing import check_place, write_preferences

    output = output.expanduser()
    check_place(output, splits)
    prompt = CaptionPrompt.read(prompts)
    if task:
        from humor_tasks.training.preferences.rows import row_preferences

        made = row_preferences(task, splits, given, **{name: options[name] for name in _OF_TASK})
    else:
        made = _of_crowd(Path(str(crowd)), {name: options[name] for name in _OF_CROWD if options[name] is not None})
    made = made.only(splits)
    write_preferences(output, made, prompt, form)
    for warning in made.warnings:
        click.echo(f"Beware: {warning}.", err=True)
    for name, text in made.facts.items():
        click.echo(f"{name}: {text}")
    for split, rows in made.rows.items():
        click.echo(f"{split}: {len(rows):,} rows of {len({row.facts['contest'] for row in rows}):,} contests")
    click.echo(f"{output}: {form} preferences.")


def _check_options(task: str | None, crowd: Path | None, given: tuple[str, ...], options: dict[str, Any]) -> None:
    """Raise BadInput without exactly one source, and for an option of the other one."""
    if bool(task) == bool(crowd):
        raise BadInput(f"name one source: --task {' or '.join(tasks_of('preferences')())} or --crowd FOLDER.")
    foreign = _OF_CROWD if task else _OF_TASK
    wrong = [name for name in foreign if options[name] is not None] + (["T"] if crowd and given else [])
    if wrong:
        raise BadInput(f"--{wrong[0]} does not apply to {'--task' if task else '--crowd'}; leave it out.")


def _of_crowd(folder: Path, options: dict[str, Any]) -> Any:
    from humor_tasks.data.contests.source import HELD_OUT, numbers
    from humor_tasks.training.preferences.crowd import Choice, crowd_preferences

    choice = Choice(
        numbers(options["contests"], "--contests") if "contests" in options else None,
        numbers(options.get("exclude"), "--exclude"),
        numbers(options["test"], "--test") if "test" in options else frozenset(HELD_OUT),
        options.get("validation", 0.1),
    )
    return crowd_preferences(
        folder,
        options.get("annotations"),
        choice,
        options.get("pairs", 1000),
        options.get("seed", 2024),
        options.get("distinct", False),
    )
