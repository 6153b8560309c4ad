"""The command `humor-tasks train ofa`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.flags import ADAMW, CONTEST, MACHINE, OUTPUT, TaskOption, flags, read_rates, tasks_of
from humor_tasks.errors import BadInput

_MISSING = "training OFA needs the extras 'train' and 'ofa': pip install 'humor-tasks[train,ofa]' ({})."


@click.command()
@click.option("--pretrained", required=True, help="A checkpoint's folder, or OWNER/NAME of the hub.")
@click.option("--model-revision", help="Branch, tag or commit of a checkpoint on the hub.")
@flags(CONTEST)
@click.option(
    "--task",
    cls=TaskOption,
    tasks=tasks_of("ofa"),
    help="{either}. One with choices provides cartoons to describe; one with free text is learned itself. Default: "
    "{first}.",
)
@click.option("--fold", help="0..4, or 'all': the five folds, losses averaged. Default: 0.")
@OUTPUT
@click.option("--image-size", type=int, help="Pixels per side. Default: 0, the checkpoint's recorded size, else 480.")
@click.option(
    "--lr",
    help="Learning rates; the best by validation loss is kept, with --fold all the first fold's. Default: 5e-5.",
)
@click.option("--warmup", type=float, help="Fraction of all steps. Default: 0.06.")
@click.option("--decay", help="After the warm-up: linear, to 0, or constant. Default: linear.")
@click.option("--smoothing", type=float, help="Label smoothing. Default: 0.1.")
@flags(ADAMW)
@click.option("--clip-norm", type=float, help="Maximum gradient norm; 0: no limit. Default: 1.")
@click.option("--batch-size", type=int, help="Annotations per step, over all devices. Default: 32.")
@click.option("--micro-batch", type=int, help="Maximum per device at once; affects memory only. Default: 0, no limit.")
@click.option("--epochs", type=int, help="Maximum number. Default: 7.")
@click.option(
    "--patience", type=int, help="Early stopping: epochs without a better validation loss; 0: off. Default: 1."
)
@click.option("--freeze-embeddings/--train-embeddings", default=None, help="Freeze the token embeddings.")
@click.option(
    "--freeze-resnet/--train-resnet", default=None, help="Freeze the picture backbone; it reads each picture once."
)
@click.option("--precision", help="no or bf16. Default: no.")
@click.option("--seed", type=int, help="Seed of the order of rows. Default: 0.")
@flags(MACHINE)
def ofa(output: Path, no_progress: bool, lr: str | None, **given: Any) -> None:
    """Fine-tune OFA to describe cartoons of the New Yorker Caption Contest, or to explain their jokes (Hessel et al.
    2023).

    The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train ofa ...` uses several
    devices. Both harnesses load RUN/model (with --fold all RUN/fold-K/model) as the model ofa/RUN/model, and
    `humor-tasks describe --model ofa/RUN/model` replaces the annotators' descriptions with its answers.
    """
    from humor_tasks.training.ofa.config import OfaTrainConfig

    values = {name: value for name, value in given.items() if value is not None}
    if lr is not None:
        values["lr"] = read_rates(lr)
    config = OfaTrainConfig(**values)
    try:
        from humor_tasks.training.answering import shown
        from humor_tasks.training.ofa.run import train

        metrics = train(config, output, progress=not no_progress)
    except ModuleNotFoundError as problem:
        raise BadInput(_MISSING.format(problem)) from None
    for split in ("validation", "test"):
        for name in ("loss", "nll"):
            click.echo(f"{split:<12}{name:<12}{metrics[split][name]:.5f}")
    for line in shown(metrics):
        click.echo(line)
