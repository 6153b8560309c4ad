"""`humor-tasks train`: the trained systems of a benchmark's paper, as run folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.errors import BadInput
from humor_tasks.training.clip.cli import clip
from humor_tasks.training.flags import NO_PROGRESS, OUTPUT
from humor_tasks.training.ofa.cli import ofa

_MISSING = "training needs the extra 'train': pip install 'humor-tasks[train]' ({})."


@click.group()
def train() -> None:
    """Train the systems that a benchmark's paper compares."""


@train.command()
@click.option("--system", required=True, help="baseline, cbow, ngrams, ridge, encoder, pair or ensemble.")
@click.option("--dataset", required=True, help="Folder with task-1/ and task-2/, or 'sample'.")
@OUTPUT
@click.option("--encoder", help="Hugging Face encoder: a name on the hub or a folder.")
@click.option("--funlines/--no-funlines", default=None, help="Train on FunLines too.")
@click.option("--funlines-grades", help="matched to train's mean and spread (default) or as_given.")
@click.option("--share", type=float, help="Share of train's headlines, for learning curves. Default: 1.")
@click.option("--seed", type=int, help="Default: 0.")
@click.option("--context", help="encoder: full, masked (the edited word taken out) or none. Default: full.")
@click.option("--original-word/--no-original-word", default=None, help="encoder: show the replaced word too.")
@click.option("--marks/--no-marks", default=None, help="encoder: special tokens around the words (pair has them).")
@click.option("--max-length", type=int, help="Tokens kept. Default: 96.")
@click.option("--freeze/--no-freeze", default=None, help="Train the head only.")
@click.option("--frozen-layers", type=int, help="Keep the embeddings and this many lower layers. Default: 0.")
@click.option("--epochs", type=int, help="At most. Default: 3.")
@click.option("--patience", type=int, help="Epochs without a better dev RMSE before it stops. Default: 2.")
@click.option("--batch-size", type=int, help="Rows a step and device. Default: 32.")
@click.option("--lr", type=float, help="Of the encoder, or of cbow's MLP. Default: 5e-5.")
@click.option("--head-lr", type=float, help="Default: 1e-3.")
@click.option("--warmup", type=float, help="Share of the steps. Default: 0.1.")
@click.option("--weight-decay", type=float, help="Default: 0.01.")
@click.option("--dropout", type=float, help="Of the head. Default: 0.1.")
@click.option("--dropout-samples", type=int, help="Dropout masks that the head is averaged over. Default: 1.")
@click.option("--rank-weight", type=float, help="Weight of the ranking loss between edits of a headline. Default: 0.")
@click.option("--precision", help="no or bf16. Default: no.")
@click.option("--vectors", help="cbow: a file of word vectors, or 'encoder' for its embedding layer.")
@click.option("--head", help="cbow: ridge or mlp. Default: ridge.")
@click.option("--hidden", type=int, help="cbow: units of the MLP. Default: 256.")
@click.option("--alphas", help="ridge: strengths to choose from, such as 1,10,100.")
@click.option("--grid", multiple=True, help="ensemble: NAME=VALUE,VALUE; repeat it. Every combination is a member.")
@click.option("--folds", type=int, help="ensemble: default 5.")
@click.option("--whole/--no-whole", default=None, help="ensemble: train each member on all of train too (default).")
@click.option("--best", type=int, help="ensemble: members kept of each system and encoder. Default: 3.")
@click.option("--stack-alpha", type=float, help="ensemble: strength of the stacking ridge. Default: 1.")
@click.option("--non-negative/--any-sign", default=None, help="ensemble: signs of the weights. Default: non-negative.")
@click.option("--part", help="ensemble: I/N, this process's part of the folds; a last run without it stacks.")
@NO_PROGRESS
def humicroedit(output: Path, no_progress: bool, alphas: str | None, **given: Any) -> None:
    """Train a rater of edited headlines (SemEval-2020 task 7) and write what it predicts for both subtasks.

    The same command goes on where it was interrupted. `accelerate launch -m humor_tasks.cli train ...`
    uses several devices. Values that a system does not read are refused.
    """
    try:
        from humor_tasks.training.humicroedit.run import train as run
    except ImportError as problem:
        raise BadInput(_MISSING.format(problem)) from None
    config = _config({name: value for name, value in given.items() if value not in (None, ())}, alphas)
    try:
        if no_progress:
            from transformers.utils.logging import disable_progress_bar

            disable_progress_bar()  # type: ignore[no-untyped-call]
        metrics = run(config, output, progress=not no_progress)
    except ModuleNotFoundError as problem:
        raise BadInput(_MISSING.format(problem)) from None
    if not metrics:
        click.echo(f"{output}: this part is trained; run the command without --part when all parts are.")
        return
    for name, value in metrics.items():
        if isinstance(value, float):
            click.echo(f"{name:<22}{value:.5f}" if name != "seconds" else f"{name:<22}{value:.0f}")


def _config(given: dict[str, Any], alphas: str | None) -> Any:
    from humor_tasks.training.humicroedit.config import COMMON, READ, TrainConfig

    if alphas is not None:
        try:
            given["alphas"] = tuple(float(alpha) for alpha in alphas.split(","))
        except ValueError:
            raise BadInput(f"alphas {alphas}: write numbers with commas between, such as 1,10,100.") from None
    config = TrainConfig(**given)
    # Members of an ensemble read what their systems read.
    read = {"system", *COMMON, *READ[config.system]}
    unread = sorted(set(given) - read) if config.system != "ensemble" else []
    if unread:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in unread)
        raise BadInput(f"--system {config.system} does not read {flags}.")
    return config


train.add_command(clip)
train.add_command(ofa)
