"""`humor-tasks train ofa`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.errors import BadInput
from humor_tasks.training.flags import ADAMW, CONTEST, MACHINE, OUTPUT, flags

_MISSING = "training OFA needs the extras 'train' and 'ofa': pip install 'humor-tasks[train,ofa]' ({})."


@click.command()
@click.option("--pretrained", required=True, help="A checkpoint's folder, or OWNER/NAME of the hub.")
@click.option("--model-revision", help="Branch, tag or commit of a checkpoint of the hub.")
@flags(CONTEST)
@click.option("--task", help="Whose cartoons: matching, ranking or explanation. Default: matching.")
@click.option("--fold", help="0..4, or 'all': the five folds, losses averaged. Default: 0.")
@OUTPUT
@click.option("--image-size", type=int, help="Pixels a side. Default: 0, what the checkpoint records, else 480.")
@click.option("--lr", type=float, help="Default: 5e-5.")
@click.option("--warmup", type=float, help="Share of all steps. Default: 0.06.")
@click.option("--decay", help="After the warm-up: linear, to nothing, or constant. Default: linear.")
@click.option("--smoothing", type=float, help="Of labels. Default: 0.1.")
@flags(ADAMW)
@click.option("--clip-norm", type=float, help="Most that the gradients' norm may be; 0: no limit. Default: 1.")
@click.option("--batch-size", type=int, help="Annotations a step, over all devices together. Default: 32.")
@click.option("--micro-batch", type=int, help="Most that a device takes at once; changes memory only. Default: 0, all.")
@click.option("--epochs", type=int, help="At most. Default: 7.")
@click.option("--patience", type=int, help="Epochs without a better validation loss; 0: never stops. Default: 1.")
@click.option("--freeze-embeddings/--train-embeddings", default=None, help="Leave the table of tokens as it is.")
@click.option("--precision", help="no or bf16. Default: no.")
@click.option("--seed", type=int, help="Of the order of rows. Default: 0.")
@flags(MACHINE)
def ofa(output: Path, no_progress: bool, **given: Any) -> None:
    """Fine-tune OFA to describe cartoons of the New Yorker Caption Contest (Hessel et al. 2023).

    The same command goes on where it was interrupted. `accelerate launch -m humor_tasks.cli train ofa ...`
    uses several devices. RUN/model (with --fold all RUN/fold-K/model) answers as ofa/RUN/model, and
    `humor-tasks describe --model ofa/RUN/model` puts its words in the place of the annotators'.
    """
    from humor_tasks.training.ofa.config import OfaTrainConfig

    config = OfaTrainConfig(**{name: value for name, value in given.items() if value is not None})
    try:
        from humor_tasks.training.ofa.run import train

        metrics = train(config, output, progress=not no_progress)
    except ModuleNotFoundError as problem:
        raise BadInput(_MISSING.format(problem)) from None
    for split in ("validation", "test"):
        for name in ("loss", "nll"):
            click.echo(f"{split:<12}{name:<12}{metrics[split][name]:.5f}")
