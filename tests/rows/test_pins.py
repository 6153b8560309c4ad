"""What defaults name outside the package, held to its pins: commits, SHA-256 of files, or a stated reason."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

import humor_tasks.lab.training
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.cli import main
from humor_tasks.cli.options import Declares
from humor_tasks.lab.training.settings import Settings
from humor_tasks.rows.pins import DATASETS, WEIGHTS, about, pinned

REMOTE = re.compile(r"[\w.-]+/[\w.-]+")
UNPINNED = {"ViT-L-14-336/openai": "open_clip chooses the repository; logs have the SHA-256 of the loaded weights."}


def named_by(default: Any) -> list[str]:
    return [default] if isinstance(default, str) and REMOTE.fullmatch(default) else []


def of_fields(kind: Any) -> Iterator[str]:
    for each in dataclasses.fields(kind):
        yield from named_by(each.default)


def of_settings(kind: type) -> Iterator[str]:
    for each in kind.__subclasses__():
        yield from of_fields(each)
        yield from of_settings(each)


def of_command(command: click.Command) -> Iterator[str]:
    for each in (*command.params, *(command.declared.values() if isinstance(command, Declares) else ())):
        yield from named_by(each.default)
    for name in command.list_commands(click.Context(command)) if isinstance(command, click.Group) else ():
        yield from of_command(command.get_command(click.Context(command), name) or command)


def without_pin(benchmarks: Mapping[str, Any]) -> set[str]:
    """The names in the benchmarks' defaults and cards that no pin covers."""
    found = set()
    for each in benchmarks.values():
        source = each.card.source
        names = {*of_fields(each.options), *filter(None, [source.name])}
        found |= names - DATASETS.keys() - ({source.name} if source.files else set())
    return found


def test_every_default_of_a_benchmark_is_pinned() -> None:
    assert without_pin(BENCHMARKS) == set()
    for each in BENCHMARKS.values():
        if (name := each.card.source.name) in DATASETS:
            assert each.card.source.pin == about(name)


def test_a_new_default_without_a_pin_is_found() -> None:
    old = BENCHMARKS["matching"]
    options = dataclasses.make_dataclass("Options", [("dataset", str, "new/corpus")], bases=(old.options,), frozen=True)
    moved = dataclasses.replace(old.card.source, name="new/place")
    new = dataclasses.replace(old, options=options, card=dataclasses.replace(old.card, source=moved))
    assert without_pin({"new": new}) == {"new/corpus", "new/place"}


def test_every_default_of_a_training_or_command_is_pinned() -> None:
    for module in pkgutil.walk_packages(humor_tasks.lab.training.__path__, "humor_tasks.lab.training."):
        if module.name.endswith(".settings"):
            importlib.import_module(module.name)
    named = {*of_settings(Settings), *of_command(main)}
    assert named - DATASETS.keys() - WEIGHTS.keys() == UNPINNED.keys()
    assert named >= WEIGHTS.keys()  # none that nothing names any more


def test_a_given_revision_comes_before_the_pin() -> None:
    for name, commit in {**DATASETS, **WEIGHTS}.items():
        assert re.fullmatch("[0-9a-f]{40}", commit), name
    for name, commit in DATASETS.items():
        assert [pinned(name, None), pinned(name, "main"), pinned("a/b", None)] == [commit, "main", None]
