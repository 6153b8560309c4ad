"""The command `humor-tasks train image-text`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.flags import ADAMW, LORA, MACHINE, OUTPUT, TaskOption, flags, read_rates, tasks_of
from humor_tasks.errors import BadInput

_MISSING = "training image-text models needs two extras: pip install 'humor-tasks[train,image-text]' ({})."


@click.command(name="image-text")
@click.option(
    "--task", cls=TaskOption, tasks=tasks_of("image_text"), help="Comma-separated. Default: {names}. Or describing."
)
@click.option("--model", required=True, help="Image-text model of transformers: a name on the hub or a folder.")
@click.option("--model-revision", help="Branch, tag or commit of a model on the hub.")
@click.option("--dataset", required=True, help="A folder of humor-tasks build mock, its hub id, or 'sample'.")
@click.option("--revision", help="Branch, tag or commit of a hub dataset.")
@click.option("--scene", required=True, help="cartoon, post, stills (both) or comedy.")
@click.option("--input", help="media (pictures and clips, default), frames or description.")
@click.option("--frames", type=int, help="Frames of a clip. Default: 8.")
@click.option("--prompts", help="Folder of templates that replace the packaged ones. Evaluate with the same.")
@OUTPUT
@click.option("--lr", help="Learning rates; the best on validation is kept. Default: 2e-5.")
@click.option("--warmup", type=float, help="Fraction of an epoch's steps. Default: 0.1.")
@flags(ADAMW)
@click.option("--clip-norm", type=float, help="Maximum gradient norm; 0: no limit. Default: 1.")
@click.option("--batch-size", type=int, help="Rows per step, over all devices. Default: 32.")
@click.option("--micro-batch", type=int, help="Maximum rows per device at once; memory only. Default: 4.")
@click.option("--epochs", type=int, help="Maximum number. Default: 3.")
@click.option("--validations", type=int, help="Validations per epoch. Default: 1.")
@click.option("--patience", type=int, help="Early stopping: validations without a lower loss; 0: off. Default: 2.")
@flags(LORA)
@flags(MACHINE)
def image_text(output: Path, no_progress: bool, lr: str | None, task: str | None, **given: Any) -> None:
    """Fine-tune an image-text model on sub-tasks of MOCK together (section 5.2: LLaVA and others, a scene each).

    The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train image-text ...` uses
    several devices. RUN/model is a checkpoint of transformers, which Inspect loads as image_text/RUN/model.
    """
    values = {name: value for name, value in given.items() if value is not None}
    if lr is not None:
        values["lr"] = read_rates(lr)
    if task is not None:
        values["task"] = tuple(task.split(","))
    try:
        from humor_tasks.training.image_text.config import ImageTextTrainConfig
        from humor_tasks.training.image_text.run import train

        metrics = train(ImageTextTrainConfig(**values), output, progress=not no_progress)
    except ModuleNotFoundError as problem:
        raise BadInput(_MISSING.format(problem)) from None
    click.echo(f"validation loss {metrics['best']:.5f}")
