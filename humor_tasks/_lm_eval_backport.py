"""Makes `lm_eval --tasks nyc_ranking` and `lm_eval --model humor-baseline` work after `pip install`.

lm-eval 0.4.13 and 0.5.0.dev1 find tasks and models only in their own folders. The next release reads the entry points
`lm_eval.models` (#4013, #4014, merged) and, once #4015 is merged, `lm_eval.tasks`. This module is a backport of both,
only for this distribution. It reads the same entry points from pyproject.toml and does not change an lm-eval that reads
them itself. It also makes 0.5.0.dev1 accept `--metadata name=value`, as 0.4.13 does, and both refuse what they would
ignore of it. Delete this module and backport/ when no supported lm-eval needs it.

backport/_humor_tasks_lm_eval.py calls `complete` while lm-eval is being imported, so this module must not import
lm-eval or heavy parts of this package at the top.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from functools import wraps
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

log = logging.getLogger(__name__)


def complete(spec: ModuleSpec) -> None:
    """Run the patch in STEPS for the module of `spec` as soon as the module has been executed."""
    step, loader = STEPS[spec.name], spec.loader
    run = getattr(loader, "exec_module", None)
    if run is None:
        return

    def exec_module(module: ModuleType) -> None:
        run(module)
        if module.__name__ != spec.name:  # the loader of a zip file is shared by all modules in it
            return
        try:
            step(module)
        except Exception as error:
            log.warning(
                "lm-eval may miss the humour tasks, models or parameters: %s has changed (%r)", spec.name, error
            )

    # Set on the instance, so that inspect, pickle and runpy still see the loader's original type.
    loader.exec_module = exec_module  # type: ignore[union-attr, method-assign]


def add_tasks(index: ModuleType) -> None:
    """Make `TaskIndex.build` scan our folders right after lm-eval's, so that a user's include_path takes precedence."""
    build = index.TaskIndex.build
    builtin = Path(str(index.__file__)).parent.resolve()

    @wraps(build)
    def build_with_ours(paths: Iterable[Path], *args: Any, **kwargs: Any) -> Any:
        return build(with_ours(list(paths), builtin), *args, **kwargs)

    index.TaskIndex.build = staticmethod(build_with_ours)


def with_ours(paths: list[Path], builtin: Path) -> list[Path]:
    """`paths` with our missing folders after `builtin`; unchanged without `builtin` (include_defaults=False)."""
    scanned = [Path(path).resolve() for path in paths]
    if builtin not in scanned:
        return paths
    behind = scanned.index(builtin) + 1
    return [*paths[:behind], *(folder for folder in task_folders() if folder not in scanned), *paths[behind:]]


def task_folders() -> list[Path]:
    """The folders of our `lm_eval.tasks` entry points, found without importing them."""
    folders = []
    for entry in entry_points("lm_eval.tasks"):
        package, *parts = entry.value.split(".")
        spec = find_spec(package)
        places = [Path(place, *parts) for place in (spec and spec.submodule_search_locations) or ()]
        folders += [place.resolve() for place in places if place.is_dir()][:1]
    return folders


def add_models(models: ModuleType) -> None:
    """Register our models by name, without importing them, after lm-eval has registered its own.

    An earlier registration would keep lm-eval from importing its models, which it does only if the registry is empty.
    """
    from lm_eval.api import registry

    if hasattr(registry, "load_plugins") or hasattr(registry, "import_plugins"):
        return  # this lm-eval has #4013
    for entry in entry_points("lm_eval.models"):
        if entry.name not in registry.model_registry:  # as in #4013, built-in names win
            registry.model_registry.register(entry.name, target=f"{entry.module}:{entry.attr}")


def read_metadata(run: ModuleType) -> None:
    """Make the command's `--metadata` accept name=value where it accepts only JSON, contrary to its help.

    `--model_args` and, in 0.4.13, `--metadata` are read by the same action, which also accepts JSON. It ignores pairs
    after JSON, and does not say how a value with a comma is given: both are refused here.
    """
    add = run.Run._add_args

    class Metadata(run.MergeDictAction):  # type: ignore[misc, name-defined]
        def __call__(self, parser: Any, namespace: Any, values: list[str], option_string: str | None = None) -> None:
            if values[0].lstrip().startswith("{") and len(values) > 1:
                parser.error(f"argument --metadata: give one JSON object or only pairs; {values[1]} would be ignored")
            try:
                super().__call__(Raising(), namespace, values, option_string)
            except ValueError as problem:
                said = f"argument --metadata {' '.join(values)}: {problem}"
                parser.error(f"""{said}; a text with commas needs JSON: --metadata '{{"name": "a,b"}}'""")

    @wraps(add)
    def add_arguments(self: Any) -> None:
        add(self)
        metadata = self._parser._option_string_actions.get("--metadata")
        if metadata is not None and (metadata.type is json.loads or isinstance(metadata, run.MergeDictAction)):
            metadata.__class__, metadata.type, metadata.nargs = Metadata, None, "+"

    run.Run._add_args = add_arguments


class Raising:
    """In the place of a parser: its error is raised, not printed."""

    def error(self, message: str) -> None:
        """Raise ValueError."""
        raise ValueError(message.removeprefix("argument --metadata: "))


def entry_points(group: str) -> list[EntryPoint]:
    """The entry points of `group` that this distribution declares in pyproject.toml."""
    try:
        return list(distribution("humor-tasks").entry_points.select(group=group))
    except PackageNotFoundError:  # a source checkout that is not installed
        return []


STEPS: dict[str, Callable[[ModuleType], None]] = {
    "lm_eval.tasks._index": add_tasks,
    "lm_eval.models": add_models,
    "lm_eval._cli.run": read_metadata,
}
