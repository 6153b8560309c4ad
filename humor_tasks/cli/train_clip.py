"""The command `humor-tasks train clip`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.flags import ADAMW, CONTEST, LORA, MACHINE, OUTPUT, TaskOption, flags, read_rates, tasks_of
from humor_tasks.errors import BadInput

_MISSING = "training CLIP needs the extras 'train' and 'clip': pip install 'humor-tasks[train,clip]' ({})."


@click.command()
@click.option("--task", cls=TaskOption, tasks=tasks_of("clip"), required=True, help="{either}.")
@click.option("--fold", help="0..4, or 'all': the five folds, metrics averaged. Default: 0.")
@flags(CONTEST)
@OUTPUT
@click.option("--pretrained", help="ARCHITECTURE/TAG of open_clip, folder or weight file. Default: the paper's.")
@click.option("--architecture", help="open_clip's name, for a weight file.")
@click.option("--activation", help="gelu or quick_gelu, for a weight file that does not say.")
@click.option("--mode", help="paper (default), or as-released: the released code's recipe, where it differs.")
@click.option("--fit", help="pad or crop. Default: pad (as-released: crop).")
@click.option(
    "--random-crop/--centre-crop", default=None, help="fit=crop, in training. Default: centre (as-released: random)."
)
@click.option("--prefix", help="Prepended to every caption. Default: nothing.")
@click.option("--lr", help="Learning rates; the best by validation accuracy is kept. Default: 5e-5,1e-5,5e-6.")
@click.option("--warmup", type=int, help="Warm-up steps. Default: 200.")
@flags(ADAMW)
@click.option("--batch-size", type=int, help="Rows per step, over all devices. Default: 32.")
@click.option("--epochs", type=int, help="Maximum number. Default: 12.")
@click.option(
    "--patience", type=int, help="Early stopping: epochs without better validation accuracy. Default: 0, never."
)
@click.option("--max-scale", type=float, help="Maximum logit scale; 0: no limit. Default: 100 (as-released: 0).")
@click.option("--flip", type=float, help="Probability of mirroring. Default: 0.5.")
@click.option("--grayscale", type=float, help="Probability of greyscale. Default: 0.1.")
@click.option("--brightness", type=float, help="Factor from 1 - B to 1 + B. Default: 0.5.")
@click.option("--hue", type=float, help="Hue shift from -H to H of a circle. Default: 0.3.")
@flags(LORA)
@flags(MACHINE)
def clip(output: Path, no_progress: bool, lr: str | None, **given: Any) -> None:
    """Fine-tune CLIP to choose captions of the New Yorker Caption Contest (Hessel et al. 2023).

    The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train clip ...` uses several
    devices. Both harnesses load RUN/model (with --fold all RUN/fold-K/model) as the model clip/RUN/model.
    """
    from humor_tasks.training.clip.config import ClipTrainConfig

    values = {name: value for name, value in given.items() if value is not None}
    if lr is not None:
        values["lr"] = read_rates(lr)
    config = ClipTrainConfig(**values)
    try:
        from humor_tasks.training.clip.run import train

        metrics = train(config, output, progress=not no_progress)
    except ModuleNotFoundError as problem:
        raise BadInput(_MISSING.format(problem)) from None
    for split in ("validation", "test"):
        for name, estimate in metrics[split]["metrics"].items():
            if "accuracy" in name:
                click.echo(f"{split:<12}{name:<24}{estimate['value']:.5f}")
