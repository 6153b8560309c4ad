"""A parameter is written once: what the options declare is what tasks, help and documentation say."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from inspect_ai._util.decorator import parse_decorators

from humor_tasks import tasks
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.options import Parameter, _members
from humor_tasks.on_inspect.tasks.building import parameters_of_task

TASKS = [getattr(tasks, name) for name in tasks.__all__]


def forms(each: Parameter) -> set[Any]:
    """The types in which a command line gives a parameter."""
    more: set[Any] = {str} if each.optional and each.base in (int, float) else set()  # `none`
    return {*_members(each.kind), *more, *{int: [int], list: [list[str]]}.get(each.about.also or str, [])}


def documented(task: Callable[..., Any]) -> dict[str, str]:
    """Parameter -> its sentence under Args."""
    _, _, told = inspect.cleandoc(task.__doc__ or "").partition("Args:\n")
    found = re.findall(r"^    (\w+): (.*(?:\n      +.*)*)", told, re.MULTILINE)
    return {name: " ".join(sentence.split()) for name, sentence in found}


def args(task: Callable[..., Any]) -> str:
    """The Args of a task's docstring as they have to be."""
    known = parameters_of_task(task.__name__)
    names = [name for name in inspect.signature(task).parameters if name in known]
    lines = [f"{name}: {known[name].about.text}" for name in [*names, *(n for n in known if n not in names)]]
    kept = [textwrap.fill(line, 120, initial_indent=" " * 8, subsequent_indent=" " * 12) for line in lines]
    return "\n".join(["    Args:", *kept])


@pytest.mark.parametrize("task", TASKS, ids=tasks.__all__)
def test_a_task_says_what_the_options_declare(task: Callable[..., Any]) -> None:
    known, hints = parameters_of_task(task.__name__), get_type_hints(task)
    signature = inspect.signature(task).parameters
    assert {name: each.default for name, each in signature.items()} == {n: each.default for n, each in known.items()}
    for name, each in known.items():
        assert set(_members(hints[name])) == forms(each), name
    expected = {name: each.about.text for name, each in known.items()}
    assert documented(task) == expected, f"write into the docstring of {task.__name__}:\n\n{args(task)}\n"


def test_every_benchmark_has_a_task_that_reading_the_source_finds() -> None:
    # as Inspect and inspect_evals' register of external packages do: only literal functions with the decorator count
    folder = Path(inspect.getfile(tasks)).parent / "on_inspect" / "tasks"
    found = [name for path in folder.glob("*.py") for name, _ in parse_decorators(path, "task")]
    assert sorted(found) == sorted(tasks.__all__) == sorted(BENCHMARKS)
    assert all(task.__module__.startswith("humor_tasks.on_inspect.tasks.") for task in TASKS)
