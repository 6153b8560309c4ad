"""`humor-tasks train`: training of the systems of a benchmark's paper, each in a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.flags import NO_PROGRESS, OUTPUT
from humor_tasks.cli.train_clip import clip
from humor_tasks.cli.train_image_text import image_text
from humor_tasks.cli.train_ofa import ofa
from humor_tasks.cli.train_text import text
from humor_tasks.errors import BadInput

_MISSING = "training needs the extra 'train': pip install 'humor-tasks[train]' ({})."


@click.group()
def train() -> None:
    """Train the systems that a benchmark's paper compares."""


@train.command()
@click.option(
    "--system",
    required=True,
    help="baseline, cbow, ngrams, ridge, features, vectors, encoder, pair, grades or ensemble.",
)
@click.option("--dataset", required=True, help="Folder with task-1/ and task-2/, or 'sample'.")
@OUTPUT
@click.option("--encoder", help="Hugging Face encoder: a name on the hub or a folder.")
@click.option("--funlines/--no-funlines", default=None, help="Train on FunLines too.")
@click.option(
    "--funlines-grades", help="matched (rescaled to train's mean and standard deviation, default) or as_given."
)
@click.option("--share", type=float, help="Fraction of train's headlines, for learning curves. Default: 1.")
@click.option("--seed", type=int, help="Default: 0.")
@click.option(
    "--text", help="Variants of the text, with +: lower, segmented, no-symbols, no-extensions. Default: as it is."
)
@click.option("--context", help="encoder: full, masked (the edited word masked) or none. Default: full.")
@click.option("--original-word/--no-original-word", default=None, help="encoder: include the replaced word.")
@click.option("--marks/--no-marks", default=None, help="encoder: special tokens around the words (always in pair).")
@click.option("--max-length", type=int, help="Maximum number of tokens. Default: 96.")
@click.option("--pooling", help="mean, attention, gru or lstm of the encoder's states. Default: mean.")
@click.option("--judge", type=int, help="Classify the grade at this place, 1 (highest) to 5. Default: rate the mean.")
@click.option(
    "--features", help="Groups of features, with +, such as lexical+string. Default of features: LT3's eight."
)
@click.option(
    "--knowledge", help="features: WordNet's folder, or a file of relations (word, relation, word; ConceptNet's)."
)
@click.option(
    "--corpus", help="features: text, a sentence a line, to count words in. Default: train's original headlines."
)
@click.option("--lexicon", help="features: a file with a word and its numbers a line, such as humour norms.")
@click.option("--freeze/--no-freeze", default=None, help="Train the head only.")
@click.option("--frozen-layers", type=int, help="Freeze the embeddings and this many lower layers. Default: 0.")
@click.option("--epochs", type=int, help="Maximum number. Default: 3.")
@click.option("--patience", type=int, help="Early stopping: epochs without a better dev RMSE. Default: 2.")
@click.option("--batch-size", type=int, help="Rows per step and device. Default: 32.")
@click.option("--lr", type=float, help="Learning rate of the encoder, or of an MLP. Default: 5e-5.")
@click.option("--head-lr", type=float, help="Learning rate of the head. Default: 1e-3.")
@click.option("--warmup", type=float, help="Fraction of the steps. Default: 0.1.")
@click.option("--weight-decay", type=float, help="Default: 0.01.")
@click.option("--dropout", type=float, help="Dropout of the head. Default: 0.1.")
@click.option("--dropout-samples", type=int, help="Dropout masks that the head is averaged over. Default: 1.")
@click.option("--rank-weight", type=float, help="Weight of the ranking loss among a headline's edits. Default: 0.")
@click.option("--precision", help="no or bf16. Default: no.")
@click.option("--vectors", help="A file of word vectors, or 'encoder' (cbow, vectors: its embedding layer).")
@click.option("--head", help="cbow: ridge or mlp; features: also trees or bayes. Default: ridge.")
@click.option("--hidden", type=int, help="Units of the MLP. Default: 256.")
@click.option("--alphas", help="ridge: regularisation strengths to choose from, such as 1,10,100.")
@click.option("--grid", multiple=True, help="ensemble: NAME=VALUE,VALUE; repeatable. Each combination is a member.")
@click.option("--also", multiple=True, help="ensemble: NAME=VALUE,NAME=VALUE; repeatable. A member beside the grid's.")
@click.option("--folds", type=int, help="ensemble: number of folds. Default: 5.")
@click.option("--whole/--no-whole", default=None, help="ensemble: train each member on all of train too (default).")
@click.option("--best", type=int, help="ensemble: members kept per system and encoder. Default: 3.")
@click.option("--stack", help="ensemble: ridge, trees or mean of the members. Default: ridge.")
@click.option("--stack-alpha", type=float, help="ensemble: regularisation strength of the stacking ridge. Default: 1.")
@click.option("--non-negative/--any-sign", default=None, help="ensemble: signs of the weights. Default: non-negative.")
@click.option("--part", help="ensemble: I/N, train only this part of the models; a final run without it stacks.")
@NO_PROGRESS
def humicroedit(output: Path, no_progress: bool, alphas: str | None, **given: Any) -> None:
    """Train a model that rates edited headlines (SemEval-2020 task 7), and write its predictions for both subtasks.

    The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train ...` uses several devices.
    Options that a system does not use are refused.
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
        click.echo(f"{output}: this part is trained; when all parts are, run the command without --part.")
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
            raise BadInput(f"alphas {alphas}: write comma-separated numbers, such as 1,10,100.") from None
    config = TrainConfig(**given)
    # An ensemble accepts the options of all its members' systems.
    used = {"system", *COMMON, *READ[config.system]}
    unused = sorted(set(given) - used) if config.system != "ensemble" else []
    if unused:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
        raise BadInput(f"--system {config.system} does not use {flags}.")
    groups = {"knowledge": "knowledge", "lexicon": "lexicon", "corpus": "cooccurrence"}  # what reads each file
    for name, group in groups.items():
        if given.get(name) and config.system != "ensemble" and group not in config.features.split("+"):
            raise BadInput(f"--{name} is data of --features {group}, which is not asked for.")
    return config


@train.command()
@click.argument("name", type=click.Choice(["fsdp", "deepspeed"]))
def configuration(name: str) -> None:
    """Print the path of a configuration for `accelerate launch --config_file`, for models of 11 billion parameters."""
    click.echo(Path(__file__).parents[1] / "training" / "configurations" / f"{name}.yaml")


train.add_command(clip)
train.add_command(image_text)
train.add_command(ofa)
train.add_command(text)
