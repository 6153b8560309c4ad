"""`humor-tasks train`: training of the systems of a benchmark's paper, each in a run folder.

A system's command is built when it is needed: its flags are the settings that its dataclass declares.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from humor_tasks.cli.options import output
from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from humor_tasks.contract.options import Parameter


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


class _Train(click.Group):
    """Builds a system's command when it is asked for; the settings take a second to import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See Group."""
        return sorted([*super().list_commands(ctx), *SYSTEMS])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See Group."""
        return _command(cmd_name) if cmd_name in SYSTEMS else super().get_command(ctx, cmd_name)


@click.group(cls=_Train)
def train() -> None:
    """Train the systems that a benchmark's paper compares."""


@train.command()
@click.argument("name", type=click.Choice(["fsdp", "deepspeed"]))
def configuration(name: str) -> None:
    """Print the path of a configuration for `accelerate launch --config_file`, for models of 11 billion parameters."""
    click.echo(Path(__file__).parents[1] / "lab" / "training" / "configurations" / f"{name}.yaml")


def _command(name: str) -> click.Command:
    """The command that trains a system, with a flag for each of its settings."""
    from humor_tasks.lab.training.settings import flags_of

    system = SYSTEMS[name]
    settings = getattr(import_module(f"humor_tasks.lab.training.{system.folder}.settings"), system.settings)
    parameters = {parameter.name: parameter for parameter in flags_of(settings)}

    def run(output: Path, no_progress: bool, **flags: Any) -> None:
        values = {name: value for name, value in flags.items() if value not in (None, ())}
        for name, value in values.items():
            if parameters[name].item and isinstance(value, str):
                values[name] = parameters[name].read(value)
        config = settings(**values)
        config.check_flags(values)
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

    command = click.Command(name, callback=run, params=[*map(_flag, parameters.values())], help=system.text)
    for option in (output("the run folder", required=True), NO_PROGRESS):
        option(command)
    return command


def _flag(parameter: Parameter) -> click.Option:
    """The flag of a setting. Those without a default are required; others are None where they are not given."""
    from dataclasses import MISSING

    info, flag = parameter.info, f"--{parameter.name.replace('_', '-')}"
    if parameter.base is bool:
        return click.Option([f"{flag}/--{info.off or f'no-{flag[2:]}'}"], default=None, help=info.text)
    item = parameter.item or parameter
    choices = f"[{'|'.join(item.choices)}]" if item.choices else None
    return click.Option(
        [flag],
        type={int: int, float: float}.get(parameter.base, str),
        required=parameter.default is MISSING,
        multiple=info.repeated,
        metavar=f"{choices},..." if choices and parameter.item else choices,
        help=info.text + _default(parameter),
    )


def _default(parameter: Parameter) -> str:
    """The default and the range of a setting, for its help. Other defaults are in the text."""
    info, value = parameter.info, parameter.default
    bounded = info.least is not None and info.most is not None
    span = f" ({_short(info.least)} to {_short(info.most)})" if bounded else ""
    if isinstance(value, tuple):
        value = ",".join(map(_short, value))
    return f" Default: {_short(value)}{span}." if isinstance(value, str | int | float) and value != "" else ""


def _short(value: Any) -> str:
    """1.0 as 1, and 1e-05 as 1e-5."""
    return f"{value:.7g}".replace("e-0", "e-").replace("e+0", "e") if isinstance(value, float) else str(value)
