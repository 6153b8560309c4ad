"""`humor-tasks train`: training of the systems of a benchmark's paper, each in a run folder.

The flags of a system's command are the settings that its dataclass declares.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click

from humor_tasks.cli.options import Declares, output
from humor_tasks.errors import BadInput

NO_PROGRESS = click.option("--no-progress", is_flag=True, help="No progress bars.")


class System(NamedTuple):
    """A system that can be trained. folder, module: in training/. settings: a class. text: the help."""

    folder: str
    settings: str
    extras: str
    text: str
    module: str = "finetune"
    uses_transformers: bool = False


SYSTEMS = {
    "clip": System(
        "clip",
        "ClipTrainConfig",
        "train,clip",
        """Fine-tune CLIP to choose captions of the New Yorker Caption Contest (Hessel et al. 2023).

        The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train clip ...` uses several
        devices. Both harnesses load RUN/model (with --fold all RUN/fold-K/model) as the model clip/RUN/model.
        """,
    ),
    "humicroedit": System(
        "humicroedit",
        "TrainConfig",
        "train",
        """Train a model that rates edited headlines (SemEval-2020 task 7), and write its predictions for both subtasks.

        The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train ...` uses several
        devices. Options that a system does not use are refused.
        """,
        module="run",
        uses_transformers=True,
    ),
    "image-text": System(
        "image_text",
        "ImageTextTrainConfig",
        "train,image-text",
        """Fine-tune an image-text model on sub-tasks of MOCK together (section 5.2: LLaVA and others, a scene each).

        The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train image-text ...` uses
        several devices. RUN/model is a checkpoint of transformers, which Inspect loads as image_text/RUN/model.
        """,
    ),
    "ofa": System(
        "ofa",
        "OfaTrainConfig",
        "train,ofa",
        """Fine-tune OFA to describe cartoons of the New Yorker Caption Contest, or to explain their jokes.

        The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train ofa ...` uses several
        devices. Both harnesses load RUN/model (with --fold all RUN/fold-K/model) as the model ofa/RUN/model, and
        `humor-tasks describe --model ofa/RUN/model` replaces the annotators' descriptions with its answers.
        """,
    ),
    "text": System(
        "text",
        "TextTrainConfig",
        "train",
        """Fine-tune a text model to choose captions or to explain them (Hessel et al. 2023: T5, caption only).

        The same command resumes an interrupted run. `accelerate launch -m humor_tasks.cli train text ...` uses several
        devices. RUN/model (with --fold all RUN/fold-K/model) is a checkpoint of transformers. Both harnesses load
        encoders and seq2seq models as text/RUN/model, and causal models as any other.
        """,
        uses_transformers=True,
    ),
}


@click.group()
def train() -> None:
    """Train the systems that a benchmark's paper compares."""


@train.command()
@click.argument("name", type=click.Choice(["fsdp", "deepspeed"]))
def configuration(name: str) -> None:
    """Print the path of a configuration for `accelerate launch --config_file`, for models of 11 billion parameters."""
    click.echo(Path(__file__).parents[1] / "lab" / "training" / "configurations" / f"{name}.yaml")


def _command(name: str, system: System) -> click.Command:
    """The command that trains a system, with a flag for each of its settings."""
    settings = f"humor_tasks.lab.training.{system.folder}.settings:{system.settings}"

    def run(output: Path, no_progress: bool, given: dict[str, Any]) -> None:
        config = pkgutil.resolve_name(settings)(**given)
        config.check_flags(given)
        try:
            if no_progress and system.uses_transformers:
                from transformers.utils.logging import disable_progress_bar

                disable_progress_bar()  # type: ignore[no-untyped-call]
            module = import_module(f"humor_tasks.lab.training.{system.folder}.{system.module}")
            metrics = module.train(config, output, progress=not no_progress)
        except ModuleNotFoundError as problem:
            install = f"pip install 'humor-tasks[{system.extras}]'"
            raise BadInput(f"training {name} needs more packages: {install} ({problem}).") from None
        for line in module.summary(metrics):
            click.echo(line)

    command = Declares(name, settings=settings, callback=run, help=system.text)
    for option in (output("the run folder", required=True), NO_PROGRESS):
        option(command)
    return command


for _name, _system in SYSTEMS.items():
    train.add_command(_command(_name, _system))
