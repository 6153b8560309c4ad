"""The options by which a command reads files of predictions beside finished runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from humor_tasks.benchmarks.definition import Run

given_option = click.option("-T", "given", multiple=True, metavar="NAME=VALUE", help="Parameter of --task; repeatable.")
_OPTIONS = (
    click.option("--task", help="Benchmark of prediction files among RUNS, such as matching."),
    click.option("--dataset", help="Dataset of the predictions: hub id, dataset folder or file, or 'sample'."),
    given_option,
)


def prediction_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --task, --dataset and -T, as the arguments `task`, `dataset` and `given`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def predicted(task: str | None, dataset: str | None, given: Sequence[str]) -> Run | None:
    """The benchmark of the predictions, opened with its data; None without --task.

    Raises BadInput for the other options without --task, and as `opened` does.
    """
    from humor_tasks.parameters import opened

    if task:
        return opened(task, given, dataset=dataset)
    if dataset is not None or given:
        raise BadInput("--dataset and -T describe files of predictions; name their benchmark with --task.")
    return None
