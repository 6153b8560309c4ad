"""The command `humor-tasks train text`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.flags import ADAMW, CONTEST, LORA, MACHINE, OUTPUT, TaskOption, flags, read_rates, tasks_of
from humor_tasks.errors import BadInput

_MISSING = "training text models needs the extra 'train': pip install 'humor-tasks[train]' ({})."


@click.command()
@click.option("--task", cls=TaskOption, tasks=tasks_of("text"), required=True, help="{either}.")
@click.option("--model", required=True, help="Hugging Face model: a name on the hub or a folder.")
@click.option("--kind", help="seq2seq, causal or encoder. Default: from the model's configuration.")
@click.option("--model-revision", help="Branch, tag or commit of a model on the hub.")
@flags(CONTEST)
@click.option("--fold", help="0..4, or 'all': the five folds, metrics averaged. Default: 0.")
@click.option("--scene", help="mock tasks: all, stills, cartoon, post or comedy. Default: all.")
@click.option("--setting", help="description (default), or caption_only: without the cartoon.")
@click.option("--prompts", help="Folder of templates that replace the packaged ones. Evaluate with the same.")
@click.option("--encoding", help="encoders: cross (scene and choice together, default) or bi (each alone).")
@OUTPUT
@click.option("--evaluate", help="Splits to predict after the training. Default: validation,test.")
@click.option("--lr", help="Learning rates; the best on validation is kept. Default: 1e-4,1e-5,5e-5.")
@click.option("--head-lr", type=float, help="encoders: learning rate of the new layer. Default: 1e-3.")
@click.option("--warmup", type=float, help="Fraction of an epoch's steps. Default: 0.1.")
@flags(ADAMW)
@click.option("--clip-norm", type=float, help="Maximum gradient norm; 0: no limit. Default: 1.")
@click.option("--batch-size", type=int, help="Rows per step, over all devices. Default: 64.")
@click.option("--micro-batch", type=int, help="Maximum rows per device at once; memory only. Default: 0, automatic.")
@click.option("--epochs", type=int, help="Maximum number. Default: 10.")
@click.option("--validations", type=int, help="Validations per epoch. Default: 1.")
@click.option("--patience", type=int, help="Early stopping: validations without a better result; 0: off. Default: 2.")
@click.option("--max-tokens", type=int, help="Maximum length of the input. Default: 0, the model's own.")
@click.option("--temperature", type=float, help="Of written explanations; 0: greedy. Default: 1, as published.")
@click.option("--top-p", type=float, help="Of written explanations. Default: 0.95, as published.")
@click.option("--max-new-tokens", type=int, help="Of written explanations. Default: 256.")
@flags(LORA)
@flags(MACHINE)
def text(output: Path, no_progress: bool, lr: str | None, evaluate: str | None, **given: Any) -> None:
    """Fine-tune a text model to choose captions or to explain them (Hessel et al. 2023: T5, caption only).

    The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train text ...` uses several
    devices. RUN/model (with --fold all RUN/fold-K/model) is a checkpoint of transformers. Both harnesses load encoders
    and seq2seq models as text/RUN/model, and causal models as any other.
    """
    values = {name: value for name, value in given.items() if value is not None}
    if lr is not None:
        values["lr"] = read_rates(lr)
    if evaluate is not None:
        values["evaluate"] = tuple(evaluate.split(","))
    try:
        from humor_tasks.training.answering import shown
        from humor_tasks.training.text.config import TextTrainConfig
        from humor_tasks.training.text.run import train

        if no_progress:
            from transformers.utils.logging import disable_progress_bar

            disable_progress_bar()  # type: ignore[no-untyped-call]
        metrics = train(TextTrainConfig(**values), output, progress=not no_progress)
    except ModuleNotFoundError as problem:
        raise BadInput(_MISSING.format(problem)) from None
    for line in shown(metrics):
        click.echo(line)
