"""Arguments and options that commands share, each with one name, one value and one help text."""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.errors import BadInput
from humor_tasks.files.secrets import without_credentials

if TYPE_CHECKING:
    from humor_tasks.contract.card import System
    from humor_tasks.contract.definition import Run
    from humor_tasks.contract.options import Parameter

Decorator = Callable[[Any], Any]
PATH = click.Path(path_type=Path)

RUNS = click.argument("runs", nargs=-1, required=True, type=PATH)
"""Finished runs: Inspect logs, lm-eval's samples or results, and folders of them."""
TASK = click.option("--task", required=True, help="Benchmark, such as matching; docs/parameters.md lists them.")
PARAMETERS = click.option(
    "-T",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Task parameter; repeatable. See `humor-tasks parameters TASK`.",
)
DATASET = click.option("--dataset", help="Hub id, dataset folder or file, or 'sample'. Default: the public corpus.")
REVISION = click.option("--revision", help="Branch, tag or commit of a hub dataset.")
SPLIT = click.option("--split", help="Split of the dataset. Default: test.")
FOLD = click.option("--fold", help="Caption contest: 0..4, or 'all': the rows of the five folds. Default: 0.")
SETTING = click.option("--setting", help="Input of the model: description, pixels or caption_only.")
MODEL = click.option(
    "--model",
    required=True,
    metavar="MODEL",
    help="Any Inspect model: openai/gpt-4o, clip/FOLDER, baseline/longest.",
)
MODEL_ARGS = click.option("-M", "model_args", multiple=True, metavar="NAME=VALUE", help="Model argument; repeatable.")


def _without_key(_: click.Context, __: click.Parameter, url: str | None) -> str | None:
    """The URL. Raises BadInput for one that holds what logs must not show."""
    if url and without_credentials(url) != url:
        raise BadInput(
            "--model-base-url: logs would show the user or the query of this URL; leave them out, and set the "
            "provider's environment variable."
        )
    return url


MODEL_BASE_URL = click.option(
    "--model-base-url", metavar="URL", callback=_without_key, help="Base URL of the model's API."
)
PROMPTS = click.option("--prompts", metavar="FOLDER", help="Folder of templates that replace the packaged ones.")
NO_CACHE = click.option("--no-cache", is_flag=True, help="Do not use cached answers.")
LOG_DIR = click.option("--log-dir", metavar="FOLDER", help="Folder of the Inspect log. Default: Inspect's.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
TWICE = click.option("--twice", default="error", help="Repeated votes of an annotator on an item: error or last.")


class Group(click.Group):
    """A group whose `--help` lists its commands in the order of their definition."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See Group."""
        return list(self.commands)


def output(what: str, required: bool = False, default: Path | None = None) -> Decorator:
    """`-o`: `what` is written there, beside what is printed unless `required` or there is a `default`."""

    def expanded(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
        return path and Path(os.path.expanduser(path))  # shells do not expand ~ in --output=~/run

    wording = f"Write {what}." if required or default else f"Also write {what}."
    how: dict[str, Any] = {"required": required, "default": default, "type": PATH, "metavar": "PATH"}
    return click.option("-o", "--output", callback=expanded, help=wording, **how)


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator; `--help` lists them in this order."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(decorators), command)


PREDICTIONS = together(
    click.option("--task", help="Benchmark of prediction files among RUNS, such as matching."),
    click.option(
        "--dataset",
        help="Dataset of the predictions: hub id, dataset folder or file, or 'sample'. Default: that of the first log "
        "of --task, else the public corpus.",
    ),
    PARAMETERS,
)
"""The options by which a command reads files of predictions beside finished runs."""


METRIC = click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Metric to compare by; of other packages' tasks the score to read. Of several, the first that a task has.",
)
CLUSTER = click.option(
    "--cluster",
    metavar="FIELD",
    help="Other packages' tasks: field of the samples' metadata that items of one cluster share. Default: the sample.",
)


def opened_for_predictions(
    task: str | None, dataset: str | None, parameters: Sequence[str], runs: Sequence[Path]
) -> Run | None:
    """The benchmark of the predictions, opened with its data; None without --task.

    Without --dataset its rows are of the dataset that the first of RUNS names which is a log of this benchmark. Raises
    BadInput for the other options without --task, and as `opened` does.
    """
    from humor_tasks.parameters import opened

    if task:
        revised = any(parameter.startswith(("dataset=", "revision=")) for parameter in parameters)
        corpus = {} if dataset or revised else _logged_corpus(task, runs)
        return opened(task, parameters, **{"dataset": dataset} | corpus)
    if dataset is not None or parameters:
        raise BadInput("--dataset and -T describe files of predictions; name their benchmark with --task.")
    return None


def _logged_corpus(task: str, runs: Sequence[Path]) -> dict[str, str]:
    """Dataset and revision of the first log of this benchmark; empty where there is none."""
    from humor_tasks.logs import read_run
    from humor_tasks.results.read import files_of

    for path in files_of(runs):
        try:
            run = read_run(path, finished=None)
        except BadInput:
            continue
        if run.benchmark == task and "dataset" in run.corpus:
            return {name: str(value) for name, value in run.corpus.items() if name in ("dataset", "revision")}
    return {}


def logs_of(benchmarks: Collection[str], paths: Sequence[Path]) -> list[Path]:
    """The paths, each folder replaced by the logs of these benchmarks below it; other logs in it are left out.

    Raises BadInput for a folder without such a log.
    """
    from humor_tasks.logs import read_run
    from humor_tasks.results.read import files_of

    logs: list[Path] = []
    for path in paths:
        if not path.is_dir():
            logs.append(path)
            continue
        below = []
        for file in files_of([path]):
            try:
                below += [file] if read_run(file, finished=None).benchmark in benchmarks else []
            except BadInput as problem:
                click.echo(f"Left out: {problem}", err=True)
        if not below:
            raise BadInput(f"{path}: holds no log of {' or '.join(benchmarks)}.")
        logs += below
    return logs


def log_of(benchmarks: Collection[str], path: Path) -> Path:
    """The path, or the only log of these benchmarks in a folder. Raises BadInput for a folder of none or several."""
    first, *others = logs_of(benchmarks, [path])
    if others:
        raise BadInput(f"{path}: holds {1 + len(others)} logs of {' or '.join(benchmarks)}; name one of them.")
    return first


# ---- options that a dataclass declares -----------------------------------------------------------


class Declares(click.Command):
    """A command with a flag for each parameter of a dataclass, beside its other parameters.

    Its callback gets `given`: name -> value of each of these flags that was given. The dataclass validates them. It is
    imported when the flags are needed, which can take a second.
    """

    def __init__(self, *args: Any, settings: str, after: str = "", **how: Any) -> None:
        """settings: MODULE:CLASS. after: the parameter after which the help lists its flags; "": they come first."""
        super().__init__(*args, **how)
        self.settings, self.after = settings, after

    @cached_property
    def declared(self) -> Mapping[str, Parameter]:
        """The parameters that are flags, by name."""
        from humor_tasks.contract.options import flags_of

        return flags_of(pkgutil.resolve_name(self.settings))

    @cached_property
    def _flags(self) -> list[click.Option]:
        return [flag(parameter) for parameter in self.declared.values()]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """See Command."""
        own = super().get_params(ctx)
        place = [parameter.name for parameter in own].index(self.after) + 1 if self.after else 0
        return [*own[:place], *self._flags, *own[place:]]

    def invoke(self, ctx: click.Context) -> Any:
        """See Command."""
        values = {name: ctx.params.pop(name) for name in self.declared}
        ctx.params["given"] = {
            name: _read(self.declared[name], value) for name, value in values.items() if value not in (None, ())
        }
        return super().invoke(ctx)


def _read(parameter: Parameter, value: Any) -> Any:
    """A value as its dataclass takes it: the text of several, separated by commas, as a tuple, and none as None."""
    if may_be_none(parameter):
        return parameter.checked(parameter.read(value))
    return parameter.read(value) if parameter.item and isinstance(value, str) else value


def may_be_none(parameter: Parameter) -> bool:
    """Whether it is a number by default and may be `none` instead."""
    return parameter.optional and parameter.base in (int, float) and parameter.default is not None


def flag(parameter: Parameter) -> click.Option:
    """The flag of a parameter. Those without a default are required; others are None where they are not given."""
    from dataclasses import MISSING

    info, name = parameter.info, f"--{parameter.name.replace('_', '-')}"
    if parameter.base is bool:
        return click.Option([f"{name}/--{info.off or f'no-{name[2:]}'}"], default=None, help=info.text)
    item = parameter.item or parameter
    choices = f"[{'|'.join(item.choices)}]" if item.choices else None
    return click.Option(
        [name],
        type=str if may_be_none(parameter) else {int: int, float: float, Path: PATH}.get(parameter.base, str),
        required=parameter.default is MISSING,
        multiple=info.repeated,
        metavar=f"{choices},..." if choices and parameter.item else choices,
        help=info.text + _default(parameter),
    )


def _default(parameter: Parameter) -> str:
    """The default and the range of a parameter, for its help. Other defaults are in the text."""
    info, value = parameter.info, parameter.default
    bounded = info.least is not None and info.most is not None
    span = f" ({_short(info.least)} to {_short(info.most)})" if bounded else ""
    if isinstance(value, tuple):
        value = ",".join(map(_short, value))
    return f" Default: {_short(value)}{span}." if isinstance(value, str | int | float) and value != "" else ""


def _short(value: Any) -> str:
    """1.0 as 1, and 1e-05 as 1e-5."""
    return f"{value:.7g}".replace("e-0", "e-").replace("e+0", "e") if isinstance(value, float) else str(value)


# ---- options that name benchmarks ---------------------------------------------------------------


class TaskOption(click.Option):
    """`--task` of a command that takes some benchmarks, whose names are read from the definitions when needed.

    Until then the definitions are not imported, which would slow every command down.
    """

    def __init__(
        self, *declared: Any, tasks: Callable[[], Sequence[str]], first: bool = False, only: bool = False, **how: Any
    ) -> None:
        """tasks: returns the names, which the help text shows at {names}.

        first: whether the first is the default. only: whether the others are refused here, and not by the command.
        """
        super().__init__(*declared, **how)
        self.tasks, self.first, self.only, self.text = tasks, first, only, str(how["help"])

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """See Option."""
        self._read()
        return super().get_help_record(ctx)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """See Option."""
        if self.only and value is not None:
            self._read()
        return super().process_value(ctx, value)

    def get_default(self, ctx: click.Context, call: bool = True) -> Any:
        """See Option."""
        if self.first:
            self._read()
        return super().get_default(ctx, call)

    def _read(self) -> None:
        names = list(self.tasks())
        self.help = self.text.format(names=", ".join(names))
        if self.first:
            self.default = names[0]
        if self.only:
            self.type = click.Choice(names)


def tasks_of(system: System) -> Callable[[], Sequence[str]]:
    """The benchmarks that can train this system, for `TaskOption`."""

    def read() -> Sequence[str]:
        from humor_tasks.benchmarks import trained

        return trained(system)

    return read
